//! The regime of contention between cores and devices (SIGCOMM'24, section 5).

use serde::{Deserialize, Serialize};

/// Share of time that the credits of P2M are full from which on the regime may be red.
const P2M_FULL: f64 = 0.5;
/// P2M is held back when it is further below its offered rate than this.
const P2M_LOSS: f64 = 0.05;
/// C2M suffers when its latency is further above the isolated one than this.
const C2M_GAIN: f64 = 0.10;
/// Decimal fractions are not exact in binary: a rate on the limit, in GB/s, is not below it.
const ROUNDING: f64 = 1e-9;

/// What devices do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct P2m {
    /// Share of time that their IIO credits are full, of writes or of reads, whichever is more.
    pub full_share: f64,
    /// Data moved, GB/s.
    pub gb_per_s: f64,
    /// Data that they would move if nothing in the host held them back, GB/s, if it is known.
    pub offered_gb_per_s: Option<f64>,
}

/// Where the latency of C2M without devices comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// From a run of the same cores alone.
    Measured,
    /// Predicted for the same cores alone.
    Predicted,
    /// The latency without any load, which is below that of the same cores alone.
    Unloaded,
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
pub struct Crowd {
    /// Latency in ns.
    pub latency_ns: f64,
    /// Latency of one core alone in ns, as predicted.
    pub lone_ns: f64,
}

/// The regime of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    /// `red`, `blue`, `cores` or `uncontended`.
    pub name: String,
    /// What speaks for it, a sentence each.
    pub evidence: Vec<String>,
    /// Whether something that would decide is only known roughly.
    pub estimated: bool,
}

/// The regime.
///
/// Red: the credits of P2M are full at least half of the time and P2M is more than 5% below its offered rate. Blue: not
/// red, and the latency of C2M is more than 10% above the isolated one. Cores: neither, and the latency of a stream is
/// more than 10% above that of one of its cores alone. Else uncontended.
#[must_use]
pub fn regime(c2m: Option<C2m>, p2m: Option<P2m>, crowd: Option<Crowd>) -> Regime {
    let mut evidence = Vec::new();
    let mut estimated = false;
    let red = p2m.is_some_and(|p2m| {
        evidence.extend(p2m_evidence(&p2m));
        estimated |= p2m.offered_gb_per_s.is_none() && p2m.full_share >= P2M_FULL;
        is_red(&p2m)
    });
    if p2m.is_none() {
        evidence.push("no P2M traffic".to_owned());
    }
    let blue = match c2m {
        None => {
            let but = if p2m.is_some() { " but what serves P2M, such as copies of the kernel" } else { "" };
            evidence.push(format!("no C2M traffic{but}"));
            false
        }
        Some(c2m) if p2m.is_some() => {
            let ratio = c2m.latency_ns / c2m.isolated_ns;
            evidence.push(c2m_evidence(&c2m, ratio));
            estimated |= !red && c2m.basis == Basis::Unloaded && ratio > 1.0 + C2M_GAIN;
            ratio > 1.0 + C2M_GAIN
        }
        Some(_) => false,
    };
    let crowded = !red && !blue && crowd.is_some_and(|crowd| crowd.latency_ns > crowd.lone_ns * (1.0 + C2M_GAIN));
    evidence.extend(crowd.filter(|_| crowded).map(crowd_evidence));
    let name = if red {
        "red"
    } else if blue {
        "blue"
    } else if crowded {
        "cores"
    } else {
        "uncontended"
    };
    Regime { name: name.to_owned(), evidence, estimated }
}

/// Whether P2M is in the red regime; without an offered rate, full credits are all there is to tell.
fn is_red(p2m: &P2m) -> bool {
    let held_back = p2m.offered_gb_per_s.is_none_or(|offered| p2m.gb_per_s < offered * (1.0 - P2M_LOSS) - ROUNDING);
    p2m.full_share >= P2M_FULL && held_back
}

fn p2m_evidence(p2m: &P2m) -> [String; 2] {
    let full = format!("P2M credits are full {:.0}% of the time", 100.0 * p2m.full_share);
    let rate = match p2m.offered_gb_per_s {
        Some(offered) => format!("P2M moves {:.1} of {offered:.1} GB/s offered", p2m.gb_per_s),
        None => format!("P2M moves {:.1} GB/s; what it offers is not known", p2m.gb_per_s),
    };
    [full, rate]
}

fn crowd_evidence(crowd: Crowd) -> String {
    let Crowd { latency_ns, lone_ns } = crowd;
    let ratio = latency_ns / lone_ns;
    format!("C2M latency is {latency_ns:.0} ns, {ratio:.2} x the {lone_ns:.0} ns of one core alone (predicted)")
}

fn c2m_evidence(c2m: &C2m, ratio: f64) -> String {
    let against = match c2m.basis {
        Basis::Measured => "alone",
        Basis::Predicted => "alone (predicted)",
        Basis::Unloaded => "without any load (what the cores add themselves is not known)",
    };
    format!("C2M latency is {:.0} ns, {ratio:.2} x the {:.0} ns {against}", c2m.latency_ns, c2m.isolated_ns)
}
