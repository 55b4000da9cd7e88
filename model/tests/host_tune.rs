//! Which writes hold a machine as asked, by the files that real drivers have.

use schedrig_model::CpuSet;
use schedrig_model::host::tune::{
    KnobPlan, Planned, TuneFacts, Write, WriteResult, granted, matches_pattern, paths_wanted,
    phases, plan_writes,
};
use schedrig_model::host::{Knob, KnobOutcome, KnobTarget};

const CPU: &str = "sys/devices/system/cpu";

fn knob(target: KnobTarget) -> Knob {
    Knob {
        target,
        required: false,
    }
}

/// Files of one policy a CPU.
fn policies(count: u32, files: &[(&str, &str)]) -> TuneFacts {
    (0..count)
        .flat_map(|n| {
            let path = move |f: &str| format!("{CPU}/cpufreq/policy{n}/{f}");
            files
                .iter()
                .map(move |(file, text)| (path(file), (*text).to_owned()))
        })
        .collect()
}

fn with(mut facts: TuneFacts, more: &[(&str, &str)]) -> TuneFacts {
    for (path, text) in more {
        let text = schedrig_model::host::tune::Reading::Text((*text).to_owned());
        facts.insert(format!("{CPU}/{path}"), text);
    }
    facts
}

fn intel_active() -> TuneFacts {
    let files = [
        ("scaling_driver", "intel_pstate"),
        ("scaling_governor", "powersave"),
        ("scaling_available_governors", "performance powersave"),
        ("scaling_min_freq", "1000000"),
        ("scaling_max_freq", "4000000"),
        ("energy_performance_preference", "balance_performance"),
        (
            "energy_performance_available_preferences",
            "default performance balance_performance balance_power power ",
        ),
        ("affected_cpus", "0"),
    ];
    let machine = [
        ("intel_pstate/status", "active"),
        ("intel_pstate/no_turbo", "0"),
    ];
    with(policies(2, &files), &machine)
}

fn generic(driver: &str, machine: &[(&str, &str)]) -> TuneFacts {
    let files = [
        ("scaling_driver", driver),
        ("scaling_governor", "schedutil"),
        (
            "scaling_available_governors",
            "conservative userspace performance schedutil",
        ),
        ("scaling_min_freq", "1400000"),
        ("scaling_max_freq", "2300000"),
    ];
    with(policies(2, &files), machine)
}

fn targets(plans: &[KnobPlan]) -> Vec<&KnobTarget> {
    plans.iter().map(|p| &p.knob.target).collect()
}

fn one(facts: &TuneFacts, target: KnobTarget) -> Planned {
    plan_writes(facts, &[knob(target)]).remove(0).planned
}

fn writes(planned: &Planned) -> Vec<(&str, &str)> {
    let Planned::Writes(writes) = planned else {
        panic!("{planned:?}")
    };
    writes
        .iter()
        .map(|w| (w.path.as_str(), w.value.as_str()))
        .collect()
}

fn reason(planned: &Planned) -> &str {
    let Planned::NotAvailable(why) = planned else {
        panic!("{planned:?}")
    };
    why
}

#[test]
fn boost_is_a_different_file_for_each_driver() {
    let off = || KnobTarget::CpufreqBoost(false);
    let intel = one(&intel_active(), off());
    assert_eq!(
        writes(&intel),
        [("sys/devices/system/cpu/intel_pstate/no_turbo", "1")]
    );
    let Planned::Writes(list) = &intel else {
        unreachable!()
    };
    assert_eq!(
        list[0].also.len(),
        4,
        "both limits of both policies may move"
    );
    let acpi = one(&generic("acpi-cpufreq", &[("cpufreq/boost", "1")]), off());
    assert_eq!(
        writes(&acpi),
        [("sys/devices/system/cpu/cpufreq/boost", "0")]
    );
    for file in ["boost", "cpb"] {
        let paths: Vec<String> = (0..2)
            .map(|n| format!("cpufreq/policy{n}/{file}"))
            .collect();
        let more: Vec<(&str, &str)> = paths.iter().map(|p| (p.as_str(), "1")).collect();
        let amd = one(&generic("amd-pstate", &more), off());
        assert_eq!(writes(&amd).len(), 2);
        assert!(
            writes(&amd)
                .iter()
                .all(|(p, v)| p.ends_with(file) && *v == "0")
        );
    }
    let none = one(
        &generic("amd-pstate", &[("amd_pstate/status", "guided")]),
        off(),
    );
    assert!(reason(&none).contains("driver amd-pstate (guided) has no boost switch"));
    let on = one(&intel_active(), KnobTarget::CpufreqBoost(true));
    assert_eq!(on, Planned::Holds("0".into()), "no_turbo is 0: turbo is on");
}

#[test]
fn energy_preference_and_governor_are_ordered_by_what_the_driver_refuses() {
    let governor = |g: &str| knob(KnobTarget::CpufreqGovernor(g.into()));
    let epp = |e: &str| knob(KnobTarget::CpufreqEpp(e.into()));
    let facts = intel_active();
    let plans = plan_writes(&facts, &[governor("performance"), epp("performance")]);
    assert_eq!(
        targets(&plans)[0],
        &KnobTarget::CpufreqEpp("performance".into())
    );
    let plans = plan_writes(&facts, &[epp("power"), governor("powersave")]);
    assert_eq!(targets(&plans)[1], &KnobTarget::CpufreqEpp("power".into()));
    let Planned::Writes(list) = one(&facts, governor("performance").target) else {
        panic!()
    };
    assert!(list[0].also[0].ends_with("policy0/energy_performance_preference"));
}

#[test]
fn limits_never_cross_on_the_way() {
    let min = |khz| knob(KnobTarget::CpufreqMinKhz(khz));
    let max = |khz| knob(KnobTarget::CpufreqMaxKhz(khz));
    let facts = generic("acpi-cpufreq", &[]);
    let raise = plan_writes(&facts, &[min(2_500_000), max(2_500_000)]);
    assert_eq!(targets(&raise)[0], &KnobTarget::CpufreqMaxKhz(2_500_000));
    let lower = plan_writes(&facts, &[max(1_400_000), min(1_200_000)]);
    assert_eq!(targets(&lower)[0], &KnobTarget::CpufreqMinKhz(1_200_000));
}

#[test]
fn what_a_driver_does_not_offer_is_a_named_gap() {
    let schedutil = one(
        &intel_active(),
        KnobTarget::CpufreqGovernor("schedutil".into()),
    );
    assert_eq!(
        reason(&schedutil),
        "driver intel_pstate (active) offers performance powersave, not schedutil"
    );
    let epp = one(
        &generic("acpi-cpufreq", &[]),
        KnobTarget::CpufreqEpp("power".into()),
    );
    assert!(reason(&epp).contains("driver acpi-cpufreq has no energy performance preference"));
    let none = one(
        &TuneFacts::default(),
        KnobTarget::CpufreqGovernor("performance".into()),
    );
    assert!(reason(&none).contains("no cpufreq driver"));
    let set = one(
        &generic("acpi-cpufreq", &[]),
        KnobTarget::CpufreqGovernor("schedutil".into()),
    );
    assert_eq!(set, Planned::Holds("schedutil".into()));
}

fn idle() -> TuneFacts {
    let states = [
        (0, "POLL", "0"),
        (1, "C1", "1"),
        (2, "C1E", "4"),
        (3, "C6", "170"),
    ];
    let files = [0, 1, 10].into_iter().flat_map(move |cpu| {
        states.into_iter().flat_map(move |(n, name, latency)| {
            let path = move |f: &str| format!("{CPU}/cpu{cpu}/cpuidle/state{n}/{f}");
            // C6 is disabled already, as some providers do.
            let disabled = if name == "C6" { "1" } else { "0" };
            [
                (path("name"), name),
                (path("latency"), latency),
                (path("disable"), disabled),
            ]
        })
    });
    files.collect()
}

#[test]
fn idle_states_are_chosen_by_name_or_latency() {
    let all = one(&idle(), KnobTarget::CpuidleDisableAll);
    assert_eq!(
        writes(&all).len(),
        6,
        "C1 and C1E of three CPUs; never POLL; C6 is off already"
    );
    let deep = one(&idle(), KnobTarget::CpuidleMaxLatencyUs(2));
    assert_eq!(writes(&deep).len(), 3);
    assert!(writes(&deep).iter().all(|(p, _)| p.contains("state2")));
    let c6 = one(&idle(), KnobTarget::CpuidleDisableState("C6".into()));
    assert_eq!(c6, Planned::Holds("1".into()));
    let none = one(&idle(), KnobTarget::CpuidleDisableState("C10".into()));
    assert_eq!(
        reason(&none),
        "no idle state named C10; there are POLL, C1, C1E, C6"
    );
    let guest = one(&TuneFacts::default(), KnobTarget::CpuidleDisableAll);
    assert!(reason(&guest).contains("no idle control"));
}

fn online(smt: &str) -> TuneFacts {
    let cpus = (1..4).map(|n| (format!("{CPU}/cpu{n}/online"), "1".to_owned()));
    let smt = [(format!("{CPU}/smt/control"), smt.to_owned())];
    let list = [(format!("{CPU}/online"), "0-3".to_owned())];
    cpus.chain(smt).chain(list).collect()
}

#[test]
fn smt_in_all_its_words() {
    let off = one(&online("on"), KnobTarget::Smt(false));
    let Planned::Writes(list) = &off else {
        panic!("{off:?}")
    };
    assert_eq!(
        list[0].also.len(),
        3,
        "siblings that were down before stay down after"
    );
    for none in ["notsupported", "notimplemented"] {
        assert!(matches!(
            one(&online(none), KnobTarget::Smt(false)),
            Planned::Holds(_)
        ));
        assert!(reason(&one(&online(none), KnobTarget::Smt(true))).contains("no SMT here"));
    }
    let forced = one(&online("forceoff"), KnobTarget::Smt(true));
    assert!(reason(&forced).contains("nosmt=force"));
}

#[test]
fn cpus_without_an_online_file_stay() {
    let cpus = CpuSet::parse_list("1,3").unwrap();
    let two = one(&online("on"), KnobTarget::Offline(cpus));
    assert_eq!(
        writes(&two).iter().map(|w| w.1).collect::<Vec<_>>(),
        ["0", "0"]
    );
    let zero = one(&online("on"), KnobTarget::Offline(CpuSet::range(0, 1)));
    assert!(reason(&zero).contains("CPUs 0 have no online file"));
}

fn debugfs() -> TuneFacts {
    [
        (
            "sys/kernel/debug/sched/features",
            "PLACE_LAG NO_NEXT_BUDDY WAKEUP_PREEMPTION",
        ),
        ("sys/kernel/debug/sched/verbose", "N"),
        ("sys/kernel/debug/sched/preempt", "full (lazy) "),
        (
            "sys/kernel/debug/sched/fair_server/cpu0/runtime",
            "50000000",
        ),
        (
            "sys/kernel/debug/sched/fair_server/cpu1/runtime",
            "50000000",
        ),
        ("proc/sys/kernel/numa_balancing", "1"),
        (
            "sys/kernel/mm/transparent_hugepage/enabled",
            "[always] madvise never",
        ),
        ("proc/irq/1/smp_affinity_list", "0-3"),
        ("proc/irq/2/smp_affinity_list", "0"),
    ]
    .into_iter()
    .collect()
}

#[test]
fn scheduler_settings() {
    let feature = |t: &str| one(&debugfs(), KnobTarget::SchedFeature(t.into()));
    assert_eq!(
        writes(&feature("NO_WAKEUP_PREEMPTION"))[0].1,
        "NO_WAKEUP_PREEMPTION"
    );
    assert!(matches!(feature("NO_NEXT_BUDDY"), Planned::Holds(_)));
    assert!(reason(&feature("NO_SIS_PROP")).contains("no scheduler feature SIS_PROP"));
    let debug = |file: &str, value: &str| {
        let (file, value) = (file.to_owned(), value.to_owned());
        one(&debugfs(), KnobTarget::SchedDebug { file, value })
    };
    assert_eq!(writes(&debug("fair_server/*/runtime", "0")).len(), 2);
    assert!(matches!(debug("preempt", "lazy"), Planned::Holds(_)));
    assert!(reason(&debug("domains/cpu0/domain0/flags", "1")).contains("`verbose` set to Y"));
    assert!(reason(&debug("../../x", "1")).contains("not a file below"));
    let thp = one(&debugfs(), KnobTarget::Thp("never".into()));
    assert_eq!(writes(&thp)[0].1, "never");
    assert!(reason(&one(&debugfs(), KnobTarget::Thp("often".into()))).contains("offers"));
    let irq = one(&debugfs(), KnobTarget::IrqAffinity(CpuSet::range(0, 0)));
    assert_eq!(writes(&irq), [("proc/irq/1/smp_affinity_list", "0")]);
}

#[test]
fn sysctls_by_name() {
    let sysctl = |name: &str, value: &str| {
        let (name, value) = (name.to_owned(), value.to_owned());
        one(&debugfs(), KnobTarget::Sysctl { name, value })
    };
    let numa = sysctl("kernel.numa_balancing", "0");
    assert_eq!(writes(&numa), [("proc/sys/kernel/numa_balancing", "0")]);
    assert!(reason(&sysctl("kernel.sched_min_granularity_ns", "1")).contains("since 5.13"));
    assert!(reason(&sysctl("kernel..x", "1")).contains("not the name of a sysctl"));
    assert!(reason(&sysctl("kernel.nosuch", "1")).contains("no sysctl kernel.nosuch"));
}

#[test]
fn cpus_go_first_and_facts_are_read_again() {
    let knobs = [
        knob(KnobTarget::CpufreqBoost(false)),
        knob(KnobTarget::Offline(CpuSet::range(1, 1))),
        knob(KnobTarget::Smt(false)),
    ];
    let order: Vec<_> = phases(&knobs)
        .into_iter()
        .map(|p| p[0].target.clone())
        .collect();
    assert_eq!(order[0], KnobTarget::Smt(false));
    assert_eq!(order[2], KnobTarget::CpufreqBoost(false));
}

#[test]
fn every_file_a_plan_writes_was_asked_for_before() {
    let knobs = [
        knob(KnobTarget::CpufreqBoost(false)),
        knob(KnobTarget::CpufreqEpp("performance".into())),
        knob(KnobTarget::CpufreqGovernor("performance".into())),
    ];
    let wanted = paths_wanted(&knobs);
    for plan in plan_writes(&intel_active(), &knobs) {
        let Planned::Writes(list) = plan.planned else {
            panic!()
        };
        for path in list.iter().flat_map(|w| w.also.iter().chain([&w.path])) {
            assert!(wanted.iter().any(|p| matches_pattern(p, path)), "{path}");
        }
    }
}

#[test]
fn four_outcomes() {
    let facts = intel_active();
    let plan = &plan_writes(&facts, &[knob(KnobTarget::CpufreqMaxKhz(1_700_000))])[0];
    let Planned::Writes(list) = &plan.planned else {
        panic!()
    };
    let all = |result: WriteResult| -> KnobOutcome {
        let results: Vec<(Write, WriteResult)> =
            list.iter().map(|w| (w.clone(), result.clone())).collect();
        granted(plan, &results).outcome
    };
    assert!(all(WriteResult::Written(Some("1700000\n".into()))).holds());
    let clamped = all(WriteResult::Written(Some("1800000\n".into())));
    assert!(
        matches!(clamped, KnobOutcome::ReadsBackDifferently { ref found } if found.ends_with("1800000"))
    );
    let failed = all(WriteResult::Failed {
        errno: 13,
        reason: None,
    });
    assert!(
        matches!(failed, KnobOutcome::NotApplied { errno: 13, ref reason } if reason.contains("as root"))
    );
}

#[test]
fn managed_interrupts_do_not_fail_the_knob() {
    let plan = &plan_writes(
        &debugfs(),
        &[knob(KnobTarget::IrqAffinity(CpuSet::range(3, 3)))],
    )[0];
    let Planned::Writes(list) = &plan.planned else {
        panic!()
    };
    let eio = WriteResult::Failed {
        errno: 5,
        reason: None,
    };
    let moved = WriteResult::Written(Some("3".into()));
    let some = [(list[0].clone(), eio.clone()), (list[1].clone(), moved)];
    assert_eq!(
        granted(plan, &some).outcome,
        KnobOutcome::Applied {
            value: "3 (1 of 2 refused to move)".into()
        }
    );
    let none = [(list[0].clone(), eio.clone()), (list[1].clone(), eio)];
    assert!(!granted(plan, &none).outcome.holds());
}
