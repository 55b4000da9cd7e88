//! What a kernel does where kernels differ. One enum a question; a profile answers all of them, a
//! patch changes answers.

use serde::{Deserialize, Serialize};

use crate::sourced::{Kind, Sourced};

macro_rules! rule {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }
    };
}

rule!(
    /// How fair tasks are picked.
    Policy {
        /// Completely Fair Scheduler: least virtual runtime.
        Cfs,
        /// Earliest eligible virtual deadline first, a queue a group and CPU.
        Eevdf,
        /// EEVDF on one queue a CPU; groups only scale weights.
        EevdfFlat,
    }
);
rule!(
    /// How a group without runtime left is stopped.
    ThrottleModel {
        /// The whole cfs_rq is dequeued.
        CfsRq,
        /// Each task dequeues itself on its way to user mode.
        Task,
    }
);
rule!(
    /// Which throttled hierarchies `can_migrate_task` refuses.
    ThrottledLb {
        /// Source or destination group throttled (`throttled_lb_pair`).
        Pair,
        /// Only the destination.
        Destination,
    }
);
rule!(
    /// Who re-enqueues the queues of a group that has runtime again.
    UnthrottleBy {
        /// The CPU that distributes the runtime, for all.
        SameCpu,
        /// Each CPU for itself, by an asynchronous call.
        EachCpu,
    }
);
rule!(
    /// How far lag may grow.
    LagLimit {
        /// CFS has no lag.
        None,
        /// Twice the entity's own slice, at least a tick.
        TwiceOwnSlice,
        /// Largest slice in the queue and a tick.
        MaxSlicePlusTick,
    }
);
rule!(
    /// How long the running entity is protected from the pick.
    Protection {
        /// Not at all.
        None,
        /// Until its deadline moves, remembered by `vlag == deadline`.
        UntilDeadline,
        /// Until its virtual runtime passes `vprot`.
        Vprot,
    }
);
rule!(
    /// The zero point of a queue's virtual time.
    VirtualZero {
        /// `min_vruntime`, never going back.
        MinVruntime,
        /// `zero_vruntime`, following the average.
        ZeroVruntime,
    }
);
rule!(
    /// How the search for an idle CPU in the LLC is cut short where no feature says so.
    IdleScan {
        /// The groups of the LLC domain, whole ones only (before 4.9).
        Groups,
        /// CPU by CPU, as the features `SIS_PROP`, `SIS_UTIL`, `SIS_AVG_CPU` say.
        Cpus,
    }
);
rule!(
    /// Wake-up search in the L2 cluster.
    ClusterScan {
        /// None.
        Off,
        /// The cluster first; a remembered idle prev or recent CPU outside the cluster is not used
        /// when the scan fails.
        NoFallback,
        /// The cluster first, then the LLC, then the remembered prev or recent CPU.
        Fallback,
    }
);
rule!(
    /// Which idle CPU of a group the slow path takes.
    SlowPathIdle {
        /// Shallowest idle state, then the one that went idle last.
        MostRecent,
        /// Shallowest idle state, then at random.
        Random,
    }
);
rule!(
    /// Where the flag of serialised domains is taken.
    Serialise {
        /// In the domain loop of periodic balancing: the loser is skipped and not counted.
        DomainLoop,
        /// After `should_we_balance`, newidle too: the loser counts as balanced.
        AfterShouldWeBalance,
    }
);
rule!(
    /// How far newidle balancing reaches.
    NewidleScope {
        /// Every domain that has the flag.
        Flagged,
        /// Domains that share the LLC only.
        WithinLlc,
    }
);
rule!(
    /// Which migrations balancing may make.
    MigrationScope {
        /// Any.
        Anywhere,
        /// None in domains that do not share the LLC.
        WithinLlc,
    }
);
rule!(
    /// When a newidle pass ends early.
    NewidleStop {
        /// Only when it pulled a task.
        Pulled,
        /// Also when a wake-up arrives meanwhile (792b9f65a568).
        PulledOrWoken,
    }
);
rule!(
    /// How `relax_domain_level` compares.
    RelaxCompare {
        /// Levels above the request lose their flags.
        Above,
        /// Levels at or above it (6.10 on).
        AtOrAbove,
    }
);
rule!(
    /// How much imbalance NUMA balancing leaves alone.
    ImbNuma {
        /// None.
        None,
        /// Two tasks (5.8 to 5.10).
        TwoTasks,
        /// A quarter of the domain's CPUs (5.11 to 5.17).
        QuarterOfSpan,
        /// `imb_numa_nr` of the domain (5.18 on).
        PerDomain,
    }
);
rule!(
    /// Which domains prefer to spread over their children's siblings.
    PreferSibling {
        /// SMT and package level.
        SmtAndPkg,
        /// Every level but NUMA.
        AllButNuma,
    }
);
rule!(
    /// The package level's name.
    PkgName {
        /// `DIE`.
        Die,
        /// `PKG` (6.7 on).
        Pkg,
    }
);
rule!(
    /// Which NUMA distances lose the exec, fork and wake-affine flags.
    ReclaimDistance {
        /// Beyond 30 everywhere.
        Fixed,
        /// Beyond 30, or 32 on AMD and Hygon (5.4 on).
        ByVendor,
    }
);
rule!(
    /// How load is tracked.
    LoadTracking {
        /// Per entity with a separate sum of blocked load (3.8 to 4.2).
        BlockedLoad,
        /// Per entity, blocked load within the queue's own average (4.3 on).
        Rewritten,
    }
);
rule!(
    /// The weight of a group's entity.
    GroupWeight {
        /// Shares times the queue's part of the group's load.
        Smp,
        /// Shares times the number of CPUs the group can keep busy.
        Concur,
    }
);
rule!(
    /// Preemption of kernel code.
    Preempt {
        /// At voluntary points.
        Voluntary,
        /// Anywhere, at once.
        Full,
        /// Anywhere, at the next tick or return to user mode.
        Lazy,
    }
);

macro_rules! rule_table {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)+) => {
        /// A kernel's answers, as the model uses them.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Rules { $($(#[$doc])* pub $field: $type,)+ }

        /// A kernel's answers, as its file states them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct RulesFile { $(pub(crate) $field: Sourced<$type>,)+ }

        impl RulesFile {
            pub(crate) fn resolve(&self) -> Rules {
                Rules { $($field: self.$field.value,)+ }
            }

            /// Name, source and kind of every answer.
            pub(crate) fn sources(&self) -> Vec<(&'static str, &str, Kind)> {
                vec![$((
                    stringify!($field),
                    self.$field.source.as_str(),
                    self.$field.kind,
                ),)+]
            }
        }
    };
}

rule_table! {
    /// How fair tasks are picked.
    policy: Policy,
    /// How a group without runtime left is stopped.
    throttle: ThrottleModel,
    /// Which throttled hierarchies balancing refuses.
    throttled_lb: ThrottledLb,
    /// Who re-enqueues an unthrottled group's queues.
    unthrottle_by: UnthrottleBy,
    /// How far lag may grow.
    lag_limit: LagLimit,
    /// How long the running entity is protected.
    protection: Protection,
    /// The zero point of virtual time.
    virtual_zero: VirtualZero,
    /// How the LLC is searched for an idle CPU.
    idle_scan: IdleScan,
    /// Search in the L2 cluster.
    cluster_scan: ClusterScan,
    /// Whether `recent_used_cpu` is tried (4.16 on).
    recent_used_cpu: bool,
    /// Whether a wake-up of an idle CPU in the same LLC is queued to its list (5.8 on).
    wake_list_if_idle: bool,
    /// Which idle CPU the slow path takes.
    slow_path_idle: SlowPathIdle,
    /// Where the serialise flag is taken.
    serialise: Serialise,
    /// How far newidle balancing reaches.
    newidle_scope: NewidleScope,
    /// When a newidle pass ends early.
    newidle_stop: NewidleStop,
    /// Which migrations balancing may make.
    migration_scope: MigrationScope,
    /// How `relax_domain_level` compares.
    relax_compare: RelaxCompare,
    /// How much imbalance NUMA balancing leaves alone.
    imb_numa: ImbNuma,
    /// Which domains prefer to spread.
    prefer_sibling: PreferSibling,
    /// The package level's name.
    pkg_name: PkgName,
    /// Whether there is an L2 cluster level (5.16 on).
    cluster_level: bool,
    /// Whether cluster domains carry `SD_CLUSTER` (6.7 on).
    cluster_flag: bool,
    /// Whether a node has a level of its own below the NUMA levels (4.17 on).
    node_level: bool,
    /// Whether NUMA domains carry `SD_OVERLAP`.
    overlap_flag: bool,
    /// Whether the SMT level is left out (and not counted) on machines without SMT.
    smt_level_only_with_smt: bool,
    /// Which NUMA distances lose flags.
    reclaim_distance: ReclaimDistance,
    /// How load is tracked.
    load_tracking: LoadTracking,
    /// Whether an unchanged contribution still writes `tg->load_avg`.
    tg_zero_delta_writes: bool,
    /// Whether contributions below the threshold are forced out at every tick and idle balance.
    tg_force_update: bool,
    /// The weight of a group's entity.
    group_weight: GroupWeight,
    /// Preemption of kernel code.
    preempt: Preempt,
}
