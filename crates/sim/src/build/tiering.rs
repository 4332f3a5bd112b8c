//! Builds the migration of pages to and from memory behind a link.

use super::{Builder, NumaNode, SocketBuilder};
use hostnet_kernel::ComponentId;
use hostnet_model::params::TieringParams;
use hostnet_model::tiering::{PagePlaces, Tiering, TieringWiring};
use std::collections::BTreeSet;

/// Builds the migration of pages, if there is one. The buffers of the cores are allocated already.
pub(super) fn tiering(server: &Builder) -> Option<Tiering> {
    let (_, params) = server.params.tiering()?;
    let socket = server.sockets().next()?;
    let streams = params.classes.iter().map(|&class| &server.params.workloads[usize::from(class)]);
    let cores: BTreeSet<u32> = streams.flat_map(|stream| stream.kind.cores()).copied().collect();
    let ids = |cores: &mut dyn Iterator<Item = u32>| -> Vec<ComponentId> {
        cores.map(|core| server.layout.core(core)).collect()
    };
    let wiring = TieringWiring { cores: ids(&mut cores.into_iter()), copiers: ids(&mut params.cores.iter().copied()) };
    Some(Tiering::new(params.clone(), wiring, places(&socket, params)))
}

/// Returns the places of the pages that migrate, with as many free ones as may come to each node.
fn places(socket: &SocketBuilder, tiering: &TieringParams) -> PagePlaces {
    let server = socket.server;
    let page = tiering.page_bytes;
    let free = |node: u8, pages: u32| {
        let base = server.spaces.of(NumaNode { socket: node, cluster: 0 }, u64::from(pages) * page);
        (0..u64::from(pages)).rev().map(|number| socket.pages.physical(base + number * page) / 64).collect()
    };
    PagePlaces::new(
        page / 64,
        server.migrating.borrow().clone(),
        [free(0, tiering.local_pages), free(1, tiering.pages)],
    )
}
