//! Which versions of the wire this build speaks.

/// The oldest wire version that this build understands.
pub const WIRE_MIN: u32 = 1;
/// The newest. Changelog:
/// - 1: first.
pub const WIRE_MAX: u32 = 1;

/// Two sides that have no version in common.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the agent speaks wire versions {theirs_min} to {theirs_max}, this controller {WIRE_MIN} to {WIRE_MAX}: upgrade the older side"
)]
pub struct NoCommonVersion {
    /// What the other side understands at least.
    pub theirs_min: u32,
    /// And at most.
    pub theirs_max: u32,
}

/// The newest version both sides speak.
///
/// # Errors
/// There is none.
pub fn negotiate(theirs_min: u32, theirs_max: u32) -> Result<u32, NoCommonVersion> {
    let common = theirs_max.min(WIRE_MAX);
    if common < theirs_min.max(WIRE_MIN) {
        return Err(NoCommonVersion {
            theirs_min,
            theirs_max,
        });
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_agent_is_met_halfway_and_a_stranger_is_refused() {
        assert_eq!(negotiate(1, 9), Ok(1));
        assert!(negotiate(2, 9).is_err());
        assert!(negotiate(0, 0).is_err());
    }
}
