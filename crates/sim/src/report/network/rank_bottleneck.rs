//! Finds the limit of a rank while it computes.

use super::class::machine_of;
use super::limit::{not_known, TrafficLimit, BUS_FULL, MOST, NOT_KNOWN};
use super::segment_bottleneck::{busiest, is_clear, JobView};
use hostnet_model::core::{Core, EngineKind, Worker};
use hostnet_model::flow::Rank;
use hostnet_model::memory::Channel;

/// Share of its computing time above which an activity of a rank is its limit, if nothing else comes close.
const MOSTLY: f64 = 0.5;

/// Bus utilization at or above which a channel may be saturated: rows that are opened for a single line leave the bus
/// idle.
const BUS_NEAR: f64 = 0.6;

/// Factor by which a straggler computes longer than other ranks on average.
const STRAGGLING: f64 = 1.1;

/// Name of a limit, the share of time that it held, and the words for it.
type TimeShare = (&'static str, f64, &'static str);

impl JobView<'_> {
    /// Returns the limit of a rank while it computes. At an endpoint a rank always computes; at a server it executes
    /// instructions or waits for lines.
    pub(super) fn compute_limit(&self, rank: u32, intervals: &[(u64, u64)]) -> TrafficLimit {
        let place = self.name(rank).to_owned();
        let Some(worker) = self.worker(rank) else {
            let why = format!("rank {rank} at {place} computes{}", self.straggling(rank));
            return TrafficLimit { limit: "compute", place, load: None, why };
        };
        let busy = self.time_shares(worker, intervals).into_iter().chain(self.channels(rank, intervals));
        let busy: Vec<TrafficLimit> = busy
            .map(|(limit, share, what)| {
                let why = format!("{what} {:.0} % of the time", 100.0 * share);
                TrafficLimit { limit, place: place.clone(), load: Some(share), why }
            })
            .collect();
        let at_least = |limit: &'static str, share| {
            busy.iter().find(move |found| found.limit == limit && found.load >= Some(share))
        };
        // A saturated channel fills the LFB as well, so it is checked before the LFB.
        let first = at_least("rank cores", MOST).or_else(|| at_least("memory bandwidth", BUS_FULL));
        // A nearly full channel fills LFB and window as well, so neither is named beside it (jobs.md).
        let near = at_least("memory bandwidth", BUS_NEAR).is_some();
        let alone =
            |limit: &&TrafficLimit| limit.load >= Some(MOSTLY) && limit.limit != NOT_KNOWN && is_clear(limit, &busy);
        let clear = || busy.iter().filter(|_| !near).find(alone);
        let while_it = |why: &str| format!("while rank {rank} at {place} computed, {why}");
        match first.or_else(clear) {
            Some(limit) => TrafficLimit { why: while_it(&limit.why), ..limit.clone() },
            None => {
                let parts: Vec<&str> = busy.iter().map(|limit| limit.why.as_str()).collect();
                not_known(None, while_it(&parts.join("; ")))
            }
        }
    }

    /// Says how much longer than others a rank computes, if it is a straggler among ranks that execute operations.
    fn straggling(&self, rank: u32) -> String {
        let computed_ps = |rank: &Rank| rank.phases().iter().map(|stats| stats.compute_ps).sum::<u64>() as f64;
        let own = self.ranks().iter().find(|own| own.number().1 == rank && own.has_operations());
        let Some(own) = own.map(|own| computed_ps(own)) else { return String::new() };
        let all: f64 = self.ranks().iter().map(|rank| computed_ps(rank)).sum();
        let others = (all - own) / (self.ranks().len() as f64 - 1.0).max(1.0);
        if own < STRAGGLING * others || others == 0.0 {
            return String::new();
        }
        format!(", {:.1} times as long as the other ranks on average: it is a straggler", own / others)
    }

    /// Returns how a rank spends its computing time, as shares of that time.
    fn time_shares(&self, worker: &Worker, intervals: &[(u64, u64)]) -> Vec<TimeShare> {
        let phases = worker.rank().phases().iter();
        let ended_ps: u64 = phases.map(|stats| stats.compute_ps - stats.device_ps).sum();
        let computed_ps = ended_ps + worker.rank().computed_ps();
        let instructions = worker.instructions_ps() as f64 / computed_ps.max(1) as f64;
        let waits = worker.waits().into_iter().flat_map(|waits| {
            [
                ("LFB", &waits.lfb, "it waited for an entry of its LFB"),
                ("reorder window", &waits.window, "its reorder window was full"),
                (NOT_KNOWN, &waits.both, "its LFB and its reorder window were both nearly full"),
            ]
        });
        let waits =
            waits.filter_map(|(limit, waits, what)| Some((limit, waits.past().share(intervals)?.max(0.0), what)));
        waits.chain([("rank cores", instructions, "it executed instructions")]).collect()
    }

    /// Returns the worker of a rank at a server.
    fn worker(&self, rank: u32) -> Option<&Worker> {
        let mut cores = machine_of(self.view, self.host(rank))?.each::<Core>();
        cores.find_map(|core| {
            let workers = core.engines().iter().filter_map(Worker::of);
            workers.into_iter().find(|worker| worker.rank().number() == (self.job as u32, rank))
        })
    }

    /// Returns the share of time that the busiest channel of a rank's server has data on its bus.
    fn channels(&self, rank: u32, intervals: &[(u64, u64)]) -> Option<TimeShare> {
        let channels = machine_of(self.view, self.host(rank))?.each::<Channel>();
        let busy = channels.filter_map(|channel| Some((channel.busy()?, ())));
        busiest(busy, intervals).map(|(share, ())| ("memory bandwidth", share, "a channel had data on its bus"))
    }
}
