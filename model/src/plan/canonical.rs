//! A plan as bytes: equal plans have equal bytes, and a hash to call them by.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::types::Plan;

impl Plan {
    /// The plan as JSON in one line: fields in the order of their definition, maps by key.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A plan holds no maps with keys other than text and no infinite numbers: the playbook
        // reader refuses both.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// SHA-256 of [`Plan::to_bytes`], hexadecimal.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.to_bytes());
        digest
            .iter()
            .fold(String::with_capacity(64), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
    }
}
