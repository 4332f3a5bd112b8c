//! Finds the limits of the workloads of a server: those that make a workload faster when they are raised.
//!
//! Share of time full and credits in use are evidence of a limit but do not prove it: a pool may be full because of a
//! bottleneck further downstream. Each limit is therefore raised alone, and the predictor shows which workloads gain.

mod bounds;
mod list;
mod raises;

pub use crate::binding::NOT_KNOWN;
pub use bounds::offer_bounds_in_words;
pub use list::{Key, Limit, Scale, CCD, CHANNEL, CORE, LFB, LIMITS, OFFERED_LOAD, TOGETHER};

use crate::offered::offered_gb_per_s;
use crate::predict::{are_known, outside, PredictedServer, WorkloadPace};
use hostnet_model::params::ServerParams;
use serde::{Deserialize, Serialize};

/// Factor by which a limit is raised.
pub const RAISE: f64 = 1.25;
/// Least gain in throughput, as a share, that counts as one.
pub const GAIN_MIN: f64 = 0.01;
/// Least gain in throughput, as a share, for which a limit is named.
const NAMED_MIN: f64 = 0.02;
/// Least share of the greatest gain for which a limit is named beside the first.
const NAMED_WITH: f64 = 0.5;
/// Least relative error of a predicted throughput for which the predicted gains are doubtful.
const DOUBTFUL: f64 = 0.15;
/// Least relative error of a predicted latency of a line for which the predicted gains are doubtful.
const DOUBTFUL_LATENCY: f64 = 0.25;
/// Gain of a workload when one limit is raised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Name of the limit.
    pub limit: String,
    /// Configuration key that sets the limit.
    pub key: String,
    /// Description of the server with the limit raised, such as `a quarter more LFB entries`.
    pub raised: String,
    /// Throughput with the limit raised relative to the current one, minus 1.
    pub gain: f64,
    /// Factor by which the limit was raised: [`RAISE`], or more to reach the next whole number or packet.
    #[serde(default = "a_quarter")]
    pub factor: f64,
    /// Load that the workload would then offer, in GB/s of data, if it is storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_gb_per_s: Option<f64>,
}

const fn a_quarter() -> f64 {
    RAISE
}

impl Gain {
    /// Gain per quarter that the limit was raised by, so that limits raised further do not rank higher for it.
    fn per_quarter(&self) -> f64 {
        // A small count is raised by more than a quarter: 3 entries become 4. A factor of 1 must not divide by 0.
        self.gain * (RAISE - 1.0) / (self.factor - 1.0).max(RAISE - 1.0)
    }

    /// Ranks the gain: gains that justify a name first, then by gain per quarter.
    fn rank(&self) -> (bool, f64) {
        (self.gain >= NAMED_MIN, self.per_quarter())
    }
}

/// Bottlenecks of a workload, found by predicting its throughput with each limit raised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Every limit that gains at least [`GAIN_MIN`] when raised, the greatest gain per quarter first.
    pub gains: Vec<Gain>,
    /// Predicted throughput with no limit raised, in GB/s of lines.
    pub predicted_gb_per_s: f64,
    /// Predicted residence of a line in the domain of the workload, in ns.
    pub predicted_latency_ns: f64,
    /// True if predictions were checked on servers of this kind.
    pub covered: bool,
}

/// Returns the limits of each workload of a server, or `None` if predictions do not cover it.
#[must_use]
pub fn of(server: &ServerParams) -> Option<Vec<Limits>> {
    are_known(server).then(|| of_known(&PredictedServer::new(server)))
}

/// Like [`of`], but for a server that was already predicted.
#[must_use]
pub fn limits_of_base(base: &PredictedServer) -> Option<Vec<Limits>> {
    are_known(base.server()).then(|| of_known(base))
}

fn of_known(base: &PredictedServer) -> Vec<Limits> {
    let server = base.server();
    // Differences between rates that have not settled are steps of the solver, not gains.
    let covered = outside(server).is_empty() && base.has_settled();
    let unraised = |WorkloadPace { gb_per_s, latency_ns }| Limits {
        covered,
        gains: Vec::new(),
        predicted_gb_per_s: gb_per_s,
        predicted_latency_ns: latency_ns,
    };
    let mut limits: Vec<Limits> = base.now.iter().copied().map(unraised).collect();
    raise_each(base, &LIMITS, &mut limits);
    // The limits of drives may be equally tight: raise them together for workloads that gain from no limit alone.
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

/// Raises each limit in `each` alone and records the gains. A raise whose prediction does not settle records none.
fn raise_each(base: &PredictedServer, each: &[Limit], limits: &mut [Limits]) {
    let server = base.server();
    for limit in each {
        let (raised, factor) = limit.raised_by(server, RAISE);
        // The server lacks the part, or the value is at its bound already.
        if raised == *server {
            continue;
        }
        // No paces, no gains: a raise that had not settled was once taken for a gain of 47 %.
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
    /// Sorts the gains: those that justify a name first, then the greatest gain per quarter first.
    fn sort_gains(&mut self) {
        self.gains.sort_by(|a, b| {
            let ((named, a), (other, b)) = (a.rank(), b.rank());
            other.cmp(&named).then(b.total_cmp(&a))
        });
    }

    /// Caps the gains of storage, which moves `app_gb_per_s` of data now, by the load that it offers after each
    /// raise: storage that moves all it offers gains from no other limit.
    pub fn cap_gains(&mut self, app_gb_per_s: f64) {
        for gain in &mut self.gains {
            // Streams have no offered load that would cap them.
            let room = gain.offered_gb_per_s.map_or(f64::INFINITY, |offered| offered / app_gb_per_s - 1.0);
            gain.gain = gain.gain.min(room);
        }
        // Caps change gains, so the list is filtered and sorted anew.
        self.gains.retain(|gain| gain.gain >= GAIN_MIN);
        self.sort_gains();
    }

    /// Returns true if no gain justifies naming its limit.
    fn are_silent(&self) -> bool {
        self.gains.iter().all(|gain| gain.gain < NAMED_MIN)
    }

    /// Names the limit whose raise gains most per quarter, and those that gain at least half as much. Returns
    /// [`NOT_KNOWN`] if no gain is large enough.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        if self.are_silent() {
            return vec![NOT_KNOWN.to_owned()];
        }
        let most = self.gains[0].per_quarter();
        let mut names: Vec<String> = Vec::new();
        // Several limits may be about equally tight, so that each helps (docs/domains.md, What limits a workload).
        let with = |gain: &&Gain| gain.gain >= NAMED_MIN && gain.per_quarter() >= most * NAMED_WITH;
        for gain in self.gains.iter().filter(with) {
            if !names.contains(&gain.limit) {
                names.push(gain.limit.clone());
            }
        }
        names
    }

    /// Returns true if the measured throughput or latency is so far from the prediction that the gains are doubtful
    /// too.
    ///
    /// `latency_ns` is the measured time of a line in the domain of the cores, if the workload runs on cores.
    #[must_use]
    pub fn are_doubtful(&self, gb_per_s: f64, latency_ns: Option<f64>) -> bool {
        // Written so that a NaN counts as far off.
        let near = |predicted: f64, measured: f64, share: f64| (predicted / measured - 1.0).abs() <= share;
        let in_time = latency_ns.is_none_or(|measured| near(self.predicted_latency_ns, measured, DOUBTFUL_LATENCY));
        !(in_time && near(self.predicted_gb_per_s, gb_per_s, DOUBTFUL))
    }
}
