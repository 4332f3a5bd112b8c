//! A mesh of tiles, the network interfaces at its western edge and the memory controllers at its eastern one.

use super::{attach, Floor};
use crate::ChipParams;
use hostnet_noc::topology::{mesh_next, mesh_routers};
use hostnet_noc::{Layout, NocError, Place, Routes, Way};

pub(super) fn build(params: &ChipParams) -> Result<(Floor, Layout, Routes), NocError> {
    let (columns, rows) = (params.columns, params.rows);
    let (mut layout, ports) = mesh_routers(columns, rows, &params.router);
    for index in 0..columns * rows {
        let place = layout.routers[usize::from(index)];
        attach(&mut layout, index, place, &params.router);
    }
    for column in [0, columns - 1] {
        for row in 0..rows {
            attach(&mut layout, row * columns + column, Place { column, row }, &params.router);
        }
    }
    let next = |at: u16, to: u16, column_first: bool| {
        let to = layout.terminals[usize::from(to)].at.router;
        let side = mesh_next(layout.routers[usize::from(at)], layout.routers[usize::from(to)], column_first);
        (ports[usize::from(at)][side], Way::All)
    };
    let routes = Routes::new(&layout, &params.classes(), &next)?;
    let cores = columns * rows;
    let floor = Floor {
        cores,
        slices: cores,
        edges: rows,
        first_slice: 0,
        first_edge: cores,
        first_memory: cores + rows,
        interleave: params.interleave,
    };
    Ok((floor, layout, routes))
}
