//! Raw snapshots at one edge of a repetition: text as the kernel printed it, nothing parsed, as what
//! happens here costs the measured CPUs.

use std::collections::BTreeSet;

use schedrig_model::plan::Collector;
use schedrig_model::procfmt::{SCHEDSTAT_FILE, SCHEDSTATS_SYSCTL};
use schedrig_model::record::{Snapshot, SnapshotEdge};

use super::threads::read_threads;
use crate::kernel::{CgroupFs, HostFiles};

/// Those nearest to the repetition last at its start and first at its end: the clock of schedstat is
/// the one that ratios are made with.
const NEAREST_LAST: [Collector; 6] = [
    Collector::ProcSched,
    Collector::Interrupts,
    Collector::Psi,
    Collector::CpuStat,
    Collector::Stat,
    Collector::Schedstat,
];

/// What is read at an edge.
pub struct Snapshotter<'a, F: HostFiles, G: HostFiles> {
    files: &'a F,
    /// The groups of the run, where it has any.
    cgroups: Option<(&'a CgroupFs<G>, Vec<String>)>,
    collectors: Vec<Collector>,
    /// Said already: one message a run, not one a sample.
    told: BTreeSet<String>,
}

/// What one edge gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeReading {
    /// Raw texts.
    pub snapshots: Vec<Snapshot>,
    /// What is missing and why, each once a run.
    pub notes: Vec<String>,
}

impl<'a, F: HostFiles, G: HostFiles> Snapshotter<'a, F, G> {
    /// Reads these collectors, and the files of these groups of the run.
    pub fn new(
        files: &'a F,
        cgroups: Option<(&'a CgroupFs<G>, Vec<String>)>,
        collectors: &[Collector],
    ) -> Self {
        let mut wanted: Vec<Collector> = NEAREST_LAST
            .into_iter()
            .filter(|c| collectors.contains(c))
            .collect();
        wanted.dedup();
        Snapshotter {
            files,
            cgroups,
            collectors: wanted,
            told: BTreeSet::new(),
        }
    }

    /// Reads everything at one edge. `now_ns` is the monotonic clock of the machine; `pids` are the
    /// processes of the workload.
    pub fn read(
        &mut self,
        edge: SnapshotEdge,
        pids: &[u32],
        now_ns: &dyn Fn() -> u64,
    ) -> EdgeReading {
        let mut out = EdgeReading::default();
        let mut order = self.collectors.clone();
        if edge == SnapshotEdge::End {
            order.reverse();
        }
        for collector in order {
            for source in self.sources(collector) {
                let at_ns = now_ns();
                match source.read(self.files, self.cgroups.as_ref().map(|(g, _)| *g), pids) {
                    Ok(text) => {
                        let source = source.name;
                        out.snapshots.push(Snapshot {
                            collector,
                            edge,
                            source,
                            at_ns,
                            text,
                        });
                    }
                    Err(_) if source.optional => {}
                    Err(why) => self.tell(&mut out, format!("{}: {why}", source.name)),
                }
            }
        }
        out
    }

    fn tell(&mut self, out: &mut EdgeReading, note: String) {
        if self.told.insert(note.clone()) {
            out.notes.push(note);
        }
    }

    fn sources(&self, collector: Collector) -> Vec<Source> {
        let file = |name: &str, optional| Source {
            name: name.to_owned(),
            kind: Kind::File,
            optional,
        };
        let groups = |name: &str, optional| -> Vec<Source> {
            let groups = self.cgroups.iter().flat_map(|(_, groups)| groups);
            let one = |group: &String| Source {
                name: format!("{group}/{name}"),
                kind: Kind::Group {
                    group: group.clone(),
                    file: name.to_owned(),
                },
                optional,
            };
            groups.map(one).collect()
        };
        match collector {
            // The sysctl is absent on kernels that always count.
            Collector::Schedstat => {
                vec![file(SCHEDSTATS_SYSCTL, true), file(SCHEDSTAT_FILE, false)]
            }
            Collector::Stat => vec![file("proc/stat", false)],
            Collector::Interrupts => vec![file("proc/interrupts", false)],
            Collector::CpuStat => {
                let mut all = groups("cpu.stat", false);
                all.extend(groups("cpu.stat.local", true));
                all
            }
            Collector::Psi => {
                let mut all = groups("cpu.pressure", true);
                all.push(file("proc/pressure/cpu", false));
                all
            }
            Collector::ProcSched => {
                vec![Source {
                    name: "threads".into(),
                    kind: Kind::Threads,
                    optional: false,
                }]
            }
            Collector::PerfStat | Collector::PerfProfile | Collector::Turbostat => Vec::new(),
        }
    }
}

/// Where one snapshot comes from.
struct Source {
    name: String,
    kind: Kind,
    /// Some kernels do not have it, and that is no gap.
    optional: bool,
}

enum Kind {
    File,
    Group { group: String, file: String },
    Threads,
}

impl Source {
    fn read<F: HostFiles, G: HostFiles>(
        &self,
        files: &F,
        cgroups: Option<&CgroupFs<G>>,
        pids: &[u32],
    ) -> Result<String, String> {
        match (&self.kind, cgroups) {
            (Kind::File, _) => files.read(&self.name).map_err(|err| self.why(&err)),
            (Kind::Group { group, file }, Some(cgroups)) => {
                cgroups.read(group, file).map_err(|err| err.to_string())
            }
            (Kind::Group { .. }, None) => Err("no groups".to_owned()),
            (Kind::Threads, _) => Ok(read_threads(files, pids).to_text()),
        }
    }

    fn why(&self, err: &std::io::Error) -> String {
        let missing = err.kind() == std::io::ErrorKind::NotFound;
        match self.name.as_str() {
            SCHEDSTAT_FILE if missing => "no file (CONFIG_SCHEDSTATS=n)".to_owned(),
            "proc/pressure/cpu" => format!("no pressure information (psi=1, CONFIG_PSI): {err}"),
            _ => err.to_string(),
        }
    }
}
