//! Edges of a repetition on a machine in memory.

use schedrig_model::RunId;
use schedrig_model::host::knobs_of_collectors;
use schedrig_model::host::{HeldRules, Knob, KnobOutcome, KnobReading, held_state};
use schedrig_model::plan::{CgroupNode, CgroupTree, Collector};
use schedrig_model::procfmt::schedstat::Validity;
use schedrig_model::procfmt::{ThreadSums, cpu_stat_between, schedstat_between};
use schedrig_model::record::SnapshotEdge;

use super::{Snapshotter, read_held, read_threads};
use crate::kernel::CgroupFs;
use crate::kernel::fake::cgroup::{mount, spawn};
use crate::kernel::fake::cpu::{Driver, machine};
use crate::kernel::fake::{CGROUP, FakeMachine};
use crate::tune::Tuner;

const STATE: &str = "var/lib/schedrig";

fn groups(fake: &FakeMachine) -> CgroupFs<FakeMachine> {
    mount(fake, "cpuset cpu");
    let cgroups = CgroupFs::new(fake.clone(), CGROUP, "", &RunId::from("r1"));
    let node = CgroupNode {
        path: "g0".into(),
        ..CgroupNode::default()
    };
    let tree = CgroupTree {
        controllers: vec!["cpu".into()],
        groups: vec![node],
    };
    cgroups.create(&tree).unwrap();
    cgroups
}

fn schedstat(fake: &FakeMachine, n: u64) {
    fake.put(
        "proc/schedstat",
        &format!("version 15\ntimestamp {n}\ncpu0 0 0 0 0 0 0 0 0 {n}\n"),
    );
}

#[test]
fn both_edges_give_differences() {
    let fake = machine(Driver::None);
    let cgroups = groups(&fake);
    let collectors = [
        Collector::Schedstat,
        Collector::CpuStat,
        Collector::ProcSched,
    ];
    let mut reader = Snapshotter::new(&fake, Some((&cgroups, vec!["g0".into()])), &collectors);
    let clock = std::cell::Cell::new(0);
    let now = || {
        clock.set(clock.get() + 1);
        clock.get()
    };
    fake.put("proc/sys/kernel/sched_schedstats", "1\n");
    schedstat(&fake, 10);
    let mut all = reader.read(SnapshotEdge::Start, &[], &now).snapshots;
    assert_eq!(
        all.last().unwrap().source,
        "proc/schedstat",
        "nearest to the repetition"
    );
    schedstat(&fake, 35);
    fake.put(
        "sys/fs/cgroup/schedrig-r1/g0/cpu.stat",
        "usage_usec 7\nnr_throttled 2\n",
    );
    let end = reader.read(SnapshotEdge::End, &[], &now);
    assert_eq!(end.snapshots[0].collector, Collector::Schedstat);
    assert!(
        end.notes.is_empty(),
        "a missing cpu.stat.local is no gap: {:?}",
        end.notes
    );
    all.extend(end.snapshots);
    let (diff, worth) = schedstat_between(&all).unwrap();
    assert_eq!((diff.elapsed_jiffies, worth), (25, Validity::All));
    assert_eq!(cpu_stat_between(&all)["g0"].usage_us, Some(7));
}

#[test]
fn what_is_missing_is_told_once() {
    let fake = machine(Driver::None);
    let collectors = [Collector::Schedstat, Collector::Psi];
    let mut reader = Snapshotter::<_, FakeMachine>::new(&fake, None, &collectors);
    let first = reader.read(SnapshotEdge::Start, &[], &|| 0);
    assert_eq!(first.notes.len(), 2, "{:?}", first.notes);
    assert!(first.notes[1].contains("proc/schedstat: no file (CONFIG_SCHEDSTATS=n)"));
    assert!(reader.read(SnapshotEdge::End, &[], &|| 0).notes.is_empty());
}

#[test]
fn schedstats_are_on_for_the_run_and_off_after() {
    let fake = machine(Driver::None);
    let mut tuner = Tuner::open(fake.clone(), STATE, "r1").unwrap();
    let knobs: Vec<Knob> = knobs_of_collectors(&[Collector::Schedstat]);
    assert!(tuner.prepare(&knobs).unwrap()[0].outcome.holds());
    assert_eq!(
        fake.text("proc/sys/kernel/sched_schedstats").unwrap(),
        "1\n"
    );
    tuner.restore().unwrap();
    assert_eq!(
        fake.text("proc/sys/kernel/sched_schedstats").unwrap(),
        "0\n"
    );
    fake.with(|s| {
        s.files.remove("proc/sys/kernel/sched_schedstats");
    });
    let outcome = &tuner.prepare(&knobs).unwrap()[0].outcome;
    assert!(matches!(outcome, KnobOutcome::NotAvailable(_)));
}

#[test]
fn threads_that_vanish_are_counted() {
    let fake = FakeMachine::default();
    for tid in [7, 8] {
        fake.put(&format!("proc/7/task/{tid}/schedstat"), "100 20 3\n");
        let status = "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t1\n";
        fake.put(&format!("proc/7/task/{tid}/status"), status);
    }
    fake.put("proc/7/task/9/status", "gone between the two reads");
    let sums: ThreadSums = read_threads(&fake, &[7, 99]);
    assert_eq!((sums.threads, sums.vanished), (2, 2));
    assert_eq!((sums.times.run_ns, sums.switches.voluntary), (200, 10));
}

#[test]
fn a_machine_that_did_not_stay_put_taints() {
    let fake = machine(Driver::Acpi);
    let cgroups = groups(&fake);
    spawn(&fake, 100, "schedrig-r1/g0");
    let placed = [(100, "g0".to_owned())];
    let throttle = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    fake.put(throttle, "3\n");
    fake.put("proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0\n");
    fake.put("dev/kmsg", "4,10,1,-;old warning\n6,11,2,-;usb\n");
    let knob = |found: &str| KnobReading {
        place: "policy0/scaling_governor".into(),
        wanted: "performance".into(),
        found: Some(found.into()),
    };
    let before = read_held(&fake, Some(&cgroups), vec![knob("performance")], &placed);
    assert!(held_state(&before, &before, &HeldRules::default()).is_empty());
    fake.put(throttle, "5\n");
    fake.put("proc/stat", "cpu  100 0 0 1800 0 0 0 100 0 0\n");
    fake.put(
        "dev/kmsg",
        "4,10,1,-;old warning\n6,11,2,-;usb\n6,12,3,-;net\n4,13,4,-;new warning\n",
    );
    spawn(&fake, 100, "user.slice");
    let after = read_held(&fake, Some(&cgroups), vec![knob("schedutil")], &placed);
    let taints = held_state(&before, &after, &HeldRules::default());
    let kinds: Vec<&str> = taints.iter().map(|t| t.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["knob", "steal", "throttle", "dmesg", "moved"],
        "{taints:?}"
    );
    assert_eq!(taints[3].detail, "new warning");
}
