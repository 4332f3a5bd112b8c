//! Tests counters that are read at intervals: they add up to those of the summary, and reading them changes nothing.

use crate::common;
use crate::common::example;
use hostnet_config::Plan;
use hostnet_sim::{CheckpointError, Options, PoolUnit, Run, Units};
use serde_json::Value;

fn mixed(settings: &[&str]) -> Plan {
    let mut all =
        vec!["workload.stream.reads=0.5", "workload.stream.cores=0-2", "run.warmup=15 us", "run.duration=45 us"];
    all.extend(settings);
    example(common::QUADRANT_3, &all)
}

/// Returns a plan that ends when its confidence intervals are narrow.
fn to_a_precision() -> Plan {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[run]\nprecision = 0.2\nduration_max = \"2 ms\"\n\
                [workload.stream]\nkind = \"stream\"\ncores = \"0-2\"\nreads = 0.5\n";
    common::plan(text, &[])
}

fn run(plan: &Plan, options: Options) -> Run {
    let mut run = Run::new(plan, options);
    assert_eq!(run.run(|_| true), Ok(true));
    run
}

fn units(plan: &Plan, counters_ps: u64) -> Vec<Units> {
    run(plan, Options { counters_ps, ..Options::default() }).units().expect("counters")
}

#[test]
fn reading_counters_changes_no_result() {
    for plan in [mixed(&[]), to_a_precision()] {
        let mut plain = run(&plan, Options::default());
        assert_eq!(plain.units(), None);
        let plain = plain.report();
        for counters_ps in [1_000_000, 7_300_001, 10_000_000_000] {
            let mut with = run(&plan, Options { counters_ps, ..Options::default() });
            assert_eq!(with.report().result_hash, plain.result_hash, "every {counters_ps} ps");
        }
    }
}

#[test]
fn readings_end_with_the_window_and_only_grow() {
    let readings = units(&mixed(&[]), 7_000_000);
    let ends: Vec<u64> = readings.iter().map(|reading| reading.at_ps / 1_000_000).collect();
    assert_eq!(ends, [7, 14, 21, 28, 35, 42, 45]);
    assert_eq!(units(&mixed(&[]), 15_000_000).len(), 3, "an interval that ends with the window is not told twice");
    for pair in readings.windows(2) {
        for (before, after) in pools(&pair[0]).iter().zip(pools(&pair[1])) {
            assert!(after.lines >= before.lines && after.area_ps >= before.area_ps && after.full_ps >= before.full_ps);
        }
    }
}

fn pools(units: &Units) -> Vec<PoolUnit> {
    let mut pools =
        vec![units.core_read, units.core_write, units.io_read, units.io_write, units.iio_read, units.iio_write];
    pools.extend(units.cores.iter().map(|core| core.lfb));
    pools.extend(units.channels.iter().flat_map(|channel| [channel.rpq, channel.wpq]));
    pools
}

#[test]
fn the_last_reading_has_the_counters_of_the_summary() {
    let mut run = run(&mixed(&[]), Options { counters_ps: 10_000_000, ..Options::default() });
    let summary = run.report().summary["counters"].clone();
    let last = run.units().and_then(|readings| readings.last().cloned()).expect("a reading");
    let number = |value: &Value| value.as_f64().expect("a number");
    let window_ps = number(&summary["window_ns"]) * 1000.0;
    let channels = last.channels.len() as f64;
    let of_channels =
        |pick: &dyn Fn(&hostnet_sim::ChannelUnit) -> u64| last.channels.iter().map(pick).sum::<u64>() as f64;
    assert_eq!(number(&summary["lines_read"]), of_channels(&|channel| channel.reads));
    assert_eq!(number(&summary["lines_written"]), of_channels(&|channel| channel.writes));
    assert_eq!(number(&summary["read_activations"]), of_channels(&|channel| channel.read_activations));
    assert_eq!(number(&summary["write_activations"]), of_channels(&|channel| channel.write_activations));
    assert_eq!(number(&summary["read_conflicts"]), of_channels(&|channel| channel.read_conflicts));
    assert_eq!(number(&summary["write_conflicts"]), of_channels(&|channel| channel.write_conflicts));
    assert_eq!(number(&summary["mode_switches"]), of_channels(&|channel| channel.write_modes));
    let close = |value: &Value, area: f64| assert!((number(value) - area / window_ps).abs() < 1e-9, "{value} {area}");
    close(&summary["rpq_occupancy"], of_channels(&|channel| channel.rpq.area_ps) / channels);
    close(&summary["wpq_full_share"], of_channels(&|channel| channel.wpq.full_ps) / channels);
    let flows = [
        ("core_read", last.core_read),
        ("core_write", last.core_write),
        ("io_write", last.io_write),
        ("iio_write", last.iio_write),
    ];
    for (name, pool) in flows {
        assert!(pool.lines > 0, "{name}");
        assert_eq!(number(&summary[name]["lines"]), pool.lines as f64, "{name}");
        close(&summary[name]["occupancy"], pool.area_ps as f64);
    }
    close(&summary["lfb"]["occupancy"], last.cores.iter().map(|core| core.lfb.area_ps).sum::<u64>() as f64);
}

#[test]
fn readings_survive_a_checkpoint() {
    let plan = mixed(&[]);
    let options = Options { counters_ps: 7_000_000, ..Options::default() };
    let plain = units(&plan, options.counters_ps);
    for checkpoint_at_ps in [5_000_000, 31_000_000, 22_000_000] {
        let through = run(&plan, Options { checkpoint_at_ps, ..options });
        let bytes = through.checkpoint().expect("a checkpoint");
        let mut resumed = Run::resume(&plan, options, bytes).expect("a checkpoint of the same plan");
        assert_eq!(resumed.run(|_| true), Ok(true));
        assert_eq!(resumed.units().as_deref(), Some(&plain[..]), "across {checkpoint_at_ps} ps");
        let other = Run::resume(&plan, Options::default(), bytes);
        assert!(matches!(other, Err(CheckpointError::Label { .. })), "a checkpoint belongs to its interval");
    }
}

#[test]
fn a_run_that_is_still_warming_up_has_no_readings() {
    let plan = mixed(&["run.warmup=5 ms"]);
    let mut run = Run::new(&plan, Options { counters_ps: 1_000_000, ..Options::default() });
    let mut told = 0;
    while told < 3 {
        assert_eq!(
            run.run(|_| {
                told += 1;
                false
            }),
            Ok(false)
        );
    }
    assert_eq!(run.units(), None);
}

#[test]
fn sockets_add_up_to_the_server() {
    let text =
        "[server]\npreset = \"cascade-lake-6234\"\nsockets = 3\n[run]\nwarmup = \"10 us\"\nduration = \"30 us\"\n\
                [workload.near]\nkind = \"stream\"\ncores = \"0-2\"\nreads = 0.5\n\
                [workload.far]\nkind = \"stream\"\ncores = \"8-9,16\"\nmemory = \"node:0\"\nreads = 0.5\n\
                [workload.disk]\nkind = \"fio\"\n\
                jobs = [{ rw = \"rw\", bs = \"64 KiB\", iodepth = 8, size = \"8 MiB\", ssd = 5 }]\n";
    let readings = units(&common::plan(text, &[]), 10_000_000);
    let last = readings.last().expect("a reading");
    let sum = |pick: fn(&hostnet_sim::SocketUnit) -> PoolUnit| {
        let pools = last.sockets.iter().map(pick);
        pools.fold((0, 0), |sum, pool| (sum.0 + pool.lines, sum.1 + pool.area_ps))
    };
    let whole = |pool: PoolUnit| (pool.lines, pool.area_ps);
    assert_eq!(last.sockets.len(), 3);
    assert_eq!(sum(|socket| socket.core_read), whole(last.core_read));
    assert_eq!(sum(|socket| socket.core_write), whole(last.core_write));
    assert_eq!(sum(|socket| socket.io_read), whole(last.io_read));
    assert_eq!(sum(|socket| socket.io_write), whole(last.io_write));
    assert_eq!(sum(|socket| socket.iio_write), whole(last.iio_write));
    let reads = |socket: usize| (last.sockets[socket].local_reads, last.sockets[socket].remote_reads);
    assert!(reads(0).0 > 1000 && reads(0).1 == 0, "{:?}", reads(0));
    for socket in [1, 2] {
        assert!(reads(socket).0 == 0 && reads(socket).1 > 200, "{:?}", reads(socket));
    }
    let carried: Vec<_> = last.crossed.iter().map(|way| (way.from, way.to, way.lines > 0)).collect();
    let expected = [(0, 1, true), (0, 2, true), (1, 0, true), (1, 2, false), (2, 0, true), (2, 1, false)];
    assert_eq!(carried, expected);
    assert!(units(&mixed(&[]), 15_000_000)
        .iter()
        .all(|reading| reading.sockets.is_empty() && reading.crossed.is_empty()));
}
