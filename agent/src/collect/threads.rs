//! The threads of a workload, summed.

use schedrig_model::procfmt::{ThreadSums, parse_status_switches, parse_task_schedstat};

use crate::kernel::HostFiles;

/// Reads every thread of these processes. A thread that ends meanwhile is counted as vanished.
pub fn read_threads(files: &impl HostFiles, pids: &[u32]) -> ThreadSums {
    let mut sums = ThreadSums::default();
    for pid in pids {
        let Ok(tasks) = files.list(&format!("proc/{pid}/task")) else {
            sums.vanished += 1;
            continue;
        };
        for task in tasks {
            let folder = format!("proc/{pid}/task/{}", task.name);
            let times = files.read(&format!("{folder}/schedstat"));
            let status = files.read(&format!("{folder}/status"));
            let times = times.ok().and_then(|t| parse_task_schedstat(&t).ok());
            let switches = status.ok().and_then(|t| parse_status_switches(&t));
            match (times, switches) {
                (Some(times), Some(switches)) => sums.add(times, switches),
                _ => sums.vanished += 1,
            }
        }
    }
    sums
}
