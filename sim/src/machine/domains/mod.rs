//! Scheduling domains, built and degenerated as the kernel does (kernel/sched/topology.c).

mod build;
mod degenerate;
mod domain;
mod flags;
mod levels;

pub use build::build_sched_domains;
pub use domain::{DomainId, LevelKind, SchedDomain, SchedDomains, SchedGroup};
pub use flags::SdFlags;

#[cfg(test)]
mod tests;
