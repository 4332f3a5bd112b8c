//! The network between the ranks of a job, as closed forms see it: latencies, and the bytes that share a cable.

use super::switches::{cables_of_hosts, SwitchGraph, Way, PS_PER_S};
use hostnet_params::{CableParams, SwitchParams};
use std::collections::BTreeMap;

/// Costs of messages beside the network.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MessageCosts {
    /// Maximum data of a packet, and its headers without those of cables, in bytes.
    pub(in super::super) packet: (u32, u32),
    /// Copy between ranks of a host: bytes per second, and fixed time in ps.
    pub(in super::super) copy: (u64, u64),
    /// Bytes per second at which a rank adds a vector to another; 0 = adding takes no time.
    pub(in super::super) sum: u64,
}

/// Place of a rank in the network.
#[derive(Clone, Copy, Debug)]
struct Site {
    host: usize,
    /// First switch of the host, as an index into the ways.
    switch: usize,
    /// Time of a bit between the transport of the host and the switch, in ps.
    ps: u64,
    /// Time of a byte on the cable of the host, in ps.
    byte_ps: f64,
}

/// The network between the ranks of a job.
#[derive(Clone, Debug)]
pub(in super::super) struct RankNetwork {
    sites: Vec<Site>,
    /// Ways from each switch with ranks to each other one.
    ways: Vec<Vec<Way>>,
    /// Time of a byte on all cables of each switch with ranks to other switches together, in ps.
    up_byte_ps: Vec<f64>,
    costs: MessageCosts,
    /// Bytes that a cable adds to each packet.
    framing: u64,
}

/// A round of messages that begin at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Time until the last bit of a message arrives, without that in which its data leaves the sender, in ps.
    pub(super) latency_ps: f64,
    /// Time that the data of the messages takes on the cable that most of them share, in ps.
    pub(super) data_ps: f64,
    /// Time of the copies between ranks of a host, in ps.
    pub(super) copy_ps: f64,
}

impl Round {
    /// Returns the time of the round, in ps.
    pub(super) fn time_ps(self) -> f64 {
        self.copy_ps.max(self.latency_ps + self.data_ps)
    }
}

impl RankNetwork {
    /// Creates the network between ranks at the hosts `placed`. `latency_of` returns the latency of a host's transport,
    /// in ps.
    pub(in super::super) fn new(
        (switches, cables): (&[SwitchParams], &[CableParams]),
        placed: impl Iterator<Item = usize>,
        latency_of: impl Fn(usize) -> u64,
        costs: MessageCosts,
    ) -> Self {
        let cable_of = cables_of_hosts(cables);
        let mut numbers: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        let site = |host: usize| {
            let cable = cable_of.get(&host);
            let switch = cable.and_then(|&(_, switch)| switch);
            let next = numbers.len();
            Site {
                host,
                switch: *numbers.entry(switch).or_insert(next),
                ps: latency_of(host) + cable.map_or(0, |(cable, _)| cable.latency_ps),
                byte_ps: cable.map_or(0.0, |(cable, _)| PS_PER_S / cable.bytes_per_s as f64),
            }
        };
        let sites: Vec<Site> = placed.map(site).collect();
        let mut known = vec![None; numbers.len()];
        numbers.into_iter().for_each(|(switch, number)| known[number] = switch);
        let graph = SwitchGraph::new(switches, cables);
        let ways = known.iter().map(|&from| graph.ways(from, &known)).collect();
        let up_byte_ps = known.iter().map(|switch| switch.map_or(0.0, |switch| graph.byte_ps(switch))).collect();
        let framing = cables.first().map_or(0, |cable| cable.framing_bytes.into());
        Self { sites, ways, up_byte_ps, costs, framing }
    }

    /// Returns the maximum data of a packet, in bytes.
    pub(super) fn packet_bytes(&self) -> u64 {
        self.costs.packet.0.max(1).into()
    }

    /// Returns the bytes of a message with the headers of its packets.
    fn wire_bytes(&self, bytes: u64) -> f64 {
        let (data, headers) = self.costs.packet;
        (bytes + bytes.div_ceil(data.max(1).into()) * (u64::from(headers) + self.framing)) as f64
    }

    /// Returns the time in which a rank adds bytes to its own, in ps.
    pub(super) fn sum_ps(&self, bytes: f64) -> f64 {
        match self.costs.sum {
            0 => 0.0,
            rate => bytes * PS_PER_S / rate as f64,
        }
    }

    /// Returns a round of messages of `bytes` bytes between pairs of ranks.
    pub(super) fn round(&self, bytes: u64, pairs: impl Iterator<Item = (u32, u32)>) -> Round {
        let (wire, packet) = (self.wire_bytes(bytes), self.wire_bytes(bytes.min(self.costs.packet.0.into())));
        let (mut of_hosts, mut of_switches) = (BTreeMap::new(), BTreeMap::new());
        let mut round = Round { latency_ps: 0.0, data_ps: 0.0, copy_ps: 0.0 };
        for (from, to) in pairs {
            let ends = [self.sites[from as usize], self.sites[to as usize]];
            if ends[0].host == ends[1].host {
                let (rate, ps) = self.costs.copy;
                round.copy_ps = ps as f64 + bytes as f64 * PS_PER_S / rate.max(1) as f64;
                continue;
            }
            let Way { ps, cables } = self.ways[ends[0].switch][ends[1].switch];
            let stored = f64::from(cables + 1) * packet * ends[0].byte_ps.max(ends[1].byte_ps);
            round.latency_ps = round.latency_ps.max((ps + ends[0].ps + ends[1].ps) as f64 + stored);
            for (direction, end) in (0..).zip(ends) {
                let host: &mut f64 = of_hosts.entry((direction, end.host)).or_default();
                *host += wire * end.byte_ps;
                round.data_ps = round.data_ps.max(*host);
                if ends[0].switch != ends[1].switch {
                    let switch: &mut f64 = of_switches.entry((direction, end.switch)).or_default();
                    *switch += wire * self.up_byte_ps[end.switch];
                    round.data_ps = round.data_ps.max(*switch);
                }
            }
        }
        round
    }

    /// Returns the round in which each of some ranks sends `bytes` bytes to each other one.
    pub(super) fn round_of_all(&self, bytes: u64, ranks: &[u32]) -> Round {
        let neighbours = ranks.iter().zip(ranks.iter().cycle().skip(ranks.len() / 2)).map(|(&from, &to)| (from, to));
        let one = self.round(bytes, neighbours.filter(|(from, to)| from != to));
        let (mut of_hosts, mut of_switches) = (BTreeMap::new(), BTreeMap::new());
        for &rank in ranks {
            let Site { host, switch, .. } = self.sites[rank as usize];
            *of_hosts.entry((host, switch)).or_insert(0_u64) += 1;
            *of_switches.entry(switch).or_insert(0_u64) += 1;
        }
        let (all, wire) = (ranks.len() as u64, self.wire_bytes(bytes));
        let byte_ps = |host: usize| self.sites.iter().find(|site| site.host == host).map_or(0.0, |site| site.byte_ps);
        let hosts = of_hosts.iter().map(|(&(host, _), &own)| (own * (all - own)) as f64 * wire * byte_ps(host));
        let beyond = of_switches.iter().map(|(&at, &own)| (own * (all - own)) as f64 * wire * self.up_byte_ps[at]);
        let copies = of_hosts.values().map(|own| own - 1).max().unwrap_or(0) as f64;
        let data_ps = hosts.chain(beyond).fold(0.0, f64::max);
        Round { data_ps, copy_ps: one.copy_ps * copies, ..one }
    }
}
