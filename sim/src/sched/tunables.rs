//! Numbers of the kernel as it scales them on this machine, and what decisions ask most often.

use crate::kernel::rules::{Policy, Preempt, ThrottleModel};
use crate::kernel::{Feature, Profile};
use crate::machine::Machine;
use crate::time::Ns;

/// What the inner loops look at.
#[derive(Clone, Debug)]
pub(crate) struct Tunables {
    /// How tasks are picked.
    pub policy: Policy,
    /// How groups are stopped.
    pub throttle: ThrottleModel,
    /// How kernel code is preempted.
    pub preempt: Preempt,
    /// Between two ticks.
    pub tick_ns: Ns,
    /// What a tick takes from the running task.
    pub tick_cost_ns: Ns,
    /// EEVDF's base slice, scaled.
    pub base_slice_ns: u64,
    /// EEVDF's base slice as the protection without RUN_TO_PARITY takes it.
    pub base_slice_unscaled_ns: u64,
    /// CFS, scaled.
    pub latency_ns: u64,
    /// CFS, scaled.
    pub min_granularity_ns: u64,
    /// CFS, scaled.
    pub wakeup_granularity_ns: u64,
    /// CFS.
    pub nr_latency: u64,
    /// A task that ran within this time is hot.
    pub migration_cost_ns: u64,
    /// Tasks looked at in one balance.
    pub nr_migrate: u32,
}

impl Tunables {
    pub(crate) fn new(profile: &Profile, machine: &Machine) -> Self {
        let slice = &profile.constants.slice;
        let factor = scaling_factor(machine.nr_cpus());
        let scaled = |value: Option<u64>| value.unwrap_or(0) * factor;
        Tunables {
            policy: profile.rules.policy,
            throttle: profile.rules.throttle,
            preempt: profile.rules.preempt,
            tick_ns: profile.tick_ns(),
            tick_cost_ns: machine.costs.kernel.tick_ns.min(profile.tick_ns() / 2),
            base_slice_ns: scaled(slice.base_slice_ns),
            base_slice_unscaled_ns: slice.base_slice_ns.unwrap_or(0),
            latency_ns: scaled(slice.latency_ns),
            min_granularity_ns: scaled(slice.min_granularity_ns),
            wakeup_granularity_ns: scaled(slice.wakeup_granularity_ns),
            nr_latency: slice.nr_latency_count.unwrap_or(8),
            migration_cost_ns: profile.constants.balance.migration_cost_ns,
            nr_migrate: profile.constants.balance.nr_migrate_count as u32,
        }
    }

    /// Whether EEVDF picks.
    #[inline]
    pub(crate) fn eevdf(&self) -> bool {
        self.policy != Policy::Cfs
    }
}

/// 1 + log2 of the CPUs, at most 8 counted (SCHED_TUNABLESCALING_LOG).
fn scaling_factor(cpus: usize) -> u64 {
    1 + u64::from(cpus.clamp(1, 8).ilog2())
}

/// Short for "this kernel has the feature, and it is on".
impl crate::sim::Sim {
    #[inline]
    pub(crate) fn feat(&self, feature: Feature) -> bool {
        self.profile.on(feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_stops_growing_at_eight_cpus() {
        assert_eq!([1, 2, 4, 7, 8, 384].map(scaling_factor), [1, 2, 3, 3, 4, 4]);
    }
}
