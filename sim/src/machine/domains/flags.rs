//! Flags of scheduling domains (`include/linux/sched/sd_flags.h`).

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of domain flags.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SdFlags(u32);

/// Names in the kernel's order of printing.
const NAMES: [(SdFlags, &str); 11] = [
    (SdFlags::BALANCE_NEWIDLE, "SD_BALANCE_NEWIDLE"),
    (SdFlags::BALANCE_EXEC, "SD_BALANCE_EXEC"),
    (SdFlags::BALANCE_FORK, "SD_BALANCE_FORK"),
    (SdFlags::WAKE_AFFINE, "SD_WAKE_AFFINE"),
    (SdFlags::SHARE_CPUCAPACITY, "SD_SHARE_CPUCAPACITY"),
    (SdFlags::CLUSTER, "SD_CLUSTER"),
    (SdFlags::SHARE_LLC, "SD_SHARE_LLC"),
    (SdFlags::SERIALIZE, "SD_SERIALIZE"),
    (SdFlags::PREFER_SIBLING, "SD_PREFER_SIBLING"),
    (SdFlags::OVERLAP, "SD_OVERLAP"),
    (SdFlags::NUMA, "SD_NUMA"),
];

impl SdFlags {
    /// No flag.
    pub const NONE: Self = SdFlags(0);
    /// Balance when a CPU is about to go idle.
    pub const BALANCE_NEWIDLE: Self = SdFlags(1);
    /// Balance on exec.
    pub const BALANCE_EXEC: Self = SdFlags(1 << 1);
    /// Balance on fork.
    pub const BALANCE_FORK: Self = SdFlags(1 << 2);
    /// A wakee may be drawn to its waker's CPU.
    pub const WAKE_AFFINE: Self = SdFlags(1 << 3);
    /// The CPUs are threads of a core.
    pub const SHARE_CPUCAPACITY: Self = SdFlags(1 << 4);
    /// The CPUs share an L2 (or L3 tag) below the LLC.
    pub const CLUSTER: Self = SdFlags(1 << 5);
    /// The CPUs share the last-level cache (`SD_SHARE_PKG_RESOURCES` before 6.10).
    pub const SHARE_LLC: Self = SdFlags(1 << 6);
    /// One balancer at a time on the whole machine.
    pub const SERIALIZE: Self = SdFlags(1 << 7);
    /// Prefer to spread tasks over the sibling domains.
    pub const PREFER_SIBLING: Self = SdFlags(1 << 8);
    /// Groups may overlap.
    pub const OVERLAP: Self = SdFlags(1 << 9);
    /// Crosses NUMA nodes.
    pub const NUMA: Self = SdFlags(1 << 10);

    /// Flags that mean nothing in a domain of a single group (`SDF_NEEDS_GROUPS`).
    pub const NEEDS_GROUPS: Self = SdFlags(0x7ff & !Self::WAKE_AFFINE.0);

    /// Whether all of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    #[inline]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        SdFlags(self.0 & !other.0)
    }

    /// The kernel's names, in its order of printing.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        (NAMES.iter())
            .filter(move |(flag, _)| self.any(*flag))
            .map(|(_, name)| *name)
    }

    /// Reads the kernel's names, older ones included; `None` where one is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        let mut flags = Self::NONE;
        for word in text.split_ascii_whitespace() {
            let word = match word {
                "SD_SHARE_PKG_RESOURCES" => "SD_SHARE_LLC",
                "SD_SHARE_CPUPOWER" => "SD_SHARE_CPUCAPACITY",
                other => other,
            };
            flags |= NAMES.iter().find(|(_, name)| *name == word)?.0;
        }
        Some(flags)
    }
}

impl BitOr for SdFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        SdFlags(self.0 | other.0)
    }
}

impl BitAnd for SdFlags {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        SdFlags(self.0 & other.0)
    }
}

impl BitOrAssign for SdFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for SdFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let flags = SdFlags::BALANCE_NEWIDLE | SdFlags::SHARE_LLC | SdFlags::NUMA;
        assert_eq!(SdFlags::parse(&format!("{flags:?}")), Some(flags));
        assert_eq!(
            SdFlags::parse("SD_SHARE_PKG_RESOURCES"),
            Some(SdFlags::SHARE_LLC)
        );
        assert_eq!(SdFlags::parse("SD_NO_SUCH"), None);
        assert!(!SdFlags::NEEDS_GROUPS.any(SdFlags::WAKE_AFFINE));
    }
}
