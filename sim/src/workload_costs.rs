//! Costs of what workloads do, from `workloads.yaml`.

use serde::Deserialize;

use crate::numbers::{self, NumberError, number_table};
use crate::sourced::Quantity;

number_table! {
    /// What workloads ask of the kernel, at the base point of each.
    WorkloadCosts {
        /// Writing a small message to a pipe.
        pipe_write_ns,
        /// Reading one.
        pipe_read_ns,
        /// Sending a small message over a UNIX socket.
        sock_send_ns,
        /// Receiving one.
        sock_recv_ns,
        /// Sending over loopback TCP, softirq included.
        tcp_send_ns,
        /// Receiving.
        tcp_recv_ns,
        /// Sending over loopback UDP, softirq included.
        udp_send_ns,
        /// Receiving.
        udp_recv_ns,
        /// Entering and leaving a wait queue.
        block_ns,
        /// try_to_wake_up() up to the choice of a CPU.
        wake_ns,
        /// Queueing a task.
        activate_ns,
        /// Lines of a remote run queue a wake-up writes.
        queue_lines_count,
        /// Deviation of service times either way.
        jitter_permille,
        /// Longest stretch of steps taken together.
        batch_ns,
        /// Lines written to change a group's load.
        group_line_lines_count,
        /// A matrix operation of schbench.
        schbench_operation_ns,
        /// Bytes a message-passing task touches between two switches.
        working_set_bytes,
    }
}

/// `workloads.yaml` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadCostsError {
    /// Not YAML of the right shape.
    #[error("the workload costs are not as described")]
    Shape(#[source] Box<serde_saphyr::Error>),
    /// A number that contradicts its name.
    #[error("the workload costs have a number that cannot be right")]
    Number(#[source] NumberError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    costs: WorkloadCosts<Quantity>,
}

impl WorkloadCosts {
    /// Reads a file of costs.
    pub fn parse(text: &str) -> Result<Self, WorkloadCostsError> {
        let file: File =
            serde_saphyr::from_str(text).map_err(|e| WorkloadCostsError::Shape(Box::new(e)))?;
        let mut wrong = None;
        let costs = file.costs.map("costs", &mut |path, quantity: &Quantity| {
            if let Err(error) = numbers::check(path, quantity) {
                wrong.get_or_insert(error);
            }
            quantity.base()
        });
        match wrong {
            Some(error) => Err(WorkloadCostsError::Number(error)),
            None => Ok(costs),
        }
    }

    /// The costs that come with the project.
    pub fn shipped() -> Result<Self, WorkloadCostsError> {
        Self::parse(include_str!("../workloads.yaml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_costs_can_be_read() {
        let costs = WorkloadCosts::shipped().unwrap();
        assert_eq!(
            (costs.pipe_write_ns, costs.working_set_bytes),
            (190, 16 * 1024)
        );
    }
}
