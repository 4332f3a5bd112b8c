//! The boxes of a picture: cores, devices, CHA, UPI, memory.

use super::counts::{describe_controllers, describe_dram, describe_parts};
use super::drawing::{inside, Drawing, Edges, WIDTH};
use super::parts::{draw_channels, draw_cores, draw_drives, draw_strip};
use crate::describe::name_pcie;
use crate::host::paths::{CHA_TOR, CROSSING, DRAM};
use crate::host::{CreditPool, SocketView};
use crate::numbers::{format_number, format_share, format_whole};
use crate::row::{Fields, Row};
use crate::svg::{anchored_label, label};
use crate::words::{count_things, list_items};
use std::collections::BTreeSet;

/// Left and right edge of the box of the cores, of that of devices, and of boxes that all lines pass.
const CORES: Edges = (0.0, 160.0);
const DEVICES: Edges = (168.0, WIDTH);
const HOST: Edges = (0.0, WIDTH);

/// Height of the boxes of cores and devices, including the gaps between them.
const TOP_BOX: f64 = 250.0;

/// Gap between two boxes.
const GAP: f64 = 16.0;

/// Height of the row of another socket.
const LINK_ROW: f64 = 30.0;

/// Draws all boxes and returns the height of the picture.
pub(super) fn draw_boxes(drawing: &mut Drawing) -> f64 {
    draw_wires(drawing);
    draw_core_box(drawing);
    draw_devices(drawing);
    let below_cha = draw_cha(drawing, TOP_BOX + GAP);
    let below_links = draw_links(drawing, below_cha);
    draw_memory(drawing, below_links)
}

/// Draws the connections between the parts, below everything else.
fn draw_wires(drawing: &mut Drawing) {
    let middle = |edges| {
        let (left, right) = inside(edges);
        (left + right) / 2.0
    };
    drawing.add_wire(middle(DEVICES), 40.0, TOP_BOX + GAP);
    drawing.add_wire(middle(CORES), TOP_BOX, TOP_BOX + GAP);
}

/// Draws the cores with their line fill buffers.
fn draw_core_box(drawing: &mut Drawing) {
    let host = drawing.host;
    let pool = host.pool("LFB").or_else(|| host.pool("C2M-Read"));
    let busy = pool.map_or(&[][..], |pool| &pool.parts);
    let count = host.count("core.count").or(Some(busy.len()).filter(|&count| count > 0));
    drawing.add_box(CORES, 0.0, TOP_BOX, &describe_parts(count, "core"), pool.is_none());
    let (left, right) = inside(CORES);
    drawing.add_pool("LFB", "LFB", CORES, 28.0);
    if let Some(count) = count.filter(|&count| count > 0 && pool.is_some()) {
        let text = format!("{} busy, each:", format_whole(busy.len() as f64));
        drawing.add(label(&text, left, 74.0).class("quiet"));
        drawing.add_all(draw_cores(busy, count, (left, right), (82.0, TOP_BOX - 8.0), host.first().core));
    }
}

/// Draws the drives, their links and the IIO.
fn draw_devices(drawing: &mut Drawing) {
    let host = drawing.host;
    let links: Vec<&CreditPool> =
        ["PCIe posted", "PCIe non-posted"].into_iter().filter_map(|name| host.pool(name)).collect();
    let is_idle = links.is_empty() && ["P2M-Write", "P2M-Read"].iter().all(|name| host.pool(name).is_none());
    let known = links.iter().map(|pool| pool.parts.len()).max().filter(|&count| count > 0);
    let count = host.count("ssd.count").or(known);
    drawing.add_box(DEVICES, 0.0, 54.0, &describe_parts(count, "drive"), is_idle);
    if let Some(count) = count.filter(|&count| count > 0) {
        drawing.add_all(draw_drives(&links, count, inside(DEVICES), 26.0, host.first().drive));
    }
    drawing.add_box(DEVICES, 54.0 + GAP - 4.0, 82.0, &name_pcie(&host.config), is_idle);
    drawing.add_pool("PCIe posted", "posted", DEVICES, 54.0 + GAP + 20.0);
    drawing.add_pool("PCIe non-posted", "non-posted", DEVICES, 54.0 + GAP + 48.0);
    let top = TOP_BOX - 86.0;
    drawing.add_box(DEVICES, top, 86.0, "IIO", is_idle);
    drawing.add_pool("P2M-Write", "write buffer", DEVICES, top + 26.0);
    drawing.add_pool("P2M-Read", "read buffer", DEVICES, top + 55.0);
}

/// Draws the CHA with its request buffers, and the LLC of a single socket; returns the next vertical position.
fn draw_cha(drawing: &mut Drawing, top: f64) -> f64 {
    let host = drawing.host;
    let llc = host.socket.as_ref().and_then(|socket| socket.llc.as_ref());
    let height = if llc.is_some() { 82.0 } else { 54.0 };
    let slices = host.count("cha.slices").filter(|&slices| slices > 0);
    let title = slices.map_or_else(|| "CHA".to_owned(), |slices| format!("CHA, {}", count_things(slices, "slice")));
    drawing.add_box(HOST, top, height, &title, false);
    let has_caches = host.get("cache.enabled").and_then(serde_json::Value::as_bool).unwrap_or(false);
    if let Some(llc) = llc {
        draw_llc(drawing, llc, top + 53.0);
    } else if host.socket.is_some() && !has_caches {
        drawing.add(anchored_label("LLC not simulated", inside(HOST).1, top + 18.0, "end").class("quiet"));
    }
    let split = [("CHA->DRAM read", "reads"), ("CHA->MC write", "writes")]
        .into_iter()
        .filter_map(|(name, words)| Some(format!("{words} {}", format_number(host.pool(name)?.in_use()))));
    let split: Vec<String> = split.collect();
    let words = if split.is_empty() { "TOR".to_owned() } else { format!("TOR: {}", list_items(&split)) };
    drawing.add_pool(CHA_TOR, &words, HOST, top + 25.0);
    drawing.add_wire(WIDTH / 2.0, top + height, top + height + GAP);
    top + height + GAP
}

/// Draws the contents of an LLC and its miss ratio.
fn draw_llc(drawing: &mut Drawing, llc: &Row, top: f64) {
    let (left, right) = inside(HOST);
    let [cores, devices, size] = ["core_mib", "io_mib", "mib"].map(|name| llc.number(name).unwrap_or_default());
    if let Some(lookups) = llc.nonzero("lookups") {
        let missed = llc.number("misses").map(|misses| misses / lookups);
        let words = format!("cores miss the LLC {}", format_share(missed));
        drawing.add(anchored_label(&words, right, top - 35.0, "end"));
    }
    let parts: Vec<String> = [("cores", cores), ("devices", devices)]
        .into_iter()
        .filter(|(_, held)| *held != 0.0)
        .map(|(words, held)| format!("{words} {}", format_number(held)))
        .collect();
    let words = if parts.is_empty() { "LLC".to_owned() } else { format!("LLC: {}", parts.join(", ")) };
    drawing.add(label(&words, left, top + 9.5));
    let held = cores + devices;
    drawing.add_count(&format!("{} of {} MiB", format_number(held), format_number(size)), right, top + 9.5);
    drawing.add_bar((size != 0.0).then(|| held / size), (left, right), top + 15.0, 'n', false);
}

/// Draws UPI to and from each other socket if a single socket is drawn; returns the next vertical position.
fn draw_links(drawing: &mut Drawing, top: f64) -> f64 {
    let Some(socket) = &drawing.host.socket else { return top };
    let end = |row: &Row, name| row.whole(name).and_then(|number| usize::try_from(number).ok());
    let others: BTreeSet<usize> =
        socket.links.iter().filter_map(|row| end(row, "to")).filter(|&other| other != socket.number).collect();
    let height = 58.0 + LINK_ROW * others.len() as f64;
    let is_idle = socket.links.iter().all(|row| row.nonzero("busy_share").is_none());
    drawing.add_box(HOST, top, height, "UPI", is_idle);
    drawing.add_pool(CROSSING, "TOR, waits for other sockets", HOST, top + 25.0);
    for (index, other) in others.into_iter().enumerate() {
        draw_directions(drawing, socket, other, top + 54.0 + LINK_ROW * index as f64);
    }
    drawing.add_wire(WIDTH / 2.0, top + height, top + height + GAP);
    top + height + GAP
}

/// Draws how busy UPI is to and from another socket.
fn draw_directions(drawing: &mut Drawing, socket: &SocketView, other: usize, y: f64) {
    let (left, right) = inside(HOST);
    let middle = (left + right) / 2.0;
    let busy = |from: usize, to: usize| {
        let is_it = |row: &&Row| row.whole("from") == Some(from as i64) && row.whole("to") == Some(to as i64);
        socket.links.iter().find(is_it).and_then(|row| row.number("busy_share"))
    };
    let ways = [
        (format!("to socket {other}"), busy(socket.number, other), (left, middle - 8.0)),
        (format!("from socket {other}"), busy(other, socket.number), (middle + 8.0, right)),
    ];
    for (words, share, (start, end)) in ways {
        let words = label(&words, start, y + 9.5);
        let is_quiet = share.is_none_or(|share| share == 0.0);
        drawing.add(if is_quiet { words.class("quiet") } else { words });
        drawing.add_count(&format_share(share), end, y + 9.5);
        drawing.add_bar(share, (start, end), y + 14.0, 'n', false);
    }
}

/// Draws memory controllers and DRAM; returns the height of the picture.
fn draw_memory(drawing: &mut Drawing, top: f64) -> f64 {
    let host = drawing.host;
    let (left, right) = inside(HOST);
    let queues = ["WPQ", "RPQ"];
    let has_strips = queues.iter().any(|name| host.pool(name).is_some_and(|pool| pool.parts.len() > 1));
    let strips = if has_strips { 18.0 } else { 0.0 };
    let height = 88.0 + 2.0 * strips;
    drawing.add_box(HOST, top, height, &describe_controllers(host), false);
    for (name, offset) in queues.into_iter().zip([25.0, 54.0 + strips]) {
        drawing.add_pool(name, name, HOST, top + offset);
        if let Some(pool) = host.pool(name).filter(|_| has_strips) {
            drawing.add_all(draw_strip(pool, (left, right), top + offset + 26.0, host.first().channel));
        }
    }
    let top = top + height + GAP;
    drawing.add_wire(WIDTH / 2.0, top - GAP, top);
    let height = if host.channels.is_empty() { 54.0 } else { 100.0 };
    drawing.add_box(HOST, top, height, &describe_dram(host), false);
    let busy = host.channels_all.as_ref().and_then(|row| row.number("bus_busy_share"));
    drawing.stops.push((DRAM.to_owned(), top + 44.0));
    drawing.add(label("data bus busy", left, top + 35.0));
    drawing.add_count(&format_share(busy), right, top + 35.0);
    drawing.add_bar(busy, (left, right), top + 40.0, 'n', !host.bound_by("DRAM channel").is_empty());
    if !host.channels.is_empty() {
        drawing.add_all(draw_channels(host, (left, right), top + 54.0));
    }
    top + height
}
