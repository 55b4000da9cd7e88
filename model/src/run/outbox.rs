//! Reports that the controller has not acknowledged yet.

use std::collections::VecDeque;

use crate::id::RunId;
use crate::run::report::{AgentReport, Numbered};

/// Reports an agent keeps at most. A repetition yields two, and the next assignment comes only after
/// the controller has seen them, so that this is reached by a defect alone.
const KEPT_MAX: usize = 256;

/// The controller has acknowledged nothing for too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{KEPT_MAX} reports wait for the controller's acknowledgement")]
pub struct OutboxFull;

/// Reports in order, each kept until it is acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    last: u64,
    kept: VecDeque<Numbered>,
}

impl Outbox {
    /// An outbox that holds reports an earlier life of the agent left behind.
    pub fn from_spool(mut kept: Vec<Numbered>) -> Self {
        kept.sort_by_key(|n| n.seq);
        Outbox {
            last: kept.last().map_or(0, |n| n.seq),
            kept: kept.into(),
        }
    }

    /// Numbers a report and keeps it.
    ///
    /// # Errors
    /// Too many reports are unacknowledged.
    pub fn push(&mut self, run: RunId, report: AgentReport) -> Result<Numbered, OutboxFull> {
        if self.kept.len() >= KEPT_MAX {
            return Err(OutboxFull);
        }
        self.last += 1;
        let numbered = Numbered {
            seq: self.last,
            run,
            report,
        };
        self.kept.push_back(numbered.clone());
        Ok(numbered)
    }

    /// Forgets everything up to and with `seq`; returns what was forgotten. An acknowledgement that
    /// is older than the last one changes nothing.
    pub fn acknowledge(&mut self, seq: u64) -> Vec<u64> {
        let mut forgotten = Vec::new();
        while let Some(first) = self.kept.front().map(|n| n.seq).filter(|&s| s <= seq) {
            self.kept.pop_front();
            forgotten.push(first);
        }
        forgotten
    }

    /// What has to be sent again after a reconnect, in order.
    pub fn unacknowledged(&self) -> impl Iterator<Item = &Numbered> {
        self.kept.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::StepId;
    use proptest::prelude::*;

    fn started(step: u32) -> AgentReport {
        AgentReport::Started {
            step: StepId(step),
            attempt: 0,
        }
    }

    #[test]
    fn a_late_acknowledgement_forgets_nothing_new() {
        let mut outbox = Outbox::default();
        for i in 0..3 {
            outbox.push("r".into(), started(i)).unwrap();
        }
        assert_eq!(outbox.acknowledge(2), [1, 2]);
        assert!(outbox.acknowledge(1).is_empty());
        assert_eq!(
            outbox.unacknowledged().map(|n| n.seq).collect::<Vec<_>>(),
            [3]
        );
    }

    #[test]
    fn numbers_go_on_after_a_restart() {
        let mut before = Outbox::default();
        before.push("r".into(), started(0)).unwrap();
        let mut after = Outbox::from_spool(before.unacknowledged().cloned().collect());
        assert_eq!(after.push("r".into(), started(1)).unwrap().seq, 2);
    }

    proptest! {
        #[test]
        fn nothing_unacknowledged_is_lost(ops in proptest::collection::vec(0_u64..40, 1..60)) {
            let mut outbox = Outbox::default();
            let (mut pushed, mut acked) = (0, 0);
            for op in ops {
                if op % 2 == 0 {
                    outbox.push("r".into(), started(0)).unwrap();
                    pushed += 1;
                } else {
                    outbox.acknowledge(op.min(pushed));
                    acked = acked.max(op.min(pushed));
                }
                let kept: Vec<u64> = outbox.unacknowledged().map(|n| n.seq).collect();
                prop_assert_eq!(kept, (acked + 1..=pushed).collect::<Vec<_>>());
            }
        }
    }
}
