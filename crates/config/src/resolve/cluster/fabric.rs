//! `[network]`, `[switch.*]` and `[cable.*]`.

use super::cables;
use super::dimms::Dimms;
use super::host_names::HostNames;
use super::islands::islands;
use super::learning::{self, learns, Learner};
use super::named_cables::{NamedCable, NamedNetwork};
use super::switch_keys::Place;
use super::switches::{complete, inherit, resolve_switch};
use super::table;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::{format, shorten, Dimension};
use hostnet_params::{Bandwidth, CableEnd, CableParams, ClusterSpec, EcnSpec, HostKindSpec, SwitchParams, SwitchSpec};
use std::collections::BTreeMap;

/// The network between the hosts: switches and cables.
pub(super) struct Fabric {
    pub(super) switches: Vec<SwitchParams>,
    pub(super) cables: Vec<CableParams>,
    /// Bytes of vectors that the engine of each switch adds per second; `None` without an engine.
    pub(super) sums: Vec<Option<u64>>,
    /// Number of the first ports of each endpoint by which packets come in that it forwards; 0 if they forward none.
    pub(super) forwarding_ports: u16,
    /// Total rate of the cables of each host outside of scale-up fabrics, in bytes per second.
    rates: Vec<u64>,
    /// Connected components of the network that each host is in.
    islands: Vec<Vec<usize>>,
    thresholds: Vec<Threshold>,
    learners: Vec<Learner>,
}

/// A marking threshold in packets, with the paths of its value and of its buffer.
struct Threshold {
    switch: usize,
    ecn: String,
    buffer: String,
    packets: u32,
}

pub(super) fn resolve(spec: &mut ClusterSpec, hosts: &HostNames, dimms: &Dimms) -> Result<Fabric, Issue> {
    let NamedNetwork { switches: names, cables, forwarding_ports } = cables::make(spec, hosts, dimms)?;
    let network = spec.network.clone();
    let Switches { switches, sums, thresholds, learners } = switches(spec, &names)?;
    let ends = Ends::new(hosts, &names)?;
    let joined = cables.iter().map(|cable| ends.of(cable)).collect::<Result<Vec<_>, _>>()?;
    let is_endpoint = |host: usize| spec.host[&hosts.table_of(host).name].kind == HostKindSpec::Endpoint;
    ends.check_degrees(&cables, &joined, dimms, is_endpoint)?;
    learning::check_network(&learners, &switches, &cables, &joined)?;
    let params = cables
        .iter()
        .zip(&joined)
        .map(|(cable, ends)| cables::resolve(cable, *ends, &network))
        .collect::<Result<Vec<CableParams>, _>>()?;
    for cable in spec.cable.values_mut().filter(|cable| cable.ends.is_some()) {
        cable.rate.get_or_insert(network.rate);
        cable.latency.get_or_insert(network.latency);
    }
    let islands = islands(hosts.count(), names.len(), &joined, forwarding_ports > 0);
    // A DIMM has no cable: it reaches the network through its host.
    let around = |host: usize| dimms.around(host);
    let rates = rates(hosts.count(), &cables, &params);
    let rates = (0..rates.len()).map(|host| rates[around(host)]).collect();
    let islands = (0..islands.len()).map(|host| islands[around(host)].clone()).collect();
    Ok(Fabric { switches, cables: params, sums, forwarding_ports, rates, islands, thresholds, learners })
}

/// Returns the total rate of the cables of each host outside of scale-up fabrics, in bytes per second.
fn rates(hosts: usize, cables: &[NamedCable], params: &[CableParams]) -> Vec<u64> {
    let mut rates = vec![0; hosts];
    for (_, cable) in cables.iter().zip(params).filter(|(cable, _)| !cable.scale_up) {
        for end in cable.ends {
            if let CableEnd::Host(host) = end {
                rates[usize::from(host)] += cable.bytes_per_s;
            }
        }
    }
    rates
}

/// The switches, with the values that must be checked.
struct Switches {
    switches: Vec<SwitchParams>,
    sums: Vec<Option<u64>>,
    thresholds: Vec<Threshold>,
    learners: Vec<Learner>,
}

/// Returns the switches and completes their tables. Values of a group of similar switches hold unless a switch
/// overrides them.
fn switches(spec: &mut ClusterSpec, names: &[(String, Option<&'static str>)]) -> Result<Switches, Issue> {
    // Messages name the table that gave a key, so the state before any default is kept.
    let given = spec.switch.clone();
    for (name, switch) in &mut spec.switch {
        let kind = names.iter().find(|(own, _)| own == name).and_then(|(_, kind)| given.get((*kind)?));
        // The table of the kind is the more specific one, so it goes before that of all switches.
        kind.into_iter().chain([&spec.network.switch]).for_each(|all| inherit(switch, all));
        complete(switch);
    }
    let (mut switches, mut sums, mut thresholds, mut learners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let none = SwitchSpec::default();
    for (name, kind) in names {
        let of = |name: &str| given.get(name).unwrap_or(&none);
        let at = Place { name, own: of(name), kind: kind.map(|kind| (kind, of(kind))) };
        let completed = spec.switch.get(name).or_else(|| spec.switch.get((*kind)?));
        let switch = completed.expect("every switch has a table, or those alike have one");
        learning::check_keys(&at, &spec.network.switch, learns(switch))?;
        if learns(switch) {
            learners.push(Learner::new(switches.len(), &at));
        }
        switches.push(resolve_switch(&at, switch)?);
        sums.push(switch.sum.map(|Bandwidth(rate)| rate));
        if let Some(EcnSpec::Packets(count)) = switch.ecn {
            let switch = switches.len() - 1;
            thresholds.push(Threshold { switch, ecn: at.origin("ecn"), buffer: at.origin("buffer"), packets: count });
        }
    }
    learning::check_all(&spec.network.switch, &switches)?;
    Ok(Switches { switches, sums, thresholds, learners })
}

impl Fabric {
    /// Returns true if packets can get from one host to the other.
    pub(super) fn joins(&self, from: usize, to: usize) -> bool {
        self.islands[from].iter().any(|island| self.islands[to].contains(island))
    }

    /// Returns the first switch that a cable joins each host to.
    pub(super) fn first_switches(&self) -> BTreeMap<usize, usize> {
        let mut found = BTreeMap::new();
        for cable in &self.cables {
            if let [CableEnd::Host(host), CableEnd::Switch(switch)] | [CableEnd::Switch(switch), CableEnd::Host(host)] =
                cable.ends
            {
                found.entry(host.into()).or_insert_with(|| switch.into());
            }
        }
        found
    }

    /// Returns the total rate of the cables of some hosts, in bytes per second.
    pub(super) fn rate(&self, hosts: &[usize]) -> f64 {
        hosts.iter().map(|&host| self.rates[host] as f64).sum()
    }

    /// Returns notes about switch fabrics that are slower than their cables.
    pub(super) fn slow_fabrics(&self) -> Vec<String> {
        learning::slow_fabrics(&self.learners, &self.switches, &self.cables)
    }

    /// Checks that packets of `mtu_bytes` can reach every marking threshold, and fit the buffers of learning
    /// switches.
    pub(super) fn check_packets(&self, mtu_bytes: u32) -> Result<(), Issue> {
        self.learners.iter().try_for_each(|learner| learner.check_buffer(&self.switches, mtu_bytes))?;
        for Threshold { switch, ecn, buffer, packets } in &self.thresholds {
            let switch = &self.switches[*switch];
            let bytes = u64::from(*packets) * u64::from(mtu_bytes);
            if bytes > switch.buffer_bytes {
                let message = format!(
                    "{packets} packets of {mtu_bytes} B are more than the buffer of {}: nothing would be marked",
                    format(switch.buffer_bytes, Dimension::Size)
                );
                return Err(Issue::between(Code::DoesNotFit, &[ecn, buffer], message));
            }
        }
        Ok(())
    }
}

/// The hosts and switches at which cables can end.
struct Ends<'a> {
    hosts: &'a HostNames,
    switches: &'a [(String, Option<&'static str>)],
    by_name: BTreeMap<&'a str, CableEnd>,
}

impl<'a> Ends<'a> {
    fn new(hosts: &'a HostNames, switches: &'a [(String, Option<&'static str>)]) -> Result<Self, Issue> {
        let own = (0..).zip(hosts.names()).map(|(at, name)| (name, CableEnd::Host(at)));
        let mut by_name: BTreeMap<&str, CableEnd> = own.collect();
        for (at, (name, kind)) in (0..).zip(switches) {
            if by_name.insert(name, CableEnd::Switch(at)).is_some() {
                let message = format!("a host and a switch are both named {}", shorten(name));
                let switch = if kind.is_some() { "network.topology".to_string() } else { table("switch", name) };
                return Err(Issue::between(Code::Duplicate, &[&switch, &table("host", name)], message));
            }
        }
        Ok(Ends { hosts, switches, by_name })
    }

    fn of(&self, cable: &NamedCable) -> Result<[CableEnd; 2], Issue> {
        let path = format!("{}.ends", cable.path);
        let [one, other] = [0, 1].map(|at: usize| self.find(&cable.ends[at], &path));
        let ends = [one?, other?];
        if ends[0] == ends[1] {
            return Err(Issue::new(Code::BadCabling, path, format!("both ends are {}", shorten(&cable.ends[0]))));
        }
        Ok(ends)
    }

    fn find(&self, name: &str, path: &str) -> Result<CableEnd, Issue> {
        if let Some(end) = self.by_name.get(name) {
            return Ok(*end);
        }
        let known = self.hosts.names().chain(self.switches.iter().map(|(name, _)| name.as_str()));
        let message = format!("there is no host or switch {}; {}", shorten(name), suggestion(name, known));
        Err(Issue::new(Code::DoesNotExist, path, message))
    }

    /// Checks that every host has a cable, one that is no endpoint only one, and every switch at least one.
    fn check_degrees(
        &self,
        cables: &[NamedCable],
        joined: &[[CableEnd; 2]],
        dimms: &Dimms,
        is_endpoint: impl Fn(usize) -> bool,
    ) -> Result<(), Issue> {
        let mut at_host: Vec<Vec<usize>> = vec![Vec::new(); self.hosts.count()];
        let mut at_switch = vec![false; self.switches.len()];
        for (cable, ends) in joined.iter().enumerate() {
            for end in ends {
                match *end {
                    CableEnd::Host(host) => at_host[usize::from(host)].push(cable),
                    CableEnd::Switch(switch) => at_switch[usize::from(switch)] = true,
                }
            }
        }
        for (host, own) in at_host.iter().enumerate() {
            let name = shorten(self.hosts.name(host));
            match own[..] {
                [] if dimms.slot(host).is_some() => {}
                [cable, ..] if dimms.slot(host).is_some() => {
                    let message = format!("a cable ends at the DIMM {name}, which has no port");
                    return Err(Issue::between(Code::BadCabling, &[&format!("{}.ends", cables[cable].path)], message));
                }
                [] => {
                    let message =
                        format!("no cable ends at {name}; give one, such as [cable.{}]", self.hosts.name(host));
                    return Err(Issue::between(Code::BadCabling, &[&self.hosts.table_path(host), "cable"], message));
                }
                [one, other, ..] if !is_endpoint(host) => {
                    let message =
                        format!("a second cable ends at the server {name}; only endpoints have several ports");
                    let paths = [other, one].map(|cable| format!("{}.ends", cables[cable].path));
                    return Err(Issue::between(Code::BadCabling, &[&paths[0], &paths[1]], message));
                }
                [..] => {}
            }
        }
        match at_switch.iter().position(|&at| !at) {
            Some(switch) => Err(Issue::between(
                Code::BadCabling,
                &[&table("switch", &self.switches[switch].0), "cable"],
                "no cable ends at this switch",
            )),
            None => Ok(()),
        }
    }
}
