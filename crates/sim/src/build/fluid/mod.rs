//! Builds a host with a fluid memory, which has rates instead of lines.
//!
//! The NIC, the network cores and the host congestion control are those of every host. Memory, IIO, other sockets and
//! all other workloads are one table of rates. The table is measured by simulating the same server line by line for a
//! short time in each state that it can be in.

mod fill;
mod kept;
mod load;
mod measuring;
mod point;
mod server_load;
mod table;
#[cfg(test)]
mod table_tests;

pub(crate) use fill::FilledCaches;
pub use kept::RateTables;
pub(crate) use kept::TableSource;
pub(crate) use load::{copiers, feeder, loaded_nic, start_load};
pub(crate) use server_load::ServerLoad;
pub(crate) use table::TableInputs;

use crate::build::attach::NetworkAttachment;
use crate::build::parts::{build_sockets, WITH_RATES};
use crate::build::power::power;
use crate::build::sockets::{control_of, throttled_sockets};
use crate::build::{fluid_partition, Builder, Layout};
use hostnet_kernel::Scheduler;
use hostnet_model::control::Throttled;
use hostnet_model::fluid::{FluidMemory, FluidSetup, Throttling};
use hostnet_model::params::{
    FluidParams, NicParams, PcieParams, ServerParams, SocketParams, SsdParams, Workload, WorkloadKind,
};
use hostnet_model::{Component, Machine, Payload};

/// Maximum number of lines of a TLP, limited by the field of an event.
const TLP_LINES: u32 = 255;

/// Builds the partition of a server on a network with a fluid memory of the given rates. The last workloads of the
/// server are the classes of the network.
pub(crate) fn server(
    params: &ServerParams,
    first: u32,
    attachment: NetworkAttachment,
    rates: &FluidParams,
) -> (Machine, Scheduler<Payload>) {
    let layout = Layout::of_fluid(params, first);
    let socket = params.socket();
    let memory = FluidMemory::new(FluidSetup {
        device: layout.nic(),
        params: rates.clone(),
        pcie: socket.nic.as_ref().map_or_else(|| socket.pcie.clone(), |nic| nic.pcie.clone()),
        clock_ps: params.control.as_ref().map_or(1, |control| control.iio_clock_ps),
        throttling: throttling(params),
        cores: socket.core.count,
        classes: params.workloads.len(),
    });
    // Counted before the other sockets are removed.
    let held = throttled_sockets(params).len();
    fluid_partition(&without_lines(params), layout, attachment, (memory, held))
}

fn throttling(params: &ServerParams) -> Throttling {
    match &params.control {
        _ if !throttled_sockets(params).is_empty() => Throttling::Sockets,
        Some(control) => Throttling::Local { most_ps: u32::try_from(control.mba_ps).unwrap_or(u32::MAX) },
        None => Throttling::Local { most_ps: 1 },
    }
}

/// Returns the server with only its network and one socket, as the rates include the rest. A TLP carries a packet.
fn without_lines(params: &ServerParams) -> ServerParams {
    let silent = |workload: &Workload| Workload::new(&workload.name, WorkloadKind::Network);
    let socket = params.socket();
    let socket = SocketParams {
        cache: None,
        ssd: SsdParams { count: 0, ..socket.ssd.clone() },
        nic: socket.nic.as_ref().map(|nic| NicParams { pcie: packet_link(&nic.pcie), ..nic.clone() }),
        ..socket.clone()
    };
    let workloads = params.workloads.iter().map(silent).collect();
    ServerParams { sockets: vec![socket], upi: None, workloads, ..params.clone() }
}

/// Returns a link with packets as TLPs, at the payload rate of the real link. It may have one more TLP in flight than
/// the real link.
fn packet_link(pcie: &PcieParams) -> PcieParams {
    let payload = u64::from(pcie.mps_bytes);
    PcieParams {
        bytes_per_s: pcie.bytes_per_s * payload / (payload + u64::from(pcie.write_overhead_bytes)),
        write_overhead_bytes: 0,
        mps_bytes: TLP_LINES * 64,
        mrrs_bytes: TLP_LINES * 64,
        posted_lines: pcie.posted_lines + TLP_LINES,
        nonposted_lines: pcie.nonposted_lines + TLP_LINES,
        ..pcie.clone()
    }
}

/// Builds the parts of a host with a fluid memory, in the order of its layout. `held` is the number of other
/// sockets that control throttles.
pub(crate) fn components(server: &Builder, held: usize) -> Vec<Component> {
    let mut all = build_sockets(server, WITH_RATES);
    if let Some(control) = &server.params.control {
        // The fluid memory stands for the cores, so it receives their throttling.
        let memory = server.layout.nic_socket().iio();
        let throttled = match held {
            0 => Throttled::Local(vec![memory]),
            _ => Throttled::Sockets(vec![vec![memory]; held]),
        };
        all.push(control_of(server, control, throttled).into());
    }
    all.extend(power(server, &all).map(Into::into));
    all
}
