//! A program as a playbook writes it, and what makes one impossible.

use crate::workload::ParamValue;

use super::tree::{Action, PhaseThread, Program};

/// Threads of a program, copies counted.
const MOST_THREADS: u64 = 100_000;
/// `repeat` within `repeat`.
const MOST_DEPTH: usize = 8;
/// Actions of a thread, those of `repeat` counted once.
const MOST_ACTIONS: usize = 10_000;

/// A program that cannot be run, and where it says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PhaseError {
    /// The path in the program: `threads.a.do[2]`.
    pub place: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl PhaseError {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        PhaseError {
            place: place.into(),
            problem: problem.into(),
        }
    }
}

/// The program of the parameter `threads`.
///
/// # Errors
/// The first thing that is wrong.
pub fn read_program(tree: &ParamValue) -> Result<Program, PhaseError> {
    let ParamValue::Map(entries) = tree else {
        return Err(PhaseError::new(
            "threads",
            "expected a map from a name to a thread",
        ));
    };
    let mut program = Program::default();
    for (name, value) in entries {
        program.threads.push(thread(name, value)?);
    }
    check(&program)?;
    Ok(program)
}

fn thread(name: &str, value: &ParamValue) -> Result<PhaseThread, PhaseError> {
    let place = format!("threads.{name}");
    let ParamValue::Map(entries) = value else {
        return Err(PhaseError::new(place, "expected a map with `do`"));
    };
    let mut thread = PhaseThread {
        name: name.to_owned(),
        copies: 1,
        nice: 0,
        loops: None,
        actions: Vec::new(),
    };
    for (key, value) in entries {
        let here = format!("{place}.{key}");
        let number =
            || whole(value).ok_or_else(|| PhaseError::new(&here, "expected a whole number"));
        match key.as_str() {
            "copies" => {
                thread.copies = u32::try_from(number()?)
                    .ok()
                    .filter(|n| *n > 0)
                    .ok_or_else(|| PhaseError::new(&here, "expected 1 or more"))?;
            }
            "nice" => {
                thread.nice = i8::try_from(number()?)
                    .ok()
                    .filter(|n| (-20..=19).contains(n))
                    .ok_or_else(|| PhaseError::new(&here, "expected -20 to 19"))?;
            }
            "loops" => {
                let loops = u64::try_from(number()?).ok().filter(|n| *n > 0);
                thread.loops =
                    Some(loops.ok_or_else(|| PhaseError::new(&here, "expected 1 or more"))?);
            }
            "do" => thread.actions = actions(value, &here, 0)?,
            _ => {
                return Err(PhaseError::new(
                    here,
                    "unknown key, expected copies, nice, loops or do",
                ));
            }
        }
    }
    Ok(thread)
}

fn actions(value: &ParamValue, place: &str, depth: usize) -> Result<Vec<Action>, PhaseError> {
    if depth > MOST_DEPTH {
        return Err(PhaseError::new(
            place,
            format!("more than {MOST_DEPTH} levels of `repeat`"),
        ));
    }
    let ParamValue::List(items) = value else {
        return Err(PhaseError::new(place, "expected a list of actions"));
    };
    items
        .iter()
        .enumerate()
        .map(|(i, item)| action(item, &format!("{place}[{i}]"), depth))
        .collect()
}

fn action(value: &ParamValue, place: &str, depth: usize) -> Result<Action, PhaseError> {
    let (verb, argument) = match value {
        ParamValue::Map(entries) => match entries.as_slice() {
            [(verb, argument)] => (verb.as_str(), argument),
            _ => {
                return Err(PhaseError::new(
                    place,
                    "expected one action, such as `run: 2 ms`",
                ));
            }
        },
        ParamValue::Text(word) if word == "yield" => return Ok(Action::Yield),
        _ => {
            return Err(PhaseError::new(
                place,
                "expected an action, such as `run: 2 ms`",
            ));
        }
    };
    let time = || {
        duration_us(&argument.to_string()).ok_or_else(|| {
            PhaseError::new(place, format!("`{verb}` needs a time with a unit: 2 ms"))
        })
    };
    let name = || match argument {
        ParamValue::Text(name) if !name.is_empty() => Ok(name.clone()),
        _ => Err(PhaseError::new(place, format!("`{verb}` needs a name"))),
    };
    Ok(match verb {
        "run" => Action::RunUs(time()?),
        "sleep" => Action::SleepUs(time()?),
        "timer" => Action::TimerUs(time()?),
        "lock" => Action::Lock(name()?),
        "unlock" => Action::Unlock(name()?),
        "signal" => Action::Signal(name()?),
        "wait" => Action::Wait(name()?),
        "barrier" => Action::Barrier(name()?),
        "yield" => Action::Yield,
        "repeat" => repeat(argument, place, depth)?,
        _ => {
            return Err(PhaseError::new(
                place,
                format!(
                    "unknown action `{verb}`, expected run, sleep, timer, lock, unlock, signal, wait, \
                     barrier, yield or repeat"
                ),
            ));
        }
    })
}

fn repeat(argument: &ParamValue, place: &str, depth: usize) -> Result<Action, PhaseError> {
    let ParamValue::Map(entries) = argument else {
        return Err(PhaseError::new(place, "`repeat` needs `times` and `do`"));
    };
    let find = |key: &str| entries.iter().find(|(k, _)| k == key).map(|(_, v)| v);
    let times = find("times")
        .and_then(whole)
        .and_then(|n| u64::try_from(n).ok());
    let (Some(times), Some(body), 2) = (times.filter(|n| *n > 0), find("do"), entries.len()) else {
        return Err(PhaseError::new(
            place,
            "`repeat` needs `times` (1 or more) and `do`",
        ));
    };
    Ok(Action::Repeat {
        times,
        actions: actions(body, &format!("{place}.repeat.do"), depth + 1)?,
    })
}

/// What no reader of one action can see: totals, mutexes that stay locked, signals that nobody sends.
pub(super) fn check(program: &Program) -> Result<(), PhaseError> {
    if program.threads.is_empty() {
        return Err(PhaseError::new("threads", "expected at least one thread"));
    }
    if program.thread_count() > MOST_THREADS {
        let problem = format!("{} threads, at most {MOST_THREADS}", program.thread_count());
        return Err(PhaseError::new("threads", problem));
    }
    let mut sent = Vec::new();
    for thread in &program.threads {
        for action in flat(&thread.actions) {
            if let Action::Signal(name) = action {
                sent.push(name.as_str());
            }
        }
    }
    for thread in &program.threads {
        let place = format!("threads.{}.do", thread.name);
        let all = flat(&thread.actions);
        if all.len() > MOST_ACTIONS {
            return Err(PhaseError::new(
                place,
                format!("more than {MOST_ACTIONS} actions"),
            ));
        }
        // A loop without any of these would spin through nothing.
        if !all.iter().any(|a| takes_time(a)) {
            return Err(PhaseError::new(place, "nothing in it takes time"));
        }
        let mut held: Vec<&str> = Vec::new();
        for action in &all {
            match action {
                Action::Lock(name) if held.contains(&name.as_str()) => {
                    return Err(PhaseError::new(place, format!("`{name}` is locked twice")));
                }
                Action::Lock(name) => held.push(name),
                Action::Unlock(name) => {
                    let Some(at) = held.iter().position(|h| h == name) else {
                        let problem = format!("`{name}` is unlocked and was not locked");
                        return Err(PhaseError::new(place, problem));
                    };
                    held.remove(at);
                }
                Action::Wait(name) if !sent.contains(&name.as_str()) => {
                    return Err(PhaseError::new(place, format!("nobody signals `{name}`")));
                }
                _ => {}
            }
        }
        if let Some(name) = held.first() {
            return Err(PhaseError::new(place, format!("`{name}` stays locked")));
        }
    }
    Ok(())
}

fn takes_time(action: &Action) -> bool {
    match action {
        Action::RunUs(us) | Action::SleepUs(us) | Action::TimerUs(us) => *us > 0,
        Action::Wait(_) | Action::Barrier(_) => true,
        _ => false,
    }
}

/// Every action, those of `repeat` in their place. The depth is bounded by the reader.
fn flat(actions: &[Action]) -> Vec<&Action> {
    let mut all = Vec::new();
    for action in actions {
        match action {
            Action::Repeat { actions, .. } => all.extend(flat(actions)),
            other => all.push(other),
        }
    }
    all
}

/// Microseconds of `500 us`, `2 ms`, `1.5 s`.
pub(super) fn duration_us(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    let us = digits.trim().parse::<f64>().ok()? * factor;
    (us.is_finite() && (0.0..1e15).contains(&us)).then_some(us.round() as u64)
}

fn whole(value: &ParamValue) -> Option<i64> {
    match value {
        ParamValue::Int(n) => Some(*n),
        ParamValue::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> ParamValue {
        ParamValue::Text(value.to_owned())
    }

    fn map(entries: Vec<(&str, ParamValue)>) -> ParamValue {
        ParamValue::Map(
            entries
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect(),
        )
    }

    fn program(actions: Vec<ParamValue>) -> Result<Program, PhaseError> {
        read_program(&map(vec![(
            "a",
            map(vec![("do", ParamValue::List(actions))]),
        )]))
    }

    #[test]
    fn a_program_is_read_with_its_repeats() {
        let body = ParamValue::List(vec![map(vec![("run", text("2 ms"))])]);
        let repeat = map(vec![("times", ParamValue::Int(3)), ("do", body)]);
        let found = program(vec![
            map(vec![("repeat", repeat)]),
            map(vec![("sleep", text("500 us"))]),
        ]);
        assert_eq!(
            found.unwrap().threads[0].actions,
            [
                Action::Repeat {
                    times: 3,
                    actions: vec![Action::RunUs(2000)]
                },
                Action::SleepUs(500)
            ]
        );
    }

    #[test]
    fn impossible_programs_are_refused_with_their_place() {
        let problem = |actions| program(actions).unwrap_err().to_string();
        assert_eq!(
            problem(vec![map(vec![("run", ParamValue::Int(5))])]),
            "threads.a.do[0]: `run` needs a time with a unit: 2 ms"
        );
        let run = map(vec![("run", text("1 ms"))]);
        let lock = map(vec![("lock", text("m"))]);
        let wait = map(vec![("wait", text("c"))]);
        assert!(problem(vec![run.clone(), lock]).contains("stays locked"));
        assert!(problem(vec![run, wait]).contains("nobody signals"));
        assert!(problem(vec![text("yield")]).contains("takes time"));
    }
}
