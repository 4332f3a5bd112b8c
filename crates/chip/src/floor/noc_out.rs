//! NOC-Out (Lotfi-Kamran and others, MICRO 2012): a row of LLC tiles, each linked to every other, and above and below
//! each tile a chain of cores, which flits traverse in one cycle per core.

use super::{attach, FloorPlan};
use crate::ChipParams;
use hostnet_noc::{Layout, NocError, Place, Port, Routes, Terminal, VcClass};

/// Number of tiles that a flit passes in a cycle on the wires between LLC tiles.
const TILES_PER_CYCLE: u32 = 2;

/// Output ports of the network: from every LLC tile to the others and to the heads of its chains, and from every core
/// along its chain.
struct Ports {
    across: Vec<Vec<u8>>,
    chains: Vec<[u8; 2]>,
    inward: Vec<u8>,
    outward: Vec<u8>,
}

pub(super) fn build(params: &ChipParams) -> Result<(FloorPlan, Layout, Routes), NocError> {
    let (columns, rows) = (params.columns, params.rows);
    if rows % 2 != 0 {
        return Err(NocError::new("rows", format!("{rows} cores of a column; they lie above and below, so even")));
    }
    let (layout, ports) = draw(params);
    let cores = columns * rows;
    let next = |at: u16, to: u16, _: bool| {
        let to = layout.terminals[usize::from(to)].at.router;
        (step(&ports, (columns, rows), at, to), VcClass::All)
    };
    let routes = Routes::new(&layout, &params.classes(), &next)?;
    let floor = FloorPlan {
        cores,
        slices: columns,
        edges: columns,
        first_slice: cores,
        first_edge: cores + columns,
        first_memory: cores + 2 * columns,
        memories: columns,
        interleave: params.interleave,
        home: params.home,
    };
    Ok((floor, layout, routes))
}

/// Lays out the routers. Those of the cores come first, column by column: in each column first those above the LLC
/// tile upward, then those below it downward. The routers of the LLC tiles follow.
fn draw(params: &ChipParams) -> (Layout, Ports) {
    let (columns, rows) = (params.columns, params.rows);
    let (half, router) = (rows / 2, &params.router);
    let mut layout = Layout::default();
    for column in 0..columns {
        for index in 0..rows {
            // Numbers grow with the distance from the LLC tile, which `step` relies on.
            let row = if index < half { half - 1 - index } else { index + 1 };
            layout.add_router(Place { column, row });
        }
    }
    let first = columns * rows;
    (0..columns).for_each(|column| {
        layout.add_router(Place { column, row: half });
    });
    let none = vec![u8::MAX; usize::from(first)];
    let across = vec![vec![u8::MAX; usize::from(columns)]; usize::from(columns)];
    let chains = vec![[u8::MAX; 2]; usize::from(columns)];
    let mut ports = Ports { across, chains, inward: none.clone(), outward: none };
    for one in 0..columns {
        for other in one + 1..columns {
            // A flit passes two tiles per cycle (Lotfi-Kamran and others, MICRO 2012).
            let wire = u32::from(other - one).div_ceil(TILES_PER_CYCLE);
            let cycles = 1 + u32::from(router.switch_cycles) + wire;
            // The credit returns over the long wire instead of a link between neighbours.
            let credit = (u32::from(router.credit_cycles) + wire).saturating_sub(u32::from(router.link_cycles));
            let (here, there) = layout.join(first + one, first + other, cycles, credit.max(1));
            ports.across[usize::from(one)][usize::from(other)] = here.port;
            ports.across[usize::from(other)][usize::from(one)] = there.port;
        }
    }
    for core in 0..first {
        let (column, index) = (core / rows, core % rows);
        let head = index % half == 0;
        let toward = if head { first + column } else { core - 1 };
        // A chain takes a cycle per core, whatever the routers of the LLC tiles take.
        let (near, far): (Port, Port) = layout.join(toward, core, 1, 1);
        ports.inward[usize::from(core)] = far.port;
        if head {
            ports.chains[usize::from(column)][usize::from(index / half)] = near.port;
        } else {
            ports.outward[usize::from(toward)] = near.port;
        }
    }
    for core in 0..first {
        let (at, place) = (layout.port(core), layout.routers[usize::from(core)]);
        layout.terminals.push(Terminal { at, place, in_cycles: 1, out_cycles: 1, credit_cycles: 1 });
    }
    // Three terminals at each LLC tile, in the order of `FloorPlan`.
    for _ in ["slices", "edge", "memory"] {
        for column in 0..columns {
            attach(&mut layout, first + column, Place { column, row: half }, router);
        }
    }
    (layout, ports)
}

/// Returns the port through which a packet leaves router `at` for router `to`.
fn step(ports: &Ports, (columns, rows): (u16, u16), at: u16, to: u16) -> u8 {
    let (first, half) = (columns * rows, rows / 2);
    let column_of = |router: u16| if router < first { router / rows } else { router - first };
    let chain_of = |core: u16| core % rows / half;
    if at >= first {
        // Across first and then along the chain: there is only one path (docs/models/chip.md, Layout).
        let (here, there) = (column_of(at), column_of(to));
        if here != there {
            return ports.across[usize::from(here)][usize::from(there)];
        }
        return ports.chains[usize::from(here)][usize::from(chain_of(to))];
    }
    // Outward only to a core further out in the same chain.
    let behind = to < first && to / rows == at / rows && chain_of(to) == chain_of(at) && to > at;
    if behind {
        ports.outward[usize::from(at)]
    } else {
        ports.inward[usize::from(at)]
    }
}
