//! Output of a program, bounded: head and tail are kept.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of a stream's head, and as much of its tail, is kept, in bytes. The longest result seen
/// is unixbench's report with 30 KiB; a flood (tbench without its server) is cut in the middle.
pub const CAPTURE_BYTES: usize = 256 << 10;

/// What was kept of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The text; where bytes were dropped it says so in a line of its own.
    pub text: String,
    /// Whether bytes were dropped.
    pub truncated: bool,
}

/// Reads a stream to its end.
pub async fn keep<R: AsyncRead + Unpin>(mut stream: R, limit: usize) -> Kept {
    let mut buffer = Buffer::new(limit);
    let mut chunk = vec![0; 16 << 10];
    // A stream that breaks ends here: what it gave so far is what there is.
    while let Ok(n @ 1..) = stream.read(&mut chunk).await {
        buffer.push(&chunk[..n]);
    }
    buffer.finish()
}

struct Buffer {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Buffer {
    fn new(limit: usize) -> Self {
        Buffer {
            limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            dropped: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let excess = self.tail.len().saturating_sub(self.limit);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    fn finish(self) -> Kept {
        let tail: Vec<u8> = self.tail.into();
        if self.dropped == 0 {
            let mut all = self.head;
            all.extend(tail);
            return Kept {
                text: String::from_utf8_lossy(&all).into_owned(),
                truncated: false,
            };
        }
        let text = format!(
            "{}\n[truncated {} bytes]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&tail)
        );
        Kept {
            text,
            truncated: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[tokio::test]
    async fn a_flood_keeps_head_and_tail() {
        let flood = "a".repeat(10) + &"b".repeat(100) + &"c".repeat(10);
        let kept = keep(flood.as_bytes(), 10).await;
        assert!(kept.truncated);
        assert_eq!(
            kept.text,
            format!(
                "{}\n[truncated 100 bytes]\n{}",
                "a".repeat(10),
                "c".repeat(10)
            )
        );
    }

    proptest! {
        #[test]
        fn what_fits_is_kept_whole(text in "[ -~\n]{0,40}", cut in 1_usize..8) {
            let mut buffer = Buffer::new(20);
            text.as_bytes().chunks(cut).for_each(|c| buffer.push(c));
            let kept = buffer.finish();
            prop_assert_eq!(kept.truncated, text.len() > 40);
            prop_assert_eq!(kept.text, text);
        }
    }
}
