//! Builds a chip.

use super::queues::QueueAccesses;
use super::remote::RemoteAccesses;
use super::units::{Edge, Tile, Units};
use super::Chip;
use crate::agenda::Action;
use crate::agenda::Agenda;
use crate::caches::Caches;
use crate::core::Core;
use crate::fabric::Fabric;
use crate::floor::FloorPlan;
use crate::ni::{Backend, Frontend, Rrpp};
use crate::op::Slab;
use crate::slice::Slice;
use crate::stats::ChipStats;
use crate::torus::Place;
use crate::{ChipError, ChipParams, Placement};
use hostnet_kernel::Rng;
use hostnet_noc::Network;

/// Builds a chip; `place` and `targets` are those of a chip of a rack.
pub(super) fn build_chip(params: ChipParams, place: Option<Place>, targets: Vec<u16>) -> Result<Chip, ChipError> {
    params.check()?;
    let (floor, layout, routes) = FloorPlan::new(&params)?;
    let network = Network::new(params.router, &layout, routes, params.seed);
    // The stream numbers are "chip" in ASCII and the next one.
    let mut fill = Rng::new(params.seed, 0x6368_6970);
    let (tiles, edges) = (params.tiles(), floor.edges());
    let edge = params.ni.placement == Placement::Edge;
    let slices = (0..floor.slices()).map(|index| Slice::new((index, floor.slices()), &params, &mut fill)).collect();
    let tile_parts = (0..tiles).map(|index| Tile {
        core: Core::new(params.ni.entries),
        // With NIs at the edge a tile has only its L1; otherwise the NI cache lies behind it, as one agent.
        caches: if edge { Caches::single(index, 1) } else { Caches::pair(index) },
        front: Frontend::new(params.ni.entries),
        backend: Backend::default(),
    });
    let tiles_all = tile_parts.collect();
    let served = floor.cores_per_edge();
    let edges = (0..edges).map(|edge| Edge {
        caches: Caches::single(edge * served, served),
        backend: Backend::default(),
        rrpp: Rrpp::default(),
    });
    let edges = edges.collect();
    let rng = Rng::new(params.seed, 0x6368_6971);
    let mut fabric = Fabric { now: 0, network, agenda: Agenda::new(), messages: Slab::new(), floor, params, rng };
    if fabric.params.ni.placement != Placement::Numa {
        // Every frontend begins with a poll of its work queue.
        (0..tiles).for_each(|core| fabric.schedule(1, Action::Visit(core)));
    }
    // Cores that take turns wait for the first one.
    let first = if fabric.params.workload.mode == crate::Mode::Turns { 1 } else { usize::MAX };
    for core in fabric.params.workload.cores.clone().into_iter().take(first) {
        fabric.schedule(1, Action::Begin(core));
    }
    Ok(Chip {
        fabric,
        layout,
        units: Units { tiles: tiles_all, edges },
        slices,
        ops: Slab::new(),
        flights: Slab::new(),
        remote: RemoteAccesses::new(place, targets),
        stats: ChipStats::default(),
        queues: QueueAccesses::default(),
        stopping: false,
    })
}
