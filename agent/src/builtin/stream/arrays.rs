//! The part of the arrays one thread works on, and the four kernels.

use std::collections::TryReserveError;

/// The factor of Scale and Triad.
const SCALAR: f64 = 3.0;
/// What the arrays hold before the kernels run: `a` has been doubled once.
const START: [f64; 3] = [2.0, 2.0, 0.0];
/// The greatest mean relative error of 8-byte elements.
pub(super) const EPSILON: f64 = 1e-13;

/// A kernel of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Copy,
    Scale,
    Add,
    Triad,
}

/// In the order they run.
pub(super) const KERNELS: [Kernel; 4] = [Kernel::Copy, Kernel::Scale, Kernel::Add, Kernel::Triad];

impl Kernel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kernel::Copy => "Copy:",
            Kernel::Scale => "Scale:",
            Kernel::Add => "Add:",
            Kernel::Triad => "Triad:",
        }
    }

    /// Bytes one run moves, by the benchmark's count: what is read and what is written, without the
    /// reads a cache does before a write.
    pub(super) fn bytes(self, elements: usize) -> f64 {
        let arrays = match self {
            Kernel::Copy | Kernel::Scale => 2.0,
            Kernel::Add | Kernel::Triad => 3.0,
        };
        arrays * 8.0 * elements as f64
    }
}

/// One thread's part of a, b and c. A thread that owns its part and touches it first has it on its
/// own node, as with a static OpenMP schedule.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    elements: usize,
}

impl Arrays {
    /// Room for `elements`, touched by nobody.
    pub(super) fn reserve(elements: usize) -> Result<Self, TryReserveError> {
        let mut arrays = Self {
            elements,
            ..Self::default()
        };
        for array in [&mut arrays.a, &mut arrays.b, &mut arrays.c] {
            array.try_reserve_exact(elements)?;
        }
        Ok(arrays)
    }

    /// Writes the start values: the first touch.
    pub(super) fn touch(&mut self) {
        for (array, value) in [&mut self.a, &mut self.b, &mut self.c]
            .into_iter()
            .zip(START)
        {
            array.resize(self.elements, value);
        }
    }

    /// Runs a kernel once.
    pub(super) fn run(&mut self, kernel: Kernel) {
        let Self { a, b, c, .. } = self;
        match kernel {
            Kernel::Copy => c.copy_from_slice(a),
            Kernel::Scale => scale(b, c),
            Kernel::Add => add(c, a, b),
            Kernel::Triad => triad(a, b, c),
        }
    }

    /// Sums of the absolute differences from what a, b and c should hold after `ntimes` runs.
    pub(super) fn errors(&self, ntimes: usize) -> [f64; 3] {
        let expected = expected(ntimes);
        let sum = |array: &[f64], value: f64| array.iter().map(|x| (x - value).abs()).sum();
        [
            sum(&self.a, expected[0]),
            sum(&self.b, expected[1]),
            sum(&self.c, expected[2]),
        ]
    }
}

#[inline(never)]
fn scale(b: &mut [f64], c: &[f64]) {
    for (b, c) in b.iter_mut().zip(c) {
        *b = SCALAR * c;
    }
}

#[inline(never)]
fn add(c: &mut [f64], a: &[f64], b: &[f64]) {
    for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
        *c = a + b;
    }
}

#[inline(never)]
fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + SCALAR * c;
    }
}

/// What every element of a, b and c should be after so many runs of all kernels.
pub(super) fn expected(ntimes: usize) -> [f64; 3] {
    let [mut a, mut b, mut c] = START;
    for _ in 0..ntimes {
        c = a;
        b = SCALAR * c;
        c = a + b;
        a = b + SCALAR * c;
    }
    [a, b, c]
}

/// How many elements each of `threads` threads gets: as even as can be.
pub(super) fn parts(elements: usize, threads: usize) -> Vec<usize> {
    (0..threads)
        .map(|n| elements / threads + usize::from(n < elements % threads))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(ntimes: usize) -> Arrays {
        let mut arrays = Arrays::reserve(7).unwrap();
        arrays.touch();
        for _ in 0..ntimes {
            for kernel in KERNELS {
                arrays.run(kernel);
            }
        }
        arrays
    }

    #[test]
    fn kernels_leave_what_is_expected() {
        assert_eq!(expected(1), [30.0, 6.0, 8.0]);
        assert_eq!(ran(3).errors(3), [0.0; 3]);
    }

    #[test]
    fn a_wrong_element_shows() {
        let mut arrays = ran(2);
        arrays.b[3] += 1.0;
        assert_eq!(arrays.errors(2), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn parts_add_up() {
        assert_eq!(parts(10, 4), [3, 3, 2, 2]);
        assert_eq!(parts(2, 3), [1, 1, 0]);
    }

    #[test]
    fn bytes_are_what_the_benchmark_counts() {
        assert_eq!(Kernel::Copy.bytes(10), 160.0);
        assert_eq!(Kernel::Triad.bytes(10), 240.0);
    }
}
