//! Servers of several sockets.

use super::{complete_tables, drives, remote, Complete};
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::layers::overlay;
use crate::presets::PartFile;
use hostnet_params::{
    InterSocketParams, Placement, ServerParams, SnoopSpec, SocketParams, SocketSpec, SocketsSpec, Spec, Workload,
    DRIVE_MAX,
};
use serde_json::{Map, Value};
use std::path::Path;

/// Completes the tables of sockets by the server's values. Returns the user's files that were read.
pub(super) fn complete(
    tree: &mut Value,
    given: &Value,
    preset: Option<&str>,
    base_dir: &Path,
) -> Result<Vec<PartFile>, Issue> {
    let mut files = Vec::new();
    let own = |tree: &Value| tree.get("socket").and_then(Value::as_object).cloned().unwrap_or_default();
    let (of_preset, of_user) = (own(tree), own(given));
    let mut all = Map::new();
    let count = tree.pointer("/server/sockets").and_then(Value::as_u64).unwrap_or(1);
    // The user may reduce the number of sockets: tables of the preset beyond that number are dropped.
    let taken_away = |name: &str| !of_user.contains_key(name) && name.parse().is_ok_and(|number: u64| number >= count);
    for name in of_preset.keys().chain(of_user.keys()) {
        if all.contains_key(name) || taken_away(name) {
            continue;
        }
        let mut given = given.clone();
        // A table of a socket contains no table of sockets.
        given.as_object_mut().map(|given| given.remove("socket"));
        for own in [of_preset.get(name), of_user.get(name)].into_iter().flatten() {
            overlay(&mut given, own);
        }
        let within = |issue: Issue| issue.within(&format!("socket.{name}"));
        let Complete { tree, files: read, .. } = complete_tables(&given, preset, base_dir).map_err(within)?;
        files.extend(read);
        let tables = SocketSpec::TABLES.iter().filter_map(|table| Some((table.to_string(), tree.get(*table)?.clone())));
        all.insert(name.clone(), Value::Object(tables.collect()));
    }
    tree.as_object_mut().map(|tree| tree.remove("socket"));
    if !all.is_empty() {
        tree["socket"] = Value::Object(all);
    }
    if of_user.values().any(|own| own.pointer("/ssd/count").is_some()) && given.pointer("/ssd/sockets").is_none() {
        forget_places(tree);
    }
    Ok(files)
}

/// Discards the preset's placement of drives, because the user gives the number of drives of each socket.
fn forget_places(tree: &mut Value) {
    let forget = |server: &mut Value| {
        server.get_mut("ssd").and_then(Value::as_object_mut).map(|ssd| ssd.remove("sockets"));
    };
    forget(tree);
    tree.get_mut("socket").and_then(Value::as_object_mut).into_iter().flatten().for_each(|(_, own)| forget(own));
}

/// Returns the specification of each socket.
pub(super) fn each(spec: &Spec) -> Result<Vec<Spec>, Issue> {
    let count = spec.server.sockets.unwrap_or(1);
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    for name in spec.socket.keys() {
        if !numbers.contains(name) {
            let message = format!("there is no such socket; server.sockets = {count} means 0 to {}", count - 1);
            return Err(Issue::between(Code::DoesNotExist, &[&format!("socket.{name}"), "server.sockets"], message));
        }
    }
    let mut sockets: Vec<Spec> = numbers.iter().map(|name| of_socket(spec, spec.socket.get(name))).collect();
    drives::place(spec, &mut sockets)?;
    Ok(sockets)
}

/// Collects the notes of each socket of a server, once if the sockets are equal. Paths name sockets that have their
/// own tables.
pub(super) fn notes_of_each(
    spec: &Spec,
    server: &ServerParams,
    note: fn(&Spec, &SocketParams) -> Option<String>,
) -> Result<Vec<String>, Issue> {
    let mut notes: Vec<String> = Vec::new();
    for (number, (of_socket, params)) in each(spec)?.iter().zip(&server.sockets).enumerate() {
        let own = spec.socket.contains_key(&number.to_string());
        let path = if own { format!("socket.{number}.") } else { String::new() };
        notes.extend(note(of_socket, params).map(|note| format!("{path}{note}")).filter(|note| !notes.contains(note)));
    }
    Ok(notes)
}

fn of_socket(spec: &Spec, own: Option<&SocketSpec>) -> Spec {
    let Some(SocketSpec { core, cha, cache, prefetch, ddio, memory, iio, pcie, ssd }) = own.cloned() else {
        return spec.clone();
    };
    Spec { core, cha, cache, prefetch, ddio, memory, iio, pcie, ssd, ..spec.clone() }
}

/// Resolves the links between the sockets; `None` for a single socket.
pub(super) fn ways(spec: &Spec, sockets: &[Spec]) -> Result<Option<InterSocketParams>, Issue> {
    if sockets.len() == 1 {
        return Ok(None);
    }
    let Some(upi) = &spec.upi else {
        let message = format!("missing: server.sockets = {} needs the ways between them; {}", sockets.len(), PRESETS);
        return Err(Issue::between(Code::MissingKey, &["upi", "server.sockets"], message));
    };
    if spec.remote.is_some() && spec.workload.values().any(|workload| workload.is_remote()) {
        let message = "a workload of kind \"remote\" stands for sockets of which there is nothing else; with \
            server.sockets give its cores to a workload of kind \"stream\", with memory = \"node:0\"";
        return Err(Issue::between(Code::ConflictingKeys, &["server.sockets", "remote"], message));
    }
    let runs = |spec: &Spec| spec.memory.run.0;
    if let Some(at) = sockets.iter().position(|other| runs(other) != runs(&sockets[0])) {
        let message = "all sockets have runs of pages of one size";
        return Err(Issue::between(Code::MustAgree, &[&format!("socket.{at}.memory.run"), "memory.run"], message));
    }
    if let Some(at) = sockets.iter().position(|other| other.cache.enabled != sockets[0].cache.enabled) {
        let message = "all sockets have caches, or none has";
        return Err(Issue::between(
            Code::MustAgree,
            &[&format!("socket.{at}.cache.enabled"), "cache.enabled"],
            message,
        ));
    }
    let drives: u32 = sockets.iter().map(|socket| socket.ssd.count).sum();
    if drives > DRIVE_MAX + 1 {
        let message = format!("{drives} drives on all sockets; at most {}", DRIVE_MAX + 1);
        return Err(Issue::between(Code::TooMany, &["ssd.count", "server.sockets"], message));
    }
    check_write_backs(upi, sockets)?;
    params(upi, sockets).map(Some)
}

/// Checks that a core gets the acknowledgement of a write-back before the remote socket can have responded to it.
fn check_write_backs(upi: &SocketsSpec, sockets: &[Spec]) -> Result<(), Issue> {
    let acks = || sockets.iter().map(|socket| socket.core.write_ack.0);
    let (most, least) = (acks().max().unwrap_or(0), acks().min().unwrap_or(0));
    if most < least + 2 * upi.link.latency.0 {
        return Ok(());
    }
    let message = "the acknowledgements of write-backs differ by more than the way to another socket and back takes";
    Err(Issue::between(Code::MustAgree, &["core.write_ack", "upi.link.latency"], message))
}

const PRESETS: &str = "give the table [upi], or start from a preset that has it, such as broadwell-r730";

fn params(spec: &SocketsSpec, sockets: &[Spec]) -> Result<InterSocketParams, Issue> {
    let least = sockets.iter().map(|socket| socket.cha.tor.entries).min().unwrap_or(0);
    if least < 2 {
        let message = "1 is too few for several sockets; lines of this socket and of others need an entry each";
        return Err(Issue::between(Code::OutOfRange, &["cha.tor.entries", "server.sockets"], message));
    }
    let tor_entries = spec.tor_entries.unwrap_or(least / 2);
    if tor_entries >= least {
        let message = format!("{tor_entries} leave none of cha.tor.entries = {least} for lines that are at home there");
        return Err(Issue::between(Code::WrongOrder, &["upi.tor_entries", "cha.tor.entries"], message));
    }
    let one = remote::upi(&spec.link);
    let mut upi = one.clone();
    // The links between two sockets are one wire with their combined bandwidth and credits (docs/models/upi.md).
    upi.bytes_per_s *= u64::from(spec.links);
    upi.data_credits *= spec.links;
    upi.request_credits *= spec.links;
    Ok(InterSocketParams {
        upi,
        speculative: spec.speculative,
        broadcast: spec.snoop == SnoopSpec::Home,
        directory: spec.directory,
        tor_entries,
        ddio: spec.ddio,
    })
}

/// NUMA nodes of a server, numbered socket by socket, and last the memory behind a CXL link.
#[derive(Clone, Copy)]
pub(super) struct Nodes {
    sockets: usize,
    per_socket: usize,
    expanders: usize,
}

impl Nodes {
    /// Returns the nodes of a number of sockets with the chiplets and the expander of `spec`.
    pub(super) fn new(sockets: usize, spec: &Spec) -> Self {
        let per_socket = spec.chiplets.as_ref().map_or(1, |chiplets| chiplets.nps.into());
        Self { sockets, per_socket, expanders: spec.expander.is_some().into() }
    }

    /// Returns the nodes of the sockets of a host; flows do not reach memory behind a CXL link.
    pub(super) fn of_sockets(sockets: &[SocketParams]) -> Self {
        let die = sockets[0].die.as_ref().filter(|die| die.chiplets.is_some());
        Self { sockets: sockets.len(), per_socket: die.map_or(1, |die| die.clusters.into()), expanders: 0 }
    }

    /// Returns the number of nodes.
    pub(super) fn count(self) -> usize {
        self.of_all_sockets() + self.expanders
    }

    /// Returns the number of nodes of the sockets.
    pub(super) fn of_all_sockets(self) -> usize {
        self.sockets * self.per_socket
    }

    /// Returns the memory of a node, or `None` if there is no such node.
    fn memory(self, node: u8) -> Option<Placement> {
        let each = self.per_socket as u8;
        // Memory behind a CXL link is beyond the last socket, and needs sockets of one node each.
        let place = match each {
            1 => Placement::Socket(node),
            _ => Placement::Cluster { socket: node / each, cluster: node % each },
        };
        (usize::from(node) < self.count()).then_some(place)
    }
}

/// Parses the placement of buffers given at `path`. The key `count` gives the number of sockets.
pub(super) fn placement(text: &str, [path, count]: [&str; 2], nodes: Nodes) -> Result<Placement, Issue> {
    // Digits alone: a number may have a sign for `parse`.
    let digits = text.strip_prefix("node:").filter(|node| node.bytes().all(|byte| byte.is_ascii_digit()));
    let node = digits.map(str::parse::<u8>);
    match (text, node) {
        ("local" | "first-touch", _) => Ok(Placement::Local),
        ("interleave", _) => Ok(Placement::Interleaved),
        (_, Some(Ok(node))) => nodes.memory(node).ok_or_else(|| {
            let known = match nodes.count() {
                1 => "the only one is 0".to_owned(),
                all => format!("there are 0 to {}", all - 1),
            };
            let nps = if nodes.per_socket > 1 { ", chiplets.nps" } else { "" };
            let message = format!("there is no node {node}; {known}, by {count}{nps} and [expander]");
            Issue::between(Code::DoesNotExist, &[path, count], message)
        }),
        _ => {
            let names = ["local", "first-touch", "interleave", "node:0", "node:1", "pool"];
            let message =
                format!("{} is no place for memory; {}", crate::units::shorten(text), suggestion(text, names));
            Err(Issue::new(Code::UnknownName, path, message))
        }
    }
}

/// Checks that the clients of applications are on the same socket as the application's threads.
pub(super) fn check_clients(workloads: &[Workload], sockets: &[Spec]) -> Result<(), Issue> {
    let owners: Vec<usize> =
        sockets.iter().enumerate().flat_map(|(at, socket)| vec![at; socket.core.count as usize]).collect();
    for workload in workloads {
        let Some(app) = workload.kind.app() else { continue };
        let apart = app
            .cores
            .iter()
            .zip(&app.clients)
            .find(|(core, client)| owners[**core as usize] != owners[**client as usize]);
        if let Some((core, client)) = apart {
            let path = |key: &str| format!("workload.{}.{key}", workload.name);
            let message = format!("client {client} is not on the socket of core {core}, whom it asks");
            return Err(Issue::between(Code::MustAgree, &[&path("clients"), &path("cores")], message));
        }
    }
    Ok(())
}
