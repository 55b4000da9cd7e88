//! A snapshot of a big machine: 384 CPUs of 4 domains each. The bound is 2 ms.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use schedrig_model::procfmt::schedstat::{parse, subtract, sum_diff};
use schedrig_model::{CpuId, CpuSet};

const CPUS: u32 = 384;

/// Version 17 text: SMT pairs, LLCs of 16, nodes of 96, the machine.
fn text(grown: u64) -> String {
    let mut out = format!("version 17\ntimestamp {}\n", 4_294_900_000 + grown);
    for cpu in 0..CPUS {
        let _ = writeln!(
            out,
            "cpu{cpu} 0 0 446123 53211 237441 164219 {} 2040398929 82911",
            3_430_812_136 + grown
        );
        let half = cpu % (CPUS / 2);
        let smt: CpuSet = [CpuId(half), CpuId(half + CPUS / 2)].into_iter().collect();
        let block =
            |width: u32| CpuSet::range(cpu / width * width, cpu / width * width + width - 1);
        for (level, (name, span)) in [
            ("SMT", smt),
            ("MC", block(16)),
            ("NODE", block(96)),
            ("NUMA", block(CPUS)),
        ]
        .into_iter()
        .enumerate()
        {
            let _ = write!(out, "domain{level} {name} {}", span.to_mask(CPUS));
            for column in 0..45_u64 {
                let _ = write!(out, " {}", column * 977 % 100_003 + grown);
            }
            out.push('\n');
        }
    }
    out
}

fn snapshot(c: &mut Criterion) {
    let (before, after) = (text(0), text(1000));
    c.bench_function("schedstat/parse 384 CPUs x 4 domains", |b| {
        b.iter(|| parse(black_box(&after)).expect("well-formed text"));
    });
    let (before, after) = (parse(&before).expect("text"), parse(&after).expect("text"));
    c.bench_function("schedstat/subtract and sum 384 CPUs x 4 domains", |b| {
        b.iter(|| sum_diff(&subtract(black_box(&before), &after).expect("one boot")));
    });
}

criterion_group!(benches, snapshot);
criterion_main!(benches);
