//! What binds a workload, the regime, and what storage offers.

mod common;

use common::plan;
use hostnet_analysis::binding::{
    binding, full_share_estimate, lfb_domain, stream_otherwise, CORE, FULL_SHARE_MIN, OFFERED_LOAD,
};
use hostnet_analysis::offered::offered_gb_per_s;
use hostnet_analysis::regime::{regime, Basis, C2m, Crowd, P2m};
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

fn p2m(full_share: f64, gb_per_s: f64) -> Option<P2m> {
    Some(P2m { full_share, gb_per_s, offered_gb_per_s: Some(10.0) })
}

fn c2m(latency_ns: f64) -> Option<C2m> {
    Some(C2m { latency_ns, isolated_ns: 100.0, basis: Basis::Measured })
}

#[test]
fn red_needs_full_credits_and_a_loss() {
    assert_eq!(regime(c2m(300.0), p2m(0.5, 9.4), None).name, "red");
    assert_eq!(regime(c2m(300.0), p2m(0.49, 9.4), None).name, "blue");
    assert_eq!(regime(c2m(300.0), p2m(1.0, 9.5), None).name, "blue", "5% below is not more than 5%");
    assert_eq!(regime(None, p2m(1.0, 9.0), None).name, "red");
}

#[test]
fn without_streams_cores_may_still_work_for_devices() {
    let c2m_of = |p2m| regime(None, p2m, None).evidence.pop().unwrap_or_default();
    assert_eq!(c2m_of(p2m(0.0, 10.0)), "no C2M traffic but what serves P2M, such as copies of the kernel");
    assert_eq!(c2m_of(None), "no C2M traffic");
}

#[test]
fn blue_needs_latency_above_that_of_the_cores_alone() {
    assert_eq!(regime(c2m(111.0), p2m(0.0, 10.0), None).name, "blue");
    assert_eq!(regime(c2m(109.0), p2m(0.0, 10.0), None).name, "uncontended");
    assert_eq!(regime(c2m(500.0), None, None).name, "uncontended", "cores alone are alone");
    assert_eq!(regime(None, None, None).name, "uncontended");
    let crowd = |latency_ns| Some(Crowd { latency_ns, lone_ns: 70.0 });
    assert_eq!(regime(c2m(500.0), None, crowd(77.0)).name, "uncontended", "10% is not more than 10%");
    assert_eq!(regime(c2m(500.0), None, crowd(77.1)).name, "cores");
    assert_eq!(regime(c2m(109.0), p2m(0.0, 10.0), crowd(109.0)).name, "cores", "drives have no part in it");
    assert_eq!(regime(c2m(111.0), p2m(0.0, 10.0), crowd(111.0)).name, "blue");
}

#[test]
fn what_is_only_estimated_says_so() {
    let rough = C2m { latency_ns: 200.0, isolated_ns: 65.0, basis: Basis::Unloaded };
    let found = regime(Some(rough), p2m(0.0, 10.0), None);
    assert!(found.name == "blue" && found.estimated);
    assert!(found.evidence.iter().any(|line| line.contains("without any load")), "{found:?}");
    let below = C2m { latency_ns: 66.0, ..rough };
    assert!(
        !regime(Some(below), p2m(0.0, 10.0), None).estimated,
        "not above it means not above the isolated latency either"
    );
    let unknown = P2m { full_share: 1.0, gb_per_s: 3.0, offered_gb_per_s: None };
    let found = regime(None, Some(unknown), None);
    assert!(found.name == "red" && found.estimated);
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
