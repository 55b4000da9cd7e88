//! The agents that are connected, and what goes to and fro.

mod registry;
mod service;

pub use registry::{Fleet, FleetEvent, HostView, Lease, LeaseError};
pub use service::{Admission, HEARTBEAT, LinkService};
