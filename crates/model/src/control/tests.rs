use super::*;
use crate::params::HostCcParams;

const TARGET: u64 = 10_500_000_000;

fn params() -> HostCcParams {
    HostCcParams {
        occupancy: 70 << 10,
        target_bytes_per_s: TARGET,
        occupancy_shift: 3,
        bandwidth_shift: 8,
        hold_ps: 150_000_000,
        local: true,
        echo: true,
        occupancy_floor: 10,
        bandwidth_ceiling: 18_750_000_000,
    }
}

fn signals(occupancy: u64, bandwidth: u64, level: u8) -> Signals {
    Signals {
        now_ps: 1_000_000_000,
        sampled: Sampled::Bandwidth,
        occupancy: 0,
        occupancy_smoothed: occupancy,
        bandwidth: 0,
        bandwidth_smoothed: bandwidth,
        level,
    }
}

fn level(occupancy: u64, bandwidth: u64, level: u8) -> Option<u8> {
    HostCc::new(params()).on_sample(&signals(occupancy, bandwidth, level)).level
}

#[test]
fn the_level_follows_the_regime_and_equality_does_nothing() {
    let (low, at, high) = ((70 << 10) - 1, 70 << 10, (70 << 10) + 1);
    let cases = [
        (low, TARGET + 1, Some(1)),
        (low, TARGET, None),
        (low, TARGET - 1, None),
        (at, TARGET + 1, None),
        (at, TARGET, None),
        (at, TARGET - 1, None),
        (high, TARGET + 1, None),
        (high, TARGET, None),
        (high, TARGET - 1, Some(3)),
    ];
    for (occupancy, bandwidth, wanted) in cases {
        assert_eq!(level(occupancy, bandwidth, 2), wanted, "I_S {occupancy}, B_S {bandwidth}");
    }
}

#[test]
fn the_level_stays_within_its_bounds() {
    assert_eq!(level(80 << 10, 0, 4), None);
    assert_eq!(level(80 << 10, 0, 3), Some(4));
    assert_eq!(level(0, TARGET * 2, 0), None);
    assert_eq!(level(0, TARGET * 2, 1), Some(0));
}

#[test]
fn the_level_goes_down_once_per_hold_and_up_at_any_time() {
    let mut rule = HostCc::new(params());
    let mut ask =
        |now_ps, occupancy, bandwidth| rule.on_sample(&Signals { now_ps, ..signals(occupancy, bandwidth, 3) }).level;
    let start = 5_000_000_000;
    assert_eq!(ask(start, 0, TARGET * 2), Some(2));
    assert_eq!(ask(start + 149_999_999, 0, TARGET * 2), None);
    assert_eq!(ask(start + 149_999_999, 80 << 10, 0), Some(4));
    assert_eq!(ask(start + 150_000_000, 0, TARGET * 2), Some(2));
    assert_eq!(ask(start + 150_000_001, 0, TARGET * 2), None);
}

#[test]
fn packets_are_marked_above_the_target_of_occupancy_alone() {
    let mut rule = HostCc::new(params());
    for (occupancy, bandwidth, on) in
        [((70 << 10) + 1, 0, true), ((70 << 10) + 1, TARGET * 2, true), (70 << 10, 0, false), (0, TARGET * 2, false)]
    {
        let signals = Signals { sampled: Sampled::Occupancy, ..signals(occupancy, bandwidth, 0) };
        assert_eq!(rule.on_sample(&signals), Actions { level: None, echo: Some(on) });
    }
}

#[test]
fn each_half_of_the_rule_can_be_left_out() {
    let congested = |sampled| Signals { sampled, ..signals(80 << 10, 0, 0) };
    let mut echo_only = HostCc::new(HostCcParams { local: false, ..params() });
    let mut local_only = HostCc::new(HostCcParams { echo: false, ..params() });
    assert_eq!(echo_only.on_sample(&congested(Sampled::Bandwidth)), Actions::default());
    assert_eq!(echo_only.on_sample(&congested(Sampled::Occupancy)).echo, Some(true));
    assert_eq!(local_only.on_sample(&congested(Sampled::Occupancy)), Actions::default());
    assert_eq!(local_only.on_sample(&congested(Sampled::Bandwidth)).level, Some(1));
}

#[test]
fn regimes_are_those_of_the_paper() {
    let targets = Targets { occupancy: 70, bandwidth: 10 };
    for (occupancy, bandwidth, regime) in
        [(70, 10, Regime::Met), (71, 10, Regime::MetCongested), (71, 9, Regime::UnmetCongested), (70, 9, Regime::Unmet)]
    {
        assert_eq!(Regime::of(targets, occupancy, bandwidth), regime, "{occupancy} and {bandwidth}");
    }
}

#[test]
fn times_are_those_between_changes() {
    let at = Time::from_ps;
    let mut recorder = ControlRecorder::default();
    recorder.set_level(at(10), 3);
    recorder.set_level(at(25), 4);
    assert!(recorder.set_echo(at(30), true));
    assert!(!recorder.set_echo(at(40), true));
    recorder.set_level(at(50), 3);
    recorder.set_signals(at(60), [7, 9], Some(Regime::Unmet));
    recorder.settle(at(100));
    let ControlCounts { levels_ps, echo_ps, stops, changes, regimes_ps, history, smoothed_area, .. } =
        recorder.counts.clone();
    assert_eq!((levels_ps, echo_ps), ([10, 0, 0, 15 + 50, 25], 70));
    assert_eq!((stops, changes, regimes_ps, smoothed_area), (2, 3, [0, 0, 0, 40], [7 * 40, 9 * 40]));
    assert_eq!(history, [(at(10), 3), (at(25), 4), (at(50), 3)]);
    recorder.reset(at(110));
    recorder.settle(at(115));
    assert_eq!((recorder.counts.levels_ps, recorder.counts.echo_ps, recorder.counts.changes), ([0, 0, 0, 5, 0], 5, 0));
}

#[test]
fn a_glitch_is_up_to_the_floor_and_from_the_ceiling_on() {
    let smoothing = HostCc::new(params()).smoothing();
    let occupancy = [0, 10 << 10, (10 << 10) + 1].map(|sample| smoothing.discards_occupancy(sample));
    assert_eq!(occupancy, [true, true, false]);
    let bandwidth = [18_749_999_999, 18_750_000_000, u64::MAX].map(|sample| smoothing.discards_bandwidth(sample));
    assert_eq!(bandwidth, [false, true, true]);
    let all = Smoothing::default();
    assert!(!all.discards_occupancy(0) && !all.discards_bandwidth(u64::MAX - 1));
}
