//! One direction of a stream between two sockets: what the sender may have under way, who waits.

use std::collections::VecDeque;

use crate::table::TaskIx;

/// `net.core.wmem_default`.
const SNDBUF: u64 = 212_992;

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sock {
    /// Messages under way.
    pub queued: VecDeque<u32>,
    wmem: u64,
    /// Receivers that wait.
    pub receivers: VecDeque<TaskIx>,
    /// Senders that wait: all are woken.
    pub senders: Vec<TaskIx>,
}

/// Memory a message is charged for: its header and the power of two its data and shared info fill.
fn truesize(bytes: u32) -> u64 {
    256 + (u64::from(bytes) + 320).next_power_of_two()
}

impl Sock {
    pub(crate) fn has_room(&self) -> bool {
        self.wmem < SNDBUF
    }

    pub(crate) fn send(&mut self, bytes: u32) {
        self.wmem += truesize(bytes);
        self.queued.push_back(bytes);
    }

    /// Takes a message out. Whether senders may be woken: three quarters are free again.
    pub(crate) fn receive(&mut self) -> bool {
        if let Some(bytes) = self.queued.pop_front() {
            self.wmem -= truesize(bytes);
        }
        self.writable()
    }

    fn writable(&self) -> bool {
        self.wmem * 4 <= SNDBUF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_takes_278_small_messages_and_wakes_senders_at_a_quarter() {
        let mut sock = Sock::default();
        let mut sent = 0;
        while sock.has_room() {
            sock.send(100);
            sent += 1;
        }
        assert_eq!(sent, 278);
        let received = (1..=sent).find(|_| sock.receive()).unwrap();
        assert_eq!(received, 278 - 69);
    }
}
