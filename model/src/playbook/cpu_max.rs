//! `cpu.max`: quota, period, burst, and the limits the kernel sets for them.

use serde::{Deserialize, Serialize};

use crate::plan::CpuMax;

use super::amount::parse_percent;

/// The kernel's least quota and period (`min_cfs_quota_period`): 1 ms.
pub(super) const MIN_US: u64 = 1_000;
/// The kernel's longest period (`max_cfs_quota_period`): 1 s.
pub(super) const MAX_PERIOD_US: u64 = 1_000_000;
/// The kernel's own period where none is written: 100 ms.
pub(super) const DEFAULT_PERIOD_US: u64 = 100_000;
/// The kernel's longest quota (`max_cfs_runtime`, 2^44 ns): about 4.9 hours.
pub(super) const MAX_QUOTA_US: u64 = (1 << 44) / 1_000;

/// A quota before the machine is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// `max`.
    Unlimited,
    /// So many CPUs' worth of each period.
    Cpus(f64),
    /// This share of the allowed CPUs.
    ShareOfCpus(f64),
    /// Microseconds each period.
    Microseconds(u64),
}

/// `cpu.max` before the machine is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Time a period.
    pub quota: Quota,
    /// Length of a period.
    pub period_us: u64,
    /// `cpu.max.burst`.
    pub burst_us: Option<u64>,
}

/// What it looks like, for messages.
pub(super) const EXPECTED: &str = "`50 cpus`, `50% cpus`, `max`, or quota and period in microseconds such as `200000 100000`; a map of quota, period, burst for more";

/// Reads the short form.
///
/// # Errors
/// What would be right.
pub(super) fn parse(text: &str) -> Result<Bandwidth, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |w: &str| w.parse::<u64>().map_err(|_| EXPECTED.to_owned());
    let (quota, period_us) = match words.as_slice() {
        ["max"] => (Quota::Unlimited, DEFAULT_PERIOD_US),
        ["max", period] => (Quota::Unlimited, number(period)?),
        [share, "cpus" | "cpu"] if share.ends_with('%') => {
            (Quota::ShareOfCpus(parse_percent(share)?), DEFAULT_PERIOD_US)
        }
        [n, "cpus" | "cpu"] => {
            let cpus: f64 = n.parse().map_err(|_| EXPECTED.to_owned())?;
            (Quota::Cpus(cpus), DEFAULT_PERIOD_US)
        }
        [quota, period] => (Quota::Microseconds(number(quota)?), number(period)?),
        _ => return Err(EXPECTED.into()),
    };
    let bandwidth = Bandwidth {
        quota,
        period_us,
        burst_us: None,
    };
    check_known(&bandwidth).map_err(|why| format!("values the kernel takes: {why}"))?;
    Ok(bandwidth)
}

/// Checks what does not depend on the machine.
///
/// # Errors
/// The limit of the kernel that it breaks.
pub(super) fn check_known(b: &Bandwidth) -> Result<(), String> {
    if !(MIN_US..=MAX_PERIOD_US).contains(&b.period_us) {
        return Err(format!(
            "a period from {MIN_US} to {MAX_PERIOD_US} usec (the kernel's limits): {} usec is not",
            b.period_us
        ));
    }
    match b.quota {
        Quota::ShareOfCpus(_) => Ok(()),
        _ => resolve(b, 0).map(drop),
    }
}

/// The values to write on a machine with `cpus` allowed CPUs.
///
/// # Errors
/// The limit of the kernel that they break.
pub(crate) fn resolve(b: &Bandwidth, cpus: usize) -> Result<CpuMax, String> {
    let in_period = |cpus: f64| (cpus * b.period_us as f64).round() as u64;
    let quota_us = match b.quota {
        Quota::Unlimited => None,
        Quota::Cpus(n) => Some(in_period(n)),
        Quota::ShareOfCpus(share) => Some(in_period(share * cpus as f64)),
        Quota::Microseconds(us) => Some(us),
    };
    if let Some(quota) = quota_us {
        if quota < MIN_US {
            return Err(format!(
                "quota {quota} usec is below the kernel minimum {MIN_US}"
            ));
        }
        if quota > MAX_QUOTA_US {
            return Err(format!(
                "quota {quota} usec is above the kernel maximum {MAX_QUOTA_US}"
            ));
        }
        if b.burst_us.is_some_and(|burst| burst > quota) {
            return Err(format!(
                "burst {} usec is above the quota of {quota} usec: the kernel refuses it",
                b.burst_us.unwrap_or_default()
            ));
        }
    }
    Ok(CpuMax {
        quota_us,
        period_us: b.period_us,
        burst_us: b.burst_us,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_of_500_usec_is_below_the_kernel_minimum() {
        let error = parse("500 100000").unwrap_err();
        assert!(error.ends_with("quota 500 usec is below the kernel minimum 1000"));
    }

    #[test]
    fn three_of_ten_milliseconds_stays_one_line() {
        let b = parse("3000 10000").unwrap();
        let max = resolve(&b, 8).unwrap();
        assert_eq!((max.quota_us, max.period_us), (Some(3000), 10_000));
    }

    #[test]
    fn fifty_cpus_are_five_seconds_of_each_100_ms() {
        let max = resolve(&parse("50 cpus").unwrap(), 384).unwrap();
        assert_eq!((max.quota_us, max.period_us), (Some(5_000_000), 100_000));
        let half = resolve(&parse("50% cpus").unwrap(), 8).unwrap();
        assert_eq!(half.quota_us, Some(400_000));
    }

    #[test]
    fn periods_have_two_ends() {
        assert!(parse("5000 999").is_err());
        assert!(parse("5000 1000001").is_err());
        assert!(parse("max 1000").is_ok());
    }

    #[test]
    fn burst_stays_within_the_quota() {
        let mut b = parse("20000 100000").unwrap();
        b.burst_us = Some(20_001);
        assert!(resolve(&b, 8).unwrap_err().contains("burst 20001"));
    }
}
