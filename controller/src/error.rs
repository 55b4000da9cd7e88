//! Errors for a person: the one place that writes a chain of causes, and the code each ends with.

use crate::exit::Exit;

/// An error with all its causes, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

/// What a command could not do, in words that are ready for a person, and the code it ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// May have several lines: diagnostics of a playbook show its source.
    pub text: String,
    /// See [`Exit`].
    pub exit: Exit,
}

impl CommandError {
    /// The user asked for something that cannot be.
    pub fn usage(text: impl Into<String>) -> Self {
        CommandError {
            text: text.into(),
            exit: Exit::Usage,
        }
    }

    /// The world did not play along.
    pub fn failed(error: &dyn std::error::Error) -> Self {
        CommandError {
            text: chain(error),
            exit: Exit::Failed,
        }
    }

    /// As [`CommandError::failed`], for texts.
    pub fn failed_text(text: impl Into<String>) -> Self {
        CommandError {
            text: text.into(),
            exit: Exit::Failed,
        }
    }
}
