//! Tests the published formula.

use crate::common::{counters, plan, CONSTANTS, STREAM};
use hostnet_analysis::formula::{
    causes_of_read, causes_of_write, core_admission_ns, io_read_admission_ns, io_write_admission_ns, read, write,
    Constants, FormulaVariant, Inflation, InflationCauses,
};
use hostnet_analysis::Counters;
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + a.abs())
}

fn same(found: Inflation, expected: [f64; 4]) {
    let parts = [found.switching_ns, found.write_hol_ns, found.read_hol_ns, found.top_of_queue_ns];
    assert!(parts.iter().zip(&expected).all(|(a, b)| close(*a, *b)), "{parts:?} is not {expected:?}");
}

#[test]
fn reads_follow_figure_9() {
    let found = read(&counters(), &CONSTANTS, FormulaVariant::Published).unwrap();
    same(found, [11.0 * 0.05 * 8.0, 11.0 * 0.5 * 2.0, 10.0 * 2.0, 0.2 * 10.0 + 0.1 * 20.0]);
    assert!(close(found.total_ns(), 4.4 + 11.0 + 20.0 + 4.0));
}

#[test]
fn writes_follow_figure_10() {
    let found = write(&counters(), &CONSTANTS, FormulaVariant::Published).unwrap();
    let waiting = (10.0 + 30.0) / 2.0;
    let x = [waiting * 0.1 * 16.0, (waiting - 1.0) * 2.0, waiting * 2.0 * 2.0, 0.2 * 10.0 + 0.1 * 20.0];
    same(found, x.map(|part| 0.5 * part));
}

#[test]
fn the_adjusted_form_counts_every_waiting_write_and_no_negative_read() {
    let few = Counters { rpq_occupancy: Some(0.4), ..counters() };
    assert!(close(read(&few, &CONSTANTS, FormulaVariant::Published).unwrap().read_hol_ns, -1.2));
    assert_eq!(read(&few, &CONSTANTS, FormulaVariant::Adj).unwrap().read_hol_ns, 0.0);
    assert!(close(write(&counters(), &CONSTANTS, FormulaVariant::Adj).unwrap().write_hol_ns, 0.5 * 20.0 * 2.0));
}

#[test]
fn while_the_rpq_is_full_its_reads_are_counted_in_the_cha() {
    let found = read(&counters(), &CONSTANTS, FormulaVariant::AdjCha).unwrap();
    let waiting = 0.25 * (15.0 + 5.0) / 2.0 + 0.75 * 11.0;
    assert!(close(found.read_hol_ns, (waiting - 1.0) * 2.0));
    let never_full = Counters { rpq_full_share: Some(0.0), ..counters() };
    assert_eq!(
        read(&never_full, &CONSTANTS, FormulaVariant::AdjCha),
        read(&never_full, &CONSTANTS, FormulaVariant::Adj)
    );
}

#[test]
fn admission_is_what_is_left_of_the_time_outside_of_the_cha() {
    assert!(close(core_admission_ns(&counters(), 5.0).unwrap(), 200.0 - 150.0 - 5.0));
    assert!(close(io_write_admission_ns(&counters(), 190.0).unwrap(), 800.0 - 300.0 - 190.0));
    assert!(close(io_read_admission_ns(&counters(), 380.0).unwrap(), 2000.0 - 250.0 - 380.0));
}

#[test]
fn a_server_gives_the_constants_of_its_data_sheets() {
    let constants = Constants::of(plan(STREAM).server().unwrap().socket());
    let clock = 2000.0 / 2933.0;
    assert!((constants.t_trans_ns - 4.0 * clock).abs() < 0.01, "{constants:?}");
    assert!((constants.t_act_ns - 21.0 * clock).abs() < 0.01 && constants.t_pre_ns == constants.t_act_ns);
    assert!((constants.const_read_ns - (1.5 + 23.7 + 25.0 * clock + 19.0 + 3.5)).abs() < 0.01);
    assert!((constants.const_write_ns - (172.0 + 90.0 + 17.0 + 18.0)).abs() < 0.01);
}

/// Name of a counter and a function that removes it.
type Removal = (&'static str, fn(&mut Counters));

const FOR_BOTH: &[Removal] = &[
    ("lines_read", |c| c.lines_read = None),
    ("lines_written", |c| c.lines_written = None),
    ("mode_switches", |c| c.mode_switches = None),
];
const FOR_READS: &[Removal] = &[
    ("rpq_occupancy", |c| c.rpq_occupancy = None),
    ("rpq_full_share", |c| c.rpq_full_share = None),
    ("read_activations", |c| c.read_activations = None),
    ("read_conflicts", |c| c.read_conflicts = None),
    ("core_read.occupancy", |c| c.core_read.occupancy = None),
    ("io_read.occupancy", |c| c.io_read.occupancy = None),
];
const FOR_WRITES: &[Removal] = &[
    ("wpq_full_share", |c| c.wpq_full_share = None),
    ("write_activations", |c| c.write_activations = None),
    ("write_conflicts", |c| c.write_conflicts = None),
    ("core_write.occupancy", |c| c.core_write.occupancy = None),
    ("io_write.occupancy", |c| c.io_write.occupancy = None),
];

#[test]
fn every_missing_counter_is_named_with_what_needs_it() {
    for (name, remove) in FOR_BOTH.iter().chain(FOR_READS) {
        let mut left = counters();
        remove(&mut left);
        let missing = read(&left, &CONSTANTS, FormulaVariant::AdjCha).unwrap_err();
        assert_eq!(missing.to_string(), format!("what queueing adds to reads cannot be computed: no counter {name}"));
    }
    for (name, remove) in FOR_BOTH.iter().chain(FOR_WRITES) {
        let mut left = counters();
        remove(&mut left);
        let missing = write(&left, &CONSTANTS, FormulaVariant::Adj).unwrap_err();
        assert_eq!(missing.counters, [name.to_owned()]);
        assert!(missing.to_string().contains("writes"));
    }
}

fn causes(found: InflationCauses) -> [Option<f64>; 4] {
    [found.switching, found.write_hol, found.read_hol, found.top_of_queue].map(|cause| cause.ok())
}

#[test]
fn each_cause_needs_its_own_counters_only() {
    let needed: [(&str, [bool; 4], [bool; 4]); 10] = [
        ("lines_read", [true, true, false, true], [false, false, true, false]),
        ("lines_written", [false, true, false, false], [true, false, true, true]),
        ("mode_switches", [true, false, false, false], [true, false, false, false]),
        ("rpq_occupancy", [true, true, true, false], [false; 4]),
        ("read_activations", [false, false, false, true], [false; 4]),
        ("read_conflicts", [false, false, false, true], [false; 4]),
        ("wpq_full_share", [false; 4], [true; 4]),
        ("write_activations", [false; 4], [false, false, false, true]),
        ("core_write.occupancy", [false; 4], [true, true, true, false]),
        ("io_write.occupancy", [false; 4], [true, true, true, false]),
    ];
    for (name, for_reads, for_writes) in needed {
        let mut left = counters();
        let removals = FOR_BOTH.iter().chain(FOR_READS).chain(FOR_WRITES);
        removals.filter(|(other, _)| *other == name).for_each(|(_, remove)| remove(&mut left));
        for (whole, left, lacks) in [
            (
                causes_of_read(&counters(), &CONSTANTS, FormulaVariant::Adj),
                causes_of_read(&left, &CONSTANTS, FormulaVariant::Adj),
                for_reads,
            ),
            (
                causes_of_write(&counters(), &CONSTANTS, FormulaVariant::Adj),
                causes_of_write(&left, &CONSTANTS, FormulaVariant::Adj),
                for_writes,
            ),
        ] {
            for ((whole, left), lacks) in causes(whole).iter().zip(causes(left)).zip(lacks) {
                assert_eq!(left, whole.filter(|_| !lacks), "{name}");
            }
        }
    }
}

#[test]
fn what_a_form_does_not_need_may_be_missing() {
    let mut left = counters();
    FOR_WRITES.iter().for_each(|(_, remove)| remove(&mut left));
    assert_eq!(read(&left, &CONSTANTS, FormulaVariant::AdjCha), read(&counters(), &CONSTANTS, FormulaVariant::AdjCha));
    left.core_read.occupancy = None;
    left.rpq_full_share = None;
    assert_eq!(read(&left, &CONSTANTS, FormulaVariant::Adj), read(&counters(), &CONSTANTS, FormulaVariant::Adj));
}

#[test]
fn several_missing_counters_are_named_together() {
    let missing = read(&Counters::default(), &CONSTANTS, FormulaVariant::Adj).unwrap_err();
    assert_eq!(
        missing.counters,
        ["mode_switches", "rpq_occupancy", "lines_read", "lines_written", "read_activations", "read_conflicts"]
    );
    let missing = core_admission_ns(&Counters::default(), 0.0).unwrap_err();
    assert_eq!(missing.counters, ["lfb.occupancy", "lfb.lines", "core_read.occupancy", "core_read.lines"]);
}

#[test]
fn counters_that_count_nothing_are_told_from_those_that_are_missing() {
    let idle = Counters { lines_read: Some(0.0), ..counters() };
    let missing = read(&idle, &CONSTANTS, FormulaVariant::Adj).unwrap_err();
    assert_eq!(missing.to_string(), "what queueing adds to reads cannot be computed: lines_read is zero");
    let nowhere = Counters { channels: 0.0, ..counters() };
    assert_eq!(write(&nowhere, &CONSTANTS, FormulaVariant::Adj).unwrap_err().zero, ["channels"]);
    let garbage = Counters { lines_written: Some(f64::NAN), ..counters() };
    assert_eq!(read(&garbage, &CONSTANTS, FormulaVariant::Adj).unwrap_err().counters, ["lines_written"]);
}

prop_compose! {
    fn any_counters()(
        counts in prop::array::uniform7(0.0..1e9),
        queues in prop::array::uniform6(0.0..200.0),
        shares in prop::array::uniform2(0.0..=1.0),
        lines in prop::array::uniform2(1.0..1e9),
        channels in 1u32..17,
    ) -> Counters {
        let mut counters = counters();
        let [read_acts, write_acts, read_pres, write_pres, switches, _, _] = counts;
        counters.channels = f64::from(channels);
        (counters.lines_read, counters.lines_written) = (Some(lines[0]), Some(lines[1]));
        (counters.read_activations, counters.write_activations) = (Some(read_acts), Some(write_acts));
        (counters.read_conflicts, counters.write_conflicts) = (Some(read_pres), Some(write_pres));
        counters.mode_switches = Some(switches);
        (counters.rpq_occupancy, counters.wpq_occupancy) = (Some(queues[0]), Some(queues[1]));
        (counters.rpq_full_share, counters.wpq_full_share) = (Some(shares[0]), Some(shares[1]));
        counters.core_read.occupancy = Some(queues[2]);
        counters.core_write.occupancy = Some(queues[3]);
        counters.io_read.occupancy = Some(queues[4]);
        counters.io_write.occupancy = Some(queues[5]);
        counters
    }
}

fn parts(inflation: Inflation) -> [f64; 4] {
    [inflation.switching_ns, inflation.write_hol_ns, inflation.read_hol_ns, inflation.top_of_queue_ns]
}

proptest! {
    #[test]
    fn adjusted_components_are_never_negative_and_add_up(counters in any_counters()) {
        for form in [FormulaVariant::Adj, FormulaVariant::AdjCha] {
            for inflation in [read(&counters, &CONSTANTS, form).unwrap(), write(&counters, &CONSTANTS, form).unwrap()] {
                prop_assert!(parts(inflation).iter().all(|part| *part >= 0.0));
                prop_assert!(close(parts(inflation).iter().sum::<f64>(), inflation.total_ns()));
            }
        }
    }

    #[test]
    fn a_longer_queue_never_makes_latency_shorter(counters in any_counters(), more in 0.0..50.0f64) {
        let mut longer = counters.clone();
        longer.rpq_occupancy = counters.rpq_occupancy.map(|queue| queue + more);
        longer.core_write.occupancy = counters.core_write.occupancy.map(|queue| queue + more);
        for form in [FormulaVariant::Published, FormulaVariant::Adj, FormulaVariant::AdjCha] {
            for of in [read, write] {
                let (before, after) = (
                    of(&counters, &CONSTANTS, form).unwrap(),
                    of(&longer, &CONSTANTS, form).unwrap()
                );
                let grown = parts(before).iter().zip(parts(after)).all(|(a, b)| b >= a - 1e-9 * (1.0 + a.abs()));
                prop_assert!(grown, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn the_length_of_the_window_does_not_matter(counters in any_counters(), factor in 0.1..10.0f64) {
        let scale = |count: Option<f64>| count.map(|count| count * factor);
        let scaled = Counters {
            lines_read: scale(counters.lines_read),
            lines_written: scale(counters.lines_written),
            read_activations: scale(counters.read_activations),
            read_conflicts: scale(counters.read_conflicts),
            mode_switches: scale(counters.mode_switches),
            ..counters.clone()
        };
        let [a, b] = [&counters, &scaled].map(|own| read(own, &CONSTANTS, FormulaVariant::Adj).unwrap());
        prop_assert!(parts(a).iter().zip(parts(b)).all(|(a, b)| close(*a, b)));
    }
}
