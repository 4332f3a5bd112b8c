//! Tests that raising the named limit of a workload makes it faster, and that raising another limit does not.

use crate::common::example;
use hostnet_analysis::limits::{self, Key, Limit, Limits, Scale, LIMITS, NOT_KNOWN, RAISE, TOGETHER};
use hostnet_analysis::predict::PredictedServer;
use hostnet_bench::random;
use hostnet_config::Plan;
use hostnet_sim::{Options, Run};
use serde_json::Value;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Gains below this are noise in runs of this length.
const NOISE: f64 = 0.01;
/// Gain above which a limit should have been named.
const MISSED: f64 = 0.05;
/// Changes of throughput below this, measured or predicted, are not judged, as runs are short.
const JUDGED: f64 = 0.02;
/// Tolerance of a predicted gain.
const NEAR: f64 = 0.05;

/// Returns the throughput of each workload, in GB/s of lines.
fn simulated(plan: &Plan) -> Vec<f64> {
    let mut run = Run::new(plan, Options::default());
    run.run(|_| true).expect("a run goes on");
    let summary = run.report().summary;
    let rows = summary["workloads"].as_array().expect("a table").clone();
    rows.iter().map(|row| row["throughput_gb_per_s"].as_f64().unwrap_or(0.0)).collect()
}

fn with_raised(plan: &Plan, limit: &Limit) -> Plan {
    let mut raised = plan.clone();
    let server = raised.server_mut().expect("a server");
    *server = limit.raised(server, RAISE);
    raised
}

fn by_key(key: &str) -> &'static Limit {
    LIMITS.iter().chain(&TOGETHER).find(|limit| limit.key() == key).expect("a limit")
}

fn told(plan: &Plan) -> Vec<Limits> {
    limits::of(plan.server().expect("a server")).expect("predictions cover it")
}

/// Returns the gain of a workload from raising its first limit, or `None` if no limit is named.
fn gain_of_the_first(plan: &Plan, class: usize, limits: &Limits, now: &[f64]) -> Option<f64> {
    let first = limits.gains.first().filter(|_| limits.names() != [NOT_KNOWN])?;
    Some(simulated(&with_raised(plan, by_key(&first.key)))[class] / now[class] - 1.0)
}

/// Asserts that a limit is found that was planted while cores and drives contend.
fn assert_found(planted: &str, workload: &str, expected: &str) {
    let plan = example("quadrant3.toml", &["run.duration=200 us", planted]);
    let class = plan.server().expect("a server").workloads.iter().position(|found| found.name == workload);
    let (class, told, now) = (class.expect("a workload"), told(&plan), simulated(&plan));
    let names = told[class].names();
    assert!(names.iter().any(|name| name == expected), "{planted}: {workload} by {:?}", told[class]);
    let gain = gain_of_the_first(&plan, class, &told[class], &now);
    assert!(gain.is_some_and(|gain| gain > NOISE), "{planted}: {workload} {gain:?} by {:?}", told[class]);
}

#[test]
fn planted_limits_are_found() {
    for (planted, workload, expected) in [
        ("iio.line=20 ns", "disk", "IIO line"),
        ("iio.write_credits=4", "disk", "P2M-Write"),
        ("memory.controller.wpq.entries=4", "stream", "WPQ"),
        ("pcie.posted_lines=4", "disk", "PCIe posted"),
        ("pcie.lanes=4", "disk", "PCIe link"),
        ("ssd.bandwidth=1 GB/s", "disk", "offered load"),
        ("workload.disk.rate=2 GB/s", "disk", "offered load"),
        ("workload.stream.gap=100 ns", "stream", "offered load"),
        ("core.lfb.entries=2", "stream", "LFB"),
        ("memory.channels=1", "stream", "DRAM channel"),
    ] {
        assert_found(planted, workload, expected);
    }
}

/// Returns the setting that raises the value at a key by a factor, or `None` if the key has no value.
fn raised_value(config: &Value, key: &Key, path: &str, factor: f64) -> Option<String> {
    let value = path.split('.').try_fold(config, |table, name| table.get(name))?;
    let by = if key.scale == Scale::Less { 1.0 / factor } else { factor };
    Some(match value.as_str() {
        Some(text) => {
            let (number, unit) = text.split_once(' ').expect("a unit");
            format!("{path}={} {unit}", number.parse::<f64>().expect("a number") * by)
        }
        None => format!("{path}={}", value.as_f64().expect("a number") * by),
    })
}

#[test]
fn the_keys_of_a_limit_say_what_raising_it_changes() {
    let of_a_die = ["cha.tor.write_entries=8", "noc.die=cascade-lake-18", "noc.clock=2 GHz"];
    let of_sockets = ["server.sockets=2", "cache.enabled=true", "upi.tor_entries=4"];
    let of_remote = [
        "remote.sockets=1",
        "remote.lines_in_flight=28",
        "remote.directory=true",
        "remote.upi.bandwidth=20.8 GB/s",
        "remote.upi.latency=35 ns",
        "remote.upi.data_credits=64",
        "remote.upi.request_credits=64",
        "remote.upi.data=72 B",
        "remote.upi.request=8 B",
    ];
    let of_a_link = ["expander.channels=1"];
    let of_an_iommu = ["iommu.mode=lazy"];
    let by_numbers = [Scale::Count, Scale::Rate, Scale::Less];
    let keys = LIMITS.iter().flat_map(|limit| limit.keys.iter().map(move |key| (limit, key)));
    for (limit, key) in keys.filter(|(_, key)| by_numbers.contains(&key.scale)) {
        let given: &[&str] = match key.path.split('.').next() {
            _ if key.path == "cha.tor.expander_entries" => &["expander.channels=1", "cha.tor.expander_entries=4"],
            _ if key.path == "prefetch.stream_credits" => &["prefetch.stream_credits=4"],
            Some("upi" | "prefetch") => &of_sockets,
            Some("chiplets") => &["chiplets.ccds=8", "chiplets.fclk=2 GHz", "chiplets.entries=40", "cha.slices=2"],
            Some("remote") => &of_remote,
            Some("expander") => &of_a_link,
            Some("iommu") => &of_an_iommu,
            _ => &of_a_die,
        };
        let plan = example("quadrant3.toml", given);
        let config = &plan.effective;
        let paths = [key.path].into_iter().chain(key.along.iter().copied());
        let changes: Vec<String> = paths.filter_map(|path| raised_value(config, key, path, 2.0)).collect();
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let told = example("quadrant3.toml", &[given, &changes[..]].concat());
        let raised = limit.raised(plan.server().expect("a server"), 2.0);
        assert!(!changes.is_empty() && told.server() == Some(&raised), "{}: {changes:?}", limit.name);
    }
}

/// Tally of the right and wrong answers for some servers.
#[derive(Debug, Default)]
struct Tally {
    /// Number of workloads, and those of them with an unknown limit (`silent`).
    asked: usize,
    silent: usize,
    /// Workloads whose first limit does not help.
    wrong: Vec<String>,
    /// Limits that help much and were not named.
    missed: Vec<String>,
    /// Predicted and measured gains of raising each limit.
    steps: Vec<(f64, f64)>,
}

impl Tally {
    fn of(seed: u64) -> Self {
        let plan = random::server(seed);
        let (told, now) = (told(&plan), simulated(&plan));
        let server = plan.server().expect("a server");
        let base = PredictedServer::new(server);
        let mut tally = Self::default();
        for limit in LIMITS.iter().filter(|limit| limit.raised(server, RAISE) != *server) {
            let Some(predicted) = base.paces(&limit.raised(server, RAISE)) else { continue };
            let then = simulated(&with_raised(&plan, limit));
            for (class, limits) in told.iter().enumerate() {
                let gain = then[class] / now[class] - 1.0;
                tally.steps.push((predicted[class].gb_per_s / base.now[class].gb_per_s - 1.0, gain));
                if gain > MISSED && limits.gains.iter().all(|told| told.key != limit.key()) {
                    let name = &server.workloads[class].name;
                    tally.missed.push(format!("{seed} {name}: {} {gain:.3}, told {limits:?}", limit.key()));
                }
            }
        }
        for (class, limits) in told.iter().enumerate() {
            assert!(now[class] > 0.0, "{seed}: every workload moves something");
            tally.asked += 1;
            tally.silent += usize::from(limits.names() == [NOT_KNOWN]);
            if gain_of_the_first(&plan, class, limits, &now).is_some_and(|gain| gain < NOISE) {
                tally.wrong.push(format!("{seed} {}: {limits:?}", server.workloads[class].name));
            }
        }
        tally
    }

    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.silent += other.silent;
        self.wrong.extend(other.wrong);
        self.missed.extend(other.missed);
        self.steps.extend(other.steps);
    }

    /// Returns the number of steps with a predicted or measured effect, of those with the right sign, and of those
    /// within [`NEAR`].
    fn judged(&self) -> [usize; 3] {
        let judged = || self.steps.iter().filter(|(told, found)| told.abs().max(found.abs()) >= JUDGED);
        let right = judged().filter(|(told, found)| told * found > 0.0).count();
        let near = judged().filter(|(told, found)| (told - found).abs() <= NEAR).count();
        [judged().count(), right, near]
    }
}

/// Returns the tally of many servers, which are distributed over a thread per processor.
fn tally(seeds: Range<u64>) -> Tally {
    let next = AtomicU64::new(seeds.start);
    let some = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return tally;
            }
            tally.add(Tally::of(seed));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut all = Tally::default();
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        running.into_iter().for_each(|thread| all.add(thread.join().expect("a tally")));
    });
    all
}

fn assert_answers_are_right(seeds: Range<u64>) {
    let tally = tally(seeds);
    let Tally { asked, silent, wrong, missed, steps } = &tally;
    let [judged, right, near] = tally.judged();
    println!(
        "{asked} asked, {silent} silent, {} wrong, {} missed; {} steps, {judged} judged, {right} of these with the \
        right sign, {near} near\n{wrong:#?}\n{missed:#?}",
        wrong.len(),
        missed.len(),
        steps.len()
    );
    assert!(silent * 10 <= *asked, "{silent} of {asked} not known");
    assert!(wrong.len() * 20 <= *asked, "{} of {asked}: {wrong:#?}", wrong.len());
    assert!(missed.len() * 20 <= *asked, "{} of {asked}: {missed:#?}", missed.len());
    assert!(right * 10 >= judged * 9, "{right} of {judged} steps have the right sign");
    assert!(near * 5 >= judged * 4, "{near} of {judged} steps are near");
}

#[test]
fn the_named_limit_helps_and_no_other_does_much() {
    assert_answers_are_right(1..9);
}

#[test]
#[ignore = "long"]
fn the_named_limit_helps_and_no_other_does_much_on_many_servers() {
    assert_answers_are_right(100..400);
}
