//! A host whose memory system has rates instead of lines.
//!
//! Its NIC, its network cores and what watches it are those of every host; memory, IIO, other sockets and all that runs
//! beside the network is one table of rates, found by running the same server line by line for a moment in each state
//! that it can be in.

mod fill;
mod load;
mod table;

pub(crate) use fill::Filled;
pub(crate) use load::Load;

use crate::build::attach::Attachment;
use crate::build::parts::WITH_RATES;
use crate::build::sockets::held_back;
use crate::build::{fluid_partition, Builder, Layout};
use hostnet_kernel::Scheduler;
use hostnet_model::control::Throttled;
use hostnet_model::fluid::{FluidMemory, FluidSetup, Throttling};
use hostnet_model::params::{NicParams, PcieParams, ServerParams, SocketParams, SsdParams, Workload, WorkloadKind};
use hostnet_model::{Component, Machine, Payload};

/// Told of every point at which rates have been measured; false = no more are wanted.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut() -> bool;

/// Most lines of a TLP: what an event can count.
const TLP_LINES: u32 = 255;

/// Points that the rates of a server are measured at.
pub(crate) fn points(params: &ServerParams, attachment: &Attachment) -> usize {
    table::points(params, loaded_cores(params, attachment).len())
}

/// The partition of a server on a network whose memory has rates. Its workloads end with the classes of the network.
/// None when `go_on` says no.
pub(crate) fn server(
    params: &ServerParams,
    first: u32,
    attachment: Attachment,
    go_on: GoOn<'_>,
) -> Option<(Machine, Scheduler<Payload>)> {
    let cores = loaded_cores(params, &attachment);
    let ip_bytes = attachment.largest_packet();
    let layout = Layout::of_rates(params, first);
    let socket = params.socket();
    let memory = FluidMemory::new(FluidSetup {
        device: layout.nic(),
        params: table::rates(params, &cores, ip_bytes, go_on)?,
        pcie: socket.nic.as_ref().map_or_else(|| socket.pcie.clone(), |nic| nic.pcie.clone()),
        clock_ps: params.control.as_ref().map_or(1, |control| control.iio_clock_ps),
        throttling: throttling(params),
        cores: socket.core.count,
        classes: params.workloads.len(),
    });
    let held = held_back(params).len();
    Some(fluid_partition(&without_lines(params), layout, attachment, (memory, held)))
}

/// The cores that copy while rates are measured. What is in the caches depends on the buffers that are in use.
fn loaded_cores(params: &ServerParams, attachment: &Attachment) -> Vec<u32> {
    if fill::has_ddio(params.socket()) {
        attachment.receiving_cores(params)
    } else {
        attachment.network_cores(params)
    }
}

fn throttling(params: &ServerParams) -> Throttling {
    match &params.control {
        _ if !held_back(params).is_empty() => Throttling::Sockets,
        Some(control) => Throttling::Local { most_ps: u32::try_from(control.mba_ps).unwrap_or(u32::MAX) },
        None => Throttling::Local { most_ps: 1 },
    }
}

/// The socket that has rates, with nothing but its network: the rest is in the rates. A TLP carries a packet.
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

/// A link whose TLPs carry packets, as fast as it carries those of the real size. It may have a TLP on its way beyond
/// what the real one has.
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

impl Builder<'_> {
    /// The parts of a host of rates, in the order of its layout. `held`: how many other sockets control throttles.
    pub(crate) fn fluid_components(&self, held: usize) -> Vec<Component> {
        let mut all = self.of_sockets(WITH_RATES);
        if let Some(control) = &self.params.control {
            // What would be told to the cores is told to the memory.
            let memory = self.layout.at_nic().iio();
            let throttled = match held {
                0 => Throttled::Local(vec![memory]),
                _ => Throttled::Sockets(vec![vec![memory]; held]),
            };
            all.push(self.control_of(control, throttled).into());
        }
        all.extend(self.power(&all).map(Into::into));
        all
    }
}
