//! Finds the limit of a workload whose lines lie behind a link, or in a pool of memory.
//!
//! Predictions do not cover it. Each thing on the way lets so much through at most: the data buses of the device, the
//! link, credits at the latency that lines have without load. What is used of that tells how near each is to its limit;
//! a pool whose credits are all out because something behind it is slow is far from its own. The nearest is named if it
//! is near enough, and alone.

use super::facts::Pool;

/// Share of time that the data buses of a device move lines at most: the rest is refresh, and turns between reads and
/// writes.
const BUSES_MOST: f64 = 0.92;
/// Share of what it lets through from which on something is the limit.
const NEAR: f64 = 0.85;
/// Utilization from which on a CXL link or a port of a network is the limit. All of its bytes are counted, so it can be
/// full; at 90 % what keeps it busy is still short of requests in flight.
pub const WIRE_NEAR: f64 = 0.97;
/// Share of that up to which what is second nearest leaves room for more.
const ALONE: f64 = 0.9;
/// Share of the lines of a workload that must lie there for the rest not to count.
const NEARLY_ALL: f64 = 0.99;

/// What answers call the DRAM behind a link, and the link.
pub const FAR_DRAM: &str = "CXL DRAM";
/// See [`FAR_DRAM`].
pub const FAR_LINK: &str = "CXL link";
/// What answers call the port by which a server reaches a pool of memory.
pub const POOL_PORT: &str = "pool port";

/// Something on the way that lets so much through at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// What answers call it; nothing if they do not name it.
    pub name: Option<&'static str>,
    /// What is used of what it lets through.
    pub used: f64,
    /// From which share of that on it is the limit.
    pub near: f64,
}

impl Busy {
    /// The device and the link of memory behind a link: shares of time that the data buses move lines, and that the
    /// busier direction of the link sends.
    #[must_use]
    pub fn behind_link(buses_busy: f64, link_busy: f64) -> Vec<Self> {
        let of = |name, used, near| Self { name: Some(name), used, near };
        vec![of(FAR_DRAM, buses_busy / BUSES_MOST, NEAR), of(FAR_LINK, link_busy, WIRE_NEAR)]
    }
}

/// What is known of the way behind a link.
#[derive(Clone, Debug, PartialEq)]
pub struct BehindLink {
    /// Latency of the path from the CHA to memory behind the link and back without load, in ns, on average over the
    /// lines that are waited for.
    pub ns: f64,
    /// Latency of the path to the memory of the socket that these lines save, in ns, on the same average.
    pub saved_ns: f64,
    /// Share of its lines that lie there.
    pub share: f64,
    /// What lets so much through at most, but for the pools.
    pub things: Vec<Busy>,
    /// The pools of credits of reads and of writes there.
    pub credits: Vec<Pool>,
    /// What a credit of each is held for without load, in ns.
    pub unloaded_ns: Vec<f64>,
}

impl BehindLink {
    /// The name of what limits a workload whose line fill buffers are `lfb`, an entry of which can be used again
    /// `unloaded_ns` later without load; nothing if it is not known.
    pub(super) fn limit(&self, lfb: Option<(&Pool, f64)>) -> Option<String> {
        let pools = self.credits.iter().zip(self.unloaded_ns.iter().copied());
        let pools = pools.chain(lfb).map(|(pool, ns)| (Some(pool.domain.as_str()), used(pool, ns), NEAR));
        let things = self.things.iter().map(|thing| (thing.name, thing.used, thing.near));
        let mut used: Vec<(Option<&str>, f64, f64)> = things.chain(pools).collect();
        used.sort_by(|one, other| other.1.total_cmp(&one.1));
        let [(name, most, near), (_, second, _), ..] = used[..] else { return None };
        let alone = most >= near && second <= ALONE * most;
        name.filter(|_| alone && self.share >= NEARLY_ALL).map(str::to_owned)
    }
}

/// What is used of what a pool lets through at the latency without load.
fn used(pool: &Pool, unloaded_ns: f64) -> f64 {
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
        }
    }

    fn way(buses_busy: f64, link_busy: f64, read: Pool) -> BehindLink {
        let things = Busy::behind_link(buses_busy, link_busy);
        BehindLink { ns: 100.0, saved_ns: 0.0, share: 1.0, things, credits: vec![read], unloaded_ns: vec![100.0] }
    }

    #[test]
    fn the_nearest_is_named_if_it_is_near_and_alone() {
        let limit = |way: BehindLink, lfb: &Pool| way.limit(Some((lfb, 180.0)));
        let named = |name: &str| Some(name.to_owned());
        let read = |share, ns| pool("CXL read", share, ns);
        let waiting = pool("C2M-Read", 1.0, 300.0);
        assert_eq!(limit(way(0.9, 0.5, read(1.0, 200.0)), &waiting), named(FAR_DRAM));
        assert_eq!(limit(way(0.8, 0.99, read(1.0, 200.0)), &waiting), named(FAR_LINK));
        assert_eq!(limit(way(0.9, 0.98, read(1.0, 200.0)), &waiting), None, "two are as near");
        assert_eq!(limit(way(0.7, 0.9, read(1.0, 200.0)), &waiting), None, "some of the link is left");
        assert_eq!(limit(way(0.7, 0.8, read(1.0, 105.0)), &waiting), named("CXL read"));
        assert_eq!(limit(way(0.7, 0.8, read(1.0, 150.0)), &waiting), None, "something has no name");
        assert_eq!(limit(way(0.3, 0.3, read(0.4, 100.0)), &pool("C2M-Read", 0.9, 182.0)), named("C2M-Read"));
        let port = |used| Busy { name: Some(POOL_PORT), used, near: WIRE_NEAR };
        let pool = |things| BehindLink { things, ..way(0.0, 0.0, read(0.4, 100.0)) };
        let lenders = Busy { name: None, used: 0.99, near: WIRE_NEAR };
        assert_eq!(limit(pool(vec![port(0.99)]), &waiting), named(POOL_PORT));
        assert_eq!(limit(pool(vec![port(0.95)]), &waiting), None, "some of it is left");
        assert_eq!(limit(pool(vec![port(0.5), lenders]), &waiting), None, "it has no name");
        let half = BehindLink { share: 0.5, ..way(0.9, 0.5, read(1.0, 200.0)) };
        assert_eq!(limit(half, &waiting), None);
    }
}
