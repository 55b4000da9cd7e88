//! Model values as versioned documents.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::v1;

/// Version of every document on the wire: that of the stored record, whose parts they are.
const MAJOR: u32 = schedrig_model::record::RECORD_FORMAT.major as u32;
const MINOR: u32 = schedrig_model::record::RECORD_FORMAT.minor as u32;

/// A message that is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// A part is not there.
    #[error("the message lacks `{0}`")]
    Missing(&'static str),
    /// A document of another kind.
    #[error("expected a document `{expected}`, got `{found}`")]
    Kind {
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A document of a newer shape.
    #[error(
        "document `{kind}` is of version {major}, this build reads up to {MAJOR}: upgrade schedrig"
    )]
    Newer {
        /// Its kind.
        kind: &'static str,
        /// Its version.
        major: u32,
    },
    /// A document that cannot be read.
    #[error("document `{kind}` is malformed")]
    Malformed {
        /// Its kind.
        kind: &'static str,
        /// Where and why.
        #[source]
        source: serde_json::Error,
    },
}

/// `value` as a document. Serialising a model value cannot fail: no map has keys that are not text.
pub fn to_document<T: Serialize>(
    kind: &'static str,
    value: &T,
) -> Result<v1::Document, ConvertError> {
    let json =
        serde_json::to_vec(value).map_err(|source| ConvertError::Malformed { kind, source })?;
    Ok(v1::Document {
        kind: kind.to_owned(),
        major: MAJOR,
        minor: MINOR,
        json: json.into(),
    })
}

/// The value of a document.
///
/// # Errors
/// It is missing, of another kind, of a newer version, or not of the value's shape.
pub fn from_document<T: DeserializeOwned>(
    kind: &'static str,
    document: Option<&v1::Document>,
) -> Result<T, ConvertError> {
    let document = document.ok_or(ConvertError::Missing(kind))?;
    if document.kind != kind {
        return Err(ConvertError::Kind {
            expected: kind,
            found: document.kind.clone(),
        });
    }
    if document.major > MAJOR {
        return Err(ConvertError::Newer {
            kind,
            major: document.major,
        });
    }
    serde_json::from_slice(&document.json)
        .map_err(|source| ConvertError::Malformed { kind, source })
}
