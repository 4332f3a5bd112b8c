//! Finds limits and rules that did not come into play in the measuring window.

use super::{nic, used};
use crate::read::sample::{domains, Group};
use crate::report::view::ServerView;
use hostnet_model::memory::Controller;
use hostnet_model::params::{IdleDrain, MemoryControllerParams, Placement, ServerParams};

/// Keys of `[memory.controller]` that say how writes are served.
const OF_WRITES: [&str; 18] = [
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

/// Domains of what crosses from one socket to another.
const ACROSS: [Group; 6] =
    [Group::UpiRequest, Group::UpiWriteBack, Group::UpiData, Group::UpiAnswer, Group::UpiSnoop, Group::ChaUpi];

/// Returns true if nothing in the window came to the limit or the rule that a key sets.
pub(super) fn never_met(view: &ServerView, key: &str) -> bool {
    match key {
        _ if key.starts_with("power.governor") => !has_looked(view),
        _ if nic::never_met(view, key) => true,
        _ if has_rates(view) => false,
        "iio.write_credits" => !ran_out(view, Group::P2mWrite),
        "iio.read_credits" => !ran_out(view, Group::P2mRead),
        "core.lfb.entries" => !ran_out(view, Group::Lfb),
        "pcie.posted_lines" => !ran_out(view, Group::Posted),
        "pcie.nonposted_lines" => !ran_out(view, Group::NonPosted),
        "pcie.mps" | "pcie.write_overhead" => !used(view, Group::P2mWrite) && !used(view, Group::P2mRead),
        "pcie.mrrs" | "pcie.read_overhead" | "pcie.completion_overhead" => !used(view, Group::P2mRead),
        "cha.tor.write_entries" => !used(view, Group::C2mWrite),
        "ssd.queue_depth" => drives_have_room(view.server),
        _ if key.starts_with("upi.") => !ACROSS.iter().any(|group| used(view, *group)),
        _ if key.starts_with("expander.") => !uses_expander(view.server),
        _ => key.strip_prefix("memory.controller.").is_some_and(|key| never_met_in_memory(view, key)),
    }
}

/// Returns true if a governor may have changed a frequency: its first look finds no load yet, the second one does.
fn has_looked(view: &ServerView) -> bool {
    let power = view.server.power.as_ref();
    power.is_none_or(|power| !power.governor.samples() || view.now.ps() >= 2 * power.period_ps)
}

/// Returns true if buffers of any workload may lie behind a link.
fn uses_expander(server: &ServerParams) -> bool {
    server.workloads.iter().any(|workload| workload.memory != Placement::Local)
}

/// Returns true if a memory has rates, and no lines that could have come to a limit.
fn has_rates(view: &ServerView) -> bool {
    view.machine.fluids().next().is_some()
}

fn ran_out(view: &ServerView, group: Group) -> bool {
    domains(view.machine, group).iter().any(|(_, domain)| domain.in_use_max() == domain.capacity())
}

/// Returns true if no drive is ever offered as many commands as it takes.
fn drives_have_room(server: &ServerParams) -> bool {
    let jobs = || server.workloads.iter().filter_map(|workload| workload.kind.fio()).flat_map(|fio| &fio.jobs);
    let offered = |ssd: u32| jobs().filter(|job| job.ssd == ssd).map(|job| u64::from(job.io_depth)).sum::<u64>();
    let least = server.sockets.iter().map(|socket| u64::from(socket.ssd.queue_depth)).min().unwrap_or(0);
    jobs().all(|job| offered(job.ssd) < least)
}

fn never_met_in_memory(view: &ServerView, key: &str) -> bool {
    let all = view.controllers();
    // What lies behind a link, or in other servers, has controllers of the same kind that are not looked at here.
    let elsewhere = view.server.sockets.iter().any(|socket| socket.far_memory().is_some() || socket.pool.is_some());
    if all.is_empty() || elsewhere {
        return false;
    }
    let most = Most::of(view, &all);
    let kinds = || view.server.sockets.iter().map(|socket| &socket.memory.controller);
    OF_WRITES.contains(&key) && most.writes == 0
        || kinds().all(|controller| most.has_no_use(controller, key) || most.is_below(controller, key))
}

/// Controllers held and did so much at most.
struct Most {
    /// So many entries of the RPQ and of the WPQ were in use.
    reads: u32,
    writes: u32,
    /// No request was longer in either, in ps.
    age_ps: u64,
    forwarded: u64,
    merged: u64,
    clock_ps: f64,
}

impl Most {
    fn of(view: &ServerView, all: &[&Controller]) -> Self {
        let most = |queue: fn(&Controller) -> u32| all.iter().copied().map(queue).max().unwrap_or(0);
        let ages = all.iter().flat_map(|controller| [controller.rpq(), controller.wpq()]);
        let ages = ages.flat_map(|queue| queue.classes().iter().map(|class| class.residence().most()));
        let counts: Vec<_> = all.iter().map(|controller| controller.counters(view.now)).collect();
        let clocks = view.server.sockets.iter().map(|socket| &socket.memory.dram);
        let clock_ps = clocks.map(|dram| dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64);
        Most {
            reads: most(|controller| controller.rpq().in_use_max()),
            writes: most(|controller| controller.wpq().in_use_max()),
            age_ps: ages.max().unwrap_or(0),
            forwarded: counts.iter().map(|count| count.forwarded).sum(),
            merged: counts.iter().map(|count| count.merged).sum(),
            clock_ps: clock_ps.fold(f64::INFINITY, f64::min),
        }
    }

    /// Returns true if a rule never came into play.
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

    /// Returns true if a limit was never met.
    fn is_below(&self, controller: &MemoryControllerParams, key: &str) -> bool {
        // Reads and writes that share a queue fill it together.
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
