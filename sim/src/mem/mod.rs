//! Memory: refill of caches after a move, bandwidth of a node, contended lines.

mod refill;

pub(crate) use refill::Memory;
