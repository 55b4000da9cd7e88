//! The two ends a message travels between.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe;

use crate::builtin::errno::CallError;

use super::args::Transport;

const WHAT: &str = "Creating fdpair";

/// Both ends of one transport.
#[derive(Debug)]
pub(super) struct FdPair {
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
}

impl FdPair {
    /// A fresh pair.
    pub(super) fn new(transport: Transport) -> Result<Self, CallError> {
        let (read, write) = match transport {
            Transport::Pipe => pipe().map_err(refused)?,
            Transport::SocketPair => socketpair(
                AddressFamily::Unix,
                SockType::Stream,
                None,
                SockFlag::empty(),
            )
            .map_err(refused)?,
            Transport::Inet => inet_pair().map_err(|err| CallError::from_io(WHAT, &err))?,
        };
        Ok(Self { read, write })
    }
}

fn refused(errno: Errno) -> CallError {
    CallError::new(WHAT, errno)
}

/// A TCP connection of this process with itself; the listener is gone before the first message.
fn inet_pair() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let write = TcpStream::connect(listener.local_addr()?)?;
    let (read, _) = listener.accept()?;
    Ok((read.into(), write.into()))
}
