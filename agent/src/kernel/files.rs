//! The few things the agent does to files of the kernel. One trait, so that a test can stand in for the
//! machine and stop it after any operation.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Something that takes effect while it is kept.
pub type Held = Box<dyn Send>;

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Without its folder.
    pub name: String,
    /// Whether it is a folder itself.
    pub folder: bool,
}

/// Files of a machine. Paths are relative to the root of its file system and have no leading slash.
pub trait HostFiles {
    /// The whole text of a file.
    ///
    /// # Errors
    /// What the kernel says.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Writes a file that exists, in one call.
    ///
    /// # Errors
    /// What the kernel says.
    fn write(&self, path: &str, text: &str) -> io::Result<()>;

    /// The names in a folder.
    ///
    /// # Errors
    /// What the kernel says.
    fn list(&self, folder: &str) -> io::Result<Vec<Entry>>;

    /// Whether a path exists.
    fn exists(&self, path: &str) -> bool;

    /// Makes one folder.
    ///
    /// # Errors
    /// What the kernel says.
    fn make_folder(&self, path: &str) -> io::Result<()>;

    /// Removes one folder: in cgroupfs its files go with it.
    ///
    /// # Errors
    /// What the kernel says.
    fn remove_folder(&self, path: &str) -> io::Result<()>;

    /// Appends to a file, making it and its folders where needed, and returns when the text is on disk.
    ///
    /// # Errors
    /// What the kernel says.
    fn append_durably(&self, path: &str, text: &str) -> io::Result<()>;

    /// Removes a file, and returns when that is on disk.
    ///
    /// # Errors
    /// What the kernel says.
    fn remove_file(&self, path: &str) -> io::Result<()>;

    /// Opens a file, writes to it and keeps it open.
    ///
    /// # Errors
    /// What the kernel says.
    fn hold_open(&self, path: &str, bytes: &[u8]) -> io::Result<Held>;

    /// Opens a folder.
    ///
    /// # Errors
    /// What the kernel says.
    fn open_folder(&self, path: &str) -> io::Result<OwnedFd>;

    /// Returns as soon as the text of a file satisfies `done`, or `at_most` has passed; whether it did.
    ///
    /// # Errors
    /// The file cannot be read.
    fn wait_until(
        &self,
        path: &str,
        at_most: Duration,
        done: &dyn Fn(&str) -> bool,
    ) -> io::Result<bool>;

    /// The records of the kernel's log (`dev/kmsg`) that are there now, without waiting for more.
    ///
    /// # Errors
    /// Not permitted, or no such device.
    fn read_log(&self) -> io::Result<String>;

    /// Lets this much time pass: for states that the kernel announces in no file.
    fn pause(&self, time: Duration);
}

/// The error number of an error, where it has one; 5 (EIO) where not.
pub fn errno_of(err: &io::Error) -> i32 {
    err.raw_os_error().unwrap_or(libc::EIO)
}
