//! Published results as data, and how predictions fare against them. The format is described in
//! docs/reference-format.md.

mod score;
mod types;

pub use score::{
    CountPrediction, Prediction, Score, ScoredCount, ScoredRow, ScoredShare, SharePrediction,
    Summary, score,
};
pub use types::{
    Better, CountRow, IdleType, Noise, REFERENCE_FORMAT, Reference, ReferenceError, Row, ShareRow,
};

#[cfg(test)]
mod tests;
