//! Tests the time that drivers spend on socket buffers: it is added to both copies, and to nothing else.

use crate::cluster::lab::{drain, plan, run, settle};
use crate::cluster::stats::{assert_conserved, datagrams};
use crate::common::laws::cases;
use hostnet_model::transport::stage_times::Stage;
use proptest::prelude::*;

const PING: &str =
    "kind = \"datagram\"\npattern = \"ping\"\nrequest = \"256 B\"\nresponse = \"256 B\"\nthink = \"1 us\"\n";
/// Additional allocation time in these tests, in ps.
const MORE_PS: f64 = 123_000.0;

fn nodes(keys: &str, flow: &str) -> String {
    format!(
        "[host.node]\npreset = \"netdimm-host\"\ncount = 2\n{keys}\n\
         [network]\ntopology = \"direct\"\nrate = \"40 Gbps\"\nlatency = \"10 ns\"\nmtu = \"9000 B\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n\
         [flow.f]\nfrom = \"node-0\"\nto = \"node-1\"\n{flow}"
    )
}

/// Returns the mean time of each stage of requests to an idle server, in ps.
fn idle(keys: &str) -> [f64; 10] {
    let simulation = run(&plan(&nodes(keys, PING)), 300);
    let all = datagrams(&simulation);
    let end = all.iter().find(|end| end.host == 1).expect("an end there");
    let stage_stats = end.application.stage_stats();
    assert!(stage_stats.total().count() > 10, "{keys}");
    Stage::ALL.map(|stage| stage_stats.sum_ps(stage) as f64 / stage_stats.total().count() as f64)
}

/// Returns the time that a longer allocation adds to each stage, in ps.
fn added(keys: &str) -> [f64; 10] {
    let with = |ns: u32| idle(&format!("{keys}stack.allocate = \"{ns} ns\""));
    let (base, more) = (with(0), with(123));
    Stage::ALL.map(|stage| more[stage as usize] - base[stage as usize])
}

#[test]
fn a_buffer_is_part_of_both_copies() {
    for keys in ["nic.attach = \"pcie\"\n", "nic.attach = \"onchip\"\n"] {
        let added = added(keys);
        for stage in Stage::ALL {
            let law = if matches!(stage, Stage::TxCopy | Stage::RxCopy) { MORE_PS } else { 0.0 };
            // The time of memory and cables varies with the times of refreshes and polls.
            assert!((added[stage as usize] - law).abs() < 12_000.0, "{keys}: {} {added:?}", stage.name());
        }
    }
    // With an on-chip NIC only cores take part, so the result is exact to the ps.
    let added = added("nic.attach = \"onchip\"\n");
    assert_eq!(added[Stage::TxDriver as usize], 0.0);
    assert_eq!(added[Stage::TxCopy as usize], MORE_PS);
}

#[test]
fn zero_copy_needs_no_socket_buffer() {
    for keys in ["nic.attach = \"onchip\"\nstack.zero_copy = true\n", "nic.attach = \"dimm\"\n"] {
        assert_eq!(added(keys), [0.0; 10], "{keys}");
    }
    let copied = added("nic.attach = \"dimm\"\nnic.dimm.driver.copy = true\n");
    for stage in [Stage::TxCopy, Stage::RxCopy] {
        assert!((copied[stage as usize] - MORE_PS).abs() < 60_000.0, "{copied:?}");
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn buffers_lose_no_packet(
        (allocate, place) in (0_u32..2000, 0_usize..3),
        (size, kind) in (1_u32..8900, 0_u32..3),
    ) {
        let place = ["pcie", "onchip", "dimm"][place];
        let keys = format!("nic.attach = \"{place}\"\nstack.allocate = \"{allocate} ns\"\n");
        let flow = match kind {
            0 => PING.to_owned(),
            1 => format!("kind = \"datagram\"\nsize = \"{size} B\"\n"),
            _ => "kind = \"bulk\"\n".to_owned(),
        };
        let plan = plan(&nodes(&keys, &flow));
        let mut simulation = run(&plan, 80);
        settle(&mut simulation);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
    }
}
