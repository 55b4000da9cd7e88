//! Ratios of the counters, with the direction that is better. A ratio without a base is no number.

use schedrig_stats::Direction;
use serde::Serialize;

use super::layout::{CpuField, DomainField, IdleType, Layout, LbField, TailField};
use super::sums::{DomainSum, Sums};

/// A change above this factor says more as a factor than as a percentage.
const FACTOR_FROM: f64 = 100.0;

/// A value made of several counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// What it is.
    pub name: String,
    /// `None`: not defined, a counter is missing or the base is 0.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// Which way is better.
    pub direction: Direction,
}

impl Derived {
    fn ratio(
        name: String,
        num: Option<u64>,
        den: Option<u64>,
        scale: f64,
        unit: &'static str,
    ) -> Self {
        let value = match (num, den) {
            (Some(num), Some(den)) if den != 0 => Some(num as f64 / den as f64 * scale),
            _ => None,
        };
        Derived {
            name,
            value,
            unit,
            direction: Direction::Unknown,
        }
    }

    fn better(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }
}

/// Ratios of the counters of CPUs.
pub fn cpu_derived(sums: &Sums) -> Vec<Derived> {
    let get = |f| sums.cpu(f);
    let (count, ttwu) = (get(CpuField::SchedCount), get(CpuField::TtwuCount));
    let (run, delay) = (get(CpuField::RunTimeNs), get(CpuField::RunDelayNs));
    vec![
        Derived::ratio(
            "idle after schedule()".into(),
            get(CpuField::SchedGoidle),
            count,
            100.0,
            "%",
        ),
        Derived::ratio(
            "local wake-ups".into(),
            get(CpuField::TtwuLocal),
            ttwu,
            100.0,
            "%",
        ),
        Derived::ratio("run delay per run time".into(), delay, run, 100.0, "%")
            .better(Direction::LowerIsBetter),
        Derived::ratio(
            "run delay per timeslice".into(),
            delay,
            get(CpuField::Pcount),
            1.0,
            "ns",
        )
        .better(Direction::LowerIsBetter),
    ]
}

/// Ratios of the counters of one kind of domain. `elapsed_jiffies` is the time between two readings;
/// `None` where the counters run since boot.
pub fn domain_derived(
    sum: &DomainSum,
    layout: &Layout,
    elapsed_jiffies: Option<u64>,
) -> Vec<Derived> {
    let mut out = Vec::new();
    for idle in IdleType::ALL {
        let get = |f| sum.get(layout, DomainField::Lb(idle, f));
        let count = get(LbField::Count);
        let success = successes(sum, layout, idle);
        let name = |what: &str| format!("{what} [{}]", idle.name());
        let per_success = |what: &str, n| Derived::ratio(name(what), n, success, 1.0, "ratio");
        out.push(Derived {
            name: name("balanced with success"),
            value: success.map(|s| s as f64),
            unit: "count",
            direction: Direction::Unknown,
        });
        out.push(
            Derived::ratio(name("success"), success, count, 100.0, "%")
                .better(Direction::HigherIsBetter),
        );
        out.push(per_success(
            "imbalance per success",
            imbalance(sum, layout, idle),
        ));
        out.push(per_success("pulled per success", get(LbField::Gained)));
        out.push(
            Derived::ratio(
                name("pulled cache-hot"),
                get(LbField::HotGained),
                get(LbField::Gained),
                100.0,
                "%",
            )
            .better(Direction::LowerIsBetter),
        );
        if elapsed_jiffies.is_some() {
            // Each CPU tries on its own: the mean interval of one CPU is CPUs times elapsed / count.
            let time = elapsed_jiffies.map(|e| e.saturating_mul(sum.cpus as u64));
            out.push(Derived::ratio(
                name("jiffies between attempts"),
                time,
                count,
                1.0,
                "jiffies",
            ));
        }
    }
    let tail = |f| sum.get(layout, DomainField::Tail(f));
    let (alb, pushed) = (tail(TailField::AlbCount), tail(TailField::AlbPushed));
    out.push(
        Derived::ratio("active balance pushed".into(), pushed, alb, 100.0, "%")
            .better(Direction::HigherIsBetter),
    );
    out
}

/// Attempts that moved something: count - balanced - failed. `None` where a counter is missing or
/// they do not add up (they are not read at one instant).
pub(super) fn successes(sum: &DomainSum, layout: &Layout, idle: IdleType) -> Option<u64> {
    let get = |f| sum.get(layout, DomainField::Lb(idle, f));
    let rest = get(LbField::Count)?.checked_sub(get(LbField::Balanced)?)?;
    rest.checked_sub(get(LbField::Failed)?)
}

/// The sum of imbalances of whatever kind.
fn imbalance(sum: &DomainSum, layout: &Layout, idle: IdleType) -> Option<u64> {
    let get = |f| sum.get(layout, DomainField::Lb(idle, f));
    get(LbField::Imbalance).or_else(|| {
        let kinds = [
            LbField::ImbalanceLoad,
            LbField::ImbalanceUtil,
            LbField::ImbalanceTask,
            LbField::ImbalanceMisfit,
        ];
        kinds.iter().map(|&f| get(f)).sum()
    })
}

/// A change as text: `-21.94 %`, `x398` where a percentage would be long, `0 (unchanged)`,
/// `n/a (base 0)`.
pub fn change_text(base: f64, head: f64) -> String {
    if base == 0.0 {
        return if head == 0.0 {
            "0 (unchanged)".into()
        } else {
            "n/a (base 0)".into()
        };
    }
    let factor = head / base;
    if factor >= FACTOR_FROM {
        return format!("x{factor:.0} (small base)");
    }
    let percent = (factor - 1.0) * 100.0;
    if percent.abs() < 0.005 {
        return "0.00 %".into();
    }
    format!("{percent:+.2} %")
}

#[cfg(test)]
mod tests {
    use super::super::layout::{DomainField, layout_of};
    use super::*;

    fn domain(
        version: u32,
        idle: IdleType,
        values: &[(LbField, u64)],
    ) -> (DomainSum, &'static Layout) {
        let layout = layout_of(version).unwrap();
        let mut sum = DomainSum {
            name: "MC".into(),
            level: 0,
            cpus: 1,
            values: vec![Some(0); layout.domain_len()],
        };
        for &(field, value) in values {
            sum.values[layout.domain_column(DomainField::Lb(idle, field)).unwrap()] = Some(value);
        }
        (sum, layout)
    }

    fn value(all: &[Derived], name: &str) -> Option<f64> {
        all.iter().find(|d| d.name == name).unwrap().value
    }

    /// Figures of the covers of perf sched stats: success = count - balanced - failed.
    #[test]
    fn success_and_imbalance_per_success() {
        for (count, balanced, failed, success) in [
            (136, 131, 0, 5),
            (449, 382, 3, 64),
            (30471, 28490, 633, 1348),
        ] {
            let lb = [
                (LbField::Count, count),
                (LbField::Balanced, balanced),
                (LbField::Failed, failed),
            ];
            let (sum, layout) = domain(15, IdleType::Idle, &lb);
            assert_eq!(successes(&sum, layout, IdleType::Idle), Some(success));
        }
        for (count, balanced, failed, imbalance, want) in
            [(136, 131, 0, 7, 1.40), (449, 382, 3, 67, 1.05)]
        {
            let lb = [
                (LbField::Count, count),
                (LbField::Balanced, balanced),
                (LbField::Failed, failed),
                (LbField::Imbalance, imbalance),
            ];
            let (sum, layout) = domain(15, IdleType::Idle, &lb);
            let all = domain_derived(&sum, layout, Some(2323));
            let found = value(&all, "imbalance per success [idle]").unwrap();
            assert!((found - want).abs() < 0.005, "{found}");
        }
    }

    #[test]
    fn elapsed_is_the_same_in_every_ratio() {
        let (sum, layout) = domain(17, IdleType::Busy, &[(LbField::Count, 136)]);
        let all = domain_derived(&sum, layout, Some(2323));
        let found = value(&all, "jiffies between attempts [busy]").unwrap();
        assert!((found - 17.08).abs() < 0.005);
        assert_eq!(
            value(&all, "jiffies between attempts [idle]"),
            None,
            "n / 0 is n/a"
        );
        assert_eq!(value(&all, "success [idle]"), None, "0 / 0 is n/a");
    }

    #[test]
    fn changes_as_text() {
        assert_eq!(change_text(1.0, 3.0), "+200.00 %");
        assert_eq!(change_text(0.0, 0.0), "0 (unchanged)");
        assert_eq!(change_text(0.0, 5.0), "n/a (base 0)");
        assert_eq!(change_text(528_533.0, 412_573.0), "-21.94 %");
        assert_eq!(change_text(38_539.0, 15_333_634.0), "x398 (small base)");
        assert_eq!(change_text(3.0, 3.0), "0.00 %");
    }

    #[test]
    fn shares_of_cpu_counters() {
        let layout = layout_of(17).unwrap();
        let mut sums = Sums {
            layout,
            cpus: 1,
            cpu_values: vec![Some(0); 9],
            domains: vec![],
        };
        let mut set = |f, v| sums.cpu_values[layout.cpu_column(f).unwrap()] = Some(v);
        set(CpuField::TtwuCount, 402_267);
        set(CpuField::TtwuLocal, 147_161);
        set(CpuField::RunTimeNs, 7_083_791_148);
        set(CpuField::RunDelayNs, 3_449_973_971);
        let all = cpu_derived(&sums);
        assert!((value(&all, "local wake-ups").unwrap() - 36.58).abs() < 0.005);
        assert!((value(&all, "run delay per run time").unwrap() - 48.70).abs() < 0.005);
        assert_eq!(value(&all, "idle after schedule()"), None);
    }
}
