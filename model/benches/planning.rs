//! Planning 100,000 steps (bound: 1 s) and reading a playbook of 1,000 lines (bound: 20 ms), beside
//! what the YAML and JSON libraries take for the same text.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use schedrig_model::plan::{Inventory, Machine, Overrides, build};
use schedrig_model::playbook::{Playbook, parse};
use schedrig_model::topology::synthetic;

/// A thousand lines: entries of five lines each.
fn long_text() -> String {
    let mut out = String::from("playbook: 1\ntitle: a thousand lines\nworkloads:\n");
    for n in 0..199 {
        let _ = write!(
            out,
            "  entry-{n}:\n    hackbench: {{mode: process, ipc: pipe, groups: {}, loops: 1000}}\n    \
             in: each llc\n    describe: the {n}th of many\n    matrix: {{product: {{fds: [1, 2, 20]}}}}\n",
            n % 16 + 1
        );
    }
    out.push_str("repeat: {min: 3, max: 5}\non_failure: continue\n");
    out
}

fn read(text: &str) -> Playbook {
    parse("bench.yaml", text, &|path| Err(format!("no file {path}"))).expect("a playbook")
}

fn planning(c: &mut Criterion) {
    let text = long_text();
    assert_eq!(text.lines().count(), 1000);
    c.bench_function("playbook/read 1,000 lines", |b| {
        b.iter(|| read(black_box(&text)));
    });
    c.bench_function(
        "playbook/baseline: serde-saphyr to JSON values, same text",
        |b| {
            b.iter(|| serde_saphyr::from_str::<serde_json::Value>(black_box(&text)).expect("YAML"));
        },
    );
    // 50 x 100 cells of 2 arms, 10 repetitions each: 100,000 repetitions.
    let wide = "playbook: 1\ntitle: wide\narms:\n  a: {affinity: one cpu}\n  b: {affinity: all cpus}\n\
        workloads:\n  h:\n    hackbench: {loops: 10}\n    matrix: {product: {groups: {from: 1, to: 50}, \
        fds: {from: 1, to: 100}}}\nrepeat: {min: 10, warmup: 0}\n";
    let book = read(wide);
    let machine = Machine::described(
        "m",
        synthetic("pack:2 [numa] l3:12 core:8 pu:2").expect("a description"),
    );
    let inventory = Inventory::of("sut", machine);
    let make = || build(&book, &inventory, &Overrides::default()).expect("a plan");
    let plan = make();
    assert!(plan.steps.len() >= 100_000, "{}", plan.steps.len());
    let mut group = c.benchmark_group("plan");
    group.sample_size(10);
    group.bench_function("make 100,000 repetitions", |b| b.iter(|| black_box(make())));
    group.bench_function("write them as canonical JSON", |b| {
        b.iter(|| plan.to_bytes())
    });
    let bytes = plan.to_bytes();
    group.bench_function("baseline: serde_json to values, same bytes", |b| {
        b.iter(|| serde_json::from_slice::<serde_json::Value>(black_box(&bytes)).expect("JSON"));
    });
    group.finish();
}

criterion_group!(benches, planning);
criterion_main!(benches);
