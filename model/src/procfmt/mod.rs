//! Kernel text to values: schedstat, cpu.stat, pressure, /proc/PID/sched and the rest; and the text
//! of the tools that read the kernel (perf, turbostat, numactl). Keys are read by name, never by
//! place, where the kernel prints names.

mod cgroup;
mod cgroup_mode;
mod edges;
mod features;
mod interrupts;
mod kmsg;
mod line;
mod numactl;
mod perf_report;
mod perf_stat;
mod pressure;
pub mod schedstat;
mod stat;
mod task;
mod turbostat;

pub use cgroup::{
    CgroupEvents, CpuStat, PartitionState, parse_cgroup_events, parse_cpu_max, parse_cpu_stat,
    parse_cpu_stat_local, parse_cpu_stat_v1, parse_partition, parse_proc_cgroup,
};
pub use cgroup_mode::{
    CgroupFacts, CgroupMode, Hierarchy, Mount, cpu_controller_gap, decide_cgroup_mode,
    parse_mountinfo, parse_proc_cgroups,
};
pub use edges::{
    SCHEDSTAT_FILE, SCHEDSTATS_SYSCTL, ThreadSums, cpu_stat_between, schedstat_between,
};
pub use features::{Feature, bracketed, parse_domain_flags, parse_features};
pub use interrupts::{Interrupt, Interrupts, parse_interrupts};
pub use kmsg::{KernelLine, parse_kmsg};
pub use line::LineError;
pub use numactl::{NumaLists, NumaNodeLine, parse_numactl};
pub use perf_report::{SymbolShare, parse_perf_report};
pub use perf_stat::{PerfCount, PerfCounter, parse_perf_stat};
pub use pressure::{Pressure, PressureLine, parse_pressure};
pub use stat::{CpuTimes, ProcStat, parse_proc_stat};
pub use task::{
    ContextSwitches, TaskRunTimes, parse_status_switches, parse_task_sched, parse_task_schedstat,
};
pub use turbostat::{TurbostatRow, TurbostatTable, parse_turbostat};
