//! State machines of a run: `step(Input) -> Vec<Effect>`, no IO.
