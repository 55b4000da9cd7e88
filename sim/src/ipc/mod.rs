//! What tasks talk through: pipes, sockets, futexes.

mod futex;
mod pipe;
mod socket;

pub(crate) use futex::Futex;
pub(crate) use pipe::Pipe;
pub(crate) use socket::Sock;

use crate::table::{FutexIx, PipeIx, SockIx, Table};

/// Everything tasks talk through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ipc {
    pub pipes: Table<PipeIx, Pipe>,
    pub socks: Table<SockIx, Sock>,
    pub futexes: Table<FutexIx, Futex>,
}
