//! Builds the device that generates DMA.

use super::links::{link_number, DeviceLink};
use super::{all, PartBuilder};
use crate::build::SocketBuilder;
use hostnet_model::dma::{Dma, DmaLoad, DmaWiring};
use hostnet_model::params::{DmaParams, ServerParams, Workload};
use hostnet_model::PartKind;

pub(super) const DMA: PartBuilder =
    PartBuilder::new(PartKind::Dma, |params| params.dma.is_some().into(), |socket| all(dma(socket))).with_links(links);

fn dma(socket: &SocketBuilder) -> Option<Dma> {
    let params = socket.params.dma.clone()?;
    let server = socket.server;
    let number = socket.layout.number;
    let link = link_number(server.params, number, PartKind::Dma, (number, 0)).expect("the device has a link");
    let load = |(class, workload): (u8, &Workload)| {
        let params = workload.kind.dma()?.clone();
        let base = socket.allocate_for(class, socket.node_of_io(), params.window_bytes);
        Some(DmaLoad { params, class, base, started: 0 })
    };
    let loads = (0..).zip(&server.params.workloads).filter_map(load).collect();
    let rng = server.component_rng(socket.layout.of(PartKind::Dma).first());
    let wiring = DmaWiring { iio: socket.layout.iio(), link, pcie: socket.params.pcie.clone() };
    Some(Dma::new(wiring, params, socket.pages.clone(), rng, loads, server.classes))
}

/// Returns the link of the device to the IIO of its socket.
fn links(server: &ServerParams, socket: u8) -> Vec<DeviceLink> {
    let own = &server.sockets[usize::from(socket)];
    let link = |dma: &DmaParams| DeviceLink {
        kind: PartKind::Dma,
        device: (socket, 0),
        pcie: own.pcie.clone(),
        ddio: dma.ddio,
        in_order: false,
    };
    own.dma.iter().map(link).collect()
}
