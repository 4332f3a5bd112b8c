//! Ways between switches, and the cables that leave them.

use hostnet_params::{CableEnd, CableParams, SwitchParams};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const PS_PER_S: f64 = 1e12;

/// Way between two switches: time of a bit in ps, and number of cables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    pub(super) ps: u64,
    pub(super) cables: u32,
}

/// The switches of a network, and the cables between them.
pub(super) struct SwitchGraph {
    latencies_ps: Vec<u64>,
    /// For each switch, the other ends of its cables and their latencies in ps.
    next: Vec<Vec<(usize, u64)>>,
    /// Rate of all cables of each switch to other switches together, in bytes per second.
    rates: Vec<u64>,
}

impl SwitchGraph {
    pub(super) fn new(switches: &[SwitchParams], cables: &[CableParams]) -> Self {
        let (mut next, mut rates) = (vec![Vec::new(); switches.len()], vec![0; switches.len()]);
        for cable in cables {
            let [CableEnd::Switch(one), CableEnd::Switch(other)] = cable.ends else { continue };
            for (from, to) in [(one, other), (other, one)] {
                next[usize::from(from)].push((usize::from(to), cable.latency_ps));
                rates[usize::from(from)] += cable.bytes_per_s;
            }
        }
        Self { latencies_ps: switches.iter().map(|switch| switch.latency_ps).collect(), next, rates }
    }

    /// Returns the time of a byte on all cables of a switch to other switches together, in ps.
    pub(super) fn byte_ps(&self, switch: usize) -> f64 {
        PS_PER_S / self.rates[switch].max(1) as f64
    }

    /// Returns the shortest ways from a switch to others. Between hosts without a switch there is no switch on the way.
    pub(super) fn ways(&self, from: Option<usize>, others: &[Option<usize>]) -> Vec<Way> {
        let mut found: Vec<Option<Way>> = vec![None; self.next.len()];
        let mut open: BTreeSet<(u64, u32, usize)> = from.map(|at| (self.latencies_ps[at], 0, at)).into_iter().collect();
        while let Some((ps, cables, at)) = open.pop_first() {
            if found[at].is_some() {
                continue;
            }
            found[at] = Some(Way { ps, cables });
            let further = self.next[at].iter().filter(|(to, _)| found[*to].is_none());
            open.extend(further.map(|&(to, cable)| (ps + cable + self.latencies_ps[to], cables + 1, to)));
        }
        others.iter().map(|other| other.and_then(|at| found[at]).unwrap_or_default()).collect()
    }
}

/// Returns the first cable of each host, and the switch at its other end.
pub(super) fn cables_of_hosts(cables: &[CableParams]) -> BTreeMap<usize, (&CableParams, Option<usize>)> {
    let mut found = BTreeMap::new();
    for cable in cables {
        match cable.ends {
            [CableEnd::Host(host), CableEnd::Switch(switch)] | [CableEnd::Switch(switch), CableEnd::Host(host)] => {
                found.entry(host.into()).or_insert((cable, Some(switch.into())));
            }
            [CableEnd::Host(one), CableEnd::Host(other)] => {
                found.entry(one.into()).or_insert((cable, None));
                found.entry(other.into()).or_insert((cable, None));
            }
            [CableEnd::Switch(_), CableEnd::Switch(_)] => {}
        }
    }
    found
}
