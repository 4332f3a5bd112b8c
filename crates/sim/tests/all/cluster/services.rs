//! Tests services against closed forms of their queues.

use crate::cluster::lab::{plan, run, settle};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_measure::Histogram;
use hostnet_model::flow::{RequestCounts, Workers};
use hostnet_model::World;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;

const PS: u64 = 1_000_000;
/// Size of the IP and TCP headers and what Ethernet adds on the wire, in bytes.
const HEADERS: u64 = 52 + 38;

/// Returns a plan of some clients and a service at an endpoint, with cables of 10 Gbps.
fn service(clients: u32, flow: &str, service: &str, more: &str) -> Plan {
    plan(&format!(
        "[host.client]\nkind = \"endpoint\"\ncount = {clients}\nlatency = \"3 us\"\n\
         [host.server]\nkind = \"endpoint\"\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nswitch.latency = \"700 ns\"\n\
         [flow.web]\nkind = \"service\"\nfrom = \"client\"\nto = \"server\"\n\
         {flow}\nservice = {{ {service} }}\n{more}\n"
    ))
}

fn workers(simulation: &Simulation<World>) -> &Workers {
    let mut all = crate::cluster::lab::fabric(simulation).endpoints().flat_map(|endpoint| endpoint.services());
    all.next().expect("there is a service")
}

/// Returns the request counts and latencies of all clients.
fn clients(simulation: &Simulation<World>) -> (RequestCounts, Histogram) {
    let mut found = (RequestCounts::default(), Histogram::default());
    for end in crate::cluster::stats::streams(simulation) {
        if let Some(counts) = end.application.request_counts() {
            found.0 = found.0.plus(counts);
            found.1.merge(end.application.latency().expect("it asks"));
        }
    }
    found
}

/// Returns the latency from one application to the other.
fn way_ps(data: u64) -> u64 {
    2 * 3 * PS + 2 * ((data + HEADERS) * 800 + 2 * PS) + 700_000
}

#[test]
fn an_idle_request_takes_the_sum_of_its_parts() {
    for (request, response, time_us) in [(1, 1, 0_u64), (64, 1000, 50), (1400, 20, 7)] {
        let sizes = format!("request = \"{request} B\"\nresponse = \"{response} B\"");
        let how = format!("rate = 5000, arrivals = \"constant\", time = \"{time_us} us\"");
        let simulation = run(&service(1, &sizes, &how, ""), 20_100);
        let (counts, latency) = clients(&simulation);
        // An event lies at least 1 ps ahead.
        let each = way_ps(request) + way_ps(response) + (time_us * PS).max(1);
        assert_eq!((counts.begun, counts.answered, counts.given_up), (100, 100, 0));
        assert_eq!(latency.sum(), u128::from(100 * each), "{request} {response} {time_us}");
    }
}

/// Returns the mean time in the queue of so many workers at a load, in service times of 50 us.
fn mean_wait(load: f64, distribution: &str, workers_: u32) -> f64 {
    let rate = load * f64::from(workers_) / 50e-6 / 16.0;
    let how = format!("rate = {rate}, time = \"50 us\", distribution = \"{distribution}\", workers = {workers_}");
    let length_us = (10_000_000.0 / load / f64::from(workers_)) as u64;
    let simulation = run(&service(16, "request = \"64 B\"", &how, ""), length_us);
    let found = workers(&simulation);
    let served = found.stats().served as f64;
    assert!((served / 200_000.0 - 1.0).abs() < 0.02, "{served} requests were served");
    found.stats().wait.mean().expect("some waited") / 50e6
}

#[test]
fn requests_wait_as_long_as_pollaczek_and_khinchine_say() {
    for load in [0.5, 0.8] {
        let exponential = load / (1.0 - load);
        for (distribution, expected) in [("constant", exponential / 2.0), ("exponential", exponential)] {
            let found = mean_wait(load, distribution, 1);
            assert!((found / expected - 1.0).abs() < 0.06, "{distribution} {load}: {found} for {expected}");
        }
        // A deviation of 1 is that of an exponential time: the mean wait depends only on the first two moments.
        let found = mean_wait(load, "lognormal", 1);
        assert!((found / exponential - 1.0).abs() < 0.08, "lognormal {load}: {found} for {exponential}");
    }
}

#[test]
fn requests_wait_as_long_for_several_workers_as_erlang_says() {
    let (load, count) = (0.8, 4_u32);
    let offered = load * f64::from(count);
    let mut blocked = 1.0;
    for servers in 1..=count {
        blocked = offered * blocked / (f64::from(servers) + offered * blocked);
    }
    let waits = blocked / (1.0 - load * (1.0 - blocked));
    let expected = waits / (f64::from(count) * (1.0 - load));
    let found = mean_wait(load, "exponential", count);
    assert!((found / expected - 1.0).abs() < 0.06, "{found} for {expected}");
}

#[test]
fn workers_bound_the_throughput_and_what_is_too_much_is_given_up() {
    let how = "rate = 20000, time = \"100 us\", workers = 2";
    let mut simulation = run(&service(4, "request = \"64 B\"\nin_flight = 10", how, ""), 500_000);
    settle(&mut simulation);
    let (counts, _) = clients(&simulation);
    let stats = workers(&simulation).stats();
    assert!((9_990..=10_000).contains(&stats.served), "two workers, 100 us each, 500 ms: {}", stats.served);
    assert!(counts.given_up > 29_000, "80000 a second were asked for: {counts:?}");
    let busy = stats.busy_area_ps as f64 / (2.0 * 500_000.0 * PS as f64);
    assert!((0.999..=1.0).contains(&busy), "{busy}");
    assert!(stats.queue_max <= 38, "forty requests have no answer at most, two are served: {}", stats.queue_max);
}

/// Generates a cluster with a service.
fn any_service() -> impl Strategy<Value = Plan> {
    let sizes = prop::sample::select(vec![
        "request = \"64 B\"".to_owned(),
        "request = \"9 kB\"\nresponse = \"1 B\"".to_owned(),
        "request = \"1 B\"\nresponse = \"100 kB\"\nin_flight = 3".to_owned(),
    ]);
    let how =
        (1_u32..40, 0_u64..200, 0_usize..3, 0_usize..2, 1_u32..5).prop_map(|(rate, time, law, arrivals, workers)| {
            format!(
                "rate = {}, time = \"{time} us\", distribution = \"{}\", arrivals = \"{}\", workers = {workers}",
                f64::from(rate) * 500.0,
                ["constant", "exponential", "lognormal"][law],
                ["poisson", "constant"][arrivals]
            )
        });
    (1_u32..5, sizes, how, any::<u32>()).prop_map(|(clients, sizes, how, seed)| {
        let run = format!("[run]\nseed = {seed}\nwarmup = \"300 us\"\nduration = \"2 ms\"\n");
        service(clients, &sizes, &how, &run)
    })
}

fn hash(run: &mut Run) -> String {
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().result_hash
}

proptest! {
    #![proptest_config(crate::common::laws::cases(8))]

    #[test]
    fn every_request_is_answered_or_waits(plan in any_service(), until_us in 100_u64..5000) {
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        let (counts, latency) = clients(&simulation);
        let found = workers(&simulation);
        let [queued, busy] = found.held().map(|held| held as u64);
        let stats = found.stats();
        prop_assert_eq!(stats.arrived, stats.served + queued + busy);
        prop_assert!(counts.answered <= stats.served && stats.arrived <= counts.begun);
        prop_assert_eq!(latency.count(), counts.answered);
        crate::cluster::lab::drain(&mut simulation);
        simulation.run_until(simulation.progress().time + 10_000_000 * PS, |_| true);
        let (counts, _) = clients(&simulation);
        prop_assert_eq!(counts.answered, counts.begun, "all that was begun is answered when no more come");
        prop_assert_eq!(workers(&simulation).held(), [0, 0]);
    }

    #[test]
    fn threads_and_checkpoints_change_nothing(plan in any_service(), at_ps in 1_u64..2_000_000_000) {
        let expected = hash(&mut Run::new(&plan, Options::default()));
        let options = Options { threads: 2, checkpoint_at_ps: at_ps, ..Options::default() };
        let mut first = Run::new(&plan, options);
        prop_assert_eq!(&hash(&mut first), &expected);
        let checkpoint = first.checkpoint().expect("it was taken");
        prop_assert_eq!(hash(&mut Run::resume(&plan, options, checkpoint).expect("it can be read")), expected);
    }
}
