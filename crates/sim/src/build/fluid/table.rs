//! Measures the rates of a server in every state that it can be in.

use super::fill::{has_ddio, FilledCaches};
use super::load::{measure, MeasuredRates, MeasuringSpan};
use super::server_load::ServerLoad;
use super::OnPoint;
use crate::build::sockets::throttled_sockets;
use hostnet_model::control::LEVEL_MAX;
use hostnet_model::params::{
    ControlRule, FluidParams, FluidPoint, FluidRow, FluidThrottleLevel, ServerParams, SocketParams, FLUID_SHARES,
};

/// Durations of the measurements with devices below their maximum rate (`SOME`) and at it (`ALL`). Under full load
/// the interleaving of lines in the banks takes long to reach its steady state.
const SOME: MeasuringSpan = MeasuringSpan { ps: [30_000_000, 70_000_000], moments: 1 };
const ALL: MeasuringSpan = MeasuringSpan { ps: [80_000_000, 120_000_000], moments: 2 };
/// Number of copying cores up to which every number is measured; above it, only powers of 2 are.
const EACH: usize = 4;
/// Durations of the measurements with DDIO, where one number of copying cores stands for all.
const SOME_CACHED: MeasuringSpan = MeasuringSpan { moments: 2, ..SOME };
const ALL_CACHED: MeasuringSpan = MeasuringSpan { ps: [80_000_000, 320_000_000], moments: 4 };

/// Returns the number of points at which the rates of a server are measured when `cores` cores serve its network.
pub(super) fn points(params: &ServerParams, cores: usize) -> usize {
    let last = last_throttle_state(params);
    let holds = (0..=last).filter(|&hold| !throttles_nothing(params, hold)).count() + usize::from(last > 0);
    holds * measured_counts(params, cores).len()
}

/// Measures the rates of a server. Its network is the last workload, has packets of up to `ip_bytes` bytes and is
/// served by `cores`. Returns `None` if `on_point`, which is called after every point, returns false.
pub(super) fn rates(params: &ServerParams, cores: &[u32], ip_bytes: u32, on_point: OnPoint<'_>) -> Option<FluidParams> {
    // The load sets the throttling itself.
    let loaded = ServerParams { control: None, ..params.clone() };
    let load = ServerLoad {
        cores: cores.to_vec(),
        copying: 0,
        ip_bytes,
        gap: 0,
        mba_ps: params.control.as_ref().map_or(0, |control| control.mba_ps),
        hold: 0,
        halted: false,
    };
    let last = last_throttle_state(params);
    let held = |hold| ServerLoad { hold, ..load.clone() };
    let filled = &mut FilledCaches::default();
    let mut holds: Vec<FluidThrottleLevel> = Vec::new();
    for hold in 0..=last {
        let same = holds.last().filter(|_| throttles_nothing(params, hold)).cloned();
        // Throttling a socket without work changes nothing, so its state is not measured again.
        holds.push(same.or_else(|| measure_throttle_state(&loaded, &held(hold), filled, on_point))?);
    }
    if last > 0 {
        holds.push(measure_throttle_state(&loaded, &ServerLoad { halted: true, ..held(last) }, filled, on_point)?);
    }
    let SocketParams { core, iio, nic, .. } = params.socket();
    let nic_lines = nic.as_ref().map_or(1, |nic| nic.pcie.nonposted_lines);
    let device_ps = iio.read_to_cha_ps + iio.read_return_ps;
    Some(FluidParams {
        holds,
        write_credits: iio.write_credits,
        // A NIC has no more reads in flight than its link has non-posted credits.
        read_credits: iio.read_credits.min(nic_lines),
        // `read_ps` is that of cores; a device has another path to the CHA and back.
        read_more_ps: device_ps.saturating_sub(core.to_cha_ps + core.from_cha_ps),
    })
}

/// Returns the last throttling state before the stop that control can reach; 0 if control throttles nothing.
fn last_throttle_state(params: &ServerParams) -> usize {
    let acts = match params.control.as_ref().map(|control| &control.rule) {
        None | Some(ControlRule::Watch | ControlRule::Fixed(0)) => false,
        // hostCC only marks packets unless its local response is on.
        Some(ControlRule::HostCc(rule)) => rule.local,
        Some(ControlRule::Fixed(_) | ControlRule::User(_)) => true,
    };
    match throttled_sockets(params).len() {
        _ if !acts => 0,
        // Above this level lies only the stop, which is measured on its own.
        0 => usize::from(LEVEL_MAX) - 1,
        sockets => sockets,
    }
}

/// Returns true if nothing runs on the socket that is throttled last in state `hold`.
fn throttles_nothing(params: &ServerParams, hold: usize) -> bool {
    hold > 0 && throttled_sockets(params).get(hold - 1) == Some(&false)
}

/// Returns the numbers of copying cores that are measured. With DDIO, cores find in the caches what they copy, and
/// the lines that leave the caches equal those that enter. It then only matters that the cores copy all that devices
/// write.
fn measured_counts(params: &ServerParams, most: usize) -> Vec<usize> {
    if has_ddio(params.socket()) {
        return vec![most];
    }
    let doubled = (0..).map(|power| EACH << power).skip(1).take_while(|&count| count < most);
    (0..most.min(EACH)).chain((EACH < most).then_some(EACH)).chain(doubled).chain([most]).collect()
}

/// Measures the rates in one throttling state for every number of copying cores. Numbers that are not measured are
/// interpolated linearly.
fn measure_throttle_state(
    params: &ServerParams,
    load: &ServerLoad,
    filled: &mut FilledCaches,
    on_point: OnPoint<'_>,
) -> Option<FluidThrottleLevel> {
    let most = load.cores.len();
    let measured_counts = measured_counts(params, most);
    let mut points: Vec<FluidPoint> = Vec::with_capacity(measured_counts.len());
    for &copying in &measured_counts {
        points.push(measure_point(params, &ServerLoad { copying, ..load.clone() }, filled));
        if !on_point() {
            return None;
        }
    }
    let mut copying: Vec<FluidPoint> = (0..=most).map(|count| interpolate(&measured_counts, &points, count)).collect();
    if measured_counts.len() > 1 {
        // Without copying cores nothing is measured; the values of one core stand in.
        copying[0].read_ps = copying[1].read_ps;
        copying[0].copy_ps = copying[1].copy_ps;
    }
    Some(FluidThrottleLevel { copying })
}

fn measure_point(params: &ServerParams, load: &ServerLoad, filled: &mut FilledCaches) -> FluidPoint {
    let [some, all] = if has_ddio(params.socket()) { [SOME_CACHED, ALL_CACHED] } else { [SOME, ALL] };
    // The maximum comes first, as the gaps of the other shares follow from its drain rate.
    let most = measure(params, load, all, filled);
    let drain_bytes_per_s = most.drain_bytes_per_s;
    // The factor 16 is the unit of `FLUID_SHARES`; the shift by 10 gives gaps in 2^-10 ps.
    let per_packet = (u128::from(load.packet_lines()) * 64 * 1_000_000_000_000 * 16) << 10;
    let at = |share: &u32| {
        let gap = per_packet / (u128::from(drain_bytes_per_s.max(1)) * u128::from(*share));
        measure(params, &ServerLoad { gap: gap as u64, ..load.clone() }, some, filled)
    };
    let mut measured: Vec<MeasuredRates> = FLUID_SHARES[..FLUID_SHARES.len() - 1].iter().map(at).collect();
    measured.push(most);
    let row =
        |pick: &dyn Fn(&MeasuredRates) -> u64| -> FluidRow { std::array::from_fn(|share| pick(&measured[share])) };
    FluidPoint {
        drain_bytes_per_s,
        write_ps: row(&|measured| measured.write_ps),
        read_ps: row(&|measured| measured.read_ps),
        copy_ps: row(&|measured| measured.copy_ps),
        workloads: (0..params.workloads.len())
            .map(|class| [0, 1].map(|way: usize| row(&|measured| measured.workloads[class][way])))
            .collect(),
        missed: has_ddio(params.socket()).then(|| [0, 1].map(|way: usize| row(&|measured| measured.missed[way]))),
    }
}

/// Interpolates the rates of `count` copying cores between the nearest measured numbers.
fn interpolate(measured_counts: &[usize], points: &[FluidPoint], count: usize) -> FluidPoint {
    let upper = measured_counts.iter().position(|&number| number >= count).unwrap_or(measured_counts.len() - 1);
    if measured_counts[upper] == count || upper == 0 {
        return points[upper].clone();
    }
    let [from, to] = [measured_counts[upper - 1] as u64, measured_counts[upper] as u64];
    let [low, high] = [&points[upper - 1], &points[upper]];
    let mean = |low: u64, high: u64| (low * (to - count as u64) + high * (count as u64 - from)) / (to - from);
    let row = |low: &FluidRow, high: &FluidRow| -> FluidRow { std::array::from_fn(|at| mean(low[at], high[at])) };
    let pairs = low.workloads.iter().zip(&high.workloads);
    FluidPoint {
        drain_bytes_per_s: mean(low.drain_bytes_per_s, high.drain_bytes_per_s),
        write_ps: row(&low.write_ps, &high.write_ps),
        read_ps: row(&low.read_ps, &high.read_ps),
        copy_ps: row(&low.copy_ps, &high.copy_ps),
        workloads: pairs.map(|(low, high)| [0, 1].map(|way| row(&low[way], &high[way]))).collect(),
        missed: low.missed.zip(high.missed).map(|(low, high)| [0, 1].map(|way| row(&low[way], &high[way]))),
    }
}
