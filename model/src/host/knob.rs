//! Settings of a machine: what is asked, what the kernel granted.

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;

/// A setting to be held while measuring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knob {
    /// What is set.
    pub target: KnobTarget,
    /// A gap is an error.
    pub required: bool,
}

/// What is set, and to what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnobTarget {
    /// `scaling_governor` of every policy.
    CpufreqGovernor(String),
    /// `scaling_min_freq` of every policy, kHz.
    CpufreqMinKhz(u64),
    /// `scaling_max_freq` of every policy, kHz.
    CpufreqMaxKhz(u64),
    /// Turbo or boost.
    CpufreqBoost(bool),
    /// Energy performance preference, a word of the driver.
    CpufreqEpp(String),
    /// Disable every idle state but polling.
    CpuidleDisableAll,
    /// Disable idle states of this name.
    CpuidleDisableState(String),
    /// Disable idle states whose exit latency is above this, in microseconds.
    CpuidleMaxLatencyUs(u32),
    /// Hold `/dev/cpu_dma_latency` open with this value, in microseconds.
    DmaLatencyUs(u32),
    /// `on`, `off` in `/sys/devices/system/cpu/smt/control`.
    Smt(bool),
    /// CPUs to take offline.
    Offline(CpuSet),
    /// A sysctl by dotted name.
    Sysctl {
        /// `kernel.numa_balancing`.
        name: String,
        /// What is written.
        value: String,
    },
    /// A scheduler feature by the kernel's token: `NO_PLACE_LAG`.
    SchedFeature(String),
    /// A file below `/sys/kernel/debug/sched`, such as `base_slice_ns`.
    SchedDebug {
        /// Relative to that directory.
        file: String,
        /// What is written.
        value: String,
    },
    /// `transparent_hugepage/enabled`.
    Thp(String),
    /// `smp_affinity_list` of every interrupt that can move.
    IrqAffinity(CpuSet),
}

/// What became of a knob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// What was asked.
    pub knob: Knob,
    /// The file (or family of files) concerned.
    pub place: String,
    /// The value before, as read; `None`: could not be read.
    pub before: Option<String>,
    /// What came of it.
    pub outcome: KnobOutcome,
}

/// The four things that can come of setting a knob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnobOutcome {
    /// This machine has no such knob: and why that is known.
    NotAvailable(String),
    /// The write failed.
    NotApplied {
        /// The error number.
        errno: i32,
        /// What it means here, and what would mend it.
        reason: String,
    },
    /// The write succeeded, the value read back differs.
    ReadsBackDifferently {
        /// What was read back.
        found: String,
    },
    /// It holds.
    Applied {
        /// What was read back.
        value: String,
    },
}

impl KnobOutcome {
    /// Whether the machine is as asked.
    pub fn holds(&self) -> bool {
        matches!(self, KnobOutcome::Applied { .. })
    }
}

impl std::fmt::Display for KnobOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KnobOutcome::NotAvailable(why) => write!(f, "not available: {why}"),
            KnobOutcome::NotApplied { errno, reason } => {
                write!(f, "not applied (errno {errno}): {reason}")
            }
            KnobOutcome::ReadsBackDifferently { found } => write!(f, "reads back as `{found}`"),
            KnobOutcome::Applied { value } => write!(f, "applied: `{value}`"),
        }
    }
}
