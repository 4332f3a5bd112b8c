//! Tests explanations of hand-made counters, with one known bottleneck each.

use crate::common::{counters, flow, idle, plan, with_caches, STREAM};
use hostnet_analysis::explain::{explain, from_counters, unloaded, Cached, Explanation, Kind, Pool, WorkloadFacts};
use hostnet_analysis::regime::{Basis, IsolatedGain, Regime, SlowedWorkload};
use hostnet_analysis::{Counters, Flow};
use hostnet_model::params::{ServerParams, SocketParams};
use proptest::prelude::*;

/// A server with six cores whose workloads are not known.
fn server() -> ServerParams {
    plan(&STREAM.replace("stream]", "C2M]")).server().unwrap().clone()
}

fn from(counters: &Counters) -> Explanation {
    let server = server();
    explain(server.socket(), counters, &from_counters(counters, &server), None)
}

/// Lines that pass a pool in 1 us with a mean of `in_use` entries in use.
fn lines(in_use: f64, latency_ns: f64) -> f64 {
    in_use * 1000.0 / latency_ns
}

fn bound_of<'a>(explanation: &'a Explanation, workload: &str) -> &'a [String] {
    let found = explanation.workloads.iter().find(|found| found.facts.workload == workload);
    &found.unwrap_or_else(|| panic!("{workload} is told: {explanation:?}")).facts.binding
}

#[test]
fn credits_that_never_come_back_have_no_latency_to_be_told() {
    let pool = Pool {
        domain: "P2M-Write".to_owned(),
        credits: 92.0,
        in_use: 92.0,
        full_share: 1.0,
        latency_ns: None,
        gb_per_s: 0.0,
        place: None,
        prefetched: false,
    };
    let facts = WorkloadFacts::new("disk", Kind::Fio, 0.0, vec![pool], "offered load");
    let said = facts.sentence();
    assert!(said.starts_with("disk moved nothing: 92.0 of 92 P2M-Write credits in use, full 100 %"), "{said}");
    assert!(said.ends_with("none came back"), "{said}");
}

#[test]
fn workloads_without_traffic_are_left_out() {
    let silent = || WorkloadFacts::new("pool", Kind::Fio, 0.0, Vec::new(), "offered load");
    let in_caches = Cached { l2_miss_ratio: Some(0.0), ..Cached::default() };
    let cached = WorkloadFacts { workload: "cached".to_owned(), cached: Some(in_caches), ..silent() };
    let found = explain(server().socket(), &idle(), &[silent(), cached], None);
    let told: Vec<&str> = found.workloads.iter().map(|found| found.facts.workload.as_str()).collect();
    assert_eq!((told, found.suffers.as_deref()), (vec!["cached"], Some("cached")));
}

#[test]
fn a_window_without_length_tells_nothing() {
    let facts = WorkloadFacts::new("disk", Kind::Fio, f64::NAN, vec![pool("P2M-Write", 92.0, f64::NAN)], "core");
    assert_eq!(facts.sentence(), "disk: nothing was measured");
}

#[test]
fn full_line_fill_buffers_bind_cores() {
    let reads = lines(71.5, 150.0);
    let counters = Counters { lfb: flow(71.5, reads), core_read: flow(69.0, reads), ..idle() };
    let explanation = from(&counters);
    assert_eq!(bound_of(&explanation, "C2M"), ["C2M-Read"]);
    let stream = &explanation.workloads[0];
    assert!((stream.bound_gb_per_s.unwrap() - 72.0 * 64.0 / 150.0).abs() < 1e-9, "credits x 64 B / latency");
}

#[test]
fn entries_that_wait_longer_for_write_backs_bind_by_c2m_write() {
    let stores = lines(72.0, 300.0);
    let read = flow(stores * 100.0 / 1000.0, stores);
    let counters = Counters { lfb: flow(72.0, stores), core_read: read, core_write: flow(30.0, stores), ..idle() };
    assert_eq!(bound_of(&from(&counters), "C2M"), ["C2M-Write"]);
}

#[test]
fn cores_with_entries_to_spare_are_bound_by_themselves() {
    let reads = lines(50.0, 70.0);
    let counters = Counters { lfb: flow(50.0, reads), core_read: flow(46.0, reads), ..idle() };
    assert_eq!(bound_of(&from(&counters), "C2M"), ["core"]);
}

#[test]
fn a_gap_that_is_reached_is_offered_load() {
    let server = plan(&format!("{STREAM}gap = \"100 ns\"\n")).server().unwrap().clone();
    let reads = 6.0 * 1000.0 / 100.0;
    let counters = Counters { lfb: flow(reads * 0.07, reads), core_read: flow(reads * 0.065, reads), ..idle() };
    let explanation = explain(server.socket(), &counters, &from_counters(&counters, &server), None);
    assert_eq!(bound_of(&explanation, "stream"), ["offered load"]);
}

#[test]
fn full_write_buffers_of_the_iio_bind_storage_reads() {
    let written = lines(92.0, 700.0);
    let counters = Counters { iio_write: flow(92.0, written), io_write: flow(60.0, written), ..idle() };
    let explanation = from(&counters);
    assert_eq!(bound_of(&explanation, "P2M-Write"), ["P2M-Write"]);
    assert_eq!(explanation.regime.name, "uncontended", "there are no cores to hold them back");
}

#[test]
fn full_read_buffers_of_the_iio_bind_storage_writes() {
    let read = lines(199.0, 900.0);
    let counters = Counters { iio_read: flow(199.0, read), io_read: flow(100.0, read), ..idle() };
    assert_eq!(bound_of(&from(&counters), "P2M-Read"), ["P2M-Read"]);
}

#[test]
fn drives_with_credits_to_spare_are_bound_by_what_they_offer() {
    let written = lines(68.0, 315.0);
    let counters = Counters { iio_write: flow(68.0, written), io_write: flow(23.0, written), ..idle() };
    let explanation = from(&counters);
    assert_eq!(bound_of(&explanation, "P2M-Write"), ["offered load"]);
    assert_eq!(explanation.regime.name, "uncontended");
}

pub fn pool(domain: &str, credits: f64, full_share: f64) -> Pool {
    let in_use = credits * full_share;
    Pool {
        domain: domain.to_owned(),
        credits,
        in_use,
        full_share,
        latency_ns: Some(400.0),
        gb_per_s: 8.0,
        place: None,
        prefetched: false,
    }
}

#[test]
fn full_posted_credits_bind_storage_reads() {
    let pools = vec![pool("P2M-Write", 92.0, 0.1), pool("PCIe posted", 256.0, 0.9)];
    let facts = WorkloadFacts::new("disk", Kind::Fio, 8.0, pools, "offered load");
    let explanation = explain(server().socket(), &counters(), std::slice::from_ref(&facts), None);
    assert_eq!(bound_of(&explanation, "disk"), ["PCIe posted"]);
    assert_eq!(explanation.workloads[0].domain.as_deref(), Some("PCIe posted"));
    assert_eq!(explanation.workloads[0].latency.as_ref().unwrap().domain, "P2M-Write", "where the host adds latency");
    assert!(
        facts.sentence().starts_with("disk may be limited by PCIe posted (not known for sure: "),
        "{}",
        facts.sentence()
    );
}

#[test]
fn a_full_tor_shows_as_the_wait_for_the_cha() {
    let stores = lines(72.0, 400.0);
    let inside = flow(stores * 0.07, stores);
    let counters = Counters {
        lfb: flow(72.0, stores),
        core_read: inside,
        core_write: flow(200.0, stores),
        rpq_occupancy: Some(2.0),
        rpq_full_share: Some(0.0),
        ..idle()
    };
    let latency = from(&counters).workloads[0].latency.clone().unwrap();
    assert_eq!(latency.cause.as_deref(), Some("CHA admission"));
    assert!(latency.cha_admission_ns.unwrap() > 300.0);
}

#[test]
fn parts_and_the_rest_make_up_the_latency() {
    let explanation = from(&counters());
    assert_eq!(explanation.workloads.len(), 3);
    for workload in &explanation.workloads {
        let latency = workload.latency.as_ref().unwrap();
        let parts: f64 = latency.parts().iter().map(|(_, ns)| ns.expect("every counter is there")).sum();
        let whole = latency.unloaded_ns + parts + latency.unexplained_ns;
        assert!((whole - latency.mean_ns).abs() < 1e-9, "{latency:?}");
    }
    assert!(explanation.missing.is_empty(), "{:?}", explanation.missing);
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_told() {
    let left = Counters { mode_switches: None, rpq_full_share: None, ..counters() };
    let explanation = from(&left);
    assert_eq!(
        explanation.missing,
        [
            "switching of reads cannot be computed: no counter mode_switches",
            "switching of writes cannot be computed: no counter mode_switches",
        ]
    );
    let whole = from(&Counters { rpq_full_share: None, ..counters() });
    for (workload, whole) in explanation.workloads.iter().zip(&whole.workloads) {
        let (latency, whole) = (workload.latency.as_ref().unwrap(), whole.latency.as_ref().unwrap());
        assert_eq!(latency.switching_ns, None);
        assert_eq!(latency.parts()[1..], whole.parts()[1..]);
        let rest = whole.unexplained_ns + whole.switching_ns.unwrap();
        assert!((latency.unexplained_ns - rest).abs() < 1e-9);
        let [lacks] = &latency.lacks[..] else { panic!("{:?}", latency.lacks) };
        assert_eq!((lacks.quantity.as_str(), &lacks.counters[..]), ("switching", &["mode_switches".to_owned()][..]));
    }
}

#[test]
fn without_the_writes_of_cores_their_time_is_not_taken_for_a_wait() {
    let left = Counters { core_write: Flow::default(), ..counters() };
    let latency = from(&left).workloads[0].latency.clone().unwrap();
    assert_eq!(latency.cha_admission_ns, None);
    assert!(latency.lacks.iter().any(|lacks| lacks.counters == ["core_write.lines"]), "{:?}", latency.lacks);
}

proptest! {
    #[test]
    fn no_cause_is_named_that_a_missing_counter_could_refute(
        lfb in 10.0..72.0f64,
        queue in 0.0..60.0f64,
        switches in 0.0..60.0f64,
        inside in 2.0..60.0f64,
        removed in prop::sample::subsequence((0..8).collect::<Vec<_>>(), 0..8),
    ) {
        let whole = Counters {
            lfb: flow(lfb, 100.0),
            rpq_occupancy: Some(queue),
            rpq_full_share: Some(0.0),
            mode_switches: Some(switches),
            core_read: flow(inside, 100.0),
            ..counters()
        };
        const REMOVE: [fn(&mut Counters); 8] = [
            |c| c.mode_switches = None,
            |c| c.rpq_occupancy = None,
            |c| c.lines_read = None,
            |c| c.lines_written = None,
            |c| c.read_activations = None,
            |c| c.read_conflicts = None,
            |c| c.core_read.occupancy = None,
            |c| c.core_write.lines = None,
        ];
        let mut left = whole.clone();
        removed.iter().for_each(|index: &usize| REMOVE[*index](&mut left));
        let (whole, left) = (from(&whole), from(&left));
        let latency = left.workloads[0].latency.as_ref().unwrap();
        let named = latency.parts().iter().filter(|(_, ns)| ns.is_none()).count();
        prop_assert_eq!(latency.lacks.len(), named);
        if let Some(cause) = &latency.cause {
            let most = latency.parts().iter().filter_map(|(_, ns)| *ns).fold(0.0, f64::max);
            prop_assert!(most >= latency.unexplained_ns, "{:?}", latency);
            let known = whole.workloads[0].latency.as_ref().unwrap();
            // CHA admission is unknown where no counter tells the waits of lines apart, also with every counter read.
            if known.unexplained_ns >= 0.0 && known.lacks.is_empty() {
                let largest = known.parts().into_iter().max_by(|a, b| a.1.unwrap().total_cmp(&b.1.unwrap())).unwrap();
                prop_assert_eq!(cause.as_str(), largest.0, "{:?} {:?}", known, latency);
            }
        }
    }
}

#[test]
fn without_the_counters_of_a_pool_its_traffic_is_named_as_untold() {
    let left = Counters { lfb: Flow::default(), iio_read: Flow::default(), ..counters() };
    let explanation = from(&left);
    assert_eq!(explanation.workloads.len(), 1);
    assert_eq!(
        explanation.missing[..2],
        [
            "what binds C2M cannot be computed: no counter lfb.occupancy, lfb.lines",
            "what binds P2M-Read cannot be computed: no counter iio_read.occupancy, iio_read.lines",
        ]
    );
    let nothing = from(&Counters::default());
    assert!(nothing.workloads.is_empty());
    assert_eq!(nothing.missing.len(), 3, "{:?}", nothing.missing);
}

#[test]
fn the_number_of_busy_cores_is_known_or_guessed() {
    let disk = "[workload.disk]\nkind = \"fio\"\njob = \"probe.fio\"\n";
    let counters = Counters { lfb: flow(35.0, 100.0), ..idle() };
    let credits = |workloads: &str| from_counters(&counters, plan(workloads).server().unwrap())[0].pools[0].credits;
    assert_eq!(credits(disk), 36.0);
    assert_eq!(credits(STREAM), 72.0);
}

#[test]
fn known_workloads_give_names_offered_rates_and_the_lines_of_the_kernel() {
    let disk = "[workload.disk]\nkind = \"fio\"\njob = \"quadrant.fio\"\ncores = \"6-7\"\n";
    let server = plan(&format!("{STREAM}{disk}")).server().unwrap().clone();
    let kernel = 100.0 / 64.0 * 3.07;
    let counters = Counters { lfb: flow(20.0, 100.0), iio_write: flow(80.0, 100.0), ..idle() };
    let facts = from_counters(&counters, &server);
    assert_eq!(facts.iter().map(|facts| facts.workload.as_str()).collect::<Vec<_>>(), ["stream", "disk"]);
    assert!((facts[0].pools[0].in_use - 20.0 * (100.0 - kernel) / 100.0).abs() < 1e-3);
    assert!((facts[1].offered_gb_per_s.unwrap() - 13.86).abs() < 0.01);
}

#[test]
fn a_regime_that_is_known_is_taken_over() {
    let slowed = SlowedWorkload { workload: "P2M-Write".to_owned(), times: 1.2, because_of: vec!["C2M".to_owned()] };
    let known = Regime {
        name: "red".to_owned(),
        evidence: vec!["seen".to_owned()],
        estimated: false,
        slowed: vec![slowed],
        open: Vec::new(),
    };
    let server = server();
    let explanation = explain(server.socket(), &counters(), &from_counters(&counters(), &server), Some(known.clone()));
    assert_eq!(explanation.regime, known);
    assert_eq!(explanation.suffers.as_deref(), Some("P2M-Write"));
}

#[test]
fn counters_beside_drives_of_no_workload_accuse_nobody() {
    let server = server();
    let counters = Counters { iio_write: flow(92.0, 100.0), ..counters() };
    let mut facts = from_counters(&counters, &server);
    let rough = explain(server.socket(), &counters, &facts, None).regime;
    assert!(rough.name == "not known" && rough.slowed.is_empty(), "{rough:?}");
    assert_eq!(
        rough.open[..2],
        ["the throughput of C2M without P2M-Write and P2M-Read", "the throughput of P2M-Write without C2M"]
    );
    for facts in &mut facts {
        facts.alone = Some(IsolatedGain { gain: 0.01, noise: 0.01, basis: Basis::Measured });
    }
    let measured = explain(server.socket(), &counters, &facts, None).regime;
    assert!(!measured.estimated && measured.slowed.is_empty(), "{measured:?}");
}

#[test]
fn counters_of_known_workloads_are_judged_by_what_is_predicted_of_either_side() {
    let disk = "[workload.disk]\nkind = \"fio\"\njob = \"quadrant.fio\"\ncores = \"6-7\"\n";
    let server = plan(&format!("{STREAM}{disk}")).server().unwrap().clone();
    let counters = Counters { lfb: flow(60.0, 600.0), iio_write: flow(80.0, 100.0), ..idle() };
    let facts = from_counters(&counters, &server);
    assert!(facts.iter().all(|facts| facts.alone.is_some_and(|alone| alone.basis == Basis::Predicted)), "{facts:?}");
    let cached = plan(&format!("[cache]\nenabled = true\n{STREAM}{disk}")).server().unwrap().clone();
    assert!(from_counters(&counters, &cached).iter().all(|facts| facts.alone.is_none() && facts.isolated.is_none()));
}

proptest! {
    #[test]
    fn an_explanation_survives_json(occupancy in 0.0..100.0f64, count in 1.0..1e6f64) {
        let explanation = from(&Counters { iio_write: flow(occupancy, count), ..counters() });
        let text = serde_json::to_string(&explanation).unwrap();
        let back: Explanation = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.workloads.len(), explanation.workloads.len());
        prop_assert_eq!(back.regime, explanation.regime);
    }
}

proptest! {
    #[test]
    fn lines_that_the_llc_serves_wait_for_no_memory(
        misses in 0.0_f64..1.0,
        wait_ns in 0.0_f64..100.0,
        inside_ns in 60.0_f64..300.0
    ) {
        let server = with_caches(vec![true]);
        let core = &server.socket().core;
        let way_ns = (core.to_cha_ps + core.from_cha_ps) as f64 / 1000.0;
        let latency_ns = way_ns + misses * inside_ns + (1.0 - misses) * 16.0 + wait_ns;
        let held = lines(50.0, latency_ns);
        let counters = Counters {
            lfb: flow(50.0, held),
            core_read: flow(held * misses * inside_ns / 1000.0, held * misses),
            ..idle()
        };
        let mut facts = from_counters(&counters, &server);
        facts[0].cached = Some(Cached { llc_miss_ratio: Some(misses), ..Cached::default() });
        let explanation = explain(server.socket(), &counters, &facts, None);
        let latency = explanation.workloads[0].latency.as_ref().unwrap();
        prop_assert!((latency.cha_admission_ns.unwrap() - wait_ns).abs() < 1e-6, "{latency:?}");
        let alone_ns = way_ns + misses * (unloaded::c2m_read_ns(server.socket()) - way_ns) + (1.0 - misses) * 16.0;
        prop_assert!((latency.unloaded_ns - alone_ns).abs() < 1e-6);
    }
}

#[test]
fn device_writes_wait_for_memory_as_far_as_dirty_lines_leave_for_them() {
    let latency_ns = |drives: Vec<bool>, evicting: f64| {
        let counters = Counters { iio_write: flow(46.0, 200.0), io_write: flow(1.0, 200.0 * evicting), ..idle() };
        let server = with_caches(drives);
        let mut facts = from_counters(&counters, &server);
        let writes = facts.iter_mut().find(|facts| facts.kind == Kind::Fio).expect("device writes");
        writes.cached = Some(Cached::default());
        let facts = vec![writes.clone()];
        explain(server.socket(), &counters, &facts, None).workloads[0].latency.as_ref().unwrap().unloaded_ns
    };
    let server = server();
    let SocketParams { iio, cha, .. } = server.socket();
    let way_ns = (iio.write_to_cha_ps + iio.write_ack_ps) as f64 / 1000.0;
    let accepted_ns = cha.write_ack_ps as f64 / 1000.0;
    assert!((latency_ns(vec![true, true], 0.0) - way_ns - 33.0).abs() < 1e-9);
    assert!((latency_ns(vec![true, true], 0.5) - way_ns - 0.5 * 33.0 - 0.5 * accepted_ns).abs() < 1e-9);
    let memory_ns = unloaded::p2m_write_ns(server.socket());
    assert!((latency_ns(vec![false, false], 1.0) - memory_ns).abs() < 1e-9);
    let mixed_ns = 0.5 * (memory_ns + way_ns) + 0.25 * 33.0 + 0.25 * accepted_ns;
    assert!((latency_ns(vec![true, false], 0.75) - mixed_ns).abs() < 1e-9);
}
