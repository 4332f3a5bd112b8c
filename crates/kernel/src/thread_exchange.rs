//! Threads of one process in the role of processes, for tests, and to measure the cost of sharing a simulation without
//! a network.

use crate::Exchange;
use std::sync::mpsc::{channel, Receiver, Sender};

/// Connection of one of several threads that stand for processes.
#[derive(Debug)]
pub struct ThreadExchange {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl ThreadExchange {
    /// Creates the connections of `ranks` threads.
    #[must_use]
    pub fn all(ranks: usize) -> Vec<Self> {
        let mut boxes: Vec<Self> = (0..ranks).map(|rank| Self { rank, to: Vec::new(), from: Vec::new() }).collect();
        for from in 0..ranks {
            for to in 0..ranks {
                let (sender, receiver) = channel();
                boxes[from].to.push(sender);
                boxes[to].from.push(receiver);
            }
        }
        boxes
    }
}

impl Exchange for ThreadExchange {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    /// # Panics
    /// Panics if another thread has ended.
    fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for (to, message) in self.to.iter().zip(messages) {
            to.send(message).expect("the other thread is there");
        }
        // Received by rank and not as messages come in, so that the order does not depend on the threads.
        self.from.iter().map(|from| from.recv().expect("the other thread is there")).collect()
    }
}
