//! Rules as tests.
fn main() {}
