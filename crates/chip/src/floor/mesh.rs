//! A mesh of tiles with the network interfaces at its western edge and memory controllers at given places.

use super::{attach, FloorPlan};
use crate::{ChipParams, Interleave};
use hostnet_noc::topology::{mesh_next, mesh_routers};
use hostnet_noc::{Layout, NocError, Place, Routes, VcClass};

pub(super) fn build(params: &ChipParams) -> Result<(FloorPlan, Layout, Routes), NocError> {
    let (columns, rows) = (params.columns, params.rows);
    let (mut layout, ports) = mesh_routers(columns, rows, &params.router);
    for index in 0..columns * rows {
        let place = layout.routers[usize::from(index)];
        attach(&mut layout, index, place, &params.router);
    }
    let memories = memories(params)?;
    // Terminals in the order of `FloorPlan`: tiles, then edges at the first column, then memory controllers.
    for &(column, row) in (0..rows).map(|row| (0, row)).collect::<Vec<_>>().iter().chain(&memories) {
        attach(&mut layout, row * columns + column, Place { column, row }, &params.router);
    }
    let next = |at: u16, to: u16, column_first: bool| {
        let to = layout.terminals[usize::from(to)].at.router;
        // Terminals of one router share its route.
        let side = mesh_next(layout.routers[usize::from(at)], layout.routers[usize::from(to)], column_first);
        (ports[usize::from(at)][side], VcClass::All)
    };
    let routes = Routes::new(&layout, &params.classes(), &next)?;
    let cores = columns * rows;
    let floor = FloorPlan {
        cores,
        slices: cores,
        edges: rows,
        first_slice: 0,
        first_edge: cores,
        first_memory: cores + rows,
        memories: memories.len() as u16,
        interleave: params.interleave,
        home: params.home,
    };
    Ok((floor, layout, routes))
}

/// Returns the columns and rows of the memory controllers.
fn memories(params: &ChipParams) -> Result<Vec<(u16, u16)>, NocError> {
    let (columns, rows) = (params.columns, params.rows);
    if params.memories.is_empty() {
        return Ok((0..rows).map(|row| (columns - 1, row)).collect());
    }
    let refuse = |rule: String| Err(NocError::new("memories", rule));
    for (index, &(column, row)) in params.memories.iter().enumerate() {
        if column >= columns || row >= rows {
            return refuse(format!(
                "{column},{row} is not on the chip; columns are 0 to {}, rows 0 to {}",
                columns - 1,
                rows - 1
            ));
        }
        if params.memories[..index].contains(&(column, row)) {
            return refuse(format!("{column},{row} is named twice"));
        }
    }
    // By row the number of a controller is its row.
    let in_rows = params.memories.iter().map(|place| place.1).eq(0..rows);
    if params.interleave == Interleave::Row && !in_rows {
        return refuse(format!("one in every row is needed, from row 0 to row {}, for controllers by row", rows - 1));
    }
    Ok(params.memories.clone())
}
