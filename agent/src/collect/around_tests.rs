use std::os::unix::fs::PermissionsExt;

use super::*;

/// A stand-in for perf: counts from `enable` until SIGINT, then writes the file after `-o`; `report`
/// prints a profile.
const PERF: &str = r#"#!/bin/sh
if [ "$1" = report ]; then printf ' 4.14%%|hackbench|[kernel.kallsyms]|[k] update_load_avg\n'; exit 0; fi
while [ $# -gt 1 ]; do
  [ "$1" = -o ] && out=$2
  [ "$1" = --control ] && pipes=${2#fifo:}
  shift
done
trap 'printf "1.67,msec,task-clock,1669011,100.00,0.710,CPUs utilized\n" > "$out"; exit 0' INT
read -r word < "${pipes%,*}"
[ "$word" = enable ] && echo ack > "${pipes#*,}"
while :; do sleep 0.01; done
"#;

struct Scene {
    _dir: tempfile::TempDir,
    place: ToolPlace,
}

fn scene(programs: &[(&str, &str)]) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let base = Utf8PathBuf::from_path_buf(dir.path().to_path_buf()).unwrap();
    let bin = base.join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, text) in programs {
        std::fs::write(bin.join(name), text).unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let place = ToolPlace {
        dir: base,
        search_path: format!("{bin}:/usr/bin:/bin"),
        marker: "test/around".into(),
    };
    Scene { _dir: dir, place }
}

/// Only the stand-ins: what this machine has does not matter.
fn alone(mut scene: Scene) -> Scene {
    scene.place.search_path = format!("{}/bin", scene.place.dir);
    scene
}

#[tokio::test]
async fn a_tool_counts_until_the_end_and_its_text_is_kept() {
    let scene = scene(&[("perf", PERF)]);
    let wanted = [
        Collector::Stat,
        Collector::PerfStat,
        Collector::PerfProfile,
        Collector::PerfStat,
    ];
    let tools = AroundTools::start(&wanted, &scene.place).await;
    assert_eq!(tools.pids().len(), 2, "{tools:?}");
    let texts = tools.end(&scene.place, 7).await;
    assert_eq!(texts.gaps, Vec::<String>::new());
    let by = |c| texts.snapshots.iter().find(|s| s.collector == c).unwrap();
    let stat = by(Collector::PerfStat);
    assert!(stat.text.contains("task-clock"), "{stat:?}");
    assert_eq!((stat.edge, stat.at_ns), (SnapshotEdge::End, 7));
    assert!(stat.source.starts_with("perf stat -a -x,"));
    let profile = by(Collector::PerfProfile);
    assert!(profile.text.contains("update_load_avg"), "{profile:?}");
}

#[tokio::test]
async fn an_absent_or_refused_tool_is_a_named_gap() {
    let refused = "#!/bin/sh\necho 'Error:' >&2\necho 'Access to performance monitoring is limited.' >&2\nexit 255\n";
    let scene = scene(&[("perf", refused)]);
    let scene = alone(scene);
    let wanted = [Collector::PerfStat, Collector::Turbostat];
    let texts = AroundTools::start(&wanted, &scene.place)
        .await
        .end(&scene.place, 0)
        .await;
    assert!(texts.snapshots.is_empty());
    assert!(
        texts.gaps[0].contains("Access to performance monitoring is limited"),
        "{:?}",
        texts.gaps
    );
    assert!(
        texts.gaps[1].starts_with("turbostat: no `turbostat` in PATH"),
        "{:?}",
        texts.gaps
    );
}

/// Case B7: a locale changes what tools print, so none reaches them.
#[tokio::test]
async fn b7_tools_see_no_locale_of_ours() {
    let env = "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --out ] && out=$2; shift; done\n/usr/bin/env > \"$out.env\"\nmv \"$out.env\" \"$out\"\nexec sleep 60\n";
    let scene = scene(&[("turbostat", env)]);
    let tools = AroundTools::start(&[Collector::Turbostat], &scene.place).await;
    let texts = tools.end(&scene.place, 0).await;
    let text = &texts.snapshots[0].text;
    assert!(
        text.contains("LC_ALL=C\n") && text.contains("TZ=UTC\n"),
        "{text}"
    );
    assert!(!text.contains("LANG="), "{text}");
    assert!(text.contains("SCHEDRIG_STEP=test/around"), "{text}");
}

#[test]
fn a_cut_text_ends_with_a_whole_line() {
    let line = "12345678\n";
    let long = line.repeat(TEXT_MAX as usize / line.len() + 1);
    let long: String = long.chars().take(TEXT_MAX as usize).collect();
    assert!(whole_lines(long).ends_with(line));
    assert_eq!(whole_lines("short".into()), "short");
}
