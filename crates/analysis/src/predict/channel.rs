//! Service times and waits at one memory controller.

use super::fit::Fit;
use super::rows::Queues;
use super::traffic::banks;
use hostnet_model::params::{DramParams, MemoryControllerParams, PagePolicy, Refresh, SocketParams};

/// Share of the row misses that are row conflicts, i.e. find another row open.
const CONFLICTS: f64 = 0.8;

/// Parameters of a memory controller and its channel, times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// Transfer of a line on the bus.
    pub(super) line_ns: f64,
    /// Time from a column command to the last beat of its data.
    pub(super) data_ns: f64,
    open_ns: f64,
    close_ns: f64,
    cycle_ns: f64,
    activation_ns: f64,
    turnaround_ns: f64,
    refresh_wait_ns: f64,
    refresh_ns: f64,
    idle_ns: f64,
    banks: f64,
    pub(super) read_entries: f64,
    pub(super) write_entries: f64,
    write_span: f64,
    write_high: f64,
    writes_per_mode: f64,
    reads_per_mode: f64,
    trickle: f64,
}

/// Rates of lines at one controller, in lines per ns, and row misses per line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) read_misses: f64,
    pub(super) write_misses: f64,
}

/// State of a controller under a load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Share of the bus's time that is in use or blocked by activations and turnarounds.
    pub(super) busy: f64,
    /// Write modes per ns.
    pub(super) modes: f64,
    /// Duration of a write mode with its turnarounds, in ns.
    pub(super) mode_ns: f64,
    /// Wait of a read, in ns, without the part that grows without bound at saturation.
    pub(super) read_wait_ns: f64,
    /// Natural logarithm of the writes per read over the ratio that the quotas of the modes allow: above 0 writes
    /// wait, below 0 reads do.
    pub(super) lean: f64,
}

impl State {
    /// Share of the backlog that consists of writes, 0 to 1.
    pub(super) fn write_share(&self, fit: &Fit) -> f64 {
        1.0 / (1.0 + (-fit.quota * self.lean).exp())
    }
}

impl Channel {
    pub(super) fn new(socket: &SocketParams) -> Self {
        let (dram, controller) = (&socket.memory.dram, &socket.memory.controller);
        let clock_ns = dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64 / 1000.0;
        let ns = |clocks: u32| f64::from(clocks) * clock_ns;
        let t = &dram.timing;
        let line_ns = ns(t.burst * dram.accesses_per_line);
        // JEDEC: four activations per tFAW window, and tRRD between two; both hold per rank.
        let activation_ns = (ns(t.faw) / 4.0).max(ns(t.rrd_s)) / f64::from(dram.ranks);
        let (refresh_wait_ns, refresh_ns) = refresh(dram, controller, clock_ns);
        Self {
            line_ns,
            data_ns: ns(t.cl) + line_ns,
            open_ns: ns(t.rcd),
            close_ns: ns(t.rp),
            cycle_ns: ns(t.rc),
            activation_ns: activation_ns * activation_ns / line_ns,
            // RD to WR, then WR to RD, in JEDEC's spacing of commands; max() keeps the first from being negative.
            turnaround_ns: ns(t.cl + t.burst + t.read_to_write).max(ns(t.cwl)) - ns(t.cwl)
                + ns(t.cwl + t.burst + t.wtr_l),
            refresh_wait_ns,
            refresh_ns,
            idle_ns: match controller.page {
                PagePolicy::Open => f64::INFINITY,
                PagePolicy::Closed => 0.0,
                PagePolicy::Timeout => ns(controller.idle_close),
            },
            banks: banks(socket),
            read_entries: f64::from(controller.rpq_entries),
            write_entries: f64::from(controller.wpq_entries),
            write_span: f64::from(controller.write_high - controller.write_low),
            write_high: f64::from(controller.write_high),
            writes_per_mode: f64::from(controller.writes_per_mode),
            reads_per_mode: f64::from(controller.reads_per_mode),
            // More writes than `write_high` never wait for an idle channel: they start a write mode.
            trickle: f64::from(controller.idle_writes.min(controller.write_high)),
        }
    }

    /// Returns the queues at the banks with `reads` waiting reads, a share `forced` of writes in write modes, and
    /// `modes` write modes per line read.
    pub(super) fn queues(&self, reads: f64, forced: f64, modes: f64) -> Queues {
        Queues {
            modes,
            banks: self.banks,
            reads,
            writes: self.trickle + forced * (self.write_high - self.trickle),
            idle_ns: self.idle_ns,
            refresh_ns: self.refresh_ns,
        }
    }

    /// Computes the state of the controller under `load` when a share `forced` of the writes is served in write
    /// modes.
    pub(super) fn state(&self, load: &Load, forced: f64, fit: &Fit) -> State {
        let read_ns = fit.line * self.line_ns + fit.read_activation * load.read_misses * self.activation_ns;
        let write_ns = fit.line * self.line_ns + fit.write_activation * load.write_misses * self.activation_ns;
        // A mode drains from `write_high` to `write_low` and what arrives meanwhile (first order), up to its quota.
        let mode_writes = (self.write_span * (1.0 + load.writes * write_ns)).min(self.writes_per_mode).max(1.0);
        let modes = forced * load.writes / mode_writes;
        let turnaround_ns = fit.turnaround * self.turnaround_ns;
        let mode_ns = mode_writes * write_ns + turnaround_ns;
        let busy = load.reads * read_ns + load.writes * write_ns + modes * turnaround_ns;
        // Keeps the wait for write modes finite when reads take all of the bus.
        let reading = (1.0 - load.reads * read_ns).max(0.05);
        // Half a mode, times the share of time in modes; the backlog then drains in the time that other reads leave.
        let blocked_ns = 0.5 * mode_ns * (modes * mode_ns).min(1.0) / reading;
        let read_wait_ns = self.refresh_wait_ns
            + load.read_misses * self.open_ns
            + CONFLICTS * load.read_misses * self.close_ns
            + fit.bank * load.read_misses * self.cycle_ns * busy.min(1.0)
            + fit.blocked * blocked_ns.min(mode_ns);
        // 1e-12 keeps the quotient and the logarithm finite where one side has no traffic.
        let balance = load.writes * self.reads_per_mode / (load.reads * self.writes_per_mode).max(1e-12);
        State { busy, modes, mode_ns, read_wait_ns, lean: balance.max(1e-12).ln() }
    }

    /// Mean number of writes in the write queue: those that are collected for a write mode or that trickle out, and
    /// those that wait.
    pub(super) fn write_queue(&self, rate: f64, wait_ns: f64, forced: f64) -> f64 {
        let collected = self.trickle * (1.0 - forced) + (self.write_high - self.write_span / 2.0) * forced;
        let trickling = rate * self.cycle_ns * self.trickle;
        (collected.min(trickling) + rate * wait_ns).min(self.write_entries)
    }

    /// Returns the utilisation u at which a queue has a backlog of `backlog` services, if its backlog is u^2 / (1 -
    /// u).
    pub(super) fn utilisation(backlog: f64) -> f64 {
        // Positive root of u^2 + backlog x u - backlog = 0.
        let half = backlog / 2.0;
        (half * half + backlog).sqrt() - half
    }
}

/// Returns the mean wait of a read for refreshes and the time between two refreshes of a bank, both in ns.
fn refresh(dram: &DramParams, controller: &MemoryControllerParams, clock_ns: f64) -> (f64, f64) {
    let t = &dram.timing;
    let (duration, interval) = match controller.refresh {
        Refresh::Off => return (0.0, f64::INFINITY),
        Refresh::AllBanks => (t.rfc, t.refi),
        // Each REFSB refreshes other banks. A bank is taken to see one per tREFI, as on HBM; on DDR5 it sees two.
        Refresh::SameBank => (t.rfc_sb, t.refi),
    };
    let (duration_ns, interval_ns) = (f64::from(duration) * clock_ns, f64::from(interval.max(1)) * clock_ns);
    // A read arrives during a refresh with probability duration / interval, and then waits for half of it on average.
    (duration_ns * duration_ns / interval_ns / 2.0, interval_ns)
}
