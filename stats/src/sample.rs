//! The values of one metric under one arm.

use serde::Serialize;

use crate::direction::Direction;
use crate::moments::same;
use crate::unit::Unit;

/// More values than this in one sample are a mistake of the caller, and tests that look at every
/// pair of values would take minutes.
pub const MAX_VALUES: usize = 2000;

/// Values of one metric, one a repetition, with what is needed to judge them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    values: Vec<f64>,
    unit: Unit,
    direction: Direction,
    resolution: Option<f64>,
    boots: Option<Vec<u32>>,
}

/// Values that are no sample.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// There is nothing to compare: a missing cell, not a zero.
    #[error("a sample without values, expected at least one")]
    Empty,
    /// Infinite or not a number.
    #[error("value {place} of the sample is {value}, expected a finite number")]
    NotFinite {
        /// From 0.
        place: usize,
        /// As Rust prints it.
        value: String,
    },
    /// Above [`MAX_VALUES`].
    #[error("{n} values in one sample, at most {MAX_VALUES} are compared")]
    TooMany {
        /// How many there are.
        n: usize,
    },
    /// One boot number a value is needed.
    #[error("{boots} boot numbers for {values} values, expected one each")]
    Boots {
        /// Values.
        values: usize,
        /// Boot numbers.
        boots: usize,
    },
    /// The step of a metric is positive and finite.
    #[error("resolution {value}, expected a positive number")]
    Resolution {
        /// As Rust prints it.
        value: String,
    },
    /// Units or directions of samples put together have to agree.
    #[error("cannot pool {left} with {right}")]
    Mixed {
        /// Unit and direction of the first.
        left: String,
        /// Unit and direction of the one that differs.
        right: String,
    },
}

impl Sample {
    /// `values` in the order they were measured, in `unit`.
    pub fn new(values: Vec<f64>, unit: Unit, direction: Direction) -> Result<Self, SampleError> {
        if values.is_empty() {
            return Err(SampleError::Empty);
        }
        if values.len() > MAX_VALUES {
            return Err(SampleError::TooMany { n: values.len() });
        }
        if let Some(place) = values.iter().position(|v| !v.is_finite()) {
            return Err(SampleError::NotFinite {
                place,
                value: values[place].to_string(),
            });
        }
        Ok(Sample {
            values,
            unit,
            direction,
            resolution: None,
            boots: None,
        })
    }

    /// States the step of the printed values, in the sample's unit: 0.001 for hackbench's seconds.
    pub fn with_resolution(mut self, step: f64) -> Result<Self, SampleError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(SampleError::Resolution {
                value: step.to_string(),
            });
        }
        self.resolution = Some(step);
        Ok(self)
    }

    /// States which boot of the machine each value belongs to.
    pub fn with_boots(mut self, boots: Vec<u32>) -> Result<Self, SampleError> {
        if boots.len() != self.values.len() {
            return Err(SampleError::Boots {
                values: self.values.len(),
                boots: boots.len(),
            });
        }
        self.boots = Some(boots);
        Ok(self)
    }

    /// The values, in the order they were measured.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many values; never 0.
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// Unit of the values.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Which way is better.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The step of the printed values, where it is known.
    pub fn resolution(&self) -> Option<f64> {
        self.resolution
    }

    /// The boot of each value, where it is known.
    pub fn boots(&self) -> Option<&[u32]> {
        self.boots.as_deref()
    }

    /// How many boots the values come from; `None`: unknown.
    pub fn boot_count(&self) -> Option<usize> {
        let mut numbers = self.boots.clone()?;
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers.len())
    }

    /// Whether every value is the same to within a relative 1e-9.
    pub fn is_constant(&self) -> bool {
        self.values.iter().all(|v| same(*v, self.values[0]))
    }

    /// The same values in another unit; `None` where the two measure different things.
    pub fn converted(&self, unit: &Unit) -> Option<Sample> {
        let values = self.values.iter().map(|v| self.unit.convert(*v, unit));
        Some(Sample {
            values: values.collect::<Option<Vec<_>>>()?,
            unit: unit.clone(),
            direction: self.direction,
            resolution: match self.resolution {
                Some(step) => Some(self.unit.convert(step, unit)?),
                None => None,
            },
            boots: self.boots.clone(),
        })
    }

    /// Repeated measurements of one (machine, cell, arm), put together: they are more samples, not
    /// replacements. Boot numbers are kept apart between the parts.
    pub fn pool(parts: &[Sample]) -> Result<Sample, SampleError> {
        let first = parts.first().ok_or(SampleError::Empty)?;
        let mut values = Vec::new();
        let mut boots = Vec::new();
        let mut offset = 0;
        for part in parts {
            let mixed = || SampleError::Mixed {
                left: format!("{} ({})", first.unit, first.direction.word()),
                right: format!("{} ({})", part.unit, part.direction.word()),
            };
            if part.direction != first.direction {
                return Err(mixed());
            }
            let same_unit = part.converted(&first.unit).ok_or_else(mixed)?;
            values.extend_from_slice(&same_unit.values);
            if let Some(numbers) = &part.boots {
                boots.extend(numbers.iter().map(|b| b + offset));
                offset += numbers.iter().max().map_or(0, |m| m + 1);
            }
        }
        let known = boots.len() == values.len();
        let mut pooled = Sample::new(values, first.unit.clone(), first.direction)?;
        pooled.resolution = first.resolution;
        pooled.boots = known.then_some(boots);
        Ok(pooled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(values: &[f64]) -> Sample {
        Sample::new(values.to_vec(), Unit::new("us"), Direction::LowerIsBetter).unwrap()
    }

    #[test]
    fn nothing_and_infinity_are_no_samples() {
        let make = |v| Sample::new(v, Unit::new("s"), Direction::LowerIsBetter);
        assert_eq!(make(vec![]), Err(SampleError::Empty));
        let error = make(vec![1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "value 1 of the sample is inf, expected a finite number"
        );
    }

    #[test]
    fn conversion_takes_the_resolution_along() {
        let s = us(&[1460.0]).with_resolution(1.0).unwrap();
        let ms = s.converted(&Unit::new("ms")).unwrap();
        assert!((ms.values()[0] - 1.46).abs() < 1e-12);
        assert!((ms.resolution().unwrap() - 0.001).abs() < 1e-15);
        assert_eq!(s.converted(&Unit::new("MB/s")), None);
    }

    #[test]
    fn pooling_keeps_every_value_and_keeps_boots_apart() {
        let a = us(&[1.0, 2.0]).with_boots(vec![0, 0]).unwrap();
        let b = us(&[3.0]).with_boots(vec![0]).unwrap();
        let pooled = Sample::pool(&[a, b]).unwrap();
        assert_eq!(pooled.values(), [1.0, 2.0, 3.0]);
        assert_eq!(pooled.boot_count(), Some(2));
    }

    #[test]
    fn pooling_refuses_units_that_do_not_convert() {
        let bytes = Sample::new(vec![1.0], Unit::new("B"), Direction::LowerIsBetter).unwrap();
        let error = Sample::pool(&[us(&[1.0]), bytes]).unwrap_err();
        assert_eq!(error.to_string(), "cannot pool us (lower) with B (lower)");
    }
}
