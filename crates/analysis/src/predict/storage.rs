//! The load that drives offer to the host.

use crate::offered::{drive_offers, DriveOffer};
use hostnet_model::params::ServerParams;

const LINE_BYTES: f64 = 64.0;

/// A group of identical drives under the jobs of one workload. Each drive serves one command at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drives {
    /// Number of drives.
    pub(super) count: f64,
    /// Share of a drive's lines that it writes to memory (storage reads), 0 to 1; it reads the others (storage
    /// writes).
    pub(super) share: f64,
    /// Rate of a drive while it writes to memory, in lines per ns.
    pub(super) writing: f64,
    /// Rate of a drive while it reads from memory, in lines per ns.
    pub(super) reading: f64,
    /// Rate that the commands in flight allow, in lines per ns.
    pub(super) depth: f64,
}

impl Drives {
    /// Rate of one drive in both directions together, in lines per ns, if the host accepts `write` and supplies
    /// `read` at most.
    #[must_use]
    pub(super) fn rate(&self, write: f64, read: f64) -> f64 {
        // The drive reads and writes one after the other: times per line add up, each at the slower of drive and host.
        let phase = |share: f64, own: f64, host: f64| if share > 0.0 { share / least(own, host) } else { 0.0 };
        let moving = 1.0 / (phase(self.share, self.writing, write) + phase(1.0 - self.share, self.reading, read));
        least(moving, self.depth)
    }

    /// Rate that one drive offers to a host that accepts everything, in lines per ns.
    pub(super) fn offered(&self) -> f64 {
        self.rate(f64::MAX, f64::MAX)
    }
}

/// Smooth minimum of two rates: the eighth root of 1 over the sum of their inverse eighth powers.
pub(super) fn least(first: f64, second: f64) -> f64 {
    // Products and square roots instead of powf: this is evaluated in every step of the search.
    let ratio = first / second;
    let squared = ratio * ratio;
    let fourth = squared * squared;
    first / (1.0 + fourth * fourth).sqrt().sqrt().sqrt()
}

/// Returns the drives of storage workload `class` with the load that drive, link, rate cap and queue depth allow.
pub(super) fn drives(server: &ServerParams, class: usize) -> Vec<Drives> {
    let mut found: Vec<Drives> = Vec::new();
    for DriveOffer { reads, reading, writing, queue } in drive_offers(server, class) {
        let [writing, reading, depth] = [reading, writing, queue].map(|bytes| bytes / LINE_BYTES);
        // Identical drives are solved once, which keeps predictions of large servers cheap.
        let alike =
            |known: &&mut Drives| *known == &Drives { count: known.count, share: reads, writing, reading, depth };
        match found.iter_mut().find(alike) {
            Some(known) => known.count += 1.0,
            None => found.push(Drives { count: 1.0, share: reads, writing, reading, depth }),
        }
    }
    found
}
