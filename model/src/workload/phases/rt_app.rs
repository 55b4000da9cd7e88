//! rt-app's JSON as a phase program. Its events are told by the beginning of their keys (`run`,
//! `run0`, `run_a`), in the order they stand; times are microseconds.

use serde_json::{Map, Value};

use super::read::{PhaseError, check};
use super::tree::{Action, PhaseThread, Program};

/// Keys of a task or phase that describe it and do nothing.
const NO_EVENTS: &[&str] = &[
    "loop",
    "instance",
    "phases",
    "priority",
    "policy",
    "cpus",
    "nodes_membind",
    "delay",
    "taskgroup",
    "util_min",
    "util_max",
];

/// Keys whose meaning is lost; the reader says so.
const LOST: &[&str] = &[
    "policy",
    "cpus",
    "nodes_membind",
    "delay",
    "taskgroup",
    "util_min",
    "util_max",
];

/// The program of an rt-app file, the seconds it should run (`None`: for ever), and what of it was
/// left out, in words.
///
/// # Errors
/// No JSON, no tasks, an event that has no counterpart here.
pub fn import_rt_app(text: &str) -> Result<(Program, Option<u64>, Vec<String>), PhaseError> {
    let root: Value = serde_json::from_str(text)
        .map_err(|err| PhaseError::new("rt_app", format!("no JSON: {err}")))?;
    let Some(Value::Object(tasks)) = root.get("tasks") else {
        return Err(PhaseError::new("rt_app", "no map `tasks`"));
    };
    let mut program = Program::default();
    let mut lost = Vec::new();
    for (name, task) in tasks {
        let place = format!("tasks.{name}");
        let Value::Object(task) = task else {
            return Err(PhaseError::new(place, "expected a map"));
        };
        program.threads.push(thread(name, task, &place, &mut lost)?);
    }
    check(&program)?;
    let seconds = root.pointer("/global/duration").and_then(Value::as_i64);
    Ok((
        program,
        seconds
            .and_then(|s| u64::try_from(s).ok())
            .filter(|s| *s > 0),
        lost,
    ))
}

fn thread(
    name: &str,
    task: &Map<String, Value>,
    place: &str,
    lost: &mut Vec<String>,
) -> Result<PhaseThread, PhaseError> {
    let count = |key: &str| task.get(key).and_then(Value::as_i64);
    let copies = count("instance").unwrap_or(1);
    let copies = u32::try_from(copies)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| PhaseError::new(place, "`instance` is not 1 or more"))?;
    let nice = count("priority").unwrap_or(0);
    let nice = i8::try_from(nice)
        .ok()
        .filter(|n| (-20..=19).contains(n))
        .ok_or_else(|| PhaseError::new(place, "`priority` is not -20 to 19"))?;
    lost.extend(
        LOST.iter()
            .filter(|key| task.contains_key(**key))
            .map(|key| format!("{place}.{key}")),
    );
    let actions = match task.get("phases") {
        None => events(task, place)?,
        Some(Value::Object(phases)) => {
            let mut actions = Vec::new();
            for (phase, body) in phases {
                let here = format!("{place}.phases.{phase}");
                let Value::Object(body) = body else {
                    return Err(PhaseError::new(here, "expected a map"));
                };
                let inner = events(body, &here)?;
                match body.get("loop").and_then(Value::as_u64).unwrap_or(1) {
                    0 => {}
                    1 => actions.extend(inner),
                    times => actions.push(Action::Repeat {
                        times,
                        actions: inner,
                    }),
                }
            }
            actions
        }
        Some(_) => return Err(PhaseError::new(place, "`phases` is not a map")),
    };
    Ok(PhaseThread {
        name: name.to_owned(),
        copies,
        nice,
        // -1, or nothing: for ever.
        loops: count("loop")
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| *n > 0),
        actions,
    })
}

fn events(body: &Map<String, Value>, place: &str) -> Result<Vec<Action>, PhaseError> {
    let mut actions = Vec::new();
    for (key, value) in body {
        if !NO_EVENTS.contains(&key.as_str()) {
            event(key, value, &format!("{place}.{key}"), &mut actions)?;
        }
    }
    Ok(actions)
}

fn event(
    key: &str,
    value: &Value,
    place: &str,
    actions: &mut Vec<Action>,
) -> Result<(), PhaseError> {
    let time = || {
        value
            .as_u64()
            .ok_or_else(|| PhaseError::new(place, "expected microseconds"))
    };
    let name = || {
        let of_map = value.get("ref").and_then(Value::as_str);
        value
            .as_str()
            .or(of_map)
            .map(str::to_owned)
            .ok_or_else(|| PhaseError::new(place, "expected a name"))
    };
    // Longer words first: `runtime` begins with `run`, `unlock` has no other.
    if key.starts_with("runtime") || key.starts_with("run") {
        actions.push(Action::RunUs(time()?));
    } else if key.starts_with("sleep") {
        actions.push(Action::SleepUs(time()?));
    } else if key.starts_with("timer") {
        let period = value.get("period").and_then(Value::as_u64);
        let period = period.ok_or_else(|| PhaseError::new(place, "expected `period`"))?;
        actions.push(Action::TimerUs(period));
    } else if key.starts_with("unlock") {
        actions.push(Action::Unlock(name()?));
    } else if key.starts_with("lock") {
        actions.push(Action::Lock(name()?));
    } else if key.starts_with("sync") {
        // Signals, then waits for the same name.
        let name = name()?;
        actions.extend([Action::Signal(name.clone()), Action::Wait(name)]);
    } else if key.starts_with("signal") || key.starts_with("resume") {
        actions.push(Action::Signal(name()?));
    } else if key.starts_with("wait") || key.starts_with("suspend") {
        actions.push(Action::Wait(name()?));
    } else if key.starts_with("barrier") {
        actions.push(Action::Barrier(name()?));
    } else if key.starts_with("yield") {
        actions.push(Action::Yield);
    } else {
        return Err(PhaseError::new(
            place,
            "an event that has no counterpart here",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_their_phases_become_threads_and_repeats() {
        let text = r#"{"tasks": {
            "thread0": {"instance": 2, "loop": -1, "cpus": [0],
                "phases": {
                    "light": {"loop": 10, "run": 1000, "timer": {"ref": "unique", "period": 16000}},
                    "heavy": {"run0": 8000, "sleep": 500}}},
            "waker": {"loop": 5, "run": 100, "resume": "sleeper", "lock": "m", "unlock": "m"},
            "sleeper": {"suspend": "sleeper", "runtime": 200}},
            "global": {"duration": 6, "calibration": "CPU0"}}"#;
        let (program, seconds, lost) = import_rt_app(text).unwrap();
        assert_eq!(seconds, Some(6));
        assert_eq!(lost, ["tasks.thread0.cpus"]);
        assert_eq!(program.thread_count(), 4);
        assert_eq!(
            program.threads[0].actions,
            [
                Action::Repeat {
                    times: 10,
                    actions: vec![Action::RunUs(1000), Action::TimerUs(16_000)]
                },
                Action::RunUs(8000),
                Action::SleepUs(500)
            ]
        );
        assert_eq!(program.threads[0].loops, None);
        assert_eq!(program.threads[1].loops, Some(5));
    }

    #[test]
    fn an_event_without_a_counterpart_is_named() {
        let text = r#"{"tasks": {"a": {"run": 10, "iorun": 5000}}}"#;
        let error = import_rt_app(text).unwrap_err().to_string();
        assert!(error.starts_with("tasks.a.iorun: "), "{error}");
    }
}
