//! What `machine calibrate` measures on a real machine, and the costs that follow from it.

use serde::{Deserialize, Serialize};

use super::calibrated::CostProfile;
use super::costs::{Costs, IdleState};
use super::error::MachineError;
use crate::sourced::{Kind, Quantity, Unit};

/// Version of the calibration file.
pub const CALIBRATION_FORMAT: u32 = 1;

/// A measurement whose middle half is wider than this share of its median says nothing about the
/// machine: something else runs on it.
pub const SPREAD_MAX: f64 = 0.25;

/// How far apart the two CPUs of a measurement are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Apart {
    /// Both ends on one CPU.
    SameCpu,
    /// Threads of a core.
    Sibling,
    /// Cores that share an L2.
    Cluster,
    /// Cores that share the LLC.
    Llc,
    /// Cores of a package under different LLCs.
    Package,
    /// Cores of different packages.
    Remote,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// An empty system call, ns.
    Syscall,
    /// One task writing a byte to a pipe and reading it back, ns.
    PipeOneTask,
    /// A byte handed from one thread to another through a pipe, one way, ns.
    PipeThreads(Apart),
    /// The same between processes.
    PipeProcesses(Apart),
    /// A futex wake-up of a waiting thread, one way, ns.
    Futex(Apart),
    /// A modified line fetched from another CPU, ns.
    Line(Apart),
    /// Fork, exit and wait, ns.
    Fork,
    /// Exec of a small program and its end, ns.
    Exec,
    /// First pass over a working set of so many KiB after a migration within the LLC, ns.
    Refill {
        /// Working set.
        kib: u32,
    },
    /// Copying with so many threads on one node, MB/s.
    Bandwidth {
        /// Threads.
        threads: u32,
    },
    /// From the wake-up of a CPU idle for so long to its first instruction, ns.
    IdleExit {
        /// How long it was idle, us.
        idle_us: u32,
    },
}

/// One measurement with its spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// What was measured.
    pub probe: Probe,
    /// How many times.
    pub n: u32,
    /// Half of the values are below it.
    pub median: f64,
    /// A quarter of the values are below it.
    pub lower: f64,
    /// A quarter of the values are above it.
    pub upper: f64,
}

impl Measurement {
    /// Width of the middle half as a share of the median; infinite where the median is 0.
    pub fn spread(&self) -> f64 {
        match self.median > 0.0 {
            true => (self.upper - self.lower) / self.median,
            false => f64::INFINITY,
        }
    }
}

/// The measurements of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// [`CALIBRATION_FORMAT`].
    pub format: u32,
    /// The machine.
    pub machine: String,
    /// Its kernel's release.
    pub kernel: String,
    /// When, as the agent's clock said.
    pub taken: String,
    /// In the order they were made.
    pub measurements: Vec<Measurement>,
}

/// Measurements that are no basis for costs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A later format.
    #[error(
        "calibration of `{machine}` has format {found}: this program reads {CALIBRATION_FORMAT}"
    )]
    Format {
        /// The machine.
        machine: String,
        /// What the file says.
        found: u32,
    },
    /// Something else ran.
    #[error(
        "`{machine}` is too noisy to calibrate: the middle half of {names} is wider than \
         {max:.0} % of the median", max = SPREAD_MAX * 100.0
    )]
    Noisy {
        /// The machine.
        machine: String,
        /// Which measurements, with their spread.
        names: String,
    },
}

impl Calibration {
    /// Reads a calibration. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        serde_saphyr::from_str(text).map_err(|e| MachineError::Yaml {
            file: file.to_owned(),
            source: Box::new(e),
        })
    }

    /// The calibration as YAML text.
    pub fn to_yaml(&self) -> Result<String, MachineError> {
        serde_saphyr::to_string(self).map_err(|e| MachineError::Write {
            machine: self.machine.clone(),
            source: Box::new(e),
        })
    }

    /// Measurements whose spread is above [`SPREAD_MAX`].
    pub fn noisy(&self) -> impl Iterator<Item = &Measurement> {
        self.measurements.iter().filter(|m| m.spread() > SPREAD_MAX)
    }

    fn of(&self, probe: Probe) -> Option<&Measurement> {
        self.measurements.iter().find(|m| m.probe == probe)
    }

    fn median(&self, probe: Probe) -> Option<f64> {
        self.of(probe).map(|m| m.median)
    }

    /// The costs that follow: `borrowed` where nothing was measured, each number with its kind.
    /// Refuses noisy measurements.
    pub fn costs(&self, borrowed: &CostProfile) -> Result<CostProfile, CalibrationError> {
        let machine = || self.machine.clone();
        if self.format != CALIBRATION_FORMAT {
            return Err(CalibrationError::Format {
                machine: machine(),
                found: self.format,
            });
        }
        let noisy: Vec<String> = (self.noisy())
            .map(|m| format!("{:?} ({:.0} %)", m.probe, m.spread() * 100.0))
            .collect();
        if !noisy.is_empty() {
            return Err(CalibrationError::Noisy {
                machine: machine(),
                names: noisy.join(", "),
            });
        }
        let mut costs = borrowed.costs.clone();
        self.set_kernel(&mut costs);
        self.set_switch(&mut costs);
        self.set_line(&mut costs);
        self.set_memory(&mut costs);
        self.set_idle(&mut costs);
        let note = format!(
            "calibrated {} under {}; what was not measured is borrowed: {}",
            self.taken, self.kernel, borrowed.note
        );
        Ok(CostProfile {
            machine: machine(),
            note,
            costs,
        })
    }

    fn quantity(&self, value: f64, unit: Unit, kind: Kind, how: &str) -> Quantity {
        let source = format!("calibration of {} {}: {how}", self.machine, self.taken);
        Quantity {
            value: value.max(0.0),
            unit,
            source,
            kind,
        }
    }

    fn measured_ns(&self, probe: Probe) -> Option<Quantity> {
        let value = self.median(probe)?;
        Some(self.quantity(value, Unit::Ns, Kind::Measured, &format!("{probe:?}")))
    }

    fn set_kernel(&self, costs: &mut Costs<Quantity>) {
        let kernel = &mut costs.kernel;
        replace(&mut kernel.syscall_ns, self.measured_ns(Probe::Syscall));
        replace(&mut kernel.fork_ns, self.measured_ns(Probe::Fork));
        replace(&mut kernel.exec_ns, self.measured_ns(Probe::Exec));
    }

    /// A hand-over holds a write, a read and a switch; between idle CPUs an interrupt and the way
    /// out of idle instead of the switch's first half.
    fn set_switch(&self, costs: &mut Costs<Quantity>) {
        let switch = &mut costs.switch;
        let Some(pipe) = self.median(Probe::PipeOneTask) else {
            return;
        };
        let less_pipe = |probe: Probe, how: &str| {
            let value = self.median(probe)? - pipe;
            Some(self.quantity(value, Unit::Ns, Kind::Derived, how))
        };
        let how = "hand-over on one CPU less write and read";
        replace(
            &mut switch.thread_ns,
            less_pipe(Probe::PipeThreads(Apart::SameCpu), how),
        );
        replace(
            &mut switch.process_ns,
            less_pipe(Probe::PipeProcesses(Apart::SameCpu), how),
        );
        let rest = self.median(Probe::PipeThreads(Apart::Llc)).map(|handed| {
            let known = pipe + switch.thread_ns.base() as f64 + switch.ipi_send_ns.base() as f64;
            let how = "hand-over within the LLC less write, read, switch and sending";
            self.quantity(handed - known, Unit::Ns, Kind::Derived, how)
        });
        replace(&mut switch.ipi_flight_ns, rest);
    }

    fn set_line(&self, costs: &mut Costs<Quantity>) {
        let line = &mut costs.line;
        let measured = |apart| self.measured_ns(Probe::Line(apart));
        replace(&mut line.smt_ns, measured(Apart::Sibling));
        replace(&mut line.llc_ns, measured(Apart::Llc));
        line.cluster_ns = measured(Apart::Cluster).or(line.cluster_ns.take());
        line.package_ns = measured(Apart::Package).or(line.package_ns.take());
        line.remote_ns = measured(Apart::Remote).or(line.remote_ns.take());
    }

    fn set_memory(&self, costs: &mut Costs<Quantity>) {
        let mut best: Option<f64> = None;
        let mut largest: Option<(u32, f64)> = None;
        for m in &self.measurements {
            match m.probe {
                Probe::Bandwidth { .. } => best = Some(best.map_or(m.median, |b| b.max(m.median))),
                Probe::Refill { kib } if largest.is_none_or(|(most, _)| kib > most) => {
                    largest = Some((kib, m.median));
                }
                _ => {}
            }
        }
        let memory = &mut costs.memory;
        let mb_s = |value: f64, kind, how: &str| self.quantity(value, Unit::MbPerS, kind, how);
        let one = self.median(Probe::Bandwidth { threads: 1 });
        let one = one.map(|v| mb_s(v, Kind::Measured, "copying with one thread"));
        replace(&mut memory.core_mb_s, one);
        let most = best.map(|v| mb_s(v, Kind::Measured, "copying, most of any number of threads"));
        replace(&mut memory.node_mb_s, most);
        let fill = largest.filter(|(_, ns)| *ns > 0.0).map(|(kib, ns)| {
            // KiB a ns are 1.024e6 MB/s.
            mb_s(
                f64::from(kib) * 1.024e6 / ns,
                Kind::Derived,
                "refill of the largest working set",
            )
        });
        replace(&mut memory.llc_fill_mb_s, fill);
    }

    fn set_idle(&self, costs: &mut Costs<Quantity>) {
        let mut exits: Vec<(u32, f64)> = (self.measurements.iter())
            .filter_map(|m| match m.probe {
                Probe::IdleExit { idle_us } => Some((idle_us, m.median)),
                _ => None,
            })
            .collect();
        if exits.is_empty() {
            return;
        }
        exits.sort_by_key(|(idle_us, _)| *idle_us);
        let state = |&(idle_us, ns): &(u32, f64)| IdleState {
            exit_ns: self.quantity(ns, Unit::Ns, Kind::Measured, "idle exit"),
            residency_ns: self.quantity(
                f64::from(idle_us),
                Unit::Us,
                Kind::Measured,
                "idle exit: how long the CPU was idle",
            ),
        };
        costs.idle = exits.iter().map(state).collect();
    }
}

fn replace(number: &mut Quantity, measured: Option<Quantity>) {
    if let Some(measured) = measured {
        *number = measured;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(probe: Probe, median: f64) -> Measurement {
        Measurement {
            probe,
            n: 11,
            median,
            lower: median * 0.95,
            upper: median * 1.05,
        }
    }

    fn calibration() -> Calibration {
        let values = [
            (Probe::Syscall, 105.0),
            (Probe::PipeOneTask, 400.0),
            (Probe::PipeThreads(Apart::SameCpu), 1300.0),
            (Probe::PipeThreads(Apart::Llc), 9000.0),
            (Probe::Line(Apart::Llc), 66.0),
            (Probe::Refill { kib: 32 }, 1300.0),
            (Probe::Refill { kib: 1024 }, 40_960.0),
            (Probe::Bandwidth { threads: 1 }, 9500.0),
            (Probe::Bandwidth { threads: 2 }, 15_000.0),
            (Probe::IdleExit { idle_us: 1000 }, 5000.0),
            (Probe::IdleExit { idle_us: 10 }, 400.0),
        ];
        Calibration {
            format: CALIBRATION_FORMAT,
            machine: "box".to_owned(),
            kernel: "6.18.44".to_owned(),
            taken: "2026-12-01".to_owned(),
            measurements: values
                .map(|(probe, median)| measurement(probe, median))
                .into(),
        }
    }

    #[test]
    fn costs_follow_from_measurements_and_the_rest_is_borrowed() {
        let borrowed = CostProfile::shipped("vm-2").unwrap();
        let costs = calibration().costs(&borrowed).unwrap().costs;
        assert_eq!(
            (costs.kernel.syscall_ns.base(), costs.kernel.syscall_ns.kind),
            (105, Kind::Measured)
        );
        assert_eq!(
            (costs.switch.thread_ns.base(), costs.switch.thread_ns.kind),
            (900, Kind::Derived)
        );
        // 9000 less pipe 400, switch 900 and the borrowed 2000 of sending.
        assert_eq!(costs.switch.ipi_flight_ns.base(), 5700);
        assert_eq!(costs.line.llc_ns.base(), 66);
        assert_eq!(
            (costs.memory.core_mb_s.base(), costs.memory.node_mb_s.base()),
            (9500, 15_000)
        );
        // 1024 KiB in 40.96 us are 25.6 GB/s.
        assert_eq!(costs.memory.llc_fill_mb_s.base(), 25_600);
        let exits: Vec<u64> = costs.idle.iter().map(|s| s.exit_ns.base()).collect();
        assert_eq!(exits, [400, 5000]);
        assert_eq!(costs.kernel.fork_ns, borrowed.costs.kernel.fork_ns);
    }

    #[test]
    fn a_noisy_machine_is_refused_by_name() {
        let mut noisy = calibration();
        noisy.measurements[0].upper = 200.0;
        let error = noisy
            .costs(&CostProfile::shipped("vm-2").unwrap())
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("`box` is too noisy") && text.contains("Syscall (95 %)"),
            "{text}"
        );
    }

    #[test]
    fn a_calibration_survives_yaml() {
        let text = calibration().to_yaml().unwrap();
        assert_eq!(
            Calibration::parse("box.yaml", &text).unwrap(),
            calibration()
        );
    }
}
