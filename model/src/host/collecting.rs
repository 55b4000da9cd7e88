//! What collecting needs of the machine, and the tools that run beside a repetition rather than at its
//! edges. Those run with LC_ALL=C in a group beside the workload's, never in it.

use crate::host::{Knob, KnobTarget};
use crate::plan::Collector;

/// Knobs to be set for the whole run, so that the collectors have something to read. Where the machine
/// has no such knob the outcome says so: the counters are absent, or always on (before 4.6).
pub fn knobs_of_collectors(collectors: &[Collector]) -> Vec<Knob> {
    let on = |name: &str| Knob {
        target: KnobTarget::Sysctl {
            name: name.to_owned(),
            value: "1".to_owned(),
        },
        required: false,
    };
    let schedstat = collectors.contains(&Collector::Schedstat);
    schedstat
        .then(|| on("kernel.sched_schedstats"))
        .into_iter()
        .collect()
}

/// How to run such a tool. It is started before the start signal and ended by SIGINT after the last
/// instance; then `report`, where there is one, turns its file into text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AroundTool {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Pipes by which it is let go and answers that it counts (`perf --control fifo:`, since perf 5.10):
    /// its start alone takes longer than a short repetition.
    pub control: Option<ToolControl>,
    /// The file it writes.
    pub output: String,
    /// Program and arguments that print what is kept; `None`: the file itself is kept.
    pub report: Option<Vec<String>>,
}

/// Named pipes to a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolControl {
    /// Takes commands.
    pub commands: String,
    /// Answers each with `ack`.
    pub answers: String,
}

/// Events that say what the scheduler did, and the two that say what it cost.
const EVENTS: &str = "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions";

/// Samples a second and CPU of `perf record`: odd, so that it does not beat with the tick.
const FREQUENCY: &str = "499";

/// The most that `perf record` writes: a profile must not fill the disk (case B19).
const PROFILE_MAX: &str = "1G";

/// The tool of a collector, writing into `folder`; `None`: it is read at the edges.
pub fn around_tool(collector: Collector, folder: &str) -> Option<AroundTool> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let control = |name: &str| ToolControl {
        commands: format!("{folder}/{name}.commands"),
        answers: format!("{folder}/{name}.answers"),
    };
    // Counts nothing until told: a delay of -1.
    let waiting = |c: &ToolControl| {
        let pipes = format!("fifo:{},{}", c.commands, c.answers);
        ["-D", "-1", "--control", &pipes].map(str::to_owned)
    };
    match collector {
        Collector::PerfStat => {
            let output = format!("{folder}/perf-stat.csv");
            let control = control("perf-stat");
            let mut argv = words(&format!("perf stat -a -x, -e {EVENTS}"));
            argv.extend(waiting(&control));
            argv.extend(["-o".to_owned(), output.clone()]);
            Some(AroundTool {
                argv,
                control: Some(control),
                output,
                report: None,
            })
        }
        Collector::PerfProfile => {
            let output = format!("{folder}/perf.data");
            let control = control("perf-record");
            let mut argv = words(&format!(
                "perf record -q -a -F {FREQUENCY} --max-size {PROFILE_MAX}"
            ));
            argv.extend(waiting(&control));
            argv.extend(["-o".to_owned(), output.clone()]);
            let mut report = words("perf report --stdio --no-children -F overhead,comm,dso,symbol");
            report.extend(words("-t | --percent-limit 0.1 -i"));
            report.push(output.clone());
            Some(AroundTool {
                argv,
                control: Some(control),
                output,
                report: Some(report),
            })
        }
        Collector::Turbostat => {
            let output = format!("{folder}/turbostat.txt");
            let mut argv = words("turbostat --quiet --interval 1 --out");
            argv.push(output.clone());
            Some(AroundTool {
                argv,
                control: None,
                output,
                report: None,
            })
        }
        Collector::Schedstat
        | Collector::CpuStat
        | Collector::Psi
        | Collector::ProcSched
        | Collector::Stat
        | Collector::Interrupts => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstats_are_switched_on_for_the_run() {
        let knobs = knobs_of_collectors(&[Collector::Stat, Collector::Schedstat]);
        let name = |k: &Knob| matches!(&k.target, KnobTarget::Sysctl { name, value } if name == "kernel.sched_schedstats" && value == "1");
        assert!(knobs.len() == 1 && name(&knobs[0]));
        assert!(knobs_of_collectors(&[Collector::CpuStat]).is_empty());
    }

    #[test]
    fn a_path_with_a_space_stays_one_argument() {
        let tool = around_tool(Collector::PerfProfile, "/run/a b").unwrap();
        assert_eq!(tool.argv.last().unwrap(), "/run/a b/perf.data");
        let report = tool.report.unwrap();
        assert_eq!(report.last().unwrap(), "/run/a b/perf.data");
        assert!(report.windows(2).any(|w| w == ["-t", "|"]));
        assert_eq!(around_tool(Collector::Schedstat, "/run"), None);
    }
}
