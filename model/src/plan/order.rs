//! In which order arms take turns.

use rand_core::Rng;
use rand_pcg::Pcg32;

use super::types::Order;

/// One stream of random numbers a purpose, so that a new cell does not shift the order of others.
pub(super) fn stream(seed: u64, purpose: &str) -> Pcg32 {
    // FNV-1a: a label as a number, the same on every machine.
    let label = purpose.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    Pcg32::new(seed, label)
}

/// The repetitions `from..to` of `arms` arms as (repetition, arm), in order.
pub(super) fn turns(
    order: Order,
    arms: usize,
    from: u32,
    to: u32,
    rng: &mut Pcg32,
) -> Vec<(u32, usize)> {
    let mut turns = Vec::new();
    match order {
        Order::Sequential => {
            for arm in 0..arms {
                turns.extend((from..to).map(|rep| (rep, arm)));
            }
        }
        Order::Interleaved => {
            for rep in from..to {
                let forth = rep % 2 == 0;
                turns.extend((0..arms).map(|i| (rep, if forth { i } else { arms - 1 - i })));
            }
        }
        Order::RandomBlocks => {
            for rep in from..to {
                turns.extend(shuffled(arms, rng).into_iter().map(|arm| (rep, arm)));
            }
        }
    }
    turns
}

/// The arms in random order.
fn shuffled(arms: usize, rng: &mut Pcg32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arms).collect();
    for i in (1..arms).rev() {
        // A product of 32-bit numbers: the bias is below 2^-26 for fewer than 64 arms.
        let bound = u64::try_from(i + 1).unwrap_or(1);
        let j = usize::try_from((u64::from(rng.next_u32()) * bound) >> 32).unwrap_or(0);
        order.swap(i, j);
    }
    order
}

/// The repetitions of each boot: as even as can be, earlier boots take the rest.
pub(super) fn blocks(repetitions: u32, boots: u32) -> Vec<(u32, u32)> {
    let boots = boots.max(1);
    let (each, rest) = (repetitions / boots, repetitions % boots);
    let mut from = 0;
    (0..boots)
        .map(|boot| {
            let to = from + each + u32::from(boot < rest);
            let block = (from, to);
            from = to;
            block
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arms_of(turns: &[(u32, usize)]) -> String {
        turns
            .iter()
            .map(|(_, arm)| char::from(b'A' + u8::try_from(*arm).unwrap()))
            .collect()
    }

    #[test]
    fn two_arms_interleave_abba() {
        let turns = turns(Order::Interleaved, 2, 0, 4, &mut stream(1, "x"));
        assert_eq!(arms_of(&turns), "ABBAABBA");
    }

    #[test]
    fn sequential_runs_arm_after_arm() {
        assert_eq!(
            arms_of(&turns(Order::Sequential, 2, 0, 3, &mut stream(1, "x"))),
            "AAABBB"
        );
    }

    #[test]
    fn random_blocks_hold_every_arm_once_and_follow_the_seed() {
        let draw = |seed| turns(Order::RandomBlocks, 4, 0, 50, &mut stream(seed, "cell"));
        let first = draw(7);
        for block in first.chunks(4) {
            let mut arms: Vec<usize> = block.iter().map(|(_, arm)| *arm).collect();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2, 3]);
        }
        assert_eq!(first, draw(7));
        assert_ne!(first, draw(8));
    }

    #[test]
    fn repetitions_are_spread_over_boots() {
        assert_eq!(blocks(10, 3), [(0, 4), (4, 7), (7, 10)]);
        assert_eq!(blocks(5, 1), [(0, 5)]);
    }
}
