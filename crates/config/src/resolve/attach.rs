//! Attachment of a NIC to its server, and the costs of its registers and descriptors.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{AttachSpec, Fidelity, NicAttachParams, NicSpec, PcieParams, ServerParams, Time};

/// Latency from a core to the on-die agent of a link, in ps (assumed: that of an access to the LLC).
const REGISTER_PS: u64 = 20_000;
/// Receive descriptors per fetch (assumed: as many as a read request of 512 B holds).
const FETCH: u32 = 32;
/// Bytes of a receive descriptor (assumed: an address and flags).
const DESCRIPTOR_BYTES: u32 = 16;

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
    // The default number of descriptors shrinks with the read request; only a number of the user is an error above.
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
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity, key: &str) -> Result<(), Issue> {
    let given = [
        ("nic.attach", server.nic().is_some_and(|nic| nic.attach.is_some())),
        ("stack.zero_copy", server.stack.as_ref().is_some_and(|stack| stack.zero_copy)),
    ];
    match given.into_iter().find(|(_, given)| *given && fidelity != Fidelity::Line) {
        Some((path, _)) => {
            let message = "needs fidelity = \"line\": registers, and what is not copied, are no rates";
            Err(Issue::between(Code::NeedsLineFidelity, &[key, path], message))
        }
        None => Ok(()),
    }
}
