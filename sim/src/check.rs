//! Invariants, apart from what keeps them. Checked at every event in debug builds.

use crate::cpu::CpuIx;
use crate::sched::task::TaskState;
use crate::sim::Sim;
use crate::table::CfsRqIx;

impl Sim {
    /// What must hold of a CPU after every event.
    pub(crate) fn check_event(&self, cpu: CpuIx) {
        let rq = &self.rqs[cpu];
        if let Some(curr) = rq.curr {
            let task = &self.tasks[curr];
            assert_eq!(
                task.cpu, cpu,
                "the running task of {cpu} belongs to another CPU"
            );
            assert!(task.on_rq, "a task runs on {cpu} without being queued");
            assert_eq!(
                task.state,
                TaskState::Running,
                "a blocked task runs on {cpu}"
            );
        }
        let root = &self.cfs[rq.cfs];
        assert_eq!(rq.nr_running, root.h_nr_queued, "nr_running of {cpu}");
        self.check_queue(rq.cfs);
    }

    /// What must hold of a queue.
    pub(crate) fn check_queue(&self, queue: CfsRqIx) {
        let cfs = &self.cfs[queue];
        let current = cfs.curr.is_some_and(|c| self.se[c].on_rq);
        assert_eq!(
            cfs.nr_queued as usize,
            cfs.queue.len() + usize::from(current),
            "entities of {queue:?}"
        );
        assert!(
            cfs.h_nr_runnable <= cfs.h_nr_queued,
            "runnable tasks of {queue:?}"
        );
        assert!(
            cfs.queue.windows(2).all(|w| w[0].key <= w[1].key),
            "order of {queue:?}"
        );
        if self.tun.eevdf() {
            let sum_w: i64 = cfs.queue.iter().map(|s| self.se[s.se].load() as i64).sum();
            let sum_wv: i64 = (cfs.queue.iter())
                .map(|s| self.se[s.se].load() as i64 * (s.vruntime - cfs.v0))
                .sum();
            assert_eq!(
                (cfs.sum_w, cfs.sum_wv),
                (sum_w, sum_wv),
                "sums of {queue:?}"
            );
        }
    }
}
