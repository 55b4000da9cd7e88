//! Typed identities: a CPU number is not a step number.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! name_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);
        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(s: &str) -> Self {
                $name(s.to_owned())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

number_id!(
    /// The kernel's number of a CPU (hwloc's PU OS index). Never an index into an array.
    CpuId(u32)
);
number_id!(
    /// The kernel's number of a NUMA node.
    NodeId(u32)
);
number_id!(
    /// The place of a step in its plan, from 0.
    StepId(u32)
);
name_id!(
    /// A test machine, by the name it enrolled with.
    HostId
);
name_id!(
    /// One of the configurations compared: `base`, `head`.
    ArmId
);
name_id!(
    /// A workload at one point of the matrix: `hackbench/ipc=pipe,groups=4`.
    CellId
);
name_id!(
    /// One execution of a plan. Sortable by start time; never reused.
    RunId
);
