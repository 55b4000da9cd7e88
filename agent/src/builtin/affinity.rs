//! The CPUs a thread may use.

use std::io;

use nix::sched::{CpuSet as Mask, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use schedrig_model::cpuset::CpuSet;
use schedrig_model::id::CpuId;

use super::errno::CallError;

/// The CPUs this thread may use.
pub(super) fn allowed() -> Result<CpuSet, CallError> {
    let mask = sched_getaffinity(Pid::from_raw(0))
        .map_err(|errno| CallError::new("sched_getaffinity", errno))?;
    let mut cpus = CpuSet::new();
    for cpu in 0..Mask::count() {
        if mask.is_set(cpu).unwrap_or(false) {
            cpus.insert(CpuId(cpu as u32));
        }
    }
    Ok(cpus)
}

/// Pins this thread.
pub(super) fn pin_to(cpu: CpuId) -> Result<(), CallError> {
    let mut mask = Mask::new();
    mask.set(cpu.0 as usize)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &mask))
        .map_err(|errno| CallError::new("unable to set CPU affinity", errno))
}

/// CPUs of the machine, usable or not: CPU numbers are below this.
pub(super) fn configured_cpus() -> Result<usize, CallError> {
    // SAFETY: sysconf has no preconditions.
    let cpus = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(cpus).map_err(|_| CallError::from_io("sysconf", &io::Error::last_os_error()))
}
