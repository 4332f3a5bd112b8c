//! `[noc]` and `[chiplets]` of a server: the positions of the parts of its sockets.

mod chiplets;
mod map;
mod ways;

use super::context::Context;
use crate::code::Code;
use crate::document::read_text;
use crate::error::{suggestion, Issue};
use crate::presets;
use crate::units::shorten;
use hostnet_params::{DieParams, DieSpec, ServerParams, SocketParams, Spec, Stop};
use map::Map;

const PS_PER_S: u64 = 1_000_000_000_000;
/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Gives every channel of a server with chiplets its slice of the CHA, unless the user gives their number.
pub(super) fn complete(spec: &mut Spec, context: &Context) {
    if spec.chiplets.is_none() || context.is_given("cha.slices") {
        return;
    }
    spec.cha.slices = spec.memory.channels;
    for (number, socket) in &mut spec.socket {
        if !context.is_given(&format!("socket.{number}.cha.slices")) {
            socket.cha.slices = socket.memory.channels;
        }
    }
}

/// Returns true if the memory of a socket with chiplets is several NUMA nodes.
pub(super) fn has_several_nodes(spec: &Spec) -> bool {
    spec.chiplets.as_ref().is_some_and(|chiplets| chiplets.nps > 1)
}

/// Places the parts of every socket on the mesh, if there is one. A map from a file is written into the
/// specification.
pub(super) fn place(server: &mut ServerParams, spec: &mut Spec, context: &Context) -> Result<(), Issue> {
    let drives: Vec<Vec<(u8, u32)>> = (0..server.sockets.len() as u8).map(|socket| server.drives_at(socket)).collect();
    chiplets::place(&mut server.sockets, &drives, spec)?;
    let Some(of_die) = &mut spec.noc else { return Ok(()) };
    let map = read(of_die, context)?;
    for (number, (socket, drives)) in server.sockets.iter_mut().zip(drives).enumerate() {
        let within = |issue: Issue| match spec.socket.contains_key(&number.to_string()) {
            true => issue.within(&format!("socket.{number}")),
            false => issue,
        };
        let mut die = on_map(of_die, &map, socket)?;
        let stops = drive_stops(of_die, &map)?;
        die.links = drives.iter().map(|&(_, drive)| stops[drive as usize % stops.len()]).collect();
        ways::check(&die, socket).map_err(within)?;
        socket.die = Some(die);
    }
    of_die.nic.iter().try_for_each(|name| map.stop(name, "noc.nic").map(|_| ()))
}

/// Places the links of the NIC's functions on the mesh.
pub(super) fn place_nic(server: &mut ServerParams, spec: &Spec) {
    let number = spec.noc.as_ref().and_then(|of_die| map::number_of_stop(of_die.nic.as_deref()?)).unwrap_or(0);
    let sockets: Vec<u8> = server.nic_links().map(|(socket, _)| socket).collect();
    for socket in sockets {
        if let Some(die) = &mut server.sockets[usize::from(socket)].die {
            die.links.push(die.io[number]);
        }
    }
}

/// Returns the map that a specification names or contains.
fn read(spec: &mut DieSpec, context: &Context) -> Result<Map, Issue> {
    match (&spec.die, &spec.map) {
        (Some(_), Some(_)) => {
            Err(Issue::between(Code::ConflictingKeys, &["noc.die", "noc.map"], "excludes noc.map; give one of them"))
        }
        (None, None) => {
            let known: Vec<&str> = presets::dies().collect();
            let message =
                format!("missing; name a map ({}), the path of a CSV file, or give noc.map", known.join(", "));
            Err(Issue::between(Code::MissingKey, &["noc.die", "noc"], message))
        }
        (None, Some(given)) => Map::of(given),
        (Some(name), None) if is_path(name) => {
            let map = Map::parse(&read_text(context.base_dir, name, "noc.die", "a CSV file")?, name)?;
            // The effective configuration names no file of the user, so that it resolves anywhere.
            spec.die = None;
            spec.map = Some(map.places());
            Ok(map)
        }
        (Some(name), None) => match presets::die(name) {
            Some(text) => Map::parse(text, name),
            None => {
                let near = suggestion(name, presets::dies());
                Err(Issue::new(Code::UnknownName, "noc.die", format!("{} is not a known die; {near}", shorten(name))))
            }
        },
    }
}

/// Returns true if the name of a die is the path of a user's file.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".csv")
}

/// Returns the die of a socket before its links are placed.
fn on_map(spec: &DieSpec, map: &Map, socket: &SocketParams) -> Result<DieParams, Issue> {
    let channels = socket.memory.map.channels * socket.memory.dram.subchannels;
    let most = |kind: &str, key: &str, there: usize, wanted: u32| {
        let message = format!("{} has {there} of {kind}; {key} = {wanted}", map.name);
        Err(Issue::between(Code::MustAgree, &["noc.die", "noc.map", key], message))
    };
    if map.cores.len() < socket.core.count as usize {
        return most("core", "core.count", map.cores.len(), socket.core.count);
    }
    if map.slices.len() != socket.cha.slices as usize {
        return most("cha", "cha.slices", map.slices.len(), socket.cha.slices);
    }
    let controllers = map.controllers.len();
    if channels as usize % controllers != 0 {
        let message =
            format!("{} has {controllers} of imc, which cannot share {channels} channels: each has as many", map.name);
        return Err(Issue::between(Code::NotAMultiple, &["noc.die", "noc.map", "memory.channels"], message));
    }
    let each = channels as usize / controllers;
    let die = DieParams {
        columns: map.size().column,
        rows: map.size().row,
        cores: map.cores[..socket.core.count as usize].to_vec(),
        slices: map.slices.clone(),
        channels: map.controllers.iter().flat_map(|&stop| std::iter::repeat_n(stop, each)).collect(),
        io: map.io.clone(),
        links: Vec::new(),
        // Rounded, as frequencies such as 2.4 GHz have no whole number of ps.
        cycle_ps: (PS_PER_S + spec.clock.0 / 2) / spec.clock.0,
        vertical_cycles: spec.vertical,
        horizontal_cycles: spec.horizontal,
        line_cycles: LINE_BYTES.div_ceil(spec.link.0) as u32,
        clusters: 1,
        chiplets: None,
    };
    clustered(spec.clusters, "noc.clusters", socket, die)
}

/// Returns the die with the clusters that `key` asks for: adjacent slices and channels are numbered consecutively.
fn clustered(clusters: u8, key: &str, socket: &SocketParams, mut die: DieParams) -> Result<DieParams, Issue> {
    if clusters == 1 {
        return Ok(die);
    }
    if !clusters.is_power_of_two() {
        return Err(Issue::new(Code::OutOfRange, key, format!("{clusters} is not 1, 2 or 4")));
    }
    let (slices, map) = (socket.cha.slices, &socket.memory.map);
    if slices % u32::from(clusters) != 0 {
        let message = format!("{clusters} clusters cannot share cha.slices = {slices}: each has as many");
        return Err(Issue::between(Code::NotAMultiple, &[key, "cha.slices"], message));
    }
    if map.cluster_map(clusters.into()).is_none() {
        let why = if map.channels % u32::from(clusters) == 0 {
            "in memory.map no address bit decides alone which"
        } else {
            "each has as many"
        };
        let message = format!("{clusters} clusters cannot share memory.channels = {}: {why}", map.channels);
        return Err(Issue::between(Code::NotAMultiple, &[key, "memory.channels", "memory.map"], message));
    }
    die.clusters = clusters;
    // Clusters take consecutive numbers: two divide the die by columns, and four divide each half by rows.
    for stops in [&mut die.slices, &mut die.channels] {
        stops.sort_by_key(|stop| (stop.column, stop.row));
        if clusters == 4 {
            let half = stops.len() / 2;
            stops[..half].sort_by_key(|stop| (stop.row, stop.column));
            stops[half..].sort_by_key(|stop| (stop.row, stop.column));
        }
    }
    Ok(die)
}

/// Returns the stops of the drives, which are assigned round robin.
fn drive_stops(spec: &DieSpec, map: &Map) -> Result<Vec<Stop>, Issue> {
    match &spec.drives {
        None => Ok(map.io.clone()),
        Some(stops) => stops.all().iter().map(|name| map.stop(name, "noc.drives")).collect(),
    }
}
