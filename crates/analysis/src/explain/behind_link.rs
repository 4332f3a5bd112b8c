//! Finds the limit of a workload whose lines lie behind a link or in a memory pool.
//!
//! Predictions do not cover such workloads. Each stage on the path (data buses of the device, link, credits at the
//! unloaded latency of a line) has a largest throughput, and its utilization shows how near the stage is to that. A
//! pool whose credits are all in use because of a slow stage behind it has a low utilization in this sense. The stage
//! with the highest utilization is named if it is near its limit and no other stage is about as near.

use crate::pool::Pool;

/// Largest share of time that the data buses of a device can move lines: the rest is refresh and read-write
/// turnarounds.
const BUSES_MOST: f64 = 0.92;
/// Utilization at or above which a stage is the limit.
const NEAR: f64 = 0.85;
/// Utilization at or above which a CXL link or a network port is the limit. All of its bytes are counted, so it can
/// reach 1. At 90 % its senders are still short of requests in flight: a wider link gained 3 %, more LFB entries 9 %.
pub const WIRE_NEAR: f64 = 0.97;
/// Largest utilization of the second stage, as a share of that of the first, for which the first is named.
const ALONE: f64 = 0.9;
/// Least share of the lines of a workload behind the link for which its other lines can be neglected.
const NEARLY_ALL: f64 = 0.99;

/// Name of the DRAM behind a link in answers.
pub const EXPANDER_DRAM: &str = "CXL DRAM";
/// Name of the link in answers.
pub const EXPANDER_LINK: &str = "CXL link";
/// Name in answers of the port through which a server reaches a memory pool.
pub const POOL_PORT: &str = "pool port";

/// A stage on the path with a largest throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStage {
    /// Name of the stage in answers, or `None` if they do not name it.
    pub name: Option<&'static str>,
    /// Share in use of the largest throughput.
    pub used: f64,
    /// Value of `used` at or above which the stage counts as near its limit.
    pub near: f64,
}

impl LinkStage {
    /// Returns the DRAM and the link of memory behind a link, from the share of time in which its data buses move
    /// lines, and the share in which the busier direction of the link sends.
    #[must_use]
    pub fn behind_link(buses_busy: f64, link_busy: f64) -> Vec<Self> {
        let of = |name, used, near| Self { name: Some(name), used, near };
        vec![of(EXPANDER_DRAM, buses_busy / BUSES_MOST, NEAR), of(EXPANDER_LINK, link_busy, WIRE_NEAR)]
    }
}

/// The path behind a link, for one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct BehindLink {
    /// Unloaded round-trip latency from the CHA to the memory behind the link, in ns, averaged over the lines that the
    /// workload waits for.
    pub ns: f64,
    /// Unloaded latency of the path to local memory that these lines save, in ns, on the same average.
    pub saved_ns: f64,
    /// Share of the workload's lines that lie behind the link, 0 to 1.
    pub share: f64,
    /// Stages with a largest throughput, other than the pools of credits.
    pub things: Vec<LinkStage>,
    /// Pools of read and of write credits of the link.
    pub credits: Vec<Pool>,
    /// Unloaded time that a credit of each pool is held, in ns.
    pub unloaded_ns: Vec<f64>,
}

impl BehindLink {
    /// Returns the name of the limit of the workload, if it is known.
    ///
    /// `lfb` are its line fill buffers, with the unloaded time from the allocation of an entry until it can be
    /// allocated again, in ns.
    pub(super) fn limit(&self, lfb: Option<(&Pool, f64)>) -> Option<String> {
        let pools = self.credits.iter().zip(self.unloaded_ns.iter().copied());
        let pools = pools.chain(lfb).map(|(pool, ns)| (Some(pool.domain.as_str()), used(pool, ns), NEAR));
        let things = self.things.iter().map(|thing| (thing.name, thing.used, thing.near));
        let mut used: Vec<(Option<&str>, f64, f64)> = things.chain(pools).collect();
        used.sort_by(|one, other| other.1.total_cmp(&one.1));
        let [(name, most, near), (_, second, _), ..] = used[..] else { return None };
        // Over 400 random servers, doubling a limit named by this rule gained more than 2 %.
        let alone = most >= near && second <= ALONE * most;
        // Lines on another path are held back by stages that are not in this list.
        name.filter(|_| alone && self.share >= NEARLY_ALL).map(str::to_owned)
    }
}

/// Utilization of a pool: its throughput over the largest one that its credits allow at the unloaded latency.
fn used(pool: &Pool, unloaded_ns: f64) -> f64 {
    // Little's law: the throughput is in_use / ns, the largest one credits / unloaded_ns.
    pool.latency_ns.map_or(0.0, |ns| pool.in_use / pool.credits.max(1.0) * unloaded_ns / ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(domain: &str, share: f64, latency_ns: f64) -> Pool {
        let (credits, in_use) = (10.0, 10.0 * share);
        Pool {
            domain: domain.to_owned(),
            credits,
            in_use,
            full_share: 0.0,
            latency_ns: Some(latency_ns),
            gb_per_s: 1.0,
            place: None,
            prefetched: false,
        }
    }

    fn way(buses_busy: f64, link_busy: f64, read: Pool) -> BehindLink {
        let things = LinkStage::behind_link(buses_busy, link_busy);
        BehindLink { ns: 100.0, saved_ns: 0.0, share: 1.0, things, credits: vec![read], unloaded_ns: vec![100.0] }
    }

    #[test]
    fn the_nearest_is_named_if_it_is_near_and_alone() {
        let limit = |way: BehindLink, lfb: &Pool| way.limit(Some((lfb, 180.0)));
        let named = |name: &str| Some(name.to_owned());
        let read = |share, ns| pool("CXL read", share, ns);
        let waiting = pool("C2M-Read", 1.0, 300.0);
        assert_eq!(limit(way(0.9, 0.5, read(1.0, 200.0)), &waiting), named(EXPANDER_DRAM));
        assert_eq!(limit(way(0.8, 0.99, read(1.0, 200.0)), &waiting), named(EXPANDER_LINK));
        assert_eq!(limit(way(0.9, 0.98, read(1.0, 200.0)), &waiting), None, "two are as near");
        assert_eq!(limit(way(0.7, 0.9, read(1.0, 200.0)), &waiting), None, "some of the link is left");
        assert_eq!(limit(way(0.7, 0.8, read(1.0, 105.0)), &waiting), named("CXL read"));
        assert_eq!(limit(way(0.7, 0.8, read(1.0, 150.0)), &waiting), None, "something has no name");
        assert_eq!(limit(way(0.3, 0.3, read(0.4, 100.0)), &pool("C2M-Read", 0.9, 182.0)), named("C2M-Read"));
        let port = |used| LinkStage { name: Some(POOL_PORT), used, near: WIRE_NEAR };
        let pool = |things| BehindLink { things, ..way(0.0, 0.0, read(0.4, 100.0)) };
        let lenders = LinkStage { name: None, used: 0.99, near: WIRE_NEAR };
        assert_eq!(limit(pool(vec![port(0.99)]), &waiting), named(POOL_PORT));
        assert_eq!(limit(pool(vec![port(0.95)]), &waiting), None, "some of it is left");
        assert_eq!(limit(pool(vec![port(0.5), lenders]), &waiting), None, "it has no name");
        let half = BehindLink { share: 0.5, ..way(0.9, 0.5, read(1.0, 200.0)) };
        assert_eq!(limit(half, &waiting), None);
    }
}
