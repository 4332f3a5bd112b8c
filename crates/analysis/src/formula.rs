//! The formula of "Understanding the Host Network" (SIGCOMM'24, section 6.1, figures 9 and 10): from counters to the
//! latency that queueing at the memory controller adds to a read or a write.
//!
//! It works on the counters of any server, simulated or real. Its constants are arguments: [`Constants::of`] derives
//! them from a server's parameters, and any others can be given instead.
//!
//! ```text
//! read   L = const_read + O x (switches/lines_read) x t_wtr         switching
//!                       + O x (lines_written/lines_read) x t_trans  write head-of-line
//!                       + (O - 1) x t_trans                         read head-of-line
//!                       + ACT_read/lines_read x t_act + PRE_read/lines_read x t_pre   top-of-queue
//!
//! write  L = const_write + P x [ N x (switches/lines_written) x t_rtw        switching
//!                              + N x (lines_read/lines_written) x t_trans    read head-of-line
//!                              + (N - 1) x t_trans                           write head-of-line
//!                              + ACT_write/lines_written x t_act + PRE_write/lines_written x t_pre ]
//! ```
//!
//! `O` is the mean RPQ occupancy of a channel, `P` the share of time that its WPQ is full, and `N` the writes of cores
//! and devices that wait for a place in it: those in the CHA, per channel.
//!
//! Not in it, as its authors say: service out of order, contention of ranks and bank groups, writes that pass in read
//! mode, write recovery, and the wait for admission to the CHA, which [`core_admission_ns`] and its siblings give on
//! their own.

use crate::counters::{Counters, Flow};
use hostnet_model::params::{DramParams, ServerParams};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The constants of the formula, all in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// One line on the bus of a channel.
    pub t_trans_ns: f64,
    /// Change from writing to reading.
    pub t_wtr_ns: f64,
    /// Change from reading to writing.
    pub t_rtw_ns: f64,
    /// Activation of a row (tRCD).
    pub t_act_ns: f64,
    /// Precharge of a row (tRP).
    pub t_pre_ns: f64,
    /// Latency of the read domain without load.
    pub const_read_ns: f64,
    /// Latency of the write domain without load.
    pub const_write_ns: f64,
}

impl Constants {
    /// The constants of a server: its DRAM timing, and the unloaded latencies of a load of a core and of a write of a
    /// device.
    #[must_use]
    pub fn of(server: &ServerParams) -> Self {
        let (dram, timing) = (&server.memory.dram, &server.memory.dram.timing);
        let clocks = |count: u32| clocks_ns(dram, f64::from(count));
        Self {
            t_trans_ns: clocks(timing.burst * dram.accesses_per_line),
            t_wtr_ns: clocks(timing.wtr_l),
            t_rtw_ns: clocks((timing.cl + timing.read_to_write).saturating_sub(timing.cwl)),
            t_act_ns: clocks(timing.rcd),
            t_pre_ns: clocks(timing.rp),
            const_read_ns: crate::explain::unloaded::c2m_read_ns(server),
            const_write_ns: crate::explain::unloaded::p2m_write_ns(server),
        }
    }
}

/// `count` clocks of a DRAM in ns.
pub(crate) fn clocks_ns(dram: &DramParams, count: f64) -> f64 {
    count * dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64 / 1000.0
}

/// How the formula is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As printed. Read head-of-line is negative when a channel has less than one read waiting.
    Published,
    /// As its authors' scripts compute it for their figures: read head-of-line is never negative, and all `N` waiting
    /// writes count as write head-of-line.
    Adj,
    /// The same, but while the RPQ is full the reads that wait are counted in the CHA: the authors' choice where reads
    /// of cores and devices together fill the RPQ.
    AdjCha,
}

/// What queueing at the memory controller adds to the latency of a line, in ns, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inflation {
    /// The bus changes direction.
    pub switching_ns: f64,
    /// Writes go first.
    pub write_hol_ns: f64,
    /// Reads go first.
    pub read_hol_ns: f64,
    /// Rows are opened and closed.
    pub top_of_queue_ns: f64,
}

impl Inflation {
    /// All of it, in ns.
    #[must_use]
    pub fn total_ns(&self) -> f64 {
        self.switching_ns + self.write_hol_ns + self.read_hol_ns + self.top_of_queue_ns
    }

    /// The mean over lines of which only this share goes to memory.
    #[must_use]
    pub fn times(self, share: f64) -> Self {
        Self {
            switching_ns: share * self.switching_ns,
            write_hol_ns: share * self.write_hol_ns,
            read_hol_ns: share * self.read_hol_ns,
            top_of_queue_ns: share * self.top_of_queue_ns,
        }
    }
}

/// Why something cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What cannot be computed.
    pub quantity: String,
    /// The counters, by their names in [`Counters`], that were not read.
    pub counters: Vec<String>,
    /// Counters that must not be zero and are.
    pub zero: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, counters, zero } = self;
        let mut reasons = Vec::new();
        if !counters.is_empty() {
            reasons.push(format!("no counter {}", counters.join(", ")));
        }
        if !zero.is_empty() {
            reasons.push(format!("{} is zero", zero.join(", ")));
        }
        write!(formatter, "{quantity} cannot be computed: {}", reasons.join("; "))
    }
}

impl std::error::Error for Missing {}

/// Takes values out of counters and remembers which are not there.
struct Needs {
    missing: Missing,
}

impl Needs {
    fn new(quantity: &str) -> Self {
        Self { missing: Missing { quantity: quantity.to_owned(), counters: Vec::new(), zero: Vec::new() } }
    }

    fn value(&mut self, name: &str, value: Option<f64>) -> f64 {
        if value.is_none_or(|value| !value.is_finite()) {
            self.missing.counters.push(name.to_owned());
        }
        value.unwrap_or(0.0)
    }

    fn positive(&mut self, name: &str, value: Option<f64>) -> f64 {
        if value.is_some_and(|value| value <= 0.0) {
            self.missing.zero.push(name.to_owned());
        }
        self.value(name, value)
    }

    /// Mean time of a line in a pool in ns.
    fn latency(&mut self, name: &str, flow: Flow, window_ns: f64) -> f64 {
        let occupancy = self.value(&format!("{name}.occupancy"), flow.occupancy);
        let lines = self.positive(&format!("{name}.lines"), flow.lines);
        occupancy * window_ns / lines
    }

    fn done<T>(self, value: T) -> Result<T, Missing> {
        if self.missing.counters.is_empty() && self.missing.zero.is_empty() {
            Ok(value)
        } else {
            Err(self.missing)
        }
    }
}

/// What queueing adds to a read, of cores and devices alike: its latency is this and `const_read_ns`.
///
/// # Errors
///
/// Names the counters that are missing, or zero where that means there is nothing to tell.
pub fn read(counters: &Counters, constants: &Constants, form: Form) -> Result<Inflation, Missing> {
    let mut needs = Needs::new("what queueing adds to reads");
    let waiting = reads_waiting(counters, form, &mut needs);
    let lines = needs.positive("lines_read", counters.lines_read);
    let written = needs.value("lines_written", counters.lines_written);
    let switches = needs.value("mode_switches", counters.mode_switches);
    let activations = needs.value("read_activations", counters.read_activations);
    let conflicts = needs.value("read_conflicts", counters.read_conflicts);
    let ahead = if form == Form::Published { waiting - 1.0 } else { (waiting - 1.0).max(0.0) };
    needs.done(Inflation {
        switching_ns: waiting * switches / lines * constants.t_wtr_ns,
        write_hol_ns: waiting * written / lines * constants.t_trans_ns,
        read_hol_ns: ahead * constants.t_trans_ns,
        top_of_queue_ns: (activations * constants.t_act_ns + conflicts * constants.t_pre_ns) / lines,
    })
}

/// Reads that wait for a channel.
fn reads_waiting(counters: &Counters, form: Form, needs: &mut Needs) -> f64 {
    let queued = needs.value("rpq_occupancy", counters.rpq_occupancy);
    if form != Form::AdjCha {
        return queued;
    }
    let full = needs.value("rpq_full_share", counters.rpq_full_share);
    let cores = needs.value("core_read.occupancy", counters.core_read.occupancy);
    let devices = needs.value("io_read.occupancy", counters.io_read.occupancy);
    let channels = needs.positive("channels", Some(counters.channels));
    full * (cores + devices) / channels + (1.0 - full) * queued
}

/// What queueing adds to a write that waits for the WPQ, that is of a device: its latency is this and `const_write_ns`.
/// Writes of cores do not wait for the WPQ, only for the CHA.
///
/// # Errors
///
/// Names the counters that are missing, or zero where that means there is nothing to tell.
pub fn write(counters: &Counters, constants: &Constants, form: Form) -> Result<Inflation, Missing> {
    let mut needs = Needs::new("what queueing adds to writes");
    let full = needs.value("wpq_full_share", counters.wpq_full_share);
    let cores = needs.value("core_write.occupancy", counters.core_write.occupancy);
    let devices = needs.value("io_write.occupancy", counters.io_write.occupancy);
    let channels = needs.positive("channels", Some(counters.channels));
    let lines = needs.positive("lines_written", counters.lines_written);
    let read = needs.value("lines_read", counters.lines_read);
    let switches = needs.value("mode_switches", counters.mode_switches);
    let activations = needs.value("write_activations", counters.write_activations);
    let conflicts = needs.value("write_conflicts", counters.write_conflicts);
    let waiting = (cores + devices) / channels;
    let ahead = if form == Form::Published { waiting - 1.0 } else { waiting };
    needs.done(Inflation {
        switching_ns: full * waiting * switches / lines * constants.t_rtw_ns,
        write_hol_ns: full * ahead * constants.t_trans_ns,
        read_hol_ns: full * waiting * read / lines * constants.t_trans_ns,
        top_of_queue_ns: full * (activations * constants.t_act_ns + conflicts * constants.t_pre_ns) / lines,
    })
}

/// What lines of cores wait for admission to the CHA, in ns: time in the LFB less time in the CHA, less `way_ns` for
/// the way there and back.
///
/// # Errors
///
/// Names the counters that are missing, or zero.
pub fn core_admission_ns(counters: &Counters, way_ns: f64) -> Result<f64, Missing> {
    outside_cha("core lines", "lfb", counters.lfb, "core_read", counters.core_read, counters.window_ns, way_ns)
}

/// What writes of devices wait for admission to the CHA, in ns: time in the IIO less time in the CHA, less `way_ns`.
///
/// # Errors
///
/// Names the counters that are missing, or zero.
pub fn io_write_admission_ns(counters: &Counters, way_ns: f64) -> Result<f64, Missing> {
    let (held, inside) = (counters.iio_write, counters.io_write);
    outside_cha("device writes", "iio_write", held, "io_write", inside, counters.window_ns, way_ns)
}

/// What reads of devices wait for admission to the CHA, in ns: time in the IIO less time in the CHA, less `way_ns`.
///
/// # Errors
///
/// Names the counters that are missing, or zero.
pub fn io_read_admission_ns(counters: &Counters, way_ns: f64) -> Result<f64, Missing> {
    let (held, inside) = (counters.iio_read, counters.io_read);
    outside_cha("device reads", "iio_read", held, "io_read", inside, counters.window_ns, way_ns)
}

fn outside_cha(
    who: &str,
    pool: &str,
    held: Flow,
    stay: &str,
    inside: Flow,
    window_ns: f64,
    way_ns: f64,
) -> Result<f64, Missing> {
    let mut needs = Needs::new(&format!("the wait of {who} for the CHA"));
    let held_ns = needs.latency(pool, held, window_ns);
    let inside_ns = needs.latency(stay, inside, window_ns);
    needs.done(held_ns - inside_ns - way_ns)
}
