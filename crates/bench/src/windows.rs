//! Benchmarks partitions in step: the cost of cutting a world, and the gain of threads.

use crate::sample::{interleaved, Sample};
use crate::{peak_bytes, Row, Size};
use hostnet_kernel::{ComponentId, Event, Partition, Rng, Scheduler, Simulation, Time};
use std::time::Instant;

/// Number of hosts, each with its own components; a partition holds one or more hosts.
const HOSTS: u32 = 8;
const COMPONENTS_PER_HOST: u32 = 64;
const PENDING_PER_HOST: u32 = 256;
/// Latency of a link between two hosts, in ps.
const WINDOW_PS: u64 = 500_000;

/// Some of the hosts. Their components send each other events at random; one event in 64 crosses to another host.
struct Hosts {
    rngs: Vec<Rng>,
    hashes: Vec<u64>,
    first_host: u32,
}

impl Hosts {
    fn send(&mut self, source: ComponentId, scheduler: &mut Scheduler<u64>) {
        let host = source.0 / COMPONENTS_PER_HOST;
        let drawn = self.rngs[(host - self.first_host) as usize].next_u64();
        let delay_ps = 700 + (((drawn >> 32) * 199_300) >> 32);
        let component = drawn as u32 % COMPONENTS_PER_HOST;
        let (target_host, latency_ps) =
            // One event in 64 goes to a random host, after a window.
            if drawn >> 8 & 63 == 0 { ((drawn >> 14) as u32 % HOSTS, WINDOW_PS) } else { (host, 0) };
        let target = ComponentId(target_host * COMPONENTS_PER_HOST + component);
        scheduler.send(source, target, delay_ps + latency_ps, drawn);
    }
}

impl Partition for Hosts {
    type Payload = u64;
    type Cargo = ();

    fn on_event(&mut self, event: Event<u64>, scheduler: &mut Scheduler<u64>) {
        let host = event.target.0 / COMPONENTS_PER_HOST - self.first_host;
        let hash = &mut self.hashes[host as usize];
        *hash = (*hash ^ event.time.ps() ^ event.payload).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.send(event.target, scheduler);
    }

    fn unload(&mut self, _: &u64) {}

    fn load(&mut self, _: &mut u64, (): ()) {}
}

/// Benchmarks eight hosts with 256 pending events each and links of 500 ns, as one partition (the reference), as
/// eight partitions on one thread, and as eight partitions on two threads.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, limit) = match size {
        Size::Quick => (1, Time::from_ps(2_000_000)),
        Size::Full => (7, Time::from_ps(60_000_000)),
    };
    let whole = || run(1, 1, limit);
    let cut = || run(HOSTS, 1, limit);
    let threaded = || run(HOSTS, 2, limit);
    let samples = interleaved(repetitions, &[&whole, &cut, &threaded]);
    let row = |index: usize, name: &str| {
        let Sample { seconds, events, pending_max, hash } = samples.typical(index);
        Row {
            benchmark: format!("8 hosts, {name}"),
            events_per_s: events as f64 / seconds,
            lines_per_s: None,
            events_per_line: None,
            pending_max,
            memory_max_bytes: peak_bytes(),
            times_reference: (index > 0).then(|| samples.times_as_fast(index, 0)),
            hash: format!("{hash:016x}"),
        }
    };
    vec![row(0, "1 partition"), row(1, "8 partitions"), row(2, "8 partitions, 2 threads")]
}

fn run(partitions: u32, threads: usize, limit: Time) -> Sample {
    let mut simulation = Simulation::new((0..partitions).map(|index| part(index, partitions)).collect(), WINDOW_PS);
    let start = Instant::now();
    simulation.run_until_parallel(limit, threads);
    let seconds = start.elapsed().as_secs_f64();
    let hash = simulation.worlds().flat_map(|hosts| &hosts.hashes).fold(0, |all: u64, hash| all.rotate_left(7) ^ hash);
    let pending_max = simulation.parts().iter().map(|part| part.1.pending_max() as u64).sum();
    Sample { seconds, events: simulation.progress().events, pending_max, hash }
}

fn part(index: u32, partitions: u32) -> (Hosts, Scheduler<u64>) {
    let count = HOSTS / partitions;
    let first_host = index * count;
    let hosts = first_host..first_host + count;
    let rngs = hosts.clone().map(|host| Rng::new(1, u64::from(host))).collect();
    let mut world = Hosts { rngs, hashes: vec![0; count as usize], first_host };
    let first = ComponentId(first_host * COMPONENTS_PER_HOST);
    let pending = (count * PENDING_PER_HOST) as usize;
    let mut scheduler = Scheduler::new(first, (count * COMPONENTS_PER_HOST) as usize, pending);
    for host in hosts {
        for number in 0..PENDING_PER_HOST {
            let source = ComponentId(host * COMPONENTS_PER_HOST + number % COMPONENTS_PER_HOST);
            world.send(source, &mut scheduler);
        }
    }
    (world, scheduler)
}
