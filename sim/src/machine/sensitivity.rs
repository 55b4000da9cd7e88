//! Machines with one number changed: what `--sensitivity` runs.

use super::tree::Machine;
use crate::sourced::Kind;

impl Machine {
    /// Names of the costs that are assumed, in the order of the file. Shape, distances and cache
    /// sizes are not among them: a changed shape is another machine.
    pub fn assumed_costs(&self) -> impl Iterator<Item = &str> {
        (self.numbers.iter())
            .filter(|(path, q)| q.kind == Kind::Assumed && path.starts_with("costs."))
            .map(|(path, _)| path.as_str())
    }

    /// This machine with the cost of that dotted name times `permille` / 1000; `None` where there is
    /// no such cost.
    pub fn with_scaled(&self, name: &str, permille: u64) -> Option<Self> {
        let mut found = false;
        let costs = self.costs.map(&mut |path, &value| {
            if path != name {
                return value;
            }
            found = true;
            let scaled = u128::from(value) * u128::from(permille) / 1000;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        });
        found.then(|| Machine {
            costs,
            ..self.clone()
        })
    }
}
