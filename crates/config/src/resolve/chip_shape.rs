//! Shape of a chip: layout and topology of its tiles.

use crate::code::Code;
use crate::error::Issue;
use crate::layers::at;
use hostnet_chip::{Routing, Shape};
use hostnet_params::{ChipSpec, ChipTopologySpec, HomeSpec, RoutingSpec};
use serde_json::Value;

/// Lines of a page. The number of a line within its page determines its home slice.
const PAGE_LINES: u32 = 64;

/// Maximum number of LLC tiles of a NOC-Out: a router has 64 ports and virtual channels.
const LLC_TILES: u32 = 8;

/// Drops the routing of the preset, which is for a mesh, if the user gives a NOC-Out without routing.
pub(super) fn drop_routing(tree: &mut Value, given: &Value) {
    let noc_out = at(tree, &["noc", "topology"]).is_some_and(|topology| topology == "noc-out");
    if noc_out && at(given, &["noc", "routing"]).is_none() {
        if let Some(noc) = tree.get_mut("noc").and_then(Value::as_object_mut) {
            noc.remove("routing");
        }
    }
}

/// Checks that a chip can have this shape.
pub(super) fn check(spec: &ChipSpec) -> Result<(), Issue> {
    let noc = &spec.noc;
    match (noc.topology, noc.routing) {
        (ChipTopologySpec::Mesh, None) => {
            let message = "missing; a mesh needs one: xy, yx, o1turn, cdr or cdr-directory";
            return Err(Issue::new(Code::MissingKey, "noc.routing", message));
        }
        (ChipTopologySpec::NocOut, Some(_)) => {
            let message = "a NOC-Out has one way only between two of its parts; leave noc.routing out";
            return Err(Issue::between(Code::NoEffect, &["noc.routing", "noc.topology"], message));
        }
        (ChipTopologySpec::Mesh, Some(RoutingSpec::O1Turn)) if noc.vcs < 2 => {
            let message = "o1turn needs at least 2 virtual channels of each class, one for each order; set noc.vcs = 2";
            return Err(Issue::between(Code::RequiresKey, &["noc.routing", "noc.vcs"], message));
        }
        _ => {}
    }
    check_tiles(spec)
}

/// Checks that the bits of an address within a page, which determine the home of a line, can address all slices.
fn check_tiles(spec: &ChipSpec) -> Result<(), Issue> {
    let (columns, rows) = (u32::from(spec.chip.columns), u32::from(spec.chip.rows));
    let bits = "bits of the address within a page of 4 KiB tell the home of a line, so there must be";
    let or = "; or set coherence.home = \"hash\"";
    // A hash spreads lines over any number of slices.
    let hashed = spec.coherence.home == HomeSpec::Hash;
    let told = |slices: u32| hashed || slices.is_power_of_two() && slices <= PAGE_LINES;
    match spec.noc.topology {
        ChipTopologySpec::Mesh if !told(columns * rows) => {
            let shown = format!("{columns} columns of {rows} rows are {} tiles", columns * rows);
            let message = format!("{shown}; {bits} 4, 8, 16, 32 or 64{or}");
            Err(Issue::between(Code::OutOfRange, &["chip.columns", "chip.rows"], message))
        }
        ChipTopologySpec::NocOut if !told(columns) => {
            Err(Issue::new(Code::OutOfRange, "chip.columns", format!("{columns} LLC tiles; {bits} 2, 4 or 8{or}")))
        }
        ChipTopologySpec::NocOut if columns > LLC_TILES => {
            let message =
                format!("{columns} LLC tiles, each joined to every other; routers have ports for {LLC_TILES}");
            Err(Issue::new(Code::TooFewSlots, "chip.columns", message))
        }
        ChipTopologySpec::NocOut if rows % 2 != 0 => {
            let message =
                format!("{rows} cores of an LLC tile; half of them lie above it, so there must be an even number");
            Err(Issue::new(Code::NotAMultiple, "chip.rows", message))
        }
        _ => Ok(()),
    }
}

/// Returns the columns and rows of the memory controllers; empty if none are given.
pub(super) fn memories(spec: &ChipSpec) -> Result<Vec<(u16, u16)>, Issue> {
    let Some(text) = &spec.noc.mc else { return Ok(Vec::new()) };
    let refuse = |code: Code, message: String| Issue::between(code, &["noc.mc", "noc.topology"], message);
    if spec.noc.topology == ChipTopologySpec::NocOut {
        return Err(refuse(
            Code::NoEffect,
            "every LLC tile of a NOC-Out has a memory controller; leave noc.mc out".into(),
        ));
    }
    let (columns, rows) = (spec.chip.columns, spec.chip.rows);
    let row = |row: u16| (0..columns).map(|column| (column, row)).collect();
    let column = |column: u16| (0..rows).map(|row| (column, row)).collect();
    Ok(match text.as_str() {
        "north" => row(0),
        "south" => row(rows - 1),
        "west" => column(0),
        "east" => column(columns - 1),
        _ => {
            let places = text.split_whitespace().map(|place| {
                let (column, row) = place.split_once(',')?;
                Some((column.parse().ok()?, row.parse().ok()?))
            });
            match places.collect::<Option<Vec<_>>>() {
                Some(places) if !places.is_empty() => places,
                _ => {
                    let rule = "must be north, east, south, west, or columns and rows such as \"0,0 7,7\"";
                    return Err(refuse(Code::MalformedValue, format!("{text:?} {rule}")));
                }
            }
        }
    })
}

/// Returns the number of slices of the LLC.
pub(super) fn slices(spec: &ChipSpec) -> u64 {
    let columns = u64::from(spec.chip.columns);
    match spec.noc.topology {
        ChipTopologySpec::Mesh => columns * u64::from(spec.chip.rows),
        ChipTopologySpec::NocOut => columns,
    }
}

pub(super) fn shape(topology: ChipTopologySpec) -> Shape {
    match topology {
        ChipTopologySpec::Mesh => Shape::Mesh,
        ChipTopologySpec::NocOut => Shape::NocOut,
    }
}

/// Returns the routing of messages. A NOC-Out does not use it.
pub(super) fn routing(routing: Option<RoutingSpec>) -> Routing {
    match routing {
        Some(RoutingSpec::Xy) | None => Routing::Xy,
        Some(RoutingSpec::Yx) => Routing::Yx,
        Some(RoutingSpec::O1Turn) => Routing::O1Turn,
        Some(RoutingSpec::Cdr) => Routing::Cdr,
        Some(RoutingSpec::CdrDirectory) => Routing::CdrDirectory,
    }
}
