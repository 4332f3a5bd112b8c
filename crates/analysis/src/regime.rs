//! The regime of contention between cores and devices (SIGCOMM'24, section 5), judged against either side alone.
//!
//! A side is blamed only if the other is known to gain without it. A latency above that of an idle server, full credits
//! and a rate below the offered load are evidence of load, but do not say who causes it.

use crate::limits::NOT_KNOWN;
use serde::{Deserialize, Serialize};

/// Least gain in throughput without the other side for which that side is blamed.
pub const GAIN_MIN: f64 = 0.05;
/// By how much more a predicted gain has to exceed that: over 130 random servers, 2 of 35 predicted gains of 5 to 10%
/// were simulated to be less than 5%, and none of 113 larger ones.
pub const PREDICTION_ERROR: f64 = 0.05;
/// Share of time that the credits of P2M are full from which on the regime may be red.
const P2M_FULL: f64 = 0.5;
/// Cores slow each other down when their latency exceeds that of a single one of them by more than this.
const CROWD_GAIN: f64 = 0.10;
/// The most workloads of a side that a sentence names one by one.
const NAMES_MAX: usize = 2;

/// Source of the throughput that a workload has without the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// From a simulation without the other side.
    Measured,
    /// Predicted without the other side.
    Predicted,
    /// From what storage offers, which it cannot exceed.
    Offered,
    /// From a server without any load: the other side is not all that is gone.
    Unloaded,
}

/// Gain of a workload in an isolated run of its side: cores without devices, or devices without cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Its throughput without the other side, relative to that beside it, less 1.
    pub gain: f64,
    /// Error of the gain, on either side.
    pub noise: f64,
    /// Where that comes from.
    pub basis: Basis,
}

impl Alone {
    /// The gain of a workload that is predicted to get `now` and, without the other side, `alone`, where it was
    /// measured to get `measured`. Half of its error is that of the prediction: the gains over either are its ends.
    #[must_use]
    pub fn predicted([now, alone]: [f64; 2], measured: f64) -> Self {
        let [over_now, over_measured] = [now, measured].map(|before| alone / before - 1.0);
        let gain = f64::midpoint(over_now, over_measured);
        Self { gain, noise: (over_now - over_measured).abs() / 2.0, basis: Basis::Predicted }
    }

    /// The gain of storage that may move `offered` at most, and moves `moved`.
    fn offered(offered: f64, moved: f64) -> Self {
        Self { gain: (offered / moved - 1.0).max(0.0), noise: 0.0, basis: Basis::Offered }
    }

    fn helps(&self) -> bool {
        let least = GAIN_MIN + if self.basis == Basis::Predicted { PREDICTION_ERROR } else { 0.0 };
        self.gain - self.noise >= least
    }

    /// Returns true if it may help, as far as is known; a gain that is not a number may.
    fn may_help(&self) -> bool {
        let most = self.gain + self.noise;
        most.is_nan() || most >= GAIN_MIN
    }
}

/// A workload of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Party {
    /// Its name.
    pub name: String,
    /// Gain without the other side, if that is known.
    pub alone: Option<Alone>,
}

impl Party {
    /// Caps the gain of storage by what it offers beyond what it moves: where it moves nearly all, nothing can help it,
    /// unless a simulation shows what does. A prediction promises no more than that.
    #[must_use]
    pub fn capped(mut self, moved: Option<f64>, offered: Option<f64>) -> Self {
        let cap = offered.zip(moved).map(|(offered, moved)| Alone::offered(offered, moved));
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

    /// Returns true if it is not known whether it gains.
    fn is_open(&self) -> bool {
        !self.helped() && self.alone.is_none_or(|alone| alone.may_help())
    }
}

/// Load of the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct P2m {
    /// Share of time that their IIO credits are full, of writes or of reads, whichever is more.
    pub full_share: f64,
    /// Data moved, GB/s.
    pub gb_per_s: f64,
    /// Data that they would move if nothing in the host held them back, GB/s, if it is known.
    pub offered_gb_per_s: Option<f64>,
}

/// What cores do: the stream whose latency has grown most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct C2m {
    /// Latency in ns.
    pub latency_ns: f64,
    /// Latency of the same cores without devices in ns.
    pub isolated_ns: f64,
    /// Where that comes from.
    pub basis: Basis,
}

/// What cores do to each other: the stream whose latency has grown most over that of one core of it alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crowd {
    /// There is one core, or none, or none that waits.
    None,
    /// Nothing tells.
    NotKnown,
    /// The latency of several, and that of one alone, as predicted, in ns.
    Known {
        /// Latency of a line beside the others.
        latency_ns: f64,
        /// Latency of a line without them.
        lone_ns: f64,
    },
}

impl Crowd {
    fn slows(self) -> bool {
        matches!(self, Self::Known { latency_ns, lone_ns } if latency_ns > lone_ns * (1.0 + CROWD_GAIN))
    }
}

/// Both sides of a server. A side without a workload has no traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The workloads of cores.
    pub cores: Vec<Party>,
    /// Those of devices.
    pub devices: Vec<Party>,
    /// Load of the cores.
    pub c2m: Option<C2m>,
    /// Load of the devices.
    pub p2m: P2m,
    /// Slowdown of the cores by each other.
    pub crowd: Crowd,
}

/// A workload that gains without others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slowed {
    /// Its name.
    pub workload: String,
    /// Slowdown: how many times as fast it is without them.
    pub times: f64,
    /// The workloads of the other side.
    pub because_of: Vec<String>,
}

/// The regime of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    /// `red`, `blue`, `cores`, `uncontended` or `not known`.
    pub name: String,
    /// What speaks for it, a sentence each.
    pub evidence: Vec<String>,
    /// Is true if something that would decide is not known well enough.
    pub estimated: bool,
    /// Workloads that the other side slows down, and their slowdowns; the largest first.
    #[serde(default)]
    pub slowed: Vec<Slowed>,
    /// Unknown facts that would decide, in words.
    #[serde(default)]
    pub open: Vec<String>,
}

const NO_C2M: &str = "no C2M traffic";
const NO_P2M: &str = "no P2M traffic";

impl Regime {
    /// Withdraws the claim that `domains` have no traffic: the counters that would show it are missing.
    pub(crate) fn with_untold<'a>(mut self, domains: impl Iterator<Item = &'a str>) -> Self {
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

/// The regime.
///
/// Red: devices are known to gain at least 5% without the cores, 10% where that is predicted, and the credits of P2M
/// are full at least half of the time. Blue: cores are known to gain as much without the devices, which are known not
/// to gain without the cores. Neither side gains: cores where the latency of a stream is more than 10% above that of
/// one of its cores alone, else uncontended. Otherwise it is not known.
#[must_use]
pub fn regime(sides: &Sides) -> Regime {
    let Sides { cores, devices, .. } = sides;
    let mut slowed = if cores.is_empty() { Vec::new() } else { gaining(devices, cores) };
    let held_back = !slowed.is_empty();
    if !devices.is_empty() {
        slowed.extend(gaining(cores, devices));
    }
    slowed.sort_by(|a, b| b.times.total_cmp(&a.times));
    let mut open = if cores.is_empty() || devices.is_empty() { Vec::new() } else { open(sides) };
    let red = held_back && sides.p2m.full_share >= P2M_FULL;
    let name = if red {
        "red"
    } else if held_back || !open.is_empty() {
        NOT_KNOWN
    } else if !slowed.is_empty() {
        "blue"
    } else if sides.crowd.slows() {
        "cores"
    } else if sides.crowd == Crowd::NotKnown && devices.is_empty() {
        NOT_KNOWN
    } else {
        "uncontended"
    };
    if slowed.is_empty() && sides.crowd == Crowd::NotKnown {
        open.push("how much the cores slow each other down".to_owned());
    }
    Regime { name: name.to_owned(), evidence: evidence(sides, name), estimated: name == NOT_KNOWN, slowed, open }
}

/// Finds the workloads of a side that gain without the other one.
fn gaining(side: &[Party], other: &[Party]) -> Vec<Slowed> {
    let gain = |party: &Party| party.alone.filter(|_| party.helped()).map_or(0.0, |alone| alone.gain);
    let helped = side.iter().filter(|party| party.helped());
    let because_of: Vec<String> = other.iter().map(|party| party.name.clone()).collect();
    let slowed = |party: &Party| Slowed {
        workload: party.name.clone(),
        times: 1.0 + gain(party),
        because_of: because_of.clone(),
    };
    helped.map(slowed).collect()
}

/// Lists the open points of either side, unless one of its workloads is known to gain anyway.
fn open(sides: &Sides) -> Vec<String> {
    let both = [(&sides.cores, &sides.devices, "the devices"), (&sides.devices, &sides.cores, "the cores")];
    let undecided = both.into_iter().filter(|(side, _, _)| !side.iter().any(Party::helped));
    let asked = |(side, other, all): (&Vec<Party>, &Vec<Party>, &str)| {
        let names = side.iter().filter(|party| party.is_open()).map(|party| party.name.clone());
        names.map(|name| format!("the throughput of {name} without {}", named(other, all))).collect::<Vec<_>>()
    };
    undecided.flat_map(asked).collect()
}

/// The workloads of a side in words: their names, or `all` of them.
fn named(side: &[Party], all: &str) -> String {
    if side.len() > NAMES_MAX {
        return all.to_owned();
    }
    side.iter().map(|party| party.name.as_str()).collect::<Vec<_>>().join(" and ")
}

fn evidence(sides: &Sides, name: &str) -> Vec<String> {
    let Sides { cores, devices, c2m, p2m, crowd } = sides;
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
    if let Crowd::Known { latency_ns, lone_ns } = crowd {
        if name == "cores" {
            found.push(crowd_evidence(*latency_ns, *lone_ns));
        }
    }
    found
}

fn p2m_evidence(p2m: &P2m) -> [String; 2] {
    let full = format!("P2M credits are full {:.0} % of the time", 100.0 * p2m.full_share);
    let moved = p2m.gb_per_s;
    let digits = if moved < 1.0 { 3 } else { 1 };
    let rate = match p2m.offered_gb_per_s {
        // A window may begin with commands of the one before it.
        Some(offered) => format!("P2M moves {moved:.digits$} of {:.digits$} GB/s offered", offered.max(moved)),
        None => format!("P2M moves {moved:.digits$} GB/s; its offered load is not known"),
    };
    [full, rate]
}

fn gain_evidence(party: &Party, others: &str) -> Option<String> {
    let Alone { gain, noise, basis } = party.alone?;
    let told = match basis {
        Basis::Measured => "simulated",
        Basis::Predicted => "predicted",
        Basis::Offered | Basis::Unloaded => return None,
    };
    let near = if noise < 0.005 { String::new() } else { format!(" ±{:.0} %", 100.0 * noise) };
    // No "-0 %".
    let percent = (100.0 * gain).round() + 0.0;
    Some(format!("{} gains {percent:.0} %{near} without {others} ({told})", party.name))
}

fn crowd_evidence(latency_ns: f64, lone_ns: f64) -> String {
    let ratio = latency_ns / lone_ns;
    format!("C2M latency is {latency_ns:.0} ns, {ratio:.2} x the {lone_ns:.0} ns of one core alone (predicted)")
}

fn c2m_evidence(c2m: C2m) -> String {
    let against = match c2m.basis {
        Basis::Measured => "alone",
        Basis::Predicted | Basis::Offered => "alone (predicted)",
        Basis::Unloaded => "without any load (what the cores add themselves is not known)",
    };
    let ratio = c2m.latency_ns / c2m.isolated_ns;
    format!("C2M latency is {:.0} ns, {ratio:.2} x the {:.0} ns {against}", c2m.latency_ns, c2m.isolated_ns)
}
