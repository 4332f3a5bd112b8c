//! What limits the workloads of a server: whatever makes them faster when it is raised.
//!
//! Time full and credits in use are evidence of a limit, not what makes it one: a pool may be full because of what
//! comes behind it. So each limit is raised in turn, and the predictor says who gets faster.

mod levers;
mod list;

pub use list::{Key, Limit, Scale, CHANNEL, CORE, LFB, LIMITS, OFFERED_LOAD, TOGETHER};

use crate::offered::offered_gb_per_s;
use crate::predict::{outside, Base, Pace};
use hostnet_model::params::{ServerParams, SocketParams, WorkloadKind};
use serde::{Deserialize, Serialize};

/// How far a limit is raised to see what that does.
pub const RAISE: f64 = 1.25;
/// Less than this more throughput is nothing.
pub const GAIN_MIN: f64 = 0.01;
/// Less than this is too little to name a limit for.
const NAMED_MIN: f64 = 0.02;
/// Share of the greatest gain from which on a limit is named beside the first.
const NAMED_WITH: f64 = 0.5;
/// How far a prediction is off, as a share, from which on its gains are doubtful.
const DOUBTFUL: f64 = 0.15;
/// The same of the latency of a line.
const DOUBTFUL_LATENCY: f64 = 0.25;
/// Answers of who is limited by nothing that there is a name for.
pub const NOT_KNOWN: &str = "not known";

/// What a workload gains when a limit is raised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The name of the limit.
    pub limit: String,
    /// The key that says how high it is.
    pub key: String,
    /// What there is more of when it is raised by a quarter, in words.
    pub raised: String,
    /// Its throughput with the limit raised, relative to now, less 1.
    pub gain: f64,
    /// How far it was raised: by [`RAISE`], or to the next whole number or packet.
    #[serde(default = "a_quarter")]
    pub factor: f64,
    /// Data that it would then offer, in GB/s, if it is storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_gb_per_s: Option<f64>,
}

const fn a_quarter() -> f64 {
    RAISE
}

impl Gain {
    /// Its gain per quarter that the limit was raised by: limits that are raised further are not ahead for that.
    fn per_quarter(&self) -> f64 {
        self.gain * (RAISE - 1.0) / (self.factor - 1.0).max(RAISE - 1.0)
    }

    /// Ranks it among others: those that are worth a name first, then by the gain per quarter.
    fn rank(&self) -> (bool, f64) {
        (self.gain >= NAMED_MIN, self.per_quarter())
    }
}

/// Whether predictions cover what a server has and what runs on it.
#[must_use]
pub fn are_known(server: &ServerParams) -> bool {
    let streams_and_storage = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Stream(_) | WorkloadKind::Fio(_));
    let kinds = server.workloads.iter().all(|workload| streams_and_storage(&workload.kind));
    let plain = |socket: &SocketParams| socket.cache.is_none() && socket.nic.is_none() && socket.remote.is_none();
    kinds && matches!(&server.sockets[..], [socket] if plain(socket))
}

/// What is known of the limits of a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Every limit whose raise helps by [`GAIN_MIN`] or more, the greatest gain per quarter first.
    pub gains: Vec<Gain>,
    /// The throughput that is predicted for it now, in GB/s of lines.
    pub predicted_gb_per_s: f64,
    /// The time of a line in its domain that is predicted, in ns.
    pub predicted_latency_ns: f64,
    /// Whether predictions were checked on such servers.
    pub covered: bool,
}

/// The limits of each workload of a server. Nothing where predictions do not cover it.
#[must_use]
pub fn of(server: &ServerParams) -> Option<Vec<Limits>> {
    are_known(server).then(|| of_known(&Base::new(server)))
}

/// The same of a server that was predicted.
#[must_use]
pub fn of_base(base: &Base) -> Option<Vec<Limits>> {
    are_known(base.server()).then(|| of_known(base))
}

fn of_known(base: &Base) -> Vec<Limits> {
    let server = base.server();
    let covered = outside(server).is_empty() && base.has_settled();
    let unraised = |Pace { gb_per_s, latency_ns }| Limits {
        covered,
        gains: Vec::new(),
        predicted_gb_per_s: gb_per_s,
        predicted_latency_ns: latency_ns,
    };
    let mut limits: Vec<Limits> = base.now.iter().copied().map(unraised).collect();
    raise_each(base, &LIMITS, &mut limits);
    if limits.iter().any(Limits::are_silent) {
        let mut together = limits.clone();
        raise_each(base, &TOGETHER, &mut together);
        for (limits, together) in limits.iter_mut().zip(together).filter(|(limits, _)| limits.are_silent()) {
            *limits = together;
        }
    }
    limits.iter_mut().for_each(Limits::sort_gains);
    limits
}

/// Raises each of some limits of a server, and notes who gains; nobody where what is predicted has not settled.
fn raise_each(base: &Base, each: &[Limit], limits: &mut [Limits]) {
    let server = base.server();
    for limit in each {
        let (raised, factor) = limit.raised_by(server, RAISE);
        if raised == *server {
            continue;
        }
        let paces = base.paces(&raised).unwrap_or_default();
        for (class, (limits, after)) in limits.iter_mut().zip(paces).enumerate() {
            let before = limits.predicted_gb_per_s;
            let gain = if before > 0.0 { after.gb_per_s / before - 1.0 } else { 0.0 };
            if gain >= GAIN_MIN {
                let [name, key] = [limit.name, limit.key()].map(str::to_owned);
                let (raised_by, offered_gb_per_s) = (limit.in_words(factor), offered_gb_per_s(&raised, class));
                limits.gains.push(Gain { limit: name, key, raised: raised_by, gain, factor, offered_gb_per_s });
            }
        }
    }
}

impl Limits {
    /// Sorts the gains: those that are worth a name first, the greatest per quarter first.
    fn sort_gains(&mut self) {
        self.gains.sort_by(|a, b| {
            let ((named, a), (other, b)) = (a.rank(), b.rank());
            other.cmp(&named).then(b.total_cmp(&a))
        });
    }

    /// Caps the gains of storage that moves `app_gb_per_s` of data now by the load that it offers after each raise:
    /// storage that moves all that it offers gains from no other limit.
    pub fn cap_gains(&mut self, app_gb_per_s: f64) {
        for gain in &mut self.gains {
            let room = gain.offered_gb_per_s.map_or(f64::INFINITY, |offered| offered / app_gb_per_s - 1.0);
            gain.gain = gain.gain.min(room);
        }
        self.gains.retain(|gain| gain.gain >= GAIN_MIN);
        self.sort_gains();
    }

    /// Whether no limit is worth a name.
    fn are_silent(&self) -> bool {
        self.gains.iter().all(|gain| gain.gain < NAMED_MIN)
    }

    /// Names the limit whose raise helps the workload most per quarter, and those that help at least half as
    /// much. Or it is [`NOT_KNOWN`].
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        if self.are_silent() {
            return vec![NOT_KNOWN.to_owned()];
        }
        let most = self.gains[0].per_quarter();
        let mut names: Vec<String> = Vec::new();
        let with = |gain: &&Gain| gain.gain >= NAMED_MIN && gain.per_quarter() >= most * NAMED_WITH;
        for gain in self.gains.iter().filter(with) {
            if !names.contains(&gain.limit) {
                names.push(gain.limit.clone());
            }
        }
        names
    }

    /// Whether what was predicted is so far from what was measured that the gains are doubtful too. `latency_ns` is
    /// that of a line in the domain of cores, if it is one.
    #[must_use]
    pub fn are_doubtful(&self, gb_per_s: f64, latency_ns: Option<f64>) -> bool {
        // What is no number is far off.
        let near = |predicted: f64, measured: f64, share: f64| (predicted / measured - 1.0).abs() <= share;
        let in_time = latency_ns.is_none_or(|measured| near(self.predicted_latency_ns, measured, DOUBTFUL_LATENCY));
        !(in_time && near(self.predicted_gb_per_s, gb_per_s, DOUBTFUL))
    }
}
