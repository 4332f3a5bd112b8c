//! Names the parts of the latency of an operation.

use hostnet_chip::{Part, Placement};

/// Returns the name of a part in results, and its title.
pub(super) fn part_name_and_title(part: Part, placement: Placement) -> (&'static str, &'static str) {
    let load = placement == Placement::Numa;
    match part {
        Part::WqWrite if load => ("issue", "load or store issued"),
        Part::WqWrite => ("wq_write", "WQ write"),
        Part::WqTransfer => ("wq_transfer", "WQ entry to the NI"),
        Part::RgpFrontend => ("rgp_frontend", "RGP frontend"),
        Part::ToBackend => ("to_rgp_backend", "to the RGP backend"),
        Part::RgpBackend => ("rgp_backend", "RGP backend"),
        Part::ToEdge => ("to_edge", "to the edge of the chip"),
        Part::NetworkOut => ("network_out", "network, there"),
        Part::Remote => ("rrpp", "remote chip (RRPP)"),
        Part::NetworkBack => ("network_back", "network, back"),
        Part::FromEdge if load => ("from_edge", "to the core"),
        Part::FromEdge => ("from_edge", "to the RCP"),
        Part::RcpBackend => ("rcp_backend", "RCP backend"),
        Part::ToFrontend => ("to_rcp_frontend", "to the RCP frontend"),
        Part::RcpFrontend => ("rcp_frontend", "RCP frontend"),
        Part::CqWrite => ("cq_write", "CQ write"),
        Part::CqTransfer => ("cq_transfer", "CQ entry to the core"),
        Part::CqRead => ("cq_read", "CQ read"),
    }
}
