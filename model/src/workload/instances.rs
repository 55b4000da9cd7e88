//! Copies of a workload that ran at one time: one value a metric, and how far the copies differ.

use std::collections::BTreeMap;

use crate::record::Spread;
use crate::workload::{Aggregate, Measurement, Parsed, WorkloadDef};

/// One measurement for each metric that every instance has (sum, mean or maximum as the catalogue
/// says; the mean where it does not know the metric), and its spread across the instances. A metric
/// that an instance lacks is absent: a sum over fewer copies would be another number. One instance
/// has no spread.
pub fn aggregate(
    instances: &[Parsed],
    def: &WorkloadDef,
) -> (Vec<Measurement>, BTreeMap<String, Spread>) {
    let mut measurements = Vec::new();
    let mut spreads = BTreeMap::new();
    let Some((first, rest)) = instances.split_first() else {
        return (measurements, spreads);
    };
    for measurement in &first.metrics {
        let mut values = vec![measurement.value];
        values.extend(rest.iter().filter_map(|parsed| {
            let same = parsed
                .metrics
                .iter()
                .find(|m| m.metric == measurement.metric)?;
            same.unit.convert(same.value, &measurement.unit)
        }));
        if values.len() != instances.len() {
            continue;
        }
        let how = def
            .metric(&measurement.metric)
            .map_or(Aggregate::Mean, |m| m.aggregate);
        let value = combine(&values, how);
        if !value.is_finite() {
            continue;
        }
        measurements.push(Measurement {
            value,
            ..measurement.clone()
        });
        if values.len() > 1 {
            spreads.insert(measurement.metric.clone(), spread(&values));
        }
    }
    (measurements, spreads)
}

fn combine(values: &[f64], how: Aggregate) -> f64 {
    let sum: f64 = values.iter().sum();
    match how {
        Aggregate::Sum => sum,
        Aggregate::Mean => sum / values.len() as f64,
        Aggregate::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Jain's index: (sum x)^2 / (n * sum x^2); 1 where all are equal, 1/n where one has everything.
/// All zero is equal.
fn spread(values: &[f64]) -> Spread {
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    Spread {
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        mean: sum / n,
        fairness: if squares > 0.0 {
            // Rounding can put equal values a hair above 1.
            ((sum * sum) / (n * squares)).clamp(1.0 / n, 1.0)
        } else {
            1.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{hackbench, stream};
    use schedrig_stats::{Direction, Unit};

    fn parsed(metric: &str, unit: &str, value: f64) -> Parsed {
        Parsed {
            metrics: vec![Measurement {
                metric: metric.into(),
                value,
                unit: Unit::new(unit),
                direction: Direction::Unknown,
            }],
            ..Parsed::default()
        }
    }

    #[test]
    fn throughputs_add_up_and_the_slowest_time_decides() {
        let rates = [parsed("triad", "MB/s", 3.0), parsed("triad", "MB/s", 1.0)];
        let (total, spread) = aggregate(&rates, &stream::DEF);
        assert_eq!(total[0].value, 4.0);
        assert_eq!(spread["triad"].fairness, 16.0 / 20.0);
        let times = [parsed("time", "s", 2.0), parsed("time", "s", 5.0)];
        let (total, spread) = aggregate(&times, &hackbench::DEF);
        assert_eq!(total[0].value, 5.0);
        assert_eq!((spread["time"].min, spread["time"].mean), (2.0, 3.5));
    }

    // Case H9: units are converted before values meet.
    #[test]
    fn instances_in_other_units_are_converted_or_left_out() {
        let mixed = [parsed("time", "s", 2.0), parsed("time", "ms", 3000.0)];
        let (total, _) = aggregate(&mixed, &hackbench::DEF);
        assert_eq!(total[0].value, 3.0);
        let unlike = [parsed("time", "s", 2.0), parsed("time", "MB/s", 3.0)];
        assert!(aggregate(&unlike, &hackbench::DEF).0.is_empty());
    }

    #[test]
    fn a_metric_that_one_instance_lacks_is_absent_and_one_instance_has_no_spread() {
        let gap = [parsed("triad", "MB/s", 3.0), Parsed::default()];
        assert!(aggregate(&gap, &stream::DEF).0.is_empty());
        let (one, spread) = aggregate(&gap[..1], &stream::DEF);
        assert_eq!(one.len(), 1);
        assert!(spread.is_empty());
    }
}
