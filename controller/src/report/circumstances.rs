//! The lines above a table: which runs, which machines, what was held, what could not be.

use schedrig_model::host::{Granted, HostFacts, KnobOutcome};
use schedrig_model::id::HostId;
use schedrig_model::plan::{Order, Plan, change_text, knob_text};
use schedrig_model::record::{Backend, RunRecord, RunState};

use super::differences::differences;

/// The lines for these records.
pub(super) fn circumstances(records: &[&RunRecord]) -> Vec<String> {
    let mut lines = Vec::new();
    for record in records {
        lines.push(run_line(record));
    }
    let mut put = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for record in records {
        for (host, facts) in &record.hosts {
            put(host_line(record, host, facts));
        }
        if record.backend == Backend::Measured {
            arm_lines(&record.plan).into_iter().for_each(&mut put);
            held_lines(record).into_iter().for_each(&mut put);
            gap_lines(record).into_iter().for_each(&mut put);
        }
        for note in &record.notes {
            let prefix = match record.backend {
                Backend::Measured => "note",
                Backend::Expected => "expected",
            };
            put(format!("{prefix}: {note}"));
        }
    }
    let measured: Vec<&RunRecord> = records
        .iter()
        .filter(|r| r.backend == Backend::Measured)
        .copied()
        .collect();
    for line in differences(&measured) {
        put(format!("circumstances: {line}"));
    }
    lines
}

fn run_line(record: &RunRecord) -> String {
    let kind = match record.backend {
        Backend::Measured => "measured",
        Backend::Expected => "expected (simulated)",
    };
    let state = match record.state {
        RunState::Complete => "",
        RunState::Running => "; NOT FINISHED",
        RunState::Incomplete => "; INCOMPLETE: it ended early",
        RunState::Withdrawn => "; WITHDRAWN: its values are left out",
    };
    let repeat = &record.plan.repeat;
    let order = match repeat.order {
        Order::Interleaved => "interleaved",
        Order::RandomBlocks => "in random blocks",
        Order::Sequential => "arm after arm",
    };
    let times = if repeat.min == repeat.max {
        repeat.max.to_string()
    } else {
        format!("{} to {}", repeat.min, repeat.max)
    };
    format!(
        "run {}: {kind}, started {}, seed {}, {times} repetitions {order}, boots {}{state}",
        record.id, record.started_at, record.plan.seed, repeat.boots
    )
}

fn host_line(record: &RunRecord, host: &HostId, facts: &HostFacts) -> String {
    let role = record.plan.hosts.iter().find(|h| h.host == *host);
    let role = role.map_or("host".to_owned(), |h| h.role.clone());
    let shape = &facts.topology;
    let mut parts = Vec::new();
    parts.extend(shape.cpu_model.clone());
    let mut counts = Vec::new();
    let mut count = |n: usize, what: &str| {
        if n > 0 {
            counts.push(format!("{n} {what}"));
        }
    };
    count(shape.online().len(), "CPUs");
    count(shape.packages.len(), "packages");
    count(shape.nodes.len(), "nodes");
    count(shape.llcs().len(), "last-level caches");
    count(shape.cores.len(), "cores");
    parts.push(if counts.is_empty() {
        "shape unknown".to_owned()
    } else {
        counts.join(", ")
    });
    if shape.allowed.len() < shape.online().len() && !shape.allowed.is_empty() {
        parts.push(format!("allowed CPUs {}", shape.allowed));
    }
    parts.push(format!("kernel {}", facts.kernel_release));
    parts.extend(facts.os.clone());
    parts.extend(
        facts
            .hypervisor
            .as_ref()
            .map(|h| format!("virtual machine ({h})")),
    );
    parts.extend(facts.microcode.as_ref().map(|m| format!("microcode {m}")));
    format!("{role} {host}: {}", parts.join("; "))
}

/// What tells the arms apart.
fn arm_lines(plan: &Plan) -> Vec<String> {
    let words = |changes: Vec<String>| {
        if changes.is_empty() {
            "as the machine is".to_owned()
        } else {
            changes.join(", ")
        }
    };
    let arms = plan.arms.iter().map(|arm| {
        let changes = arm.changes.iter().map(change_text).collect();
        format!("arm {}: {}", arm.id, words(changes))
    });
    arms.collect()
}

/// What was held while measuring, and what was asked and did not come about.
fn held_lines(record: &RunRecord) -> Vec<String> {
    let mut lines = Vec::new();
    for (host, granted) in &record.granted {
        let mut held: Vec<String> = Vec::new();
        for one in granted.iter().filter(|g| g.outcome.holds()) {
            let text = knob_text(&one.knob.target);
            if !held.contains(&text) {
                held.push(text);
            }
        }
        if !held.is_empty() {
            lines.push(format!("held on {host}: {}", held.join(", ")));
        }
        lines.extend(granted.iter().filter_map(|g| not_held(host, g)));
    }
    lines
}

fn not_held(host: &HostId, granted: &Granted) -> Option<String> {
    let reason = match &granted.outcome {
        KnobOutcome::Applied { .. } => return None,
        KnobOutcome::NotAvailable(reason) => reason.clone(),
        KnobOutcome::NotApplied { reason, .. } => reason.clone(),
        KnobOutcome::ReadsBackDifferently { found } => {
            format!("{} reads back `{found}`", granted.place)
        }
    };
    let what = knob_text(&granted.knob.target);
    Some(format!("not controlled on {host}: {what}: {reason}"))
}

/// What cannot be controlled or collected, by name, with the reason.
fn gap_lines(record: &RunRecord) -> Vec<String> {
    let mut lines = Vec::new();
    for (host, facts) in &record.hosts {
        for (name, reason) in &facts.gaps {
            lines.push(format!("not available on {host}: {name}: {reason}"));
        }
    }
    for repetition in &record.repetitions {
        let host = &repetition.host;
        let gaps = repetition.gaps.iter();
        lines.extend(gaps.map(|gap| format!("not collected on {host}: {gap}")));
    }
    lines
}
