//! `[transport.*]`.

use super::tables;
use crate::code::Code;
use crate::error::{nearest, suggestion, Issue};
use crate::layers::overlay;
use crate::presets::{transport as embedded, transports};
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    share_in_16_bits, BaseSpec, ClusterSpec, CongestionControl, DcqcnParams, RoceParams, Size, TcpParams, Transport,
    TransportSpec,
};
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of the headers of IP and TCP with time stamps.
const TCP_HEADER_BYTES: u32 = 20 + 20 + 12;
/// Bytes of the headers of IP, UDP, BTH and RETH, and of the ICRC of RoCE v2.
const ROCE_HEADER_BYTES: u32 = 20 + 8 + 12 + 16 + 4;
const PAYLOAD_MIN_BYTES: u32 = 256;
const PAYLOAD_MAX_BYTES: u32 = 4096;
/// Default priority class of packets of RoCE.
const ROCE_PRIORITY: u8 = 3;

/// Fills in every transport from its base, and adds built-in transports that flows and jobs name.
pub(super) fn fill(tree: &mut Value) -> Result<(), Issue> {
    let mut named: Vec<String> = Vec::new();
    for kind in ["flow", "job"] {
        named.extend(tables(tree, kind).filter_map(|(_, table)| Some(table.get("transport")?.as_str()?.to_string())));
    }
    // Flows and jobs that name no transport use these.
    let defaults = ["dctcp", "roce"].map(str::to_string);
    for name in named.into_iter().chain(defaults).filter(|name| transports().any(|known| known == name)) {
        if tree["transport"].is_null() {
            tree["transport"] = json!({});
        }
        if tree["transport"].get(&name).is_none() {
            tree["transport"][&name] = json!({});
        }
    }
    for (name, table) in tables(tree, "transport") {
        let path = super::table("transport", name);
        let base = match table.get("base").and_then(Value::as_str) {
            Some(base) => base.to_string(),
            None if transports().any(|known| known == name) => name.clone(),
            None => return Err(without_base(name, &path)),
        };
        let mut values = embedded(&base, &format!("{path}.base"))?;
        overlay(&mut values, table);
        *table = values;
    }
    Ok(())
}

/// Returns the issue of a transport that is not built in and has no base.
fn without_base(name: &str, path: &str) -> Issue {
    let message = match nearest(name, transports()) {
        Some(near) => format!("missing; did you mean [transport.{near}]?"),
        None => format!("missing; one of {} is wanted", transports().collect::<Vec<_>>().join(", ")),
    };
    Issue::new(Code::MissingKey, format!("{path}.base"), message)
}

/// Returns notes about unused transports with names similar to a used built-in one; `given` are the user's keys.
pub(super) fn mistyped(spec: &ClusterSpec, given: &[String]) -> Vec<String> {
    let of_flows = spec.flow.values().map(|flow| &flow.transport);
    let used: BTreeSet<&str> =
        of_flows.chain(spec.job.values().map(|job| &job.transport)).flatten().map(String::as_str).collect();
    let is_given = |name: &str| {
        let table = super::table("transport", name) + ".";
        given.iter().any(|path| path.starts_with(&table))
    };
    let as_built_in: Vec<&str> = transports().filter(|name| used.contains(name) && !is_given(name)).collect();
    let unused = spec.transport.keys().filter(|name| !used.contains(name.as_str()) && is_given(name));
    let near = unused.filter(|name| transports().all(|known| known != name.as_str())).filter_map(|name| {
        let near = nearest(name, as_built_in.iter().copied())?;
        Some(format!("{}: nothing uses it; did you mean \"{near}\"?", super::table("transport", name)))
    });
    near.collect()
}

/// Returns the transport of a name.
pub(super) fn find<'a>(
    all: &'a BTreeMap<String, TransportSpec>,
    name: &str,
    path: &str,
) -> Result<&'a TransportSpec, Issue> {
    all.get(name).ok_or_else(|| {
        let mut known: Vec<String> = all.keys().cloned().chain(transports().map(str::to_string)).collect();
        known.sort();
        known.dedup();
        Issue::new(
            Code::UnknownName,
            path,
            format!("there is no transport {}; {}", shorten(name), suggestion(name, known.iter().map(String::as_str))),
        )
    })
}

/// Returns the maximum data of a packet and its headers without those of cables, in bytes.
pub(super) fn packet_of(transport: &Transport) -> (u32, u32) {
    match transport {
        Transport::Tcp(tcp) => (tcp.mss_bytes, TCP_HEADER_BYTES),
        // The header of the first packet of a message has a RETH of 16 B in addition.
        Transport::Roce(roce) => (roce.mtu_bytes, ROCE_HEADER_BYTES - 16),
        Transport::Udp(_) | Transport::Raw => (1, 0),
    }
}

/// Returns true if a transport is RoCE.
pub(super) fn is_roce(spec: &TransportSpec) -> bool {
    matches!(spec.base, Some(BaseSpec::Roce | BaseSpec::Dcqcn))
}

/// Returns the default priority class of packets.
pub(super) fn priority(transport: &Transport) -> u8 {
    if matches!(transport, Transport::Roce(_)) {
        ROCE_PRIORITY
    } else {
        0
    }
}

/// Resolves the transport `name` for packets of at most `mtu_bytes`, a value given at `mtu_path`.
pub(super) fn resolve(name: &str, spec: &TransportSpec, mtu_bytes: u32, mtu_path: &str) -> Result<Transport, Issue> {
    let reader = Reader { name };
    match is_roce(spec) {
        true => roce(&reader, spec, mtu_bytes, mtu_path).map(Transport::Roce),
        false => tcp(&reader, spec, mtu_bytes).map(Transport::Tcp),
    }
}

const TCP_KEYS: [&str; 10] = [
    "initial_window",
    "receive_buffer",
    "send_buffer",
    "tso",
    "rto_min",
    "rto_initial",
    "ack_segments",
    "ack_delay",
    "sack",
    "tail_loss_probe",
];
const ROCE_KEYS: [&str; 5] = ["message", "in_flight", "payload", "ack_packets", "timeout"];
const DCQCN_KEYS: [&str; 8] =
    ["notify", "alpha_timer", "increase_timer", "increase_bytes", "fast_rounds", "additive", "hyper", "least"];

/// Checks that a transport has no key of another kind of transport.
pub(super) fn check_keys(name: &str, spec: &TransportSpec) -> Result<(), Issue> {
    let tree = serde_json::to_value(spec).map_err(super::plan_error)?;
    let base = tree["base"].as_str().unwrap_or_default();
    let tcp: Vec<&str> = CongestionControl::BASES.iter().map(|(base, _)| *base).collect();
    let kinds: [(&[&str], &[&str]); 4] =
        [(&TCP_KEYS, &tcp), (&["ecn"], &tcp), (&ROCE_KEYS, &["roce", "dcqcn"]), (&DCQCN_KEYS, &["dcqcn"])];
    let mut parameters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (base, keys) in CongestionControl::BASES {
        keys.iter().for_each(|key| parameters.entry(key).or_default().push(base));
    }
    // DCQCN averages marks as DCTCP does, with a gain of its own (Zhu et al., SIGCOMM 2015, 3.1).
    parameters.entry("gain").or_default().push("dcqcn");
    let parameters = parameters.iter().map(|(key, bases)| (std::slice::from_ref(key), bases.as_slice()));
    for (keys, bases) in kinds.into_iter().chain(parameters) {
        if bases.contains(&base) {
            continue;
        }
        if let Some(key) = keys.iter().find(|key| tree.get(**key).is_some()) {
            let message = format!("has no effect with base = \"{base}\"; it belongs to {}", bases.join(", "));
            return Err(Issue::new(Code::NoEffect, format!("transport.{name}.{key}"), message));
        }
    }
    Ok(())
}

fn tcp(reader: &Reader, spec: &TransportSpec, mtu_bytes: u32) -> Result<TcpParams, Issue> {
    let mss_bytes = mtu_bytes - TCP_HEADER_BYTES;
    // Half of the buffer is the window, as with tcp_adv_win_scale = 1 of Linux.
    let window = reader.want("receive_buffer", spec.receive_buffer)?.0 / 2;
    let base = spec.base.unwrap_or(BaseSpec::Dctcp);
    let control = spec.control(base).map_err(|key| reader.missing(key.expect("RoCE is resolved by itself")))?;
    for (key, bytes) in [("receive_buffer", window), ("send_buffer", reader.want("send_buffer", spec.send_buffer)?.0)] {
        if bytes < u64::from(mss_bytes) {
            let shown = format(bytes, Dimension::Size);
            let message = format!("leaves {shown} for data, less than a packet of {mtu_bytes} B holds");
            return Err(Issue::between(Code::DoesNotFit, &[&reader.path(key), "network.mtu"], message));
        }
    }
    let (rto_min, rto_initial) = (reader.want("rto_min", spec.rto_min)?, reader.want("rto_initial", spec.rto_initial)?);
    Ok(TcpParams {
        control,
        mss_bytes,
        tso_bytes: (reader.want("tso", spec.tso)?.0 as u32).max(mss_bytes),
        initial_window: reader.want("initial_window", spec.initial_window)?,
        receive_buffer_bytes: window,
        send_buffer_bytes: reader.want("send_buffer", spec.send_buffer)?.0,
        rto_min_ps: rto_min.0,
        rto_initial_ps: rto_initial.0.max(rto_min.0),
        ack_segments: reader.want("ack_segments", spec.ack_segments)?,
        ack_delay_ps: reader.want("ack_delay", spec.ack_delay)?.0,
        sack: reader.want("sack", spec.sack)?,
        tail_loss_probe: reader.want("tail_loss_probe", spec.tail_loss_probe)?,
        ecn: reader.want("ecn", spec.ecn)?,
    })
}

fn roce(reader: &Reader, spec: &TransportSpec, mtu_bytes: u32, mtu_path: &str) -> Result<RoceParams, Issue> {
    let room = mtu_bytes.saturating_sub(ROCE_HEADER_BYTES);
    let least = spec.payload.map_or(PAYLOAD_MIN_BYTES, |Size(bytes)| bytes as u32);
    if room < least {
        let message = format!(
            "{mtu_bytes} B less {ROCE_HEADER_BYTES} B of headers have no room for a RoCE packet with {least} B of data"
        );
        return Err(Issue::between(Code::DoesNotFit, &[mtu_path, &reader.path("payload"), "network.mtu"], message));
    }
    let dcqcn = (spec.base == Some(BaseSpec::Dcqcn)).then(|| dcqcn(reader, spec)).transpose()?;
    Ok(RoceParams {
        message_bytes: reader.want("message", spec.message)?.0,
        in_flight: reader.want("in_flight", spec.in_flight)?,
        // The largest MTU of InfiniBand that fits: a power of two from 256 B to 4 KiB.
        mtu_bytes: spec.payload.map_or(1 << room.min(PAYLOAD_MAX_BYTES).ilog2(), |Size(bytes)| bytes as u32),
        ack_packets: reader.want("ack_packets", spec.ack_packets)?,
        timeout_ps: reader.want("timeout", spec.timeout)?.0,
        dcqcn,
    })
}

fn dcqcn(reader: &Reader, spec: &TransportSpec) -> Result<DcqcnParams, Issue> {
    Ok(DcqcnParams {
        gain: share_in_16_bits(reader.want("gain", spec.gain)?),
        notify_ps: reader.want("notify", spec.notify)?.0,
        alpha_ps: reader.want("alpha_timer", spec.alpha_timer)?.0,
        increase_ps: reader.want("increase_timer", spec.increase_timer)?.0,
        increase_bytes: reader.want("increase_bytes", spec.increase_bytes)?.0,
        fast_rounds: reader.want("fast_rounds", spec.fast_rounds)?,
        additive_bytes_per_s: reader.want("additive", spec.additive)?.0,
        hyper_bytes_per_s: reader.want("hyper", spec.hyper)?.0,
        least_bytes_per_s: reader.want("least", spec.least)?.0,
    })
}

/// Reader of the values that a transport gets from its base.
struct Reader<'a> {
    name: &'a str,
}

impl Reader<'_> {
    fn path(&self, key: &str) -> String {
        format!("transport.{}.{key}", self.name)
    }

    fn want<T>(&self, key: &str, value: Option<T>) -> Result<T, Issue> {
        value.ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> Issue {
        Issue::new(Code::MissingKey, self.path(key), "missing")
    }
}
