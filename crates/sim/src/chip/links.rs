//! Reports the load of the links of a chip.

use super::units::ReportUnits;
use super::window::Window;
use hostnet_chip::{Chip, ChipParams, Shape};
use hostnet_noc::{Channel, Layout, Place, Port};
use serde_json::{json, Value};

/// Returns every output of every router, the most loaded first. For several chips, flits are sums and shares are
/// means.
pub(super) fn links(chip: &Chip, params: &ChipParams, window: &Window, units: &ReportUnits) -> Vec<Value> {
    let (layout, network) = chip.network();
    let flits = |port: Port| window.sent[usize::from(port.router) * network.ports() + usize::from(port.port)];
    let place = |router: u16| {
        let place = layout.routers[usize::from(router)];
        json!([place.column, place.row])
    };
    let row = |name: String, kind: &str, from: Port, to: Value| {
        let flits = flits(from);
        // Flits are sums over the chips, so the share is that of all their cycles.
        let share = flits as f64 / (units.cycles * units.chips);
        json!({ "link": name, "kind": kind, "from": place(from.router), "to": to, "flits": flits, "share": share })
    };
    let between = layout.channels.iter().map(|channel| {
        row(layout.output_name(channel.from), channel_kind(channel, params), channel.from, place(channel.to.router))
    });
    let out = layout.terminals.iter().enumerate().map(|(number, terminal)| {
        let (kind, behind) = behind(layout, number, params);
        let name = format!("{} -> {behind}", layout.name(terminal.at.router));
        row(name, kind, terminal.at, Value::Null)
    });
    let mut links: Vec<Value> = between.chain(out).collect();
    // A stable sort: equally loaded links stay in the order of the network.
    links.sort_by_key(|link| std::cmp::Reverse(link["flits"].as_u64()));
    links
}

/// Returns the kind of a channel: between neighbours of a mesh, between LLC tiles, or between a core and the next
/// router of its chain.
fn channel_kind(channel: &Channel, chip: &ChipParams) -> &'static str {
    let is_core = |port: Port| port.router < chip.tiles();
    match chip.shape {
        Shape::Mesh => "mesh",
        Shape::NocOut if is_core(channel.from) || is_core(channel.to) => "chain",
        Shape::NocOut => "across",
    }
}

/// Returns the kind and the name of the unit behind a terminal.
fn behind(layout: &Layout, number: usize, chip: &ChipParams) -> (&'static str, String) {
    let (tiles, Place { column, row }) = (usize::from(chip.tiles()), layout.terminals[number].place);
    let (mesh, columns) = (chip.shape == Shape::Mesh, usize::from(chip.columns));
    match number {
        // Terminals are numbered kind by kind, so the first range that holds the number decides.
        _ if mesh && number < tiles => ("tile", format!("tile {number}")),
        _ if mesh && number < tiles + usize::from(chip.rows) => ("edge", format!("edge of row {row}")),
        _ if mesh => ("memory", format!("memory controller {}", number - tiles - usize::from(chip.rows))),
        _ if number < tiles => ("core", format!("core {number}")),
        _ if number < tiles + columns => ("slice", format!("slice {column}")),
        _ if number < tiles + 2 * columns => ("edge", format!("NI of LLC tile {column}")),
        _ => ("memory", format!("memory controller {column}")),
    }
}
