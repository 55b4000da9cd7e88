use camino::Utf8PathBuf;

use schedrig_model::StepId;
use schedrig_model::plan::{Judge, Order, Plan, Repeat, Restore};
use schedrig_model::record::{Backend, RecordFormat, RepetitionState};

use super::*;

fn plan() -> Plan {
    Plan {
        format: 1,
        title: "a title".into(),
        seed: 1,
        hosts: Vec::new(),
        arms: Vec::new(),
        cells: Vec::new(),
        prepare: Vec::new(),
        cgroups: None,
        repeat: Repeat {
            min: 1,
            max: 1,
            until_ci: None,
            boots: 1,
            order: Order::Interleaved,
            warmup: 0,
        },
        collect: Vec::new(),
        judge: Judge {
            assume: "nothing".into(),
            alpha: 0.05,
            min_effect: 0.01,
            correct: "holm".into(),
        },
        simulate_seeds: 0,
        notes: Vec::new(),
        continue_on_failure: true,
        restore: Restore::Always,
        steps: Vec::new(),
    }
}

fn head(id: &str, started_at: &str) -> RunRecord {
    RunRecord {
        format: RECORD_FORMAT,
        id: id.into(),
        started_at: started_at.into(),
        finished_at: None,
        state: RunState::Running,
        backend: Backend::Measured,
        plan: plan(),
        playbook: "playbook: 1\n".into(),
        hosts: Default::default(),
        granted: Default::default(),
        notes: Vec::new(),
        repetitions: Vec::new(),
    }
}

fn repetition(step: u32) -> RepetitionRecord {
    RepetitionRecord {
        step: StepId(step),
        host: "h".into(),
        cell: "c".into(),
        arm: "a".into(),
        repetition: 0,
        warmup: false,
        boot: 0,
        attempt: 0,
        started_at: String::new(),
        elapsed_ns: 5,
        state: RepetitionState::Valid,
        metrics: Vec::new(),
        spread: Default::default(),
        instances: Vec::new(),
        snapshots: Vec::new(),
        taints: Vec::new(),
        gaps: Vec::new(),
    }
}

fn store() -> (tempfile::TempDir, Utf8PathBuf, SqliteStore) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().join("deep/runs.sqlite")).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    (dir, path, store)
}

#[test]
fn a_run_comes_back_as_it_was_written() {
    let (_dir, path, store) = store();
    store.create(&head("r1", "2026-01-01T00:00:00Z")).unwrap();
    store.append(&"r1".into(), &repetition(3)).unwrap();
    store.add_note(&"r1".into(), "a note").unwrap();
    drop(store);
    let record = SqliteStore::open(&path)
        .unwrap()
        .load(&"r1".into())
        .unwrap();
    let want = RunRecord {
        repetitions: vec![repetition(3)],
        notes: vec!["a note".into()],
        ..head("r1", "2026-01-01T00:00:00Z")
    };
    assert_eq!(record, want);
}

#[test]
fn a_repetition_that_comes_twice_is_kept_once() {
    let (_dir, _path, store) = store();
    store.create(&head("r1", "2026-01-01T00:00:00Z")).unwrap();
    for _ in 0..2 {
        store.append(&"r1".into(), &repetition(3)).unwrap();
    }
    assert_eq!(store.list().unwrap()[0].repetitions, 1);
}

#[test]
fn runs_are_found_by_a_part_of_their_name_and_never_by_guess() {
    let (_dir, _path, store) = store();
    store
        .create(&head("2026-a", "2026-01-01T00:00:00Z"))
        .unwrap();
    store
        .create(&head("2026-b", "2026-01-02T00:00:00Z"))
        .unwrap();
    assert_eq!(store.find("latest").unwrap(), "2026-b".into());
    assert_eq!(store.find("2026-a").unwrap(), "2026-a".into());
    assert!(matches!(
        store.find("2026"),
        Err(StoreError::Ambiguous { count: 2, .. })
    ));
    assert!(matches!(store.find("x"), Err(StoreError::NoSuchRun(_))));
}

#[test]
fn a_run_is_never_overwritten() {
    let (_dir, _path, store) = store();
    store.create(&head("r1", "2026-01-01T00:00:00Z")).unwrap();
    assert!(store.create(&head("r1", "2027-01-01T00:00:00Z")).is_err());
}

#[test]
fn a_newer_record_and_a_newer_store_are_refused_with_advice() {
    let (_dir, path, store) = store();
    let format = RecordFormat { major: 9, minor: 0 };
    store
        .create(&RunRecord {
            format,
            ..head("r1", "2026-01-01T00:00:00Z")
        })
        .unwrap();
    let error = store.load(&"r1".into()).unwrap_err().to_string();
    assert!(
        error.contains("record format 9.0") && error.contains("upgrade"),
        "{error}"
    );
    store
        .connection()
        .pragma_update(None, "user_version", 9)
        .unwrap();
    drop(store);
    assert!(matches!(
        SqliteStore::open(&path),
        Err(StoreError::Newer { found: 9, .. })
    ));
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().join("notes.txt")).unwrap();
    let text = "not a database, but long enough to be mistaken for one at a glance\n".repeat(20);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(
        SqliteStore::open(&path),
        Err(StoreError::Open { .. })
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
