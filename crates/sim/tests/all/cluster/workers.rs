//! Tests services with workers that are threads of a server: closed forms and limits.

use crate::cluster::serving::{asked, cores, number, rows, workers, Scene, PS};
use hostnet_model::os::NetStack;
use std::sync::Arc;

fn limit(scene: &Scene) -> (String, f64) {
    let report = scene.report();
    let row = &rows(&report, "limits")[0];
    (row["limit"].as_str().expect("words").to_owned(), row["load"].as_f64().unwrap_or(0.0))
}

#[test]
fn a_request_takes_the_sum_of_its_parts() {
    let of = |service: &str| {
        Scene::new(1, "0", &format!("rate = 1000, arrivals = \"constant\", {service}")).answered(20_500)
    };
    let (count, plain) = of("time = \"30 us\"");
    assert_eq!(count, 20);
    let beyond = |service: &str| {
        let (found, sum) = of(service);
        assert_eq!(found, count);
        (sum - plain) as u64 / count
    };
    assert_eq!(beyond("time = \"75 us\""), 45 * PS);
    assert_eq!(beyond("cycles = 310000"), 70 * PS, "3100 are a microsecond");
    let one = beyond("time = \"30 us\", io = { reads = 1, latency = \"80 us\" }");
    assert_eq!(one, 80 * PS, "pieces of work are no more than the whole");
    assert_eq!(beyond("time = \"30 us\", io = { reads = 2, latency = \"80 us\" }"), 160 * PS);
    assert_eq!(beyond("time = \"60 us\", io = { reads = 3, latency = \"1 ps\" }"), 30 * PS + 3);
}

#[test]
fn a_clock_of_twice_the_rate_halves_work_and_leaves_storage() {
    let at = |ghz: u32, service: &str| {
        let power = format!(
            "pstates = [\"1 GHz @ 0.8 V\", \"2 GHz @ 1 V\", \"3.1 GHz @ 1.2 V\"], idle = \"poll\", \
             governor = {{ kind = \"userspace\", frequency = \"{ghz} GHz\" }}"
        );
        Scene::new(1, "0", &format!("rate = 500, arrivals = \"constant\", {service}")).power(&power).answered(41_000)
    };
    let (less, more) = ("time = \"20 us\"", "time = \"120 us\"");
    let read = ", io = { reads = 1, latency = \"70 us\" }";
    let [slow, fast] = [1, 2].map(|ghz| {
        let [(count, less), (same, more)] = [less, more].map(|service| at(ghz, service));
        assert_eq!((count, same), (20, 20));
        (more - less) as u64 / 20
    });
    assert_eq!((slow, fast), (310 * PS, 155 * PS), "100 us at 3.1 GHz");
    for ghz in [1, 2] {
        let [(_, without), (_, with)] = [less.to_owned(), format!("{less}{read}")].map(|service| at(ghz, &service));
        assert_eq!((with - without) as u64 / 20, 70 * PS, "{ghz} GHz");
    }
}

#[test]
fn a_core_alone_works_on_a_burst_one_after_the_other() {
    let service = "rate = 1000, burst = 8, arrivals = \"constant\", time = \"400 us\", workers = 64";
    let (counts, latency) = asked(&Scene::new(1, "0", service).after(15_000));
    assert_eq!((counts.begun, counts.answered), (8, 8));
    let last = latency.quantile(1.0).expect("some") / PS as f64;
    assert!((3200.0..3300.0).contains(&last), "eight times 400 us: {last}");
}

/// Returns a scene of a server with one connection at each of its four cores.
fn four(service: &str) -> Scene {
    Scene::new(4, "0-3", service)
}

#[test]
fn cores_without_work_take_that_of_others() {
    // Only the connection of core 0 sends requests within the time of the test.
    let text = "rate = 1000, burst = 8, time = \"400 us\", workers = 64, arrivals = \"constant\"";
    let mut plan = four(text).plan();
    for flow in Arc::make_mut(&mut plan.cluster).flows.iter_mut().skip(1) {
        flow.start_ps = 1_000_000 * PS;
    }
    let simulation = crate::cluster::lab::run(&plan, 15_000);
    let (counts, latency) = asked(&simulation);
    assert_eq!((counts.begun, counts.answered), (8, 8));
    let last = latency.quantile(1.0).expect("some") / PS as f64;
    assert!((800.0..850.0).contains(&last), "eight times 400 us by four cores: {last} us");
    let given: u64 = cores(&simulation).into_iter().map(NetStack::given).sum();
    assert!((6..=7).contains(&given), "{given} pieces went to other cores");
}

#[test]
fn cores_bound_the_throughput_and_overload_is_named() {
    // Four cores, 200 us each: at most 20000 per second, less the time of the kernel.
    let scene = four("rate = 9000, time = \"200 us\", workers = 4096").window(20_000, 30_000);
    let scene = Scene { flow: format!("{}in_flight = 64\n", scene.flow), ..scene };
    let report = scene.report();
    let served = number(&report, "services", "answered_per_s");
    assert!((18_000.0..=20_000.0).contains(&served), "{served}");
    assert!(number(&report, "services", "given_up") > 400.0);
    let row = &rows(&report, "limits")[0];
    assert_eq!(row["limit"], "receiver cores", "{row}");
    // Half of that is fully served, by a server that is half busy.
    let scene = four("rate = 2500, arrivals = \"constant\", time = \"200 us\", workers = 4096").window(20_000, 60_000);
    let report = scene.report();
    let served = number(&report, "services", "answered_per_s");
    assert!((served / 10_000.0 - 1.0).abs() < 0.01, "{served}");
    assert_eq!(number(&report, "services", "given_up"), 0.0);
    assert_eq!(rows(&report, "limits")[0]["limit"], "clock");
}

#[test]
fn requests_wait_for_cores_as_long_as_for_the_workers_of_one_queue() {
    // M/D/4 at a load of 0.81, of which 0.8 is work: 0.41 service times. An idle request takes 14 us beyond its work.
    let scene = Scene::new(64, "0-3", "rate = 100, time = \"500 us\", workers = 4096").window(50_000, 2_000_000);
    let waits = (number(&scene.report(), "services", "mean_us") - 514.0) / 500.0;
    assert!((waits / 0.41 - 1.0).abs() < 0.15, "{waits} service times");
}

#[test]
fn too_few_workers_are_named_and_more_help() {
    // Each request takes 20 us of work and 2 ms of storage: eight workers serve 4000 per second.
    let with = |workers: u32| {
        let service =
            format!("rate = 1500, time = \"20 us\", io = {{ reads = 2, latency = \"1 ms\" }}, workers = {workers}");
        four(&service).window(20_000, 50_000)
    };
    let few = with(8);
    let (limit_few, load) = limit(&few);
    assert_eq!(limit_few, "workers");
    assert!(load > 0.98 && load <= 1.0, "{load}");
    let served = number(&few.report(), "services", "answered_per_s");
    assert!((served / (8.0 / 2020e-6) - 1.0).abs() < 0.03, "{served}");
    let many = with(64);
    let report = many.report();
    assert_eq!(rows(&report, "limits")[0]["limit"], "clock");
    let served = number(&report, "services", "answered_per_s");
    assert!((served / 6000.0 - 1.0).abs() < 0.1, "{served}");
    assert!(number(&report, "services", "mean_us") < 2200.0);
}

#[test]
fn workers_are_those_of_the_cores_that_have_connections() {
    let of = |clients: u32, cores: &str, count: u32| {
        workers(&Scene::new(clients, cores, &format!("rate = 1, workers = {count}")).after(1)).0
    };
    assert_eq!([of(4, "0-3", 7), of(4, "0-3", 4), of(2, "0-3", 7), of(1, "0-3", 1)], [7, 4, 7, 1]);
    assert_eq!(of(4, "0-3", 2), 4, "each core with connections has one at least");
}

#[test]
fn requests_of_a_burst_come_one_after_the_other_if_they_are_to() {
    let of = |spacing_us: u64| {
        let more = if spacing_us > 0 { format!(", spacing = \"{spacing_us} us\"") } else { String::new() };
        Scene::new(1, "0", &format!("rate = 1000, burst = 10, arrivals = \"constant\", time = \"100 us\"{more}"))
    };
    // The second request waits for the first, and so on, unless they arrive more slowly than they are served.
    let mean = |scene: &Scene| {
        let (count, sum) = scene.answered(29_000);
        assert_eq!(count, 20);
        sum as f64 / 20.0 / PS as f64
    };
    let [together, apart, lone] = [0, 150, 200].map(|us| mean(&of(us)));
    assert!((together - lone - 450.0).abs() < 60.0, "{together} and {lone}");
    assert!((apart - lone).abs() < 1.0, "{apart} and {lone}");
}
