//! Makes a table of the rates of a server in every state that it can be in.

use super::fill::has_ddio;
use super::server_load::ServerLoad;
use crate::build::attach::NetworkAttachment;
use crate::build::feeds::TraceFeeds;
use crate::build::sockets::throttled_sockets;
use hostnet_model::control::LEVEL_MAX;
use hostnet_model::params::{
    ControlRule, FluidParams, FluidPoint, FluidRow, FluidThrottleLevel, ServerParams, SocketParams, Workload,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Number of copying cores up to which every number is measured; above it, only powers of 2 are.
const EACH: usize = 4;
/// Hash of the sources of the simulator. Another version may measure other rates.
const SOURCES: &str = env!("HOSTNET_SOURCES");

/// All that a table depends on. It is measured from these values alone.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TableInputs {
    /// Server without control, as the loads set the throttling themselves. The network is its last workload.
    server: ServerParams,
    /// Cores that serve the network.
    cores: Vec<u32>,
    /// Size of the largest packet, in bytes.
    ip_bytes: u32,
    /// Last throttling state before the stop that control can reach; 0 if control throttles nothing.
    last: usize,
    /// Delay that MBA adds to requests of throttled cores, in ps.
    mba_ps: u64,
}

impl TableInputs {
    /// Returns the inputs of the table of a server on a network. The last workloads of the server are the classes of
    /// the network.
    pub(crate) fn of(params: &ServerParams, attachment: &NetworkAttachment) -> Self {
        // Names have no influence, and neither has control beyond what it throttles.
        let nameless = |workload: &Workload| Workload { name: String::new(), ..workload.clone() };
        let workloads = params.workloads.iter().map(nameless).collect();
        let last = last_throttle_state(params);
        let control = params.control.as_ref().filter(|_| last > 0);
        Self {
            server: ServerParams { control: None, workloads, ..params.clone() },
            cores: loaded_cores(params, attachment),
            ip_bytes: attachment.largest_packet(),
            last,
            mba_ps: control.map_or(0, |control| control.mba_ps),
        }
    }

    /// Returns the hash of the inputs and of the simulator. Returns `None` if a core replays a trace, because the
    /// parameters describe the content of a file in part only.
    pub(super) fn key(&self) -> Option<String> {
        if !TraceFeeds::new(&self.server).is_empty() {
            return None;
        }
        let mut hash = Sha256::new_with_prefix(SOURCES);
        // JSON has the names of the fields, without which values that are left out would be ambiguous.
        serde_json::to_writer(&mut hash, self).ok()?;
        Some(format!("{:x}", hash.finalize()))
    }

    /// Returns the server that is measured.
    pub(super) fn server(&self) -> &ServerParams {
        &self.server
    }

    /// Returns the load of every point that is measured.
    pub(super) fn loads(&self) -> Vec<ServerLoad> {
        let counts = self.measured_counts();
        let load = |hold, halted, copying| ServerLoad {
            cores: self.cores.clone(),
            copying,
            ip_bytes: self.ip_bytes,
            gap: 0,
            mba_ps: self.mba_ps,
            hold,
            halted,
        };
        let held = (0..=self.last).filter(|&hold| !self.throttles_nothing(hold)).map(|hold| (hold, false));
        let stopped = (self.last > 0).then_some((self.last, true));
        let states = held.chain(stopped);
        states.flat_map(|(hold, halted)| counts.iter().map(move |&copying| load(hold, halted, copying))).collect()
    }

    /// Returns the table whose points are measured, in the order of [`TableInputs::loads`].
    pub(super) fn table(&self, points: &[FluidPoint]) -> FluidParams {
        let counts = self.measured_counts();
        let mut measured = points.chunks(counts.len());
        let mut holds: Vec<FluidThrottleLevel> = Vec::new();
        for hold in 0..=self.last {
            // Throttling a socket without work changes nothing, so its state is not measured again.
            let same = holds.last().filter(|_| self.throttles_nothing(hold)).cloned();
            holds.extend(same.or_else(|| Some(self.throttle_level(&counts, measured.next()?))));
        }
        holds.extend(measured.next().map(|stopped| self.throttle_level(&counts, stopped)));
        let SocketParams { core, iio, nic, .. } = self.server.socket();
        let nic_lines = nic.as_ref().map_or(1, |nic| nic.pcie.nonposted_lines);
        let device_ps = iio.read_to_cha_ps + iio.read_return_ps;
        FluidParams {
            holds,
            write_credits: iio.write_credits,
            // A NIC has no more reads in flight than its link has non-posted credits.
            read_credits: iio.read_credits.min(nic_lines),
            // `read_ps` is that of cores; a device has another path to the CHA and back.
            read_more_ps: device_ps.saturating_sub(core.to_cha_ps + core.from_cha_ps),
        }
    }

    /// Returns the rates in one throttling state for every number of copying cores. Numbers that are not measured are
    /// interpolated linearly.
    fn throttle_level(&self, counts: &[usize], points: &[FluidPoint]) -> FluidThrottleLevel {
        let mut copying: Vec<FluidPoint> =
            (0..=self.cores.len()).map(|count| interpolate(counts, points, count)).collect();
        if counts.len() > 1 {
            // Without copying cores nothing is measured; the values of one core stand in.
            copying[0].read_ps = copying[1].read_ps;
            copying[0].copy_ps = copying[1].copy_ps;
        }
        FluidThrottleLevel { copying }
    }

    /// Returns true if nothing runs on the socket that is throttled last in state `hold`.
    fn throttles_nothing(&self, hold: usize) -> bool {
        hold > 0 && throttled_sockets(&self.server).get(hold - 1) == Some(&false)
    }

    /// Returns the numbers of copying cores that are measured. With DDIO, cores find in the caches what they copy, and
    /// the lines that leave the caches equal those that enter. It then only matters that the cores copy all that
    /// devices write.
    fn measured_counts(&self) -> Vec<usize> {
        let most = self.cores.len();
        if has_ddio(self.server.socket()) {
            return vec![most];
        }
        let doubled = (0..).map(|power| EACH << power).skip(1).take_while(|&count| count < most);
        (0..most.min(EACH)).chain((EACH < most).then_some(EACH)).chain(doubled).chain([most]).collect()
    }
}

/// Returns the cores that copy while rates are measured. With DDIO only receiving cores copy, because the content of
/// the caches depends on the buffers in use.
fn loaded_cores(params: &ServerParams, attachment: &NetworkAttachment) -> Vec<u32> {
    if has_ddio(params.socket()) {
        attachment.receiving_cores(params)
    } else {
        attachment.network_cores(params)
    }
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
