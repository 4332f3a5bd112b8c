//! Tests the binding domain of a workload, the regime, and the load that storage offers.

use crate::common;
use crate::common::plan;
use hostnet_analysis::binding::{
    binding, full_share_estimate, lfb_domain, stream_otherwise, CORE, FULL_SHARE_MIN, OFFERED_LOAD,
};
use hostnet_analysis::offered::offered_gb_per_s;
use hostnet_analysis::regime::{
    regime, Basis, ContentionSides, CoreContention, IsolatedGain, P2mLoad, Regime, SideWorkload, GAIN_MIN,
    PREDICTION_ERROR,
};
use proptest::prelude::*;

#[test]
fn a_domain_binds_from_half_of_the_time_on() {
    assert_eq!(binding(&[("P2M-Write", 0.5)], OFFERED_LOAD).domains, ["P2M-Write"]);
    assert_eq!(binding(&[("P2M-Write", 0.499)], OFFERED_LOAD).domains, [OFFERED_LOAD]);
    assert_eq!(binding(&[], CORE).domains, [CORE]);
}

#[test]
fn the_fullest_domain_binds_and_one_within_five_points_with_it() {
    let both = binding(&[("PCIe posted", 0.95), ("P2M-Write", 1.0)], OFFERED_LOAD);
    assert_eq!((both.domains.as_slice(), both.full_share), (["P2M-Write", "PCIe posted"].as_slice(), 1.0));
    let one = binding(&[("PCIe posted", 0.94), ("P2M-Write", 1.0)], OFFERED_LOAD);
    assert_eq!(one.domains, ["P2M-Write"]);
}

#[test]
fn a_stream_is_named_by_the_phase_that_takes_longer() {
    assert_eq!(lfb_domain(10.0, 1.0), "C2M-Read");
    assert_eq!(lfb_domain(4.0, 5.0), "C2M-Write");
}

#[test]
fn a_gap_limits_where_it_is_longer_than_the_core_needs_and_reached() {
    assert_eq!(stream_otherwise(10_000, 300, 0.000_1), OFFERED_LOAD);
    assert_eq!(stream_otherwise(10_000, 300, 0.000_05), CORE, "half of the rate that the gap allows");
    assert_eq!(stream_otherwise(0, 300, 0.003), CORE);
    assert_eq!(stream_otherwise(300, 300, 1.0 / 300.0), CORE);
}

proptest! {
    #[test]
    fn the_estimate_of_full_grows_with_occupancy(credits in 1.0..4096.0f64, a in 0.0..1.0f64, b in 0.0..1.0f64) {
        let (low, high) = (a.min(b) * credits, a.max(b) * credits);
        let (few, many) = (full_share_estimate(low, credits), full_share_estimate(high, credits));
        prop_assert!((0.0..=1.0).contains(&few) && few <= many && many <= high / credits + 1e-12);
    }
}

#[test]
fn a_pool_in_full_use_is_full_and_an_absent_one_is_not() {
    assert_eq!(full_share_estimate(92.0, 92.0), 1.0);
    assert_eq!(full_share_estimate(92.5, 92.0), 1.0, "hardware reads a little more than there is");
    assert_eq!(full_share_estimate(1.0, 0.0), 0.0);
    assert!(full_share_estimate(0.91 * 92.0, 92.0) < FULL_SHARE_MIN);
    assert!(full_share_estimate(0.92 * 92.0, 92.0) > FULL_SHARE_MIN);
}

/// A workload with a measured gain of `gain` without the other side, plus or minus `noise`.
fn party(name: &str, gain: f64, noise: f64) -> SideWorkload {
    SideWorkload { name: name.to_owned(), alone: Some(IsolatedGain { gain, noise, basis: Basis::Measured }) }
}

fn unknown(name: &str) -> SideWorkload {
    SideWorkload { name: name.to_owned(), alone: None }
}

/// Cores and drives, with P2M credits that are full for a share `full_share` of the time.
fn sides(cores: SideWorkload, devices: SideWorkload, full_share: f64) -> ContentionSides {
    let p2m = P2mLoad { full_share, gb_per_s: 9.0, offered_gb_per_s: None };
    ContentionSides { cores: vec![cores], devices: vec![devices], c2m: None, p2m, crowd: CoreContention::None }
}

/// Names of the workloads that the regime reports as slowed down.
fn slowed(found: &Regime) -> Vec<&str> {
    found.slowed.iter().map(|slowed| slowed.workload.as_str()).collect()
}

#[test]
fn red_needs_full_credits_and_a_gain_of_devices_without_the_cores() {
    let found = |gain, full_share| regime(&sides(party("c", 0.3, 0.01), party("d", gain, 0.0), full_share));
    let red = found(0.06, 0.5);
    assert_eq!((red.name.as_str(), slowed(&red)), ("red", vec!["c", "d"]));
    assert_eq!((red.slowed[1].times, red.slowed[1].because_of.as_slice()), (1.06, ["c".to_owned()].as_slice()));
    assert_eq!(found(0.04, 1.0).name, "blue", "drives that keep their rate are not held back");
    assert_eq!(found(0.06, 0.4).name, "not known", "held back, but not by credits");
}

#[test]
fn blue_needs_a_gain_of_cores_and_devices_that_keep_their_rate() {
    let found = |gain, noise| regime(&sides(party("c", gain, noise), party("d", 0.0, 0.01), 0.0));
    assert_eq!(found(0.10, 0.02).name, "blue");
    assert_eq!(found(0.04, 0.005).name, "uncontended");
    let between = found(0.06, 0.02);
    assert_eq!((between.name.as_str(), between.estimated, slowed(&between).len()), ("not known", true, 0));
    assert_eq!(between.open, ["the throughput of c without d"]);
    assert_eq!(found(f64::NAN, 0.0).name, "not known");
}

#[test]
fn a_small_gain_that_is_predicted_accuses_nobody() {
    let found = |gain, basis| {
        let cores = SideWorkload { name: "c".to_owned(), alone: Some(IsolatedGain { gain, noise: 0.01, basis }) };
        let found = regime(&sides(cores, party("d", 0.0, 0.0), 0.0));
        (found.name, found.slowed.len())
    };
    let least = GAIN_MIN + PREDICTION_ERROR + 0.01;
    assert_eq!(found(least + 1e-9, Basis::Predicted), ("blue".to_owned(), 1));
    assert_eq!(found(least - 1e-9, Basis::Predicted), ("not known".to_owned(), 0));
    assert_eq!(found(least - 1e-9, Basis::Measured), ("blue".to_owned(), 1));
    assert_eq!(found(GAIN_MIN - 0.02, Basis::Predicted), ("uncontended".to_owned(), 0));
}

#[test]
fn who_was_not_looked_at_alone_is_not_accused_and_accuses_nobody() {
    let found = regime(&sides(unknown("c"), party("d", 0.0, 0.0), 1.0));
    assert_eq!((found.name.as_str(), slowed(&found).len()), ("not known", 0));
    let found = regime(&sides(party("c", 0.2, 0.01), unknown("d"), 0.0));
    assert_eq!((found.name.as_str(), slowed(&found)), ("not known", vec!["c"]), "a gain stays one");
    let found = regime(&sides(party("c", 0.0, 0.0), unknown("d"), 1.0));
    assert_eq!(found.name, "not known", "full credits alone name nobody");
}

#[test]
fn storage_that_moves_what_it_offers_cannot_gain() {
    let capped = |offered| unknown("d").capped(Some(10.0), Some(offered));
    assert_eq!(regime(&sides(party("c", 0.2, 0.0), capped(10.4), 0.0)).name, "blue");
    assert_eq!(regime(&sides(party("c", 0.2, 0.0), capped(11.0), 0.0)).name, "not known");
    assert_eq!(unknown("d").capped(None, Some(1.0)), unknown("d"));
    assert_eq!(
        regime(&sides(party("c", 0.0, 0.0), party("d", 0.3, 0.1).capped(Some(9.0), Some(9.1)), 0.9)).name,
        "red"
    );
}

#[test]
fn one_side_alone_is_slowed_down_by_nobody() {
    let one = |cores, devices, crowd| {
        let p2m = P2mLoad { full_share: 1.0, gb_per_s: 3.0, offered_gb_per_s: Some(10.0) };
        regime(&ContentionSides { cores, devices, c2m: None, p2m, crowd })
    };
    let crowd = |latency_ns| CoreContention::Known { latency_ns, lone_ns: 70.0 };
    let cores = |crowd| one(vec![party("c", 1.0, 0.0)], Vec::new(), crowd);
    assert_eq!(cores(crowd(77.0)).name, "uncontended", "10% is not more than 10%");
    assert_eq!(cores(crowd(77.1)).name, "cores");
    assert_eq!(cores(CoreContention::NotKnown).open, ["how much the cores slow each other down"]);
    assert_eq!(cores(CoreContention::None).evidence, ["no P2M traffic"]);
    let drives = one(Vec::new(), vec![party("d", 1.0, 0.0)], CoreContention::None);
    assert_eq!((drives.name.as_str(), slowed(&drives).len()), ("uncontended", 0));
    assert_eq!(drives.evidence[2], "no C2M traffic but what serves P2M, such as copies of the kernel");
    assert_eq!(one(Vec::new(), Vec::new(), CoreContention::None).evidence, ["no P2M traffic", "no C2M traffic"]);
    let beside = ContentionSides { crowd: crowd(109.0), ..sides(party("c", 0.0, 0.0), party("d", 0.0, 0.0), 0.0) };
    assert_eq!(regime(&beside).name, "cores", "drives have no part in it");
}

proptest! {
    #[test]
    fn nobody_is_named_without_a_gain_that_is_sure(
        gains in prop::array::uniform2(-0.5..0.5f64), noises in prop::array::uniform2(0.0..0.2f64), full in 0.0..1.0f64
    ) {
        let found = regime(&sides(party("c", gains[0], noises[0]), party("d", gains[1], noises[1]), full));
        for slowed in &found.slowed {
            let at = usize::from(slowed.workload == "d");
            prop_assert!(gains[at] - noises[at] >= GAIN_MIN);
        }
        let names_somebody = found.name != "not known" && !found.slowed.is_empty();
        prop_assert_eq!(found.name == "blue" || found.name == "red", names_somebody);
        prop_assert_eq!(found.name == "not known", found.estimated);
    }
}

const FIO: &str = "[workload.disk]\nkind = \"fio\"\ncores = \"6-7\"\n";

fn offered(job: &str, more: &str) -> f64 {
    let text = format!("{more}{FIO}{job}");
    offered_gb_per_s(plan(&text).server().unwrap(), 0).expect("a storage workload")
}

#[test]
fn deep_queues_offer_the_bandwidth_of_the_drives() {
    let rate = offered("job = \"quadrant.fio\"\n", "");
    assert!((rate - 4.0 * 3.465).abs() < 0.01, "{rate}");
    let writing = offered("job = \"quadrant-write.fio\"\n", "");
    assert!((writing - 4.0 * 3.465).abs() < 0.01, "{writing}");
}

#[test]
fn drives_offer_it_wherever_they_are() {
    let job = |ssd: u32| format!("{{ rw = \"read\", bs = \"1 MiB\", iodepth = 32, size = \"1 GiB\", ssd = {ssd} }}");
    let jobs: Vec<String> = (0..4).map(job).collect();
    let upi =
        "links = 1\nspeculative = true\ndirectory = false\nlink = { bandwidth = \"20 GB/s\", latency = \"40 ns\", \
        data_credits = 64, request_credits = 64, data = \"72 B\", request = \"8 B\" }\n";
    let of = |sockets: &str| {
        let more = format!("sockets = 2\n[ssd]\nsockets = {sockets}\n[upi]\n{upi}");
        offered(&format!("jobs = [{}]\n", jobs.join(", ")), &more)
    };
    for sockets in ["0", "1", "[0, 0, 1, 1]"] {
        assert!((of(sockets) - 4.0 * 3.465).abs() < 0.01, "{sockets}: {}", of(sockets));
    }
}

#[test]
fn a_cap_offers_no_more() {
    let rate = offered("job = \"quadrant.fio\"\nrate = \"2 GB/s\"\n", "");
    assert!((rate - 2.0).abs() < 0.01, "{rate}");
}

#[test]
fn one_command_at_a_time_offers_a_block_per_round_trip() {
    let rate = offered("job = \"probe.fio\"\n", "");
    let round_trip_ns = 10_000.0 + 100.0 + 4096.0 / 3.465;
    assert!((rate - 4096.0 / round_trip_ns).abs() < 1e-3, "{rate}");
}

#[test]
fn a_narrow_link_offers_what_its_headers_leave() {
    let rate = offered("job = \"quadrant.fio\"\n", "[pcie]\nlanes = 4\n");
    let lane_gb_per_s = 8.0 / 8.0 * 128.0 / 130.0;
    let expected = 4.0 * lane_gb_per_s * 0.98 * 256.0 / 280.0;
    assert!((rate / expected - 1.0).abs() < 0.001, "{rate} is not {expected}");
}

#[test]
fn streams_offer_nothing_to_drives() {
    assert_eq!(offered_gb_per_s(plan(common::STREAM).server().unwrap(), 0), None);
    assert_eq!(offered_gb_per_s(plan(common::STREAM).server().unwrap(), 1), None);
}
