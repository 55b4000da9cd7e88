//! `/proc/schedstat` of real kernels, and files that no kernel prints.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read fixtures; the crate itself never does"
)]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use schedrig_model::procfmt::schedstat::{
    self, CpuField, DomainField, IdleType, LbField, Schedstat, SchedstatError, TailField,
    compare_sums, compare_text, cpu_derived, diff_json, diff_text, fields_of_equal_meaning,
    layout_of, parse, parse_cpu_lines_of_any_version, show_text, subtract, sum_diff, sum_snapshot,
};
use schedrig_model::{CpuId, CpuSet};

fn own(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/schedstat")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The folder of shared fixtures beside the project, where it is there.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/fixtures")
        .join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("no {} here: left out", path.display());
    None
}

fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/schedstat")
        .join(name);
    if std::env::var_os("SCHEDRIG_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found,
        want,
        "{}: SCHEDRIG_BLESS=1 writes it",
        path.display()
    );
}

fn pair(stem: &str) -> (Schedstat, Schedstat) {
    let read = |edge| parse(&own(&format!("{stem}-{edge}.txt"))).unwrap();
    (read("before"), read("after"))
}

const STEMS: [(u32, &str); 3] = [
    (15, "v15-linux6.1.176-2s2c2t"),
    (16, "v16-linux6.12.95-2s2c2t"),
    (17, "v17-linux7.2.13-2s2c2t"),
];

#[test]
fn every_version_parses_with_names_only_from_17_on() {
    for (version, stem) in STEMS {
        let (_, after) = pair(stem);
        assert_eq!(after.layout.version, version);
        assert_eq!(after.cpu_set(), CpuSet::range(0, 7));
        assert!(after.warnings.is_empty() && after.unknown.is_empty());
        for cpu in &after.cpus {
            let names: Vec<_> = cpu.domains.iter().map(|d| d.name.as_deref()).collect();
            let want = if version == 17 {
                [Some("SMT"), Some("MC"), Some("NUMA")]
            } else {
                [None; 3]
            };
            assert_eq!(names, want);
            assert_eq!(cpu.domains[2].span.len(), 8);
        }
    }
}

#[test]
fn numbers_land_in_their_fields() {
    let (_, v15) = pair("v15-linux6.1.176-2s2c2t");
    let cpu0 = &v15.cpus[0];
    let domain = |idle, f| cpu0.domains[0].get(v15.layout, DomainField::Lb(idle, f));
    // domain0 03 173 173 .. (idle first) 35 27 5 4469 3 .. (busy) 9 6 0 4 3 .. (newly idle)
    assert_eq!(domain(IdleType::Idle, LbField::Count), Some(173));
    assert_eq!(domain(IdleType::Busy, LbField::Count), Some(35));
    assert_eq!(domain(IdleType::Busy, LbField::Imbalance), Some(4469));
    assert_eq!(domain(IdleType::NewlyIdle, LbField::Gained), Some(3));
    assert_eq!(domain(IdleType::Busy, LbField::ImbalanceLoad), None);
    let tail = |f| cpu0.domains[0].get(v15.layout, DomainField::Tail(f));
    assert_eq!(tail(TailField::TtwuWakeRemote), Some(10));
    assert_eq!(tail(TailField::TtwuMoveAffine), Some(4));
    assert_eq!(
        cpu0.get(v15.layout, CpuField::RunDelayNs),
        Some(2_040_398_929)
    );

    let (v17, _) = pair("v17-linux7.2.13-2s2c2t");
    let busy = DomainField::Lb(IdleType::Busy, LbField::Count);
    let idle = DomainField::Lb(IdleType::Idle, LbField::Count);
    assert_eq!(v17.cpus[0].domains[0].get(v17.layout, busy), Some(0));
    assert_eq!(v17.cpus[0].domains[0].get(v17.layout, idle), Some(4));
}

#[test]
fn version_14_has_three_numbers_more() {
    let v14 = parse(&own("v14-synthetic.txt")).unwrap();
    let cpu0 = &v14.cpus[0];
    assert_eq!(cpu0.get(v14.layout, CpuField::YldBothEmpty), Some(3));
    assert_eq!(cpu0.get(v14.layout, CpuField::SchedCount), Some(98_213));
    assert_eq!(cpu0.get(v14.layout, CpuField::Pcount), Some(58_091));
    let count = DomainField::Lb(IdleType::Idle, LbField::Count);
    assert_eq!(cpu0.domains[0].get(v14.layout, count), Some(1200));
}

#[test]
fn wrong_count_unknown_version_and_development_layout_are_refused() {
    let v17 = own("v17-linux7.2.13-2s2c2t-before.txt");
    let short = v17.replacen(" 0\ndomain1", "\ndomain1", 1);
    let err = parse(&short).unwrap_err().to_string();
    assert!(
        err.contains("version 17 domain line has 44 numbers, want 45"),
        "{err}"
    );
    // The layout of 17 under the number 16 existed for a while.
    let err = parse(&v17.replacen("version 17", "version 16", 1)).unwrap_err();
    assert!(
        matches!(
            err,
            SchedstatError::Name {
                version: 16,
                has: "has",
                ..
            }
        ),
        "{err}"
    );
    let v16 = own("v16-linux6.12.95-2s2c2t-before.txt").replacen("version 16", "version 17", 1);
    assert!(matches!(
        parse(&v16),
        Err(SchedstatError::Name {
            version: 17,
            has: "lacks",
            ..
        })
    ));
    let v18 = v17.replacen("version 17", "version 18", 1);
    assert_eq!(parse(&v18), Err(SchedstatError::UnknownVersion(18)));
    let lines = parse_cpu_lines_of_any_version(&v18).unwrap();
    assert_eq!((lines.version, lines.cpus.len()), (18, 8));
    assert_eq!(lines.cpus[&CpuId(0)][6], 1_396_964_101);
    assert!(matches!(
        parse("hello\n"),
        Err(SchedstatError::NoVersion(_))
    ));
    assert_eq!(parse("version 15\n"), Err(SchedstatError::NoTimestamp));
}

#[test]
fn a_cut_file_is_truncated_wherever_it_is_cut() {
    let text = own("v17-linux7.2.13-2s2c2t-before.txt");
    let line = text.rfind("domain2").unwrap();
    for cut in [line + 30, line + 60] {
        let err = parse(&text[..cut]).unwrap_err();
        assert!(
            matches!(err, SchedstatError::Truncated { want: 45, .. }),
            "{err}"
        );
    }
    let no_end = parse(text.trim_end()).unwrap();
    assert!(no_end.warnings[0].contains("may be cut"));
}

#[test]
fn vendor_lines_are_kept_aside_with_one_warning_a_kind() {
    let text = own("v15-linux6.1.176-2s2c2t-before.txt");
    let mut vendor = String::new();
    for line in text.lines() {
        vendor.push_str(line);
        vendor.push('\n');
        if line.starts_with("cpu") || line.starts_with("domain") {
            vendor.push_str("eas 0 0 0 0 0 0\n");
        }
    }
    let stat = parse(&vendor).unwrap();
    assert_eq!(stat.cpus, parse(&text).unwrap().cpus);
    assert_eq!(stat.unknown["eas"].len(), 32);
    assert_eq!(stat.warnings.len(), 1);
}

#[test]
fn sparse_wide_and_isolated_cpus() {
    let zeros = |n: usize| " 0".repeat(n);
    let wide = CpuSet::parse_list("1030,1791").unwrap();
    let mask = wide.to_mask(1792);
    let (cpu, domain) = (zeros(9), zeros(36));
    let text = format!(
        "version 15\ntimestamp 7\ncpu5{cpu}\ncpu1030{cpu}\ndomain0 {mask}{domain}\ncpu1791{cpu}\ndomain0 {mask}{domain}\n"
    );
    let stat = parse(&text).unwrap();
    assert_eq!(stat.cpu_set().to_string(), "5,1030,1791");
    assert!(stat.cpus[0].domains.is_empty());
    assert_eq!(*stat.cpus[2].domains[0].span, wide);
    let sums = sum_snapshot(&stat);
    assert_eq!((sums.cpus, sums.domains[0].cpus), (3, 2));
    let note = stat
        .check_online(&CpuSet::parse_list("5,6,1030,1791").unwrap())
        .unwrap();
    assert!(
        note.contains("schedstat has 3 CPUs") && note.contains("online are 4"),
        "{note}"
    );
    assert_eq!(stat.check_online(&stat.cpu_set()), None);
    let odd = text.replace("cpu1030", "cpu5");
    assert_eq!(parse(&odd), Err(SchedstatError::DuplicateCpu(5)));
}

#[test]
fn differences_of_real_runs() {
    for (version, stem) in STEMS {
        let (before, after) = pair(stem);
        let diff = subtract(&before, &after).unwrap();
        assert_eq!(diff.elapsed_jiffies, after.timestamp - before.timestamp);
        assert!(diff.warnings.is_empty(), "{version}: {:?}", diff.warnings);
        let sums = sum_diff(&diff);
        let by_hand: u64 = after
            .cpus
            .iter()
            .zip(&before.cpus)
            .map(|(a, b)| {
                let get =
                    |c: &schedstat::CpuCounters| c.get(before.layout, CpuField::Pcount).unwrap();
                get(a) - get(b)
            })
            .sum();
        assert_eq!(sums.cpu(CpuField::Pcount), Some(by_hand));
        assert_eq!(sums.domains.len(), 3);
        assert!(sums.domains.iter().all(|d| d.cpus == 8));
        assert!(cpu_derived(&sums).iter().all(|d| d.value.is_some()));
    }
}

#[test]
fn golden_show_and_diff() {
    let (before, after) = pair("v17-linux7.2.13-2s2c2t");
    golden("v17.show.golden", &show_text(&after));
    let diff = subtract(&before, &after).unwrap();
    golden("v17.diff.golden", &diff_text(&diff));
    let json = diff_json(&diff);
    assert_eq!(json["sums"]["domains"][0]["name"], "SMT");
    assert_eq!(json["cpus"].as_array().unwrap().len(), 8);
    let (_, v15) = pair("v15-linux6.1.176-2s2c2t");
    golden("v15.show.golden", &show_text(&v15));
}

#[test]
fn hotplug_and_rebuilt_domains_are_not_subtracted() {
    let (before, mut after) = pair("v17-linux7.2.13-2s2c2t");
    after.cpus.remove(3);
    after.cpus[0].domains.pop();
    let diff = subtract(&before, &after).unwrap();
    assert_eq!(diff.vanished.to_string(), "3");
    assert_eq!(diff.rebuilt.to_string(), "0");
    assert!(diff.cpus[0].domains.is_empty());
    assert_eq!(diff.cpus.len(), 7);
    assert_eq!(diff.warnings.len(), 2);
    let sums = sum_diff(&diff);
    assert_eq!((sums.cpus, sums.domains[0].cpus), (7, 6));
}

#[test]
fn a_counter_that_went_back_is_no_number() {
    let (before, mut after) = pair("v17-linux7.2.13-2s2c2t");
    let column = before
        .layout
        .domain_column(DomainField::Lb(IdleType::Idle, LbField::Count));
    after.cpus[1].domains[0].values[column.unwrap()] = 0;
    let diff = subtract(&before, &after).unwrap();
    let field = DomainField::Lb(IdleType::Idle, LbField::Count);
    assert_eq!(diff.cpus[1].domains[0].get(diff.layout, field), None);
    assert!(diff.warnings[0].contains("CPUs 1 have counters that went back"));
    assert_eq!(
        diff_json(&diff)["cpus"][1]["domains"][0]["counters"]["lb_count[idle]"],
        serde_json::Value::Null
    );
}

#[test]
fn other_versions_and_other_boots_are_refused() {
    let (_, v15) = pair("v15-linux6.1.176-2s2c2t");
    let (before, after) = pair("v17-linux7.2.13-2s2c2t");
    assert!(
        subtract(&v15, &after)
            .unwrap_err()
            .to_string()
            .contains("version 15 before, 17 after")
    );
    assert!(
        subtract(&after, &before)
            .unwrap_err()
            .to_string()
            .contains("another boot")
    );
    let mut wrapped = after.clone();
    wrapped.timestamp = 1000;
    let mut late = before.clone();
    late.timestamp = u64::from(u32::MAX) - 99;
    assert_eq!(subtract(&late, &wrapped).unwrap().elapsed_jiffies, 1100);
}

#[test]
fn versions_15_and_17_share_all_but_the_imbalances() {
    let fields = fields_of_equal_meaning(layout_of(15).unwrap(), layout_of(17).unwrap());
    assert_eq!(fields.shared.len(), 3 * 7 + 12);
    assert_eq!(fields.apart.len(), 3 + 12);
    assert!(
        fields
            .apart
            .iter()
            .all(|f| f.to_string().contains("imbalance"))
    );
    assert_eq!(fields.shared_cpu.len(), 9);
}

#[test]
fn kernels_of_two_versions_stand_side_by_side() {
    let (_, mut v15) = pair("v15-linux6.1.176-2s2c2t");
    let (_, v17) = pair("v17-linux7.2.13-2s2c2t");
    let nameless = compare_sums(&sum_snapshot(&v15), &sum_snapshot(&v17));
    assert!(nameless.apart.contains(&"domain domain0".to_owned()));
    assert!(nameless.apart.contains(&"domain SMT".to_owned()));
    v15.name_domains(|_, d| Some(["SMT", "MC", "NUMA"][d.level as usize].to_owned()));
    let both = compare_sums(&sum_snapshot(&v15), &sum_snapshot(&v17));
    assert_eq!(
        both.apart.len(),
        15,
        "the imbalances alone: {:?}",
        both.apart
    );
    let find = |counter: &str| both.counters.iter().find(|c| c.counter == counter).unwrap();
    assert_eq!(find("yld_count").change, "0 (unchanged)");
    let text = compare_text(&both);
    assert!(
        text.contains("not compared, in one of the two alone: lb_imbalance[idle]"),
        "{text}"
    );
}

#[test]
fn shared_fixtures_parse() {
    let Some(folder) = shared("schedstat") else {
        return;
    };
    let wide = std::fs::read_to_string(folder.join("v17-linux7.2.13-40cpu-after.txt")).unwrap();
    let wide = parse(&wide).unwrap();
    assert_eq!(wide.cpus.len(), 40);
    assert_eq!(*wide.cpus[0].domains[1].span, CpuSet::range(0, 19));
    for (version, kernel) in [(15, "6.1"), (16, "6.12"), (17, "7.2")] {
        let tree = folder.join("../throttle-tree").join(kernel);
        let read = |n| parse(&std::fs::read_to_string(tree.join(n)).unwrap()).unwrap();
        let diff = subtract(&read("schedstat.0"), &read("schedstat.1")).unwrap();
        assert_eq!(diff.layout.version, version);
        let sums = sum_diff(&diff);
        assert_eq!(sums.domains.len(), 3, "{kernel}");
        assert!(sums.cpu(CpuField::SchedCount).unwrap() > 0);
    }
    let node = folder.join("../fetched/schedstat/v15-node_exporter-fixture.txt");
    assert_eq!(
        parse(&std::fs::read_to_string(node).unwrap())
            .unwrap()
            .cpus
            .len(),
        2
    );
}

/// Counts stated with the fixture: two kernels, the same tree, under a clock of instructions.
#[test]
fn gains_of_newly_idle_balancing_match_the_notes_of_the_fixture() {
    let Some(folder) = shared("throttle-tree") else {
        return;
    };
    for (kernel, want) in [("6.12", [122, 144, 165]), ("7.2", [23, 20, 11])] {
        let read =
            |n| parse(&std::fs::read_to_string(folder.join(kernel).join(n)).unwrap()).unwrap();
        let sums = sum_diff(&subtract(&read("schedstat.0"), &read("schedstat.1")).unwrap());
        let field = DomainField::Lb(IdleType::NewlyIdle, LbField::Gained);
        let found: Vec<_> = sums
            .domains
            .iter()
            .map(|d| d.get(sums.layout, field))
            .collect();
        assert_eq!(found, want.map(Some), "{kernel}");
    }
}

proptest! {
    #[test]
    fn never_panics_on_broken_text(cut in 0_usize..2800, with in "[ 0-9a-z,\n]{0,8}") {
        let mut text = own("v17-linux7.2.13-2s2c2t-before.txt");
        text.insert_str(cut.min(text.len()), &with);
        if let Ok(stat) = parse(&text) {
            show_text(&stat);
        }
    }

    #[test]
    fn subtraction_undoes_addition(grown in proptest::collection::vec(0_u64..1 << 30, 45), base in proptest::collection::vec(0_u64..1 << 32, 45)) {
        let (mut before, _) = pair("v17-linux7.2.13-2s2c2t");
        before.cpus[0].domains[0].values = base.clone().into();
        let mut after = before.clone();
        let wrapped = base.iter().zip(&grown).map(|(b, g)| (b + g) & 0xffff_ffff);
        after.cpus[0].domains[0].values = wrapped.collect();
        let diff = subtract(&before, &after).unwrap();
        let want: Vec<_> = grown.into_iter().map(Some).collect();
        prop_assert_eq!(diff.cpus[0].domains[0].values.to_vec(), want);
    }
}
