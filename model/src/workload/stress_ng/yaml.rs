//! The `metrics:` list of the file that `--yaml` writes. The rest of the file has lines that no YAML
//! reader takes (0.19 writes a key at the wrong depth), so that only this list is read.

use crate::workload::Failure;
use crate::workload::text::{Line, finite, lines_of};

/// One stressor of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stressor {
    pub(super) name: String,
    /// Key and value, in the order they stand.
    pub(super) values: Vec<(String, f64)>,
}

/// The version and the stressors; empty where `text` has no such list.
pub(super) fn read(text: &str) -> Result<(Option<String>, Vec<Stressor>), Failure> {
    let mut version = None;
    let mut stressors: Vec<Stressor> = Vec::new();
    let mut within = false;
    for line in &lines_of(text) {
        let trimmed = line.text.trim();
        if trimmed == "metrics:" {
            within = true;
        } else if trimmed == "..." || trimmed == "---" {
            within = false;
        } else if let Some(name) = trimmed.strip_prefix("- stressor:").filter(|_| within) {
            stressors.push(Stressor {
                name: name.trim().trim_matches('\'').to_owned(),
                values: Vec::new(),
            });
        } else if let Some((key, value)) = trimmed.split_once(": ") {
            if key == "stress-ng-version" {
                version = Some(value.trim().trim_matches('\'').to_owned());
            } else if let Some(stressor) = stressors.last_mut().filter(|_| within) {
                let value = number(key, value, line)?;
                stressor.values.push((key.to_owned(), value));
            }
        }
    }
    Ok((version, stressors))
}

fn number(key: &str, value: &str, line: &Line) -> Result<f64, Failure> {
    finite(key, value, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_although_a_key_before_it_stands_at_the_wrong_depth() {
        let text = "build-info:\n      compiler: 'gcc 14.2.0'\nsource-date-epoch: 1751354863\n      stdc: '1'\n\
            system-info:\n      stress-ng-version: '0.19.02'\n\nmetrics:\n    - stressor: switch\n      bogo-ops: 114358\n\
            \n      nanosecs-per-context-switch-pipe-method: 8737.710059\n...\n";
        let (version, stressors) = read(text).unwrap();
        assert_eq!(version.as_deref(), Some("0.19.02"));
        assert_eq!(stressors.len(), 1);
        assert_eq!(stressors[0].values.len(), 2);
    }
}
