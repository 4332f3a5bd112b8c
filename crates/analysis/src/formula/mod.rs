//! The formula of "Understanding the Host Network" (SIGCOMM'24, section 6.1, figures 9 and 10). It computes from
//! counters the latency that queueing at the memory controller adds to a read or a write.
//!
//! The formula works on the counters of any server, simulated or real. Its constants are arguments: [`Constants::of`]
//! derives them from the parameters of a socket, and others can be given instead.
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
//! `O` is the mean RPQ occupancy of a channel, `P` the share of time that its WPQ is full, and `N` the number of
//! writes of cores and devices per channel that wait for a WPQ entry, i.e. those in the CHA.
//!
//! As its authors state, the formula does not model out-of-order service, contention of ranks and bank groups, writes
//! served in read mode, write recovery, and the wait for admission to the CHA. [`core_admission_ns`],
//! [`io_write_admission_ns`] and [`io_read_admission_ns`] compute that wait separately.

mod needs;

pub use needs::Missing;

use crate::counters::{Counters, Flow};
use crate::explain::unloaded::{self, clocks_ns};
use hostnet_model::params::SocketParams;
use needs::RequiredCounters;
use serde::{Deserialize, Serialize};

/// Constants of the formula, all in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// Time of one line on the bus of a channel.
    pub t_trans_ns: f64,
    /// Turnaround of the bus from write to read.
    pub t_wtr_ns: f64,
    /// Turnaround of the bus from read to write.
    pub t_rtw_ns: f64,
    /// Row activation (tRCD).
    pub t_act_ns: f64,
    /// Row precharge (tRP).
    pub t_pre_ns: f64,
    /// Unloaded latency of the read domain.
    pub const_read_ns: f64,
    /// Unloaded latency of the write domain.
    pub const_write_ns: f64,
}

impl Constants {
    /// Derives the constants from the DRAM timing of a socket and from the unloaded latencies of a core's load and of
    /// a device's write.
    #[must_use]
    pub fn of(socket: &SocketParams) -> Self {
        let (dram, timing) = (&socket.memory.dram, &socket.memory.dram.timing);
        let clocks = |count: u32| clocks_ns(dram, f64::from(count));
        Self {
            t_trans_ns: clocks(timing.burst * dram.accesses_per_line),
            t_wtr_ns: clocks(timing.wtr_l),
            // The spacing from RD to WR is CL + burst + gap - CWL (JEDEC); the burst itself counts as t_trans.
            t_rtw_ns: clocks((timing.cl + timing.read_to_write).saturating_sub(timing.cwl)),
            t_act_ns: clocks(timing.rcd),
            t_pre_ns: clocks(timing.rp),
            // Unloaded latencies of the domains, as in section 6.2.
            const_read_ns: unloaded::c2m_read_ns(socket),
            const_write_ns: unloaded::p2m_write_ns(socket),
        }
    }
}

/// Variant of the formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormulaVariant {
    /// The formula as printed. Its read head-of-line term is negative when less than one read waits at a channel.
    Published,
    /// The formula as in the scripts for the authors' figures: the read head-of-line term is never negative, and all
    /// `N` waiting writes count in the write head-of-line term.
    Adj,
    /// Like [`FormulaVariant::Adj`], but while the RPQ is full the waiting reads are counted in the CHA. The authors
    /// use this variant where reads of cores and devices together fill the RPQ.
    AdjCha,
}

/// Latency that queueing at the memory controller adds to a line, in ns, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inflation {
    /// Turnarounds of the bus between reads and writes.
    pub switching_ns: f64,
    /// Writes served first (write head-of-line blocking).
    pub write_hol_ns: f64,
    /// Reads served first (read head-of-line blocking).
    pub read_hol_ns: f64,
    /// Row activations and precharges of the request itself.
    pub top_of_queue_ns: f64,
}

impl Inflation {
    /// Sum of all causes, in ns.
    #[must_use]
    pub fn total_ns(&self) -> f64 {
        self.switching_ns + self.write_hol_ns + self.read_hol_ns + self.top_of_queue_ns
    }
}

/// Latency that queueing adds, in ns, by cause. Each cause has its own counters and names those it lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct InflationCauses {
    /// Turnarounds of the bus between reads and writes.
    pub switching: Result<f64, Missing>,
    /// Writes served first (write head-of-line blocking).
    pub write_hol: Result<f64, Missing>,
    /// Reads served first (read head-of-line blocking).
    pub read_hol: Result<f64, Missing>,
    /// Row activations and precharges of the request itself.
    pub top_of_queue: Result<f64, Missing>,
}

impl InflationCauses {
    /// Returns all causes, or an error with all counters that they lack.
    fn whole(self, quantity: &str) -> Result<Inflation, Missing> {
        let mut needs = RequiredCounters::new(quantity);
        let inflation = Inflation {
            switching_ns: needs.found(self.switching),
            write_hol_ns: needs.found(self.write_hol),
            read_hol_ns: needs.found(self.read_hol),
            top_of_queue_ns: needs.found(self.top_of_queue),
        };
        needs.done(inflation)
    }
}

/// Computes the latency that queueing adds to a read of a core or a device; the latency of the read is that plus
/// `const_read_ns`.
///
/// # Errors
///
/// Returns a [`Missing`] that names the counters that are missing, or that are zero although the formula divides by
/// them.
pub fn read(counters: &Counters, constants: &Constants, form: FormulaVariant) -> Result<Inflation, Missing> {
    causes_of_read(counters, constants, form).whole("what queueing adds to reads")
}

/// Like [`read`], but returns one result per cause.
#[must_use]
pub fn causes_of_read(counters: &Counters, constants: &Constants, form: FormulaVariant) -> InflationCauses {
    let waiting = |needs: &mut RequiredCounters| reads_waiting(counters, form, needs);
    let lines = |needs: &mut RequiredCounters| needs.positive("lines_read", counters.lines_read);
    let cause = |name: &str, ns: &dyn Fn(&mut RequiredCounters) -> f64| {
        RequiredCounters::compute(&format!("{name} of reads"), ns)
    };
    InflationCauses {
        switching: cause("switching", &|needs| {
            let switches = needs.value("mode_switches", counters.mode_switches);
            waiting(needs) * switches / lines(needs) * constants.t_wtr_ns
        }),
        write_hol: cause("write head-of-line", &|needs| {
            let written = needs.value("lines_written", counters.lines_written);
            waiting(needs) * written / lines(needs) * constants.t_trans_ns
        }),
        read_hol: cause("read head-of-line", &|needs| {
            // A read does not wait for itself. Means below one read per channel would make the term negative.
            let ahead = waiting(needs) - 1.0;
            constants.t_trans_ns * if form == FormulaVariant::Published { ahead } else { ahead.max(0.0) }
        }),
        top_of_queue: cause("top-of-queue", &|needs| {
            let activations = needs.value("read_activations", counters.read_activations);
            let conflicts = needs.value("read_conflicts", counters.read_conflicts);
            (activations * constants.t_act_ns + conflicts * constants.t_pre_ns) / lines(needs)
        }),
    }
}

/// Number of reads that wait at a channel.
fn reads_waiting(counters: &Counters, form: FormulaVariant, needs: &mut RequiredCounters) -> f64 {
    let queued = needs.value("rpq_occupancy", counters.rpq_occupancy);
    if form != FormulaVariant::AdjCha {
        return queued;
    }
    // A full RPQ pushes reads back into the CHA, where all of them count; otherwise the RPQ holds them all.
    let full = needs.value("rpq_full_share", counters.rpq_full_share);
    let cores = needs.value("core_read.occupancy", counters.core_read.occupancy);
    let devices = needs.value("io_read.occupancy", counters.io_read.occupancy);
    let channels = needs.positive("channels", Some(counters.channels));
    full * (cores + devices) / channels + (1.0 - full) * queued
}

/// Computes the latency that queueing adds to a write that waits for the WPQ, i.e. a device write. The latency of the
/// write is this value plus `const_write_ns`. Core writes wait only for the CHA, not for the WPQ.
///
/// # Errors
///
/// Returns a [`Missing`] that names the counters that are missing, or that are zero although the formula divides by
/// them.
pub fn write(counters: &Counters, constants: &Constants, form: FormulaVariant) -> Result<Inflation, Missing> {
    causes_of_write(counters, constants, form).whole("what queueing adds to writes")
}

/// Like [`write()`], but returns one result per cause.
#[must_use]
pub fn causes_of_write(counters: &Counters, constants: &Constants, form: FormulaVariant) -> InflationCauses {
    // A P2M-Write completes on admission to the WPQ, so it waits only while that is full (section 6.1, write domain).
    let full = |needs: &mut RequiredCounters| needs.value("wpq_full_share", counters.wpq_full_share);
    let lines = |needs: &mut RequiredCounters| needs.positive("lines_written", counters.lines_written);
    let waiting = |needs: &mut RequiredCounters| writes_waiting(counters, needs);
    let cause = |name: &str, ns: &dyn Fn(&mut RequiredCounters) -> f64| {
        RequiredCounters::compute(&format!("{name} of writes"), ns)
    };
    InflationCauses {
        switching: cause("switching", &|needs| {
            let switches = needs.value("mode_switches", counters.mode_switches);
            full(needs) * waiting(needs) * switches / lines(needs) * constants.t_rtw_ns
        }),
        write_hol: cause("write head-of-line", &|needs| {
            let ahead = if form == FormulaVariant::Published { waiting(needs) - 1.0 } else { waiting(needs) };
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

/// Number of writes that wait at a channel: those in the CHA.
fn writes_waiting(counters: &Counters, needs: &mut RequiredCounters) -> f64 {
    // The CHA is where writes are backlogged when the WPQ is full (section 6.2); its counters are sums over channels.
    let cores = needs.value("core_write.occupancy", counters.core_write.occupancy);
    let devices = needs.value("io_write.occupancy", counters.io_write.occupancy);
    (cores + devices) / needs.positive("channels", Some(counters.channels))
}

/// Computes the time that lines of cores wait for admission to the CHA, in ns: time in the LFB less time in the CHA,
/// less `path_ns` for the path there and back.
///
/// # Errors
///
/// Names the counters that are missing or zero.
pub fn core_admission_ns(counters: &Counters, path_ns: f64) -> Result<f64, Missing> {
    outside_cha("core lines", "lfb", counters.lfb, "core_read", counters.core_read, counters.window_ns, path_ns)
}

/// Computes the time that writes of devices wait for admission to the CHA, in ns: time in the IIO less time in the
/// CHA, less `path_ns` for the path there and back.
///
/// # Errors
///
/// Names the counters that are missing or zero.
pub fn io_write_admission_ns(counters: &Counters, path_ns: f64) -> Result<f64, Missing> {
    let (held, inside) = (counters.iio_write, counters.io_write);
    outside_cha("device writes", "iio_write", held, "io_write", inside, counters.window_ns, path_ns)
}

/// Computes the time that reads of devices wait for admission to the CHA, in ns: time in the IIO less time in the
/// CHA, less `path_ns` for the path there and back.
///
/// # Errors
///
/// Names the counters that are missing or zero.
pub fn io_read_admission_ns(counters: &Counters, path_ns: f64) -> Result<f64, Missing> {
    let (held, inside) = (counters.iio_read, counters.io_read);
    outside_cha("device reads", "iio_read", held, "io_read", inside, counters.window_ns, path_ns)
}

fn outside_cha(
    who: &str,
    pool: &str,
    held: Flow,
    stay: &str,
    inside: Flow,
    window_ns: f64,
    path_ns: f64,
) -> Result<f64, Missing> {
    let mut needs = RequiredCounters::new(&format!("the wait of {who} for the CHA"));
    let held_ns = needs.latency(pool, held, window_ns);
    let inside_ns = needs.latency(stay, inside, window_ns);
    needs.done(held_ns - inside_ns - path_ns)
}
