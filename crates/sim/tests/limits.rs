//! What is said to limit a workload is raised, and it gets faster; what is not said to, is raised for nothing.

mod common;

use common::{example, plan};
use hostnet_analysis::limits::{self, Key, Limit, Limits, Scale, LIMITS, NOT_KNOWN, RAISE, TOGETHER};
use hostnet_config::Plan;
use hostnet_kernel::Rng;
use hostnet_sim::{Options, Run};
use serde_json::Value;

/// Gains below this are taken for noise, in runs of this length.
const NOISE: f64 = 0.01;
/// A gain of a limit that nobody named and that should have been.
const MISSED: f64 = 0.05;
const DEVICES: [&str; 5] = ["DDR4_2400", "DDR4_2933", "DDR4_3200", "DDR5_4800", "DDR5_6400"];

/// Throughput of each workload, in GB/s of lines.
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

/// What raising the first limit of a workload does; nothing if none is named.
fn gain_of_the_first(plan: &Plan, class: usize, limits: &Limits, now: &[f64]) -> Option<f64> {
    let first = limits.gains.first().filter(|_| limits.names() != [NOT_KNOWN])?;
    Some(simulated(&with_raised(plan, by_key(&first.key)))[class] / now[class] - 1.0)
}

/// A limit that is planted where cores and drives contend.
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

/// The value at a key of a configuration, raised by a factor; nothing where it is not given.
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
    let plan = example("quadrant3.toml", &["cha.tor.write_entries=8"]);
    let config = &plan.effective;
    let by_numbers = [Scale::Count, Scale::Rate, Scale::Less];
    let keys = LIMITS.iter().flat_map(|limit| limit.keys.iter().map(move |key| (limit, key)));
    for (limit, key) in keys.filter(|(_, key)| by_numbers.contains(&key.scale)) {
        let paths = [key.path].into_iter().chain(key.along.iter().copied());
        let changes: Vec<String> = paths.filter_map(|path| raised_value(config, key, path, 2.0)).collect();
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let told = example("quadrant3.toml", &[&["cha.tor.write_entries=8"], &changes[..]].concat());
        let raised = limit.raised(plan.server().expect("a server"), 2.0);
        assert!(!changes.is_empty() && told.server() == Some(&raised), "{}: {changes:?}", limit.name);
    }
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u64) as usize]
}

/// A server of 2 to 32 cores that load or store, some of them beside drives.
fn random_server(seed: u64) -> Plan {
    let rng = &mut Rng::new(seed, 0);
    let count = 2 << rng.below(5);
    let preset = pick(rng, &["cascade-lake-6234", "ice-lake-8362"]);
    let (channels, device) = (pick(rng, &["1", "2", "3", "4", "6", "8"]), pick(rng, &DEVICES));
    let (entries, tor) = (pick(rng, &["8", "10", "12", "16", "24"]), pick(rng, &["8", "10", "14", "20", "32"]));
    let (writes, reads) = (pick(rng, &["23", "46", "92", "184"]), pick(rng, &["50", "100", "200", "400"]));
    let (share, pattern) = (pick(rng, &["0.0", "0.5", "1.0"]), pick(rng, &["sequential", "random"]));
    let gap = pick(rng, &["0 ns", "0 ns", "0 ns", "40 ns", "200 ns"]);
    let rw = pick(rng, &["", "read", "read", "write", "rw"]);
    let last = if rw.is_empty() { count - 1 } else { (count - 2).max(0) };
    let mut text = format!(
        "server.preset = \"{preset}\"\ncore = {{ count = {count}, lfb.entries = {entries} }}\n\
        cha = {{ slices = {}, tor = {{ entries = {tor}, write_entries = {tor} }} }}\n\
        memory = {{ channels = {channels}, device = \"{device}\" }}\n\
        iio = {{ write_credits = {writes}, read_credits = {reads} }}\n\
        run = {{ duration = \"120 us\", warmup = \"auto\", seed = {seed} }}\n\
        workload.stream = {{ kind = \"stream\", cores = \"0-{last}\", working_set = \"64 MiB\", reads = {share}, \
        pattern = \"{pattern}\", \
        gap = \"{gap}\" }}\n",
        count.max(18)
    );
    if !rw.is_empty() {
        let drives = 1 << rng.below(4);
        let rate = pick(rng, &["0.7", "1.5", "3.5", "7"]);
        let job =
            |drive| format!("{{ rw = \"{rw}\", bs = \"128 KiB\", iodepth = 32, size = \"1 GiB\", ssd = {drive} }}");
        let jobs: Vec<String> = (0..drives).map(job).collect();
        let rates = if preset == "ice-lake-8362" {
            format!("read_bandwidth = \"{rate} GB/s\", write_bandwidth = \"{rate} GB/s\"")
        } else {
            format!("bandwidth = \"{rate} GB/s\"")
        };
        text += &format!(
            "ssd = {{ count = {drives}, {rates} }}\n\
            workload.disk = {{ kind = \"fio\", cores = \"{}\", jobs = [{}] }}\n",
            count - 1,
            jobs.join(", ")
        );
    }
    plan(&text, &[])
}

/// How often the first limit that is named helps, and how often a limit helps much that nobody named.
fn tally(seeds: std::ops::Range<u64>) -> (usize, Vec<String>, Vec<String>) {
    let (mut asked, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
    let mut silent = 0;
    for seed in seeds {
        let plan = random_server(seed);
        let (told, now) = (told(&plan), simulated(&plan));
        let server = plan.server().expect("a server");
        let raised: Vec<(&Limit, Vec<f64>)> = LIMITS
            .iter()
            .filter(|limit| limit.raised(server, RAISE) != *server)
            .map(|limit| (limit, simulated(&with_raised(&plan, limit))))
            .collect();
        for (class, limits) in told.iter().enumerate() {
            asked += 1;
            assert!(now[class] > 0.0, "{seed}: every workload moves something");
            silent += usize::from(limits.names() == [NOT_KNOWN]);
            let name = &server.workloads[class].name;
            if gain_of_the_first(&plan, class, limits, &now).is_some_and(|gain| gain < NOISE) {
                wrong.push(format!("{seed} {name}: {limits:?}"));
            }
            for (limit, then) in &raised {
                let gain = then[class] / now[class] - 1.0;
                if gain > MISSED && limits.gains.iter().all(|told| told.key != limit.key()) {
                    missed.push(format!("{seed} {name}: {} {gain:.3}, told {limits:?}", limit.key()));
                }
            }
        }
    }
    assert!(silent * 10 <= asked, "{silent} of {asked} not known");
    (asked, wrong, missed)
}

fn assert_answers_are_right(seeds: std::ops::Range<u64>) {
    let (asked, wrong, missed) = tally(seeds);
    println!("{asked} asked, {} wrong, {} missed\n{wrong:#?}\n{missed:#?}", wrong.len(), missed.len());
    assert!(wrong.len() * 20 <= asked, "{} of {asked}: {wrong:#?}", wrong.len());
    assert!(missed.len() * 20 <= asked, "{} of {asked}: {missed:#?}", missed.len());
}

#[test]
fn the_named_limit_helps_and_no_other_does_much() {
    assert_answers_are_right(1..9);
}

#[test]
#[ignore = "long"]
fn the_named_limit_helps_and_no_other_does_much_on_many_servers() {
    assert_answers_are_right(100..200);
}
