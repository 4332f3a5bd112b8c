//! Finds the limit of a segment of the critical path of a job: the resource that was busy while its messages were in
//! flight, or the activity of its rank while it computed.

use super::class::{cable_words, machine_of};
use super::core_time::{register_wait, share_spent, spent_words};
use super::critical_path::PathActivity;
use super::flow_paths::FlowPaths;
use super::limit::{not_known, TrafficLimit, MOST};
use super::segment::PathSegment;
use crate::read::ports::PortView;
use crate::report::view::WorldView;
use hostnet_measure::Bins;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::dimm::Dimm;
use hostnet_model::ether::{Compressor, Decompressor};
use hostnet_model::flow::Rank;
use hostnet_model::nic::Nic;
use hostnet_model::os::{CoreTimeKind, CoreTimes, NetStack};
use hostnet_model::params::Traffic;
use std::collections::BTreeMap;

/// Share of the time of messages at or above which a busy resource is their limit, if no other kind comes close.
const BUSY: f64 = 0.7;
/// Distance in load that other kinds must keep.
const CLEAR: f64 = 0.1;

/// Returns the resource that was busy for the largest share of some intervals, and that share.
pub(super) fn busiest<'a, T>(all: impl Iterator<Item = (&'a Bins, T)>, intervals: &[(u64, u64)]) -> Option<(f64, T)> {
    let shares = all.filter_map(|(busy, of)| Some((busy.share(intervals)?, of)));
    shares.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns true if no limit of another kind is about as busy. Otherwise raising either alone would not help.
pub(super) fn is_clear(limit: &TrafficLimit, busy: &[TrafficLimit]) -> bool {
    let others = busy.iter().filter(|other| other.limit != limit.limit);
    others.filter_map(|other| other.load).all(|load| limit.load >= Some(load + CLEAR))
}

/// View of a job for the analysis of its critical path.
pub(super) struct JobView<'a> {
    pub(super) view: &'a WorldView<'a>,
    pub(super) job: usize,
    ranks: &'a [&'a Rank],
    flow_paths: Option<&'a FlowPaths<'a>>,
    /// Flow between two ranks, the lower one first. Numbers above the ranks stand for switches that sum up.
    flows: BTreeMap<(u32, u32), u32>,
}

impl<'a> JobView<'a> {
    pub(super) fn new(
        view: &'a WorldView<'a>,
        job: usize,
        ranks: &'a [&'a Rank],
        flow_paths: Option<&'a FlowPaths<'a>>,
    ) -> Self {
        let channel = |(number, flow): (u32, &hostnet_model::params::FlowParams)| match flow.traffic {
            Traffic::Messages(channel) if channel.job as usize == job => {
                let [one, other] = channel.ranks;
                Some(((one.min(other), one.max(other)), number))
            }
            _ => None,
        };
        let flows = (0..).zip(&view.plan.cluster.flows).filter_map(channel).collect();
        Self { view, job, ranks, flow_paths, flows }
    }

    /// Returns the ranks of the job.
    pub(super) fn ranks(&self) -> &'a [&'a Rank] {
        self.ranks
    }

    pub(super) fn host(&self, rank: u32) -> u16 {
        self.view.plan.cluster.jobs[self.job].host_of(rank)
    }

    /// Returns the name of the host of a rank.
    pub(super) fn name(&self, rank: u32) -> &str {
        &self.view.plan.cluster.hosts[usize::from(self.host(rank))].name
    }

    /// Returns the limit of a segment.
    pub(super) fn segment_limit(&self, segment: &PathSegment) -> TrafficLimit {
        let (from, to) = segment.ranks;
        match segment.activity {
            PathActivity::Compute => self.compute_limit(from, &segment.intervals()),
            PathActivity::Device => {
                let why = format!("rank {from} at {} waits for its accelerator", self.name(from));
                TrafficLimit { limit: "compute", place: self.name(from).to_owned(), load: None, why }
            }
            PathActivity::Transfer if segment.summed || self.host(from) != self.host(to) => {
                self.transfer_limit(segment)
            }
            PathActivity::Transfer | PathActivity::Copy => {
                let why = format!("rank {to} waits for a copy within {}", self.name(to));
                TrafficLimit { limit: "copies", place: self.name(to).to_owned(), load: None, why }
            }
        }
    }

    /// Returns the rate of the cable that is the limit of a segment, in bytes per second; 0 for another limit.
    pub(super) fn cable_rate(&self, segment: &PathSegment, limit: &TrafficLimit) -> u64 {
        if limit.limit != "cable" {
            return 0;
        }
        let ports = self.ports(segment);
        let port = ports.iter().find(|port| cable_words(self.view, port) == limit.place);
        port.and_then(|port| port.cable()).map_or(0, |cable| cable.bytes_per_s)
    }

    /// Returns the limit of messages between hosts.
    fn transfer_limit(&self, segment: &PathSegment) -> TrafficLimit {
        let (from, to) = segment.ranks;
        let (ports, intervals) = (self.ports(segment), segment.intervals());
        let through = if segment.summed { "through switches " } else { "" };
        let between = format!("{through}from rank {from} at {} to rank {to} at {}", self.name(from), self.name(to));
        let busy = [
            self.cable(&ports, &intervals),
            self.sums(segment, &intervals),
            self.engine(&ports, to, &intervals),
            self.core(from, to, &intervals),
            self.host_network(from, to, &intervals),
        ];
        let busy: Vec<TrafficLimit> = busy.into_iter().flatten().collect();
        let alone = || self.alone(segment).filter(|limit| is_clear(limit, &busy));
        // A measured resource takes precedence over the comparison with an idle path.
        let known = busy.iter().find(|limit| limit.load >= Some(BUSY) && is_clear(limit, &busy)).cloned();
        if let Some(mut limit) = known.or_else(alone) {
            limit.why = format!("while messages were in flight {between}, {}", limit.why);
            return limit;
        }
        let parts: Vec<String> = busy.into_iter().map(|limit| limit.why).collect();
        let what = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
        not_known(None, format!("no single resource was full while messages were in flight {between}{what}"))
    }

    /// Returns the ports that the messages of a segment pass.
    fn ports(&self, segment: &PathSegment) -> Vec<&PortView<'a>> {
        let (from, to) = segment.ranks;
        let ranks = self.ranks.len() as u32;
        let leg = |from: u32, to: u32| {
            let flow = *self.flows.get(&(from.min(to), from.max(to)))?;
            self.flow_paths?.ports(flow, self.host(from), self.host(to))
        };
        if !segment.summed {
            return leg(from, to).unwrap_or_default();
        }
        // Summed vectors go up to the root of the tree of switches and down again.
        let legs = self.flows.keys().flat_map(|&(one, other)| {
            let up = one == from || one >= ranks;
            let down = one == to || one >= ranks;
            [up.then(|| leg(one, other)), down.then(|| leg(other, one))]
        });
        legs.flatten().flatten().flatten().collect()
    }

    /// Returns the busiest engine of a switch that sums up for the job.
    fn sums(&self, segment: &PathSegment, intervals: &[(u64, u64)]) -> Option<TrafficLimit> {
        let job = &self.view.plan.cluster.jobs[self.job];
        let endpoints = || self.view.endpoints().filter(|_| segment.summed);
        let engines = job.reducers.iter().filter_map(|reducer| {
            let (.., endpoint) = endpoints().find(|&(at, ..)| at == reducer.host)?;
            Some((endpoint.sum_engine()?.busy(), &self.view.plan.cluster.switches[usize::from(reducer.switch)].name))
        });
        let (load, place) = busiest(engines, intervals)?;
        let why = format!("the engine of {place} that sums up worked {:.0} % of the time", 100.0 * load);
        Some(TrafficLimit { limit: "switch sums", place: place.clone(), load: Some(load), why })
    }

    /// Returns the busiest cable of a path.
    fn cable(&self, ports: &[&PortView], intervals: &[(u64, u64)]) -> Option<TrafficLimit> {
        let busy = ports.iter().filter_map(|port| Some((port.egress.busy()?, *port)));
        let (load, port) = busiest(busy.clone(), intervals)?;
        let place = cable_words(self.view, port);
        let mut why = format!("the cable {place} was busy {:.0} % of the time", 100.0 * load);
        let others = busy.filter(|(_, other)| !std::ptr::eq(*other, port));
        if let Some((also, other)) = busiest(others, intervals).filter(|&(also, _)| also + CLEAR > load) {
            why += &format!(", and {} {:.0} %", cable_words(self.view, other), 100.0 * also);
        }
        Some(TrafficLimit { limit: "cable", place, load: Some(load), why })
    }

    /// Returns the busiest compression engine of a path.
    fn engine(&self, ports: &[&PortView], to: u32, intervals: &[(u64, u64)]) -> Option<TrafficLimit> {
        let out = ports.iter().filter_map(|port| port.egress.compressor()).map(Compressor::busy);
        let host = self.host(to);
        let into = match machine_of(self.view, host) {
            Some(machine) => machine.first::<Nic>().and_then(Nic::decompressor),
            None => {
                self.view.endpoints().find(|&(at, ..)| at == host).and_then(|(.., endpoint)| endpoint.decompressor())
            }
        };
        let from = ports.first().map_or("", |port| self.view.name_of(port.end));
        let all = out.map(|busy| (busy, from)).chain(into.map(Decompressor::busy).map(|busy| (busy, self.name(to))));
        let (load, place) = busiest(all, intervals)?;
        let why = format!("an engine of {place} worked {:.0} % of the time", 100.0 * load);
        Some(TrafficLimit { limit: "compression", place: place.to_owned(), load: Some(load), why })
    }

    /// Returns the host network behind the NIC of the sender or of the receiver: that of the NIC that waited longer.
    fn host_network(&self, from: u32, to: u32, intervals: &[(u64, u64)]) -> Option<TrafficLimit> {
        let waits = |rank| {
            let machine = machine_of(self.view, self.host(rank)).filter(|machine| machine.first::<Dimm>().is_none())?;
            machine.first::<Nic>()?.waits()
        };
        let reads = waits(from).map(|waits| (waits.reads.past(), (from, "data that it reads from memory")));
        let credits = waits(to).map(|waits| (waits.credits.past(), (to, "PCIe credits")));
        let (load, (rank, what)) = busiest(reads.into_iter().chain(credits), intervals)?;
        let place = self.name(rank).to_owned();
        let why = format!("the NIC of {place} waited for {what} {:.0} % of the time", 100.0 * load);
        Some(TrafficLimit { limit: "host network", place, load: Some(load), why })
    }

    /// Returns the busier of the cores of sender and receiver.
    fn core(&self, from: u32, to: u32, intervals: &[(u64, u64)]) -> Option<TrafficLimit> {
        let ends = [(from, "sender cores"), (to, "receiver cores")];
        let busy = ends.into_iter().filter_map(|(rank, limit)| Some((self.core_busy(rank)?, (rank, limit))));
        let (load, (rank, limit)) = busiest(busy, intervals)?;
        let (place, times) = (self.name(rank).to_owned(), self.times(rank));
        let mut why = format!("the core of rank {rank} at {place} was busy {:.0} % of the time", 100.0 * load);
        if let Some(times) = times {
            why += &format!(" (of the window: {})", spent_words(self.view, times));
        }
        Some(TrafficLimit { limit: if times.is_some() { limit } else { "rank cores" }, place, load: Some(load), why })
    }

    /// Returns the busy time of a rank's core over the run, or `None` if the core waits much for registers or for
    /// lines of a DIMM.
    fn core_busy(&self, rank: u32) -> Option<&Bins> {
        let Some(machine) = machine_of(self.view, self.host(rank)) else {
            return self.ranks[rank as usize].core_busy();
        };
        let times = self.times(rank)?;
        let [waits, idle] =
            [CoreTimeKind::Register, CoreTimeKind::Idle].map(|spent| share_spent(self.view, times, spent));
        let in_dimm = machine.first::<Dimm>().is_some();
        times.busy().filter(|_| waits < register_wait(in_dimm) * (1.0 - idle))
    }

    /// Returns the time use of the server core that serves a rank.
    fn times(&self, rank: u32) -> Option<&CoreTimes> {
        let machine = machine_of(self.view, self.host(rank))?;
        let core = self.view.plan.cluster.jobs[self.job].core_of(rank);
        let core = machine.each::<Core>().nth(core as usize)?;
        core.engines().iter().find_map(NetStack::of).map(NetStack::times)
    }

    /// Returns the latency or the cable as the limit of messages that take about as long as on an idle path. Messages
    /// that engines compress are left out.
    fn alone(&self, segment: &PathSegment) -> Option<TrafficLimit> {
        let (one, other) = segment.ranks;
        let (from, to, flow) = (self.host(one), self.host(other), *self.flows.get(&(one.min(other), one.max(other)))?);
        let params = &self.view.plan.cluster.flows[flow as usize];
        // Messages are smaller behind an engine, so their unloaded time is not known.
        if params.compress.contains(&true) {
            return None;
        }
        let (mut whole_ps, mut delays_ps) = (0, 0);
        for piece in segment.pieces.iter().filter(|piece| piece.bytes > 0) {
            let message = self.flow_paths?.message_ps(flow, params, from, to, piece.bytes)?;
            // A message right behind another one was already in flight when that one arrived. If something else
            // delayed the first one, the second may have caught up and taken less than its unloaded time.
            let alone = if piece.follows { message.slowest_ps } else { message.whole_ps };
            let whole = alone.min(piece.ps());
            let delays = if piece.follows { 0 } else { message.delays_ps.min(whole) };
            (whole_ps, delays_ps) = (whole_ps + whole, delays_ps + delays);
        }
        let share = |ps: u64| ps as f64 / segment.ps().max(1) as f64;
        if share(whole_ps) < MOST {
            return None;
        }
        let parts = [
            ("latency", delays_ps, "the latency of cables, switches and hosts"),
            ("cable", whole_ps - delays_ps, "the time that their packets take on cables"),
        ];
        // One part must be clearly larger: windows that just suffice for this cable would not for a faster one.
        let clear = |ps: u64| share(ps) >= share(whole_ps - ps) + CLEAR;
        let (limit, ps, what) = parts.into_iter().find(|&(_, ps, _)| clear(ps))?;
        let why = format!("{what} was {:.0} % of the time", 100.0 * share(ps));
        let place = format!("{} to {}", self.name(one), self.name(other));
        Some(TrafficLimit { limit, place, load: Some(share(ps)), why })
    }
}
