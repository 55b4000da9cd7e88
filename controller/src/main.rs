//! schedrig.
fn main() {}
