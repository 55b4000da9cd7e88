//! What a sender and a receiver do: plain reads and writes, nothing between them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use crate::builtin::errno::CallError;

/// The byte that says "ready", and the one that says "go".
const TOKEN: &[u8] = b"*";

/// How messages are exchanged in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Receivers, and senders, of the group.
    pub(super) fds: usize,
    /// Messages from each sender to each receiver.
    pub(super) loops: u64,
    /// Bytes of a message.
    pub(super) size: usize,
}

/// The start line: a task writes into `ready` and waits until `go` becomes readable. Nobody reads
/// the byte in `go`, so one write starts everybody.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartLine<'a> {
    pub(super) ready: BorrowedFd<'a>,
    pub(super) go: BorrowedFd<'a>,
}

impl StartLine<'_> {
    /// Reports ready and waits for the start.
    pub(super) fn wait(&self) -> Result<(), CallError> {
        send_token(self.ready).map_err(|errno| CallError::new("CLIENT: ready write", errno))?;
        let mut fds = [PollFd::new(self.go, PollFlags::POLLIN)];
        loop {
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(1..) => return Ok(()),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(CallError::new("poll", errno)),
            }
        }
    }
}

/// Writes one token.
pub(super) fn send_token(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    loop {
        match write(fd, TOKEN) {
            Err(Errno::EINTR) | Ok(0) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
}

/// Sends every message of one sender: a message to each receiver in turn, `loops` times.
pub(super) fn send_all(exchange: &Exchange, to: &[OwnedFd]) -> Result<(), CallError> {
    let data = vec![b'-'; exchange.size];
    for _ in 0..exchange.loops {
        for fd in to {
            let mut sent = 0;
            while sent < data.len() {
                match write(fd.as_fd(), &data[sent..]) {
                    Ok(n) => sent += n,
                    Err(Errno::EINTR) => {}
                    Err(errno) => return Err(CallError::new("SENDER: write", errno)),
                }
            }
        }
    }
    Ok(())
}

/// Reads every message for one receiver.
pub(super) fn receive_all(exchange: &Exchange, from: &OwnedFd) -> Result<(), CallError> {
    let mut data = vec![0_u8; exchange.size];
    for _ in 0..exchange.loops.saturating_mul(exchange.fds as u64) {
        let mut received = 0;
        while received < data.len() {
            match read(from.as_fd(), &mut data[received..]) {
                // Every sender is gone and messages are missing.
                Ok(0) => return Err(CallError::new("SERVER: read", Errno::EPIPE)),
                Ok(n) => received += n,
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(CallError::new("SERVER: read", errno)),
            }
        }
    }
    Ok(())
}
