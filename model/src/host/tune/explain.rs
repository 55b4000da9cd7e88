//! What an error number of a write means for a knob, and what would mend it.

use crate::host::KnobTarget;

// Numbers of Linux, the same on every architecture this program runs on.
const EPERM: i32 = 1;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const EROFS: i32 = 30;
const ERANGE: i32 = 34;
const EOPNOTSUPP: i32 = 95;

/// Words for an error of writing this knob.
pub fn explain_errno(target: &KnobTarget, errno: i32) -> String {
    let specific = match (target, errno) {
        (KnobTarget::CpufreqEpp(_), EBUSY) => {
            "the governor performance refuses an EPP other than performance: set powersave first"
        }
        (KnobTarget::CpufreqBoost(_), EINVAL | EIO | EPERM) => {
            "the firmware has boost disabled, or holds it"
        }
        (KnobTarget::CpufreqGovernor(_), EINVAL) => "the driver does not have this governor",
        (KnobTarget::Offline(_), EBUSY) => {
            "the CPU cannot go: a deadline task, a cpuset or the kernel needs it, or it is the last one"
        }
        (KnobTarget::Smt(_), ENODEV) => "this machine has no SMT",
        (KnobTarget::Smt(_), EPERM) => "SMT is forced off: boot without nosmt=force",
        (KnobTarget::SchedFeature(_), EINVAL) => "this kernel has no such scheduler feature",
        (KnobTarget::IrqAffinity(_), EIO) => "the kernel manages this interrupt's affinity itself",
        (KnobTarget::IrqAffinity(_), EINVAL) => "none of these CPUs is online",
        (KnobTarget::Sysctl { .. }, EINVAL | ERANGE) => {
            "the value is outside what the sysctl takes"
        }
        _ => "",
    };
    let general = match errno {
        EPERM | EACCES => {
            "not permitted: run the agent as root, outside a container; lockdown and secure boot may forbid it too"
        }
        EROFS => "the file system is read-only: a container?",
        EBUSY => "busy: something else holds it",
        EINVAL => "the kernel does not take this value",
        ENODEV | EOPNOTSUPP => "the hardware or the driver does not do this",
        EIO => "the device refused",
        _ => "the write failed",
    };
    if specific.is_empty() {
        general.to_owned()
    } else {
        specific.to_owned()
    }
}
