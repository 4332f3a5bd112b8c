//! `nic.mitt`, `nic.icr` and the other keys of interrupt moderation.

use super::context::Context;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{InterruptModerationParams, NcapModeSpec, NicSpec, Spec, Time};

/// Master timer of a NIC with NCAP, in ps: "every 40 to 100 us" (Alian, thesis, ch. 2).
const MASTER_PS: u64 = 50_000_000;
/// Keys without an effect if there is a master timer.
const COALESCE: [&str; 2] = ["nic.coalesce", "nic.coalesce_packets"];

/// Fills in the master timer, and removes keys that have no effect beside it.
pub(super) fn complete(spec: &mut Spec, context: &Context) -> Result<(), Issue> {
    let Some(nic) = &mut spec.nic else { return Ok(()) };
    if nic.ncap.as_ref().is_some_and(|ncap| ncap.mode == NcapModeSpec::Hardware) {
        nic.mitt.get_or_insert(Time(MASTER_PS));
    }
    if nic.mitt.is_some() {
        if let Some(key) = COALESCE.into_iter().find(|key| context.is_given(key)) {
            let message = "has no effect beside nic.mitt, whose timer alone lets interrupts out \
                (nic.ncap in hardware has one)";
            return Err(Issue::between(Code::NoEffect, &[key, "nic.mitt", "nic.ncap"], message));
        }
        (nic.coalesce, nic.coalesce_packets) = (None, None);
    } else if nic.icr.is_some() {
        return Err(Issue::new(Code::NoEffect, "nic.icr", "has an effect only with nic.mitt"));
    }
    Ok(())
}

/// Returns the longest delay after a first completion in ps, and the number of completions that end the delay.
pub(super) fn coalesced(spec: &NicSpec) -> Result<(u64, u32), Issue> {
    if spec.mitt.is_some() {
        // No delay per completion: the master timer alone limits interrupts.
        return Ok((0, 1));
    }
    let missing = |key| Issue::new(Code::MissingKey, key, "missing; it or nic.mitt is wanted");
    let Time(wait_ps) = spec.coalesce.ok_or_else(|| missing(COALESCE[0]))?;
    Ok((wait_ps, spec.coalesce_packets.ok_or_else(|| missing(COALESCE[1]))?))
}

/// Returns the master timer of a NIC, if it has one.
pub(super) fn moderation(spec: &NicSpec) -> Option<InterruptModerationParams> {
    let Time(master_ps) = spec.mitt?;
    Some(InterruptModerationParams { master_ps, cause_ps: spec.icr.map_or(0, |Time(ps)| ps) })
}

/// Checks that a server without a NIC has no key of interrupts.
pub(super) fn check_absent(spec: &Spec) -> Result<(), Issue> {
    let Some(nic) = &spec.nic else { return Ok(()) };
    let keys =
        [("nic.ncap", nic.ncap.is_some()), ("nic.mitt", nic.mitt.is_some()), ("nic.queues", nic.queues.is_some())];
    match keys.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            Err(Issue::new(Code::NoEffect, key, "has no effect: the server is reached through memory, without a NIC"))
        }
    }
}
