//! `[power]`: frequencies, voltages and sleep of the cores.

use super::pstates::pstates;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{
    CState, CStateSpec, Fidelity, GovernorKindSpec, GovernorParams, GovernorSpec, HostKind, HostParams,
    IdleGovernorParams, IdleSpec, OndemandVariant, PState, PowerParams, PowerSpec, ServerParams, SleepPower, Spec,
    Time, VariantSpec, WorkloadKind,
};

const HZ_PER_KHZ: u64 = 1000;
/// Sampling period of a governor, in ps: the minimum that Linux allows.
const PERIOD_PS: u64 = 10_000_000_000;
/// Time that one run of a governor takes, in ps (assumed).
const COST_PS: u64 = 10_000_000;
/// Work of a tick of the scheduler, in ps (assumed).
const TICK_PS: u64 = 1_000_000;
/// Load thresholds of the governors of Linux, in percent.
const ONDEMAND_UP: u32 = 95;
const CONSERVATIVE: [u32; 3] = [80, 20, 5];

/// Resolves the frequencies and sleep states of the cores of a server; `None` without the table.
pub(super) fn params(server: &Spec) -> Result<Option<Box<PowerParams>>, Issue> {
    let Some(spec) = &server.power else { return Ok(None) };
    check_clocks(server)?;
    let states = pstates(spec)?;
    check_slew(spec, &states)?;
    if spec.tick.is_none() && spec.tick_cost.is_some() {
        return Err(Issue::new(Code::NoEffect, "power.tick_cost", "has an effect only with power.tick"));
    }
    if spec.tick.is_none() && spec.tickless.is_some() {
        return Err(Issue::new(Code::NoEffect, "power.tickless", "has an effect only with power.tick"));
    }
    let looks = looks(&spec.governor);
    Ok(Some(Box::new(PowerParams {
        reference_khz: (server.core.frequency.0 / HZ_PER_KHZ) as u32,
        domain: spec.domain,
        slew_uv_per_us: spec.slew.0,
        relock_ps: spec.relock.0,
        cstates: cstates(spec)?,
        poll_ppm: (spec.poll * 1e6).round() as u32,
        governor: governor(&spec.governor, &states)?,
        period_ps: spec.governor.period.map_or(PERIOD_PS, |Time(ps)| ps),
        // A governor that only sets a fixed frequency costs no core time.
        governor_ps: spec.governor.cost.map_or(if looks { COST_PS } else { 0 }, |Time(ps)| ps),
        idle: match spec.idle {
            IdleSpec::Poll => IdleGovernorParams::Poll,
            IdleSpec::Ladder => IdleGovernorParams::Ladder,
            IdleSpec::Menu => IdleGovernorParams::Menu,
            IdleSpec::EarlyMenu => IdleGovernorParams::EarlyMenu,
            IdleSpec::Teo => IdleGovernorParams::Teo,
        },
        qos_ps: spec.qos.map(|Time(ps)| ps),
        tick_ps: spec.tick.map_or(0, |Time(ps)| ps),
        tick_work_ps: spec.tick.map_or(0, |_| spec.tick_cost.map_or(TICK_PS, |Time(ps)| ps)),
        tickless: spec.tickless.unwrap_or(true),
        pstates: states,
    })))
}

/// Returns notes about work that no frequency changes, and about P-states that are all slower than the given clock.
/// The notes do not name the server.
pub(super) fn notes(server: &ServerParams, fidelity: Fidelity) -> Vec<String> {
    let Some(power) = &server.power else { return Vec::new() };
    let works = server.workloads.iter().any(|workload| !matches!(workload.kind, WorkloadKind::Network));
    let remote = server.sockets.iter().any(|socket| socket.remote.is_some());
    let kinds = [
        (
            works && fidelity == Fidelity::Fluid,
            "power has no effect on workloads with fidelity = \"fluid\": they keep the rates of core.frequency",
        ),
        (remote, "power has no effect on workloads of kind \"remote\": cores of other sockets stay at core.frequency"),
    ];
    let unpaced = kinds.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note.to_owned());
    unpaced.chain(slower_than_given(power)).collect()
}

/// Returns a note if even the fastest P-state is below the clock for which times of work are given.
fn slower_than_given(power: &PowerParams) -> Option<String> {
    let fastest = power.pstates.iter().map(|state| state.khz).max()?;
    let text = |khz: u32| format(u64::from(khz) * HZ_PER_KHZ, Dimension::Frequency);
    (fastest < power.reference_khz).then(|| {
        format!(
            "core.frequency: times of work are given at {}, and no P-state of power is faster than {}, so the cores \
             are slower than without power; power.pstates says how fast they get",
            text(power.reference_khz),
            text(fastest)
        )
    })
}

/// Returns the notes about a host on a network, with its name.
pub(super) fn notes_of_host(name: &str, host: &HostParams) -> Vec<String> {
    let HostKind::Server(server) = &host.kind else { return Vec::new() };
    let notes = notes(server, host.fidelity).into_iter();
    notes.map(|note| format!("host.{name}: {note}")).collect()
}

/// Checks that all sockets have the clock for which times of work are given.
fn check_clocks(server: &Spec) -> Result<(), Issue> {
    for (number, socket) in &server.socket {
        let own = socket.core.frequency;
        if own != server.core.frequency {
            let message = format!(
                "is {}, and that of the server {}: with power the cores of all sockets have one table of frequencies",
                format(own.0, Dimension::Frequency),
                format(server.core.frequency.0, Dimension::Frequency)
            );
            return Err(Issue::between(
                Code::MustAgree,
                &[&format!("socket.{number}.core.frequency"), "power"],
                message,
            ));
        }
    }
    Ok(())
}

fn check_slew(spec: &PowerSpec, states: &[PState]) -> Result<(), Issue> {
    let [first, last] = [&states[0], &states[states.len() - 1]];
    if spec.slew.0 > 0 || first.uv == last.uv {
        return Ok(());
    }
    let shown = |uv: u32| format(uv.into(), Dimension::Voltage);
    let message = format!(
        "the voltage would never come from {} to {}; more than none is wanted",
        shown(first.uv),
        shown(last.uv)
    );
    Err(Issue::new(Code::OutOfRange, "power.slew", message))
}

/// Returns true if a governor samples the load.
fn looks(spec: &GovernorSpec) -> bool {
    use GovernorKindSpec::*;
    matches!(spec.kind, Ondemand | Conservative | Schedutil | User)
}

fn governor(spec: &GovernorSpec, states: &[PState]) -> Result<GovernorParams, Issue> {
    check_governor(spec)?;
    let [up, down, step] = CONSERVATIVE;
    Ok(match spec.kind {
        GovernorKindSpec::Performance => GovernorParams::Performance,
        GovernorKindSpec::Powersave => GovernorParams::Powersave,
        GovernorKindSpec::Userspace => GovernorParams::Userspace(fixed(spec, states)?),
        GovernorKindSpec::Ondemand => GovernorParams::Ondemand {
            variant: match spec.variant {
                None | Some(VariantSpec::Old) => OndemandVariant::Old,
                Some(VariantSpec::Proportional) => OndemandVariant::Proportional,
            },
            up_threshold: spec.up_threshold.unwrap_or(ONDEMAND_UP),
            // `io_is_busy` is on for processors of Intel (Linux, drivers/cpufreq/cpufreq_ondemand.c).
            io_busy: spec.io_busy.unwrap_or(true),
        },
        GovernorKindSpec::Conservative => {
            let (up, down) = (spec.up_threshold.unwrap_or(up), spec.down_threshold.unwrap_or(down));
            if up <= down {
                let paths = ["power.governor.up_threshold", "power.governor.down_threshold"];
                let message = format!("{up} is not above down_threshold = {down}");
                return Err(Issue::between(Code::WrongOrder, &paths, message));
            }
            GovernorParams::Conservative { up_threshold: up, down_threshold: down, step: spec.step.unwrap_or(step) }
        }
        GovernorKindSpec::Schedutil => GovernorParams::Schedutil,
        GovernorKindSpec::User => GovernorParams::User(spec.name.clone().unwrap_or_else(|| "user".to_owned())),
    })
}

/// Checks that no governor has the key of another.
fn check_governor(spec: &GovernorSpec) -> Result<(), Issue> {
    use GovernorKindSpec::*;
    let looking: &[GovernorKindSpec] = &[Ondemand, Conservative, Schedutil, User];
    let keys: [(&str, bool, &[GovernorKindSpec], &str); 9] = [
        ("variant", spec.variant.is_some(), &[Ondemand], "\"ondemand\""),
        ("period", spec.period.is_some(), looking, "a governor that looks at loads"),
        ("cost", spec.cost.is_some(), looking, "a governor that looks at loads"),
        ("up_threshold", spec.up_threshold.is_some(), &[Ondemand, Conservative], "\"ondemand\" or \"conservative\""),
        ("io_busy", spec.io_busy.is_some(), &[Ondemand], "\"ondemand\""),
        ("down_threshold", spec.down_threshold.is_some(), &[Conservative], "\"conservative\""),
        ("step", spec.step.is_some(), &[Conservative], "\"conservative\""),
        ("frequency", spec.frequency.is_some(), &[Userspace], "\"userspace\""),
        ("name", spec.name.is_some(), &[User], "\"user\""),
    ];
    match keys.into_iter().find(|(_, given, kinds, _)| *given && !kinds.contains(&spec.kind)) {
        None => Ok(()),
        Some((key, _, _, kinds)) => {
            Err(Issue::new(Code::NoEffect, format!("power.governor.{key}"), format!("has an effect only with {kinds}")))
        }
    }
}

/// Returns the index of the "userspace" frequency in the table of P-states.
fn fixed(spec: &GovernorSpec, states: &[PState]) -> Result<u32, Issue> {
    let path = "power.governor.frequency";
    let Some(frequency) = spec.frequency else {
        let message = "missing; the governor \"userspace\" needs one of those of power.pstates";
        return Err(Issue::between(Code::MissingKey, &[path, "power.governor"], message));
    };
    let hz = |state: &PState| u64::from(state.khz) * HZ_PER_KHZ;
    if let Some(place) = states.iter().position(|state| hz(state) == frequency.0) {
        return Ok(place as u32);
    }
    let nearest = states.iter().map(hz).min_by_key(|hz| hz.abs_diff(frequency.0)).unwrap_or_default();
    let shown = |hz| format(hz, Dimension::Frequency);
    let message = format!("{} is not one of power.pstates; the nearest is \"{}\"", shown(frequency.0), shown(nearest));
    Err(Issue::new(Code::DoesNotExist, path, message))
}

/// Returns the sleep states of the cores, lightest first.
fn cstates(spec: &PowerSpec) -> Result<Vec<CState>, Issue> {
    let mut states = Vec::new();
    for (name, state) in &spec.cstate {
        check_stay(name, state)?;
        if state.disable != Some(true) {
            states.push((name, state));
        }
    }
    // By exit and then residency: idle governors search from the shallowest state to the deepest one.
    states.sort_by_key(|(_, state)| (state.exit, state.residency));
    for pair in states.windows(2) {
        check_order(pair[0], pair[1])?;
    }
    let params = |(name, state): (&String, &CStateSpec)| CState {
        name: name.clone(),
        exit_ps: state.exit.0,
        residency_ps: state.residency.0,
        power_uw: power_uw(state),
    };
    Ok(states.into_iter().map(params).collect())
}

fn power_uw(state: &CStateSpec) -> Option<u64> {
    match state.power {
        None | Some(SleepPower::Static) => None,
        Some(SleepPower::Fixed(power)) => Some(power.0),
    }
}

fn check_stay(name: &str, state: &CStateSpec) -> Result<(), Issue> {
    if state.residency >= state.exit {
        return Ok(());
    }
    let path = |key: &str| format!("power.cstate.{name}.{key}");
    let shown = |Time(ps): Time| format(ps, Dimension::Time);
    let message = format!("{} are less than exit = {}", shown(state.residency), shown(state.exit));
    Err(Issue::between(Code::WrongOrder, &[&path("residency"), &path("exit")], message))
}

/// Returns the number in a name such as "C6" or "C7s".
fn depth(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(['C', 'c'])?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Checks that, of two states, the one with the longer exit latency is the deeper one.
fn check_order(light: (&String, &CStateSpec), deep: (&String, &CStateSpec)) -> Result<(), Issue> {
    let [one, other] = [light.0, deep.0];
    let fail = |code: Code, key: &str, reason: String| {
        let paths = [other, one].map(|name| format!("power.cstate.{name}.{key}"));
        Err(Issue::between(code, &[&paths[0], &paths[1]], reason))
    };
    let shown = |Time(ps): Time| format(ps, Dimension::Time);
    let exits = [light, deep].map(|(_, state)| shown(state.exit));
    if light.1.exit == deep.1.exit {
        return fail(
            Code::Duplicate,
            "exit",
            format!("{one} and {other} both have {}; states differ in their exit", exits[0]),
        );
    }
    if depth(one).zip(depth(other)).is_some_and(|(one, other)| one > other) {
        let message = format!("{} of {other} are more than {} of {one}, which is deeper by name", exits[1], exits[0]);
        return fail(Code::WrongOrder, "exit", message);
    }
    if light.1.residency > deep.1.residency {
        let stays = [light, deep].map(|(_, state)| shown(state.residency));
        let message = format!("{} of {other} are less than {} of {one}, whose exit is shorter", stays[1], stays[0]);
        return fail(Code::WrongOrder, "residency", message);
    }
    match power_uw(light.1).zip(power_uw(deep.1)) {
        Some((light, deep)) if deep > light => {
            let [deep, light] = [deep, light].map(|uw| format(uw, Dimension::Power));
            fail(
                Code::WrongOrder,
                "power",
                format!("{deep} of {other} are more than {light} of {one}, whose exit is shorter"),
            )
        }
        _ => Ok(()),
    }
}
