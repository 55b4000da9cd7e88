//! What a person sees while a run goes on: a bar on a terminal, plain lines in a pipe.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use schedrig_model::{ArmId, CellId};
use schedrig_stats::Unit;

/// News of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// A step began or ended.
    Step {
        /// From 1.
        step: u32,
        /// Steps of the plan.
        of: u32,
        /// What it does, for people.
        doing: String,
        /// How long the rest is expected to take, milliseconds.
        remaining_ms: u64,
        /// The repetition that ended.
        done: Option<RepetitionLine>,
    },
    /// Something a reader should know.
    Note(String),
}

/// A repetition that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepetitionLine {
    /// Its cell.
    pub cell: CellId,
    /// Its arm.
    pub arm: ArmId,
    /// From 0.
    pub repetition: u32,
    /// Not a sample.
    pub warmup: bool,
    /// The first metric.
    pub value: Option<(f64, Unit)>,
    /// Why it does not count.
    pub invalid: Option<String>,
}

impl RepetitionLine {
    fn text(&self) -> String {
        let which = if self.warmup {
            "warm-up".to_owned()
        } else {
            format!("#{}", self.repetition + 1)
        };
        let what = match (&self.invalid, &self.value) {
            (Some(reason), _) => format!("invalid: {reason}"),
            (None, Some((value, unit))) => format!("{value:.4} {unit}"),
            (None, None) => "done".to_owned(),
        };
        format!("{} [{}] {which}: {what}", self.cell, self.arm)
    }
}

/// Where progress is shown. Always on standard error: standard output is for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A bar where standard error is a terminal, else lines.
    Auto,
    /// Nothing.
    Nothing,
}

/// Shows news until there are none any more.
pub async fn show(mut news: mpsc::Receiver<Progress>, how: Show) {
    let bar = (how == Show::Auto && std::io::stderr().is_terminal()).then(bar);
    while let Some(progress) = news.recv().await {
        match (&bar, how) {
            (_, Show::Nothing) => {}
            (Some(bar), _) => draw(bar, &progress),
            (None, _) => print_line(&progress),
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
    // The template is fixed text; were it wrong, the default bar does as well.
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn draw(bar: &ProgressBar, progress: &Progress) {
    match progress {
        Progress::Step {
            step,
            of,
            doing,
            remaining_ms,
            done,
        } => {
            bar.set_length(u64::from(*of));
            bar.set_position(u64::from(*step) - u64::from(done.is_none()));
            bar.set_message(format!("{} left  {doing}", left(*remaining_ms)));
            if let Some(line) = done.as_ref().filter(|l| l.invalid.is_some()) {
                bar.println(line.text());
            }
        }
        Progress::Note(text) => bar.println(format!("note: {text}")),
    }
}

fn print_line(progress: &Progress) {
    match progress {
        Progress::Step {
            step,
            of,
            remaining_ms,
            done: Some(line),
            ..
        } => {
            eprintln!(
                "[{step}/{of}, {} left] {}",
                left(*remaining_ms),
                line.text()
            );
        }
        Progress::Step { .. } => {}
        Progress::Note(text) => eprintln!("note: {text}"),
    }
}

fn left(milliseconds: u64) -> String {
    let seconds = Duration::from_millis(milliseconds).as_secs_f64().ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_is_read_at_a_glance() {
        assert_eq!(left(400), "1 s");
        assert_eq!(left(125_000), "2 min 05 s");
        assert_eq!(left(7_260_000), "2 h 01 min");
    }

    #[test]
    fn an_invalid_repetition_says_why_instead_of_a_value() {
        let line = RepetitionLine {
            cell: "hackbench".into(),
            arm: "base".into(),
            repetition: 1,
            warmup: false,
            value: None,
            invalid: Some("instance 0: deadline passed".into()),
        };
        assert_eq!(
            line.text(),
            "hackbench [base] #2: invalid: instance 0: deadline passed"
        );
    }
}
