//! Trees made and removed on a machine in memory that refuses what the kernel refuses.

use schedrig_model::plan::{CgroupNode, CgroupTree, CpuMax};
use schedrig_model::{CpuSet, RunId};

use super::{CgroupError, CgroupFs, CgroupMount};
use crate::kernel::HostFiles;
use crate::kernel::fake::cgroup::{mount, spawn};
use crate::kernel::fake::{CGROUP, FakeMachine};

const UNIT: &str = "system.slice/schedrig-agent.service";

fn machine() -> FakeMachine {
    let fake = FakeMachine::default();
    mount(&fake, "cpuset cpu io memory pids");
    fake
}

fn run(fake: &FakeMachine, base: &str) -> CgroupFs<FakeMachine> {
    CgroupFs::new(fake.clone(), CGROUP, base, &RunId::from("r1"))
}

fn node(path: &str) -> CgroupNode {
    CgroupNode {
        path: path.into(),
        ..CgroupNode::default()
    }
}

fn tree(groups: Vec<CgroupNode>) -> CgroupTree {
    CgroupTree {
        controllers: vec!["cpu".into(), "cpuset".into()],
        groups,
    }
}

fn limited(path: &str, quota: u64) -> CgroupNode {
    let max = CpuMax {
        quota_us: Some(quota),
        period_us: 100_000,
        burst_us: None,
    };
    CgroupNode {
        cpu_max: Some(max),
        ..node(path)
    }
}

/// Levels of 2, 2, 2, 5 and 5 groups with a quota on the first.
fn five_levels() -> CgroupTree {
    let mut groups = Vec::new();
    let mut level = vec![String::new()];
    for (depth, width) in [2, 2, 2, 5, 5].into_iter().enumerate() {
        let mut next = Vec::new();
        for (parent, n) in level.iter().flat_map(|p| (0..width).map(move |n| (p, n))) {
            let path = if parent.is_empty() {
                format!("g{n}")
            } else {
                format!("{parent}/g{n}")
            };
            groups.push(if depth == 0 {
                limited(&path, 100_000)
            } else {
                node(&path)
            });
            next.push(path);
        }
        level = next;
    }
    tree(groups)
}

#[test]
fn the_five_level_tree_is_made_and_removed() {
    let fake = machine();
    let cgroups = run(&fake, "");
    let before = fake.kernel_files();
    let report = cgroups.create(&five_levels()).unwrap();
    assert_eq!(report.groups, 2 + 4 + 8 + 40 + 200);
    assert_eq!(
        cgroups.read("g1", "cpu.max").unwrap().trim(),
        "100000 100000"
    );
    let leaf = "g1/g0/g1/g4/g3";
    assert_eq!(
        cgroups.read(leaf, "cgroup.controllers").unwrap().trim(),
        "cpu cpuset"
    );
    assert_eq!(
        cgroups.read(leaf, "cgroup.subtree_control").unwrap().trim(),
        ""
    );
    let limit = cgroups.effective_limit(leaf).unwrap().unwrap();
    assert_eq!((limit.cpus, limit.group.as_str()), (1.0, "/schedrig-r1/g1"));
    let removal = cgroups.remove();
    assert_eq!((removal.removed, removal.left.len()), (255, 0));
    fake.put("sys/fs/cgroup/cgroup.subtree_control", "\n");
    assert_eq!(fake.kernel_files(), before);
    assert_eq!(cgroups.remove().removed, 0);
}

#[test]
fn processes_are_moved_checked_and_die_with_the_tree() {
    let fake = machine();
    let cgroups = run(&fake, "");
    cgroups.create(&tree(vec![node("a"), node("a/b")])).unwrap();
    for pid in [100, 101] {
        spawn(&fake, pid, "");
    }
    cgroups.attach_pid("a/b", 100).unwrap();
    assert!(cgroups.verify_member("a/b", 100).unwrap());
    let err = cgroups.verify_member("a/b", 101).unwrap_err();
    assert!(
        err.to_string()
            .contains("pid 101 is in `/`, not in `/schedrig-r1/a/b`"),
        "{err}"
    );
    assert!(!cgroups.verify_member("a/b", 4242).unwrap(), "ended");
    assert_eq!(cgroups.members(""), [100]);
    let err = cgroups.attach_pid("a", 101).unwrap_err().to_string();
    assert!(err.contains("processes go into its leaves"), "{err}");
    let err = cgroups.attach_pid("a/b", 4242).unwrap_err().to_string();
    assert!(err.contains("no such process"), "{err}");
    let removal = cgroups.remove();
    assert_eq!((removal.removed, removal.left.len()), (3, 0));
    assert!(!fake.exists("proc/100/cgroup"));
    assert!(fake.exists("proc/101/cgroup"), "others are not touched");
}

#[test]
fn a_slow_death_is_waited_for_and_an_immortal_is_named() {
    for (waits, left) in [(4, 0), (100_000, 3)] {
        let fake = machine();
        let cgroups = run(&fake, "");
        cgroups.create(&tree(vec![node("a"), node("a/b")])).unwrap();
        spawn(&fake, 100, "schedrig-r1/a/b");
        fake.with(|s| {
            s.dying.insert(100, waits);
        });
        let removal = cgroups.remove();
        assert_eq!(removal.left.len(), left, "{removal:?}");
        if left > 0 {
            assert_eq!(removal.left[0].path, "sys/fs/cgroup/schedrig-r1/a/b");
            assert_eq!(removal.left[0].pids, [100]);
            assert_eq!(cgroups.left_over_runs(), ["r1"]);
        }
    }
}

#[test]
fn below_a_unit_the_agent_moves_into_a_leaf_first() {
    let fake = machine();
    for (folder, up) in [("system.slice", ""), (UNIT, "system.slice")] {
        fake.put(
            &format!("{CGROUP}/{up}/cgroup.subtree_control").replace("//", "/"),
            "cpu cpuset\n",
        );
        fake.make_folder(&format!("{CGROUP}/{folder}")).unwrap();
    }
    spawn(&fake, 50, UNIT);
    let cgroups = run(&fake, UNIT);
    cgroups.create(&tree(vec![limited("a", 50_000)])).unwrap();
    assert_eq!(
        fake.text("proc/50/cgroup").unwrap().trim(),
        format!("0::/{UNIT}/supervisor")
    );
    assert_eq!(cgroups.kernel_path("a"), format!("/{UNIT}/schedrig-r1/a"));
    assert_eq!(cgroups.read("a", "cgroup.type").unwrap().trim(), "domain");
}

#[test]
fn a_group_threaded_by_accident_is_found_out() {
    let fake = machine();
    let cgroups = run(&fake, "");
    cgroups.create(&tree(vec![node("x")])).unwrap();
    spawn(&fake, 9, "schedrig-r1/x");
    fake.write("sys/fs/cgroup/schedrig-r1/x/cgroup.subtree_control", "+cpu")
        .unwrap();
    fake.make_folder("sys/fs/cgroup/schedrig-r1/x/y").unwrap();
    spawn(&fake, 10, "");
    let err = cgroups.attach_pid("x/y", 10).unwrap_err().to_string();
    assert!(
        err.contains("group is 'domain invalid' because parent schedrig-r1/x has processes"),
        "{err}"
    );
}

#[test]
fn a_real_time_task_is_named_where_it_keeps_the_controller_away() {
    let fake = machine();
    fake.with(|s| s.rt_group_sched_refuses = true);
    let middle = format!("S {}", vec!["0"; 36].join(" "));
    fake.put(
        "proc/77/stat",
        &format!("77 (multipathd) {middle} 99 2 0 0"),
    );
    let err = run(&fake, "")
        .create(&tree(vec![node("a")]))
        .unwrap_err()
        .to_string();
    let want =
        "cpu controller refused: RT thread multipathd (policy RR, prio 99) and RT_GROUP_SCHED";
    assert!(err.contains(want), "{err}");
}

#[test]
fn a_failed_tree_leaves_nothing() {
    let fake = machine();
    let cgroups = run(&fake, "");
    let mut bad = node("a/b");
    bad.cpuset = Some(CpuSet::range(900, 900));
    let err = cgroups.create(&tree(vec![node("a"), bad])).unwrap_err();
    assert!(
        err.to_string().contains("outside the range of cpuset.cpus"),
        "{err}"
    );
    assert!(!fake.exists("sys/fs/cgroup/schedrig-r1"));
    let err = cgroups.create(&tree(vec![limited("a", 500)])).unwrap_err();
    assert!(matches!(err, CgroupError::Tree(_)));
}

#[test]
fn partitions_are_read_back() {
    let parted = || {
        let mut a = node("a");
        (a.cpuset, a.partition) = (Some(CpuSet::range(1, 3)), Some("root".into()));
        tree(vec![a])
    };
    let fake = machine();
    let report = run(&fake, "").create(&parted()).unwrap();
    assert_eq!(
        report.partitions.len(),
        2,
        "the run's own group and the one asked"
    );
    assert!(report.partitions.iter().all(|p| p.holds()), "{report:?}");

    let fake = machine();
    fake.put(&format!("{CGROUP}/cgroup.subtree_control"), "cpu cpuset\n");
    fake.make_folder(&format!("{CGROUP}/unit.service")).unwrap();
    let report = run(&fake, "unit.service").create(&parted()).unwrap();
    assert!(!report.partitions[1].holds());
    let reason = report.partitions[1].found.invalid.as_deref();
    assert_eq!(reason, Some("Parent is not a partition root"));
}

#[test]
fn a_quota_is_lowered_below_the_burst_in_order() {
    let fake = machine();
    let cgroups = run(&fake, "");
    let mut a = limited("a", 20_000);
    a.cpu_max = a.cpu_max.map(|m| CpuMax {
        burst_us: Some(10_000),
        ..m
    });
    cgroups.create(&tree(vec![a])).unwrap();
    let lower = CpuMax {
        quota_us: Some(5000),
        period_us: 100_000,
        burst_us: Some(1000),
    };
    cgroups.set_cpu_max("a", &lower).unwrap();
    assert_eq!(cgroups.read("a", "cpu.max").unwrap().trim(), "5000 100000");
    assert_eq!(cgroups.read("a", "cpu.max.burst").unwrap().trim(), "1000");
}

#[test]
fn a_hybrid_machine_is_refused_by_name() {
    let fake = FakeMachine::default();
    fake.put(
        "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n40 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    );
    fake.put(
        "proc/cgroups",
        "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\n",
    );
    fake.put("proc/self/cgroup", "1:cpu:/\n0::/\n");
    fake.put("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
    let found = CgroupMount::detect(&fake).unwrap();
    assert_eq!(found.point.as_deref(), Some("sys/fs/cgroup/unified"));
    let err = found.base(&fake).unwrap_err().to_string();
    assert!(
        err.contains("mounted as cgroup v1 at /sys/fs/cgroup/cpu (hierarchy 1)"),
        "{err}"
    );
    assert!(
        err.contains("systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all"),
        "{err}"
    );
}

#[test]
fn stopped_at_every_change_no_group_is_left() {
    for stop in 0.. {
        let fake = machine();
        fake.stop_after(stop);
        let made = run(&fake, "").create(&tree(vec![limited("a", 50_000), node("a/b")]));
        fake.revive();
        // What a new agent does: it finds the runs by name and removes them.
        let cgroups = run(&fake, "");
        for name in cgroups.left_over_runs() {
            let old = CgroupFs::new(fake.clone(), CGROUP, "", &RunId::from(name.as_str()));
            assert!(old.remove().left.is_empty());
        }
        assert!(cgroups.left_over_runs().is_empty());
        if made.is_ok() {
            assert!(stop > 5);
            break;
        }
    }
}
