//! Events of a run as records: what happened, to whom, and for which line.

use hostnet_config::Plan;
use hostnet_kernel::{ComponentId, Event, Observer};
use hostnet_model::memory::Place;
use hostnet_model::{Kind, Machine, PartName, Payload, RequestId};
use serde_json::{json, Value};

/// A part of a server by its kind and number. Unlike the number of a component it means the same in two servers that
/// differ in how much they have of the other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// As in reports: `core`, `cha`, `channel`, `iio`, `ssd`, `nic`, `upi`, `remote` (a core of another socket),
    /// `control` or `feeder`; `network` for what is outside of the server.
    pub kind: &'static str,
    /// Its number among its kind.
    pub number: u32,
}

impl From<PartName> for Part {
    fn from(name: PartName) -> Self {
        Self { kind: name.kind.name(), number: name.number }
    }
}

impl Part {
    /// The part of a server that a component is.
    #[must_use]
    pub fn of(machine: &Machine, component: ComponentId) -> Self {
        machine.name(component).map_or(Self { kind: "network", number: component.0 }, Self::from)
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
    pub kind: Kind,
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
    fn of(event: &Event<Payload>, machine: &Machine) -> Self {
        Self {
            at_ps: event.time.ps(),
            source: Part::of(machine, event.source),
            target: Part::of(machine, event.target),
            payload: event.payload,
            line: request_of(event.payload).map(|id| {
                let request = machine.requests().get(id);
                Line { kind: request.kind, class: request.class, place: request.place }
            }),
        }
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
        let workload = class.and_then(|class| plan.server.workloads.get(class as usize));
        json!({
            "time_ns": self.at_ps as f64 / 1000.0,
            "part": self.target.name(),
            "event": event,
            "from": self.source.name(),
            "request": request,
            "kind": self.line.map(|line| kind_name(line.kind)),
            "channel": self.line.map(|line| line.place.channel),
            "bank": self.line.map(|line| line.place.bank),
            "row": self.line.map(|line| line.place.row),
            "column": self.line.map(|line| line.place.column),
            "workload": workload.map(|workload| &workload.name),
            "details": details,
        })
    }
}

/// What a request does, in words.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::CoreRead => "core read",
        Kind::CoreWrite => "core write",
        Kind::CoreClean => "core clean line",
        Kind::Evict => "LLC write",
        Kind::Directory => "directory write",
        Kind::IoRead => "IO read",
        Kind::IoWrite => "IO write",
        Kind::IoPut => "IO write to LLC",
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

/// All events of a stretch of a run, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventLog {
    pub(crate) records: Vec<EventRecord>,
}

impl Observer<Machine> for EventLog {
    fn before(&mut self, event: &Event<Payload>, machine: &Machine) {
        self.records.push(EventRecord::of(event, machine));
    }

    fn after(&mut self, _event: &Event<Payload>, _machine: &Machine) {}
}
