//! One variant per workload; the compiler lists what a new one needs.

use crate::topology::Topology;
use crate::workload::{
    Captured, Command, Implementation, Limits, Outcome, ParamError, Params, PreflightFinding,
    WorkloadDef, aim7, cyclictest, exec, futex, hackbench, iperf3, netperf, perf_bench, phases,
    schbench, stream, stress_ng, sysbench, tbench, unixbench,
};

/// A workload of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    /// Groups of senders and receivers over pipes or sockets.
    Hackbench,
    /// Request/response and stream over TCP and UDP.
    Netperf,
    /// Wake-up and request latencies of message and worker threads.
    Schbench,
    /// Memory bandwidth.
    Stream,
    /// File-server traffic over TCP.
    Tbench,
    /// Any stressor of stress-ng.
    StressNg,
    /// How late a timer wakes its thread.
    Cyclictest,
    /// Prime numbers, or threads at mutexes.
    Sysbench,
    /// Streams between a client and a server.
    Iperf3,
    /// The benchmarks of the kernel tree.
    PerfBench,
    /// Small tests and an index over them.
    Unixbench,
    /// Users that each do a mix of jobs.
    Aim7,
    /// Pairs of threads that wake each other.
    Futex,
    /// Any program.
    Exec,
    /// Threads that run, sleep, lock, signal and wait.
    Phases,
}

/// Every workload, in the order of the documentation.
pub const ALL: &[Workload] = &[
    Workload::Hackbench,
    Workload::Netperf,
    Workload::Stream,
    Workload::Schbench,
    Workload::Tbench,
    Workload::StressNg,
    Workload::Cyclictest,
    Workload::Sysbench,
    Workload::Iperf3,
    Workload::PerfBench,
    Workload::Unixbench,
    Workload::Aim7,
    Workload::Futex,
    Workload::Exec,
    Workload::Phases,
];

type CommandFn = fn(&Params, Implementation, &Topology) -> Result<(Command, Params), ParamError>;
type PreflightFn = fn(&Params, Implementation, u32, &Topology, &Limits) -> Vec<PreflightFinding>;

/// What a workload's module provides.
pub(super) struct Entry {
    pub(super) def: &'static WorkloadDef,
    pub(super) command: CommandFn,
    pub(super) preflight: PreflightFn,
    pub(super) parse: fn(&Params, &Captured<'_>) -> Outcome,
    pub(super) duration_ms: fn(&Params) -> Option<u64>,
}

impl Workload {
    fn entry(self) -> &'static Entry {
        match self {
            Workload::Hackbench => &hackbench::ENTRY,
            Workload::Netperf => &netperf::ENTRY,
            Workload::Schbench => &schbench::ENTRY,
            Workload::Stream => &stream::ENTRY,
            Workload::Tbench => &tbench::ENTRY,
            Workload::StressNg => &stress_ng::ENTRY,
            Workload::Cyclictest => &cyclictest::ENTRY,
            Workload::Sysbench => &sysbench::ENTRY,
            Workload::Iperf3 => &iperf3::ENTRY,
            Workload::PerfBench => &perf_bench::ENTRY,
            Workload::Unixbench => &unixbench::ENTRY,
            Workload::Aim7 => &aim7::ENTRY,
            Workload::Futex => &futex::ENTRY,
            Workload::Exec => &exec::ENTRY,
            Workload::Phases => &phases::ENTRY,
        }
    }

    /// The workload a playbook calls `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|w| w.def().name == name)
    }

    /// What the catalogue states about it.
    pub fn def(self) -> &'static WorkloadDef {
        self.entry().def
    }

    /// The command for these parameters on this machine. Parameters that were left out are
    /// filled in and returned, so that the record has what was really asked.
    ///
    /// # Errors
    /// Unknown, missing, conflicting parameters; values out of range; an implementation that there
    /// is not.
    pub fn command(
        self,
        params: &Params,
        implementation: Implementation,
        machine: &Topology,
    ) -> Result<(Command, Params), ParamError> {
        let entry = self.entry();
        if !entry.def.implementations.contains(&implementation) {
            let there = match implementation {
                Implementation::Tool => "there is no tool, only `impl: builtin`",
                Implementation::Builtin => "there is no builtin, only `impl: tool`",
            };
            return Err(ParamError::Conflict {
                workload: entry.def.name,
                text: there.to_owned(),
            });
        }
        (entry.command)(params, implementation, machine)
    }

    /// What `instances` concurrent copies with these (resolved) parameters need of the machine.
    pub fn preflight(
        self,
        params: &Params,
        implementation: Implementation,
        instances: u32,
        machine: &Topology,
        limits: &Limits,
    ) -> Vec<PreflightFinding> {
        (self.entry().preflight)(params, implementation, instances, machine, limits)
    }

    /// What an output means. `params` are the resolved ones where known: saved outputs are read
    /// with empty ones.
    pub fn parse(self, params: &Params, output: &Captured<'_>) -> Outcome {
        let mut outcome = (self.entry().parse)(params, output);
        if let (true, Outcome::Ok(parsed)) = (output.truncated, &mut outcome) {
            parsed
                .warnings
                .push("output was dropped in the middle: some runs or rows may be missing".into());
        }
        outcome
    }

    /// How long the command will take, in milliseconds, where the parameters say it (`seconds:`);
    /// `None` where only experience can tell.
    pub fn duration_ms(self, params: &Params) -> Option<u64> {
        (self.entry().duration_ms)(params)
    }
}
