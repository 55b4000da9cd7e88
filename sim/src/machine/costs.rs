//! What things cost on a machine. The kernel charges none of this: the machine does.

use serde::{Deserialize, Serialize};

use crate::numbers::number_table;

number_table! {
    /// Transfer of a modified cache line to another CPU, by where the owner is, and in which
    /// package the line's memory is.
    LineCosts {
        /// Owner on the same core.
        smt_ns,
        /// Owner shares the last-level cache.
        llc_ns,
    } optional {
        /// Owner shares the L2 but not the core; absent: as `llc_ns`.
        cluster_ns,
        /// Owner in the same package under another LLC, line at home in this package.
        package_ns,
        /// As `package_ns`, line at home in another package.
        package_far_home_ns,
        /// Owner in another package.
        remote_ns,
    }
}

number_table! {
    /// Switching and waking.
    SwitchCosts {
        /// Switch between threads of one process on a CPU.
        thread_ns,
        /// Switch between processes on a CPU.
        process_ns,
        /// Sending a reschedule interrupt within the package, paid by the sender.
        ipi_send_ns,
        /// From the sending to the first instruction of the handler.
        ipi_flight_ns,
        /// Setting the flag of a CPU that polls in idle, paid by the sender.
        poll_flag_ns,
        /// From that store to the poller leaving its loop.
        poll_exit_ns,
        /// Looking at one CPU in a search for an idle one, its line at hand.
        probe_ns,
    } optional {
        /// As `ipi_send_ns`, to another package.
        ipi_send_remote_ns,
    }
}

number_table! {
    /// Work of the kernel that workloads ask for, and that ticks and balancing cause.
    KernelCosts {
        /// Entering and leaving the kernel once.
        syscall_ns,
        /// Fork, exit and wait of a small process.
        fork_ns,
        /// Exec of a small program.
        exec_ns,
        /// What a tick takes from the running task.
        tick_ns,
        /// A balancing pass that looks at nothing.
        balance_ns,
        /// What a balancing pass adds for each CPU it looks at, lines at hand.
        balance_cpu_ns,
    }
}

number_table! {
    /// Memory and refill.
    MemoryCosts {
        /// Load latency from local memory.
        local_ns,
        /// Bandwidth a node reaches with all its cores (not the sum of its channels' peaks).
        node_mb_s,
        /// Bandwidth one core reaches from local memory.
        core_mb_s,
        /// Rate at which a core refills its caches from its LLC.
        llc_fill_mb_s,
        /// Lines a core may have in flight: a remote refill takes lines x latency / this.
        lines_in_flight,
    } optional {
        /// Load latency from another node of the package.
        node_ns,
        /// Load latency from another package.
        remote_ns,
        /// Bandwidth between two packages, each way.
        link_mb_s,
    }
}

number_table! {
    /// Sizes of the caches, each as one instance of it has.
    CacheSizes {
        /// L1 data cache.
        l1d_bytes,
    } optional {
        /// L2 cache.
        l2_bytes,
        /// Last-level cache; absent where the machine does not say.
        llc_bytes,
    }
}

number_table! {
    /// SMT and frequency.
    CoreCosts {
        /// What two busy threads of a core do together, in thousandths of one alone. At or below
        /// 1000 the second thread adds nothing.
        smt_throughput_permille,
        /// Frequency with turbo off.
        base_khz,
        /// Frequency with every core busy, turbo on.
        all_cores_khz,
    } optional {
        /// Frequency with one core busy, turbo on; absent: as `all_cores_khz`.
        one_core_khz,
    }
}

number_table! {
    /// An idle state.
    IdleState {
        /// From the wake-up to the first instruction.
        exit_ns,
        /// How long a stay has to be for the governor to choose it.
        residency_ns,
    }
}

/// Everything that costs time on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs<N = u64> {
    /// Cache-line transfers.
    pub line: LineCosts<N>,
    /// Switching and waking.
    pub switch: SwitchCosts<N>,
    /// Work of the kernel.
    pub kernel: KernelCosts<N>,
    /// Memory.
    pub memory: MemoryCosts<N>,
    /// Cores.
    pub core: CoreCosts<N>,
    /// Idle states beyond polling, shallowest first; empty where idle CPUs poll or halt at once.
    #[serde(default = "Vec::new")]
    pub idle: Vec<IdleState<N>>,
}

impl<N> Costs<N> {
    /// The same costs with every number passed through `f`, which sees its dotted name.
    pub(crate) fn map<M>(&self, f: &mut dyn FnMut(&str, &N) -> M) -> Costs<M> {
        Costs {
            line: self.line.map("costs.line", f),
            switch: self.switch.map("costs.switch", f),
            kernel: self.kernel.map("costs.kernel", f),
            memory: self.memory.map("costs.memory", f),
            core: self.core.map("costs.core", f),
            idle: (self.idle.iter().enumerate())
                .map(|(at, state)| state.map(&format!("costs.idle.{at}"), f))
                .collect(),
        }
    }
}
