//! What drives offer, if the host takes it.

use crate::offered::{offers, Offer};
use hostnet_model::params::ServerParams;

const LINE_BYTES: f64 = 64.0;

/// Drives that are alike, under the jobs of one workload. Each serves one command at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drives {
    /// How many.
    pub(super) count: f64,
    /// Share of its lines that it writes to memory (storage reads); it reads the others (storage writes).
    pub(super) share: f64,
    /// Lines per ns while it writes to memory.
    pub(super) writing: f64,
    /// Lines per ns while it reads from memory.
    pub(super) reading: f64,
    /// Lines per ns that the commands in flight allow.
    pub(super) depth: f64,
}

impl Drives {
    /// Lines per ns of both directions of one of them when the host takes `write` and gives `read` at most.
    #[must_use]
    pub(super) fn rate(&self, write: f64, read: f64) -> f64 {
        let phase = |share: f64, own: f64, host: f64| if share > 0.0 { share / least(own, host) } else { 0.0 };
        let moving = 1.0 / (phase(self.share, self.writing, write) + phase(1.0 - self.share, self.reading, read));
        least(moving, self.depth)
    }

    /// Lines per ns that one offers to a host that takes everything.
    pub(super) fn offered(&self) -> f64 {
        self.rate(f64::MAX, f64::MAX)
    }
}

/// The lesser of two rates, rounded where they meet: the eighth root of one over the sum of their inverse eighth
/// powers.
pub(super) fn least(first: f64, second: f64) -> f64 {
    let ratio = first / second;
    let squared = ratio * ratio;
    let fourth = squared * squared;
    first / (1.0 + fourth * fourth).sqrt().sqrt().sqrt()
}

/// The drives of storage workload `class`, with what they offer as far as drive, link, rate cap and queue depth allow.
pub(super) fn drives(server: &ServerParams, class: usize) -> Vec<Drives> {
    let mut found: Vec<Drives> = Vec::new();
    for Offer { reads, reading, writing, queue } in offers(server, class) {
        let [writing, reading, depth] = [reading, writing, queue].map(|bytes| bytes / LINE_BYTES);
        let alike =
            |known: &&mut Drives| *known == &Drives { count: known.count, share: reads, writing, reading, depth };
        match found.iter_mut().find(alike) {
            Some(known) => known.count += 1.0,
            None => found.push(Drives { count: 1.0, share: reads, writing, reading, depth }),
        }
    }
    found
}
