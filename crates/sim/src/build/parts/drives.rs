//! Builds drives and their jobs.

use super::links::{link_number, DeviceLink};
use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::{Builder, SocketBuilder};
use hostnet_model::line::Walk;
use hostnet_model::nvme::{DriveJob, DrivePortWiring, DriveWiring, Ssd};
use hostnet_model::params::{AccessPattern, ServerParams, SocketParams, WorkloadKind, EXTRA_BYTES};
use hostnet_model::PartKind;

pub(super) const DRIVES: PartBuilder =
    PartBuilder::new(PartKind::Ssd, |params| params.ssd.count, |socket| all(drives(socket)))
        .in_bursts(coarsen)
        .with_links(links);

fn drives(socket: &SocketBuilder) -> Vec<Ssd> {
    (0..socket.layout.of(PartKind::Ssd).len()).map(|index| drive(socket, index)).collect()
}

fn drive(socket: &SocketBuilder, index: u32) -> Ssd {
    let params = socket.params;
    let number = socket.layout.before(PartKind::Ssd) + index;
    let mut jobs = Vec::new();
    let mut ssd = params.ssd.clone();
    let mut rng = socket.server.component_rng(socket.layout.of(PartKind::Ssd).get(index));
    for (class, workload) in socket.server.params.workloads.iter().enumerate() {
        let WorkloadKind::Fio(fio) = &workload.kind else { continue };
        let used: Vec<u32> = fio.jobs.iter().map(|job| job.ssd).collect();
        for job in fio.jobs.iter().filter(|job| job.ssd == number) {
            if fio.rate_bytes_per_s > 0 {
                let mut drives = used.clone();
                drives.sort_unstable();
                drives.dedup();
                // The rate is that of the whole workload, so its drives share it evenly.
                let share = fio.rate_bytes_per_s / drives.len() as u64;
                ssd.read_bytes_per_s = ssd.read_bytes_per_s.min(share);
                ssd.write_bytes_per_s = ssd.write_bytes_per_s.min(share);
            }
            let at = socket.server.node(job.core);
            let base = socket.allocate_for(class as u8, at, job.block_bytes * u64::from(job.io_depth));
            let extra = socket.allocate_for(class as u8, at, EXTRA_BYTES);
            jobs.push(DriveJob {
                params: job.clone(),
                class: class as u8,
                base,
                core: socket.server.layout.core(job.core),
                dma_lines_per_page: fio.dma_lines_per_page,
                extra: Walk::new(
                    extra,
                    EXTRA_BYTES,
                    AccessPattern::Strided { bytes: u64::from(params.pcie.mps_bytes) },
                    &mut rng,
                ),
                slot: 0,
                waiting: 0,
                consume: fio.consume,
            });
        }
    }
    let wiring = DriveWiring { ports: ports(socket.server, socket.layout.number, index), number: number as u8 };
    let drive = Ssd::new(wiring, ssd, socket.pages.clone(), rng, jobs, socket.server.classes);
    match &params.iommu {
        Some(iommu) => drive.with_unmapping(iommu.unmap_ps()),
        None => drive,
    }
}

/// Returns the ports of a drive, which is identified by its socket and its number on that socket. The port on the
/// drive's own socket comes first.
fn ports(server: &Builder, socket: u8, index: u32) -> Vec<DrivePortWiring> {
    let pcie = &server.at(socket).1.pcie;
    let port = |at: u8| {
        let link = link_number(server.params, at, PartKind::Ssd, (socket, index))?;
        Some(DrivePortWiring { socket: at, iio: server.at(at).0.iio(), link, pcie: pcie.clone() })
    };
    let others = (0..server.params.sockets.len() as u8).filter(|&other| other != socket);
    std::iter::once(socket).chain(others).filter_map(port).collect()
}

/// Returns the links of drives to the IIO of a socket.
fn links(server: &ServerParams, socket: u8) -> Vec<DeviceLink> {
    // The list is empty without caches, and then no drive has DDIO.
    let ddio = server.ddio_at(socket).into_iter().chain(std::iter::repeat(false));
    let link = |(device, ddio): ((u8, u32), bool)| {
        let pcie = server.sockets[usize::from(device.0)].pcie.clone();
        DeviceLink { kind: PartKind::Ssd, device, pcie, ddio, in_order: false }
    };
    server.drives_at(socket).into_iter().zip(ddio).map(link).collect()
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    socket.pcie = grain.pcie(&socket.pcie);
    let ssd = &mut socket.ssd;
    ssd.read_bytes_per_s = grain.bytes(ssd.read_bytes_per_s);
    ssd.write_bytes_per_s = grain.bytes(ssd.write_bytes_per_s);
    ssd.max_transfer_bytes = grain.lines_of(ssd.max_transfer_bytes);
}
