//! Sets knobs: old value to the journal, write, read back. Everything is put back by `restore`, and
//! when the tuner is dropped.

use schedrig_model::host::tune::{
    KnobPlan, OldValue, Planned, ReadBack, Write, WriteResult, granted, paths_wanted, phases,
    plan_writes,
};
use schedrig_model::host::{Granted, Knob, KnobOutcome, KnobReading};

use super::error::TuneError;
use super::put_back::put_all_back;
use super::restore::{RestoreReport, restore};
use super::store::JournalStore;
use crate::kernel::{Held, HostFiles, errno_of, scan};

/// The hands of one run on one machine.
pub struct Tuner<F: HostFiles> {
    files: F,
    state: String,
    journal: JournalStore,
    /// Open files that hold a setting, and the arm's ones after this many of `prepare`.
    held: Vec<Held>,
    held_by_prepare: usize,
    /// Values before the present arm, in the order they were changed.
    before_arm: Vec<OldValue>,
    /// Writes that held, in the order they were made; those of the present arm after `set_by_prepare`.
    holding: Vec<Write>,
    set_by_prepare: usize,
    leave_as_is: bool,
}

impl<F: HostFiles> Tuner<F> {
    /// A tuner for a run. `state` is the folder of the agent's state, relative to the root.
    ///
    /// # Errors
    /// The journal of an earlier run is dirty or cannot be read.
    pub fn open(files: F, state: &str, run: &str) -> Result<Self, TuneError> {
        let journal = JournalStore::open(&files, state, run)?;
        Ok(Tuner {
            files,
            state: state.to_owned(),
            journal,
            held: Vec::new(),
            held_by_prepare: 0,
            before_arm: Vec::new(),
            holding: Vec::new(),
            set_by_prepare: 0,
            leave_as_is: false,
        })
    }

    /// The files it works on.
    pub fn files(&self) -> &F {
        &self.files
    }

    /// Sets the knobs that all arms have. Gaps are in the answer; see
    /// [`schedrig_model::host::tune::required_gaps`].
    ///
    /// # Errors
    /// The journal cannot be written. What was changed so far stays in it.
    pub fn prepare(&mut self, knobs: &[Knob]) -> Result<Vec<Granted>, TuneError> {
        let granted = self.set(knobs, false)?;
        self.held_by_prepare = self.held.len();
        self.set_by_prepare = self.holding.len();
        Ok(granted)
    }

    /// Undoes the knobs of the present arm and sets those of the next.
    ///
    /// # Errors
    /// The arm before does not go back; the journal cannot be written.
    pub fn enter_arm(&mut self, knobs: &[Knob]) -> Result<Vec<Granted>, TuneError> {
        self.leave_arm()?;
        self.set(knobs, true)
    }

    /// Undoes the knobs of the present arm: the machine is as `prepare` left it.
    ///
    /// # Errors
    /// A setting does not go back.
    pub fn leave_arm(&mut self) -> Result<(), TuneError> {
        self.held.truncate(self.held_by_prepare);
        self.holding.truncate(self.set_by_prepare);
        let mut order = std::mem::take(&mut self.before_arm);
        order.reverse();
        let passes = put_all_back(&self.files, &order, true);
        match passes.failed.first() {
            None => Ok(()),
            Some(left) => {
                order.reverse();
                self.before_arm = order;
                Err(TuneError::LeaveArm(format!(
                    "`{}` {}",
                    left.path, left.reason
                )))
            }
        }
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// The journal cannot be read or closed.
    pub fn restore(&mut self) -> Result<RestoreReport, TuneError> {
        self.held.clear();
        self.held_by_prepare = 0;
        self.before_arm.clear();
        self.holding.clear();
        self.set_by_prepare = 0;
        let report = restore(&self.files, &self.state)?;
        if report.is_clean() {
            self.journal.reset();
        }
        Ok(report)
    }

    /// Leaves the machine as it is: the journal stays dirty until someone restores by hand.
    pub fn leave_as_is(mut self) {
        self.leave_as_is = true;
    }

    fn set(&mut self, knobs: &[Knob], of_arm: bool) -> Result<Vec<Granted>, TuneError> {
        let mut all = Vec::new();
        for phase in phases(knobs) {
            let facts = scan(&self.files, &paths_wanted(&phase));
            for plan in plan_writes(&facts, &phase) {
                all.push(self.set_one(&plan, of_arm)?);
            }
        }
        // As they were asked, whatever the order they were set in.
        all.sort_by_key(|g| knobs.iter().position(|k| *k == g.knob));
        Ok(all)
    }

    fn set_one(&mut self, plan: &KnobPlan, of_arm: bool) -> Result<Granted, TuneError> {
        let outcome = match &plan.planned {
            Planned::NotAvailable(why) => KnobOutcome::NotAvailable(why.clone()),
            Planned::Holds(value) => KnobOutcome::Applied {
                value: value.clone(),
            },
            Planned::HoldOpen { path, value } => self.hold(path, *value),
            Planned::Writes(writes) => {
                let results = self.perform(writes, of_arm)?;
                return Ok(granted(plan, &results));
            }
        };
        let (knob, place) = (plan.knob.clone(), plan.place.clone());
        Ok(Granted {
            knob,
            place,
            before: plan.before.clone(),
            outcome,
        })
    }

    fn hold(&mut self, path: &str, value: i32) -> KnobOutcome {
        match self.files.hold_open(path, &value.to_ne_bytes()) {
            Ok(held) => {
                self.held.push(held);
                KnobOutcome::Applied {
                    value: format!("{value} while the agent runs"),
                }
            }
            Err(err) => KnobOutcome::NotApplied {
                errno: errno_of(&err),
                reason: format!("{path}: {err}"),
            },
        }
    }

    fn perform(
        &mut self,
        writes: &[Write],
        of_arm: bool,
    ) -> Result<Vec<(Write, WriteResult)>, TuneError> {
        // All old values of a knob go to disk at once, before any of its writes: a sync for each of
        // 1536 idle states would take seconds.
        let mut kept = Vec::new();
        let mut readable = Vec::new();
        for write in writes {
            match self.files.read(&write.path) {
                Ok(text) => {
                    kept.extend(write.also.iter().filter_map(|path| self.beside(path)));
                    kept.push(OldValue {
                        path: write.path.clone(),
                        read_back: write.read_back,
                        old: write.read_back.value_of(&text, &write.value),
                        new: Some(write.value.clone()),
                    });
                    readable.push(Ok(()));
                }
                Err(err) => readable.push(Err(errno_of(&err))),
            }
        }
        self.journal.keep(&self.files, kept.clone())?;
        if of_arm {
            self.before_arm.extend(kept);
        }
        let results = writes.iter().zip(readable).map(|(write, readable)| {
            let result = match readable {
                Ok(()) => self.write(write),
                Err(errno) => WriteResult::Failed {
                    errno,
                    reason: Some(
                        "its old value cannot be read, so it could not be put back".into(),
                    ),
                },
            };
            (write.clone(), result)
        });
        let results: Vec<(Write, WriteResult)> = results.collect();
        let held = results.iter().filter(|(write, result)| {
            let text = match result {
                WriteResult::Written(text) => text.as_deref(),
                WriteResult::Failed { .. } => None,
            };
            text.is_some_and(|t| write.read_back.holds(t, &write.value))
        });
        self.holding.extend(held.map(|(write, _)| write.clone()));
        Ok(results)
    }

    /// Every setting that was made and held, as it reads now: for the check at the end of a
    /// repetition. A setting made twice counts by its last value.
    pub fn reread(&self) -> Vec<KnobReading> {
        let mut last: Vec<&Write> = Vec::new();
        for write in self.holding.iter().rev() {
            let same = |w: &&Write| {
                w.path == write.path
                    && (w.read_back != ReadBack::Feature || feature(w) == feature(write))
            };
            if !last.iter().any(same) {
                last.push(write);
            }
        }
        let reading = |write: &Write| {
            let text = self.files.read(&write.path).ok();
            let found = text.and_then(|text| match write.read_back.holds(&text, &write.value) {
                true => Some(write.value.clone()),
                false => write.read_back.value_of(&text, &write.value),
            });
            KnobReading {
                place: write.path.clone(),
                wanted: write.value.clone(),
                found,
            }
        };
        last.into_iter().rev().map(reading).collect()
    }

    /// The value of a file that may change along with another.
    fn beside(&self, path: &str) -> Option<OldValue> {
        let read_back = if path.ends_with("_list") {
            ReadBack::CpuList
        } else {
            ReadBack::Words
        };
        let text = self.files.read(path).ok()?;
        let old = read_back.value_of(&text, "");
        Some(OldValue {
            path: path.to_owned(),
            read_back,
            old,
            new: None,
        })
    }

    fn write(&self, write: &Write) -> WriteResult {
        tracing::info!(path = %write.path, value = %write.value, "set");
        match self.files.write(&write.path, &write.value) {
            Ok(()) => WriteResult::Written(self.files.read(&write.path).ok()),
            Err(err) => WriteResult::Failed {
                errno: errno_of(&err),
                reason: None,
            },
        }
    }
}

fn feature(write: &Write) -> &str {
    write.value.strip_prefix("NO_").unwrap_or(&write.value)
}

impl<F: HostFiles> Drop for Tuner<F> {
    fn drop(&mut self) {
        if self.leave_as_is {
            return;
        }
        match self.restore() {
            Ok(report) if report.is_clean() => {}
            Ok(report) => tracing::error!(failed = ?report.failed, "settings were not put back"),
            Err(err) => tracing::error!(error = %err, "settings were not put back"),
        }
    }
}
