//! `[switch.*]`: buffers, marking and energy of switches.

use super::super::arithmetic::share;
use super::super::net_host::pfc_params;
use super::learning::{self, learns};
use super::switch_keys::Place;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    EcnParams, EcnSpec, RampSpec, SharerDirectoryParams, Size, SwitchEnergyParams, SwitchEnergySpec, SwitchParams,
    SwitchSpec, Time,
};

const BUFFER_BYTES: u64 = 16_000_000;
const SWITCH_LATENCY_PS: u64 = 500_000;

/// Fills in the defaults, and removes values that have no effect.
pub(super) fn complete(switch: &mut SwitchSpec) {
    learning::strip(switch);
    switch.buffer.get_or_insert(Size(BUFFER_BYTES));
    if learns(switch) {
        learning::complete(switch);
    } else {
        switch.latency.get_or_insert(Time(SWITCH_LATENCY_PS));
    }
}

/// Fills in values of a switch from those for several switches.
pub(super) fn inherit(switch: &mut SwitchSpec, all: &SwitchSpec) {
    switch.buffer = switch.buffer.or(all.buffer);
    switch.alpha = switch.alpha.or(all.alpha);
    switch.latency = switch.latency.or(all.latency);
    switch.ecn = switch.ecn.clone().or_else(|| all.ecn.clone());
    switch.pfc = switch.pfc.clone().or_else(|| all.pfc.clone());
    switch.kind = switch.kind.or(all.kind);
    switch.table = switch.table.or(all.table);
    switch.ttl = switch.ttl.or(all.ttl);
    switch.fabric = switch.fabric.or(all.fabric);
    switch.delay = switch.delay.or(all.delay);
    switch.jitter = switch.jitter.or(all.jitter);
    switch.sum = switch.sum.or(all.sum);
    switch.sharers = switch.sharers.or(all.sharers);
    switch.energy = switch.energy.clone().or_else(|| all.energy.clone());
}

pub(super) fn resolve_switch(at: &Place, spec: &SwitchSpec) -> Result<SwitchParams, Issue> {
    let buffer = spec.buffer.map_or(BUFFER_BYTES, |Size(bytes)| bytes);
    let ecn = match &spec.ecn {
        None | Some(EcnSpec::Off) => None,
        Some(EcnSpec::Packets(packets)) => Some(EcnParams::Packets(*packets)),
        Some(EcnSpec::Bytes(bytes)) => Some(EcnParams::Bytes(fits(at, *bytes, buffer)?)),
        Some(EcnSpec::Ramp(ramp)) => Some(resolve_ramp(at, ramp, buffer)?),
    };
    let pfc =
        spec.pfc.as_ref().map(|pfc| pfc_params(pfc, buffer, &at.origin("pfc"), &at.origin("buffer"))).transpose()?;
    Ok(SwitchParams {
        name: at.name.to_string(),
        buffer_bytes: buffer,
        alpha: spec.alpha.map_or(u32::MAX, |alpha| (alpha * 65536.0).round() as u32),
        latency_ps: if learns(spec) { 0 } else { spec.latency.map_or(SWITCH_LATENCY_PS, |Time(ps)| ps) },
        ecn,
        pfc,
        learning: learns(spec).then(|| learning::params(spec)),
        sharers: spec.sharers.map(|pages| SharerDirectoryParams { regions: Vec::new(), pages: pages.into() }),
        energy: spec.energy.as_ref().map(|energy| energy_params(at, energy)).transpose()?,
    })
}

/// Resolves the energy that a switch consumes.
fn energy_params(at: &Place, spec: &SwitchEnergySpec) -> Result<SwitchEnergyParams, Issue> {
    if *spec == SwitchEnergySpec::default() {
        let message = "is empty; give on, port or byte: there is no profile of switches";
        return Err(Issue::new(Code::MissingKey, at.origin("energy"), message));
    }
    Ok(SwitchEnergyParams {
        on_uw: spec.on.map_or(0, |power| power.0),
        port_uw: spec.port.map_or(0, |power| power.0),
        byte_fj: spec.byte.map_or(0, |energy| energy.0),
    })
}

fn resolve_ramp(at: &Place, ramp: &RampSpec, buffer: u64) -> Result<EcnParams, Issue> {
    if ramp.min > ramp.max {
        let [min, max] = [ramp.min.0, ramp.max.0].map(|bytes| format(bytes, Dimension::Size));
        let path = at.origin("ecn");
        let message = format!("min = {min} is more than max = {max}");
        return Err(Issue::between(
            Code::WrongOrder,
            &[&format!("{path}.min"), &format!("{path}.max"), &path],
            message,
        ));
    }
    Ok(EcnParams::Ramp { min_bytes: ramp.min.0, max_bytes: fits(at, ramp.max.0, buffer)?, most: share(ramp.most) })
}

/// Checks that a marking threshold is within the buffer.
fn fits(at: &Place, bytes: u64, buffer: u64) -> Result<u64, Issue> {
    if bytes <= buffer {
        return Ok(bytes);
    }
    let [threshold, buffer] = [bytes, buffer].map(|bytes| format(bytes, Dimension::Size));
    let message = format!("a threshold of {threshold} is above the buffer of {buffer}: nothing would be marked");
    let path = at.origin("ecn");
    Err(Issue::between(Code::DoesNotFit, &[&path, &format!("{path}.max"), &at.origin("buffer")], message))
}
