//! Prepare and restore on machines with the files of real drivers, stopped at every operation.

use proptest::prelude::*;
use schedrig_model::CpuSet;
use schedrig_model::host::tune::required_gaps;
use schedrig_model::host::{Knob, KnobOutcome, KnobTarget};

use super::{TuneError, Tuner, forget, is_dirty, restore};
use crate::kernel::HostFiles;
use crate::kernel::fake::FakeMachine;
use crate::kernel::fake::cpu::{Driver, machine};

const STATE: &str = "var/lib/schedrig";

fn knob(target: KnobTarget) -> Knob {
    Knob {
        target,
        required: false,
    }
}

fn sysctl(name: &str, value: &str) -> KnobTarget {
    KnobTarget::Sysctl {
        name: name.into(),
        value: value.into(),
    }
}

/// One of every kind.
fn every_knob() -> Vec<Knob> {
    [
        KnobTarget::CpufreqGovernor("performance".into()),
        KnobTarget::CpufreqMinKhz(2_000_000),
        KnobTarget::CpufreqMaxKhz(2_000_000),
        KnobTarget::CpufreqBoost(false),
        KnobTarget::CpufreqEpp("performance".into()),
        KnobTarget::CpuidleDisableAll,
        KnobTarget::DmaLatencyUs(0),
        KnobTarget::Smt(false),
        KnobTarget::Offline(CpuSet::range(2, 2)),
        sysctl("kernel.numa_balancing", "0"),
        sysctl("kernel.core_pattern", "core"),
        KnobTarget::SchedFeature("NO_WAKEUP_PREEMPTION".into()),
        KnobTarget::SchedDebug {
            file: "base_slice_ns".into(),
            value: "3000000".into(),
        },
        KnobTarget::Thp("never".into()),
        KnobTarget::IrqAffinity(CpuSet::range(0, 0)),
    ]
    .map(knob)
    .to_vec()
}

fn arm(token: &str) -> Vec<Knob> {
    vec![knob(KnobTarget::SchedFeature(token.into()))]
}

#[test]
fn every_driver_is_prepared_and_put_back() {
    for driver in Driver::ALL {
        let fake = machine(driver);
        let before = fake.kernel_files();
        let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
        let granted = tuner.prepare(&every_knob()).unwrap();
        for g in &granted {
            let cpufreq = format!("{:?}", g.knob.target).starts_with("Cpufreq");
            let no_epp = matches!(
                driver,
                Driver::Acpi | Driver::AmdPassive | Driver::AmdGuided
            ) && matches!(g.knob.target, KnobTarget::CpufreqEpp(_));
            let missing = (matches!(driver, Driver::None) && cpufreq) || no_epp;
            assert_eq!(g.outcome.holds(), !missing, "{driver:?}: {g:?}");
        }
        assert_ne!(fake.kernel_files(), before);
        let report = tuner.restore().unwrap();
        assert!(report.is_clean(), "{driver:?}: {report:?}");
        assert_eq!(fake.kernel_files(), before, "{driver:?}");
        assert!(!is_dirty(&fake, STATE).unwrap());
    }
}

#[test]
fn old_values_are_on_disk_before_the_first_write() {
    let fake = machine(Driver::IntelActive);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    fake.stop_after(1);
    assert!(
        tuner.prepare(&arm("NO_PLACE_LAG")).is_ok(),
        "the write fails, the answer says so"
    );
    fake.revive();
    let journal = fake.text("var/lib/schedrig/journal").unwrap();
    assert!(journal.contains("\"old\":\"PLACE_LAG\""), "{journal}");
    assert!(fake.writes().is_empty());
}

#[test]
fn nothing_is_written_where_the_journal_cannot_be() {
    let fake = machine(Driver::IntelActive);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    fake.stop_after(0);
    let err = tuner.prepare(&arm("NO_PLACE_LAG")).unwrap_err();
    assert!(matches!(err, TuneError::WriteJournal { .. }));
    fake.revive();
    assert!(fake.writes().is_empty());
}

#[test]
fn a_dirty_journal_blocks_the_next_run_until_it_is_restored() {
    let fake = machine(Driver::IntelActive);
    let before = fake.kernel_files();
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    tuner.prepare(&arm("NO_PLACE_LAG")).unwrap();
    tuner.leave_as_is();
    let Err(err) = Tuner::open(fake.clone(), STATE, "r2") else {
        panic!("opened")
    };
    assert!(
        err.to_string()
            .contains("journal of run `r1` is dirty: 1 settings"),
        "{err}"
    );
    assert_eq!(restore(&fake, STATE).unwrap().written, 1);
    assert_eq!(fake.kernel_files(), before);
    assert!(Tuner::open(fake, STATE, "r2").is_ok());
}

#[test]
fn what_cannot_be_put_back_is_named_and_keeps_the_journal() {
    let fake = machine(Driver::IntelActive);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    let knobs = [
        knob(sysctl("kernel.numa_balancing", "0")),
        knob(KnobTarget::Thp("never".into())),
    ];
    tuner.prepare(&knobs).unwrap();
    fake.refuse("proc/sys/kernel/numa_balancing", libc::EROFS);
    let report = tuner.restore().unwrap();
    assert_eq!(report.failed.len(), 1);
    assert_eq!(report.failed[0].path, "proc/sys/kernel/numa_balancing");
    assert_eq!(report.failed[0].old.as_deref(), Some("1"));
    assert!(is_dirty(&fake, STATE).unwrap());
    assert!(
        fake.text("sys/kernel/mm/transparent_hugepage/enabled")
            .unwrap()
            .contains("[always]")
    );
    fake.with(|s| s.refuse.clear());
    assert!(tuner.restore().unwrap().is_clean());
    fake.put("var/lib/schedrig/journal", "damaged\nlines\n");
    assert!(!restore(&fake, STATE).unwrap().is_clean());
    forget(&fake, STATE).unwrap();
    assert!(!is_dirty(&fake, STATE).unwrap());
}

#[test]
fn a_tuner_that_is_dropped_puts_back() {
    let fake = machine(Driver::Acpi);
    let before = fake.kernel_files();
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    tuner.prepare(&every_knob()).unwrap();
    drop(tuner);
    assert_eq!(fake.kernel_files(), before);
}

#[test]
fn arms_are_toggled_on_top_of_what_was_prepared() {
    let fake = machine(Driver::None);
    let before = fake.kernel_files();
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    tuner.prepare(&arm("NEXT_BUDDY")).unwrap();
    let prepared = fake.kernel_files();
    let features = || fake.text("sys/kernel/debug/sched/features").unwrap();
    for _ in 0..3 {
        tuner.enter_arm(&arm("NO_PLACE_LAG")).unwrap();
        assert_eq!(features(), "NO_PLACE_LAG NEXT_BUDDY WAKEUP_PREEMPTION \n");
        tuner.enter_arm(&[]).unwrap();
        assert_eq!(fake.kernel_files(), prepared);
    }
    let journal = fake.text("var/lib/schedrig/journal").unwrap();
    assert_eq!(
        journal.lines().count(),
        3,
        "the begin and one line a setting, however often"
    );
    tuner.restore().unwrap();
    assert_eq!(fake.kernel_files(), before);
}

#[test]
fn settings_are_read_again_by_their_last_value() {
    let fake = machine(Driver::Acpi);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    tuner
        .prepare(&[
            knob(sysctl("kernel.numa_balancing", "0")),
            knob(KnobTarget::Thp("never".into())),
        ])
        .unwrap();
    tuner.enter_arm(&arm("NO_PLACE_LAG")).unwrap();
    let differ = |t: &Tuner<FakeMachine>| -> Vec<String> {
        let all = t.reread().into_iter();
        all.filter(|k| k.found.as_ref() != Some(&k.wanted))
            .map(|k| k.place)
            .collect()
    };
    assert_eq!(tuner.reread().len(), 3);
    assert!(differ(&tuner).is_empty());
    fake.put("proc/sys/kernel/numa_balancing", "1\n");
    fake.put(
        "sys/kernel/debug/sched/features",
        "PLACE_LAG NO_NEXT_BUDDY WAKEUP_PREEMPTION \n",
    );
    let want = [
        "proc/sys/kernel/numa_balancing",
        "sys/kernel/debug/sched/features",
    ];
    assert_eq!(differ(&tuner), want);
    tuner.enter_arm(&arm("NEXT_BUDDY")).unwrap();
    assert_eq!(differ(&tuner), ["proc/sys/kernel/numa_balancing"]);
}

#[test]
fn refusals_and_clamps_are_told() {
    let fake = machine(Driver::Acpi);
    fake.refuse("proc/sys/kernel/numa_balancing", libc::EACCES);
    let mut tuner = Tuner::open(fake, STATE, "r1").unwrap();
    let mut knobs = vec![
        knob(sysctl("kernel.numa_balancing", "0")),
        knob(KnobTarget::CpufreqMaxKhz(9_000_000)),
        knob(KnobTarget::CpufreqGovernor("nosuch".into())),
    ];
    knobs.iter_mut().for_each(|k| k.required = true);
    let granted = tuner.prepare(&knobs).unwrap();
    assert!(matches!(
        granted[0].outcome,
        KnobOutcome::NotApplied {
            errno: libc::EACCES,
            ..
        }
    ));
    let clamped = &granted[1].outcome;
    assert!(
        matches!(clamped, KnobOutcome::ReadsBackDifferently { found } if found.ends_with("4000000"))
    );
    assert!(matches!(granted[2].outcome, KnobOutcome::NotAvailable(_)));
    assert_eq!(required_gaps(&granted).len(), 3);
}

#[test]
fn after_a_reboot_only_our_own_values_are_put_back() {
    let fake = machine(Driver::None);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    let knobs = [
        knob(sysctl("kernel.numa_balancing", "0")),
        knob(KnobTarget::Thp("never".into())),
    ];
    tuner.prepare(&knobs).unwrap();
    tuner.leave_as_is();
    fake.put("proc/sys/kernel/random/boot_id", "boot-2\n");
    // The new boot's own default, and a value that somehow stayed.
    fake.put("proc/sys/kernel/numa_balancing", "2\n");
    let report = restore(&fake, STATE).unwrap();
    assert!(report.is_clean());
    assert!(
        report.notes[0].contains("reads 2 since the reboot, was 1"),
        "{:?}",
        report.notes
    );
    assert_eq!(fake.text("proc/sys/kernel/numa_balancing").unwrap(), "2\n");
    assert!(
        fake.text("sys/kernel/mm/transparent_hugepage/enabled")
            .unwrap()
            .contains("[always]")
    );
}

/// Prepares, enters an arm and restores, stopped after `stop` changes; whether it got to the end.
fn run_until(fake: &FakeMachine, knobs: &[Knob], stop: usize) -> bool {
    fake.stop_after(stop);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    let done = tuner
        .prepare(knobs)
        .and_then(|_| tuner.enter_arm(&arm("NO_PLACE_LAG")))
        .and_then(|_| tuner.enter_arm(&arm("NEXT_BUDDY")))
        .and_then(|_| tuner.restore());
    drop(tuner);
    let stopped = fake.revive();
    !stopped && done.is_ok()
}

#[test]
fn stopped_at_every_change_the_machine_is_put_back() {
    for driver in Driver::ALL {
        for stop in 0.. {
            let fake = machine(driver);
            let before = fake.kernel_files();
            let finished = run_until(&fake, &every_knob(), stop);
            let report = restore(&fake, STATE).unwrap();
            assert!(
                report.is_clean(),
                "{driver:?} stopped after {stop}: {report:?}"
            );
            assert_eq!(
                fake.kernel_files(),
                before,
                "{driver:?} stopped after {stop}"
            );
            if finished {
                assert!(stop > 20, "{driver:?}: only {stop} changes");
                break;
            }
            assert!(stop < 1000, "never finishes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_knobs_in_any_order_stopped_twice(
        chosen in proptest::sample::subsequence(every_knob(), 0..15).prop_shuffle(),
        driver in proptest::sample::select(Driver::ALL.to_vec()),
        stop in 0_usize..80,
        again in 0_usize..40,
    ) {
        let fake = machine(driver);
        let before = fake.kernel_files();
        run_until(&fake, &chosen, stop);
        // The restore is stopped as well, then done anew.
        fake.stop_after(again);
        let _ = restore(&fake, STATE);
        fake.revive();
        let report = restore(&fake, STATE).unwrap();
        prop_assert!(report.is_clean(), "{:?}", report);
        prop_assert_eq!(fake.kernel_files(), before.clone());
        // What the crashes left on disk is no obstacle to the next run, nor is that one's end.
        let mut next = Tuner::open(fake.clone(), STATE, "r2").unwrap();
        next.prepare(&chosen).unwrap();
        next.leave_as_is();
        prop_assert!(restore(&fake, STATE).unwrap().is_clean());
        prop_assert_eq!(fake.kernel_files(), before);
        prop_assert!(!fake.exists("var/lib/schedrig/journal") || !is_dirty(&fake, STATE).unwrap());
    }
}
