//! Barrier between threads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Spins of a waiting thread before it yields its processor: some ten microseconds.
const SPINS: u32 = 1 << 9;
/// Yields of a waiting thread before it sleeps: near a millisecond on an idle machine. Waking a thread takes tens of
/// microseconds, as much as the windows of loaded servers differ from each other.
const YIELDS: u32 = 1 << 10;

/// Barrier whose waiting threads first spin, then yield, and sleep only if the wait is long.
pub(crate) struct SpinBarrier {
    threads: usize,
    arrived: AtomicUsize,
    /// Number of completed rounds.
    over: AtomicU64,
    /// Number of sleeping threads.
    asleep: Mutex<usize>,
    wake: Condvar,
}

impl SpinBarrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            over: AtomicU64::new(0),
            asleep: Mutex::new(0),
            wake: Condvar::new(),
        }
    }

    /// Blocks until all threads have called it.
    pub(crate) fn wait(&self) {
        // Read before the arrival: the last thread to arrive may end the round at once.
        let meeting = self.over.load(Ordering::SeqCst);
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == self.threads {
            return self.end(meeting);
        }
        for _ in 0..SPINS {
            if self.over.load(Ordering::SeqCst) != meeting {
                return;
            }
            std::hint::spin_loop();
        }
        for _ in 0..YIELDS {
            if self.over.load(Ordering::SeqCst) != meeting {
                return;
            }
            std::thread::yield_now();
        }
        let mut asleep = lock(&self.asleep);
        *asleep += 1;
        // Checked in a loop, since a Condvar may wake a thread without a reason.
        while self.over.load(Ordering::SeqCst) == meeting {
            asleep = self.wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }

    fn end(&self, meeting: u64) {
        // Before the round ends, because released threads may arrive for the next round at once.
        self.arrived.store(0, Ordering::SeqCst);
        // Under the lock, so that no thread falls asleep between its last check and the store.
        let asleep = lock(&self.asleep);
        self.over.store(meeting + 1, Ordering::SeqCst);
        if *asleep > 0 {
            self.wake.notify_all();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock is no error: a panic of another thread is caught and propagated by `ParallelRun::run`.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        const ROUNDS: usize = 2000;
        for threads in [1, 2, 5] {
            let (meeting, count, early) = (SpinBarrier::new(threads), AtomicUsize::new(0), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (meeting, count, early) = (&meeting, &count, &early);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            // Now and then one thread arrives so late that the others sleep.
                            if round % 500 == 100 * thread {
                                std::thread::sleep(std::time::Duration::from_millis(1));
                            }
                            count.fetch_add(1, Ordering::SeqCst);
                            meeting.wait();
                            let all = count.load(Ordering::SeqCst) == threads * (round + 1);
                            early.fetch_add(usize::from(!all), Ordering::SeqCst);
                            meeting.wait();
                        }
                    });
                }
            });
            assert_eq!(early.into_inner(), 0, "{threads} threads");
        }
    }
}
