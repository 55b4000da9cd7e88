//! What an error of cgroupfs means: the same number has many causes.

const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const EACCES: i32 = 13;
const EPERM: i32 = 1;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const EAGAIN: i32 = 11;
const ERANGE: i32 = 34;
const EOPNOTSUPP: i32 = 95;

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupAction<'a> {
    /// Making a group.
    Make,
    /// Handing controllers down.
    Enable {
        /// Without `+`.
        controllers: &'a [String],
    },
    /// Writing a setting.
    Set {
        /// The file.
        file: &'a str,
    },
    /// Moving a process in.
    Attach,
    /// Removing a group.
    Remove,
}

/// What was looked up to explain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupContext {
    /// `cgroup.type` of the group.
    pub kind: Option<String>,
    /// The nearest ancestor that holds processes itself.
    pub populated_ancestor: Option<String>,
    /// Real-time threads, in words: `multipathd (policy RR, prio 99)`.
    pub rt_threads: Vec<String>,
    /// The group hands controllers down.
    pub hands_down: bool,
}

/// Words for an error.
pub fn explain_group_errno(action: GroupAction<'_>, errno: i32, context: &GroupContext) -> String {
    match (action, errno) {
        (GroupAction::Enable { controllers }, EINVAL)
            if controllers.iter().any(|c| c == "cpu") && !context.rt_threads.is_empty() =>
        {
            let threads = context.rt_threads.join(", ");
            format!("cpu controller refused: RT thread {threads} and RT_GROUP_SCHED")
        }
        (GroupAction::Enable { controllers }, EINVAL) => {
            format!("a controller of `{}` is not known to this kernel", controllers.join(" "))
        }
        (GroupAction::Enable { controllers }, ENOENT) => {
            format!("a controller of `{}` is not handed down by the parent", controllers.join(" "))
        }
        (GroupAction::Enable { .. }, EBUSY) => {
            "the group holds processes itself: they belong in a leaf".into()
        }
        (GroupAction::Attach, EOPNOTSUPP) => match (&context.kind, &context.populated_ancestor) {
            (Some(kind), Some(ancestor)) => {
                format!("group is '{kind}' because parent {ancestor} has processes")
            }
            (Some(kind), None) => format!("group is '{kind}'"),
            _ => "group is not of type domain".into(),
        },
        (GroupAction::Attach, EBUSY) if context.hands_down => {
            "the group hands controllers down: processes go into its leaves".into()
        }
        (GroupAction::Attach, ESRCH) => "no such process: it has ended".into(),
        (GroupAction::Attach, EINVAL) => "a kernel thread cannot be moved, or a real-time task into a group without real-time time".into(),
        (GroupAction::Attach, ENOENT) => "the group is gone".into(),
        (GroupAction::Set { file }, EINVAL) => format!("the kernel does not take this {file}"),
        (GroupAction::Set { file }, ERANGE) => format!("outside the range of {file}"),
        (GroupAction::Set { file }, ENOENT) => {
            format!("this kernel has no {file}, or its controller is not handed down")
        }
        (GroupAction::Make, EAGAIN) => "cgroup.max.descendants or cgroup.max.depth is reached".into(),
        (GroupAction::Remove, EBUSY) => "a process or a child group is still in it".into(),
        (_, EPERM | EACCES) => {
            "not permitted: the subtree is not delegated to this user (Delegate=yes), or the agent is not root".into()
        }
        _ => "the kernel refused".into(),
    }
}
