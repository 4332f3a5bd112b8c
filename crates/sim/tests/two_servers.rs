//! Two servers joined by a link: the same for any number of threads and across a checkpoint, and bounded by the link.

mod common;

use common::{hash, plan, us};
use hostnet_kernel::{checkpoint, Rng, Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::link::{LinkParams, Receiver, Sender};
use hostnet_model::params::ServerParams;
use hostnet_model::{Component, Machine};
use hostnet_sim::build;

const LINK: LinkParams =
    LinkParams { latency_ps: 500_000, bytes_per_s: 5_000_000_000, window_lines: 192, buffer_bytes: 1 << 20 };

/// A small server with a stream of its own.
fn server(seed: u64, cores: &str, overrides: &[&str]) -> ServerParams {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\n[ssd]\ncount = 1\n\
         [workload.stream]\nkind = \"stream\"\ncores = \"{cores}\"\nreads = 0.5\nworking_set = \"8 MiB\"\n\
         [run]\nseed = {seed}\n"
    );
    plan(&text, overrides).server
}

fn world(seed: u64, link: &LinkParams) -> Simulation<Machine> {
    let first = server(seed, "0-1", &[]);
    let second = server(seed + 1000, "0-2", &["memory.channels=1", "pcie.mps=128 B"]);
    build::two_servers(&first, &second, link)
}

fn sender(simulation: &Simulation<Machine>) -> &Sender {
    let mut ends = simulation.worlds().flat_map(|machine| machine.components());
    ends.find_map(|part| if let Component::Sender(end) = part { Some(&**end) } else { None }).expect("a sending end")
}

fn receiver(simulation: &Simulation<Machine>) -> &Receiver {
    let mut ends = simulation.worlds().flat_map(|machine| machine.components());
    ends.find_map(|part| if let Component::Receiver(end) = part { Some(&**end) } else { None })
        .expect("a receiving end")
}

/// Everything that the window counts: lines asked of memory, on the link, at the receiver, or free again and on their way.
fn assert_window_covers_all(simulation: &Simulation<Machine>) {
    let (sender, receiver) = (sender(simulation), receiver(simulation));
    let on_the_link = sender.sent_lines() - receiver.received_lines();
    let at_the_receiver = receiver.received_lines() - receiver.written_lines();
    let known = u64::from(sender.nonposted().in_use()) + on_the_link + at_the_receiver;
    assert!(known <= u64::from(sender.window().in_use()), "{known} lines on their way, {:?}", sender.window().in_use());
    assert!(u64::from(receiver.posted().in_use()) <= at_the_receiver);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let end = us(60);
    for seed in 1..=3 {
        let mut plain = world(seed, &LINK);
        plain.run_until(end, |_| true);
        assert!(receiver(&plain).written_lines() > 0, "something crossed the link");
        for threads in 1..=3 {
            let mut parallel = world(seed, &LINK);
            parallel.run_until_parallel(end, threads);
            assert_eq!(hash(parallel.worlds()), hash(plain.worlds()), "seed {seed}, {threads} threads");
            assert_eq!(parallel.progress(), plain.progress());
        }
    }
    assert_ne!(hash(world(1, &LINK).worlds()), hash(world(2, &LINK).worlds()), "a seed matters");
}

#[test]
fn a_checkpoint_at_any_time_changes_nothing() {
    let end = us(60);
    for seed in 1..=3 {
        let mut plain = world(seed, &LINK);
        plain.run_until(end, |_| true);
        let cut = Time::from_ps(1 + Rng::new(seed, 77).below(end.ps() - 1));
        let mut first = world(seed, &LINK);
        first.run_until_parallel(cut, 2);
        assert_window_covers_all(&first);
        let bytes = checkpoint::write("cluster", &first).expect("a world can be written");
        let mut second: Simulation<Machine> = checkpoint::read("cluster", &bytes).expect("what was written");
        second.run_until_parallel(end, 1 + seed as usize % 2);
        assert_eq!(hash(second.worlds()), hash(plain.worlds()), "seed {seed}, checkpoint at {} ps", cut.ps());
    }
}

#[test]
fn what_is_sent_arrives() {
    let mut simulation = world(7, &LINK);
    for step in 1..=20 {
        simulation.run_until(Time::from_ps(step * 3_333_333), |_| true);
        assert_window_covers_all(&simulation);
    }
    for (machine, _) in simulation.parts_mut() {
        machine.stop_sources();
    }
    simulation.run_until(us(120), |_| true);
    let (sender, receiver) = (sender(&simulation), receiver(&simulation));
    assert!(sender.sent_lines() > 1000, "{} lines", sender.sent_lines());
    assert_eq!(sender.sent_lines(), receiver.received_lines());
    assert_eq!(sender.sent_lines(), receiver.written_lines());
    assert_eq!([sender.window().in_use(), sender.nonposted().in_use(), receiver.posted().in_use()], [0; 3]);
    assert!(simulation.worlds().all(|machine| machine.requests().is_empty()), "both machines are drained");
}

fn rate_gb_per_s(window: &Domain) -> f64 {
    window.classes().iter().map(|usage| usage.residence().count()).sum::<u64>() as f64 * 64_000.0
        / window.window_ps() as f64
}

/// Lines per second over a link of some rate and window, between servers with nothing else to do, and the mean time of a
/// line from request to credit.
fn measure(link: &LinkParams) -> (f64, f64) {
    let mut params = server(1, "0", &[]);
    params.workloads.clear();
    let mut simulation = build::two_servers(&params, &params, link);
    simulation.run_until(us(20), |_| true);
    for (machine, scheduler) in simulation.parts_mut() {
        hostnet_sim::sample::reset(machine, scheduler.now());
    }
    simulation.run_until(us(120), |_| true);
    for (machine, scheduler) in simulation.parts_mut() {
        hostnet_sim::sample::settle(machine, scheduler.now());
    }
    let window = sender(&simulation).window();
    (rate_gb_per_s(window), window.classes().last().and_then(|usage| usage.residence().mean()).expect("lines passed"))
}

#[test]
fn throughput_is_the_least_of_rate_and_window() {
    for bytes_per_s in [1_000_000_000, 5_000_000_000, 40_000_000_000] {
        for window_lines in [8, 64, 512, 4096] {
            let link = LinkParams { bytes_per_s, window_lines, ..LINK };
            let (rate, latency_ps) = measure(&link);
            let by_window = f64::from(window_lines) * 64_000.0 / latency_ps;
            let slack = 1.01; // the edges of the measuring window
            assert!(rate <= bytes_per_s as f64 / 1e9 * slack, "{rate} GB/s over a link of {bytes_per_s} bytes/s");
            assert!(rate <= by_window * slack, "{rate} GB/s by a window of {window_lines} lines over {latency_ps} ps");
            assert!(latency_ps >= 2.0 * link.latency_ps as f64, "a credit comes back after {latency_ps} ps");
            if window_lines == 64 && bytes_per_s > 1_000_000_000 {
                assert!(rate > by_window * 0.9, "a small window is used up: {rate} of {by_window} GB/s");
            }
            if bytes_per_s == 1_000_000_000 && window_lines >= 512 {
                assert!(rate > 0.97, "a slow link is used up: {rate} GB/s");
            }
        }
    }
}

#[test]
#[should_panic(expected = "holds a read request")]
fn a_window_smaller_than_a_request_is_refused() {
    let params = server(1, "0", &[]);
    let _ = build::two_servers(&params, &params, &LinkParams { window_lines: 3, ..LINK });
}
