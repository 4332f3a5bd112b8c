//! Benchmarks of a network on a chip, 8 by 8 under uniform traffic: flit-hops per second of processor time.
//!
//! A flit-hop is a flit that a router sends on. Each port has four virtual channels of eight flits, and routes are
//! dimension-ordered.

use crate::sample::{interleaved, Sample, Work};
use crate::server::Clock;
use crate::{peak_bytes, Row, Size};
use hostnet_kernel::mix;
use hostnet_noc::{
    Allocation, Class, Measure, Order, Params, Pattern, Report, Reuse, Router, Run, Shape, Source, Traffic,
};

/// Offered load in flits per terminal and cycle: nearly idle, light, half of the saturation load, and above
/// saturation.
const RATES: [f64; 4] = [0.02, 0.1, 0.3, 0.5];
/// Number of cycles between two samples of the packets in flight.
const CHUNK: u64 = 100;

/// Parameters of the network.
fn params() -> Params {
    Params {
        shape: Shape::Mesh { columns: 8, rows: 8 },
        router: Router {
            vc_flits: 8,
            allocation: Allocation::Speculative,
            reuse: Reuse::TailSent,
            switch_cycles: 1,
            link_cycles: 1,
            credit_cycles: 3,
        },
        classes: vec![Class { name: "packets".to_owned(), order: Order::Xy, vcs: 4 }],
    }
}

/// Benchmarks packets of one and of five flits at several loads.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let cases = [1, 5].into_iter().flat_map(|flits| RATES.map(|rate| (flits, rate)));
    cases.map(|(flits, rate)| row(size, flits, rate)).collect()
}

fn row(size: Size, packet_flits: u16, rate: f64) -> Row {
    let (repetitions, flits) = if size == Size::Quick { (1, 2_000.0) } else { (5, 1_000_000.0) };
    // Each of the 64 nodes offers `rate` flits per cycle.
    let cycles = (flits / (64.0 * rate)) as u64;
    let sample = interleaved(repetitions, &[&|| measure(packet_flits, rate, cycles)]).typical(0);
    let plural = if packet_flits == 1 { "flit" } else { "flits" };
    Row {
        benchmark: format!("mesh of 8 x 8, packets of {packet_flits} {plural}, load {rate}: flit-hops"),
        events_per_s: sample.events as f64 / sample.seconds,
        lines_per_s: None,
        events_per_line: None,
        pending_max: sample.pending_max,
        memory_max_bytes: peak_bytes(),
        times_reference: None,
        hash: format!("{:016x}", sample.hash),
    }
}

/// Runs packets of five flits at a load of `rate` for `cycles` cycles, in flit-hops.
pub(crate) fn count(rate: f64, cycles: u64) -> Work {
    let sample = measure(5, rate, cycles);
    Work { units: sample.events, hash: sample.hash }
}

/// Measures one run with a warm-up of an eighth of its length. The pending count is that of packets offered but not
/// arrived.
fn measure(packet_flits: u16, rate: f64, cycles: u64) -> Sample {
    let measure = Measure { warmup: cycles / 8, measure: cycles, drain: cycles / 8 };
    let traffic = Traffic { pattern: Pattern::Uniform, rate, packet_flits, seed: 1 };
    let mut run = Run::new(&params(), Source::Generated(traffic), 1, measure).expect("the network can be built");
    let mut pending_max = 0;
    let clock = Clock::start();
    let mut more = true;
    while more {
        more = run.advance(CHUNK);
        pending_max = pending_max.max(run.status().in_flight);
    }
    let seconds = clock.seconds();
    let report = run.report();
    Sample { seconds, events: report.flit_hops, pending_max, hash: hash(&report) }
}

/// Returns a hash of the counters of a run.
fn hash(report: &Report) -> u64 {
    let (latency, inside) = (&report.latency, &report.network_latency);
    let counts =
        [report.packets, report.arrived, report.all_cycles, report.flit_hops, report.backlog.0, report.backlog.1];
    let times = [latency.sum() as u64, latency.most(), inside.sum() as u64, inside.most()];
    let links = report.links.iter().map(|link| link.flits);
    counts.into_iter().chain(times).chain(links).fold(0, |hash, value| mix(hash) ^ value)
}
