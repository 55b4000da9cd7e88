//! schedrig-agent.
fn main() {}
