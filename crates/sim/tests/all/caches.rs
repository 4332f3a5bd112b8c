//! Tests the timed caches: closed forms, clients on separate cores, and consistent statistics.

use crate::common;
use crate::common::results::{assert_near, domain, report};
use crate::common::{counters, example, plan, settled, us};
use hostnet_config::Plan;
use hostnet_model::params::CacheParams;
use hostnet_sim::{build, Options, Report, Run};

const HEAD: &str = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n";
const NO_PREFETCH: [&str; 2] = ["prefetch.stream=false", "prefetch.adjacent=false"];

/// Returns a value of a workload's row in a table.
fn of(report: &Report, table: &str, workload: &str, column: &str) -> f64 {
    let table = report.table(table).expect("a table");
    let row = table.rows.iter().find(|row| table.text(row, "workload") == Some(workload)).expect("a row");
    table.number(row, column).unwrap_or_else(|| panic!("{workload} has no {column}"))
}

fn chase(working_set: &str, settings: &[&str]) -> Plan {
    let text = format!(
        "{HEAD}[workload.chase]\nkind = \"app\"\napp = \"chase\"\ncores = \"0\"\nworking_set = \"{working_set}\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"300 us\"\n"
    );
    plan(&text, &[&NO_PREFETCH, settings].concat())
}

fn cache(plan: &Plan) -> &CacheParams {
    plan.server().unwrap().socket().cache.as_ref().expect("caches")
}

/// Returns the time from one access of a pointer chase to the next, in ns.
fn chase_ns(report: &Report) -> f64 {
    1e9 / of(report, "workloads", "chase", "operations_per_s")
}

/// Returns the time of the instructions of an access of a pointer chase, in ns.
fn instruction_ns(plan: &Plan) -> f64 {
    match &plan.server().unwrap().workloads[0].kind {
        hostnet_model::params::WorkloadKind::App(app) => app.instruction_fs as f64 / 1e6,
        _ => panic!("a chase was asked for"),
    }
}

#[test]
fn a_chase_in_the_l2_takes_the_time_of_its_hits() {
    let plan = chase("256 KiB", &[]);
    let report = report(&plan);
    assert_near("L2 misses", of(&report, "caches", "chase", "l2_misses"), 0.0, 0.0);
    assert_near(
        "an access in ns",
        chase_ns(&report),
        cache(&plan).l2.hit_ps as f64 / 1000.0,
        instruction_ns(&plan) + 0.01,
    );
}

#[test]
fn a_chase_in_the_llc_takes_the_round_trip() {
    let plan = chase("8 MiB", &[]);
    let report = report(&plan);
    let core = &plan.server().unwrap().socket().core;
    let llc_ns = (core.to_cha_ps + cache(&plan).llc.hit_ps + core.from_cha_ps) as f64 / 1000.0;
    let hits = 1.0 - of(&report, "caches", "chase", "llc_miss_ratio");
    assert!(hits > 0.995, "{hits} of the lines are in the LLC");
    assert_near("C2M-Read in ns", domain(&report, "C2M-Read", "latency_mean_ns"), llc_ns, 0.5);
    let l2_hits = 1.0 - of(&report, "caches", "chase", "l2_miss_ratio");
    assert!(l2_hits < 0.2, "{l2_hits} of the lines are in the L2");
    let l2_ns = cache(&plan).l2.hit_ps as f64 / 1000.0;
    let expected = l2_hits * l2_ns + (1.0 - l2_hits) * llc_ns;
    assert_near("an access in ns", chase_ns(&report), expected, 1.0);
}

#[test]
fn a_chase_through_memory_takes_the_time_of_a_lone_read() {
    let chased = report(&chase("1 GiB", &[]));
    let misses = of(&chased, "caches", "chase", "llc_miss_ratio");
    assert!(misses > 0.97, "{misses} of the lines are in memory");
    // One read at a time without caches. Random lines always open their rows, which sequential reads rarely do (71
    // ns).
    let lone = ["cache.enabled=false", "workload.stream.pattern=random", "core.lfb.entries=1"];
    let expected = domain(&report(&stream(&lone)), "C2M-Read", "latency_mean_ns");
    assert_near("a lone read in ns", expected, 71.0, 25.0);
    let missed = |ns: f64| (ns - (1.0 - misses) * 26.0) / misses;
    let found = domain(&chased, "C2M-Read", "latency_mean_ns");
    assert_near("C2M-Read in ns", missed(found), expected, 2.5);
    assert_near("an access in ns", chase_ns(&chased), found, 3.0);
}

fn stream(settings: &[&str]) -> Plan {
    let text = format!(
        "{HEAD}[workload.stream]\nkind = \"stream\"\ncores = \"0\"\n[run]\nwarmup = \"20 us\"\nduration = \"200 us\"\n"
    );
    plan(&text, settings)
}

#[test]
fn a_core_alone_has_no_more_than_its_lfb_allows_and_prefetchers_help_it() {
    let plain_plan = stream(&NO_PREFETCH);
    let plain = report(&plain_plan);
    let latency_ns = domain(&plain, "LFB", "latency_mean_ns");
    let allowed = f64::from(plain_plan.server().unwrap().socket().core.lfb_entries) * 64.0 / latency_ns;
    let found = of(&plain, "workloads", "stream", "read_gb_per_s");
    assert!(found <= allowed && found > 0.7 * allowed, "{found} GB/s, {allowed} are allowed");
    let helped = report(&stream(&[]));
    let found = of(&helped, "workloads", "stream", "read_gb_per_s");
    assert!(found > 1.2 * allowed, "{found} GB/s with prefetchers, {allowed} without");
}

fn reads(block: &str, depth: u32, more: &str, settings: &[&str]) -> Plan {
    let text = format!(
        "{HEAD}[workload.disk]\nkind = \"fio\"\ncores = \"7\"\n{more}\
         jobs = [{{ rw = \"read\", bs = \"{block}\", iodepth = {depth}, size = \"1 GiB\", ssd = 0 }}]\n\
         [run]\nwarmup = \"200 us\"\nduration = \"1 ms\"\n"
    );
    plan(&text, settings)
}

#[test]
fn a_device_write_hit_takes_the_round_trip_to_the_llc() {
    let no_kernel = ["fio.dma_lines_per_page=0", "fio.kernel_lines_per_page=0"];
    let plan = reads("16 KiB", 8, "consume = true\n", &no_kernel);
    let report = report(&plan);
    let (iio, ddio) = (&plan.server().unwrap().socket().iio, &cache(&plan).ddio);
    let unloaded_ns = (iio.write_to_cha_ps + ddio.write_ps + iio.write_ack_ps) as f64 / 1000.0;
    let found = domain(&report, "P2M-Write", "latency_mean_ns");
    let queueing_ns = 40.0;
    assert!(
        (unloaded_ns - 0.01..unloaded_ns + queueing_ns).contains(&found),
        "P2M-Write takes {found} ns, {unloaded_ns} without queues"
    );
    let misses = of(&report, "caches", "disk", "llc_miss_ratio");
    assert!(misses < 0.01, "{misses} of what the cores read is in memory");
    let leaks = of(&report, "caches", "disk", "ddio_leak_ratio");
    assert!(leaks < 0.01, "{leaks} of the lines leak");
}

#[test]
fn blocks_that_fit_the_ways_of_devices_stay_there() {
    let report = report(&reads("16 KiB", 8, "", &["fio.dma_lines_per_page=0"]));
    let hits = of(&report, "caches", "disk", "ddio_hit_ratio");
    assert!(hits > 0.99, "{hits} of the lines are there when they are written again");
    assert!(of(&report, "caches", "disk", "ddio_leak_ratio") < 0.01);
}

#[test]
fn blocks_larger_than_the_ways_of_devices_leak() {
    let report = report(&reads("8 MiB", 8, "", &[]));
    let leaks = of(&report, "caches", "disk", "ddio_leak_ratio");
    assert!(leaks > 0.95, "{leaks} of the lines leak");
}

#[test]
fn device_writes_end_in_memory_or_in_the_llc() {
    for (block, depth, consume) in [("8 MiB", 8, ""), ("256 KiB", 16, "consume = true\n"), ("16 KiB", 4, "")] {
        let plan = reads(block, depth, consume, &["fio.kernel_lines_per_page=0"]);
        let mut simulation = build::one_server(plan.server().unwrap());
        let held = |simulation: &mut hostnet_kernel::Simulation<hostnet_model::Machine>| {
            let caches = settled(simulation).caches().next().expect("caches").counts().classes()[0];
            caches.core_lines + caches.io_lines
        };
        let before = held(&mut simulation);
        simulation.run_until(us(400), |_| true);
        simulation.parts_mut()[0].0.stop_sources();
        simulation.run_until(us(3000), |_| true);
        let after = held(&mut simulation);
        let now = us(3000);
        let machine = settled(&mut simulation);
        let caches = machine.caches().next().expect("caches").counts().classes()[0];
        let written: u64 = counters(machine, now).iter().map(|channel| channel.writes[0]).sum::<u64>()
            + common::in_use(machine, hostnet_sim::sample::PoolGroup::Wpq);
        let allocated = caches.ddio_allocations;
        assert!(machine.requests().is_empty() && allocated + caches.ddio_updates > 10_000, "{block}");
        assert_eq!(written, caches.ddio_evictions + caches.core_evictions, "{block}: every dirty line goes to memory");
        if consume.is_empty() {
            assert_eq!(allocated + before, caches.ddio_evictions + after, "{block}: nothing is lost or made up");
        }
    }
}

const CLIENTS: &str = "clients = \"4-5\"";

fn redis(clients: &str, settings: &[&str]) -> Plan {
    let text = format!(
        "{HEAD}llc.sets = 256\n[workload.redis]\nkind = \"app\"\napp = \"redis\"\ncores = \"0-1\"\n{clients}\n\
         [run]\nwarmup = \"50 us\"\nduration = \"500 us\"\n"
    );
    plan(&text, settings)
}

#[test]
fn clients_on_separate_cores_close_the_loop() {
    let at_once = |clients: &str, in_flight: u32| {
        report(&redis(clients, &["workload.redis.think=0 ns", &format!("workload.redis.in_flight={in_flight}")]))
    };
    let (without, with) = (at_once("", 16), at_once(CLIENTS, 16));
    let rate = |report: &Report| of(report, "workloads", "redis", "operations_per_s");
    let latency = |report: &Report| of(report, "workloads", "redis", "operation_latency_mean_ns");
    assert!(
        rate(&with) > 0.5 * rate(&without) && rate(&with) < 1.2 * rate(&without),
        "{} {}",
        rate(&with),
        rate(&without)
    );
    // Little's law: operations that are not at the servers are at their clients.
    for report in [&without, &with] {
        let served = rate(report) * latency(report) / 1e9;
        assert!(served <= 32.0 * 1.02, "{served} operations of 32 with the servers");
    }
    let one = at_once(CLIENTS, 1);
    // With one operation in flight, server and client alternate.
    let turn_ns = 2.0 * 1e9 / rate(&one);
    assert!(turn_ns > 1.2 * latency(&one), "a turn of {turn_ns} ns, {} of them at the server", latency(&one));
    assert!(rate(&one) < 0.8 * rate(&with), "{} of {}", rate(&one), rate(&with));
}

#[test]
fn slow_clients_set_the_pace_and_think_time_adds_to_it() {
    let rate = |settings: &[&str]| of(&report(&redis(CLIENTS, settings)), "workloads", "redis", "operations_per_s");
    // 33000 instructions at 3.3 GHz and 2 per clock take 5 us.
    let slow = rate(&["workload.redis.instructions.client=33000", "workload.redis.in_flight=8"]);
    assert!(slow <= 2.0 * 0.2e6 && slow > 2.0 * 0.17e6, "{slow} operations/s of two clients of 5 us");
    let thinking = rate(&["workload.redis.think=40 us", "workload.redis.in_flight=4"]);
    assert!(thinking < 2.0 * 0.1e6 && thinking > 2.0 * 0.08e6, "{thinking} operations/s of eight clients of 40 us");
}

#[test]
fn every_application_may_have_clients_that_think() {
    let apps = [
        "redis\"\nkeys = 20000",
        "pagerank\"\nscale = 16",
        "bc\"\nscale = 16",
        "stream\"\narray = \"64 MiB\"",
        "mlc\"\nreads = 1.0\npattern = \"random\"\nworking_set = \"64 MiB\"",
        "mlc\"\nreads = 0.5\npattern = \"random\"\nworking_set = \"2 MiB\"",
        "chase\"\nworking_set = \"64 MiB\"",
    ];
    for app in apps {
        for (in_flight, think_ns) in [(1, 2000.0), (3, 0.0), (3, 200.0), (7, 2000.0)] {
            let text = format!(
                "{HEAD}llc.sets = 128\n[workload.app]\nkind = \"app\"\ncores = \"0\"\nin_flight = {in_flight}\n\
                 think = \"{think_ns} ns\"\napp = \"{app}\n[run]\nwarmup = \"50 us\"\nduration = \"500 us\"\n"
            );
            let report = report(&plan(&text, &[]));
            let rate = of(&report, "workloads", "app", "operations_per_s") / 1e9;
            let latency = of(&report, "workloads", "app", "operation_latency_mean_ns");
            // Little's law: either an operation is at the core, or its client thinks.
            assert_near(&text, rate * (latency + think_ns), f64::from(in_flight), 0.03 * f64::from(in_flight));
        }
    }
}

#[test]
fn kernel_lines_are_written_back_from_the_start() {
    let text = format!(
        "{HEAD}l2.sets = 64\nllc.sets = 64\n[ddio]\nenabled = false\n[workload.disk]\nkind = \"fio\"\ncores = \"7\"\n\
         jobs = [{{ rw = \"read\", bs = \"1 MiB\", iodepth = 16, size = \"1 GiB\", ssd = \"0-3\" }}]\n\
         [run]\nwarmup = \"50 us\"\nduration = \"200 us\"\n"
    );
    let report = report(&plan(&text, &[]));
    let [data, read, written] =
        ["app_gb_per_s", "read_gb_per_s", "write_gb_per_s"].map(|column| of(&report, "workloads", "disk", column));
    assert!(read > 0.03 * data, "the kernel reads {read} GB/s beside {data}");
    assert_near("GB/s beyond the data", written - data, read, 0.1 * read);
}

#[test]
fn runs_with_caches_resume_from_checkpoints() {
    let mut plans = vec![redis(CLIENTS, &["run.duration=100 us"])];
    plans.push(example(
        "redis.toml",
        &["cache.llc.sets=256", "run.duration=60 us", "run.warmup=40 us", "workload.disk.consume=true"],
    ));
    for plan in &plans {
        let mut whole = Run::new(plan, Options { checkpoint_at_ps: 77_777_777, ..Options::default() });
        assert_eq!(whole.run(|_| true), Ok(true));
        let bytes = whole.checkpoint().expect("a checkpoint").to_vec();
        let mut resumed = Run::resume(plan, Options::default(), &bytes).expect("a checkpoint of the same plan");
        assert_eq!(resumed.run(|_| true), Ok(true));
        assert_eq!(resumed.epochs(), whole.epochs());
        assert_eq!(resumed.report().result_hash, whole.report().result_hash);
    }
}
