//! Counters of /proc/schedstat, as the kernel counts them.

use crate::time::Ns;

/// How idle a CPU is when it balances (`enum cpu_idle_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleType {
    /// It is idle.
    Idle,
    /// It is busy.
    Busy,
    /// It is about to go idle.
    NewlyIdle,
}

/// A CPU's line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuStat {
    /// sched_yield() calls.
    pub yld_count: u64,
    /// schedule() calls.
    pub sched_count: u64,
    /// schedule() calls that left the CPU idle.
    pub sched_goidle: u64,
    /// Wake-ups made by this CPU.
    pub ttwu_count: u64,
    /// ... of a task on this very CPU.
    pub ttwu_local: u64,
    /// Time tasks ran here.
    pub rq_cpu_time: Ns,
    /// Time tasks waited here.
    pub run_delay: Ns,
    /// Times a task got this CPU.
    pub pcount: u64,
}

/// Balancing counters of a domain for one idle type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LbStat {
    /// Calls.
    pub count: u64,
    /// ... that found no need.
    pub balanced: u64,
    /// ... that moved nothing.
    pub failed: u64,
    /// Imbalance in load.
    pub imbalance_load: u64,
    /// ... in utilisation.
    pub imbalance_util: u64,
    /// ... in tasks.
    pub imbalance_task: u64,
    /// ... in misfit tasks.
    pub imbalance_misfit: u64,
    /// Tasks moved.
    pub gained: u64,
    /// ... although cache-hot.
    pub hot_gained: u64,
    /// No busiest queue.
    pub nobusyq: u64,
    /// No busiest group.
    pub nobusyg: u64,
}

/// A domain's line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SdStat {
    /// Balancing while idle.
    pub idle: LbStat,
    /// ... while busy.
    pub busy: LbStat,
    /// ... when about to go idle.
    pub newidle: LbStat,
    /// Active balances started.
    pub alb_count: u64,
    /// ... that moved nothing.
    pub alb_failed: u64,
    /// ... that moved a task.
    pub alb_pushed: u64,
    /// Wake-ups of a task whose CPU is another one of this domain.
    pub ttwu_wake_remote: u64,
    /// Tasks drawn to the waker.
    pub ttwu_move_affine: u64,
}

impl SdStat {
    /// The counters for one idle type.
    pub fn lb(&mut self, idle: IdleType) -> &mut LbStat {
        match idle {
            IdleType::Idle => &mut self.idle,
            IdleType::Busy => &mut self.busy,
            IdleType::NewlyIdle => &mut self.newidle,
        }
    }
}

/// What is printed of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainLine {
    /// The domain's name.
    pub name: &'static str,
    /// Its CPUs as the kernel prints masks.
    pub mask: String,
    /// Its counters.
    pub stat: SdStat,
}

/// What is printed of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuLines {
    /// The kernel's number.
    pub os_cpu: u32,
    /// Its counters.
    pub stat: CpuStat,
    /// Its domains, lowest first.
    pub domains: Vec<DomainLine>,
}

/// Everything /proc/schedstat says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedstat {
    /// 15, 16 or 17.
    pub version: u32,
    /// jiffies.
    pub timestamp: u64,
    /// In ascending order.
    pub cpus: Vec<CpuLines>,
}

impl Schedstat {
    /// The text of the file.
    pub fn render(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!("version {}\ntimestamp {}\n", self.version, self.timestamp);
        for cpu in &self.cpus {
            let s = &cpu.stat;
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "cpu{} {} 0 {} {} {} {} {} {} {}",
                cpu.os_cpu,
                s.yld_count,
                s.sched_count,
                s.sched_goidle,
                s.ttwu_count,
                s.ttwu_local,
                s.rq_cpu_time,
                s.run_delay,
                s.pcount
            );
            for (at, domain) in cpu.domains.iter().enumerate() {
                let _ = match self.version {
                    17.. => write!(text, "domain{at} {} {}", domain.name, domain.mask),
                    _ => write!(text, "domain{at} {}", domain.mask),
                };
                for number in self.domain_numbers(&domain.stat) {
                    let _ = write!(text, " {number}");
                }
                text.push('\n');
            }
        }
        text
    }

    /// A domain's numbers in the order of the version: idle first before 16, busy first from 16.
    fn domain_numbers(&self, stat: &SdStat) -> Vec<u64> {
        let order = if self.version >= 16 {
            [&stat.busy, &stat.idle, &stat.newidle]
        } else {
            [&stat.idle, &stat.busy, &stat.newidle]
        };
        let mut numbers = Vec::with_capacity(45);
        for lb in order {
            numbers.extend([lb.count, lb.balanced, lb.failed]);
            if self.version >= 17 {
                numbers.extend([
                    lb.imbalance_load,
                    lb.imbalance_util,
                    lb.imbalance_task,
                    lb.imbalance_misfit,
                ]);
            } else {
                // One number for all kinds.
                numbers.push(
                    lb.imbalance_load + lb.imbalance_util + lb.imbalance_task + lb.imbalance_misfit,
                );
            }
            numbers.extend([lb.gained, lb.hot_gained, lb.nobusyq, lb.nobusyg]);
        }
        numbers.extend([stat.alb_count, stat.alb_failed, stat.alb_pushed]);
        // sbe and sbf: balance on exec and fork have not been counted for long.
        numbers.extend([0; 6]);
        numbers.extend([stat.ttwu_wake_remote, stat.ttwu_move_affine, 0]);
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedstat(version: u32) -> Schedstat {
        let mut stat = SdStat::default();
        stat.busy.count = 7;
        stat.idle.count = 5;
        stat.newidle.imbalance_load = 2;
        stat.newidle.imbalance_task = 3;
        let domain = DomainLine {
            name: "MC",
            mask: "3".into(),
            stat,
        };
        let cpu = CpuStat {
            sched_count: 9,
            ..CpuStat::default()
        };
        Schedstat {
            version,
            timestamp: 4_294_937_296,
            cpus: vec![CpuLines {
                os_cpu: 0,
                stat: cpu,
                domains: vec![domain],
            }],
        }
    }

    fn domain_words(version: u32) -> Vec<String> {
        let text = schedstat(version).render();
        let line = text.lines().last().unwrap();
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn each_version_has_its_number_of_fields_and_order() {
        assert_eq!(domain_words(15).len(), 2 + 36);
        assert_eq!(domain_words(15)[2], "5");
        assert_eq!(domain_words(16).len(), 2 + 36);
        assert_eq!(domain_words(16)[2], "7");
        let v17 = domain_words(17);
        assert_eq!(
            (v17.len(), v17[1].as_str(), v17[3].as_str()),
            (3 + 45, "MC", "7")
        );
        assert_eq!(domain_words(16)[2 + 16 + 3], "5");
    }
}
