//! Records the events of a run: the event, its part and its line.

use hostnet_config::Plan;
use hostnet_kernel::{ComponentId, Event, Observer, Simulation};
use hostnet_model::ether::Fabric;
use hostnet_model::memory::DramAddress;
use hostnet_model::params::HostKind;
use hostnet_model::World;
use hostnet_model::{Machine, PartName, Payload, RequestId, RequestKind};
use serde_json::{json, Value};

/// A part of a world by its kind and number. Unlike a component id, the number has the same meaning in two servers
/// with different numbers of other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Kind as in reports: `core`, `cha`, `channel`, `iio`, `ssd`, `nic`, `upi`, `remote` (a core of another socket),
    /// `control` (host congestion control) or `feeder` (the packet source of the runs that measure the rates of the
    /// fluid fidelity); between hosts `switch` or `endpoint`; `network` for a component outside of the server.
    pub kind: &'static str,
    /// Number among the parts of this kind.
    pub number: u32,
    /// Server that the part belongs to, by its number among the servers; `None` between hosts.
    pub server: Option<u16>,
}

impl From<PartName> for Part {
    fn from(name: PartName) -> Self {
        Self { kind: name.kind.name(), number: name.number, server: Some(0) }
    }
}

impl Part {
    /// Returns the part of a server that a component is.
    #[must_use]
    pub fn of(machine: &Machine, component: ComponentId) -> Self {
        let outside = Self { kind: "network", number: component.0, server: None };
        machine.name(component).map_or(outside, Self::from)
    }

    /// Returns the name of the part in reports of a plan, with the name of its host if there are several.
    fn name_in(self, plan: &Plan) -> String {
        let mut hosts = plan.servers().map(|(host, _)| &host.name);
        match self.server.and_then(|server| hosts.nth(usize::from(server))) {
            Some(host) if !host.is_empty() => format!("{host} {}", self.name()),
            _ => self.name(),
        }
    }

    /// Returns the name of the part in reports, such as `core 3`.
    #[must_use]
    pub fn name(self) -> String {
        match self.kind {
            "cha" | "iio" | "nic" | "control" => self.kind.to_owned(),
            kind => format!("{kind} {}", self.number),
        }
    }
}

/// Line that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// Kind of the request for the line.
    pub kind: RequestKind,
    /// Workload that the request belongs to.
    pub class: u8,
    /// Place of the line in DRAM.
    pub place: DramAddress,
}

/// One event. Two records are equal if the same event occurs at the same time at the same part for the same line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Time of the event, in ps.
    pub at_ps: u64,
    /// Part that sent the event.
    pub source: Part,
    /// Part that receives the event.
    pub target: Part,
    /// Payload of the event.
    pub payload: Payload,
    /// Line that the event is about, in its state before the event.
    pub line: Option<EventLine>,
}

impl EventRecord {
    fn of(event: &Event<Payload>, world: &World, places: &PartTable) -> Self {
        let line = |machine: &Machine| {
            event_request(event.payload).map(|id| {
                let request = machine.requests().get(id);
                EventLine { kind: request.kind, class: request.class, place: request.place }
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

    /// Returns the name of a workload of the server that receives the event.
    fn workload(self, plan: &Plan, class: usize) -> Option<&str> {
        let servers = plan.cluster.hosts.iter().filter_map(|host| match &host.kind {
            HostKind::Server(server) => Some(server),
            _ => None,
        });
        let own = &servers.into_iter().nth(usize::from(self.target.server?))?.workloads;
        // Classes of the network are numbered after the workloads of the server.
        let of_network = || plan.cluster.classes.get(class - own.len()).map(String::as_str);
        own.get(class).map_or_else(of_network, |workload| Some(&workload.name))
    }

    /// Returns the record as JSON. `plan` has the names of the workloads.
    #[must_use]
    pub fn json(&self, plan: &Plan) -> Value {
        let (event, mut details) = name_and_details(self.payload);
        let request = event_request(self.payload).map(|id| id.0);
        // The request is all that the payload holds, and it has a field of its own.
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

/// Returns the words for a kind of request.
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

/// Returns the request that an event is about.
#[must_use]
pub(crate) fn event_request(payload: Payload) -> Option<RequestId> {
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

/// Returns the name of an event, and the remaining fields of its payload.
fn name_and_details(payload: Payload) -> (String, Value) {
    match serde_json::to_value(payload) {
        Ok(Value::String(name)) => (name, Value::Null),
        Ok(Value::Object(variant)) => variant.into_iter().next().unwrap_or_default(),
        _ => (format!("{payload:?}"), Value::Null),
    }
}

/// Maps components to parts.
#[derive(Clone, Debug, Default)]
struct PartTable {
    /// First component and parts of each server.
    servers: Vec<(u32, Vec<Part>)>,
    /// Kind and number of each component between hosts; `first` is the first of these components.
    between: Vec<(&'static str, u32)>,
    first: u32,
}

impl PartTable {
    fn read(simulation: &Simulation<World>) -> Self {
        let mut places = Self::default();
        for world in simulation.worlds() {
            match world {
                World::Server(machine) => places.servers.push(parts_of(machine, places.servers.len() as u16)),
                World::Fabric(fabric) => {
                    // Partitions of the network come in the order of their components, so the first one has the first.
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

/// Returns the first component of a server, and the parts of this component and those after it.
fn parts_of(machine: &Machine, server: u16) -> (u32, Vec<Part>) {
    let first = machine.first_id().0;
    let part = |id: u32| Part { server: Some(server), ..Part::of(machine, ComponentId(id)) };
    (first, (first..).take(machine.components().len()).map(part).collect())
}

/// Returns the kinds and numbers of switches and endpoints, in the order of their components.
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
    places: PartTable,
}

impl EventLog {
    /// Creates an empty log for the world of `simulation`.
    pub(crate) fn of(simulation: &Simulation<World>) -> Self {
        Self { records: Vec::new(), places: PartTable::read(simulation) }
    }

    /// Sorts the events of all partitions by time.
    pub(crate) fn in_order(mut self) -> Self {
        // A stable sort: events of one partition at the same time stay in their order.
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
