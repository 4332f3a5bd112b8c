//! Classifies the contention between cores and devices into a regime (SIGCOMM'24, section 5), by comparing the run
//! with each side alone.
//!
//! A side is blamed only if the other side is known to gain without it. A latency above that of an idle server, full
//! credits and a rate below the offered load are evidence of load but do not show which side causes it.

use crate::binding::NOT_KNOWN;
use serde::{Deserialize, Serialize};

/// Least gain in throughput without the other side, as a share, for which that side is blamed.
pub const GAIN_MIN: f64 = 0.05;
/// Margin by which a predicted gain must exceed [`GAIN_MIN`]: over 130 random servers, 2 of 35 gains predicted to be
/// 5 to 10 % were below 5 % in simulation, and none of 113 larger ones.
pub const PREDICTION_ERROR: f64 = 0.05;
/// Share of time with all P2M credits in use at or above which the regime may be red.
const P2M_FULL: f64 = 0.5;
/// Cores slow each other down if their latency exceeds that of a single core by more than this share.
const CONTENTION_GAIN_MIN: f64 = 0.10;
/// Largest number of workloads of a side that a sentence names one by one.
const NAMES_MAX: usize = 2;

/// Source of a workload's throughput or latency without the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A simulation without the other side.
    Measured,
    /// A prediction without the other side.
    Predicted,
    /// The load that storage offers, which its throughput cannot exceed.
    Offered,
    /// An unloaded server, which lacks the load of both sides.
    Unloaded,
}

/// Gain of a workload when its side runs in isolation: cores without devices, or devices without cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsolatedGain {
    /// Relative gain in throughput: throughput without the other side over throughput with it, minus 1.
    pub gain: f64,
    /// Error of the gain in either direction.
    pub noise: f64,
    /// Source of the gain.
    pub basis: Basis,
}

impl IsolatedGain {
    /// Gain of a workload that is predicted to get `now` with the other side and `alone` without it, and was measured
    /// to get `measured` with it.
    ///
    /// The gains over `now` and over `measured` are the ends of its error range: the prediction error of `now` is the
    /// error.
    #[must_use]
    pub fn predicted([now, alone]: [f64; 2], measured: f64) -> Self {
        let [over_now, over_measured] = [now, measured].map(|before| alone / before - 1.0);
        let gain = f64::midpoint(over_now, over_measured);
        Self { gain, noise: (over_now - over_measured).abs() / 2.0, basis: Basis::Predicted }
    }

    /// Gain of storage that moves `moved` and offers `offered`, in the same unit.
    fn offered(offered: f64, moved: f64) -> Self {
        Self { gain: (offered / moved - 1.0).max(0.0), noise: 0.0, basis: Basis::Offered }
    }

    fn helps(&self) -> bool {
        let least = GAIN_MIN + if self.basis == Basis::Predicted { PREDICTION_ERROR } else { 0.0 };
        // The whole interval must reach the threshold to blame the other side (docs/explain.md, The regime).
        self.gain - self.noise >= least
    }

    /// Returns true if the workload may gain, as far as is known. A gain that is not a number may be one.
    fn may_help(&self) -> bool {
        let most = self.gain + self.noise;
        // The whole interval must lie below the threshold to clear the other side.
        most.is_nan() || most >= GAIN_MIN
    }
}

/// One workload of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideWorkload {
    /// Name of the workload.
    pub name: String,
    /// Gain without the other side, if known.
    pub alone: Option<IsolatedGain>,
}

impl SideWorkload {
    /// Caps the gain of storage by the load that it offers beyond what it moves now. Storage that moves nearly all it
    /// offers cannot gain, unless a simulation shows that it does, and a predicted gain never exceeds the cap.
    #[must_use]
    pub fn capped(mut self, moved: Option<f64>, offered: Option<f64>) -> Self {
        let cap = offered.zip(moved).map(|(offered, moved)| IsolatedGain::offered(offered, moved));
        if let (Some(alone), Some(cap)) = (&mut self.alone, cap) {
            if alone.basis == Basis::Predicted {
                alone.gain = alone.gain.min(cap.gain);
            }
        }
        let open = self.is_open() || self.alone.is_some_and(|alone| alone.basis == Basis::Predicted);
        self.alone = cap.filter(|cap| open && !cap.may_help()).or(self.alone);
        self
    }

    fn helped(&self) -> bool {
        self.alone.is_some_and(|alone| alone.helps())
    }

    /// Returns true if it is not known that the workload gains or that it does not.
    fn is_open(&self) -> bool {
        !self.helped() && self.alone.is_none_or(|alone| alone.may_help())
    }
}

/// Load of the devices (P2M).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct P2mLoad {
    /// Share of time with all IIO write credits, or all IIO read credits, in use, whichever is larger; 0 to 1.
    pub full_share: f64,
    /// Data rate of the devices, in GB/s.
    pub gb_per_s: f64,
    /// Data rate of the devices if nothing in the host held them back, in GB/s, if known.
    pub offered_gb_per_s: Option<f64>,
}

/// Load of the cores (C2M): that of the stream whose latency has grown most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct C2mLoad {
    /// Mean latency, in ns.
    pub latency_ns: f64,
    /// Latency of the same cores without the devices, in ns.
    pub isolated_ns: f64,
    /// Source of `isolated_ns`.
    pub basis: Basis,
}

/// Contention among the cores: latency of the stream that has grown most over that of one of its cores alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoreContention {
    /// At most one core runs, or no core waits for memory.
    None,
    /// Nothing is known about the contention among the cores.
    NotKnown,
    /// Predicted latencies with and without the other cores.
    Known {
        /// Latency of a line with all cores running, in ns.
        latency_ns: f64,
        /// Latency of a line with one core running alone, in ns.
        lone_ns: f64,
    },
}

impl CoreContention {
    fn slows(self) -> bool {
        matches!(self, Self::Known { latency_ns, lone_ns } if latency_ns > lone_ns * (1.0 + CONTENTION_GAIN_MIN))
    }
}

/// Cores and devices of a server. A side without workloads has no traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentionSides {
    /// Workloads of the cores.
    pub cores: Vec<SideWorkload>,
    /// Workloads of the devices.
    pub devices: Vec<SideWorkload>,
    /// Load of the cores, if there is any.
    pub c2m: Option<C2mLoad>,
    /// Load of the devices.
    pub p2m: P2mLoad,
    /// Contention among the cores.
    pub crowd: CoreContention,
}

/// Workload that gains throughput without the other side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowedWorkload {
    /// Name of the workload.
    pub workload: String,
    /// Slowdown: throughput without the other side over that with it.
    pub times: f64,
    /// Names of the workloads of the other side.
    pub because_of: Vec<String>,
}

/// The regime of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    /// `red`, `blue`, `cores`, `uncontended` or `not known`.
    pub name: String,
    /// Evidence for the regime, one sentence per entry.
    pub evidence: Vec<String>,
    /// True if a fact that would decide is not known well enough.
    pub estimated: bool,
    /// Workloads that the other side slows down, the largest slowdown first.
    #[serde(default)]
    pub slowed: Vec<SlowedWorkload>,
    /// Unknown facts that would decide the regime, in words.
    #[serde(default)]
    pub open: Vec<String>,
}

const NO_C2M: &str = "no C2M traffic";
const NO_P2M: &str = "no P2M traffic";

impl Regime {
    /// Withdraws the claim that `domains` have no traffic, because the counters that would show it are missing.
    pub(crate) fn with_unknown_traffic<'a>(mut self, domains: impl Iterator<Item = &'a str>) -> Self {
        for domain in domains {
            let absent = if domain.starts_with("C2M") { NO_C2M } else { NO_P2M };
            self.evidence.retain(|evidence| !evidence.starts_with(absent));
            self.open.push(format!("{domain} traffic"));
            if self.slowed.is_empty() {
                NOT_KNOWN.clone_into(&mut self.name);
                self.estimated = true;
            }
        }
        self
    }
}

/// Determines the regime of a server.
///
/// * `red`: devices are known to gain at least 5 % without the cores (10 % where that is predicted), and the P2M
///   credits are full for at least half of the time.
/// * `blue`: cores are known to gain as much without the devices, and the devices are known not to gain without the
///   cores.
/// * `cores`: neither side gains, and the latency of a stream is more than 10 % above that of one of its cores alone.
/// * `uncontended`: neither side gains and the cores do not slow each other down.
/// * `not known`: anything else.
#[must_use]
pub fn regime(sides: &ContentionSides) -> Regime {
    let ContentionSides { cores, devices, .. } = sides;
    let mut slowed = if cores.is_empty() { Vec::new() } else { gaining(devices, cores) };
    let held_back = !slowed.is_empty();
    if !devices.is_empty() {
        slowed.extend(gaining(cores, devices));
    }
    // Stable: of equal slowdowns devices stay before cores.
    slowed.sort_by(|a, b| b.times.total_cmp(&a.times));
    let mut open = if cores.is_empty() || devices.is_empty() { Vec::new() } else { open(sides) };
    // Devices that gain although their credits are free are held back by something else: not known.
    let red = held_back && sides.p2m.full_share >= P2M_FULL;
    let name = if red {
        "red"
    } else if held_back || !open.is_empty() {
        NOT_KNOWN
    } else if !slowed.is_empty() {
        "blue"
    } else if sides.crowd.slows() {
        "cores"
    } else if sides.crowd == CoreContention::NotKnown && devices.is_empty() {
        NOT_KNOWN
    } else {
        "uncontended"
    };
    if slowed.is_empty() && sides.crowd == CoreContention::NotKnown {
        open.push("how much the cores slow each other down".to_owned());
    }
    Regime { name: name.to_owned(), evidence: evidence(sides, name), estimated: name == NOT_KNOWN, slowed, open }
}

/// Returns the workloads of `side` that gain without `other`.
fn gaining(side: &[SideWorkload], other: &[SideWorkload]) -> Vec<SlowedWorkload> {
    let gain = |party: &SideWorkload| party.alone.filter(|_| party.helped()).map_or(0.0, |alone| alone.gain);
    let helped = side.iter().filter(|party| party.helped());
    let because_of: Vec<String> = other.iter().map(|party| party.name.clone()).collect();
    let slowed = |party: &SideWorkload| SlowedWorkload {
        workload: party.name.clone(),
        times: 1.0 + gain(party),
        because_of: because_of.clone(),
    };
    helped.map(slowed).collect()
}

/// Lists the unknown facts of each side, unless a workload of that side is known to gain.
fn open(sides: &ContentionSides) -> Vec<String> {
    let both = [(&sides.cores, &sides.devices, "the devices"), (&sides.devices, &sides.cores, "the cores")];
    // A side of which one workload gains is decided, whatever the others do.
    let undecided = both.into_iter().filter(|(side, _, _)| !side.iter().any(SideWorkload::helped));
    let asked = |(side, other, all): (&Vec<SideWorkload>, &Vec<SideWorkload>, &str)| {
        let names = side.iter().filter(|party| party.is_open()).map(|party| party.name.clone());
        names.map(|name| format!("the throughput of {name} without {}", named(other, all))).collect::<Vec<_>>()
    };
    undecided.flat_map(asked).collect()
}

/// Names the workloads of a side, or returns `all` if there are more than [`NAMES_MAX`].
fn named(side: &[SideWorkload], all: &str) -> String {
    if side.len() > NAMES_MAX {
        return all.to_owned();
    }
    side.iter().map(|party| party.name.as_str()).collect::<Vec<_>>().join(" and ")
}

fn evidence(sides: &ContentionSides, name: &str) -> Vec<String> {
    let ContentionSides { cores, devices, c2m, p2m, crowd } = sides;
    let mut found = Vec::new();
    if devices.is_empty() {
        found.push(NO_P2M.to_owned());
    } else {
        found.extend(p2m_evidence(p2m));
    }
    if cores.is_empty() {
        let but = if devices.is_empty() { "" } else { " but what serves P2M, such as copies of the kernel" };
        found.push(format!("{NO_C2M}{but}"));
    }
    if !cores.is_empty() && !devices.is_empty() {
        found.extend(cores.iter().filter_map(|party| gain_evidence(party, &named(devices, "the devices"))));
        found.extend(devices.iter().filter_map(|party| gain_evidence(party, &named(cores, "the cores"))));
        found.extend(c2m.map(c2m_evidence));
    }
    if let CoreContention::Known { latency_ns, lone_ns } = crowd {
        if name == "cores" {
            found.push(crowd_evidence(*latency_ns, *lone_ns));
        }
    }
    found
}

fn p2m_evidence(p2m: &P2mLoad) -> [String; 2] {
    let full = format!("P2M credits are full {:.0} % of the time", 100.0 * p2m.full_share);
    let moved = p2m.gb_per_s;
    // One decimal would show a slow drive as 0.0.
    let digits = if moved < 1.0 { 3 } else { 1 };
    let rate = match p2m.offered_gb_per_s {
        // A window may begin with commands issued before it, so more data than offered may move.
        Some(offered) => format!("P2M moves {moved:.digits$} of {:.digits$} GB/s offered", offered.max(moved)),
        None => format!("P2M moves {moved:.digits$} GB/s; its offered load is not known"),
    };
    [full, rate]
}

fn gain_evidence(party: &SideWorkload, others: &str) -> Option<String> {
    let IsolatedGain { gain, noise, basis } = party.alone?;
    let told = match basis {
        Basis::Measured => "simulated",
        Basis::Predicted => "predicted",
        Basis::Offered | Basis::Unloaded => return None,
    };
    // Less than half a percent would be printed as 0 %.
    let near = if noise < 0.005 { String::new() } else { format!(" ±{:.0} %", 100.0 * noise) };
    // Adding +0.0 turns -0.0 into 0.0, which avoids "-0 %".
    let percent = (100.0 * gain).round() + 0.0;
    Some(format!("{} gains {percent:.0} %{near} without {others} ({told})", party.name))
}

fn crowd_evidence(latency_ns: f64, lone_ns: f64) -> String {
    let ratio = latency_ns / lone_ns;
    format!("C2M latency is {latency_ns:.0} ns, {ratio:.2} x the {lone_ns:.0} ns of one core alone (predicted)")
}

fn c2m_evidence(c2m: C2mLoad) -> String {
    let against = match c2m.basis {
        Basis::Measured => "alone",
        Basis::Predicted | Basis::Offered => "alone (predicted)",
        Basis::Unloaded => "without any load (what the cores add themselves is not known)",
    };
    let ratio = c2m.latency_ns / c2m.isolated_ns;
    format!("C2M latency is {:.0} ns, {ratio:.2} x the {:.0} ns {against}", c2m.latency_ns, c2m.isolated_ns)
}
