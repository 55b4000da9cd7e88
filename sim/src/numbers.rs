//! Tables of named numbers that exist twice: as written in a file, each with its source, and as
//! plain integers for the model.

use crate::sourced::{Quantity, Unit};

/// A number that contradicts its name, or is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The unit does not fit the name's ending.
    #[error("`{path}` is given in {unit:?}: its name asks for {wanted}")]
    Unit {
        /// Dotted name.
        path: String,
        /// What the file says.
        unit: Unit,
        /// What would be right.
        wanted: &'static str,
    },
    /// Not finite, or negative.
    #[error("`{path}` is {value}: a finite number of 0 or more is needed")]
    Range {
        /// Dotted name.
        path: String,
        /// What the file says.
        value: String,
    },
    /// No source.
    #[error("`{path}` names no source")]
    NoSource {
        /// Dotted name.
        path: String,
    },
}

/// Declares a table of numbers, generic over how a number is held: [`Quantity`] in a file, `u64` in
/// base units in the model. Names under `optional` may be absent, which means not known or not
/// applicable, never 0.
macro_rules! number_table {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$fdoc:meta])* $field:ident,)*
    } $(optional {
        $($(#[$odoc:meta])* $opt:ident,)+
    })?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name<N = u64> {
            $($(#[$fdoc])* pub $field: N,)*
            $($($(#[$odoc])*
            #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
            pub $opt: Option<N>,)+)?
        }
        impl<N> $name<N> {
            /// The same table with every number passed through `f`, which sees its dotted name.
            pub(crate) fn map<M>(
                &self,
                path: &str,
                f: &mut dyn FnMut(&str, &N) -> M,
            ) -> $name<M> {
                $name {
                    $($field: f(&format!("{path}.{}", stringify!($field)), &self.$field),)*
                    $($($opt: self
                        .$opt
                        .as_ref()
                        .map(|n| f(&format!("{path}.{}", stringify!($opt)), n)),)+)?
                }
            }
        }
    };
}
pub(crate) use number_table;

/// Checks a number against its name: `_ns` wants a time, `_bytes` a size, `_mb_s` a bandwidth,
/// `_khz` a frequency, and so on; every other name a count.
pub(crate) fn check(path: &str, q: &Quantity) -> Result<(), NumberError> {
    use Unit::{Count, Distance, GbPerS, GiB, Hz, KHz, KiB, MHz, MbPerS, MiB, Ms, Ns, Percent};
    use Unit::{Permille, Us};
    let (wanted, fits) = match path.rsplit(['_', '.']).next().unwrap_or(path) {
        "ns" => ("a time", matches!(q.unit, Ns | Us | Ms)),
        "bytes" => ("a size", matches!(q.unit, KiB | MiB | GiB)),
        "s" => ("a bandwidth", matches!(q.unit, MbPerS | GbPerS)),
        "khz" => ("a frequency", matches!(q.unit, KHz | MHz)),
        "hz" => ("Hz", matches!(q.unit, Hz)),
        "permille" => ("permille", matches!(q.unit, Permille)),
        "pct" => ("percent", matches!(q.unit, Percent)),
        "distance" => ("a distance", matches!(q.unit, Distance)),
        _ => ("a count", matches!(q.unit, Count)),
    };
    let path = path.to_owned();
    if q.source.trim().is_empty() {
        return Err(NumberError::NoSource { path });
    }
    if !q.value.is_finite() || q.value < 0.0 {
        let value = q.value.to_string();
        return Err(NumberError::Range { path, value });
    }
    match fits {
        true => Ok(()),
        false => Err(NumberError::Unit {
            path,
            unit: q.unit,
            wanted,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sourced::Kind;

    #[test]
    fn a_unit_that_contradicts_the_name_is_refused() {
        let q = |value, unit, source: &str| Quantity {
            value,
            unit,
            source: source.to_owned(),
            kind: Kind::Assumed,
        };
        assert_eq!(check("line.llc_ns", &q(22.0, Unit::Ns, "a table")), Ok(()));
        assert!(matches!(
            check("line.llc_ns", &q(22.0, Unit::KiB, "a table")),
            Err(NumberError::Unit { .. })
        ));
        assert!(matches!(
            check("line.llc_ns", &q(22.0, Unit::Ns, " ")),
            Err(NumberError::NoSource { .. })
        ));
        assert!(matches!(
            check("line.llc_ns", &q(-1.0, Unit::Ns, "a table")),
            Err(NumberError::Range { .. })
        ));
    }
}
