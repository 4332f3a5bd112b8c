//! Tests that a single difference between two runs is found.

use crate::compare::{compare_with_records, side_by_side, LockstepResult, ReplayVerdict};
use crate::watch::epochs::Epoch;
use crate::{first_deviation, first_divergence, Options, Run};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::{Scheduler, Time};
use hostnet_model::iio::Iio;
use hostnet_model::{Machine, PartKind, Payload};
use std::path::Path;

const US: u64 = 1_000_000;

fn plan(settings: &[&str]) -> Plan {
    let text = r#"
        [server]
        preset = "cascade-lake-6234"
        [run]
        warmup = "12 us"
        duration = "33 us"
        [workload.stream]
        kind = "stream"
        cores = "0-1"
        [workload.disk]
        kind = "fio"
        jobs = [{ rw = "read", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 0 }]
    "#;
    let overrides: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let base_dir = Path::new(".");
    resolve(&Input { text, format: Format::Toml, file: "test", base_dir, overrides: &overrides }).expect("it is right")
}

fn start(plan: &Plan) -> Run {
    Run::new(plan, Options::default())
}

fn epochs_of(mut run: Run) -> Vec<Epoch> {
    assert_eq!(run.run(|_| true), Ok(true));
    run.epochs().to_vec()
}

/// Returns a run that is changed by `change` at `at_ps`.
fn changed(plan: &Plan, at_ps: u64, change: impl FnOnce(&mut Machine, &mut Scheduler<Payload>)) -> Run {
    let mut run = start(plan);
    assert_eq!(run.run_until(Time::from_ps(at_ps), &mut |_| true, &mut |_| true), Ok(true));
    let (machine, scheduler) = run.world();
    change(machine, scheduler);
    run
}

/// Returns a change that schedules an event without effect: a wake-up of a channel that has not scheduled one.
fn idle_event(delay_ps: u64) -> impl FnOnce(&mut Machine, &mut Scheduler<Payload>) {
    move |machine, scheduler| {
        let channel = machine.id(PartKind::Channel).expect("a server has channels");
        scheduler.send(channel, channel, delay_ps, Payload::Wake);
    }
}

#[test]
fn epochs_end_every_10_us_and_with_the_run() {
    let ends: Vec<u64> = epochs_of(start(&plan(&[]))).iter().map(|epoch| epoch.end_ps / US).collect();
    assert_eq!(ends, [10, 20, 30, 40, 45]);
    let ends: Vec<u64> =
        epochs_of(start(&plan(&["run.duration=28 us"]))).iter().map(|epoch| epoch.end_ps / US).collect();
    assert_eq!(ends, [10, 20, 30, 40]);
}

#[test]
fn epochs_do_not_depend_on_stops_series_or_checkpoints() {
    let plan = plan(&["run.warmup=10 us", "run.duration=30 us"]);
    let whole = epochs_of(start(&plan));
    for series_ps in [US / 3, 10 * US] {
        assert_eq!(epochs_of(Run::new(&plan, Options { series_ps, ..Options::default() })), whole);
    }
    for checkpoint_at_ps in [1, 9 * US + 7, 10 * US, 10 * US + 1, 20 * US, 39 * US] {
        let mut through = Run::new(&plan, Options { checkpoint_at_ps, ..Options::default() });
        assert_eq!(through.run(|_| true), Ok(true));
        assert_eq!(through.epochs(), whole, "taking a checkpoint at {checkpoint_at_ps} ps");
        let bytes = through.checkpoint().expect("a checkpoint");
        let resumed = Run::resume(&plan, Options::default(), bytes).expect("a checkpoint of the same plan");
        assert_eq!(epochs_of(resumed), whole, "going on from {checkpoint_at_ps} ps");
    }
    for stop_ps in [US, 10 * US, 17 * US] {
        assert_eq!(epochs_of(changed(&plan, stop_ps, |_, _| ())), whole, "stopped at {stop_ps} ps");
    }
}

#[test]
fn a_missing_credit_changes_all_later_hashes() {
    let plan = plan(&[]);
    let whole = epochs_of(start(&plan));
    let take = |machine: &mut Machine, scheduler: &mut Scheduler<Payload>| {
        let iio = machine.components_mut().iter_mut().find_map(|component| component.get_mut::<Iio>());
        let write = iio.expect("a server has an IIO").domains_mut().next().expect("an IIO has a write buffer");
        assert!(write.try_acquire(scheduler.now(), 0_u8));
    };
    let other = epochs_of(changed(&plan, 14 * US, take));
    assert_eq!(other[0], whole[0]);
    assert!(whole[1..].iter().zip(&other[1..]).all(|(a, b)| a.hash != b.hash), "it is never given back");
}

#[test]
fn a_shifted_event_changes_the_hash_while_it_is_pending() {
    let plan = plan(&[]);
    let [early, late] = [0, 1].map(|more_ps| epochs_of(changed(&plan, 14 * US, idle_event(8 * US + more_ps))));
    let same: Vec<bool> = early.iter().zip(&late).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, false, true, true, true], "it is pending when the second epoch ends, and changes nothing");
}

#[test]
fn an_extra_event_is_found_with_its_context() {
    let plan = plan(&[]);
    let at_ps = 22 * US + 3;
    for from_ps in [0, 10 * US, 19 * US] {
        let runs = [start(&plan), changed(&plan, 0, idle_event(at_ps))];
        let Ok(LockstepResult::Diverged(found)) = side_by_side(runs, from_ps, 5, |_| true) else {
            panic!("no divergence")
        };
        let [plain, extra] = &found.differing;
        assert_eq!((extra[0].at_ps, extra[0].payload), (at_ps, Payload::Wake));
        assert_eq!(extra[0].target.name(), "channel 0");
        assert!(plain[0].at_ps >= extra[0].at_ps, "the run without it goes on with what comes next");
        assert_eq!((found.common.len(), plain.len(), extra.len()), (5, 5, 5));
        assert!(found.common.windows(2).all(|pair| pair[0].at_ps <= pair[1].at_ps));
        assert!(found.common[4].at_ps <= extra[0].at_ps);
        let mut counted = start(&plan);
        assert_eq!(counted.run_until(Time::from_ps(extra[0].at_ps), &mut |_| true, &mut |_| true), Ok(true));
        assert_eq!(found.events_before, counted.events());
    }
}

#[test]
fn equal_plans_do_not_diverge() {
    let end_ps = 45 * US;
    for from_ps in [0, 10 * US, 45 * US, 60 * US] {
        assert_eq!(
            first_divergence([&plan(&[]), &plan(&[])], from_ps, 5, |_| true),
            Ok(LockstepResult::Same { until_ps: end_ps })
        );
    }
    let longer = plan(&["run.duration=50 us"]);
    assert_eq!(first_divergence([&plan(&[]), &longer], 0, 5, |_| true), Ok(LockstepResult::Same { until_ps: end_ps }));
}

#[test]
fn different_seeds_diverge_at_the_first_line() {
    let Ok(LockstepResult::Diverged(found)) = first_divergence([&plan(&[]), &plan(&["run.seed=2"])], 0, 4, |_| true)
    else {
        panic!("two seeds are two runs")
    };
    let [a, b] = &found.differing;
    assert!(a[0] != b[0] && a[0].at_ps < US);
}

#[test]
fn servers_of_different_size_are_compared_by_their_parts() {
    let plans = [plan(&[]), plan(&["ssd.count=3"])];
    let found = first_divergence([&plans[0], &plans[1]], 0, 4, |_| true);
    assert_eq!(found, Ok(LockstepResult::Same { until_ps: 45 * US }), "drives without a job do nothing");
}

#[test]
fn a_differing_record_is_distinguished_from_an_agreeing_one() {
    let plan = plan(&[]);
    let right = epochs_of(start(&plan));
    let mut wrong = right.clone();
    wrong[2].hash ^= 1;
    let stopped = right[..2].to_vec();
    let records = [right.clone(), wrong, stopped.clone()];
    let Ok(ReplayVerdict::Deviated(found)) = first_deviation(&plan, &records, 7, |_| true) else {
        panic!("no deviation")
    };
    assert_eq!((found.start_ps, found.end_ps), (20 * US, 30 * US));
    assert_eq!(found.agrees, [true, false, true]);
    assert_eq!(found.events.len(), 7);
    assert!(found.events_count > 1000);
    assert!(found.events.iter().all(|event| (20 * US..30 * US).contains(&event.at_ps)));
    assert_eq!(first_deviation(&plan, &[right.clone(), stopped], 7, |_| true), Ok(ReplayVerdict::Same));
    let other = changed(&plan, 14 * US, idle_event(8 * US));
    let Ok(ReplayVerdict::Deviated(found)) = compare_with_records(other, &[Vec::new(), right], 7, |_| true) else {
        panic!("no deviation")
    };
    assert_eq!(found.agrees, [true, false]);
}

#[test]
fn a_record_longer_than_the_run_differs() {
    let plan = plan(&[]);
    let mut longer = epochs_of(start(&plan));
    longer.push(Epoch { end_ps: 50 * US, hash: 1 });
    let Ok(ReplayVerdict::Deviated(found)) = first_deviation(&plan, &[longer], 7, |_| true) else {
        panic!("no deviation")
    };
    assert_eq!((found.start_ps, found.end_ps, found.events_count), (45 * US, 45 * US, 0));
}

#[test]
fn both_comparisons_stop_on_request() {
    let plan = plan(&[]);
    assert_eq!(first_divergence([&plan, &plan], 0, 5, |_| false), Ok(LockstepResult::Stopped));
    assert_eq!(first_deviation(&plan, &[epochs_of(start(&plan))], 5, |_| false), Ok(ReplayVerdict::Stopped));
}
