//! Compares DCTCP on a dumbbell with ns-3 and with laws beyond these cases (Alizadeh et al., SIGMETRICS 2011: the
//! share of marks and the spread of the queue).

use hostnet_bench::network::{Dumbbell, DumbbellRun, DumbbellStats};

const MS: u64 = 1_000_000_000;

/// Measures a window of `ms` milliseconds after a warm-up of 50 ms.
fn measure(flows: u16, gbps: u64, mark_packets: u32, ms: u64) -> DumbbellStats {
    let mut running = DumbbellRun::new(&Dumbbell { flows, gbps, mark_packets, buffer_packets: 4096 });
    running.advance(50 * MS);
    running.begin_window();
    running.advance(ms * MS);
    running.outcome()
}

fn near(value: f64, expected: f64, share: f64) -> bool {
    (value - expected).abs() <= share * expected
}

/// Case (flows, Gbps, marking threshold), goodput in Gbps, mean queue length, share of marked packets.
type Published = ((u16, u64, u32), f64, f64, f64);

#[test]
fn dumbbells_are_those_of_ns3() {
    let cases: [Published; 3] =
        [((2, 10, 65), 9.637, 59.8, 0.157), ((8, 10, 65), 9.637, 60.2, 0.315), ((2, 100, 65), 96.53, 51.7, 0.072)];
    for ((flows, gbps, mark), goodput, queue, marked) in cases {
        let outcome = measure(flows, gbps, mark, 200);
        assert!(near(outcome.total() * 8e-9, goodput, 0.005), "{outcome:?}");
        assert!(near(outcome.queue.mean(), queue, 0.1), "{outcome:?}");
        assert!(near(outcome.marked, marked, 0.1), "{outcome:?}");
        assert!(outcome.fairness() > 0.99, "{outcome:?}");
        assert_eq!(outcome.queue.max(), u64::from(mark) + u64::from(flows));
        assert_eq!(outcome.dropped, 0);
    }
}

#[test]
fn laws_hold_for_other_flows_thresholds_and_rates() {
    for (flows, gbps, mark) in [(2, 10, 20), (4, 10, 65), (2, 10, 8), (16, 10, 130), (2, 100, 130), (16, 100, 65)] {
        let outcome = measure(flows, gbps, mark, 100);
        let bdp = if gbps == 10 { 52.0 } else { 504.0 };
        let law = (2.0 * f64::from(flows) / (bdp + f64::from(mark))).sqrt();
        assert_eq!(outcome.queue.max(), u64::from(mark) + u64::from(flows), "{flows} flows, threshold {mark}");
        assert!((0.74..=0.96).contains(&(outcome.marked / law)), "{} of the law {law}", outcome.marked);
        assert!(outcome.total() * 8e-9 > 0.999 * gbps as f64 * 1448.0 / 1502.0, "{outcome:?}");
        assert_eq!(outcome.dropped, 0);
    }
}

#[test]
fn the_spread_of_the_queue_grows_with_the_root_of_the_flows() {
    let spread = |flows| measure(flows, 10, 65, 100).queue.standard_deviation();
    let ratio = spread(8) / spread(2);
    assert!((1.5..2.7).contains(&ratio), "{ratio} for four times the flows");
}
