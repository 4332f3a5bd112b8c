//! The link between a NIC and its server: over PCIe, on the die, in a DIMM or over CXL.

use hostnet_params::{AttachSpec, Bandwidth, CxlSpec, NicDimmSpec, NicSpec, OnChipSpec, PcieParams, Time};

/// Latency of the link between an on-die NIC and the rest of the die, in ps (assumed: some clocks of the uncore).
const ON_CHIP_PS: u64 = 5_000;
/// Bandwidth of the link of an on-die NIC, in bytes per second (assumed: a line per ns).
const ON_CHIP_BYTES_PER_S: u64 = 64_000_000_000;
/// Bytes of a request without data on the die: an address and a command (assumed).
const READ_BYTES: u32 = 8;
/// Rate between the NIC and the DIMM's memory, in bytes per second (calibrated against NetDIMM, figure 5.7: 24 lines
/// in 143 ns).
const DMA_BYTES_PER_S: u64 = 10_740_000_000;

/// One-way latency of a CXL link including both ends, in ps (assumed: half of that of PCIe; CXL has the physical
/// layer of PCIe but not its transaction layer).
const CXL_PS: u64 = 50_000;
/// Bytes of a slot, bytes of a flit of four slots, and overhead of a flit as a share of its slots, in units of 2^-16.
pub(super) const SLOT_BYTES: u32 = 16;
pub(super) const FLIT_BYTES: u32 = 68;
const FLIT_SHARE: u32 = ((FLIT_BYTES - 4 * SLOT_BYTES) << 16) / FLIT_BYTES;

/// Returns the link of a NIC at its attachment; `pcie` is its link when attached by PCIe.
pub(super) fn attached_link(spec: &NicSpec, pcie: PcieParams) -> PcieParams {
    match spec.attach {
        None | Some(AttachSpec::Pcie) => pcie,
        Some(AttachSpec::Onchip) => on_chip(&spec.onchip.clone().unwrap_or_default(), pcie),
        Some(AttachSpec::Dimm) => in_dimm(&spec.dimm.clone().unwrap_or_default(), pcie),
        Some(AttachSpec::Cxl) => cxl(&spec.cxl.clone().unwrap_or_default(), pcie),
    }
}

/// Returns the link of an on-die NIC, which has no header overhead.
fn on_chip(spec: &OnChipSpec, pcie: PcieParams) -> PcieParams {
    PcieParams {
        bytes_per_s: spec.bandwidth.map_or(ON_CHIP_BYTES_PER_S, |Bandwidth(bytes)| bytes),
        latency_ps: spec.latency.map_or(ON_CHIP_PS, |Time(ps)| ps),
        // Lines on the die have neither TLP headers nor data-link packets.
        write_overhead_bytes: 0,
        read_overhead_bytes: READ_BYTES,
        completion_overhead_bytes: 0,
        dllp_share: 0,
        ..pcie
    }
}

/// Returns the link between the NIC and the DMA engine of the DIMM, which has no header overhead.
fn in_dimm(spec: &NicDimmSpec, pcie: PcieParams) -> PcieParams {
    let on_chip = on_chip(&OnChipSpec::default(), pcie);
    PcieParams { bytes_per_s: spec.bandwidth.map_or(DMA_BYTES_PER_S, |Bandwidth(bytes)| bytes), ..on_chip }
}

/// Returns the link of a NIC that accesses lines by CXL.cache: each message has its own slots of 16 B, four to a flit
/// of 68 B (CXL 2.0 specification, 4.2). A write is a request, a header and the line. A read is a request, answered
/// by a header and the line.
fn cxl(spec: &CxlSpec, pcie: PcieParams) -> PcieParams {
    PcieParams {
        latency_ps: spec.latency.map_or(CXL_PS, |Time(ps)| ps),
        // CXL.cache moves single lines.
        mps_bytes: 64,
        mrrs_bytes: 64,
        write_overhead_bytes: 2 * SLOT_BYTES,
        read_overhead_bytes: SLOT_BYTES,
        completion_overhead_bytes: SLOT_BYTES,
        dllp_share: FLIT_SHARE,
        ..pcie
    }
}
