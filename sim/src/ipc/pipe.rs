//! Pipes: 16 buffers of a page, small writes share one (fs/pipe.c).

use std::collections::VecDeque;

use crate::table::TaskIx;

/// Buffers of a pipe.
const SLOTS: usize = 16;
/// Bytes of a buffer.
const PAGE: u32 = 4096;

#[derive(Clone, Copy, Debug)]
struct Buffer {
    filled: u32,
    left: u32,
}

/// A pipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe {
    buffers: VecDeque<Buffer>,
    /// Readers that wait, first first.
    pub readers: VecDeque<TaskIx>,
    /// Writers that wait, first first: one is woken at a time.
    pub writers: VecDeque<TaskIx>,
}

impl Pipe {
    pub(crate) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.buffers.len() == SLOTS
    }

    /// Whether a write of `bytes` would go through without blocking.
    pub(crate) fn has_room(&self, bytes: u32) -> bool {
        let mergeable = self
            .buffers
            .back()
            .is_some_and(|b| b.filled + bytes <= PAGE);
        let needed = bytes.div_ceil(PAGE) as usize;
        mergeable || self.buffers.len() + needed.min(SLOTS) <= SLOTS
    }

    /// Writes; there has to be room.
    pub(crate) fn write(&mut self, bytes: u32) {
        if let Some(last) = self.buffers.back_mut()
            && last.filled + bytes <= PAGE
        {
            last.filled += bytes;
            last.left += bytes;
            return;
        }
        let mut rest = bytes.min(SLOTS as u32 * PAGE);
        while rest > 0 {
            let part = rest.min(PAGE);
            self.buffers.push_back(Buffer {
                filled: part,
                left: part,
            });
            rest -= part;
        }
    }

    /// Reads up to `bytes`. Whether a buffer became free.
    pub(crate) fn read(&mut self, bytes: u32) -> bool {
        let mut rest = bytes;
        let mut freed = false;
        while rest > 0
            && let Some(first) = self.buffers.front_mut()
        {
            let part = rest.min(first.left);
            first.left -= part;
            rest -= part;
            if first.left == 0 {
                self.buffers.pop_front();
                freed = true;
            }
        }
        freed
    }

    /// Whether a read of `bytes` would free a buffer.
    pub(crate) fn read_frees(&self, bytes: u32) -> bool {
        self.buffers.front().is_some_and(|b| b.left <= bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_holds_forty_messages_of_100_bytes_a_page_in_16_pages() {
        let mut pipe = Pipe::default();
        let mut written = 0;
        while pipe.has_room(100) {
            pipe.write(100);
            written += 1;
        }
        assert_eq!(written, 640);
        let freed = (0..40).filter(|_| pipe.read(100)).count();
        assert_eq!(freed, 1);
        assert!(pipe.has_room(100) && !pipe.is_full());
    }
}
