//! Writes a trace as a file for the Perfetto UI.
//!
//! The messages are those of Perfetto's `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`, with
//! the fields that are needed here. A file is a sequence of packets; repeated names are interned in the first packet.

use hostnet_model::transport::stage_times::Stage;
use hostnet_sim::sample::PoolGroup;
use hostnet_sim::{lanes, passage_lanes, Crossing, Hop, Part, Trace};
use prost::Message;
use std::collections::BTreeMap;

/// Id of the packet sequence that every packet belongs to.
const SEQUENCE: u32 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED` of the first packet, and `SEQ_NEEDS_INCREMENTAL_STATE` of the others.
const STATE_CLEARED: u32 = 1;
const STATE_NEEDED: u32 = 2;
/// `UNIT_COUNT` of a counter.
const UNIT_COUNT: i32 = 2;
/// `EXPLICIT` order of the tracks of a part: its counters first, then its entries by number.
const EXPLICIT: i32 = 3;
/// Number of sort ranks reserved for the entries of one buffer.
const RANKS: i32 = 1000;
/// Protobuf tag of a packet in a file.
const PACKET_TAG: u8 = 1 << 3 | 2;

/// `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Counter = 4,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(double, optional, tag = "44")]
    double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Name {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "1")]
    event_categories: Vec<Name>,
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<Name>,
    #[prost(message, repeated, tag = "3")]
    debug_annotation_names: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct CounterDescriptor {
    #[prost(int32, optional, tag = "3")]
    unit: Option<i32>,
    #[prost(string, optional, tag = "6")]
    unit_name: Option<String>,
}

/// Name of the slice of a datagram, which encloses those of its stages.
const DATAGRAM: &str = "datagram";
/// Names of the annotations of a crossing.
const ANNOTATIONS: [&str; 4] = ["channel", "bank", "row", "column"];

/// Returns the trace of a server as the bytes of a file. `workloads` are the names of its workloads.
pub(crate) fn file(trace: &Trace, workloads: &[&str]) -> Vec<u8> {
    let mut file = File { bytes: Vec::new(), tracks: BTreeMap::new() };
    file.begin(workloads);
    let mut events = file.counters(trace);
    events.extend(file.crossings(trace));
    events.extend(file.passages(trace, workloads));
    // The sort is stable: events of one track at the same time keep their order.
    events.sort_by_key(|event| event.at_ns);
    for event in &events {
        file.event(event, trace);
    }
    file.bytes
}

/// An event of the file before it is encoded.
struct Event {
    at_ns: u64,
    track: u64,
    what: What,
}

enum What {
    /// Begin of a crossing, by its index.
    Crossing(usize),
    /// Begin of a hop of the crossing.
    Hop(Hop),
    /// Begin of a datagram of a workload, by the index of the workload.
    Passage(u8),
    /// Begin of a stage of the datagram.
    Stage(Stage),
    /// End of the slice that began last.
    End,
    /// New value of a counter.
    Counter(f64),
}

/// A file that is being written.
struct File {
    bytes: Vec<u8>,
    /// Id of each track, by its parent's id (0: none) and its name.
    tracks: BTreeMap<(u64, String), u64>,
}

impl File {
    fn write(&mut self, packet: Packet) {
        // A trace is one message of repeated packets, so that packets can be appended one by one.
        self.bytes.push(PACKET_TAG);
        let packet = Packet { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        packet.encode_length_delimited(&mut self.bytes).expect("a vector has room");
    }

    /// Writes the first packet, which interns the names.
    fn begin(&mut self, workloads: &[&str]) {
        let names = |names: Vec<&str>| {
            let named = names.into_iter().zip(1..);
            // Perfetto reserves iid 0.
            named.map(|(name, iid)| Name { iid: Some(iid), name: Some(name.to_owned()) }).collect()
        };
        let groups = PoolGroup::ALL.iter().map(|group| group.name());
        let hops = Hop::ALL.iter().map(|hop| hop.name());
        let stages = Stage::ALL.iter().map(|stage| stage.name());
        let interned = InternedData {
            event_categories: names(workloads.to_vec()),
            event_names: names(groups.chain(hops).chain(stages).chain([DATAGRAM]).collect()),
            debug_annotation_names: names(ANNOTATIONS.to_vec()),
        };
        let flags = Some(STATE_CLEARED);
        self.write(Packet { interned_data: Some(interned), sequence_flags: flags, ..Packet::default() });
    }

    /// Returns the id of a track. A new track is described by `more`.
    fn track(&mut self, parent: u64, name: String, more: TrackDescriptor) -> u64 {
        let next = self.tracks.len() as u64 + 1;
        let track = *self.tracks.entry((parent, name.clone())).or_insert(next);
        if track == next {
            let parent_uuid = (parent > 0).then_some(parent);
            let descriptor = TrackDescriptor { uuid: Some(track), name: Some(name), parent_uuid, ..more };
            self.write(Packet { track_descriptor: Some(descriptor), ..Packet::default() });
        }
        track
    }

    fn part(&mut self, part: Part) -> u64 {
        let name = match part.kind {
            "cha" | "iio" => part.kind.to_uppercase(),
            _ => part.name(),
        };
        self.track(0, name, TrackDescriptor { child_ordering: Some(EXPLICIT), ..TrackDescriptor::default() })
    }

    fn counters(&mut self, trace: &Trace) -> Vec<Event> {
        let mut events = Vec::new();
        for counter in &trace.counters {
            let parent = self.part(counter.part);
            let unit_name = Some(format!("of {} entries", counter.capacity));
            let kind = CounterDescriptor { unit: Some(UNIT_COUNT), unit_name };
            let descriptor = TrackDescriptor { counter: Some(kind), ..ranked(counter.group as i32) };
            let track = self.track(parent, counter.group.name().to_owned(), descriptor);
            let point = |&(at_ps, value)| Event { at_ns: at_ps / 1000, track, what: What::Counter(value) };
            events.extend(counter.points.iter().map(point));
        }
        events
    }

    fn crossings(&mut self, trace: &Trace) -> Vec<Event> {
        let mut events = Vec::new();
        let (entries, order) = lanes(&trace.crossings);
        for index in order {
            let (part, buffer, entry) = entries[index];
            let parent = self.part(part);
            // After the counters, whose ranks are below those of the first buffer.
            let rank = RANKS * (buffer as i32 + 1) + entry as i32;
            let track = self.track(parent, format!("{} entry {entry}", buffer.name()), ranked(rank));
            let mut add = |at_ps: u64, what| events.push(Event { at_ns: at_ps / 1000, track, what });
            let crossing = &trace.crossings[index];
            add(crossing.start_ps, What::Crossing(index));
            for (hop, start_ps, end_ps) in crossing.hops() {
                add(start_ps, What::Hop(hop));
                add(end_ps, What::End);
            }
            add(crossing.end_ps, What::End);
        }
        events
    }

    /// Returns the events of the datagrams of each workload, in lanes below the workload, with their stages.
    fn passages(&mut self, trace: &Trace, workloads: &[&str]) -> Vec<Event> {
        let mut events = Vec::new();
        for (passage, lane) in trace.passages.iter().zip(passage_lanes(&trace.passages)) {
            let class = workloads.get(usize::from(passage.class)).copied().unwrap_or_default();
            let ordered = TrackDescriptor { child_ordering: Some(EXPLICIT), ..TrackDescriptor::default() };
            let parent = self.track(0, format!("datagrams of {class}"), ordered);
            let track = self.track(parent, format!("datagram {lane}"), ranked(lane as i32));
            let mut add = |at_ps: u64, what| events.push(Event { at_ns: at_ps / 1000, track, what });
            add(passage.start_ps(), What::Passage(passage.class));
            for (stage, start_ps, end_ps) in passage.stages() {
                add(start_ps, What::Stage(stage));
                add(end_ps, What::End);
            }
            add(passage.end_ps(), What::End);
        }
        events
    }

    fn event(&mut self, event: &Event, trace: &Trace) {
        let track_event = match event.what {
            What::Crossing(index) => crossing(&trace.crossings[index], event.track),
            What::Hop(hop) => named(name_of_hop(hop), event.track),
            What::Passage(class) => TrackEvent {
                category_iids: vec![u64::from(class) + 1],
                ..named(name_of_stage(Stage::ALL.len()), event.track)
            },
            What::Stage(stage) => named(name_of_stage(stage as usize), event.track),
            What::End => of_type(Type::End, event.track),
            What::Counter(value) => {
                TrackEvent { double_counter_value: Some(value), ..of_type(Type::Counter, event.track) }
            }
        };
        let (timestamp, sequence_flags) = (Some(event.at_ns), Some(STATE_NEEDED));
        self.write(Packet { timestamp, track_event: Some(track_event), sequence_flags, ..Packet::default() });
    }
}

/// Describes a track with its sort rank among the tracks of its part.
fn ranked(rank: i32) -> TrackDescriptor {
    TrackDescriptor { sibling_order_rank: Some(rank), ..TrackDescriptor::default() }
}

/// Encodes the begin of a crossing.
fn crossing(crossing: &Crossing, track: u64) -> TrackEvent {
    TrackEvent {
        category_iids: vec![u64::from(crossing.class) + 1],
        debug_annotations: annotations(crossing),
        flow_ids: vec![crossing.line + 1],
        ..named(crossing.group as u64 + 1, track)
    }
}

fn of_type(kind: Type, track: u64) -> TrackEvent {
    TrackEvent { r#type: Some(kind as i32), track_uuid: Some(track), ..TrackEvent::default() }
}

/// Encodes the begin of a slice.
fn named(name: u64, track: u64) -> TrackEvent {
    TrackEvent { name_iid: Some(name), ..of_type(Type::Begin, track) }
}

fn name_of_hop(hop: Hop) -> u64 {
    (PoolGroup::ALL.len() + hop as usize) as u64 + 1
}

/// Interned id of the name of a stage; the id after the last stage is that of a datagram.
fn name_of_stage(number: usize) -> u64 {
    (PoolGroup::ALL.len() + Hop::ALL.len() + number) as u64 + 1
}

fn annotations(crossing: &Crossing) -> Vec<DebugAnnotation> {
    let place = crossing.place;
    let values = [place.channel.into(), place.bank.into(), u64::from(place.row), place.column.into()];
    let annotation = |(value, iid)| DebugAnnotation { name_iid: Some(iid), uint_value: Some(value) };
    values.into_iter().zip(1..).map(annotation).collect()
}
