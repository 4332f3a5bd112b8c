//! The formula of "Understanding the Host Network" (SIGCOMM'24, section 6.1, figures 9 and 10): from counters to the
//! latency that queueing at the memory controller adds to a read or a write.
//!
//! It works on the counters of any server, simulated or real. Its constants are arguments: [`Constants::of`] derives
//! them from a socket's parameters, and any others can be given instead.
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

mod needs;

pub use needs::Missing;

use crate::counters::{Counters, Flow};
use hostnet_model::params::{DramParams, SocketParams};
use needs::Needs;
use serde::{Deserialize, Serialize};

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
    /// The constants of a socket: its DRAM timing, and the unloaded latencies of a load of a core and of a write of a
    /// device.
    #[must_use]
    pub fn of(socket: &SocketParams) -> Self {
        let (dram, timing) = (&socket.memory.dram, &socket.memory.dram.timing);
        let clocks = |count: u32| clocks_ns(dram, f64::from(count));
        Self {
            t_trans_ns: clocks(timing.burst * dram.accesses_per_line),
            t_wtr_ns: clocks(timing.wtr_l),
            t_rtw_ns: clocks((timing.cl + timing.read_to_write).saturating_sub(timing.cwl)),
            t_act_ns: clocks(timing.rcd),
            t_pre_ns: clocks(timing.rp),
            const_read_ns: crate::explain::unloaded::c2m_read_ns(socket),
            const_write_ns: crate::explain::unloaded::p2m_write_ns(socket),
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
}

/// What queueing adds, cause by cause, in ns. Each cause needs counters of its own, and says which it lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Causes {
    /// The bus changes direction.
    pub switching: Result<f64, Missing>,
    /// Writes go first.
    pub write_hol: Result<f64, Missing>,
    /// Reads go first.
    pub read_hol: Result<f64, Missing>,
    /// Rows are opened and closed.
    pub top_of_queue: Result<f64, Missing>,
}

impl Causes {
    /// All of them, or what they lack together.
    fn whole(self, quantity: &str) -> Result<Inflation, Missing> {
        let mut needs = Needs::new(quantity);
        let inflation = Inflation {
            switching_ns: needs.found(self.switching),
            write_hol_ns: needs.found(self.write_hol),
            read_hol_ns: needs.found(self.read_hol),
            top_of_queue_ns: needs.found(self.top_of_queue),
        };
        needs.done(inflation)
    }
}

/// What queueing adds to a read, of cores and devices alike: its latency is this and `const_read_ns`.
///
/// # Errors
///
/// Names the counters that are missing, or zero where that means there is nothing to tell.
pub fn read(counters: &Counters, constants: &Constants, form: Form) -> Result<Inflation, Missing> {
    causes_of_read(counters, constants, form).whole("what queueing adds to reads")
}

/// [`read`], cause by cause.
#[must_use]
pub fn causes_of_read(counters: &Counters, constants: &Constants, form: Form) -> Causes {
    let waiting = |needs: &mut Needs| reads_waiting(counters, form, needs);
    let lines = |needs: &mut Needs| needs.positive("lines_read", counters.lines_read);
    let cause = |name: &str, ns: &dyn Fn(&mut Needs) -> f64| Needs::tell(&format!("{name} of reads"), ns);
    Causes {
        switching: cause("switching", &|needs| {
            let switches = needs.value("mode_switches", counters.mode_switches);
            waiting(needs) * switches / lines(needs) * constants.t_wtr_ns
        }),
        write_hol: cause("write head-of-line", &|needs| {
            let written = needs.value("lines_written", counters.lines_written);
            waiting(needs) * written / lines(needs) * constants.t_trans_ns
        }),
        read_hol: cause("read head-of-line", &|needs| {
            let ahead = waiting(needs) - 1.0;
            constants.t_trans_ns * if form == Form::Published { ahead } else { ahead.max(0.0) }
        }),
        top_of_queue: cause("top-of-queue", &|needs| {
            let activations = needs.value("read_activations", counters.read_activations);
            let conflicts = needs.value("read_conflicts", counters.read_conflicts);
            (activations * constants.t_act_ns + conflicts * constants.t_pre_ns) / lines(needs)
        }),
    }
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
    causes_of_write(counters, constants, form).whole("what queueing adds to writes")
}

/// [`write`], cause by cause.
#[must_use]
pub fn causes_of_write(counters: &Counters, constants: &Constants, form: Form) -> Causes {
    let full = |needs: &mut Needs| needs.value("wpq_full_share", counters.wpq_full_share);
    let lines = |needs: &mut Needs| needs.positive("lines_written", counters.lines_written);
    let waiting = |needs: &mut Needs| writes_waiting(counters, needs);
    let cause = |name: &str, ns: &dyn Fn(&mut Needs) -> f64| Needs::tell(&format!("{name} of writes"), ns);
    Causes {
        switching: cause("switching", &|needs| {
            let switches = needs.value("mode_switches", counters.mode_switches);
            full(needs) * waiting(needs) * switches / lines(needs) * constants.t_rtw_ns
        }),
        write_hol: cause("write head-of-line", &|needs| {
            let ahead = if form == Form::Published { waiting(needs) - 1.0 } else { waiting(needs) };
            full(needs) * ahead * constants.t_trans_ns
        }),
        read_hol: cause("read head-of-line", &|needs| {
            let read = needs.value("lines_read", counters.lines_read);
            full(needs) * waiting(needs) * read / lines(needs) * constants.t_trans_ns
        }),
        top_of_queue: cause("top-of-queue", &|needs| {
            let activations = needs.value("write_activations", counters.write_activations);
            let conflicts = needs.value("write_conflicts", counters.write_conflicts);
            full(needs) * (activations * constants.t_act_ns + conflicts * constants.t_pre_ns) / lines(needs)
        }),
    }
}

/// Writes that wait for a channel: those in the CHA.
fn writes_waiting(counters: &Counters, needs: &mut Needs) -> f64 {
    let cores = needs.value("core_write.occupancy", counters.core_write.occupancy);
    let devices = needs.value("io_write.occupancy", counters.io_write.occupancy);
    (cores + devices) / needs.positive("channels", Some(counters.channels))
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
