//! Chance, from one seed: a stream for each purpose, so that one more draw in one place shifts
//! nothing in another.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of `seed` for the purpose `label`.
    pub(crate) fn fork(seed: u64, label: &str) -> Self {
        // FNV-1a of the label, mixed with the seed: streams of different purposes do not overlap
        // in any way that a simulation could notice.
        let label = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let state = u128::from(mix(seed)) << 64 | u128::from(mix(seed ^ label));
        Stream(Pcg64Mcg::new(state))
    }

    /// A number below `bound`; 0 where `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: the bias is below bound / 2^64.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// `value` with a uniform deviation of up to `permille` parts of a thousand either way.
    pub(crate) fn jitter(&mut self, value: u64, permille: u64) -> u64 {
        let reach = value * permille / 1000;
        if reach == 0 {
            return value;
        }
        value - reach + self.below(2 * reach + 1)
    }
}

/// The finaliser of splitmix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_for_a_seed_and_differ_by_label() {
        let draw = |seed, label| {
            let mut stream = Stream::fork(seed, label);
            [0; 4].map(|_| stream.below(1 << 32))
        };
        assert_eq!(draw(7, "tick"), draw(7, "tick"));
        assert_ne!(draw(7, "tick"), draw(7, "fork"));
        assert_ne!(draw(7, "tick"), draw(8, "tick"));
    }

    #[test]
    fn jitter_stays_within_its_reach() {
        let mut stream = Stream::fork(1, "jitter");
        assert!((0..1000).all(|_| (950..=1050).contains(&stream.jitter(1000, 50))));
        assert_eq!(stream.jitter(10, 50), 10);
    }
}
