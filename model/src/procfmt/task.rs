//! Files of a task: `/proc/PID/schedstat`, `/proc/PID/sched`, `/proc/PID/status`.

use std::collections::BTreeMap;

use super::line::LineError;

/// `/proc/PID/schedstat`. Counted whatever `kernel.sched_schedstats` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRunTimes {
    /// Time on a CPU, nanoseconds.
    pub run_ns: u64,
    /// Time runnable and waiting, nanoseconds.
    pub wait_ns: u64,
    /// Timeslices run.
    pub timeslices: u64,
}

/// Reads `/proc/PID/schedstat`.
///
/// # Errors
/// Other text than three numbers.
pub fn parse_task_schedstat(text: &str) -> Result<TaskRunTimes, LineError> {
    let words = text.split_ascii_whitespace().map(str::parse);
    match words.collect::<Result<Vec<u64>, _>>().as_deref() {
        Ok([run_ns, wait_ns, timeslices]) => Ok(TaskRunTimes {
            run_ns: *run_ns,
            wait_ns: *wait_ns,
            timeslices: *timeslices,
        }),
        _ => Err(LineError::new(
            0,
            text.trim_end(),
            "run time, wait time and timeslices",
        )),
    }
}

/// Reads the `key : value` lines of `/proc/PID/sched`; other lines are passed over.
pub fn parse_task_sched(text: &str) -> BTreeMap<&str, f64> {
    let pair = |line: &'_ str| -> Option<(usize, f64)> {
        let (key, value) = line.split_once(" : ").or_else(|| line.split_once(':'))?;
        Some((key.trim_end().len(), value.trim().parse().ok()?))
    };
    text.lines()
        .filter_map(|line| pair(line).map(|(len, value)| (&line[..len], value)))
        .collect()
}

/// Context switches of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSwitches {
    /// It blocked.
    pub voluntary: u64,
    /// It was preempted.
    pub involuntary: u64,
}

/// Reads the context switches of `/proc/PID/status`; `None` where the lines are missing.
pub fn parse_status_switches(text: &str) -> Option<ContextSwitches> {
    let get = |key: &str| -> Option<u64> {
        let value = text.lines().find_map(|l| l.strip_prefix(key))?;
        value.trim_start_matches(':').trim().parse().ok()
    };
    Some(ContextSwitches {
        voluntary: get("voluntary_ctxt_switches")?,
        involuntary: get("nonvoluntary_ctxt_switches")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_of_a_task() {
        let times = parse_task_schedstat("31041300 1605573 2\n").unwrap();
        assert_eq!(
            times,
            TaskRunTimes {
                run_ns: 31_041_300,
                wait_ns: 1_605_573,
                timeslices: 2
            }
        );
        assert!(parse_task_schedstat("31041300 1605573\n").is_err());
    }

    #[test]
    fn sched_of_a_task_by_key() {
        let text = "cat (240, #threads: 1)\n-----\nse.exec_start           :          9965.919495\nnr_switches   :        3\ncurrent_node=0, numa_group_id=0\n";
        let keys = parse_task_sched(text);
        assert_eq!(keys.get("nr_switches"), Some(&3.0));
        assert_eq!(keys.get("se.exec_start"), Some(&9965.919495));
        assert_eq!(keys.len(), 2);
    }

    #[test]
    fn switches_of_a_task() {
        let text = "Name:\tcat\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n";
        let want = ContextSwitches {
            voluntary: 5,
            involuntary: 7,
        };
        assert_eq!(parse_status_switches(text), Some(want));
        assert_eq!(parse_status_switches("Name:\tcat\n"), None);
    }
}
