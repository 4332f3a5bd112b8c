//! Events of a run as records: what happened, to whom, and for which line.

use hostnet_config::Plan;
use hostnet_kernel::{ComponentId, Event, Observer, Simulation};
use hostnet_model::ether::Fabric;
use hostnet_model::memory::Place;
use hostnet_model::params::HostKind;
use hostnet_model::World;
use hostnet_model::{Machine, PartName, Payload, RequestId, RequestKind};
use serde_json::{json, Value};

/// A part of a world by its kind and number. Unlike the number of a component it means the same in two servers that
/// differ in how much they have of the other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// As in reports: `core`, `cha`, `channel`, `iio`, `ssd`, `nic`, `upi`, `remote` (a core of another socket),
    /// `control` or `feeder`; between hosts `switch` or `endpoint`, and `network` for what is outside of the server.
    pub kind: &'static str,
    /// Its number among its kind.
    pub number: u32,
    /// The server that it is a part of, by its number among the servers; none between hosts.
    pub server: Option<u16>,
}

impl From<PartName> for Part {
    fn from(name: PartName) -> Self {
        Self { kind: name.kind.name(), number: name.number, server: Some(0) }
    }
}

impl Part {
    /// The part of a server that a component is.
    #[must_use]
    pub fn of(machine: &Machine, component: ComponentId) -> Self {
        let outside = Self { kind: "network", number: component.0, server: None };
        machine.name(component).map_or(outside, Self::from)
    }

    /// Its name in reports of a plan: with that of its host where there are several.
    fn name_in(self, plan: &Plan) -> String {
        let mut hosts = plan.servers().map(|(host, _)| &host.name);
        match self.server.and_then(|server| hosts.nth(usize::from(server))) {
            Some(host) if !host.is_empty() => format!("{host} {}", self.name()),
            _ => self.name(),
        }
    }

    /// Its name in reports, such as `core 3`.
    #[must_use]
    pub fn name(self) -> String {
        match self.kind {
            "cha" | "iio" | "nic" | "control" => self.kind.to_owned(),
            kind => format!("{kind} {}", self.number),
        }
    }
}

/// The line that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// What its request does.
    pub kind: RequestKind,
    /// The workload that caused it.
    pub class: u8,
    /// Where it lies.
    pub place: Place,
}

/// One event. Two records are equal when the same happens at the same time to the same part for the same line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// When it happens, in ps.
    pub at_ps: u64,
    /// Who sent it.
    pub source: Part,
    /// Whom it happens to.
    pub target: Part,
    /// What happens.
    pub payload: Payload,
    /// The line that it is about, before the event.
    pub line: Option<Line>,
}

impl EventRecord {
    fn of(event: &Event<Payload>, world: &World, places: &Places) -> Self {
        let line = |machine: &Machine| {
            request_of(event.payload).map(|id| {
                let request = machine.requests().get(id);
                Line { kind: request.kind, class: request.class, place: request.place }
            })
        };
        Self {
            at_ps: event.time.ps(),
            source: places.of(event.source),
            target: places.of(event.target),
            payload: event.payload,
            line: match world {
                World::Server(machine) => line(machine),
                World::Fabric(_) | World::Remote => None,
            },
        }
    }

    /// The name of a workload of the server that it happens to.
    fn workload(self, plan: &Plan, class: usize) -> Option<&str> {
        let servers = plan.cluster.hosts.iter().filter_map(|host| match &host.kind {
            HostKind::Server(server) => Some(server),
            _ => None,
        });
        let own = &servers.into_iter().nth(usize::from(self.target.server?))?.workloads;
        let of_network = || plan.cluster.classes.get(class - own.len()).map(String::as_str);
        own.get(class).map_or_else(of_network, |workload| Some(&workload.name))
    }

    /// The record for people and programs; `plan` knows the names of the workloads.
    #[must_use]
    pub fn json(&self, plan: &Plan) -> Value {
        let (event, mut details) = name_and_details(self.payload);
        let request = request_of(self.payload).map(|id| id.0);
        if request.is_some() {
            details = Value::Null;
        }
        let class = self.line.map(|line| u64::from(line.class)).or_else(|| details["class"].as_u64());
        let workload = class.and_then(|class| self.workload(plan, class as usize));
        json!({
            "time_ns": self.at_ps as f64 / 1000.0,
            "part": self.target.name_in(plan),
            "event": event,
            "from": self.source.name_in(plan),
            "request": request,
            "kind": self.line.map(|line| kind_name(line.kind)),
            "channel": self.line.map(|line| line.place.channel),
            "bank": self.line.map(|line| line.place.bank),
            "row": self.line.map(|line| line.place.row),
            "column": self.line.map(|line| line.place.column),
            "workload": workload,
            "details": details,
        })
    }
}

/// What a request does, in words.
fn kind_name(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::CoreRead => "core read",
        RequestKind::CoreWrite => "core write",
        RequestKind::CoreClean => "core clean line",
        RequestKind::CoreDrop => "core dropped line",
        RequestKind::Flush => "core flush",
        RequestKind::FlushDoorbell => "core flush of a doorbell",
        RequestKind::FlushTail => "core flush of a tail",
        RequestKind::Evict => "LLC write",
        RequestKind::Directory => "directory write",
        RequestKind::IoRead => "IO read",
        RequestKind::IoWrite => "IO write",
        RequestKind::IoPut => "IO write to LLC",
        RequestKind::IoOwn => "IO ownership",
        RequestKind::Snoop => "snoop",
        RequestKind::Speculate => "read ahead",
        RequestKind::CoreFetch => "core read past caches",
        RequestKind::CorePost => "core write past caches",
    }
}

/// The request that an event is about.
#[must_use]
pub(crate) fn request_of(payload: Payload) -> Option<RequestId> {
    match payload {
        Payload::Data(id)
        | Payload::Admitted(id)
        | Payload::Taken(id)
        | Payload::Arrive(id)
        | Payload::Accepted(id)
        | Payload::Read(id)
        | Payload::Issued(id)
        | Payload::Acknowledged(id) => Some(id),
        _ => None,
    }
}

/// The name of what happens, and what else the event says.
fn name_and_details(payload: Payload) -> (String, Value) {
    match serde_json::to_value(payload) {
        Ok(Value::String(name)) => (name, Value::Null),
        Ok(Value::Object(variant)) => variant.into_iter().next().unwrap_or_default(),
        _ => (format!("{payload:?}"), Value::Null),
    }
}

/// Which part a component is.
#[derive(Clone, Debug, Default)]
struct Places {
    /// Of each server its first component, and its parts.
    servers: Vec<(u32, Vec<Part>)>,
    /// What is between hosts, and the first component there.
    between: Vec<(&'static str, u32)>,
    first: u32,
}

impl Places {
    fn read(simulation: &Simulation<World>) -> Self {
        let mut places = Self::default();
        for world in simulation.worlds() {
            match world {
                World::Server(machine) => places.servers.push(parts_of(machine, places.servers.len() as u16)),
                World::Fabric(fabric) => {
                    if places.between.is_empty() {
                        places.first = fabric.component(0).0;
                    }
                    places.between.extend(between(fabric));
                }
                World::Remote => {}
            }
        }
        places
    }

    fn of(&self, component: ComponentId) -> Part {
        let place = |(first, parts): &(u32, Vec<Part>)| parts.get(component.0.checked_sub(*first)? as usize).copied();
        let at_home = self.servers.iter().find_map(place);
        at_home.unwrap_or_else(|| self.between_hosts(component.0.saturating_sub(self.first) as usize))
    }

    fn between_hosts(&self, index: usize) -> Part {
        let (kind, number) = self.between.get(index).copied().unwrap_or(("endpoint", self.between.len() as u32));
        Part { kind, number, server: None }
    }
}

/// The first component of a server, and the parts that it and those after it are.
fn parts_of(machine: &Machine, server: u16) -> (u32, Vec<Part>) {
    let first = machine.first_id().0;
    let part = |id: u32| Part { server: Some(server), ..Part::of(machine, ComponentId(id)) };
    (first, (first..).take(machine.components().len()).map(part).collect())
}

/// What the switches and endpoints are called, and their numbers, in the order of their components.
fn between(fabric: &Fabric) -> Vec<(&'static str, u32)> {
    let mut switches = fabric.numbered_switches().map(|(number, _)| number);
    let places = fabric.endpoint_places();
    let mut endpoints = vec![None; fabric.nodes().len()];
    places.iter().for_each(|&(number, place)| endpoints[place as usize] = Some(("endpoint", number)));
    endpoints.into_iter().map(|name| name.unwrap_or_else(|| ("switch", switches.next().unwrap_or_default()))).collect()
}

/// All events of a stretch of a run, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventLog {
    pub(crate) records: Vec<EventRecord>,
    places: Places,
}

impl EventLog {
    /// An empty log of a world.
    pub(crate) fn of(simulation: &Simulation<World>) -> Self {
        Self { records: Vec::new(), places: Places::read(simulation) }
    }

    /// The events of all partitions in the order of time.
    pub(crate) fn in_order(mut self) -> Self {
        self.records.sort_by_key(|record| record.at_ps);
        self
    }
}

impl Observer<World> for EventLog {
    fn before(&mut self, event: &Event<Payload>, world: &World) {
        self.records.push(EventRecord::of(event, world, &self.places));
    }

    fn after(&mut self, _event: &Event<Payload>, _world: &World) {}
}
