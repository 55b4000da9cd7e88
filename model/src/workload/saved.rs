//! Saved outputs: a file that someone kept, of which neither the parameters nor the end of the
//! process may be known, and the JSON that says what it means (`docs/workload-parse.md`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::workload::{Captured, ExitState, Outcome, Params, Workload};

/// What a saved output means. `stderr`: `None` where only one file was kept; it may then hold both
/// streams. With an unknown exit the text alone decides.
pub fn read_saved(
    workload: Workload,
    stdout: &str,
    stderr: Option<&str>,
    exit: ExitState,
) -> Outcome {
    let output = Captured {
        stdout,
        stderr: stderr.unwrap_or(""),
        files: BTreeMap::new(),
        exit,
        truncated: false,
    };
    workload.parse(&Params::default(), &output)
}

/// The shape of `schedrig workload parse --json`: `workload`, `outcome` (`ok` or `failed`),
/// `metrics`, `failure` (null, or `kind` and `message`), `resolved`, `warnings`. Every key is always
/// there.
pub fn outcome_json(workload: Workload, outcome: &Outcome) -> Value {
    let name = workload.def().name;
    match outcome {
        Outcome::Ok(parsed) => {
            let metrics: Vec<Value> = parsed
                .metrics
                .iter()
                .map(|m| {
                    json!({
                        "metric": m.metric,
                        "value": m.value,
                        "unit": m.unit,
                        "direction": m.direction,
                    })
                })
                .collect();
            json!({
                "workload": name,
                "outcome": "ok",
                "metrics": metrics,
                "failure": null,
                "resolved": parsed.resolved,
                "warnings": parsed.warnings,
            })
        }
        Outcome::Failed(failure) => {
            // The kind is the tag of the failure's own serialisation: one list of names.
            let kind = serde_json::to_value(failure)
                .ok()
                .and_then(|v| v.get("kind").cloned())
                .unwrap_or(Value::Null);
            json!({
                "workload": name,
                "outcome": "failed",
                "metrics": [],
                "failure": {"kind": kind, "message": failure.to_string()},
                "resolved": {},
                "warnings": [],
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_a_kind_and_a_message_and_no_metrics() {
        let outcome = read_saved(Workload::Hackbench, "", None, ExitState::Unknown);
        let json = outcome_json(Workload::Hackbench, &outcome);
        assert_eq!(json["outcome"], "failed");
        assert_eq!(json["failure"]["kind"], "partial");
        assert_eq!(json["metrics"], json!([]));
    }

    #[test]
    fn a_mixed_file_reads_like_two() {
        let text = "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\n\
                    Time: 0.5\n";
        let one = read_saved(Workload::Hackbench, text, None, ExitState::Unknown);
        let two = read_saved(Workload::Hackbench, "", Some(text), ExitState::Unknown);
        assert_eq!(one, two);
    }
}
