//! Tests servers with managed frequencies and sleep, and NICs that announce bursts.

use crate::cluster::serving::{asked, cores, number, rows, Scene, PS};
use hostnet_kernel::Simulation;
use hostnet_model::power::PowerManager;
use hostnet_model::World;
use hostnet_sim::Report;
use std::sync::Arc;

/// One frequency, and no sleep.
const PLAIN: &str = "governor = \"performance\", idle = \"poll\"";

/// Returns power keys with one sleep state that an idle core always enters, with this exit latency.
fn sleepy(exit_us: u64) -> String {
    format!(
        "governor = \"performance\", idle = \"ladder\", \
         cstate = {{ C1 = {{ disable = true }}, C3 = {{ disable = true }}, C6 = {{ exit = \"{exit_us} us\" }} }}"
    )
}

fn manager(simulation: &Simulation<World>) -> &PowerManager {
    crate::cluster::lab::servers(simulation)[0].first().expect("there is power management")
}

/// Returns the frequency of the first socket over time, in us and MHz.
fn history(simulation: &Simulation<World>) -> Vec<(f64, u32)> {
    let manager = manager(simulation);
    let (_, history) = manager.domains().next().expect("a domain");
    let khz = |at: u16| manager.params().pstates[usize::from(at)].khz;
    history.iter().map(|&(at, pstate)| (at.ps() as f64 / 1e6, khz(pstate) / 1000)).collect()
}

#[test]
fn a_lone_request_waits_for_each_end_of_sleep_once() {
    for reads in 0..3_u64 {
        let io = if reads > 0 { format!(", io = {{ reads = {reads}, latency = \"90 us\" }}") } else { String::new() };
        let scene = Scene::new(1, "0", &format!("rate = 500, arrivals = \"constant\", time = \"40 us\"{io}"));
        let of = |power: &str| scene.power(power).answered(41_000);
        let (count, awake) = of(PLAIN);
        assert_eq!(count, 20);
        for exit_us in [1, 10, 77] {
            let (same, asleep) = of(&sleepy(exit_us));
            assert_eq!(same, count);
            assert_eq!((asleep - awake) as u64, count * exit_us * (1 + reads) * PS, "{reads} reads, exit {exit_us} us");
        }
    }
}

#[test]
fn one_frequency_without_sleep_changes_nothing() {
    let one = format!("pstates = [\"3.1 GHz @ 1.2 V\"], {PLAIN}");
    for nic in ["", "queues = 1", "queues = 2, mitt = \"30 us\", icr = \"2 us\""] {
        let scene = Scene::new(6, "0-3", "rate = 800, burst = 5, time = \"60 us\", workers = 3").nic(nic);
        let scene = Scene { fidelity: "line", ..scene.window(1_000, 9_000) };
        let [without, with] = [scene.clone(), scene.power(&one)].map(|scene| scene.report());
        let mut services = rows(&with, "services");
        let taken = services[0].as_object_mut().expect("a row").remove("energy_uj_per_request");
        assert!(taken.is_some_and(|taken| taken.as_f64() > Some(0.0)), "what is metered is told");
        assert_eq!(services, rows(&without, "services"), "{nic}");
        assert_eq!(rows(&with, "flows"), rows(&without, "flows"), "{nic}");
    }
}

/// Returns the energies and times of a run, without the names of unused mechanisms.
fn outcome(report: &Report) -> String {
    let tables = ["services", "flows", "power", "power_states", "frequencies", "queues"];
    tables.map(|table| format!("{:?}", rows(report, table))).concat()
}

#[test]
fn ncap_without_announcements_changes_nothing() {
    for power in ["idle = \"menu\"", "idle = \"teo\", governor = \"schedutil\""] {
        let scene = Scene::new(5, "0-3", "rate = 600, burst = 30, time = \"50 us\", workers = 64").power(power);
        let scene = scene.window(20_000, 60_000);
        let nic = "queues = 1, mitt = \"50 us\", icr = \"1 us\"";
        let inert = "ncap = { rht = \"inf\", cit = \"inf\", rlt = \"1 k/s\" }";
        let [without, with] = [nic.to_owned(), format!("{nic}, {inert}")].map(|nic| scene.nic(&nic).report());
        assert_eq!(outcome(&with), outcome(&without), "{power}");
    }
}

#[test]
fn a_driver_that_inspects_packets_takes_time_for_it() {
    let scene = Scene::new(1, "0", "rate = 500, arrivals = \"constant\", time = \"40 us\"").power(PLAIN);
    let of = |packet: &str| {
        let ncap = format!("mitt = \"20 us\", ncap = {{ mode = \"software\", rht = \"inf\", packet = \"{packet}\" }}");
        scene.nic(&ncap).answered(41_000)
    };
    let ((count, less), (same, more)) = (of("0 ns"), of("3 us"));
    assert_eq!((count, same), (20, 20));
    assert_eq!((more - less) as u64, 20 * 3 * PS, "a request is a packet");
}

#[test]
fn ondemand_follows_the_load_and_the_clock_follows_the_voltage() {
    // Work begins after 20 ms, with all that the server can do.
    let mut plan = Scene::new(4, "0-3", "rate = 4000, time = \"500 us\", workers = 4096")
        .power("idle = \"poll\", governor = { kind = \"ondemand\", period = \"1 ms\" }")
        .plan();
    for flow in &mut Arc::make_mut(&mut plan.cluster).flows {
        flow.start_ps = 20_000 * PS;
    }
    let simulation = crate::cluster::lab::run(&plan, 40_000);
    let found = history(&simulation);
    assert_eq!(found[0], (0.0, 3100));
    // Without load the frequency drops at once: a halt of 5 us.
    assert_eq!(found[1].1, 800);
    assert!((5.0..6.0).contains(&found[1].0), "{found:?}");
    let (at, last) = found[found.len() - 1];
    assert_eq!(last, 3100, "{found:?}");
    // 0.55 V at 6.25 mV per us, then the halt.
    assert!((20_093.0..22_200.0).contains(&at), "{found:?}");
    assert!((at - 93.0).fract() < 0.2001 || (at - 93.0).fract() > 0.999, "a look is at a whole ms: {at}");
}

#[test]
fn governors_that_set_a_frequency_once_do_so_once() {
    for (governor, mhz) in [("\"powersave\"", 800), ("{ kind = \"userspace\", frequency = \"3.1 GHz\" }", 3100)] {
        let scene = Scene::new(4, "0-3", "rate = 900, time = \"50 us\"");
        let simulation = scene.power(&format!("idle = \"poll\", governor = {governor}")).after(30_000);
        let found = history(&simulation);
        assert_eq!(found.last().map(|last| last.1), Some(mhz));
        assert!(found.len() <= 2, "{found:?}");
    }
}

/// Returns a scene with bursts of 40 requests every 50 ms, on a card with an interrupt moderation of 50 us.
fn bursts(ncap: &str, idle: &str) -> Scene {
    let service =
        "rate = 800, burst = 40, arrivals = \"constant\", time = \"30 us\", workers = 512, spacing = \"5 us\"";
    let power = format!("idle = \"{idle}\", governor = {{ kind = \"ondemand\", period = \"10 ms\" }}");
    let mut scene = Scene::new(4, "0-3", service).power(&power);
    scene.nic = format!("queues = 1, mitt = \"50 us\", icr = \"2 us\"{ncap}");
    scene
}

#[test]
fn an_announced_burst_is_served_at_the_highest_frequency() {
    let told = bursts(", ncap = { fcons = 5, rht = \"100 k/s\" }", "menu").after(60_000);
    let alone = bursts("", "menu").after(60_000);
    assert!(manager(&told).announced()[0] >= 1);
    assert_eq!(manager(&alone).announced(), [0, 0]);
    // The burst begins at 50 ms. It is announced at the next timer expiry, and the clock follows after 0.55 V and a
    // halt.
    let at_max = |simulation: &Simulation<World>| {
        let found = history(simulation);
        let up = found.iter().find(|(at, mhz)| *at > 50_000.0 && *mhz == 3100);
        up.map(|(at, _)| *at)
    };
    let at = at_max(&told).expect("it went up");
    assert!((50_143.0..50_260.0).contains(&at), "{at} us");
    assert!(at_max(&alone).is_none_or(|later| later > at + 1000.0));
    let [(_, told), (_, alone)] = [asked(&told), asked(&alone)];
    assert!(told.quantile(0.95) < alone.quantile(0.95), "and it pays");
}

#[test]
fn cores_sleep_again_after_the_announced_end_of_a_burst() {
    let simulation = bursts(", ncap = { fcons = 5, rht = \"100 k/s\" }", "ladder").after(80_000);
    let [high, low] = manager(&simulation).announced();
    assert!(high >= 1 && low >= 5, "{high} and {low}");
    let mut simulation = simulation;
    let before = polled(&mut simulation);
    simulation.run_until(crate::common::us(95_000), |_| true);
    let polled = polled(&mut simulation) - before;
    assert!(polled < 100 * PS, "nobody polls in 15 ms without work: {polled} ps");
}

/// Returns the time for which cores have polled, in ps.
fn polled(simulation: &mut Simulation<World>) -> u64 {
    crate::cluster::lab::settle(simulation);
    let power = cores(simulation).into_iter().filter_map(|core| core.power());
    power.map(|(meter, ..)| meter.residency_ps().polling_ps).sum()
}

#[test]
fn states_are_entered_and_left_within_the_window() {
    let scene = Scene::new(1, "0", "rate = 1000, arrivals = \"constant\", time = \"40 us\"").power(&sleepy(5));
    let of = |warm_up_us: u64| {
        let report = scene.window(warm_up_us, 50_000).report();
        let all = rows(&report, "power_states");
        let state = all.iter().find(|row| row["state"] == "C6" && row["core"] == 0).expect("a row").clone();
        let number = |key: &str| state[key].as_f64().expect("a number");
        let slept_us = number("entries") * number("mean_us");
        assert!((slept_us / 50_000.0 - number("share")).abs() < 1e-9, "{state}");
        let wakes = rows(&report, "power")[0]["wakes"].as_f64().expect("a number");
        assert!((number("entries") - wakes).abs() <= 1.0, "{state}");
        number("entries")
    };
    let [short, long] = [of(10_500), of(300_500)];
    assert!((short - long).abs() <= 2.0, "50 requests each: {short} and {long} sleeps");
    assert!((50.0..400.0).contains(&short), "{short}");
}

#[test]
fn sleep_and_lower_frequencies_save_energy_and_cost_time() {
    let scene = Scene::new(4, "0-3", "rate = 500, time = \"40 us\", workers = 64").window(20_000, 60_000);
    let of = |power: &str| {
        let report = scene.power(power).report();
        let energy: f64 = rows(&report, "power").iter().map(|row| row["energy_uj"].as_f64().expect("energy")).sum();
        (energy, number(&report, "services", "mean_us"), number(&report, "services", "requests"))
    };
    let fast = of(PLAIN);
    let slow = of("governor = \"powersave\", idle = \"poll\"");
    let asleep = of("governor = \"performance\", idle = \"menu\"");
    assert!(slow.0 < 0.5 * fast.0 && slow.1 > 2.0 * fast.1, "{slow:?} {fast:?}");
    assert!(asleep.0 < 0.5 * fast.0 && asleep.1 > fast.1, "{asleep:?} {fast:?}");
    assert!(slow.2 == fast.2 && asleep.2 == fast.2, "what is asked for does not depend on the server");
}

#[test]
fn an_idle_server_takes_what_its_deepest_state_does() {
    let scene = Scene::new(4, "0-3", "rate = 0.001").power(&sleepy(22)).window(10_000, 10_000);
    for row in rows(&scene.report(), "power") {
        assert_eq!((row["energy_uj"].as_f64(), row["asleep_share"].as_f64()), (Some(0.0), Some(1.0)), "{row}");
    }
    // Cores that never have work sleep too.
    let scene = Scene::new(1, "0", "rate = 0.001").power(&sleepy(22)).window(10_000, 10_000);
    for row in rows(&scene.report(), "power") {
        assert_eq!(row["asleep_share"].as_f64(), Some(1.0), "{row}");
    }
}
