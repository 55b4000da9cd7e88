//! System errors in the words of the C library, as the tools print them.

use std::ffi::CStr;
use std::io;

use nix::errno::Errno;

/// What failed and why, printed like the tools do: `Creating fdpair (error: Too many open files)`.
#[derive(Debug, thiserror::Error)]
#[error("{what} (error: {text})", text = text(*.errno))]
pub(super) struct CallError {
    /// What was being done.
    pub(super) what: &'static str,
    /// Why it failed.
    pub(super) errno: Errno,
}

impl CallError {
    pub(super) fn new(what: &'static str, errno: Errno) -> Self {
        Self { what, errno }
    }

    /// An error of the standard library; without a system error it counts as `EIO`.
    pub(super) fn from_io(what: &'static str, err: &io::Error) -> Self {
        Self::new(what, err.raw_os_error().map_or(Errno::EIO, Errno::from_raw))
    }
}

/// The C library's text: `Too many open files`.
pub(super) fn text(errno: Errno) -> String {
    // SAFETY: strerror returns a pointer to a NUL-terminated string that stays valid until the next
    // call in this thread; it is copied before that. Known error numbers point to static text.
    unsafe { CStr::from_ptr(libc::strerror(errno as i32)) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_the_tools() {
        let err = CallError::new("Creating fdpair", Errno::EMFILE);
        assert_eq!(
            err.to_string(),
            "Creating fdpair (error: Too many open files)"
        );
        assert_eq!(text(Errno::EAGAIN), "Resource temporarily unavailable");
    }
}
