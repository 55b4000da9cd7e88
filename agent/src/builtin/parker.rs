//! A futex word one thread blocks on and others wake it through.

use std::sync::atomic::{AtomicU32, Ordering};

/// Nobody has posted since the last wait.
const EMPTY: u32 = 0;
/// Somebody has posted.
const POSTED: u32 = 1;

/// Blocks one thread until another posts. A post before the wait is not lost; several posts before
/// one wait count once.
#[derive(Debug, Default)]
pub(super) struct Parker {
    word: AtomicU32,
}

impl Parker {
    /// Wakes the waiting thread, or lets its next wait return at once.
    pub(super) fn post(&self) {
        if self.word.swap(POSTED, Ordering::Release) == EMPTY {
            wake(&self.word, 1);
        }
    }

    /// Blocks until somebody posts.
    pub(super) fn wait(&self) {
        while self.word.swap(EMPTY, Ordering::Acquire) != POSTED {
            wait_while(&self.word, EMPTY);
        }
    }
}

/// FUTEX_WAIT: returns when woken, when the word differs, or for no reason.
pub(super) fn wait_while(word: &AtomicU32, value: u32) {
    // SAFETY: the word lives through the call; no timeout is passed. Errors (EAGAIN, EINTR) mean that
    // the caller must look at the word again, which it does.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// FUTEX_WAKE: how many of at most `most` waiting threads were woken.
pub(super) fn wake(word: &AtomicU32, most: i32) -> i64 {
    // SAFETY: the word lives through the call; the kernel only uses its address.
    let woken = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            most,
        )
    };
    woken.max(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_post_before_the_wait_is_not_lost() {
        let parker = Parker::default();
        parker.post();
        parker.post();
        parker.wait();
    }

    #[test]
    fn threads_hand_a_turn_back_and_forth() {
        let (a, b) = (Arc::new(Parker::default()), Arc::new(Parker::default()));
        let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
        let peer = std::thread::spawn(move || {
            for _ in 0..1000 {
                a2.wait();
                b2.post();
            }
        });
        for _ in 0..1000 {
            a.post();
            b.wait();
        }
        peer.join().unwrap();
    }
}
