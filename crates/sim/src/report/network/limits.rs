//! What limits each class of traffic, by simple rules from what was measured.
//!
//! Of a job what takes most of its path is told, if that is known; else the first rule that holds: a full cable; a full
//! fabric of a switch that learns; a cable that is down or an application that does not read; the host network; busy
//! cores; pauses; a ring without descriptors; marks; losses. If none does, the class waits for answers or its windows.

use super::binds::JobPath;
use super::line_bytes;
use super::queues::GBPS;
use super::spent::register_wait;
use super::ways::Ways;
use crate::read::flows::FlowTotals;
use crate::read::ports::{PortTotals, PortView};
use crate::report::table::{Column, Holds, Rows, Table, TableInfo};
use crate::report::view::WorldView;
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use hostnet_model::core::{Core, Runs};
use hostnet_model::dimm::Dimm;
use hostnet_model::iio::Iio;
use hostnet_model::nic::Nic;
use hostnet_model::os::{CoreTimes, NetStack, Spent};
use hostnet_model::params::{End, FlowParams, Traffic, Transport};
use hostnet_model::Machine;
use std::collections::BTreeSet;

/// A cable is full, a core is busy, from this share on.
pub(super) const FULL: f64 = 0.95;
/// The PCIe of a NIC is congested when a packet waits for credits for this share of time.
const CREDIT_WAIT: f64 = 0.25;
/// What arrives, and not what a cable carries, counts where a NIC drops this share of it.
const DROPPED: f64 = 0.05;
/// Packets wait for pauses, or for descriptors, when they do so for this share of time.
const WAIT: f64 = 0.05;
/// What is flooded is told of when it takes this share of a cable.
const FLOODED: f64 = 0.05;
/// Marks slow senders from this share of segments on.
const MARKED: f64 = 0.002;

/// What limits a class.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) limit: &'static str,
    pub(crate) place: String,
    pub(crate) load: Option<f64>,
    pub(crate) why: String,
}

/// The rows of the table: classes by name, and what limits them.
struct Limits;

impl Rows for Limits {
    type Row<'a> = (&'a str, Limit);
}

const LIMITS: &[Column<Limits>] = &[
    Column::key(Column::text("class", |(class, _)| (*class).into())),
    Column::text("limit", |(_, limit)| limit.limit.into()),
    Column::text("place", |(_, limit)| limit.place.as_str().into()),
    Column::number("load", |(_, limit)| limit.load.into()),
    Column::text("why", |(_, limit)| limit.why.as_str().into()),
];

/// A class with its flows.
pub(crate) struct Class<'a> {
    /// The end of the window, in ps.
    now_ps: u64,
    pub(crate) flows: Vec<&'a FlowParams>,
    pub(crate) totals: FlowTotals,
    ended: bool,
    /// The hosts that its data comes from, and goes to.
    pub(crate) hosts: [BTreeSet<u16>; 2],
    /// The ports of switches that its data passes, by switch and number.
    passed: BTreeSet<(u16, usize)>,
}

/// Where the data of a flow comes from and goes to.
fn directions(flow: &FlowParams) -> Vec<(u16, u16)> {
    let (there, back) = ((flow.from, flow.to), (flow.to, flow.from));
    match flow.traffic {
        Traffic::Bulk { .. }
        | Traffic::Replay { .. }
        | Traffic::Datagrams { .. }
        | Traffic::Generate { .. }
        | Traffic::Packets(_)
        | Traffic::Forward(_) => vec![there],
        Traffic::Read { .. } => vec![back],
        Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Messages(_) | Traffic::Ping { .. } => {
            vec![there, back]
        }
    }
}

impl<'a> Class<'a> {
    /// The flows with these numbers. Which ports they pass is known where there are `ways`.
    fn new(view: &'a WorldView, own: &[usize], totals: FlowTotals, ended: bool, ways: Option<&Ways>) -> Self {
        let flows: Vec<&FlowParams> = own.iter().map(|&flow| &view.plan.cluster.flows[flow]).collect();
        let (mut hosts, mut passed) = ([BTreeSet::new(), BTreeSet::new()], BTreeSet::new());
        for (&number, flow) in own.iter().zip(&flows) {
            for (from, to) in directions(flow) {
                hosts[0].insert(from);
                hosts[1].insert(to);
                passed.extend(ways.into_iter().flat_map(|ways| ways.passed(number as u32, from, to)));
            }
        }
        Self { now_ps: view.now.ps(), flows, totals, ended, hosts, passed }
    }

    /// Whether a port is on its way.
    fn passes(&self, port: &PortView) -> bool {
        match port.end {
            End::Host(host) => self.hosts[0].contains(&host),
            End::Switch(switch) => self.passed.contains(&(switch, port.number)),
        }
    }

    /// Whether its requests come in an open loop.
    pub(super) fn is_of_services(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Service(_)))
    }

    fn has_requests(&self) -> bool {
        let with = |flow: &&FlowParams| {
            matches!(flow.traffic, Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Ping { .. })
        };
        self.flows.iter().any(with)
    }

    /// The cores that its flows run on at a host at the end of the window.
    fn cores(&self, host: u16) -> BTreeSet<u32> {
        let on_cores = |flow: &&&FlowParams| matches!(flow.transport, Transport::Tcp(_) | Transport::Udp(_));
        let now_at = |flow: &FlowParams, initiator: bool, first: u32| {
            let mut gone = flow.moves.iter().filter(|one| one.initiator == initiator && one.at_ps < self.now_ps);
            gone.next_back().map_or(first, |one| one.core)
        };
        let ends = self.flows.iter().filter(on_cores).flat_map(|flow| {
            let cores = [now_at(flow, true, flow.from_core), now_at(flow, false, flow.to_core)];
            [(flow.from, cores[0]), (flow.to, cores[1])]
        });
        ends.filter(|(at, _)| *at == host).map(|(_, core)| core).collect()
    }
}

/// Of the same limit at several hosts, the one that is nearest to full, and how many others there are.
pub(super) fn worst(limits: impl Iterator<Item = Limit>) -> Option<Limit> {
    let mut found: Vec<Limit> = limits.collect();
    found.sort_by(|one, other| other.load.unwrap_or(0.0).total_cmp(&one.load.unwrap_or(0.0)));
    let others: Vec<String> = found.iter().skip(1).map(|limit| limit.place.clone()).collect();
    let mut worst = found.into_iter().next()?;
    match &others[..] {
        [] => {}
        [other] => worst.why += &format!("; the same at {other}"),
        [other, more @ ..] => worst.why += &format!("; the same at {other} and {} more", more.len()),
    }
    Some(worst)
}

/// What the columns of the table are to its rows.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("limits", LIMITS).holding(Holds::Explanations)
}

impl WorldView<'_> {
    /// A row for every class.
    pub(super) fn limits(&self, flows: &[FlowTotals], completed: &[Option<Time>], paths: &[JobPath]) -> Table {
        let mut table = Table::of("limits", LIMITS);
        let cluster = &self.plan.cluster;
        let ways = Ways::new(self);
        let class_of = |own: &[usize]| {
            let totals = own.iter().fold(FlowTotals::default(), |sum, &flow| sum.plus(&flows[flow]));
            let ended = own.iter().all(|&flow| completed[flow].is_some());
            Class::new(self, own, totals, ended, ways.as_ref())
        };
        for (index, name) in cluster.classes.iter().enumerate() {
            let own: Vec<usize> =
                (0..cluster.flows.len()).filter(|&flow| usize::from(cluster.flows[flow].class) == index).collect();
            let class = class_of(&own);
            let limit =
                self.on_path(name, paths, || self.ranks_on_cores(name, &class).unwrap_or_else(|| self.limit(&class)));
            let onward = self.onward(&own).filter(|_| limit.load.is_none());
            let held = onward.and_then(|onward| self.held_onward(&class, &class_of(&onward)));
            table.add(LIMITS, &(name, held.unwrap_or(limit)));
        }
        table
    }

    pub(super) fn limit(&self, class: &Class) -> Limit {
        if self.now == self.window_start {
            let why = "the run was stopped when its warm-up ended".to_owned();
            return Limit { limit: "nothing measured", place: String::new(), load: None, why };
        }
        if class.ended {
            let why = "all its flows have ended".to_owned();
            return Limit { limit: "ended", place: String::new(), load: None, why };
        }
        let [from, to] = &class.hosts;
        let full = self.dropping(class).or_else(|| self.full_way(class));
        full.or_else(|| self.full_fabric(class))
            .or_else(|| self.cable_down(class))
            .or_else(|| self.deaf(class))
            .or_else(|| worst(to.iter().filter_map(|&host| self.host_network(host, class))))
            .or_else(|| worst(to.union(from).filter_map(|&host| self.in_dimm(host))))
            .or_else(|| worst(to.iter().filter_map(|&host| self.busy_cores("receiver cores", host, class))))
            .or_else(|| worst(from.iter().filter_map(|&host| self.busy_cores("sender cores", host, class))))
            .or_else(|| self.driver_core(class))
            .or_else(|| self.busy_workers(class))
            .or_else(|| self.pauses(class))
            .or_else(|| worst(to.iter().filter_map(|&host| self.ring(host))))
            .or_else(|| self.marks(class))
            .or_else(|| if class.totals.timeouts > 0 { None } else { self.losses(class) })
            .or_else(|| if class.totals.timeouts > 0 { None } else { self.waiting_ranks(class) })
            .unwrap_or_else(|| self.waiting(class))
    }

    /// Why the NICs of receivers drop much of what comes, if they do.
    pub(super) fn dropping(&self, class: &Class) -> Option<Limit> {
        let dropped = class.totals.nic_dropped() as f64 / class.totals.nic_received.max(1) as f64;
        let to = class.hosts[1].iter().filter(|_| dropped >= DROPPED);
        let host_network = worst(to.clone().filter_map(|&host| self.host_network(host, class)));
        host_network.or_else(|| worst(to.filter_map(|&host| self.ring(host))))
    }

    /// The ports on the way of the data of a class.
    pub(super) fn ports_of<'a>(&'a self, class: &'a Class) -> impl Iterator<Item = (PortView<'a>, PortTotals)> {
        self.ports().filter(|(port, _)| class.passes(port))
    }

    /// The cable between two names.
    pub(super) fn cable_words(&self, port: &PortView) -> String {
        let peer = port.peer().map_or("", |peer| self.name_of(peer));
        format!("{} to {peer}", self.name_of(port.end))
    }

    pub(super) fn full_cable(&self, class: &Class) -> Option<Limit> {
        let loads = self.ports_of(class).filter_map(|(port, before)| {
            let (sent, rate) = (self.sent_gbps(&port, before), self.rate_gbps(&port)?);
            Some((sent / rate, sent, rate, (port, before)))
        });
        let (load, sent, rate, (port, before)) =
            loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|full| full.0 >= FULL)?;
        let place = self.cable_words(&port);
        let mut why = format!("the cable {place} carries {sent:.1} of {rate:.0} Gbps");
        let flooded = self.flooded_gbps(&port, before).min(sent);
        if flooded / rate >= FLOODED {
            why += &format!(", {flooded:.1} of them flooded, as nobody knew where the receivers are");
        }
        Some(Limit { limit: "cable", place, load: Some(load), why })
    }

    /// The way through the fabric of a switch that learns to one of its ports.
    fn full_fabric(&self, class: &Class) -> Option<Limit> {
        let learning = |port: &PortView| match port.end {
            End::Switch(switch) => self.plan.cluster.switches[usize::from(switch)].learning,
            End::Host(_) => None,
        };
        let loads = self.ports_of(class).filter_map(|(port, before)| {
            let rate = learning(&port)?.fabric_bytes_per_s as f64 * GBPS;
            let carried = self.gbps(port.totals.carried_bytes - before.carried_bytes);
            Some((carried / rate, carried, rate, port))
        });
        let (load, carried, rate, port) = loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|full| full.0 >= FULL)?;
        let place = self.name_of(port.end).to_owned();
        let peer = port.peer().map_or("", |peer| self.name_of(peer));
        let why = format!("the fabric of {place} carries {carried:.1} of {rate:.0} Gbps to its port to {peer}");
        Some(Limit { limit: "fabric", place, load: Some(load), why })
    }

    pub(super) fn machine(&self, host: u16) -> Option<&Machine> {
        self.servers().find(|(number, _)| *number == usize::from(host)).map(|(_, machine)| machine)
    }

    /// The NIC of a receiver waits for PCIe credits because the IIO does not empty.
    fn host_network(&self, host: u16, class: &Class) -> Option<Limit> {
        let machine = self.machine(host)?;
        let nic = machine.first::<Nic>()?;
        let waits = nic.counters().credit_wait.mean();
        if waits < CREDIT_WAIT || machine.first::<Dimm>().is_some() {
            return None;
        }
        let fullest = |one: &&Domain, other: &&Domain| one.area_ps().cmp(&other.area_ps());
        let iio = machine.each::<Iio>().map(Iio::write).max_by(fullest)?;
        let params = &self.plan.cluster.hosts[usize::from(host)];
        let lines_each = (line_bytes(params.fidelity) / 64) as f64;
        let held = iio.area_ps() as f64 / self.window_ps() * lines_each;
        let capacity = f64::from(iio.capacity()) * lines_each;
        let FlowTotals { nic_received, .. } = class.totals;
        let dropped = 100.0 * class.totals.nic_dropped() as f64 / nic_received.max(1) as f64;
        let why = format!(
            "host network of {}: its NIC waits for PCIe credits {:.0} % of the time, the IIO holds {held:.0} of \
            {capacity:.0} lines; \
             the NIC drops {dropped:.3} % of packets",
            params.name,
            100.0 * waits
        );
        Some(Limit { limit: "host network", place: params.name.clone(), load: Some(waits), why })
    }

    /// The busiest core that the class has at a host.
    fn busy_cores(&self, limit: &'static str, host: u16, class: &Class) -> Option<Limit> {
        let machine = self.machine(host)?;
        let share = |times: &CoreTimes, spent| self.spent(times, spent);
        // Cores are numbered through the sockets.
        let core = |number: u32| machine.each::<Core>().nth(number as usize);
        let engines = class.cores(host).into_iter().filter_map(core).flat_map(Core::engines);
        let times = engines.filter_map(NetStack::of).map(NetStack::times);
        let busiest = times.min_by(|a, b| share(a, Spent::Idle).total_cmp(&share(b, Spent::Idle)))?;
        let busy = 1.0 - share(busiest, Spent::Idle);
        if busy < FULL {
            return None;
        }
        let waits = share(busiest, Spent::Register);
        let name = &self.plan.cluster.hosts[usize::from(host)].name;
        let in_dimm = machine.first::<Dimm>().is_some();
        if waits >= busy * register_wait(in_dimm) {
            let why = format!(
                "a core of {name} waits for {} of its NIC {:.0} % of the time: the way to them is long, or the \
                link is full",
                if in_dimm { "lines" } else { "registers" },
                waits * 100.0
            );
            return Some(Limit { limit: "not known", place: name.clone(), load: Some(waits), why });
        }
        let why = format!("a core of {name} is busy {:.0} % of the time: {}", busy * 100.0, self.spent_words(busiest));
        Some(Limit { limit, place: name.clone(), load: Some(busy), why })
    }

    fn pauses(&self, class: &Class) -> Option<Limit> {
        let paused = self.ports_of(class).map(|(port, _)| (self.paused_share(&port), port));
        let (share, port) = paused.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|paused| paused.0 >= WAIT)?;
        let place = self.cable_words(&port);
        let why = format!("the port {place} is paused {:.0} % of the time", share * 100.0);
        Some(Limit { limit: "pauses", place, load: Some(share), why })
    }

    fn ring(&self, host: u16) -> Option<Limit> {
        let nic = self.machine(host)?.first::<Nic>()?;
        let waits = nic.counters().descriptor_wait.mean();
        let name = &self.plan.cluster.hosts[usize::from(host)].name;
        let fetches = nic.counters().fetch_wait.mean();
        if fetches >= WAIT && fetches > waits {
            let why =
                format!("the NIC of {name} waits {:.0} % of the time for descriptors that it reads", fetches * 100.0);
            return Some(Limit { limit: "descriptor reads", place: name.clone(), load: Some(fetches), why });
        }
        let why = format!("the NIC of {name} waits for descriptors {:.0} % of the time", waits * 100.0);
        (waits >= WAIT).then(|| Limit { limit: "ring", place: name.clone(), load: Some(waits), why })
    }

    fn marks(&self, class: &Class) -> Option<Limit> {
        if class.has_requests() || !class.flows.iter().any(|flow| flow.transport.heeds_marks()) {
            return None;
        }
        let FlowTotals { sent_packets, received_segments, marked_segments, marked_by_host, .. } = class.totals;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let (marked, what) = match marked_by_host {
            0 => (share(marked_segments, received_segments), "segments are marked"),
            _ => (share(marked_by_host, sent_packets), "packets are marked by the control of its host"),
        };
        let why = format!("{:.1} % of its {what}, so that its senders slow down", marked * 100.0);
        (marked >= MARKED).then(|| Limit { limit: "marks", place: String::new(), load: Some(marked), why })
    }

    /// Nothing is full.
    fn waiting(&self, class: &Class) -> Limit {
        let (limit, why) = match (class.has_requests(), class.totals.timeouts) {
            _ if class.is_replay() => ("capture", "its packets are sent when the capture says".to_owned()),
            _ if class.is_onward() => ("input", "it sends on what comes, and has room for all of it".to_owned()),
            _ if class.is_open_loop() => ("clock", "its datagrams are sent when their rate says".to_owned()),
            (false, 0) if self.rings(class).next().is_some() => {
                ("not known", "nothing that is watched is full; how long packets wait for rings is not".to_owned())
            }
            (_, 0) if class.totals.host_sent == 0 && self.rings(class).next().is_none() => {
                ("silence", "its hosts sent nothing: it has not begun, or waits for a timeout".to_owned())
            }
            (_, 1..) => {
                let lost = class.totals.fabric_dropped + class.totals.nic_dropped();
                (
                    "timeouts",
                    format!("{} timeouts, {lost} packets lost; nothing on its way is full", class.totals.timeouts),
                )
            }
            (true, _) if class.is_of_services() => {
                ("clock", "nothing on its way is full: its requests come when their rate says".to_owned())
            }
            (true, _) => ("requests in flight", "nothing on its way is full: it waits for answers".to_owned()),
            (false, _) => {
                ("windows", "nothing on its way is full: it waits for its windows or its own clock".to_owned())
            }
        };
        Limit { limit, place: String::new(), load: None, why }
    }
}
