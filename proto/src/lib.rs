//! The wire: schedrig.v1 and its conversions to and from the model.
//!
//! Field numbers live in `proto/proto` and nowhere else. `src/gen` is made by `cargo xtask gen`.

pub mod convert;
pub mod version;

/// Generated from `proto/proto/schedrig/v1/link.proto`.
#[expect(missing_docs, clippy::allow_attributes, reason = "generated code")]
pub mod v1 {
    include!("gen/schedrig.v1.rs");
}

/// Flow-control window of a stream and of a connection, in bytes. With the default windows one
/// stream carries 95 MB/s over loopback, with 4 MiB 380 MB/s under mTLS (design/dependencies.md).
pub const WINDOW_BYTES: u32 = 4 << 20;

/// The largest message either side takes, in bytes. A repetition's record is bounded by the agent's
/// capture limits well below this.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
