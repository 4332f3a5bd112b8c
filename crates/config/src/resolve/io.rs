//! `[pcie]` and `[ssd]`.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    Bandwidth, DmaParams, IioParams, PcieParams, PcieSpec, ServerParams, SocketParams, Spec, SsdParams, SsdSpec,
    Workload, LANES_MAX,
};

pub(super) fn resolve_pcie(spec: &Spec) -> Result<PcieParams, Issue> {
    let pcie = &spec.pcie;
    check_lanes(spec)?;
    let lines = |field: &str, lines: u32, size_name: &str, bytes: u64| {
        let least = bytes / 64;
        let message = format!("{lines} lines are less than {size_name}, which is {least} lines");
        (u64::from(lines) < least).then(|| Issue::between(Code::DoesNotFit, &[field, size_name], message))
    };
    let short = lines("pcie.posted_lines", pcie.posted_lines, "pcie.mps", pcie.mps.0)
        .or_else(|| lines("pcie.nonposted_lines", pcie.nonposted_lines, "pcie.mrrs", pcie.mrrs.0));
    match short {
        Some(issue) => Err(issue),
        None => Ok(pcie_params(pcie, drive_lanes(pcie.lanes, spec.ssd.count))),
    }
}

/// Resolves the device that generates DMA, which is there if a workload uses it.
pub(super) fn resolve_dma(spec: &Spec, workloads: &[Workload]) -> Option<DmaParams> {
    let used = workloads.iter().any(|workload| workload.kind.dma().is_some());
    used.then(|| spec.dma.clone().unwrap_or_default().params(spec.ddio.enabled && spec.cache.enabled))
}

/// Returns a note about a device that generates DMA for no workload.
pub(super) fn without_dma(spec: &Spec, server: &ServerParams) -> Option<String> {
    let idle = spec.dma.is_some() && server.socket().dma.is_none();
    idle.then(|| "dma: has no effect without a workload of kind \"dma\"".to_owned())
}

/// Checks that every drive has a lane.
pub(super) fn check_lanes(spec: &Spec) -> Result<(), Issue> {
    let (lanes, drives) = (spec.pcie.lanes, spec.ssd.count);
    if lanes >= drives {
        return Ok(());
    }
    let message = format!("{lanes} lanes are too few for ssd.count = {drives}; every drive needs one");
    Err(Issue::between(Code::TooFewSlots, &["pcie.lanes", "ssd.count"], message))
}

fn pcie_params(pcie: &PcieSpec, lanes: u32) -> PcieParams {
    PcieParams {
        bytes_per_s: link_bytes_per_s(pcie.generation, lanes),
        mps_bytes: pcie.mps.0 as u32,
        mrrs_bytes: pcie.mrrs.0 as u32,
        write_overhead_bytes: pcie.write_overhead.0 as u32,
        read_overhead_bytes: pcie.read_overhead.0 as u32,
        completion_overhead_bytes: pcie.completion_overhead.0 as u32,
        dllp_share: (pcie.dllp_share * 65536.0).round() as u32,
        latency_ps: pcie.latency.0,
        posted_lines: pcie.posted_lines,
        nonposted_lines: pcie.nonposted_lines,
    }
}

/// Returns a note about a link whose posted credits carry one full write TLP at a time.
pub(super) fn one_at_a_time(pcie: &PcieParams) -> Option<String> {
    // Twice the lines of a write TLP let one cross the link while the credits of the other return.
    let tlp_lines = pcie.mps_bytes.div_ceil(64);
    (pcie.posted_lines < 2 * tlp_lines).then(|| {
        format!(
            "pcie.mps: a write TLP of {} takes {tlp_lines} of the {} lines of pcie.posted_lines, so the next waits \
             until they are back",
            format(pcie.mps_bytes.into(), Dimension::Size),
            pcie.posted_lines
        )
    })
}

/// Factor by which devices may exceed the rate of the IIO without a note.
pub(super) const WORTH_SAYING: f64 = 1.02;

/// Returns the rate of the IIO in each direction, in bytes per second.
fn iio_bytes_per_s(iio: &IioParams) -> f64 {
    // 64 B of a line, over 1e-12 s per ps.
    64e12 / iio.line_ps.max(1) as f64
}

/// Returns a note about drives that offer more than the IIO carries.
pub(super) fn capped(socket: &SocketParams) -> Option<String> {
    let ssd = &socket.ssd;
    let offered = drives_bytes_per_s(socket, ssd.read_bytes_per_s.max(ssd.write_bytes_per_s));
    above_the_iio(socket, offered).map(|most| {
        format!("iio.line: {} drives could move {:.1} GB/s, but the IIO only {most}", ssd.count, offered / 1e9)
    })
}

/// Returns the rate of a socket's drives at `of_each`, capped at the rate of a link, in bytes per second.
pub(super) fn drives_bytes_per_s(socket: &SocketParams, of_each: u64) -> f64 {
    of_each.min(socket.pcie.bytes_per_s) as f64 * f64::from(socket.ssd.count)
}

/// Returns a text with the rate of the IIO and a sufficient time per line if that rate is below the offered one, in
/// bytes per second.
pub(super) fn above_the_iio(socket: &SocketParams, offered: f64) -> Option<String> {
    let most = iio_bytes_per_s(&socket.iio);
    (offered > WORTH_SAYING * most).then(|| {
        let fits = format((64e12 / offered) as u64, Dimension::Time);
        format!("{:.1} GB/s in each direction; iio.line = \"{fits}\" would fit", most / 1e9)
    })
}

/// Returns a note about drives that are faster than the link of their lanes, with a sufficient number of lanes.
pub(super) fn narrow_links(spec: &Spec, socket: &SocketParams) -> Option<String> {
    let (drives, offered) = (socket.ssd.count, socket.ssd.read_bytes_per_s.max(socket.ssd.write_bytes_per_s));
    let moved = socket.pcie.bytes_per_s;
    if drives == 0 || offered as f64 <= WORTH_SAYING * moved as f64 {
        return None;
    }
    let generation = spec.pcie.generation;
    let fits = WIDTHS.iter().rev().find(|&&width| offered <= link_bytes_per_s(generation, width));
    let fits = fits.map(|width| width * drives).filter(|lanes| *lanes <= LANES_MAX);
    let fits = fits.map_or_else(String::new, |lanes| format!("; pcie.lanes = {lanes} would fit"));
    Some(format!(
        "pcie.lanes: a drive could move {:.1} GB/s, but its link, x{} of generation {generation}, \
         only {:.1} GB/s{fits}",
        offered as f64 / 1e9,
        drive_lanes(spec.pcie.lanes, drives),
        moved as f64 / 1e9
    ))
}

/// Possible widths of the link of a drive, widest first.
const WIDTHS: [u32; 5] = [16, 8, 4, 2, 1];

/// Returns the lanes of one drive: the widest possible link.
fn drive_lanes(lanes: u32, drives: u32) -> u32 {
    WIDTHS.into_iter().find(|&width| width <= lanes / drives.max(1)).unwrap_or(1)
}

/// Returns the rate of a link in one direction after line coding, in bytes per second: 8b/10b for generations 1 and
/// 2, 128b/130b for 3 to 5, and 242 of the 256 bytes of a flit for generation 6.
#[must_use]
pub fn link_bytes_per_s(generation: u32, lanes: u32) -> u64 {
    let (mega_transfers, payload, coded): (u64, u64, u64) = match generation {
        1 => (2_500, 8, 10),
        2 => (5_000, 8, 10),
        3 => (8_000, 128, 130),
        4 => (16_000, 128, 130),
        5 => (32_000, 128, 130),
        _ => (64_000, 242, 256),
    };
    mega_transfers * 1_000_000 * u64::from(lanes) * payload / (coded * 8)
}

pub(super) fn resolve_ssd(spec: &SsdSpec) -> Result<SsdParams, Issue> {
    let rate = |own: Option<Bandwidth>, path: &str| match own {
        Some(Bandwidth(bytes_per_s)) => Ok(bytes_per_s),
        None => Err(Issue::new(Code::MissingKey, path, "missing; give it or ssd.bandwidth")),
    };
    Ok(SsdParams {
        count: spec.count,
        read_bytes_per_s: rate(spec.read_bandwidth, "ssd.read_bandwidth")?,
        write_bytes_per_s: rate(spec.write_bandwidth, "ssd.write_bandwidth")?,
        latency_ps: spec.latency.0,
        queue_depth: spec.queue_depth,
        streams: spec.streams,
        max_transfer_bytes: spec.max_transfer.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_with_credits_for_one_tlp_is_told() {
        let link = |mps_bytes, posted_lines| PcieParams {
            bytes_per_s: 16_000_000_000,
            mps_bytes,
            mrrs_bytes: 512,
            write_overhead_bytes: 24,
            read_overhead_bytes: 24,
            completion_overhead_bytes: 20,
            dllp_share: 0,
            latency_ps: 100_000,
            posted_lines,
            nonposted_lines: 64,
        };
        assert_eq!(one_at_a_time(&link(2048, 64)), None);
        let told = one_at_a_time(&link(4096, 64)).expect("64 lines are one TLP");
        assert!(told.starts_with("pcie.mps: a write TLP of 4 KiB takes 64 of the 64 lines"), "{told}");
        assert!(one_at_a_time(&link(256, 7)).is_some() && one_at_a_time(&link(256, 8)).is_none());
    }
}
