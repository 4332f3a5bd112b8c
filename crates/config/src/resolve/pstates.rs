//! `power.pstates`: frequencies and voltages, and the power of cores at them.

use super::arithmetic::{exp, ln};
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{PState, PStateEntry, PStatesSpec, PowerAt, PowerSpec, StateAt, StaticSpec};

const HZ_PER_KHZ: u64 = 1000;
/// Upper limit of the static and of the dynamic power of a core, in microwatts.
const POWER_MAX_UW: u64 = 1_000_000_000;

/// A P-state as the user gave it: its path, and the given parts of its power.
struct Listed {
    path: String,
    at: StateAt,
    static_uw: Option<u64>,
    dynamic_uw: Option<u64>,
}

/// Returns the table of P-states, slowest first.
pub(super) fn pstates(spec: &PowerSpec) -> Result<Vec<PState>, Issue> {
    check_static(&spec.static_power)?;
    let listed = listed(&spec.pstates)?;
    let states = listed.iter().map(|state| resolved(spec, state)).collect::<Result<Vec<_>, _>>()?;
    for (at, pair) in states.windows(2).enumerate() {
        check_pair(&listed[at + 1].path, pair)?;
    }
    Ok(states)
}

/// Formats a frequency and a voltage for messages.
fn shown(state: &PState) -> String {
    StateAt { hz: u64::from(state.khz) * HZ_PER_KHZ, uv: state.uv.into() }.format()
}

fn check_pair(path: &str, pair: &[PState]) -> Result<(), Issue> {
    let [one, next] = [&pair[0], &pair[1]];
    let reason = match (next.khz > one.khz, next.uv >= one.uv) {
        (true, true) => return Ok(()),
        (false, _) => "the frequency rises from state to state",
        (true, false) => "the voltage does not fall from state to state",
    };
    Err(Issue::new(Code::WrongOrder, path, format!("{} comes after {}; {reason}", shown(next), shown(one))))
}

fn listed(spec: &PStatesSpec) -> Result<Vec<Listed>, Issue> {
    let entries = match spec {
        PStatesSpec::List(entries) => entries,
        PStatesSpec::Range(range) => {
            let (from, to) = (range.from, range.to);
            if from.hz >= to.hz || from.uv > to.uv {
                let message =
                    format!("{} is not slower, at no higher voltage, than to = {}", from.format(), to.format());
                return Err(Issue::between(Code::WrongOrder, &["power.pstates.from", "power.pstates.to"], message));
            }
            let steps = u64::from(range.count) - 1;
            // `steps / 2` rounds to the nearest of the evenly spaced values.
            let even = |from: u64, to: u64, step: u64| from + ((to - from) * step + steps / 2) / steps;
            let at = |step| StateAt { hz: even(from.hz, to.hz, step), uv: even(from.uv, to.uv, step) };
            let plain =
                |step| Listed { path: "power.pstates.count".into(), at: at(step), static_uw: None, dynamic_uw: None };
            return Ok((0..=steps).map(plain).collect());
        }
    };
    let of_entry = |(number, entry): (usize, &PStateEntry)| {
        let path = format!("power.pstates[{number}]");
        match entry {
            PStateEntry::Plain(at) => Listed { path, at: *at, static_uw: None, dynamic_uw: None },
            PStateEntry::Full(state) => Listed {
                path,
                at: state.at,
                static_uw: state.static_power.map(|power| power.0),
                dynamic_uw: state.dynamic.map(|power| power.0),
            },
        }
    };
    Ok(entries.iter().enumerate().map(of_entry).collect())
}

fn resolved(spec: &PowerSpec, state: &Listed) -> Result<PState, Issue> {
    let at = state.at;
    let static_uw = state.static_uw.unwrap_or_else(|| static_uw(&spec.static_power, at.uv));
    let dynamic_uw = state.dynamic_uw.unwrap_or_else(|| dynamic_uw(spec, at));
    for (key, power) in [("static", static_uw), ("dynamic", dynamic_uw)] {
        if power > POWER_MAX_UW {
            let most = format(POWER_MAX_UW, Dimension::Power);
            let message = format!("a core would take more than {most} at {}", at.format());
            return Err(Issue::between(Code::OutOfRange, &[&format!("power.{key}"), &state.path], message));
        }
    }
    let khz = (at.hz + HZ_PER_KHZ / 2) / HZ_PER_KHZ;
    Ok(PState { khz: khz as u32, uv: at.uv as u32, static_uw, dynamic_uw })
}

fn check_static(spec: &StaticSpec) -> Result<(), Issue> {
    let (low, high) = (spec.low, spec.high);
    let reason = if low.uv >= high.uv {
        "the voltage of high is higher"
    } else if low.uw > high.uw {
        "the power at the higher voltage is not less"
    } else if low.uw == 0 && high.uw > 0 {
        "no power law goes through 0 W; give more, or 0 W for both"
    } else {
        return Ok(());
    };
    let message = format!("{} beside high = {}; {reason}", low.format(), high.format());
    Err(Issue::between(Code::WrongOrder, &["power.static.low", "power.static.high"], message))
}

/// Returns the static power of a core: the power law through two points, in microwatts.
fn static_uw(spec: &StaticSpec, uv: u64) -> u64 {
    let (low, high) = (spec.low, spec.high);
    // At the given points the power is exact, without rounding of the power law.
    if let Some(known) = [low, high].into_iter().find(|point| point.uv == uv) {
        return known.uw;
    }
    // A constant power has exponent 0; 0 W for both has no logarithm.
    if low.uw == high.uw {
        return low.uw;
    }
    let ratio = |part: u64, whole: u64| ln(part as f64 / whole as f64);
    let exponent = ratio(low.uw, high.uw) / ratio(low.uv, high.uv);
    let PowerAt { uw, uv: known } = low;
    // `ln` takes ratios up to 1 only, so that the ratio is inverted above the known voltage.
    let above = if uv < known { ratio(uv, known) } else { -ratio(known, uv) };
    (uw as f64 * exp(exponent * above)).round() as u64
}

/// Returns the dynamic power of a busy core, which is proportional to the frequency and to the square of the voltage,
/// in microwatts.
fn dynamic_uw(spec: &PowerSpec, at: StateAt) -> u64 {
    let known = spec.dynamic.at;
    // Dynamic power is proportional to f * V^2; `u128` holds the product of three numbers below 2^32.
    let weight = |at: StateAt| u128::from(at.hz / HZ_PER_KHZ) * u128::from(at.uv) * u128::from(at.uv);
    let whole = weight(known);
    let power = (u128::from(spec.dynamic.power.0) * weight(at) + whole / 2) / whole;
    u64::try_from(power).unwrap_or(u64::MAX)
}
