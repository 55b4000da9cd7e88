//! A plan: every step with every choice made. An agent has nothing left to decide.

mod types;

pub use types::{
    Arm, ArmChange, Cell, CgroupNode, CgroupTree, Collector, CpuMax, Instance, Judge, ModelSpec,
    Order, Plan, PlannedHost, Repeat, Restore, RunStep, Step, StepAction,
};
