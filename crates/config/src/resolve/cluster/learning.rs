//! Switches of kind "learning": their keys, and the networks in which they are possible.

use super::islands::root;
use super::named_cables::NamedCable;
use super::switch_keys::{gives, Place};
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    AddressLearningParams, Bandwidth, CableEnd, CableParams, SwitchKindSpec, SwitchParams, SwitchSpec, Time,
};
use std::collections::{BTreeMap, BTreeSet};

/// Default number of table entries, as small switches have.
const TABLE: u32 = 4096;
/// Default time to live and fabric rate, from gem5's EtherSwitch.
const TTL_PS: u64 = 10_000_000_000;
const FABRIC_BYTES_PER_S: u64 = 1_250_000_000;

/// Keys that only learning switches have.
const OF_LEARNING: [&str; 5] = ["table", "ttl", "fabric", "delay", "jitter"];
const ONLY_OF_LEARNING: &str = "has an effect only with kind = \"learning\"";
const NOT_OF_LEARNING: &str = "has no effect with kind = \"learning\"; give fabric and delay";

/// Maximum number of switches of a loop that a message names.
const NAMES_MAX: usize = 8;

/// Returns true if a switch, once completed, learns addresses.
pub(super) fn learns(spec: &SwitchSpec) -> bool {
    spec.kind == Some(SwitchKindSpec::Learning)
}

/// Fills in the defaults.
pub(super) fn complete(switch: &mut SwitchSpec) {
    switch.table.get_or_insert(TABLE);
    switch.ttl.get_or_insert(Time(TTL_PS));
    switch.fabric.get_or_insert(Bandwidth(FABRIC_BYTES_PER_S));
    switch.delay.get_or_insert(Time(0));
    switch.jitter.get_or_insert(Time(0));
}

/// Returns the address learning parameters of a completed switch.
pub(super) fn params(spec: &SwitchSpec) -> AddressLearningParams {
    let ps = |time: Option<Time>| time.map_or(0, |Time(ps)| ps);
    AddressLearningParams {
        table: spec.table.unwrap_or(TABLE),
        ttl_ps: spec.ttl.map_or(TTL_PS, |Time(ps)| ps),
        fabric_bytes_per_s: spec.fabric.map_or(FABRIC_BYTES_PER_S, |Bandwidth(bytes)| bytes),
        delay_ps: ps(spec.delay),
        jitter_ps: ps(spec.jitter),
    }
}

/// Removes values that have no effect on the switch's kind.
pub(super) fn strip(switch: &mut SwitchSpec) {
    if learns(switch) {
        switch.latency = None;
    } else {
        (switch.table, switch.ttl, switch.fabric, switch.delay, switch.jitter) = (None, None, None, None, None);
    }
}

/// Checks that the values of a switch have an effect on its kind; `all` are the values for every switch.
pub(super) fn check_keys(at: &Place, all: &SwitchSpec, learns: bool) -> Result<(), Issue> {
    let says =
        |key: &str| [Some(at.own), at.kind.map(|kind| kind.1)].into_iter().flatten().any(|spec| gives(spec, key));
    let between = |code: Code, key: &str, message: &str| {
        Err(Issue::between(code, &[&at.origin(key), &at.origin("kind")], message))
    };
    if learns && (says("pfc") || gives(all, "pfc")) {
        let message =
            "pauses need switches of kind = \"routed\": a packet that is flooded lies in the memory once for \
                       each port, so that they would come too late";
        return between(Code::NotSupported, "pfc", message);
    }
    if learns && (says("sum") || gives(all, "sum")) {
        let message = "switches that sum up are of kind = \"routed\": they know where the others are";
        return between(Code::NotSupported, "sum", message);
    }
    if learns && says("latency") {
        return between(Code::NoEffect, "latency", NOT_OF_LEARNING);
    }
    match OF_LEARNING.into_iter().find(|key| !learns && says(key)) {
        Some(key) => between(Code::NoEffect, key, ONLY_OF_LEARNING),
        None => Ok(()),
    }
}

/// Checks that the values for every switch have an effect on at least one switch.
pub(super) fn check_all(all: &SwitchSpec, switches: &[SwitchParams]) -> Result<(), Issue> {
    let learn = |switch: &SwitchParams| switch.learning.is_some();
    let between = |key: &str, message| {
        Err(Issue::between(Code::NoEffect, &[&format!("network.switch.{key}"), "network.switch"], message))
    };
    if switches.is_empty() {
        return Ok(());
    }
    // A key for all switches must have an effect on one of them.
    if switches.iter().all(learn) && gives(all, "latency") {
        return between("latency", NOT_OF_LEARNING);
    }
    match OF_LEARNING.into_iter().find(|key| !switches.iter().any(learn) && gives(all, key)) {
        Some(key) => between(key, ONLY_OF_LEARNING),
        None => Ok(()),
    }
}

/// A learning switch: its number, and the paths of its values.
pub(super) struct Learner {
    switch: usize,
    kind: String,
    buffer: String,
    fabric: String,
}

impl Learner {
    pub(super) fn new(switch: usize, at: &Place) -> Self {
        let [kind, buffer, fabric] = ["kind", "buffer", "fabric"].map(|key| at.origin(key));
        Self { switch, kind, buffer, fabric }
    }

    /// Checks that the buffer has room for a packet of `mtu_bytes`.
    pub(super) fn check_buffer(&self, switches: &[SwitchParams], mtu_bytes: u32) -> Result<(), Issue> {
        let bytes = switches[self.switch].buffer_bytes;
        if bytes >= u64::from(mtu_bytes) {
            return Ok(());
        }
        let buffer = format(bytes, Dimension::Size);
        let message =
            format!("a packet of {mtu_bytes} B has no room in the buffer of {buffer} while it is in the fabric");
        Err(Issue::between(Code::DoesNotFit, &[&self.buffer, &self.kind], message))
    }
}

/// Returns notes about switches whose fabric carries less to a port than the port's cable does.
pub(super) fn slow_fabrics(learners: &[Learner], switches: &[SwitchParams], cables: &[CableParams]) -> Vec<String> {
    let mut fastest = vec![0; switches.len()];
    for cable in cables {
        for end in cable.ends {
            if let CableEnd::Switch(switch) = end {
                fastest[usize::from(switch)] = cable.bytes_per_s.max(fastest[usize::from(switch)]);
            }
        }
    }
    let told = |learner: &Learner| {
        let SwitchParams { learning, name, .. } = &switches[learner.switch];
        let own = learning.as_ref()?.fabric_bytes_per_s;
        let [own_gbps, cable_gbps] = [own, fastest[learner.switch]].map(|bytes| bytes as f64 * 8e-9);
        let words = format!(
            "{}: the fabric of {name} carries {own_gbps:.1} Gbps to each port, and its fastest cable {cable_gbps:.1}",
            learner.fabric
        );
        (own < fastest[learner.switch]).then(|| (learner.fabric.clone(), words))
    };
    let mut found: Vec<(String, String)> = learners.iter().filter_map(told).collect();
    // Switches that share a table differ in their names only, so one note is enough.
    found.dedup_by(|one, other| one.0 == other.0);
    found.into_iter().map(|told| told.1).collect()
}

/// Checks that no host has several ports: a switch that learns knows one port of a host, and floods to all.
fn check_hosts(learners: &[Learner], cables: &[NamedCable], joined: &[[CableEnd; 2]]) -> Result<(), Issue> {
    let mut seen = BTreeSet::new();
    for (cable, ends) in cables.iter().zip(joined) {
        for (end, name) in ends.iter().zip(&cable.ends) {
            let CableEnd::Host(host) = end else { continue };
            if !seen.insert(*host) {
                let message =
                    format!("{} has several ports, and a switch that learns knows one of a host", shorten(name));
                return Err(Issue::between(Code::NotSupported, &[&cable.path, &learners[0].kind], message));
            }
        }
    }
    Ok(())
}

/// Checks that learning switches are connected to learning switches only, and without loops.
pub(super) fn check_network(
    learners: &[Learner],
    switches: &[SwitchParams],
    cables: &[NamedCable],
    joined: &[[CableEnd; 2]],
) -> Result<(), Issue> {
    if learners.is_empty() {
        return Ok(());
    }
    check_hosts(learners, cables, joined)?;
    let name = |switch: usize| shorten(&switches[switch].name);
    let kind = |switch: usize| &learners.iter().find(|learner| learner.switch == switch).unwrap_or(&learners[0]).kind;
    let mut ways: Vec<Vec<usize>> = vec![Vec::new(); switches.len()];
    let mut parents: Vec<usize> = (0..switches.len()).collect();
    for (cable, ends) in cables.iter().zip(joined) {
        let [CableEnd::Switch(one), CableEnd::Switch(other)] = ends.map(|end| end) else { continue };
        let [one, other] = [one, other].map(usize::from);
        match [one, other].map(|switch| switches[switch].learning.is_some()) {
            // Routed switches choose among paths, so loops between them are allowed.
            [false, false] => continue,
            [true, true] => {}
            [first, _] => {
                let (learns, knows) = if first { (one, other) } else { (other, one) };
                let message = format!(
                    "a cable joins {}, which learns, and {}, which sends what is flooded back to where it came from; \
                     switches that are joined are of one kind",
                    name(learns),
                    name(knows)
                );
                return Err(Issue::between(Code::MustAgree, &[&cable.path, kind(learns)], message));
            }
        }
        let roots = [one, other].map(|switch| root(&mut parents, switch));
        if roots[0] == roots[1] {
            let names: Vec<String> = way(&ways, one, other).into_iter().map(name).collect();
            let message = format!(
                "the cable between {} and {} closes a loop of switches that learn, {}: what they flood would go round \
                 for ever, and there is no spanning tree",
                name(one),
                name(other),
                listed(&names)
            );
            return Err(Issue::between(Code::SendsInCircle, &[&cable.path, kind(one)], message));
        }
        parents[roots[0]] = roots[1];
        ways[one].push(other);
        ways[other].push(one);
    }
    Ok(())
}

/// Returns names as part of a sentence; only the first ones if there are many.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if names.len() <= NAMES_MAX => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..NAMES_MAX].join(", "), names.len() - NAMES_MAX),
    }
}

/// Returns the path between two switches of a network without loops.
fn way(ways: &[Vec<usize>], from: usize, to: usize) -> Vec<usize> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::from([(from, from)]);
    let mut found = vec![from];
    while let Some(at) = found.pop() {
        for &next in &ways[at] {
            before.entry(next).or_insert_with(|| {
                found.push(next);
                at
            });
        }
    }
    let mut way = vec![to];
    while let Some(&at) = before.get(&way[way.len() - 1]).filter(|_| way[way.len() - 1] != from) {
        way.push(at);
    }
    way.reverse();
    way
}
