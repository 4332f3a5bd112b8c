//! `algorithm = "auto"`: the algorithm with the shortest time by the closed forms of a collective, with the latencies
//! and rates of the network between its ranks.

mod network;
mod switches;
mod times;

use super::chunks::algorithm_name;
use super::kind_name;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{CableEnd, CableParams, JobKindSpec, JobSpec, Size};
pub(super) use network::{MessageCosts, RankNetwork};
use std::collections::{BTreeMap, BTreeSet};
pub(super) use times::Estimate;
use times::Exchange;

/// Checks that closed forms know the network: each host has one cable.
pub(super) fn check_ports(path: &str, placed: &[usize], cables: &[CableParams]) -> Result<(), Issue> {
    let mut cabled = BTreeSet::new();
    let ends = cables.iter().flat_map(|cable| cable.ends);
    let hosts = ends.filter_map(|end| if let CableEnd::Host(host) = end { Some(usize::from(host)) } else { None });
    for host in hosts {
        if !cabled.insert(host) && placed.contains(&host) {
            let message = "\"auto\" knows hosts with one port only; name an algorithm, such as \"halving-doubling\"";
            return Err(Issue::new(Code::NotSupported, format!("{path}.algorithm"), message));
        }
    }
    Ok(())
}

/// Maximum number of notes about choices of a job.
const NOTES_MAX: usize = 8;

/// Choices of algorithms for the collectives of a job.
#[derive(Clone, Debug)]
pub(super) struct AutoChoice {
    network: RankNetwork,
    /// Maximum bytes of a chunk; 0 if the user gives none.
    chunk_bytes: u64,
    /// Ranks of a group of a "2d-ring"; 1 if there are no groups.
    size: u32,
    /// True if a rank can have several messages in flight.
    posts: bool,
    /// Estimates of each collective in ascending order, by its kind, its ranks and their bytes.
    known: BTreeMap<(String, Vec<u32>, u64), Vec<Estimate>>,
}

impl AutoChoice {
    /// Creates the choices of a job. `posts` is true if a rank can have several messages in flight.
    pub(super) fn new(network: RankNetwork, spec: &JobSpec, posts: bool) -> Self {
        let chunk_bytes = spec.chunk.map_or(0, |Size(bytes)| bytes);
        Self { network, chunk_bytes, size: spec.group.unwrap_or(1), posts, known: BTreeMap::new() }
    }

    /// Returns the best algorithm for a collective of some ranks.
    pub(super) fn choose(&mut self, kind: JobKindSpec, ranks: &[u32], bytes: u64) -> Estimate {
        let Self { network, chunk_bytes, size, posts, known } = self;
        let found = known.entry((kind_name(kind), ranks.to_vec(), bytes)).or_insert_with(|| {
            let exchange = Exchange { network, ranks, bytes, chunk_bytes: *chunk_bytes, size: *size, posts: *posts };
            let mut estimates = exchange.estimates(kind);
            estimates.sort_by(|one, other| one.ps.total_cmp(&other.ps));
            estimates
        });
        found[0]
    }

    /// Returns notes about the choices, with the estimated times.
    pub(super) fn notes(&self, path: &str) -> Vec<String> {
        let note = |((kind, ranks, bytes), estimates): (&(String, Vec<u32>, u64), &Vec<Estimate>)| {
            let mut told: Vec<&Estimate> = Vec::new();
            for estimate in estimates {
                if told.iter().all(|other| other.algorithm != estimate.algorithm) {
                    told.push(estimate);
                }
            }
            let size = format(*bytes, Dimension::Size);
            let all: Vec<String> = told.into_iter().map(Estimate::tell).collect();
            format!(
                "{path}.algorithm: {kind} of {size} among {} ranks by closed forms: {}",
                ranks.len(),
                all.join(", ")
            )
        };
        let mut notes: Vec<String> = self.known.iter().take(NOTES_MAX).map(note).collect();
        if self.known.len() > NOTES_MAX {
            let more = self.known.len() - NOTES_MAX;
            notes.push(format!("{path}.algorithm: chosen for {more} more collectives by closed forms"));
        }
        notes
    }
}

impl Estimate {
    /// Returns the name of the algorithm, with its chunks if it has several, and its time in words.
    fn tell(&self) -> String {
        let chunks = if self.chunks > 1 { format!(" in {} chunks", self.chunks) } else { String::new() };
        format!("\"{}\"{chunks} {:.1} us", algorithm_name(self.algorithm), self.ps / 1e6)
    }
}
