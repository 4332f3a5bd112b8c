//! Tests the attachment of a NIC, and the cost of its registers and descriptors.

use crate::cluster::conservation::cluster;
use crate::cluster::lab::{drain, plan, run, servers, settle};
use crate::cluster::stats::{assert_conserved, datagrams};
use crate::common::laws::{assert_books, cases};
use hostnet_model::transport::stage_times::Stage;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use serde_json::Value;

/// Returns a cluster of two equal servers that poll, with a cable and one flow.
fn pair(keys: &str, flow: &str) -> String {
    let server = |name: &str| {
        format!(
            "[host.{name}]\npreset = \"broadwell-r730\"\ncache.enabled = true\nnic.ddio = true\nstack.poll = true\n\
             stack.wake = \"0 ns\"\n{keys}\n"
        )
    };
    let network =
        "[network]\ntopology = \"direct\"\nrate = \"40 Gbps\"\n[run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n";
    [&server("a"), &server("b"), network, "[flow.f]\nkind = \"datagram\"\nfrom = \"a\"\nto = \"b\"\n", flow].concat()
}

const PING: &str = "pattern = \"ping\"\nrequest = \"64 B\"\nthink = \"2 us\"\n";

/// Returns the mean time of each stage of requests to an idle server, in ps.
fn idle(keys: &str) -> [f64; 10] {
    let simulation = run(&plan(&pair(keys, PING)), 500);
    let all = datagrams(&simulation);
    let end = all.iter().find(|end| end.host == 1).expect("an end there");
    let stage_stats = end.application.stage_stats();
    assert!(stage_stats.total().count() > 20, "{keys}");
    Stage::ALL.map(|stage| stage_stats.sum_ps(stage) as f64 / stage_stats.total().count() as f64)
}

/// Returns the time of so many bytes on the card's link, which has sixteen lanes of PCIe 3.0 less 2 % for data-link
/// packets, in ps.
fn wire_ps(bytes: u64) -> f64 {
    bytes as f64 / (16.0 * 8e9 / 8.0 * 128.0 / 130.0 * 0.98) * 1e12
}

#[test]
fn a_doorbell_is_a_write_and_a_status_a_read_on_the_link() {
    let register = |keys: &str| idle(keys)[Stage::TxRegister as usize];
    assert!(register("") <= 1.0, "without a place the doorbell is part of nic.transmit");
    let near = |found: f64, law: f64| assert!((found - law).abs() < 3.0, "{found} ps, law {law}");
    let doorbell = 100_000.0 + wire_ps(24 + 8);
    for own in [1_u64, 20, 300] {
        let keys = format!("nic.attach = \"pcie\"\nnic.register = \"{own} ns\"\n");
        near(register(&keys), 1000.0 * own as f64 + doorbell);
        let status = 200_000.0 + wire_ps(24) + wire_ps(20 + 8) + 2000.0 * own as f64;
        near(register(&format!("{keys}nic.status = true\n")), status + 1000.0 * own as f64 + doorbell);
    }
    let cxl = 20_000.0 + 50_000.0 + wire_ps(2 * 16 + 8) * 0.98 / (64.0 / 68.0);
    near(register("nic.attach = \"cxl\"\n"), cxl);
    near(register("nic.attach = \"onchip\"\nnic.onchip.latency = \"7 ns\"\n"), 27_000.0 + 8.0 / 0.064);
    near(register("nic.attach = \"onchip\"\nnic.onchip.bandwidth = \"1 GB/s\"\n"), 25_000.0 + 8000.0);
}

#[test]
fn descriptors_are_read_before_they_are_needed() {
    let of = |keys: &str| idle(&format!("nic.attach = \"pcie\"\n{keys}"))[Stage::RxDma as usize];
    let (one, many) = (of("nic.fetch = 1\n"), of("nic.fetch = 32\n"));
    assert!((one - many).abs() < 0.05 * many, "an idle card has the next one: {one} and {many} ps");
}

#[test]
fn zero_copy_takes_no_copy_time() {
    let (copied, in_place) = (idle(""), idle("stack.zero_copy = true\n"));
    for stage in [Stage::TxCopy, Stage::RxCopy] {
        // Both stages still include the system call, 300 ns.
        let [copied, in_place] = [copied, in_place].map(|stages| stages[stage as usize]);
        assert!(copied > in_place, "{stage:?}: {copied} and {in_place} ps");
        assert!(in_place <= 300_000.0, "{stage:?}: {in_place} ps");
    }
}

fn told(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

#[test]
fn descriptor_fetches_are_named_as_the_limit_and_larger_ones_help() {
    // One core receives what two cores generate, with no work per packet.
    let of = |fetch: u32| {
        let keys = format!(
            "nic.attach = \"pcie\"\nnic.fetch = {fetch}\nnic.pcie.latency = \"2 us\"\nstack.packet = \"0 ns\"\n\
             stack.call = \"0 ns\"\nstack.zero_copy = true\nnic.pcie.posted_lines = 1024\n"
        );
        let summary = told(&pair(&keys, "size = \"1000 B\"\nrate = \"4 Gbps\"\n"));
        let goodput = summary["classes"][0]["goodput_gbps"].as_f64().expect("a rate");
        (summary["limits"][0]["limit"].clone(), goodput)
    };
    let (limit, one) = of(1);
    assert_eq!(limit, "descriptor reads", "{one} Gbps");
    let (limit, many) = of(32);
    assert!(many > 1.5 * one && limit != "descriptor reads", "{one} and {many} Gbps, {limit}");
}

/// Returns the limit and the goodput in Gbps of four cores of each server that send one flow each at full speed.
fn flood(keys: &str) -> (Value, f64) {
    let flow = "size = \"1472 B\"\ncount = 4\nfrom_cores = \"0-3\"\nto_cores = \"0-3\"\n";
    let fast = "stack.call = \"0 ns\"\nstack.send = \"100 ns\"\nstack.packet = \"100 ns\"\n\
                nic.attach = \"pcie\"\n";
    let summary = told(&pair(&format!("{fast}nic.status = true\n{keys}"), flow));
    (summary["limits"][0]["limit"].clone(), summary["classes"][0]["goodput_gbps"].as_f64().expect("a rate"))
}

#[test]
fn a_planted_limit_is_named_or_nothing_is() {
    let (limit, free) = flood("");
    assert_eq!(limit, "cable");
    for (keys, wanted) in [
        ("nic.pcie.lanes = 1\n", "PCIe"),
        ("nic.register = \"5 us\"\n", "not known"),
        ("nic.pcie.posted_lines = 4\nnic.buffer = \"20 kB\"\n", "host network"),
    ] {
        let (limit, goodput) = flood(keys);
        assert!(goodput < 0.8 * free, "{keys}: {goodput} of {free} Gbps");
        assert_eq!(limit, wanted, "{keys}: {goodput} of {free} Gbps");
    }
}

#[test]
fn the_fewest_read_credits_still_bring_descriptors() {
    let (_, goodput) = flood("nic.pcie.nonposted_lines = 8\n");
    assert!(goodput > 1.0, "{goodput} Gbps");
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn cards_lose_nothing_wherever_they_sit(
        text in cluster(),
        place in prop::sample::select(vec!["pcie", "onchip", "cxl"]),
        (fetch, status, zero_copy) in (1_u32..5, any::<bool>(), any::<bool>()),
        until_us in 100_u64..300,
    ) {
        let nic = format!("[host.a.nic]\nattach = \"{place}\"\nfetch = {fetch}\nstatus = {status}\n");
        let text = text.replace("[host.a.nic]\n", &nic);
        let text = text.replace("[host.a.stack]\n", &format!("[host.a.stack]\nzero_copy = {zero_copy}\n"));
        let plan = plan(&text);
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        servers(&simulation).into_iter().for_each(assert_books);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        servers(&simulation).into_iter().for_each(assert_books);
    }
}
