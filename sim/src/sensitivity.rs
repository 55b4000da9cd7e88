//! Which conclusions hang on constants that are only assumed: each of them is changed by a fifth,
//! one at a time, and the classes of all rows are compared.

use crate::machine::Machine;

/// By how much a constant is changed, in thousandths.
const STEPS_PERMILLE: [u64; 2] = [800, 1200];

/// One constant changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// Dotted name: `costs.switch.ipi_flight_ns`.
    pub name: String,
    /// Its new value in thousandths of the old one.
    pub permille: u64,
}

/// The sign of a row's difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Worse, beyond noise.
    Regressed,
    /// Within noise.
    Noise,
    /// Better, beyond noise.
    Improved,
}

/// What the model says about a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The row: cell, arm, metric.
    pub row: String,
    /// What comes out.
    pub class: Class,
    /// The difference as a share, better positive.
    pub change: f64,
}

/// How a row fares under all variations.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSensitivity {
    /// The row.
    pub row: String,
    /// What comes out with nothing changed.
    pub class: Class,
    /// Variations under which the class is another, with that class.
    pub flips: Vec<(Variation, Class)>,
    /// The variation that moves the difference most, with the difference it gives.
    pub largest: Option<(Variation, f64)>,
}

impl RowSensitivity {
    /// Whether the conclusion stands whatever the assumed constants are within their range.
    pub fn is_predicted(&self) -> bool {
        self.flips.is_empty()
    }

    /// Whether improved turns into regressed, or the other way round.
    pub fn changes_sign(&self) -> bool {
        let opposite = |class: &Class| {
            matches!(
                (self.class, class),
                (Class::Improved, Class::Regressed) | (Class::Regressed, Class::Improved)
            )
        };
        self.flips.iter().any(|(_, class)| opposite(class))
    }
}

/// Every assumed cost of a machine, once lower and once higher. A cost of 0 has no variation.
pub fn variations(machine: &Machine) -> Vec<Variation> {
    let nonzero = |name: &&str| {
        let mut numbers = machine.numbers.iter();
        numbers.any(|(known, q)| known == name && q.base() > 0)
    };
    let both = |name: &str| {
        STEPS_PERMILLE.map(|permille| Variation {
            name: name.to_owned(),
            permille,
        })
    };
    machine
        .assumed_costs()
        .filter(nonzero)
        .flat_map(both)
        .collect()
}

/// Compares the conclusions under each variation with those under none. A row that a variation
/// lacks is left as it is: it could not be simulated, which is no flip.
pub fn judge(base: &[Conclusion], varied: &[(Variation, Vec<Conclusion>)]) -> Vec<RowSensitivity> {
    base.iter()
        .map(|conclusion| judge_row(conclusion, varied))
        .collect()
}

fn judge_row(base: &Conclusion, varied: &[(Variation, Vec<Conclusion>)]) -> RowSensitivity {
    let mut flips = Vec::new();
    let mut largest: Option<(Variation, f64)> = None;
    for (variation, conclusions) in varied {
        let Some(found) = conclusions.iter().find(|c| c.row == base.row) else {
            continue;
        };
        if found.class != base.class {
            flips.push((variation.clone(), found.class));
        }
        let moved = |change: f64| (change - base.change).abs();
        if largest
            .as_ref()
            .is_none_or(|(_, most)| moved(found.change) > moved(*most))
        {
            largest = Some((variation.clone(), found.change));
        }
    }
    RowSensitivity {
        row: base.row.clone(),
        class: base.class,
        flips,
        largest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conclusion(row: &str, class: Class, change: f64) -> Conclusion {
        Conclusion {
            row: row.to_owned(),
            class,
            change,
        }
    }

    #[test]
    fn every_assumed_cost_is_varied_both_ways_and_nothing_else_is() {
        let machine = Machine::shipped("genoa-2s").unwrap();
        let all = variations(&machine);
        assert_eq!(all.len(), 2 * machine.assumed_costs().count());
        assert!(
            all.iter()
                .any(|v| v.name == "costs.switch.ipi_flight_ns" && v.permille == 800)
        );
        // Published: not varied.
        assert!(all.iter().all(|v| v.name != "costs.line.llc_ns"));
        for variation in &all {
            assert!(
                machine
                    .with_scaled(&variation.name, variation.permille)
                    .is_some()
            );
        }
    }

    #[test]
    fn a_row_that_changes_its_class_is_not_predicted() {
        let name = |name: &str| Variation {
            name: name.to_owned(),
            permille: 1200,
        };
        let base = [
            conclusion("a", Class::Improved, 0.05),
            conclusion("b", Class::Noise, 0.0),
            conclusion("c", Class::Regressed, -0.1),
        ];
        let varied = [
            (
                name("x"),
                vec![
                    conclusion("a", Class::Regressed, -0.02),
                    conclusion("b", Class::Noise, 0.001),
                ],
            ),
            (
                name("y"),
                vec![
                    conclusion("a", Class::Improved, 0.06),
                    conclusion("b", Class::Improved, 0.03),
                ],
            ),
        ];
        let rows = judge(&base, &varied);
        assert!(!rows[0].is_predicted() && rows[0].changes_sign());
        assert_eq!(rows[0].largest, Some((name("x"), -0.02)));
        assert!(!rows[1].is_predicted() && !rows[1].changes_sign());
        assert!(rows[2].is_predicted() && rows[2].largest.is_none());
    }
}
