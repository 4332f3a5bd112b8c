//! `[nic.ncap]`: the signals of a NIC to the power management.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    HostKind, NcapModeSpec, NcapParams, NcapSpec, NicSpec, PowerDomain, RateOrNever, RearmSpec, Spec, Time, TimeOrNever,
};

/// Period of the driver's timer, in ps (Alian, thesis, ch. 2).
const TIMER_PS: u64 = 1_000_000_000;
/// Time that the driver needs to inspect a packet, in ps (assumed).
const PACKET_PS: u64 = 50_000;
const BITS_PER_BYTE: u64 = 8;

/// Resolves the NCAP parameters of a server's NIC; `None` without the table, or if NCAP is off.
pub(super) fn params(nic: &NicSpec, server: &Spec) -> Result<Option<Box<NcapParams>>, Issue> {
    let Some(spec) = nic.ncap.as_ref().filter(|ncap| ncap.mode != NcapModeSpec::Off) else { return Ok(None) };
    check(spec, server)?;
    let software = spec.mode == NcapModeSpec::Software;
    let timer = if software { spec.timer.unwrap_or(Time(TIMER_PS)) } else { nic.mitt.unwrap_or(Time(TIMER_PS)) };
    Ok(Some(Box::new(NcapParams {
        software,
        high_per_s: match spec.rht {
            RateOrNever::Never => None,
            RateOrNever::Above(rate) => Some(rate.0),
        },
        low_per_s: spec.rlt.0,
        low_bits_per_s: spec.tlt.0 * BITS_PER_BYTE,
        idle_ps: match spec.cit {
            TimeOrNever::Never => None,
            TimeOrNever::After(Time(ps)) => Some(ps),
        },
        steps: spec.fcons,
        low_ps: spec.low.0,
        period_ps: timer.0,
        templates: spec.templates.iter().map(|template| template.0).collect(),
        rearm_by_frequency: spec.rearm == RearmSpec::Frequency,
        packet_ps: if software { spec.packet.map_or(PACKET_PS, |Time(ps)| ps) } else { 0 },
    })))
}

fn check(spec: &NcapSpec, server: &Spec) -> Result<(), Issue> {
    if server.power.is_none() {
        let message = "tells the power management, and there is none; give the server power = {}";
        return Err(Issue::between(Code::RequiresKey, &["nic.ncap", "power"], message));
    }
    if server.stack.as_ref().is_some_and(|stack| stack.poll) {
        let message = "works by interrupts, and cores that poll take none";
        return Err(Issue::between(Code::ConflictingKeys, &["nic.ncap", "stack.poll"], message));
    }
    if let RateOrNever::Above(rate) = spec.rht {
        if spec.rlt > rate {
            let shown = |rate: u64| format(rate, Dimension::Rate);
            let message = format!("{} are more than rht = {}", shown(spec.rlt.0), shown(rate.0));
            return Err(Issue::between(Code::WrongOrder, &["nic.ncap.rlt", "nic.ncap.rht"], message));
        }
    }
    let of_driver = [("timer", spec.timer.is_some()), ("packet", spec.packet.is_some())];
    match of_driver.into_iter().find(|(_, given)| *given && spec.mode != NcapModeSpec::Software) {
        None => Ok(()),
        Some((key, _)) => {
            Err(Issue::new(Code::NoEffect, format!("nic.ncap.{key}"), "has an effect only with mode = \"software\""))
        }
    }
}

/// Returns a note about a server whose cores have separate frequencies, as a burst is announced to all of them.
pub(super) fn for_all(name: &str, host: &HostKind) -> Option<String> {
    let HostKind::Server(server) = host else { return None };
    let power = server.power.as_ref().filter(|_| server.ncap.is_some())?;
    let cores: u32 = server.sockets.iter().map(|socket| socket.core.count).sum();
    let several = power.domain == PowerDomain::Core && cores > 1;
    several.then(|| {
        format!(
            "host.{name}: nic.ncap announces a burst for all cores, whichever it comes to, although each has its own \
            frequency (power.domain = \"core\")"
        )
    })
}
