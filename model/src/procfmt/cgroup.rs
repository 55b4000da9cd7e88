//! Files of a cgroup v2: cpu.stat, cpu.max, cgroup.events, cpuset.cpus.partition; and
//! `/proc/PID/cgroup`.

use serde::{Deserialize, Serialize};

use super::line::{LineError, parse_key_numbers};
use crate::plan::CpuMax;

/// `cpu.stat` of a group. Times in microseconds. What a kernel does not print, or prints only with the
/// cpu controller enabled, is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuStat {
    /// CPU time used.
    pub usage_us: Option<u64>,
    /// In user mode.
    pub user_us: Option<u64>,
    /// In the kernel.
    pub system_us: Option<u64>,
    /// By tasks of positive nice (6.12 has it, 6.1 has not).
    pub nice_us: Option<u64>,
    /// Bandwidth periods that passed while the group had work.
    pub nr_periods: Option<u64>,
    /// Of those, how many ended throttled.
    pub nr_throttled: Option<u64>,
    /// Time throttled, summed over CPUs.
    pub throttled_us: Option<u64>,
    /// Periods that used burst.
    pub nr_bursts: Option<u64>,
    /// Burst used.
    pub burst_us: Option<u64>,
}

/// Reads `cpu.stat` of cgroup v2. Keys that this program does not know are passed over.
///
/// # Errors
/// A line that is not a key and a number.
pub fn parse_cpu_stat(text: &str) -> Result<CpuStat, LineError> {
    let keys = parse_key_numbers(text)?;
    let get = |key| keys.get(key).copied();
    Ok(CpuStat {
        usage_us: get("usage_usec"),
        user_us: get("user_usec"),
        system_us: get("system_usec"),
        nice_us: get("nice_usec"),
        nr_periods: get("nr_periods"),
        nr_throttled: get("nr_throttled"),
        throttled_us: get("throttled_usec"),
        nr_bursts: get("nr_bursts"),
        burst_us: get("burst_usec"),
    })
}

/// Reads `cpu.stat` of cgroup v1, whose times are nanoseconds.
///
/// # Errors
/// A line that is not a key and a number.
pub fn parse_cpu_stat_v1(text: &str) -> Result<CpuStat, LineError> {
    let keys = parse_key_numbers(text)?;
    let get = |key| keys.get(key).copied();
    Ok(CpuStat {
        nr_periods: get("nr_periods"),
        nr_throttled: get("nr_throttled"),
        throttled_us: get("throttled_time").map(|ns| ns / 1000),
        nr_bursts: get("nr_bursts"),
        burst_us: get("burst_time").map(|ns| ns / 1000),
        ..CpuStat::default()
    })
}

impl CpuStat {
    /// What was counted since `before`. A counter that is missing on either side, or went back (the
    /// group was made anew), is `None`.
    pub fn since(&self, before: &CpuStat) -> CpuStat {
        let sub = |a: Option<u64>, b: Option<u64>| a?.checked_sub(b?);
        CpuStat {
            usage_us: sub(self.usage_us, before.usage_us),
            user_us: sub(self.user_us, before.user_us),
            system_us: sub(self.system_us, before.system_us),
            nice_us: sub(self.nice_us, before.nice_us),
            nr_periods: sub(self.nr_periods, before.nr_periods),
            nr_throttled: sub(self.nr_throttled, before.nr_throttled),
            throttled_us: sub(self.throttled_us, before.throttled_us),
            nr_bursts: sub(self.nr_bursts, before.nr_bursts),
            burst_us: sub(self.burst_us, before.burst_us),
        }
    }

    /// Throttled time of a throttled period, in milliseconds.
    pub fn throttled_ms_per_throttled_period(&self) -> Option<f64> {
        let (us, n) = (self.throttled_us?, self.nr_throttled?);
        (n > 0).then(|| us as f64 / 1000.0 / n as f64)
    }

    /// Used share of the quota over the periods counted, and whether the group was throttled although
    /// it used less: quota that expired on other CPUs (kernels before 5.4), or work in bursts shorter
    /// than a period.
    pub fn quota_use(&self, max: &CpuMax) -> Option<(f64, bool)> {
        let allowed = max.quota_us?.checked_mul(self.nr_periods?)?;
        let share = self.usage_us.filter(|_| allowed > 0)? as f64 / allowed as f64;
        Some((share, self.nr_throttled? > 0 && share < 0.95))
    }
}

/// `cpu.stat.local`: microseconds that this group's own limit throttled it. `None`: the key is absent.
///
/// # Errors
/// A line that is not a key and a number.
pub fn parse_cpu_stat_local(text: &str) -> Result<Option<u64>, LineError> {
    Ok(parse_key_numbers(text)?.get("throttled_usec").copied())
}

/// `cgroup.events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CgroupEvents {
    /// The group or a descendant has a process.
    pub populated: bool,
    /// The group is frozen; `None` on kernels without the freezer.
    pub frozen: Option<bool>,
}

/// Reads `cgroup.events`.
///
/// # Errors
/// A line that is not a key and a number, or no `populated`.
pub fn parse_cgroup_events(text: &str) -> Result<CgroupEvents, LineError> {
    let keys = parse_key_numbers(text)?;
    let populated = keys.get("populated").ok_or_else(|| {
        LineError::new(
            0,
            text.lines().next().unwrap_or(""),
            "cgroup.events with `populated`",
        )
    })?;
    Ok(CgroupEvents {
        populated: *populated != 0,
        frozen: keys.get("frozen").map(|&v| v != 0),
    })
}

/// Reads `cpu.max`: `max 100000` or `50000 100000`. The burst is in a file of its own.
///
/// # Errors
/// Other text.
pub fn parse_cpu_max(text: &str) -> Result<CpuMax, LineError> {
    let bad = || LineError::new(0, text.trim_end(), "a quota or `max`, and a period");
    let (quota, period) = text.trim().split_once(' ').ok_or_else(bad)?;
    let quota_us = match quota {
        "max" => None,
        number => Some(number.parse().map_err(|_| bad())?),
    };
    let period_us = period.trim().parse().map_err(|_| bad())?;
    Ok(CpuMax {
        quota_us,
        period_us,
        burst_us: None,
    })
}

/// What `cpuset.cpus.partition` reads: the write succeeds whether or not the partition is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionState {
    /// `member`, `root`, `isolated`.
    pub kind: String,
    /// Why it is invalid, in the kernel's words; `None`: it is valid.
    pub invalid: Option<String>,
}

/// Reads `cpuset.cpus.partition`: `root`, `root invalid (Parent is not a partition root)`.
pub fn parse_partition(text: &str) -> PartitionState {
    let text = text.trim();
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    let reason = rest.strip_prefix("invalid").map(str::trim);
    let invalid = reason.map(|r| {
        let inner = r.trim_start_matches('(').trim_end_matches(')');
        if inner.is_empty() {
            "no reason given".to_owned()
        } else {
            inner.to_owned()
        }
    });
    PartitionState {
        kind: kind.to_owned(),
        invalid,
    }
}

/// The path of the v2 group in `/proc/PID/cgroup` (`0::/a/b`); `None` where the process is in none.
pub fn parse_proc_cgroup(text: &str) -> Option<&str> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    // The kernel marks a group that was removed under the process.
    Some(path.strip_suffix(" (deleted)").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_each_kernel_are_read_by_name() {
        let v61 = parse_cpu_stat("usage_usec 4\nuser_usec 3\nsystem_usec 1\n").unwrap();
        assert_eq!(
            (v61.usage_us, v61.nice_us, v61.nr_periods),
            (Some(4), None, None)
        );
        let text = "usage_usec 464852\nuser_usec 328683\nsystem_usec 136169\nnice_usec 0\nnr_periods 25\nnr_throttled 22\nthrottled_usec 1691765\nnr_bursts 1\nburst_usec 10000\ncore_sched.force_idle_usec 9\n";
        let v72 = parse_cpu_stat(text).unwrap();
        assert_eq!((v72.nr_throttled, v72.burst_us), (Some(22), Some(10_000)));
        assert!(parse_cpu_stat("usage_usec\n").is_err());
    }

    #[test]
    fn version_1_counts_nanoseconds() {
        let stat = parse_cpu_stat_v1(
            "nr_periods 24\nnr_throttled 21\nthrottled_time 1109600853\nwait_sum 16292903\n",
        )
        .unwrap();
        assert_eq!((stat.throttled_us, stat.usage_us), (Some(1_109_600), None));
    }

    /// 8 CPUs of quota and helper threads beside 8 busy ones: 884 throttles, 1.84 s.
    #[test]
    fn throttled_time_of_a_period() {
        let stat = CpuStat {
            nr_throttled: Some(884),
            throttled_us: Some(1_840_000),
            ..CpuStat::default()
        };
        assert!((stat.throttled_ms_per_throttled_period().unwrap() - 2.08).abs() < 0.005);
        assert_eq!(CpuStat::default().throttled_ms_per_throttled_period(), None);
    }

    #[test]
    fn throttled_below_quota_is_seen() {
        let max = CpuMax {
            quota_us: Some(100_000),
            period_us: 100_000,
            burst_us: None,
        };
        let stat = |usage, throttled| CpuStat {
            usage_us: Some(usage),
            nr_periods: Some(10),
            nr_throttled: Some(throttled),
            ..CpuStat::default()
        };
        assert_eq!(stat(120_000, 9).quota_use(&max), Some((0.12, true)));
        assert_eq!(stat(1_000_000, 9).quota_use(&max), Some((1.0, false)));
        assert_eq!(stat(120_000, 0).quota_use(&max), Some((0.12, false)));
    }

    #[test]
    fn a_group_made_anew_has_no_difference() {
        let (a, b) = (
            CpuStat {
                usage_us: Some(9),
                ..CpuStat::default()
            },
            CpuStat {
                usage_us: Some(4),
                ..CpuStat::default()
            },
        );
        assert_eq!(b.since(&a).usage_us, None);
        assert_eq!(a.since(&b).usage_us, Some(5));
    }

    #[test]
    fn limits_events_and_partitions() {
        let max = parse_cpu_max("max 100000\n").unwrap();
        assert_eq!((max.quota_us, max.period_us), (None, 100_000));
        assert_eq!(
            parse_cpu_max("30000 100000\n").unwrap().quota_us,
            Some(30_000)
        );
        assert!(parse_cpu_max("30000").is_err());
        let events = parse_cgroup_events("populated 1\nfrozen 0\n").unwrap();
        assert!(events.populated && events.frozen == Some(false));
        assert!(parse_cgroup_events("frozen 0\n").is_err());
        let bad = parse_partition("root invalid (Parent is not a partition root)\n");
        assert_eq!(
            bad.invalid.as_deref(),
            Some("Parent is not a partition root")
        );
        assert_eq!(
            parse_partition("isolated invalid\n").invalid.as_deref(),
            Some("no reason given")
        );
        assert_eq!(parse_partition("isolated\n").invalid, None);
    }

    #[test]
    fn a_process_is_found_in_its_group() {
        assert_eq!(
            parse_proc_cgroup("9:name=systemd:/\n1:cpu:/\n0::/a/b\n"),
            Some("/a/b")
        );
        assert_eq!(parse_proc_cgroup("0::/a/b (deleted)\n"), Some("/a/b"));
        assert_eq!(parse_proc_cgroup("1:cpu:/\n"), None);
    }
}
