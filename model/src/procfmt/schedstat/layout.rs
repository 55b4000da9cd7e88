//! The one table of `/proc/schedstat` layouts. Everything that differs between versions is here:
//! which numbers a line has, in which order, and in which order the idle types come.
//!
//! Source: kernel/sched/stats.c (`show_schedstat`) and Documentation/scheduler/sched-stats.rst of the
//! kernels that print each version; checked against files of 6.1, 6.12 and 7.2.

use std::fmt;

/// A number of a `cpuN` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuField {
    /// Version 14: sched_yield with both queues empty.
    YldBothEmpty,
    /// Version 14: sched_yield with the active queue empty.
    YldActEmpty,
    /// Version 14: sched_yield with the expired queue empty.
    YldExpEmpty,
    /// Calls of sched_yield.
    YldCount,
    /// Unused since the O(1) scheduler; 0.
    Legacy,
    /// Calls of schedule().
    SchedCount,
    /// Times that schedule() left the CPU idle.
    SchedGoidle,
    /// Wake-ups.
    TtwuCount,
    /// Wake-ups onto the CPU that woke.
    TtwuLocal,
    /// Time that tasks ran, nanoseconds.
    RunTimeNs,
    /// Time that runnable tasks waited, nanoseconds.
    RunDelayNs,
    /// Timeslices run.
    Pcount,
}

impl CpuField {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            CpuField::YldBothEmpty => "yld_both_empty",
            CpuField::YldActEmpty => "yld_act_empty",
            CpuField::YldExpEmpty => "yld_exp_empty",
            CpuField::YldCount => "yld_count",
            CpuField::Legacy => "legacy",
            CpuField::SchedCount => "sched_count",
            CpuField::SchedGoidle => "sched_goidle",
            CpuField::TtwuCount => "ttwu_count",
            CpuField::TtwuLocal => "ttwu_local",
            CpuField::RunTimeNs => "rq_cpu_time",
            CpuField::RunDelayNs => "run_delay",
            CpuField::Pcount => "pcount",
        }
    }

    /// Whether the kernel counts it whatever `kernel.sched_schedstats` says.
    pub fn always_counted(self) -> bool {
        matches!(
            self,
            CpuField::RunTimeNs | CpuField::RunDelayNs | CpuField::Pcount
        )
    }

    /// Whether the kernel keeps it in 32 bits, so that it wraps.
    pub fn is_32_bit(self) -> bool {
        !self.always_counted()
    }
}

/// What a CPU was when it tried to balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdleType {
    /// Idle.
    Idle,
    /// Busy (`CPU_NOT_IDLE`).
    Busy,
    /// About to become idle.
    NewlyIdle,
}

impl IdleType {
    /// All three, in the order this program prints them.
    pub const ALL: [IdleType; 3] = [IdleType::Busy, IdleType::Idle, IdleType::NewlyIdle];

    /// `idle`, `busy`, `newidle`.
    pub fn name(self) -> &'static str {
        match self {
            IdleType::Idle => "idle",
            IdleType::Busy => "busy",
            IdleType::NewlyIdle => "newidle",
        }
    }
}

/// A number of a domain line that is kept by idle type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LbField {
    /// Attempts to balance.
    Count,
    /// Attempts that found nothing to do.
    Balanced,
    /// Attempts that moved nothing.
    Failed,
    /// Sum of imbalances, of whatever kind (up to version 16).
    Imbalance,
    /// Sum of imbalances in load.
    ImbalanceLoad,
    /// Sum of imbalances in utilisation.
    ImbalanceUtil,
    /// Sum of imbalances in tasks.
    ImbalanceTask,
    /// Sum of imbalances by misfit tasks.
    ImbalanceMisfit,
    /// Tasks pulled.
    Gained,
    /// Tasks pulled although cache-hot.
    HotGained,
    /// Attempts that found no busier queue.
    Nobusyq,
    /// Attempts that found no busier group.
    Nobusyg,
}

impl LbField {
    /// The kernel's name without its prefix.
    pub fn name(self) -> &'static str {
        match self {
            LbField::Count => "count",
            LbField::Balanced => "balanced",
            LbField::Failed => "failed",
            LbField::Imbalance => "imbalance",
            LbField::ImbalanceLoad => "imbalance_load",
            LbField::ImbalanceUtil => "imbalance_util",
            LbField::ImbalanceTask => "imbalance_task",
            LbField::ImbalanceMisfit => "imbalance_misfit",
            LbField::Gained => "gained",
            LbField::HotGained => "hot_gained",
            LbField::Nobusyq => "nobusyq",
            LbField::Nobusyg => "nobusyg",
        }
    }
}

/// A number of a domain line that is not kept by idle type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TailField {
    /// Active balancing: attempts.
    AlbCount,
    /// Active balancing: nothing moved.
    AlbFailed,
    /// Active balancing: tasks pushed.
    AlbPushed,
    /// Balance on exec; always 0.
    SbeCount,
    /// See `SbeCount`.
    SbeBalanced,
    /// See `SbeCount`.
    SbePushed,
    /// Balance on fork; always 0.
    SbfCount,
    /// See `SbfCount`.
    SbfBalanced,
    /// See `SbfCount`.
    SbfPushed,
    /// Wake-ups of a task that last ran on another CPU of this domain.
    TtwuWakeRemote,
    /// Wake-ups that moved the task to the waking CPU.
    TtwuMoveAffine,
    /// Wake-ups that moved the task to balance.
    TtwuMoveBalance,
}

impl TailField {
    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            TailField::AlbCount => "alb_count",
            TailField::AlbFailed => "alb_failed",
            TailField::AlbPushed => "alb_pushed",
            TailField::SbeCount => "sbe_count",
            TailField::SbeBalanced => "sbe_balanced",
            TailField::SbePushed => "sbe_pushed",
            TailField::SbfCount => "sbf_count",
            TailField::SbfBalanced => "sbf_balanced",
            TailField::SbfPushed => "sbf_pushed",
            TailField::TtwuWakeRemote => "ttwu_wake_remote",
            TailField::TtwuMoveAffine => "ttwu_move_affine",
            TailField::TtwuMoveBalance => "ttwu_move_balance",
        }
    }
}

/// A number of a domain line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DomainField {
    /// By idle type.
    Lb(IdleType, LbField),
    /// The rest.
    Tail(TailField),
}

impl fmt::Display for DomainField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainField::Lb(idle, field) => write!(f, "lb_{}[{}]", field.name(), idle.name()),
            DomainField::Tail(field) => f.write_str(field.name()),
        }
    }
}

/// How one version prints its lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of the `version` line.
    pub version: u32,
    /// Numbers of a `cpuN` line.
    pub cpu: &'static [CpuField],
    /// Whether a domain line states the domain's name before its mask.
    pub named: bool,
    /// Order of the idle types. Nothing but the version number tells the two orders apart.
    pub idle_order: [IdleType; 3],
    /// Numbers of each idle type.
    pub lb: &'static [LbField],
}

const CPU_14: &[CpuField] = &[
    CpuField::YldBothEmpty,
    CpuField::YldActEmpty,
    CpuField::YldExpEmpty,
    CpuField::YldCount,
    CpuField::Legacy,
    CpuField::SchedCount,
    CpuField::SchedGoidle,
    CpuField::TtwuCount,
    CpuField::TtwuLocal,
    CpuField::RunTimeNs,
    CpuField::RunDelayNs,
    CpuField::Pcount,
];
const CPU_15: &[CpuField] = CPU_14.split_at(3).1;
const LB_8: &[LbField] = &[
    LbField::Count,
    LbField::Balanced,
    LbField::Failed,
    LbField::Imbalance,
    LbField::Gained,
    LbField::HotGained,
    LbField::Nobusyq,
    LbField::Nobusyg,
];
const LB_11: &[LbField] = &[
    LbField::Count,
    LbField::Balanced,
    LbField::Failed,
    LbField::ImbalanceLoad,
    LbField::ImbalanceUtil,
    LbField::ImbalanceTask,
    LbField::ImbalanceMisfit,
    LbField::Gained,
    LbField::HotGained,
    LbField::Nobusyq,
    LbField::Nobusyg,
];
const IDLE_FIRST: [IdleType; 3] = [IdleType::Idle, IdleType::Busy, IdleType::NewlyIdle];
const BUSY_FIRST: [IdleType; 3] = [IdleType::Busy, IdleType::Idle, IdleType::NewlyIdle];

/// The numbers behind those of the idle types; the same in every version.
pub const TAIL: [TailField; 12] = [
    TailField::AlbCount,
    TailField::AlbFailed,
    TailField::AlbPushed,
    TailField::SbeCount,
    TailField::SbeBalanced,
    TailField::SbePushed,
    TailField::SbfCount,
    TailField::SbfBalanced,
    TailField::SbfPushed,
    TailField::TtwuWakeRemote,
    TailField::TtwuMoveAffine,
    TailField::TtwuMoveBalance,
];

/// Version 14: 2.6.20 on. 15: later 2.6 to 6.9. 16: 6.10 on. 17: 6.14 on.
pub static LAYOUTS: [Layout; 4] = [
    Layout {
        version: 14,
        cpu: CPU_14,
        named: false,
        idle_order: IDLE_FIRST,
        lb: LB_8,
    },
    Layout {
        version: 15,
        cpu: CPU_15,
        named: false,
        idle_order: IDLE_FIRST,
        lb: LB_8,
    },
    Layout {
        version: 16,
        cpu: CPU_15,
        named: false,
        idle_order: BUSY_FIRST,
        lb: LB_8,
    },
    Layout {
        version: 17,
        cpu: CPU_15,
        named: true,
        idle_order: BUSY_FIRST,
        lb: LB_11,
    },
];

/// The layout of a version, where it is known.
pub fn layout_of(version: u32) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|l| l.version == version)
}

impl Layout {
    /// How many numbers a domain line has.
    pub fn domain_len(&self) -> usize {
        3 * self.lb.len() + TAIL.len()
    }

    /// The place of a field among the numbers of a `cpuN` line.
    pub fn cpu_column(&self, field: CpuField) -> Option<usize> {
        self.cpu.iter().position(|&f| f == field)
    }

    /// The place of a field among the numbers of a domain line.
    pub fn domain_column(&self, field: DomainField) -> Option<usize> {
        match field {
            DomainField::Lb(idle, lb) => {
                let block = self.idle_order.iter().position(|&i| i == idle)?;
                Some(block * self.lb.len() + self.lb.iter().position(|&f| f == lb)?)
            }
            DomainField::Tail(tail) => {
                Some(3 * self.lb.len() + TAIL.iter().position(|&f| f == tail)?)
            }
        }
    }

    /// The fields of a domain line in the order of its numbers.
    pub fn domain_fields(&self) -> impl Iterator<Item = DomainField> + '_ {
        let by_idle = self.idle_order.into_iter();
        by_idle
            .flat_map(|idle| self.lb.iter().map(move |&lb| DomainField::Lb(idle, lb)))
            .chain(TAIL.into_iter().map(DomainField::Tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_fields_by_version() {
        let lens: Vec<_> = LAYOUTS
            .iter()
            .map(|l| (l.version, l.cpu.len(), l.domain_len()))
            .collect();
        assert_eq!(lens, [(14, 12, 36), (15, 9, 36), (16, 9, 36), (17, 9, 45)]);
    }

    #[test]
    fn every_field_is_found_at_its_own_column() {
        for layout in &LAYOUTS {
            for (column, field) in layout.domain_fields().enumerate() {
                assert_eq!(layout.domain_column(field), Some(column), "{field}");
            }
        }
    }

    #[test]
    fn version_16_swapped_idle_and_busy() {
        let column = |v| {
            layout_of(v)
                .and_then(|l| l.domain_column(DomainField::Lb(IdleType::Busy, LbField::Count)))
        };
        assert_eq!([column(14), column(15)], [Some(8), Some(8)]);
        assert_eq!([column(16), column(17)], [Some(0), Some(0)]);
    }
}
