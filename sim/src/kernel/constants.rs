//! The numbers of a kernel, unscaled where the kernel scales them by the number of CPUs.

use serde::{Deserialize, Serialize};

use crate::numbers::number_table;

number_table! {
    /// Slices and granularities. CFS has latency and granularities, EEVDF a base slice.
    SliceConstants {
    } optional {
        /// EEVDF: base slice before scaling.
        base_slice_ns,
        /// CFS: targeted latency before scaling.
        latency_ns,
        /// CFS: minimum granularity before scaling.
        min_granularity_ns,
        /// CFS: wake-up granularity before scaling.
        wakeup_granularity_ns,
        /// CFS: up to this many tasks the period is the latency.
        nr_latency_count,
    }
}

number_table! {
    /// Ticks.
    TickConstants {
        /// Ticks a second.
        tick_hz,
        /// Version of `/proc/schedstat`.
        schedstat_version_count,
    }
}

number_table! {
    /// Balancing.
    BalanceConstants {
        /// A task that ran within this time is cache-hot.
        migration_cost_ns,
        /// Tasks looked at in one balance.
        nr_migrate_count,
        /// Imbalance percentage of ordinary levels.
        imbalance_pct,
        /// ... of the SMT level.
        imbalance_smt_pct,
        /// ... of the level that shares the LLC.
        imbalance_llc_pct,
        /// Intervals are this much longer while the CPU is busy.
        busy_factor_count,
    }
}

number_table! {
    /// CFS bandwidth.
    BandwidthConstants {
        /// Runtime a queue takes from its group at once.
        slice_ns,
        /// What a queue that empties keeps.
        min_runtime_ns,
        /// Delay of the slack timer.
        slack_ns,
        /// Unused runtime is not handed out when the period ends sooner than this.
        min_expiration_ns,
    }
}

number_table! {
    /// `tg->load_avg`.
    GroupLoadConstants {
        /// A queue writes only changes above its contribution / 2^this.
        contrib_shift_count,
    } optional {
        /// Least time between writes of a queue; absent: none.
        update_interval_ns,
    }
}

/// Every number of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants<N = u64> {
    /// Slices and granularities.
    pub slice: SliceConstants<N>,
    /// Ticks and formats.
    pub tick: TickConstants<N>,
    /// Balancing.
    pub balance: BalanceConstants<N>,
    /// CFS bandwidth.
    pub bandwidth: BandwidthConstants<N>,
    /// `tg->load_avg`.
    pub group_load: GroupLoadConstants<N>,
}

impl<N> Constants<N> {
    /// The same constants with every number passed through `f`, which sees its dotted name.
    pub(crate) fn map<M>(&self, f: &mut dyn FnMut(&str, &N) -> M) -> Constants<M> {
        Constants {
            slice: self.slice.map("constants.slice", f),
            tick: self.tick.map("constants.tick", f),
            balance: self.balance.map("constants.balance", f),
            bandwidth: self.bandwidth.map("constants.bandwidth", f),
            group_load: self.group_load.map("constants.group_load", f),
        }
    }
}
