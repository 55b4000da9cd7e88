//! cgroup trees before anything is written.

use schedrig_model::CpuSet;
use schedrig_model::host::cgroups::{
    GroupAction, GroupContext, GroupOp, check_limit, decide_base, effective_limit,
    explain_group_errno, limit_writes, plan_tree,
};
use schedrig_model::plan::{CgroupNode, CgroupTree, CpuMax};

fn node(path: &str) -> CgroupNode {
    CgroupNode {
        path: path.into(),
        ..CgroupNode::default()
    }
}

fn max(quota: u64, period_us: u64) -> CpuMax {
    CpuMax {
        quota_us: Some(quota),
        period_us,
        burst_us: None,
    }
}

fn tree(groups: Vec<CgroupNode>) -> CgroupTree {
    CgroupTree {
        controllers: vec!["cpu".into(), "cpuset".into()],
        groups,
    }
}

#[test]
fn limits_are_checked_in_the_kernels_bounds() {
    assert_eq!(
        check_limit(&max(500, 100_000)).unwrap(),
        "quota 500 usec is below the kernel minimum 1000"
    );
    assert!(
        check_limit(&max(1000, 999))
            .unwrap()
            .contains("period 999 usec")
    );
    assert!(check_limit(&max(1000, 1_000_001)).is_some());
    assert_eq!(check_limit(&max(3000, 10_000)), None);
    assert_eq!(
        check_limit(&max(400_000, 100_000)),
        None,
        "more than one CPU"
    );
    let burst = CpuMax {
        burst_us: Some(30_000),
        ..max(20_000, 100_000)
    };
    assert_eq!(
        check_limit(&burst).unwrap(),
        "burst 30000 usec is above the quota 20000"
    );
}

#[test]
fn quota_and_period_are_one_line_and_burst_never_exceeds_quota() {
    let small = CpuMax {
        burst_us: Some(2000),
        ..max(3000, 10_000)
    };
    let fresh = [
        ("cpu.max", "3000 10000".to_owned()),
        ("cpu.max.burst", "2000".to_owned()),
    ];
    assert_eq!(limit_writes(0, &small), fresh);
    let lowered = limit_writes(10_000, &small);
    assert_eq!(lowered[0], ("cpu.max.burst", "0".to_owned()));
    assert_eq!(lowered[1..], fresh);
    let none = CpuMax {
        quota_us: None,
        period_us: 100_000,
        burst_us: None,
    };
    assert_eq!(
        limit_writes(0, &none),
        [("cpu.max", "max 100000".to_owned())]
    );
}

#[test]
fn a_tree_is_made_top_down_with_controllers_before_files() {
    let mut a = node("a");
    a.cpuset = Some(CpuSet::range(1, 3));
    a.partition = Some("root".into());
    let mut leaf = node("a/b");
    leaf.cpu_max = Some(max(50_000, 100_000));
    let ops = plan_tree(&tree(vec![a, leaf])).unwrap();
    let at = |op: &dyn Fn(&GroupOp) -> bool| ops.iter().position(op).unwrap();
    let enable = |g: &'static str| move |op: &GroupOp| matches!(op, GroupOp::Enable { group, .. } if group == g);
    let make =
        |g: &'static str| move |op: &GroupOp| matches!(op, GroupOp::Make { group } if group == g);
    let set =
        |f: &'static str| move |op: &GroupOp| matches!(op, GroupOp::Set { file, .. } if file == f);
    let partition = |op: &GroupOp| matches!(op, GroupOp::Partition { group, .. } if group == "a");
    let own = |op: &GroupOp| matches!(op, GroupOp::Partition { group, kind } if group.is_empty() && kind == "root");
    assert!(at(&own) < at(&enable("")));
    assert!(at(&enable("")) < at(&make("a")));
    let cpus = |op: &GroupOp| matches!(op, GroupOp::Set { group, file, .. } if group == "a" && file == "cpuset.cpus");
    assert!(at(&make("a")) < at(&cpus));
    assert!(at(&cpus) < at(&partition));
    assert!(at(&enable("a")) < at(&make("a/b")));
    assert!(at(&make("a/b")) < at(&set("cpu.max")));
    assert!(
        !ops.iter().any(enable("a/b")),
        "a leaf hands nothing down: processes go there"
    );
}

#[test]
fn trees_the_kernel_would_refuse_are_refused_before() {
    let refused = |groups: Vec<CgroupNode>| plan_tree(&tree(groups)).unwrap_err().to_string();
    assert!(refused(vec![node("../x")]).contains("not the path of a group"));
    assert!(refused(vec![node("cpu.max")]).contains("not the path of a group"));
    assert!(refused(vec![node("a"), node("a")]).contains("stands twice"));
    assert!(refused(vec![node("a/b")]).contains("before its parent `a`"));
    let mut heavy = node("a");
    heavy.cpu_weight = Some(10_001);
    assert!(refused(vec![heavy]).contains("cpu.weight 10001 is outside 1 to 10000"));
    let mut part = node("a");
    part.partition = Some("isolated".into());
    assert!(refused(vec![part]).contains("needs cpuset.cpus"));
    let mut root = node("b");
    (root.cpuset, root.partition) = (Some(CpuSet::range(1, 3)), Some("root".into()));
    assert!(refused(vec![node("a"), root]).contains("`a`: needs cpuset.cpus"));
    let mut other = node("a");
    other.other = vec![("memory.max".into(), "1G".into())];
    assert!(refused(vec![other]).contains("hands down no memory controller"));
    assert!(
        refused((0..10_001).map(|n| node(&format!("g{n}"))).collect()).contains("10001 groups")
    );
    assert_eq!(
        plan_tree(&tree((0..10_000).map(|n| node(&format!("g{n}"))).collect()))
            .unwrap()
            .len(),
        10_001
    );
}

#[test]
fn the_least_limit_of_the_ancestors_counts() {
    let mut top = node("a");
    top.cpu_max = Some(max(100_000, 100_000));
    let mut leaf = node("a/b");
    leaf.cpu_max = Some(max(400_000, 100_000));
    let mut beside = node("ab");
    beside.cpu_max = Some(max(10_000, 100_000));
    let tree = tree(vec![top, leaf, beside]);
    let found = effective_limit(&tree, "a/b").unwrap();
    assert_eq!((found.cpus, found.group.as_str()), (1.0, "a"));
    assert_eq!(effective_limit(&tree, "c"), None);
}

#[test]
fn errors_name_their_cause() {
    let cpu = ["cpu".to_owned()];
    let enable = GroupAction::Enable { controllers: &cpu };
    let rt = GroupContext {
        rt_threads: vec!["multipathd (policy RR, prio 99)".into()],
        ..GroupContext::default()
    };
    assert_eq!(
        explain_group_errno(enable, 22, &rt),
        "cpu controller refused: RT thread multipathd (policy RR, prio 99) and RT_GROUP_SCHED"
    );
    let threaded = GroupContext {
        kind: Some("domain invalid".into()),
        populated_ancestor: Some("x".into()),
        ..GroupContext::default()
    };
    assert_eq!(
        explain_group_errno(GroupAction::Attach, 95, &threaded),
        "group is 'domain invalid' because parent x has processes"
    );
}

#[test]
fn the_agent_works_below_its_own_unit() {
    let cpu = vec!["cpuset".to_owned(), "cpu".to_owned()];
    let unit = "/system.slice/schedrig-agent.service";
    assert_eq!(
        decide_base(unit, true, &cpu).unwrap(),
        "system.slice/schedrig-agent.service"
    );
    let inside = format!("{unit}/supervisor");
    assert_eq!(
        decide_base(&inside, true, &cpu).unwrap(),
        "system.slice/schedrig-agent.service"
    );
    assert_eq!(decide_base("/", false, &cpu).unwrap(), "");
    for systems_own in [
        "/",
        "/init.scope",
        "/user.slice/user-0.slice/session-3.scope",
        "/a.slice",
    ] {
        assert!(
            decide_base(systems_own, true, &cpu)
                .unwrap_err()
                .contains("Delegate=yes")
        );
    }
    assert!(
        decide_base(unit, true, &[])
            .unwrap_err()
            .contains("hands no cpu controller down")
    );
}
