//! What is true of every plan.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schedrig_model::plan::{Inventory, Machine, Overrides, Plan, StepAction, build};
use schedrig_model::playbook::parse;
use schedrig_model::topology::synthetic;

/// A matrix and how it is repeated.
#[derive(Clone, Debug)]
struct Shape {
    groups: Vec<u32>,
    fds: Vec<u32>,
    excluded: usize,
    arms: usize,
    min: u32,
    max: u32,
    warmup: u32,
    boots: u32,
    order: &'static str,
    seed: u64,
}

fn distinct(max: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::btree_set(1..40_u32, 1..=max).prop_map(|set| set.into_iter().collect())
}

fn shape() -> impl Strategy<Value = Shape> {
    let orders = prop::sample::select(&["interleaved", "random-blocks", "sequential"][..]);
    (
        (distinct(5), distinct(4), 0..3_usize, 1..4_usize),
        (1..6_u32, 0..4_u32, 0..3_u32, 1..3_u32, orders, any::<u64>()),
    )
        .prop_map(
            |((groups, fds, excluded, arms), (min, more, warmup, boots, order, seed))| Shape {
                groups,
                fds,
                excluded,
                arms,
                min: min.max(boots),
                max: min.max(boots) + more,
                warmup,
                boots,
                order,
                seed,
            },
        )
}

impl Shape {
    /// The top level keys and their text, in the order in which a document usually has them.
    fn parts(&self) -> Vec<String> {
        let list = |values: &[u32]| {
            let words: Vec<String> = values.iter().map(u32::to_string).collect();
            format!("[{}]", words.join(", "))
        };
        let exclude: Vec<String> = self
            .excluded_points()
            .iter()
            .map(|(g, f)| format!("{{groups: {g}, fds: {f}}}"))
            .collect();
        let arms: Vec<String> = (0..self.arms).map(|n| format!("arm{n}: {{}}")).collect();
        vec![
            "playbook: 1\n".into(),
            "title: t\n".into(),
            format!("arms: {{{}}}\n", arms.join(", ")),
            format!(
                "workloads:\n  h:\n    hackbench: {{}}\n    matrix:\n      product: {{groups: {}, fds: {}}}\n      exclude: [{}]\n",
                list(&self.groups),
                list(&self.fds),
                exclude.join(", ")
            ),
            format!(
                "repeat: {{min: {}, max: {}, warmup: {}, boots: {}, order: {}}}\n",
                self.min, self.max, self.warmup, self.boots, self.order
            ),
        ]
    }

    /// Points left out: never all of them.
    fn excluded_points(&self) -> Vec<(u32, u32)> {
        let all = self
            .groups
            .iter()
            .flat_map(|g| self.fds.iter().map(|f| (*g, *f)));
        all.skip(1).take(self.excluded).collect()
    }

    fn cells(&self) -> usize {
        self.groups.len() * self.fds.len() - self.excluded_points().len()
    }

    fn plan(&self, text: &str) -> Plan {
        let book = parse("p.yaml", text, &|_| Err(String::new()))
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let machine = Machine::described(
            "m",
            synthetic("pack:1 [numa] l3:2 core:4 pu:2").unwrap_or_else(|e| panic!("{e}")),
        );
        let overrides = Overrides {
            seed: self.seed,
            ..Overrides::default()
        };
        build(&book, &Inventory::of("sut", machine), &overrides)
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn equal_inputs_give_equal_bytes_in_whatever_order_keys_stand(shape in shape(), turn in 0..5_usize) {
        let mut parts = shape.parts();
        let plan = shape.plan(&parts.concat());
        prop_assert_eq!(plan.to_bytes(), shape.plan(&parts.concat()).to_bytes());
        parts.rotate_left(turn);
        let turned = shape.plan(&parts.concat());
        prop_assert_eq!(plan.hash(), turned.hash());
        prop_assert_eq!(plan.to_bytes(), turned.to_bytes());
        let read: Plan = serde_json::from_slice(&plan.to_bytes())
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(read, plan);
    }

    #[test]
    fn every_cell_and_arm_is_repeated_equally_often(shape in shape()) {
        let plan = shape.plan(&shape.parts().concat());
        prop_assert_eq!(plan.cells.len(), shape.cells());
        let mut counted: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
        for step in &plan.steps {
            if let StepAction::Run(run) = &step.action && !run.warmup {
                let key = (run.cell.to_string(), run.arm.to_string());
                counted.entry(key).or_default().push(run.repetition);
            }
        }
        prop_assert_eq!(counted.len(), shape.cells() * shape.arms);
        let wanted: Vec<u32> = (0..shape.max).collect();
        for (key, mut repetitions) in counted {
            repetitions.sort_unstable();
            prop_assert_eq!(&repetitions, &wanted, "{:?}", key);
        }
        let last = plan.steps.last().map(|s| &s.action);
        prop_assert!(matches!(last, Some(StepAction::Restore)), "{:?}", last);
    }

    #[test]
    fn no_arm_gets_ahead_of_another_by_more_than_one(shape in shape()) {
        prop_assume!(shape.order != "sequential");
        let plan = shape.plan(&shape.parts().concat());
        let mut done: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
        for step in &plan.steps {
            if let StepAction::Run(run) = &step.action && !run.warmup {
                let of_cell = done.entry(run.cell.to_string()).or_insert_with(|| {
                    plan.arms.iter().map(|arm| (arm.id.to_string(), 0)).collect()
                });
                *of_cell.entry(run.arm.to_string()).or_default() += 1;
                let (least, most) = (of_cell.values().min(), of_cell.values().max());
                prop_assert!(most.zip(least).is_some_and(|(m, l)| m - l <= 1), "{:?}", of_cell);
            }
        }
    }
}
