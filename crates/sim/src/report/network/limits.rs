//! What limits each class of traffic, by simple rules from what was measured.
//!
//! Of a job what takes most of its path is told, if that is known; else the first rule that holds: a full cable; a full
//! fabric of a switch that learns; a cable that is down or an application that does not read; the host network; busy
//! cores; pauses; a ring without descriptors; marks; losses. If none does, the class waits for answers or its windows.
//! A class whose flows begin at the rate of a load comes before all of these, if all of that load is carried.

use super::binds::JobPath;
use super::ways::Ways;
use crate::read::flows::FlowTotals;
use crate::read::ports::{PortPlace, PortTotals, PortView};
use crate::report::table::{Column, Holds, Rows, Table, TableInfo};
use crate::report::view::WorldView;
use hostnet_analysis::explain::{OutsideLimit, ENDED, NOT_MEASURED};
use hostnet_kernel::Time;
use hostnet_model::params::{End, FlowParams, Traffic};
use hostnet_model::Machine;
use std::collections::BTreeSet;

/// A cable is full, a core is busy, from this share on.
pub(super) const FULL: f64 = 0.95;
/// Packets wait for pauses, or for descriptors, when they do so for this share of time.
pub(super) const WAIT: f64 = 0.05;

/// What limits a class.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) limit: &'static str,
    pub(crate) place: String,
    pub(crate) load: Option<f64>,
    pub(crate) why: String,
}

/// A class by its name, and what limits it.
pub(crate) struct ClassLimit<'a> {
    pub(crate) class: &'a str,
    limit: Limit,
}

/// Limits at a server that its memory system may say more of.
const IN_HOST: [&str; 3] = ["host network", "PCIe", "memory bandwidth"];

impl ClassLimit<'_> {
    /// As a server of that name tells it of the class.
    pub(crate) fn at(&self, host: &str) -> OutsideLimit {
        let Limit { limit, place, why, .. } = &self.limit;
        OutsideLimit { limit: (*limit).to_owned(), why: why.clone(), in_host: place == host && IN_HOST.contains(limit) }
    }
}

/// The rows of the table.
struct Limits;

impl Rows for Limits {
    type Row<'a> = ClassLimit<'a>;
}

const LIMITS: &[Column<Limits>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::text("limit", |row| row.limit.limit.into()),
    Column::text("place", |row| row.limit.place.as_str().into()),
    Column::number("load", |row| row.limit.load.into()),
    Column::text("why", |row| row.limit.why.as_str().into()),
];

/// A class with its flows.
pub(crate) struct Class<'a> {
    /// The end of the window, in ps.
    pub(super) now_ps: u64,
    pub(crate) flows: Vec<&'a FlowParams>,
    /// The numbers of its flows, and what each of them did in the window.
    pub(super) numbers: Vec<usize>,
    pub(super) each: Vec<&'a FlowTotals>,
    pub(crate) totals: FlowTotals,
    /// It holds what all flows of the network did, by number.
    pub(super) all: &'a [FlowTotals],
    /// Whether its flows begin at random, at the rate of a load.
    pub(super) has_load: bool,
    ended: bool,
    /// The hosts that its data comes from, and goes to.
    pub(crate) hosts: [BTreeSet<u16>; 2],
    /// The ports that its data passes, in their order, and all of them.
    pub(super) ways: BTreeSet<Vec<PortPlace>>,
    passed: BTreeSet<PortPlace>,
}

/// Where the data of a flow comes from and goes to.
pub(super) fn directions(flow: &FlowParams) -> Vec<(u16, u16)> {
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
    /// The flows with these numbers, of flows that all together did `all`. Which ports they pass is known where there
    /// are `ways`.
    fn new(view: &'a WorldView, own: &[usize], all: &'a [FlowTotals], ended: bool, ways: Option<&Ways>) -> Self {
        let each: Vec<&FlowTotals> = own.iter().map(|&flow| &all[flow]).collect();
        let totals = each.iter().fold(FlowTotals::default(), |sum, flow| sum.plus(flow));
        let has_load = own.first().is_some_and(|&flow| view.has_load(usize::from(view.plan.cluster.flows[flow].class)));
        let flows: Vec<&FlowParams> = own.iter().map(|&flow| &view.plan.cluster.flows[flow]).collect();
        let (mut hosts, mut passed_ways) = ([BTreeSet::new(), BTreeSet::new()], BTreeSet::new());
        for (&number, flow) in own.iter().zip(&flows) {
            for (from, to) in directions(flow) {
                hosts[0].insert(from);
                hosts[1].insert(to);
                passed_ways.extend(ways.map(|ways| ways.places(number as u32, from, to)));
            }
        }
        let passed = passed_ways.iter().flatten().copied().collect();
        let (now_ps, numbers, ways) = (view.now.ps(), own.to_vec(), passed_ways);
        Self { now_ps, flows, numbers, each, totals, all, has_load, ended, hosts, ways, passed }
    }

    /// Whether a port is on its way.
    fn passes(&self, port: &PortView) -> bool {
        match port.end {
            End::Host(host) => self.hosts[0].contains(&host),
            End::Switch(_) => self.passed.contains(&port.place()),
        }
    }

    /// Whether its requests come in an open loop.
    pub(super) fn is_of_services(&self) -> bool {
        self.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Service(_)))
    }

    pub(super) fn has_requests(&self) -> bool {
        let with = |flow: &&FlowParams| {
            matches!(flow.traffic, Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Ping { .. })
        };
        self.flows.iter().any(with)
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

/// Returns the roles of the table's columns.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("limits", LIMITS).holding(Holds::Explanations)
}

impl WorldView<'_> {
    /// A row for every class.
    pub(super) fn limits(&self, limits: &[ClassLimit]) -> Table {
        let mut table = Table::of("limits", LIMITS);
        limits.iter().for_each(|row| table.add(LIMITS, row));
        table
    }

    /// What limits every class.
    pub(super) fn class_limits(
        &self,
        flows: &[FlowTotals],
        completed: &[Option<Time>],
        paths: &[JobPath],
    ) -> Vec<ClassLimit<'_>> {
        let cluster = &self.plan.cluster;
        let ways = Ways::new(self);
        let class_of = |own: &[usize]| {
            let ended = own.iter().all(|&flow| completed[flow].is_some());
            Class::new(self, own, flows, ended, ways.as_ref())
        };
        let numbers =
            |class| (0..cluster.flows.len()).filter(move |&flow| usize::from(cluster.flows[flow].class) == class);
        let limit = |(index, name): (usize, &'_ String)| {
            let own: Vec<usize> = numbers(index).collect();
            let class = class_of(&own);
            if self.now == self.window_start {
                return self.limit(&class);
            }
            let limit =
                self.on_path(name, paths, || self.ranks_on_cores(name, &class).unwrap_or_else(|| self.limit(&class)));
            let onward = self.onward(&own).filter(|_| limit.load.is_none());
            onward.and_then(|onward| self.held_onward(&class, &class_of(&onward))).unwrap_or(limit)
        };
        let classes = cluster.classes.iter().enumerate();
        classes
            .map(|(index, name)| ClassLimit { class: name, limit: self.with_drift(index, limit((index, name))) })
            .collect()
    }

    pub(super) fn limit(&self, class: &Class) -> Limit {
        if self.now == self.window_start {
            let why = "the run was stopped when its warm-up ended".to_owned();
            return Limit { limit: NOT_MEASURED, place: String::new(), load: None, why };
        }
        if let Some(limit) = self.offered_load(class) {
            return limit;
        }
        if class.ended {
            let why = "all its flows have ended".to_owned();
            return Limit { limit: ENDED, place: String::new(), load: None, why };
        }
        let [from, to] = &class.hosts;
        let full = self.dropping(class).or_else(|| self.full_way(class));
        full.or_else(|| self.full_fabric(class))
            .or_else(|| self.cable_down(class))
            .or_else(|| self.deaf(class))
            .or_else(|| self.behind_nics(class))
            .or_else(|| self.before_nics(class))
            .or_else(|| worst(to.union(from).filter_map(|&host| self.in_dimm(host))))
            .or_else(|| self.busy_cores("receiver cores", to, class))
            .or_else(|| self.busy_cores("sender cores", from, class))
            .or_else(|| self.driver_core(class))
            .or_else(|| self.busy_workers(class))
            .or_else(|| self.pauses(class))
            .or_else(|| worst(to.iter().filter_map(|&host| self.ring(host))))
            .or_else(|| self.marks(class))
            .or_else(|| if class.totals.timeouts > 0 { None } else { self.losses(class) })
            .or_else(|| if class.totals.timeouts > 0 { None } else { self.waiting_ranks(class) })
            .or_else(|| worst(from.iter().filter_map(|&host| self.full_reads(host))))
            .or_else(|| worst(from.iter().filter_map(|&host| self.full_send_window(host))))
            .or_else(|| self.congestion_control(class))
            .or_else(|| self.gives_up(class))
            .or_else(|| self.full_reverse_path(class))
            .unwrap_or_else(|| self.waiting(class))
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

    pub(super) fn machine(&self, host: u16) -> Option<&Machine> {
        self.servers().find(|(number, _)| *number == usize::from(host)).map(|(_, machine)| machine)
    }
}
