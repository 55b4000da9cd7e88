//! Building domains, reading machine files, and the bare event heap that model events are measured
//! against: all in one run, so that their ratio does not depend on the machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use schedrig_sim::kernel::Profile;
use schedrig_sim::machine::Machine;
use schedrig_sim::machine::domains::build_sched_domains;

/// Pending events of 384 CPUs and 8,000 tasks.
const PENDING: u64 = 8_500;
/// Events taken and put back in one measured round.
const ROUND: u64 = 10_000;

/// Delays as a busy scheduler has them: 60 % short, 25 % medium, 15 % ticks and slices.
struct Delays(u64);

impl Delays {
    fn next(&mut self) -> u64 {
        // A 64-bit LCG (Knuth, MMIX); its high bits are good enough for delays.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = self.0 >> 33;
        match bits % 100 {
            0..60 => 500 + bits % 19_500,
            60..85 => 20_000 + bits % 280_000,
            _ => 1_000_000 + bits % 3_000_000,
        }
    }
}

fn bare_heap(c: &mut Criterion) {
    let mut group = c.benchmark_group("queue");
    group.throughput(Throughput::Elements(ROUND));
    group.bench_function("bare pop and push at 8,500 pending", |b| {
        let mut delays = Delays(7);
        let mut heap: BinaryHeap<Reverse<(u64, u64)>> = (0..PENDING)
            .map(|sequence| Reverse((delays.next(), sequence)))
            .collect();
        let mut sequence = PENDING;
        b.iter(|| {
            for _ in 0..ROUND {
                if let Some(Reverse((at, _))) = heap.pop() {
                    sequence += 1;
                    heap.push(Reverse((at + delays.next(), sequence)));
                }
            }
            black_box(heap.len())
        });
    });
    group.finish();
}

fn domains(c: &mut Criterion) {
    let machine = Machine::shipped("genoa-2s").expect("a shipped machine can be built");
    let profile = Profile::shipped("v6.18").expect("a shipped kernel can be read");
    c.bench_function("domains of 384 CPUs", |b| {
        b.iter(|| black_box(build_sched_domains(&machine, &profile, None)));
    });
    c.bench_function("machine file of 384 CPUs", |b| {
        b.iter(|| black_box(Machine::shipped("genoa-2s")));
    });
}

criterion_group!(benches, bare_heap, domains);
criterion_main!(benches);
