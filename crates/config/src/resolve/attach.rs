//! Attachment of a NIC to its server, and the costs of its registers and descriptors.

use crate::code::Code;
use crate::error::Issue;
use crate::spec::{AttachSpec, Bandwidth, CxlSpec, NicSpec, OnChipSpec, Time};
use hostnet_model::params::{Fidelity, NicAttachParams, PcieParams, ServerParams};

/// Latency from a core to the on-die agent of a link, in ps (assumed: that of an access to the LLC).
const REGISTER_PS: u64 = 20_000;
/// Receive descriptors per fetch (assumed: as many as a read request of 512 B holds).
const FETCH: u32 = 32;
/// Latency of the link between an on-die NIC and the rest of the die, in ps (assumed: some clocks of the uncore).
const ON_CHIP_PS: u64 = 5_000;
/// Bandwidth of the link of an on-die NIC, in bytes per second (assumed: a line per ns).
const ON_CHIP_BYTES_PER_S: u64 = 64_000_000_000;

/// One-way latency of a CXL link including both ends, in ps (assumed: half of that of PCIe; CXL has the physical
/// layer of PCIe but not its transaction layer).
const CXL_PS: u64 = 50_000;
/// Bytes of a slot, bytes of a flit of four slots, and overhead of a flit as a share of its slots, in units of 2^-16.
pub(super) const SLOT_BYTES: u32 = 16;
pub(super) const FLIT_BYTES: u32 = 68;
const FLIT_SHARE: u32 = ((FLIT_BYTES - 4 * SLOT_BYTES) << 16) / FLIT_BYTES;
/// Bytes of a receive descriptor (assumed: an address and flags).
const DESCRIPTOR_BYTES: u32 = 16;
/// Bytes of a request without data on the die: an address and a command (assumed).
const READ_BYTES: u32 = 8;

/// Returns the costs of the registers and descriptors of a NIC, or `None` without `nic.attach`.
pub(super) fn attach(spec: &NicSpec, pcie: &PcieParams) -> Result<Option<NicAttachParams>, Issue> {
    check_keys(spec)?;
    if spec.attach.is_none() {
        return Ok(None);
    }
    let fetch = spec.fetch.unwrap_or(FETCH);
    let most = pcie.mrrs_bytes / DESCRIPTOR_BYTES;
    if fetch > most && spec.fetch.is_some() {
        let message = format!("a read request of the card has room for {most} descriptors of 16 B");
        return Err(Issue::between(Code::DoesNotFit, &["nic.fetch", "nic.pcie.mrrs"], message));
    }
    let register_ps = spec.register.map_or(REGISTER_PS, |Time(ps)| ps);
    Ok(Some(NicAttachParams { register_ps, status: spec.status.unwrap_or(false), fetch: fetch.min(most) }))
}

/// Checks that no key is given that has no effect at the attachment of the NIC.
fn check_keys(spec: &NicSpec) -> Result<(), Issue> {
    let all = ["pcie", "onchip", "cxl", "dimm"];
    let given = [
        ("nic.register", spec.register.is_some(), &all as &[_]),
        ("nic.status", spec.status.is_some(), &all),
        ("nic.fetch", spec.fetch.is_some(), &all),
        ("nic.onchip", spec.onchip.is_some(), &all[1..2]),
        ("nic.cxl", spec.cxl.is_some(), &all[2..3]),
        ("nic.dimm", spec.dimm.is_some(), &all[3..]),
    ];
    let own = spec.attach.map(|attach| match attach {
        AttachSpec::Pcie => "pcie",
        AttachSpec::Onchip => "onchip",
        AttachSpec::Cxl => "cxl",
        AttachSpec::Dimm => "dimm",
    });
    for (path, given, of) in given {
        if given && own.is_none_or(|own| !of.contains(&own)) {
            let of: Vec<_> = of.iter().map(|name| format!("\"{name}\"")).collect();
            let message = format!("has an effect only with nic.attach = {}", of.join(" or "));
            return Err(Issue::between(Code::NoEffect, &[path, "nic.attach"], message));
        }
    }
    if spec.functions.is_some() && own.is_some_and(|own| own != "pcie") {
        let message = "functions are links of PCIe; a card that sits elsewhere hangs off socket 0";
        return Err(Issue::between(Code::ConflictingKeys, &["nic.functions", "nic.attach"], message));
    }
    Ok(())
}

/// Returns the link of a NIC at its attachment; `pcie` is its link when attached by PCIe.
pub(super) fn link(spec: &NicSpec, pcie: PcieParams) -> PcieParams {
    match spec.attach {
        None | Some(AttachSpec::Pcie) => pcie,
        Some(AttachSpec::Onchip) => on_chip(&spec.onchip.clone().unwrap_or_default(), pcie),
        Some(AttachSpec::Dimm) => super::dimm::link(&spec.dimm.clone().unwrap_or_default(), pcie),
        Some(AttachSpec::Cxl) => cxl(&spec.cxl.clone().unwrap_or_default(), pcie),
    }
}

/// Returns the link of a NIC that is on the same die as its peer.
pub(super) fn on_chip_link(pcie: PcieParams) -> PcieParams {
    on_chip(&OnChipSpec::default(), pcie)
}

/// Returns the link of an on-die NIC, which has no header overhead.
fn on_chip(spec: &OnChipSpec, pcie: PcieParams) -> PcieParams {
    PcieParams {
        bytes_per_s: spec.bandwidth.map_or(ON_CHIP_BYTES_PER_S, |Bandwidth(bytes)| bytes),
        latency_ps: spec.latency.map_or(ON_CHIP_PS, |Time(ps)| ps),
        write_overhead_bytes: 0,
        read_overhead_bytes: READ_BYTES,
        completion_overhead_bytes: 0,
        dllp_share: 0,
        ..pcie
    }
}

/// Returns the link of a NIC that accesses lines by CXL.cache: each message has its own slots of 16 B, four to a flit
/// of 68 B (CXL 2.0 specification, 4.2). A write is a request, a header and the line. A read is a request, answered
/// by a header and the line.
fn cxl(spec: &CxlSpec, pcie: PcieParams) -> PcieParams {
    PcieParams {
        latency_ps: spec.latency.map_or(CXL_PS, |Time(ps)| ps),
        mps_bytes: 64,
        mrrs_bytes: 64,
        write_overhead_bytes: 2 * SLOT_BYTES,
        read_overhead_bytes: SLOT_BYTES,
        completion_overhead_bytes: SLOT_BYTES,
        dllp_share: FLIT_SHARE,
        ..pcie
    }
}

/// Returns the reason why a server with a NIC at this attachment is not validated, if there is one.
pub(super) fn unvalidated(spec: Option<&NicSpec>) -> Option<String> {
    let simulated = "has only been compared with another simulator: hostnet validate netdimm";
    match spec?.attach? {
        AttachSpec::Pcie => None,
        AttachSpec::Onchip => Some(format!("a NIC on the die {simulated}")),
        AttachSpec::Dimm => Some(format!("a NIC in a DIMM {simulated}")),
        AttachSpec::Cxl => Some("a NIC at CXL has not been compared with any measurement".to_owned()),
    }
}

/// Checks that a server is simulated line by line if its registers have a cost or its applications copy nothing.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity) -> Result<(), Issue> {
    let given = [
        ("nic.attach", server.nic().is_some_and(|nic| nic.attach.is_some())),
        ("stack.zero_copy", server.stack.as_ref().is_some_and(|stack| stack.zero_copy)),
    ];
    match given.into_iter().find(|(_, given)| *given && fidelity != Fidelity::Line) {
        Some((path, _)) => {
            let message = "needs fidelity = \"line\": registers, and what is not copied, are no rates";
            Err(Issue::between(Code::NeedsLineFidelity, &["fidelity", path], message))
        }
        None => Ok(()),
    }
}
