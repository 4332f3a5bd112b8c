//! Tests that a trace agrees line by line with the statistics of the domains, and changes nothing.

use crate::common;
use crate::common::{example, plan, stream};
use hostnet_config::Plan;
use hostnet_sim::sample::PoolGroup;
use hostnet_sim::{lanes, Crossing, Hop, Options, Report, Run, Trace};
use std::collections::BTreeMap;

const US: u64 = 1_000_000;

/// Returns a plan of cores that load and store beside drives that are read and written.
fn mixed() -> Plan {
    let text = r#"
        [server]
        preset = "cascade-lake-6234"
        [run]
        warmup = "15 us"
        duration = "20 us"
        [workload.stream]
        kind = "stream"
        cores = "0-2"
        reads = 0.5
        [workload.disk]
        kind = "fio"
        jobs = [
            { rw = "read", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 0 },
            { rw = "write", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 1 },
        ]
    "#;
    plan(text, &[])
}

fn traced(plan: &Plan, trace_ps: u64) -> (Trace, Report) {
    let mut run = Run::new(plan, Options { trace_ps, ..Options::default() });
    assert_eq!(run.run(|_| true), Ok(true));
    let trace = run.take_trace().expect("a trace was asked for");
    assert_eq!(run.take_trace(), None);
    (trace, run.report())
}

fn of(trace: &Trace, group: PoolGroup) -> Vec<&Crossing> {
    trace.crossings.iter().filter(|crossing| crossing.group == group).collect()
}

/// Returns a value of a domain for all parts and workloads.
fn value(report: &Report, group: PoolGroup, column: &str) -> f64 {
    let table = report.table("domains").expect("a report has domains");
    let row = table.rows.iter().find(|row| {
        let text = |column| table.text(row, column);
        text("domain") == Some(group.name()) && text("part") == Some("all") && text("workload") == Some("all")
    });
    row.and_then(|row| table.number(row, column)).unwrap_or(0.0)
}

const DOMAINS: [PoolGroup; 6] = [
    PoolGroup::C2mRead,
    PoolGroup::C2mWrite,
    PoolGroup::P2mWrite,
    PoolGroup::P2mRead,
    PoolGroup::ChaRead,
    PoolGroup::ChaWrite,
];

#[test]
fn a_trace_changes_nothing() {
    let mut plain = Run::new(&mixed(), Options::default());
    assert_eq!(plain.run(|_| true), Ok(true));
    assert_eq!(plain.take_trace(), None);
    for trace_ps in [1, 7 * US + 3, 20 * US, 100 * US] {
        let mut run = Run::new(&mixed(), Options { trace_ps, ..Options::default() });
        assert_eq!(run.run(|_| true), Ok(true));
        assert_eq!(run.report(), plain.report(), "with a trace of {trace_ps} ps");
        assert_eq!(run.epochs(), plain.epochs());
        let trace = run.take_trace().expect("a trace was asked for");
        assert_eq!((trace.start_ps, trace.end_ps), (15 * US, (15 * US + trace_ps).min(35 * US)));
    }
}

#[test]
fn crossings_are_the_residences_of_the_domains() {
    let (trace, report) = traced(&mixed(), 20 * US);
    assert_eq!(trace.one_in, 1);
    for group in DOMAINS {
        let crossings = of(&trace, group);
        let sum_ps: u64 = crossings.iter().map(|crossing| crossing.end_ps - crossing.start_ps).sum();
        let mean_ns = sum_ps as f64 / crossings.len() as f64 / 1000.0;
        assert!(crossings.len() > 50, "{} of {}", crossings.len(), group.name());
        assert_eq!(crossings.len() as f64, value(&report, group, "lines"), "{}", group.name());
        let told_ns = value(&report, group, "latency_mean_ns");
        assert!((mean_ns - told_ns).abs() < 1e-6 * told_ns, "{}: {mean_ns} is not {told_ns}", group.name());
    }
    assert_eq!(trace.crossings.len(), DOMAINS.iter().map(|&group| of(&trace, group).len()).sum::<usize>());
}

#[test]
fn counters_have_the_means_of_the_domains() {
    let (trace, report) = traced(&mixed(), 20 * US);
    let groups = [
        PoolGroup::Lfb,
        PoolGroup::Tor,
        PoolGroup::Rpq,
        PoolGroup::Wpq,
        PoolGroup::P2mWrite,
        PoolGroup::P2mRead,
        PoolGroup::Posted,
        PoolGroup::NonPosted,
    ];
    for group in groups {
        let mine: Vec<_> = trace.counters.iter().filter(|counter| counter.group == group).collect();
        let area: f64 = mine
            .iter()
            .flat_map(|counter| {
                let ends = counter.points.iter().skip(1).map(|point| point.0).chain([trace.end_ps]);
                counter.points.iter().zip(ends).map(|(point, end_ps)| point.1 * (end_ps - point.0) as f64)
            })
            .sum();
        let mean = area / (20 * US) as f64;
        let told = value(&report, group, "in_use_mean");
        assert!(told > 0.0 && (mean - told).abs() < 1e-9 * told, "{}: {mean} is not {told}", group.name());
        assert!(mine.iter().all(|counter| counter.points.iter().all(|point| point.1 <= f64::from(counter.capacity))));
    }
}

#[test]
fn hops_follow_each_other_from_begin_to_end() {
    let (trace, _) = traced(&mixed(), 20 * US);
    let mut whole = 0;
    for crossing in &trace.crossings {
        assert!(crossing.start_ps < crossing.end_ps && crossing.end_ps <= trace.end_ps, "{crossing:?}");
        assert!(crossing.end_ps >= trace.start_ps);
        let hops: Vec<_> = crossing.hops().collect();
        let Some(last) = hops.last() else {
            assert!(
                crossing.start_ps < trace.start_ps + US,
                "only what began before the trace has no hops: {crossing:?}"
            );
            continue;
        };
        whole += 1;
        assert_eq!((hops[0].1, last.2), (crossing.start_ps, crossing.end_ps));
        assert!(hops.windows(2).all(|pair| pair[0].2 == pair[1].1), "{crossing:?}");
        assert_eq!(hops.iter().map(|hop| hop.2 - hop.1).sum::<u64>(), crossing.end_ps - crossing.start_ps);
    }
    assert!(whole * 10 > trace.crossings.len() * 9);
}

#[test]
fn waiting_for_the_dram_is_the_residence_of_the_rpq() {
    let (trace, report) = traced(&stream("0-3", 1.0, &["run.duration=20 us"]), 20 * US);
    let hops = |wanted: Hop| -> Vec<u64> {
        let all = trace.crossings.iter().flat_map(Crossing::hops);
        all.filter(|hop| hop.0 == wanted).map(|hop| hop.2 - hop.1).collect()
    };
    let mean = |hops: &[u64]| hops.iter().sum::<u64>() as f64 / hops.len() as f64 / 1000.0;
    let told_ns = value(&report, PoolGroup::Rpq, "latency_mean_ns");
    let found_ns = mean(&hops(Hop::Rpq));
    assert!((found_ns - told_ns).abs() < 0.02 * told_ns, "{found_ns} is not {told_ns}");
    let data = hops(Hop::Dram);
    assert!(data.iter().all(|&time_ps| time_ps == data[0]), "CL and a burst");
    assert!(hops(Hop::Forwarded).is_empty() && hops(Hop::WaitForWpq).is_empty());
}

#[test]
fn a_line_is_followed_through_its_domains() {
    let (trace, _) = traced(&mixed(), 20 * US);
    let mut by_line: BTreeMap<u64, Vec<&Crossing>> = BTreeMap::new();
    trace.crossings.iter().for_each(|crossing| by_line.entry(crossing.line).or_default().push(crossing));
    let pairs: Vec<_> = by_line.values().filter(|crossings| crossings.len() > 1).collect();
    assert!(pairs.len() * 10 > by_line.len() * 9);
    for crossings in pairs {
        let [first, second] = crossings[..] else { panic!("a line crosses two domains: {crossings:?}") };
        assert_eq!((first.place, first.class), (second.place, second.class));
        let groups = [first.group, second.group];
        let allowed = [
            [PoolGroup::ChaRead, PoolGroup::C2mRead],
            [PoolGroup::ChaRead, PoolGroup::P2mRead],
            [PoolGroup::C2mWrite, PoolGroup::ChaWrite],
            [PoolGroup::ChaWrite, PoolGroup::P2mWrite],
        ];
        assert!(allowed.contains(&groups), "{groups:?}");
    }
}

#[test]
fn entries_hold_one_line_at_a_time() {
    let (trace, report) = traced(&mixed(), 20 * US);
    let (entries, order) = lanes(&trace.crossings);
    let mut free_ps = BTreeMap::new();
    for index in order {
        let (part, group, entry) = entries[index];
        let crossing = &trace.crossings[index];
        let free = free_ps.insert((part.name(), group as usize, entry), crossing.end_ps).unwrap_or(0);
        assert!(free <= crossing.start_ps, "entry {entry} of {} is taken twice", part.name());
        let capacity = trace.counters.iter().find(|counter| counter.part == part && counter.group == group);
        assert!(entry < capacity.expect("a buffer in use has a counter").capacity as usize);
    }
    assert!(value(&report, PoolGroup::Lfb, "lines") > 0.0);
}

#[test]
fn a_long_trace_keeps_a_part_of_the_lines() {
    let plan = example(common::QUADRANT_3, &["run.warmup=10 us", "run.duration=150 us"]);
    let (trace, _) = traced(&plan, 150 * US);
    assert!(trace.one_in.is_power_of_two() && trace.one_in > 1, "one in {}", trace.one_in);
    assert!(trace.crossings.iter().all(|crossing| crossing.line % trace.one_in == 0));
    assert!((20_000..100_000).contains(&trace.crossings.len()));
    assert!(trace.crossings[0].end_ps < 11 * US && trace.crossings.last().expect("lines").end_ps > 159 * US);
    assert!(trace.counters.iter().all(|counter| counter.points.len() <= 10_001));
}

#[test]
fn a_trace_begins_where_a_run_goes_on_and_ends_where_it_stops() {
    let options = Options { checkpoint_at_ps: 22 * US, ..Options::default() };
    let mut through = Run::new(&mixed(), options);
    assert_eq!(through.run(|_| true), Ok(true));
    let bytes = through.checkpoint().expect("a checkpoint");
    let options = Options { trace_ps: 4 * US, ..Options::default() };
    let mut resumed = Run::resume(&mixed(), options, bytes).expect("a checkpoint of the same plan");
    assert_eq!(resumed.run(|_| true), Ok(true));
    assert_eq!(resumed.report(), through.report());
    let trace = resumed.take_trace().expect("a trace");
    assert_eq!((trace.start_ps, trace.end_ps), (22 * US, 26 * US));
    let mut stopped = Run::new(&mixed(), options);
    assert_eq!(stopped.run(|_| false), Ok(false));
    assert_eq!(stopped.take_trace(), None, "it was stopped in the warm-up");
}
