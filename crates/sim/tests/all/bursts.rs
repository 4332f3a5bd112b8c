//! Fidelity "burst" of lone servers: how far its results are from those line by line.

use crate::common::example;
use crate::common::scenario::{scenario, scenarios};
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;

/// Lines of a burst.
const LINES: u32 = 4;

/// Relative error above which the server is printed.
const SHOWN: f64 = 0.2;

/// Returns the results of a server in its window.
fn report(plan: &hostnet_config::Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    run.run(|_| true).expect("nothing is stuck");
    run.report()
}

/// Returns a value of every workload.
fn values(report: &Report, column: &str) -> Vec<f64> {
    let rows = report.summary["workloads"].as_array().expect("there are some");
    rows.iter().map(|row| row.get(column).and_then(Value::as_f64).unwrap_or(0.0)).collect()
}

/// Returns the relative errors of throughput and mean latency of every workload of random servers.
fn errors(count: usize, us: u64) -> [Vec<f64>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for (number, scenario) in scenarios(scenario(LINES), count).into_iter().enumerate() {
        let [lines, bursts] = ["line", "burst"].map(|fidelity| {
            let duration = format!("run.duration={us} us");
            report(&scenario.plan_with(&[&format!("server.fidelity={fidelity}"), &duration, "run.warmup=100 us"]))
        });
        for (column, errors) in ["throughput_gb_per_s", "latency_mean_ns"].iter().zip(&mut all) {
            let pairs = values(&lines, column).into_iter().zip(values(&bursts, column));
            let own: Vec<[f64; 3]> = pairs.filter(|pair| pair.0 > 0.0).map(|(a, b)| [b / a - 1.0, a, b]).collect();
            println!("{number} {column} {own:.4?}");
            if own.iter().any(|error| error[0].abs() > SHOWN) {
                println!("{scenario:?}");
            }
            errors.extend(own.iter().map(|error| error[0].abs()));
        }
    }
    all
}

/// Returns the quantile at a share of some values.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(share * (values.len() - 1) as f64) as usize]
}

/// Returns the results of an example line by line, and in bursts.
fn both(name: &str) -> [Report; 2] {
    ["line", "burst"].map(|fidelity| {
        report(&example(name, &[&format!("server.fidelity={fidelity}"), "run.duration=200 us", "run.warmup=50 us"]))
    })
}

/// Returns the rows of a table in the summary.
fn rows<'a>(report: &'a Report, table: &str) -> &'a [Value] {
    report.summary[table].as_array().expect("it is a table")
}

#[test]
fn results_count_lines_and_bytes() {
    let [lines, bursts] = both("quadrant3.toml");
    for (line, burst) in rows(&lines, "domains").iter().zip(rows(&bursts, "domains")) {
        assert_eq!(line["domain"], burst["domain"]);
        let [line, burst] = [line, burst].map(|row| row["capacity"].as_f64().expect("it has one"));
        assert!((burst / line - 1.0).abs() < 0.05, "credits are lines: {burst} of {line}");
    }
    for (line, burst) in rows(&lines, "workloads").iter().zip(rows(&bursts, "workloads")) {
        let of = |row: &Value, column: &str| row[column].as_f64().expect("it has one");
        let lines_moved = of(burst, "throughput_gb_per_s") * 200_000.0 / 64.0;
        assert!((of(burst, "lines") / lines_moved - 1.0).abs() < 1e-3, "{} lines", burst["lines"]);
        assert!((of(burst, "app_gb_per_s") / of(line, "app_gb_per_s") - 1.0).abs() < 0.15);
        assert_eq!(line["limited_by"], burst["limited_by"]);
    }
    let occupancy = |report: &Report| report.summary["counters"]["rpq_occupancy"].as_f64().expect("it has one");
    let found = rows(&bursts, "channels")[0]["rpq_mean"].as_f64().expect("it has one");
    assert!((occupancy(&bursts) / found - 1.0).abs() < 1e-9, "counters tell lines as well");
}

#[test]
fn a_checkpoint_in_bursts_changes_nothing() {
    let plan = example("quadrant1.toml", &["server.fidelity=burst", "run.duration=100 us", "run.warmup=20 us"]);
    let options = Options { checkpoint_at_ps: 60_000_000, ..Options::default() };
    let mut run = Run::new(&plan, options);
    run.run(|_| true).expect("nothing is stuck");
    let bytes = run.checkpoint().expect("it was written").to_vec();
    let mut resumed = Run::resume(&plan, options, &bytes).expect("it fits");
    resumed.run(|_| true).expect("nothing is stuck");
    assert_eq!(resumed.report().result_hash, run.report().result_hash);
}

#[test]
#[ignore = "long"]
fn three_hundred_servers_are_as_close_as_the_note_says() {
    for (mut errors, limits) in errors(300, 500).into_iter().zip([[0.011, 0.16], [0.034, 0.22]]) {
        let found = [0.5, 0.95].map(|share| quantile(&mut errors, share));
        println!("{found:?} of {}", errors.len());
        assert!(found[0] < limits[0] && found[1] < limits[1], "{found:?}");
    }
}
