//! A plan: every step with every choice made. An agent has nothing left to decide.
//!
//! Steps stand in order of execution. Machines that share no server and no barrier may work side by
//! side; the steps of one machine never do.

mod build;
mod canonical;
mod cells;
mod commands;
mod diff;
mod estimate;
mod jobs;
mod machine;
mod order;
mod place;
mod render;
mod require;
mod schedule;
mod tree;
mod types;

pub use build::{Overrides, PLAN_FORMAT, build};
pub use diff::{Difference, PlanDiff, diff};
pub use machine::{Inventory, Machine};
pub use render::{RenderOptions, change_text, command_text, knob_text, time_text, to_text};
pub use require::matches_pattern;
pub use types::{
    Arm, ArmChange, Cell, CgroupNode, CgroupTree, Collector, CpuMax, Instance, Judge, ModelSpec,
    Order, Plan, PlannedHost, Repeat, Restore, RunStep, Step, StepAction,
};
