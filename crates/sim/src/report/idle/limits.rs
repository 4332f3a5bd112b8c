//! Finds limits and rules of a server that did not come into play in the measurement window.

use super::{nic, uses_domain};
use crate::read::sample::{domains, PoolGroup};
use crate::report::view::ServerView;
use hostnet_model::memory::Controller;
use hostnet_model::params::{IdleDrain, MemoryControllerParams, Placement, ServerParams};

/// Keys of `[memory.controller]` that govern writes.
const WRITE_KEYS: [&str; 18] = [
    "wpq.entries",
    "wpq.full_threshold",
    "write_high",
    "write_low",
    "reads_per_mode",
    "reads_few",
    "writes_per_mode",
    "idle_drain",
    "idle_writes",
    "idle_reads",
    "idle_hits",
    "idle_age",
    "idle_flush",
    "spare_writes",
    "spare_rows",
    "write_auto_precharge",
    "forwarding",
    "merging",
];

/// Domain groups of traffic between sockets.
const CROSS_SOCKET_GROUPS: [PoolGroup; 6] = [
    PoolGroup::UpiRequest,
    PoolGroup::UpiWriteBack,
    PoolGroup::UpiData,
    PoolGroup::UpiAnswer,
    PoolGroup::UpiSnoop,
    PoolGroup::ChaUpi,
];

/// Returns true if a key sets a limit or a rule that did not come into play in the window.
pub(super) fn never_met(view: &ServerView, key: &str) -> bool {
    match key {
        _ if key.starts_with("power.governor") => !governor_has_sampled(view),
        _ if nic::never_met(view, key) => true,
        // All keys below limit lines, which a fluid memory does not count.
        _ if has_rates(view) => false,
        "iio.write_credits" => !ran_out_of_credits(view, PoolGroup::P2mWrite),
        "iio.read_credits" => !ran_out_of_credits(view, PoolGroup::P2mRead),
        "core.lfb.entries" => !ran_out_of_credits(view, PoolGroup::Lfb),
        "prefetch.stream_credits" => !ran_out_of_credits(view, PoolGroup::Prefetch),
        "pcie.posted_lines" => !ran_out_of_credits(view, PoolGroup::Posted),
        "pcie.nonposted_lines" => !ran_out_of_credits(view, PoolGroup::NonPosted),
        "pcie.mps" | "pcie.write_overhead" => {
            !uses_domain(view, PoolGroup::P2mWrite) && !uses_domain(view, PoolGroup::P2mRead)
        }
        "pcie.mrrs" | "pcie.read_overhead" | "pcie.completion_overhead" => !uses_domain(view, PoolGroup::P2mRead),
        "cha.tor.write_entries" => !uses_domain(view, PoolGroup::C2mWrite),
        "cha.tor.expander_entries" => !uses_domain(view, PoolGroup::ChaExpander),
        "ssd.queue_depth" => drives_have_room(view.server),
        "expander.read_credits" => !ran_out_of_credits(view, PoolGroup::ExpanderRead),
        "expander.write_credits" => !ran_out_of_credits(view, PoolGroup::ExpanderWrite),
        _ if key.starts_with("upi.") => !CROSS_SOCKET_GROUPS.iter().any(|group| uses_domain(view, *group)),
        _ if key.starts_with("expander.") => !uses_expander(view.server),
        _ => key.strip_prefix("memory.controller.").is_some_and(|key| never_met_in_memory(view, key)),
    }
}

/// Returns true if a governor may have changed a frequency. Its first sample sees no load yet, so it takes two
/// periods.
fn governor_has_sampled(view: &ServerView) -> bool {
    let power = view.server.power.as_ref();
    power.is_none_or(|power| !power.governor.samples() || view.now.ps() >= 2 * power.period_ps)
}

/// Returns true if buffers of any workload may lie behind a CXL link.
fn uses_expander(server: &ServerParams) -> bool {
    server.workloads.iter().any(|workload| workload.memory != Placement::Local)
}

/// Returns true if the memory is fluid: it has no lines that could reach a limit.
fn has_rates(view: &ServerView) -> bool {
    view.machine.fluids().next().is_some()
}

/// Returns true if any domain of a group had all of its credits in use.
fn ran_out_of_credits(view: &ServerView, group: PoolGroup) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.in_use_max() == domain.capacity())
}

/// Returns true if every drive is offered fewer commands than its queue holds.
fn drives_have_room(server: &ServerParams) -> bool {
    let jobs = || server.workloads.iter().filter_map(|workload| workload.kind.fio()).flat_map(|fio| &fio.jobs);
    let offered = |ssd: u32| jobs().filter(|job| job.ssd == ssd).map(|job| u64::from(job.io_depth)).sum::<u64>();
    let least = server.sockets.iter().map(|socket| u64::from(socket.ssd.queue_depth)).min().unwrap_or(0);
    // Strictly fewer, as a queue that just reaches its depth is full.
    jobs().all(|job| offered(job.ssd) < least)
}

/// Returns true if a key of `[memory.controller]` did not come into play in the window.
fn never_met_in_memory(view: &ServerView, key: &str) -> bool {
    let all = view.controllers();
    // Memory behind a CXL link or in other servers has controllers of the same kind, which are not observed here.
    let elsewhere = view.server.sockets.iter().any(|socket| socket.far_memory().is_some() || socket.pool.is_some());
    if all.is_empty() || elsewhere {
        return false;
    }
    let most = ControllerPeaks::of(view, &all);
    let kinds = || view.server.sockets.iter().map(|socket| &socket.memory.controller);
    // If no write was ever queued, no rule for writes can have acted.
    WRITE_KEYS.contains(&key) && most.writes == 0
        || kinds().all(|controller| most.has_no_use(controller, key) || most.is_below(controller, key))
}

/// Peaks and sums over all controllers of a server in the window.
struct ControllerPeaks {
    /// Maximum number of entries in use of any RPQ.
    reads: u32,
    /// Maximum number of entries in use of any WPQ.
    writes: u32,
    /// Longest time that a request was in either queue, in ps.
    age_ps: u64,
    /// Reads served from the WPQ.
    forwarded: u64,
    /// Writes merged with a waiting write to the same line.
    merged: u64,
    /// Shortest DRAM clock of any socket, in ps.
    clock_ps: f64,
}

impl ControllerPeaks {
    fn of(view: &ServerView, all: &[&Controller]) -> Self {
        let most = |queue: fn(&Controller) -> u32| all.iter().copied().map(queue).max().unwrap_or(0);
        let ages = all.iter().flat_map(|controller| [controller.rpq(), controller.wpq()]);
        let ages = ages.flat_map(|queue| queue.classes().iter().map(|class| class.residence().most()));
        let counts: Vec<_> = all.iter().map(|controller| controller.counters(view.now)).collect();
        let clocks = view.server.sockets.iter().map(|socket| &socket.memory.dram);
        let clock_ps = clocks.map(|dram| dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64);
        ControllerPeaks {
            reads: most(|controller| controller.rpq().in_use_max()),
            writes: most(|controller| controller.wpq().in_use_max()),
            age_ps: ages.max().unwrap_or(0),
            forwarded: counts.iter().map(|count| count.forwarded).sum(),
            merged: counts.iter().map(|count| count.merged).sum(),
            clock_ps: clock_ps.fold(f64::INFINITY, f64::min),
        }
    }

    /// Returns true if a key sets a rule that never came into play.
    fn has_no_use(&self, controller: &MemoryControllerParams, key: &str) -> bool {
        let never_high = self.writes < controller.write_high;
        match key {
            "reads_per_mode" | "reads_few" => never_high,
            "write_low" | "writes_per_mode" => never_high && controller.idle_drain != IdleDrain::Mode,
            "spare_rows" => self.writes < controller.spare_writes,
            "forwarding" => controller.forwarding && self.forwarded == 0,
            "merging" => controller.merging && self.merged == 0,
            _ => false,
        }
    }

    /// Returns true if a key sets a limit that was never reached.
    fn is_below(&self, controller: &MemoryControllerParams, key: &str) -> bool {
        // A shared queue is filled by reads and writes together, so neither count tells if it was full.
        let has_room = |in_use: u32, entries: u32| !controller.shared_queue && in_use < entries;
        match key {
            "rpq.entries" => has_room(self.reads, controller.rpq_entries),
            "wpq.entries" => has_room(self.writes, controller.wpq_entries),
            "rpq.full_threshold" => self.reads < controller.rpq_full_threshold,
            "wpq.full_threshold" => self.writes < controller.wpq_full_threshold,
            "write_high" => self.writes < controller.write_high,
            "idle_reads" => self.reads <= controller.idle_reads,
            "idle_hits" => self.reads <= controller.idle_hits,
            "spare_writes" => self.writes < controller.spare_writes,
            "row_hold" => (self.age_ps as f64) < f64::from(controller.row_hold) * self.clock_ps,
            _ => false,
        }
    }
}
