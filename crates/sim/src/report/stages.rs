//! Finds the stages on the path of a workload's lines, each at its place, and their load relative to saturation.

use super::channels::line_ps;
use super::occupancy::{expander_bus_load, expander_link_load, full_ps};
use super::pool_sites::PoolSite;
use super::view::ServerView;
use crate::read::crossed::{crossed, UpiTraffic};
use crate::read::sample::{PoolGroup, Sample};
use crate::report::pool_sites::find_pool_sites;
use hostnet_analysis::binding::full_share_estimate;
use hostnet_analysis::evidence::{Load, Stage, OFTEN};
use hostnet_analysis::explain::{Pool, EXPANDER_DRAM, EXPANDER_LINK};
use hostnet_analysis::limits::{CCD, CHANNEL};
use hostnet_measure::Domain;
use hostnet_model::memory::{Channel, Counters};
use hostnet_model::nvme::Ssd;
use hostnet_model::params::{MemoryParams, PcieParams, UpiParams};
use std::ops::Range;

/// Share of a workload's lines that must pass a place for it to be on the path. If fewer pass, the others do not wait
/// for them.
const ON_PATH_SHARE: f64 = 0.05;
/// Share of time that the bus of a saturated channel spends on lines, read-write turnarounds and refreshes. In the
/// rest it waits for rows to open. Random lines with the read queue of the presets reach 87%, sequential ones 97%;
/// below this share, more queue entries still help.
const SATURATED_BUS: f64 = 0.85;
/// Utilization of a saturated link whose bytes are all counted.
const SATURATED_LINK: f64 = 0.95;

/// Pools of requests on the path: their group, their name in reports, and their depth, which counts the steps
/// downstream from the sender.
const REQUEST_POOLS: [(PoolGroup, &str, u8); 15] = [
    (PoolGroup::Prefetch, "L2 prefetch", 0),
    (PoolGroup::Posted, "PCIe posted", 0),
    (PoolGroup::NonPosted, "PCIe non-posted", 0),
    (PoolGroup::IommuWalk, "IOMMU walk", 1),
    (PoolGroup::P2mWrite, "P2M-Write", 1),
    (PoolGroup::P2mRead, "P2M-Read", 1),
    (PoolGroup::Tor, "CHA TOR", 2),
    (PoolGroup::ChaUpi, "CHA->UPI", 3),
    (PoolGroup::ChaExpander, "CHA->CXL", 3),
    (PoolGroup::UpiRequest, "UPI request", 4),
    (PoolGroup::UpiWriteBack, "UPI data", 4),
    (PoolGroup::UpiSnoop, "UPI request", 6),
    (PoolGroup::Rpq, "RPQ", 7),
    (PoolGroup::Wpq, "WPQ", 7),
    (PoolGroup::ExpanderRead, "CXL read", 7),
];

/// Pools of responses, and of writes behind a CXL link, as [`REQUEST_POOLS`] lists those of requests.
const RESPONSE_POOLS: [(PoolGroup, &str, u8); 3] = [
    (PoolGroup::UpiData, "UPI data", 8),
    (PoolGroup::UpiAnswer, "UPI request", 8),
    (PoolGroup::ExpanderWrite, "CXL write", 7),
];

/// Depth of the TOR of a line's home socket, if another socket requested the line.
const HOME_TOR_DEPTH: u8 = 5;

/// Returns the name of the limit that the LFB entries of a workload are: that of its CCDs, where these leave its cores
/// fewer entries than they have.
fn entries_name<'a>(view: &ServerView, class: usize, pool: &'a Pool) -> &'a str {
    let cores = view.server.workloads[class].kind.cores().len() as f64;
    let chiplets = view.server.socket().die.as_ref().and_then(|die| die.chiplets.as_ref());
    let is_shared = chiplets.is_some() && pool.credits < cores * f64::from(view.line_server.socket().core.lfb_entries);
    if is_shared {
        CCD
    } else {
        &pool.domain
    }
}

/// Lists the stages on the path of a workload. `lfb` is its LFB pool, if it runs on cores.
pub(super) fn stages(view: &ServerView, total: &Sample, class: usize, lfb: Option<&Pool>) -> Vec<Stage> {
    let way = WorkloadPath { view, class, lines: lines(view, total, class) };
    let own = |pool: &Pool| Stage::pool(entries_name(view, class, pool), "its cores", 0, pool.full_share);
    let mut stages: Vec<Stage> = lfb.map(own).into_iter().collect();
    for (group, limit, depth) in REQUEST_POOLS.into_iter().chain(RESPONSE_POOLS) {
        stages.extend(way.pools(group, limit, depth));
    }
    stages.extend(way.channels());
    stages.extend(way.links());
    stages.extend(way.iios());
    stages.extend(way.drive_links());
    stages.extend(way.expander(total));
    stages
}

/// Returns the lines of a workload in the window.
fn lines(view: &ServerView, total: &Sample, class: usize) -> f64 {
    total.moved(view.throughput_groups(class), class) as f64
}

/// Path of the lines of a workload.
struct WorkloadPath<'a> {
    view: &'a ServerView<'a>,
    class: usize,
    /// Lines of the workload in the window.
    lines: f64,
}

impl WorkloadPath<'_> {
    /// Returns true if a place that this many lines of the workload pass is on the path.
    fn is_on_path(&self, lines: u64) -> bool {
        lines > 0 && lines as f64 >= ON_PATH_SHARE * self.lines
    }

    /// Returns the credits of a domain that the workload acquired.
    fn taken(&self, domain: &Domain) -> u64 {
        domain.classes().get(self.class).map_or(0, |usage| usage.acquired())
    }

    /// Returns the pools of a group, one per place: the fullest that the workload uses.
    fn pools(&self, group: PoolGroup, limit: &str, depth: u8) -> Vec<Stage> {
        let full = full_ps(group);
        let at = |place: PoolSite| {
            let mine = || place.pools.iter().filter(|pool| self.uses(group, pool));
            let count: u64 = mine().map(|pool| self.lines_in(group, pool)).sum();
            let fullest = mine().map(|pool| full(pool)).max()?;
            let depth = if group == PoolGroup::Tor && !self.is_own(place.socket) { HOME_TOR_DEPTH } else { depth };
            // A slice can be full while the sum over all slices never is, so the estimate counts as well.
            let share = (fullest as f64 / self.view.window_ps()).max(self.often_full(group, &place));
            self.is_on_path(count).then(|| Stage::pool(limit, place.name, depth, share))
        };
        find_pool_sites(self.view, group).into_iter().filter_map(at).collect()
    }

    /// Estimates from the mean occupancy how often the slices of a socket have no TOR entry left, as a share of time;
    /// 0 for other groups. All slices together are rarely full at the same time. `CHA->UPI` and `CHA->CXL` count only
    /// the entries that lines of other sockets, or behind a link, may hold.
    fn often_full(&self, group: PoolGroup, place: &PoolSite) -> f64 {
        let Some(socket) = place.socket.map(|number| &self.view.server.sockets[number]) else { return 0.0 };
        let entries = match group {
            PoolGroup::Tor => Some(socket.cha.tor_entries),
            PoolGroup::ChaUpi => self.view.server.upi.as_ref().map(|sockets| sockets.tor_entries),
            PoolGroup::ChaExpander => socket.cha.tor_expander_entries,
            _ => None,
        };
        let Some(entries) = entries else { return 0.0 };
        let in_use = place.sum(Domain::area_ps) / self.view.window_ps();
        full_share_estimate(in_use, f64::from(socket.cha.slices * entries))
    }

    fn uses(&self, group: PoolGroup, pool: &Domain) -> bool {
        self.lines_in(group, pool) > 0
    }

    /// Returns the lines of the workload that a pool of a group admitted.
    fn lines_in(&self, group: PoolGroup, pool: &Domain) -> u64 {
        group.usages(pool, Some(self.class)).map(|usage| usage.acquired()).sum()
    }

    /// Returns true if cores or devices of the workload are on a socket.
    fn is_own(&self, socket: Option<usize>) -> bool {
        let own = [PoolGroup::Lfb, PoolGroup::P2mWrite, PoolGroup::P2mRead];
        let here = |place: &PoolSite| place.socket == socket && place.pools.iter().any(|pool| self.taken(pool) > 0);
        own.into_iter().any(|group| find_pool_sites(self.view, group).iter().any(here))
    }

    /// Returns the busiest channel of each socket that the workload uses.
    fn channels(&self) -> Vec<Stage> {
        let counters: Vec<Counters> =
            self.view.machine.each::<Channel>().map(|channel| channel.controller().counters(self.view.now)).collect();
        let own = |channel: &Counters| channel.reads[self.class] + channel.writes[self.class];
        let busiest = |(socket, (memory, channels)): (usize, (&MemoryParams, Range<usize>))| {
            // A host with a fluid memory has no channels.
            let here = counters.get(channels.clone())?;
            let mine: u64 = here.iter().map(own).sum();
            let used = |channel: &Counters| bus_busy_ps(memory, channel) / self.view.window_ps();
            let busy = here.iter().enumerate().filter(|(_, channel)| own(channel) > 0);
            let (number, most) = busy.map(|(at, channel)| (at, used(channel))).max_by(|a, b| a.1.total_cmp(&b.1))?;
            let place = format!("channel {}", channels.start + number);
            let held = self.is_on_path(mine) && self.waits_for_dram(memory, &format!("socket {socket}"));
            held.then(|| Stage::rate(CHANNEL, place, most, SATURATED_BUS))
        };
        self.view.memories().enumerate().filter_map(busiest).collect()
    }

    /// Returns true if the workload waits for a busy channel at a place. Reads always wait for DRAM. Device writes
    /// wait only if the write queue is often full.
    fn waits_for_dram(&self, memory: &MemoryParams, place: &str) -> bool {
        let read: u64 = find_pool_sites(self.view, PoolGroup::P2mRead)
            .iter()
            .flat_map(|of| &of.pools)
            .map(|pool| self.taken(pool))
            .sum();
        if !self.view.server.workloads[self.class].kind.is_of_devices() || self.is_on_path(read) {
            return true;
        }
        // With a shared queue, writes wait for entries of the RPQ.
        let shared = memory.controller.shared_queue.then_some(PoolGroup::Rpq);
        let queues = shared.into_iter().chain([PoolGroup::Wpq]).flat_map(|group| self.pools(group, group.name(), 0));
        let is_full = |stage: Stage| matches!(stage.load, Load::Pool { full, .. } if full >= OFTEN);
        queues.filter(|queue| queue.place == place).any(is_full)
    }

    /// Returns the directions between sockets that the workload uses.
    fn links(&self) -> Vec<Stage> {
        let Some(sockets) = &self.view.server.upi else { return self.remote_links() };
        let used = |way: &UpiTraffic| {
            let share = upi_load(&sockets.upi, way.lines, way.others, self.view.window_ps());
            Stage::rate("UPI link", format!("upi {}-{}", way.from, way.to), share, SATURATED_LINK)
        };
        let ways = crossed(self.view.machine, self.view.server.sockets.len());
        let mine = |way: &&UpiTraffic| {
            let [asks, answers] =
                [(way.from, way.to), (way.to, way.from)].map(|(one, other)| format!("upi {one}-{other}"));
            let sends = |groups: &[PoolGroup], name: &str| {
                groups.iter().any(|&group| self.is_on_path(self.taken_at(group, name)))
            };
            sends(&[PoolGroup::UpiRequest, PoolGroup::UpiWriteBack, PoolGroup::UpiSnoop], &asks)
                || sends(&[PoolGroup::UpiData, PoolGroup::UpiAnswer], &answers)
        };
        ways.iter().filter(mine).map(used).collect()
    }

    /// Returns the lines of the workload that the pools of a group admitted at a place.
    fn taken_at(&self, group: PoolGroup, name: &str) -> u64 {
        let pool_sites = find_pool_sites(self.view, group);
        pool_sites
            .iter()
            .filter(|place| place.name == name)
            .flat_map(|place| &place.pools)
            .map(|pool| self.taken(pool))
            .sum()
    }

    /// Returns the UPI links of cores on sockets that the configuration does not describe. Writes send lines to the
    /// home socket, and reads fetch lines from it.
    fn remote_links(&self) -> Vec<Stage> {
        let Some(remote) = &self.view.server.socket().remote else { return Vec::new() };
        let all = |group: PoolGroup| -> Vec<(String, u64, u64)> {
            let sum = |place: &PoolSite, pick: &dyn Fn(&Domain) -> u64| place.pools.iter().map(|pool| pick(pool)).sum();
            let of = |place: PoolSite| {
                let everyone = |pool: &Domain| pool.classes().iter().map(|usage| usage.acquired()).sum();
                (place.name.clone(), sum(&place, &everyone), sum(&place, &|pool| self.taken(pool)))
            };
            find_pool_sites(self.view, group).into_iter().map(of).collect()
        };
        let directions = [(PoolGroup::UpiWriteBack, PoolGroup::UpiRequest), (PoolGroup::UpiData, PoolGroup::UpiAnswer)];
        let used = |(with_data, without): (PoolGroup, PoolGroup)| {
            let pairs = all(with_data).into_iter().zip(all(without));
            pairs
                .filter(|(data, other)| self.is_on_path(data.2 + other.2))
                .map(|((name, lines, _), (_, others, _))| {
                    Stage::rate(
                        "UPI link",
                        name,
                        upi_load(&remote.upi, lines, others, self.view.window_ps()),
                        SATURATED_LINK,
                    )
                })
                .collect::<Vec<_>>()
        };
        directions.into_iter().flat_map(used).collect()
    }

    /// Returns the line rate of the IIO of each socket, in either direction.
    fn iios(&self) -> Vec<Stage> {
        let of = |group: PoolGroup| {
            find_pool_sites(self.view, group)
                .into_iter()
                .filter_map(|place| {
                    let socket = &self.view.server.sockets[place.socket?];
                    let lines: u64 =
                        place.pools.iter().flat_map(|pool| pool.classes()).map(|usage| usage.acquired()).sum();
                    let mine: u64 = place.pools.iter().map(|pool| self.taken(pool)).sum();
                    let used = (lines * socket.iio.line_ps) as f64 / self.view.window_ps();
                    self.is_on_path(mine).then(|| Stage::rate("IIO line", place.name.clone(), used, SATURATED_LINK))
                })
                .collect::<Vec<_>>()
        };
        [PoolGroup::P2mWrite, PoolGroup::P2mRead].into_iter().flat_map(of).collect()
    }

    /// Returns the PCIe link of each drive, in its busier direction.
    fn drive_links(&self) -> Vec<Stage> {
        let drives = self.view.server.sockets.iter().flat_map(|socket| (0..socket.ssd.count).map(|_| &socket.pcie));
        let drives = self.view.machine.each::<Ssd>().zip(drives).enumerate();
        let used = |(number, (drive, pcie)): (usize, (&Ssd, &PcieParams))| {
            let (mut posted, mut asked, mut mine) = (0, 0, 0);
            hostnet_model::Part::pools(drive, &mut |pool| {
                let lines: u64 = pool.domain.classes().iter().map(|usage| usage.acquired()).sum();
                mine += self.taken(pool.domain);
                match pool.group {
                    PoolGroup::Posted => posted += lines,
                    PoolGroup::NonPosted => asked += lines,
                    _ => {}
                }
            });
            let share = drive_link_busy_ps(pcie, posted as f64, asked as f64) / self.view.window_ps();
            self.is_on_path(mine).then(|| Stage::rate("PCIe link", format!("ssd {number}"), share, SATURATED_LINK))
        };
        drives.filter_map(used).collect()
    }

    /// Returns the DRAM and the link of memory behind a CXL link, if the workload uses them.
    fn expander(&self, total: &Sample) -> Vec<Stage> {
        let Some(expander) = &self.view.server.socket().expander else { return Vec::new() };
        let lines = [PoolGroup::ExpanderRead, PoolGroup::ExpanderWrite].map(|group| total.of(group, self.class).lines);
        if !self.is_on_path(lines.iter().sum()) {
            return Vec::new();
        }
        vec![
            Stage::rate(EXPANDER_DRAM, "the expander", expander_bus_load(self.view), SATURATED_BUS),
            Stage::rate(EXPANDER_LINK, "the expander", expander_link_load(self.view, total, expander), SATURATED_LINK),
        ]
    }
}

/// Returns the time that the bus of a channel spends on lines, turnarounds and refreshes, in ps.
fn bus_busy_ps(memory: &MemoryParams, channel: &Counters) -> f64 {
    let dram = &memory.dram;
    let clock_ps = dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64;
    let lines: u64 = channel.reads.iter().chain(&channel.writes).sum();
    // The turnarounds to writes and back: a write waits for the bus to turn, a read for tWTR of its rank and for CL.
    // Writes outside of write mode are issued while no read waits, so their turnarounds cost nothing.
    let mode_clocks = f64::from(dram.timing.read_to_write + dram.timing.wtr_s + dram.timing.cl);
    // While one rank is refreshed, the others go on.
    let refresh_clocks = f64::from(dram.timing.rfc) / f64::from(dram.ranks);
    let idle_clocks = channel.write_modes as f64 * mode_clocks + channel.refreshes as f64 * refresh_clocks;
    (lines - channel.forwarded - channel.merged) as f64 * line_ps(memory) + idle_clocks * clock_ps
}

/// Returns the share of time that a direction between two sockets is busy.
fn upi_load(upi: &UpiParams, lines: u64, others: u64, window_ps: f64) -> f64 {
    let bytes = lines * u64::from(upi.data_bytes) + others * u64::from(upi.request_bytes);
    bytes as f64 / upi.bytes_per_s as f64 * 1e12 / window_ps
}

/// Returns the time that a drive's link is busy in its busier direction, in ps. `posted` and `asked` are the lines
/// that the drive writes to memory and reads from there.
fn drive_link_busy_ps(pcie: &PcieParams, posted: f64, asked: f64) -> f64 {
    let bytes = |lines: f64, payload: u32, overhead: u32| {
        lines * 64.0 * (f64::from(payload) + f64::from(overhead)) / f64::from(payload)
    };
    // Requests for reads travel up the link, beside the data of writes.
    let requests = asked * 64.0 * f64::from(pcie.read_overhead_bytes) / f64::from(pcie.mrrs_bytes);
    let up = bytes(posted, pcie.mps_bytes, pcie.write_overhead_bytes) + requests;
    let down = bytes(asked, pcie.mps_bytes.min(pcie.mrrs_bytes), pcie.completion_overhead_bytes);
    // DLLPs take a share of the raw rate, in units of 2^-16.
    let most = pcie.bytes_per_s as f64 * (1.0 - f64::from(pcie.dllp_share) / 65_536.0);
    up.max(down) / most * 1e12
}
