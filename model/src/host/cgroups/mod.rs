//! cgroup trees: what is checked before anything is written, in which order it is written, what an
//! error means. The agent performs it.

mod base;
mod explain;
mod limit;
mod plan;

pub use base::{SUPERVISOR, decide_base};
pub use explain::{GroupAction, GroupContext, explain_group_errno};
pub use limit::{EffectiveLimit, check_limit, effective_limit, limit_writes};
pub use plan::{GroupOp, MOST_GROUPS, TreeError, plan_tree};
