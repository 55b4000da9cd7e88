//! From a cell of a plan to tasks: which workloads the model plays, with which parameters.

use std::sync::Arc;

use schedrig_model::workload::{ParamValue, Params};

use super::program::Program;
use super::{hackbench, netperf, schbench, stream};
use crate::mask::CpuMask;
use crate::sim::Sim;
use crate::table::{GroupIx, MeterIx};
use crate::time::{Ns, SEC, US};

/// An instance of a workload that is being played.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub meter: MeterIx,
    /// It ends after this time from its start; `None`: after its work.
    pub run_ns: Option<Ns>,
}

/// A workload, or one of its parameters, that the model does not play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotModelled {
    /// The whole workload.
    #[error(
        "workload `{0}` is not modelled: hackbench, netperf TCP_RR and UDP_RR, schbench, stream are"
    )]
    Workload(String),
    /// A value of a parameter.
    #[error("`{name}: {value}` of {workload} is not modelled")]
    Parameter {
        /// The workload.
        workload: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

pub(super) fn count(params: &Params, name: &str) -> Option<u64> {
    match params.get(name)? {
        ParamValue::Int(value) => u64::try_from(*value).ok(),
        ParamValue::Text(text) => text.parse().ok(),
        _ => None,
    }
}

pub(super) fn word<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    match params.get(name)? {
        ParamValue::Text(text) => Some(text),
        _ => None,
    }
}

/// Starts one instance of a workload in a group, on some CPUs. A run by time is cut to `cap`.
pub(crate) fn play(
    sim: &mut Sim,
    workload: &str,
    params: &Params,
    group: GroupIx,
    allowed: &Arc<CpuMask>,
    cap: Ns,
) -> Result<Played, NotModelled> {
    let meter = sim.meters.push(super::meter::Meter::default());
    let (program, comm, run_ns) = match workload {
        "hackbench" => (start_hackbench(sim, params, meter)?, "hackbench", None),
        "netperf" => {
            let run = run_time(params, cap);
            (
                start_netperf(sim, params, meter, run)?,
                "netperf",
                Some(run),
            )
        }
        "schbench" => {
            let run = run_time(params, cap);
            (
                start_schbench(sim, params, meter, run)?,
                "schbench",
                Some(run),
            )
        }
        "stream" => (start_stream(sim, params, meter, allowed), "stream", None),
        other => return Err(NotModelled::Workload(other.to_owned())),
    };
    sim.start_instance(comm, program, group, allowed, meter);
    Ok(Played { meter, run_ns })
}

fn run_time(params: &Params, cap: Ns) -> Ns {
    count(params, "seconds")
        .map_or(cap, |s| s.saturating_mul(SEC))
        .min(cap)
}

fn start_hackbench(
    sim: &mut Sim,
    params: &Params,
    meter: MeterIx,
) -> Result<Box<dyn Program>, NotModelled> {
    let groups = count(params, "groups").unwrap_or(10) as u32;
    let fds = count(params, "fds").unwrap_or(20) as u32;
    let loops = count(params, "loops").unwrap_or(100);
    let bytes = count(params, "size").unwrap_or(100) as u32;
    let ipc = word(params, "ipc").unwrap_or("socket");
    if ipc == "inet" {
        return Err(NotModelled::Parameter {
            workload: "hackbench",
            name: "ipc",
            value: ipc.to_owned(),
        });
    }
    let pipe = ipc == "pipe";
    let channels = (0..groups * fds)
        .map(|_| {
            if pipe {
                hackbench::Channel::Pipe(sim.ipc.pipes.push(crate::ipc::Pipe::default()))
            } else {
                hackbench::Channel::Sock(sim.ipc.socks.push(crate::ipc::Sock::default()))
            }
        })
        .collect();
    let (write_ns, read_ns) = if pipe {
        (sim.work.pipe_write_ns, sim.work.pipe_read_ns)
    } else {
        (sim.work.sock_send_ns, sim.work.sock_recv_ns)
    };
    let shape = Arc::new(hackbench::Shape {
        groups,
        fds,
        loops,
        bytes,
        threads: word(params, "mode") == Some("thread"),
        write_ns,
        read_ns,
        fork_ns: sim.machine.costs.kernel.fork_ns,
        syscall_ns: sim.machine.costs.kernel.syscall_ns,
        channels,
        ready: sim.new_futex(),
        start: sim.new_futex(),
    });
    let counts = &mut sim.meters[meter];
    counts.running = 2 * groups * fds;
    counts.ops_total = u64::from(groups * fds) * u64::from(fds) * loops;
    Ok(Box::new(hackbench::Main::new(shape)))
}

fn start_netperf(
    sim: &mut Sim,
    params: &Params,
    meter: MeterIx,
    run_ns: Ns,
) -> Result<Box<dyn Program>, NotModelled> {
    let test = word(params, "test").unwrap_or("TCP_RR");
    let (send_ns, recv_ns) = match test {
        "TCP_RR" => (sim.work.tcp_send_ns, sim.work.tcp_recv_ns),
        "UDP_RR" => (sim.work.udp_send_ns, sim.work.udp_recv_ns),
        other => {
            return Err(NotModelled::Parameter {
                workload: "netperf",
                name: "test",
                value: other.to_owned(),
            });
        }
    };
    let up = sim.ipc.socks.push(crate::ipc::Sock::default());
    let down = sim.ipc.socks.push(crate::ipc::Sock::default());
    let fork_ns = sim.machine.costs.kernel.fork_ns;
    let end = |client: bool, fork| netperf::End {
        receive: if client { down } else { up },
        send: if client { up } else { down },
        bytes: 1,
        send_ns,
        recv_ns,
        client,
        sends: client,
        fork,
        fork_ns,
        run_ns,
    };
    let server: Box<dyn Program> = Box::new(end(false, None));
    sim.meters[meter].running = 1;
    Ok(Box::new(end(true, Some(server))))
}

fn start_schbench(
    sim: &mut Sim,
    params: &Params,
    meter: MeterIx,
    run_ns: Ns,
) -> Result<Box<dyn Program>, NotModelled> {
    if let Some(name) = ["rps", "pipe", "auto_rps"]
        .into_iter()
        .find(|n| params.get(n).is_some())
    {
        let value = params
            .get(name)
            .map(ToString::to_string)
            .unwrap_or_default();
        return Err(NotModelled::Parameter {
            workload: "schbench",
            name,
            value,
        });
    }
    let message_threads = count(params, "message_threads").unwrap_or(1) as u32;
    let cpus = sim.machine.nr_cpus() as u64;
    let workers = count(params, "workers").unwrap_or(cpus.div_ceil(u64::from(message_threads)));
    let workers = workers as u32;
    let shape = Arc::new(schbench::Shape {
        message_threads,
        workers,
        operations: count(params, "operations").unwrap_or(5),
        operation_ns: sim.work.schbench_operation_ns,
        sleep_ns: count(params, "sleep").unwrap_or(100) * US,
        run_ns,
        fork_ns: sim.machine.costs.kernel.fork_ns,
        syscall_ns: sim.machine.costs.kernel.syscall_ns,
        inbox: (0..message_threads).map(|_| sim.new_futex()).collect(),
        own: (0..message_threads * workers)
            .map(|_| sim.new_futex())
            .collect(),
    });
    sim.meters[meter].running = message_threads * workers;
    Ok(Box::new(schbench::Main { shape, forked: 0 }))
}

fn start_stream(
    sim: &mut Sim,
    params: &Params,
    meter: MeterIx,
    allowed: &CpuMask,
) -> Box<dyn Program> {
    let threads = count(params, "threads")
        .unwrap_or(allowed.len() as u64)
        .max(1) as u32;
    let shape = Arc::new(stream::Shape {
        elements: count(params, "elements").unwrap_or(10_000_000),
        ntimes: count(params, "ntimes").unwrap_or(10).max(2) as u32,
        threads,
        fork_ns: sim.machine.costs.kernel.fork_ns,
        syscall_ns: sim.machine.costs.kernel.syscall_ns,
        arrived: sim.new_futex(),
        go: (0..threads).map(|_| sim.new_futex()).collect(),
    });
    sim.meters[meter].running = threads;
    Box::new(stream::Thread::new(shape, 0))
}
