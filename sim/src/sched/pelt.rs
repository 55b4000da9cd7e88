//! Per-entity load tracking: sums of the past in windows of 1024 us that halve every 32 windows.

use crate::time::Ns;

/// Windows after which a sum has halved.
const HALF_LIFE: u64 = 32;
/// The largest sum there is: 1024 us times the sum of y^n over all n, as the kernel rounds it.
pub(crate) const LOAD_AVG_MAX: u64 = 47_742;
/// A window in the unit of the sums (1024 ns).
const WINDOW: u64 = 1024;

/// y^n as 32-bit fractions for n in 0..32, where y^32 = 1/2.
const Y_INVERSE: [u32; HALF_LIFE as usize] = y_inverse();

/// The table of y^n from the definition: the 32nd root of 1/2 by bisection on 64-bit fractions,
/// then products. The kernel prints the same table.
const fn y_inverse() -> [u32; HALF_LIFE as usize] {
    let (mut low, mut high) = (1_u64 << 63, u64::MAX);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if pow32(middle) < 1 << 63 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut table = [0; HALF_LIFE as usize];
    // The kernel scales by 2^32 - 1.
    let mut power = (u32::MAX as u128) << 32;
    let mut n = 0;
    while n < HALF_LIFE as usize {
        table[n] = (power >> 32) as u32;
        power = (power * high as u128) >> 64;
        n += 1;
    }
    table
}

/// x^32 of a 64-bit fraction.
const fn pow32(x: u64) -> u64 {
    let mut power = x as u128;
    let mut n = 0;
    while n < 5 {
        power = (power * power) >> 64;
        n += 1;
    }
    power as u64
}

/// `value` after `windows` windows.
#[inline]
pub(crate) fn decay_load(value: u64, windows: u64) -> u64 {
    if windows > HALF_LIFE * 63 {
        return 0;
    }
    let halved = value >> (windows / HALF_LIFE);
    let fraction = Y_INVERSE[(windows % HALF_LIFE) as usize];
    ((u128::from(halved) * u128::from(fraction)) >> 32) as u64
}

/// What is averaged over time: load (weight x runnable), runnable (1024 x runnable tasks),
/// utilisation (1024 x running).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedAvg {
    pub(crate) last_update: Ns,
    pub(crate) period_contrib: u64,
    pub(crate) load_sum: u64,
    pub(crate) runnable_sum: u64,
    pub(crate) util_sum: u64,
    /// Load average, in units of unscaled weight.
    pub load_avg: u64,
    /// Average of runnable tasks, times 1024.
    pub runnable_avg: u64,
    /// Utilisation, 1024 is one CPU.
    pub util_avg: u64,
}

/// What held since the last update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Weight for a queue; 1 or 0 for an entity, whose average is multiplied by its weight.
    pub load: u64,
    /// Runnable tasks.
    pub runnable: u64,
    /// Whether it ran.
    pub running: bool,
}

impl SchedAvg {
    /// A new entity: `load` as if it had always been runnable.
    pub(crate) fn new(now: Ns, load: u64) -> Self {
        SchedAvg {
            last_update: now >> 10 << 10,
            load_avg: load,
            load_sum: LOAD_AVG_MAX,
            ..SchedAvg::default()
        }
    }

    /// What the averages are divided by.
    #[inline]
    pub(crate) fn divider(&self) -> u64 {
        LOAD_AVG_MAX - WINDOW + self.period_contrib
    }

    /// When it was last brought up to date.
    pub(crate) fn last_update(&self) -> Ns {
        self.last_update
    }

    /// A migrated entity continues on the clock of its new queue.
    pub(crate) fn set_last_update(&mut self, now: Ns) {
        self.last_update = now >> 10 << 10;
    }

    /// Copies the position inside the window, so that sums of an entity and its queue add up.
    pub(crate) fn align(&mut self, queue: &SchedAvg) {
        self.last_update = queue.last_update;
        self.period_contrib = queue.period_contrib;
    }

    /// Accounts the time since the last update. Whether a window ended, so that averages changed.
    pub(crate) fn update_sum(&mut self, now: Ns, held: Held) -> bool {
        let Some(elapsed) = now.checked_sub(self.last_update) else {
            return false;
        };
        let units = elapsed >> 10;
        if units == 0 {
            return false;
        }
        self.last_update += units << 10;
        self.accumulate_sum(units, held)
    }

    fn accumulate_sum(&mut self, units: u64, held: Held) -> bool {
        let total = units + self.period_contrib;
        let windows = total / WINDOW;
        let mut contribution = units;
        if windows > 0 {
            self.load_sum = decay_load(self.load_sum, windows);
            self.runnable_sum = decay_load(self.runnable_sum, windows);
            self.util_sum = decay_load(self.util_sum, windows);
            contribution = segments(windows, WINDOW - self.period_contrib, total % WINDOW);
        }
        self.period_contrib = total % WINDOW;
        self.load_sum += held.load * contribution;
        self.runnable_sum += (held.runnable * contribution) << 10;
        if held.running {
            self.util_sum += contribution << 10;
        }
        windows > 0
    }

    /// Computes the averages from the sums.
    #[inline]
    pub(crate) fn update_avg(&mut self, weight: u64) {
        let divider = self.divider();
        self.load_avg = weight * self.load_sum / divider;
        self.runnable_avg = self.runnable_sum / divider;
        self.util_avg = self.util_sum / divider;
    }

    /// Takes another's share out.
    pub(crate) fn sub(&mut self, other: &SchedAvg, weight: u64) {
        self.load_avg = self.load_avg.saturating_sub(other.load_avg);
        self.load_sum = self.load_sum.saturating_sub(weight * other.load_sum);
        self.runnable_avg = self.runnable_avg.saturating_sub(other.runnable_avg);
        self.runnable_sum = self.runnable_sum.saturating_sub(other.runnable_sum);
        self.util_avg = self.util_avg.saturating_sub(other.util_avg);
        self.util_sum = self.util_sum.saturating_sub(other.util_sum);
    }

    /// Adds another's share.
    pub(crate) fn add(&mut self, other: &SchedAvg, weight: u64) {
        self.load_avg += other.load_avg;
        self.load_sum += weight * other.load_sum;
        self.runnable_avg += other.runnable_avg;
        self.runnable_sum += other.runnable_sum;
        self.util_avg += other.util_avg;
        self.util_sum += other.util_sum;
    }
}

/// Contribution of a stretch that ends `windows` window ends ago: the rest of the first window,
/// whole windows, the begun one.
fn segments(windows: u64, first: u64, last: u64) -> u64 {
    let first = decay_load(first, windows);
    let whole = LOAD_AVG_MAX - decay_load(LOAD_AVG_MAX, windows) - WINDOW;
    first + whole + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_kernels() {
        // The first, second and last entries of runnable_avg_yN_inv in kernel/sched/sched-pelt.h.
        assert_eq!(Y_INVERSE[0], 0xffff_ffff);
        assert_eq!(Y_INVERSE[1], 0xfa83_b2da);
        assert_eq!(Y_INVERSE[31], 0x82cd_8698);
        assert_eq!(decay_load(1 << 20, 32), (1 << 19) - 1);
    }

    #[test]
    fn averages_follow_the_formula() {
        // Running for n windows from nothing: util = 1024 (1 - y^n).
        for windows in [1_u64, 8, 32, 100, 345] {
            let mut avg = SchedAvg::default();
            let held = Held {
                load: 1,
                runnable: 1,
                running: true,
            };
            avg.update_sum(windows << 20, held);
            avg.update_avg(1024);
            let expected = 1024.0 * (1.0 - 0.5_f64.powf(windows as f64 / 32.0));
            let got = avg.util_avg as f64;
            assert!((got - expected).abs() < 12.0, "{windows}: {got} {expected}");
            assert!(avg.load_avg.abs_diff(avg.util_avg) <= 1);
        }
    }

    #[test]
    fn many_small_updates_equal_one_large_one() {
        let held = Held {
            load: 3,
            runnable: 2,
            running: true,
        };
        let mut once = SchedAvg::default();
        once.update_sum(50_000_000, held);
        let mut often = SchedAvg::default();
        for at in (0..=50_000_000).step_by(70_000).chain([50_000_000]) {
            often.update_sum(at, held);
        }
        once.update_avg(1);
        often.update_avg(1);
        assert!(
            once.util_avg.abs_diff(often.util_avg) <= 4,
            "{once:?} {often:?}"
        );
        assert_eq!(once.period_contrib, often.period_contrib);
    }
}
