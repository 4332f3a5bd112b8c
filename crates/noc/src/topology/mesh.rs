//! Mesh of columns and rows.

use crate::routes::VcClass;
use crate::{Layout, NocError, Params, Place, Router, Routes, Terminal};

const SIDE_MAX: u16 = 32;

/// Builds a mesh with a terminal at every router, numbered row by row.
pub(super) fn build(columns: u16, rows: u16, params: &Params) -> Result<(Layout, Routes), NocError> {
    for (side, name) in [(columns, "columns"), (rows, "rows")] {
        if !(1..=SIDE_MAX).contains(&side) {
            return Err(NocError::new(name, format!("{side} is out of range; 1 to {SIDE_MAX} are allowed")));
        }
    }
    if columns * rows < 2 {
        return Err(NocError::new("columns", "1 by 1 is no network; at least 2 routers are needed"));
    }
    let (mut layout, ports) = mesh_routers(columns, rows, &params.router);
    let router = &params.router;
    for index in 0..columns * rows {
        let at = layout.port(index);
        let place = layout.routers[usize::from(index)];
        layout.terminals.push(Terminal {
            at,
            place,
            in_cycles: router.entry_cycles(),
            out_cycles: router.hop_cycles(),
            credit_cycles: u32::from(router.credit_cycles),
        });
    }
    let next = |at: u16, to: u16, column_first: bool| {
        let side = mesh_next(layout.routers[usize::from(at)], layout.routers[usize::from(to)], column_first);
        (ports[usize::from(at)][side], VcClass::All)
    };
    let routes = Routes::new(&layout, &params.classes, &next)?;
    Ok((layout, routes))
}

/// Builds the routers and channels of a mesh without terminals. Also returns, for every router, the ports to the east,
/// west, south and north (255 where there is none). Router `row * columns + column` lies at that column and row.
#[must_use]
pub fn mesh_routers(columns: u16, rows: u16, router: &Router) -> (Layout, Vec<[u8; 4]>) {
    let (hop, credit) = (router.hop_cycles(), u32::from(router.credit_cycles));
    let mut layout = Layout::default();
    let mut ports = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            layout.add_router(Place { column, row });
            ports.push([u8::MAX; 4]);
        }
    }
    for index in 0..columns * rows {
        let Place { column, row } = layout.routers[usize::from(index)];
        // East and south only: `join` adds both directions.
        if column + 1 < columns {
            let (east, west) = layout.join(index, index + 1, hop, credit);
            ports[usize::from(index)][0] = east.port;
            ports[usize::from(index + 1)][1] = west.port;
        }
        if row + 1 < rows {
            let (south, north) = layout.join(index, index + columns, hop, credit);
            ports[usize::from(index)][2] = south.port;
            ports[usize::from(index + columns)][3] = north.port;
        }
    }
    (layout, ports)
}

/// Returns the side on which a packet leaves a router towards another: east 0, west 1, south 2, north 3.
#[must_use]
pub fn mesh_next(at: Place, to: Place, column_first: bool) -> usize {
    // An order of dimensions permits no turn back into the first one, so waits form no cycle.
    let along_row = (at.column != to.column).then(|| usize::from(to.column < at.column));
    let along_column = (at.row != to.row).then(|| 2 + usize::from(to.row < at.row));
    let (first, second) = if column_first { (along_column, along_row) } else { (along_row, along_column) };
    first.or(second).expect("the packet is not there yet")
}
