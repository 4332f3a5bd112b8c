//! Work whose instructions are counted: the same kinds of work as in the benchmarks of speed, but shorter.

use crate::network::Dumbbell;
use crate::sample::Work;
use crate::{channel, network, noc, server};

/// Work whose instructions are counted at two lengths, so that what comes before and after it cancels out.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name in the table and in the record.
    pub name: &'static str,
    /// Unit of the work, in the singular.
    pub unit: &'static str,
    /// Two lengths, each in the unit that `work` takes; the first is the shorter one.
    pub lengths: [u64; 2],
    /// Function that does the work of a length.
    pub work: fn(u64) -> Work,
}

/// All cases, in the order of the table. Lengths of servers are in us, of channels in requests, of networks in ms, and
/// of networks on a chip in cycles.
pub const CASES: &[Case] = &[
    Case { name: "C2M-Read, 1 core", unit: "line", lengths: [100, 900], work: server::count_one_core },
    Case { name: "quadrant 3, 6 cores", unit: "line", lengths: [50, 350], work: server::count_quadrant_3 },
    Case { name: "Redis, 8 cores, small caches", unit: "line", lengths: [50, 250], work: server::count_redis },
    Case {
        name: "memory, sequential",
        unit: "request",
        lengths: CHANNEL,
        work: |requests| channel::count(0, requests),
    },
    Case { name: "memory, random", unit: "request", lengths: CHANNEL, work: |requests| channel::count(1, requests) },
    Case {
        name: "memory, 67:33, 60% load",
        unit: "request",
        lengths: CHANNEL,
        work: |requests| channel::count(2, requests),
    },
    Case { name: "memory, 1% load", unit: "request", lengths: CHANNEL, work: |requests| channel::count(3, requests) },
    Case { name: "memory, 50:50", unit: "request", lengths: CHANNEL, work: |requests| channel::count(4, requests) },
    Case { name: "dumbbell, 2 flows", unit: "packet", lengths: [10, 60], work: |ms| dumbbell(2, ms) },
    Case { name: "dumbbell, 64 flows", unit: "packet", lengths: [10, 60], work: |ms| dumbbell(64, ms) },
    Case {
        name: "mesh of 8 x 8, load 0.02",
        unit: "flit-hop",
        lengths: [2_000, 22_000],
        work: |cycles| noc::count(0.02, cycles),
    },
    Case {
        name: "mesh of 8 x 8, load 0.3",
        unit: "flit-hop",
        lengths: [1_000, 3_000],
        work: |cycles| noc::count(0.3, cycles),
    },
];

const CHANNEL: [u64; 2] = [5_000, 45_000];

fn dumbbell(flows: u16, ms: u64) -> Work {
    network::count(&Dumbbell { flows, gbps: 10, mark_packets: 65, buffer_packets: 4096 }, ms)
}
