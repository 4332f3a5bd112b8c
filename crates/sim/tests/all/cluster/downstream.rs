//! Tests that the limit of a class with dropped packets is the resource that is full behind the drops, not the one
//! before them. More of the named resource helps.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Run};
use serde_json::Value;

/// Returns the limit of the only class, and its goodput in Gbps.
fn told(text: &str) -> (Value, f64) {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let summary = run.report().summary;
    let goodput = summary["classes"][0]["goodput_gbps"].as_f64().expect("a rate");
    (summary["limits"][0].clone(), goodput)
}

/// Asserts which limit is named when `{}` is `value`, and that `more` of it helps by at least 2 %.
fn assert_named(text: &str, (value, more): (&str, &str), (limit, place): (&str, &str)) {
    let (named, before) = told(&text.replace("{}", value));
    assert_eq!((&named["limit"], &named["place"]), (&limit.into(), &place.into()), "{named}");
    let (_, after) = told(&text.replace("{}", more));
    assert!(after > 1.02 * before, "{before} Gbps, then {after}: {named}");
}

const OPEN: &str = "[host.a]\nkind = \"endpoint\"\ncount = 4\n[network]\nrate = \"10 Gbps\"\n\
    [flow.f]\nkind = \"datagram\"\npattern = \"open\"\nsize = \"1400 B\"\nfrom = \"a-0\"\nto = \"a-3\"\n\
    [run]\nwarmup = \"300 us\"\nduration = \"500 us\"\n";

#[test]
fn of_two_full_cables_the_one_whose_port_drops_packets_is_named() {
    let text = format!("{OPEN}[cable.a-3]\nrate = \"{{}}\"\n");
    assert_named(&text, ("1 Gbps", "1500 Mbps"), ("cable", "tor to a-3"));
}

#[test]
fn a_slow_fabric_is_named_and_not_the_cable_before_it() {
    for (rate, more) in [("1 Gbps", "1500 Mbps"), ("4 Gbps", "6 Gbps")] {
        let text = format!("{OPEN}[network.switch]\nkind = \"learning\"\nfabric = \"{{}}\"\n");
        assert_named(&text, (rate, more), ("fabric", "tor"));
    }
}

/// Returns a cluster with four flows to a server.
fn to_server(of_server: &str, of_network: &str, flow: &str) -> String {
    format!(
        "[host.s]\npreset = \"cascade-lake-hostcc\"\n{of_server}\n[host.e]\nkind = \"endpoint\"\n\
         [network]\nmtu = \"4000 B\"\n{of_network}\n[flow.f]\nfrom = \"e\"\nto = \"s\"\n{flow}\n\
         [run]\nwarmup = \"1 ms\"\nduration = \"1 ms\"\n"
    )
}

const DCTCP: &str = "kind = \"bulk\"\ntransport = \"dctcp\"\ncount = 4";

#[test]
fn a_narrow_pcie_link_of_the_receiver_is_named_and_not_the_losses_before_it() {
    let text = to_server("nic.pcie.lanes = {}", "rate = \"100 Gbps\"", DCTCP);
    assert_named(&text, ("1", "2"), ("PCIe", "s"));
    assert_named(&text, ("4", "8"), ("PCIe", "s"));
}

#[test]
fn a_narrow_pcie_link_of_the_sender_is_named() {
    let text = to_server("nic.pcie.lanes = {}", "rate = \"100 Gbps\"", DCTCP);
    let text = text.replace("from = \"e\"\nto = \"s\"", "from = \"s\"\nto = \"e\"");
    assert_named(&text, ("1", "2"), ("PCIe", "s"));
}

#[test]
fn of_datagrams_that_their_sockets_drop_the_core_is_named_and_not_the_full_cable() {
    let flow = "kind = \"datagram\"\npattern = \"open\"\nsize = \"200 B\"\nto_cores = \"0\"";
    let (limit, _) = told(&to_server("", "rate = \"10 Gbps\"", flow));
    assert_eq!((&limit["limit"], &limit["place"]), (&"receiver cores".into(), &"s".into()), "{limit}");
}

#[test]
fn a_class_without_acknowledgements_is_not_silent_and_names_who_fills_their_cable() {
    let text = "[host.a]\nkind = \"endpoint\"\ncount = 2\n[host.b]\nkind = \"endpoint\"\n\
        [network]\nrate = \"10 Gbps\"\nmtu = \"1500 B\"\n\
        [flow.rd]\nkind = \"read\"\nfrom = \"a-0\"\nto = \"b\"\n\
        [flow.t]\nkind = \"bulk\"\nfrom = \"a-1\"\nto = \"b\"\ntransport = \"dctcp\"\n\
        [run]\nwarmup = \"1 ms\"\nduration = \"1 ms\"\n";
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let limits = run.report().summary["limits"].clone();
    assert_eq!((&limits[0]["limit"], &limits[0]["place"]), (&"cable".into(), &"b to tor".into()), "{limits}");
    assert_eq!(limits[1]["limit"], "not known", "{limits}");
    let why = limits[1]["why"].as_str().expect("words");
    assert!(why.contains("b to tor") && why.contains("\"rd\""), "{why}");
}

#[test]
fn a_cable_before_a_full_iio_is_not_named() {
    let write = "kind = \"write\"";
    let text = |gbps: u32| to_server("iio.write_credits = 35", &format!("rate = \"{gbps} Gbps\""), write);
    let (below, _) = told(&text(30));
    assert_eq!(below["limit"], "cable", "{below}");
    // 35 lines for 312 ns each are 57 Gbps.
    let (contested, before) = told(&text(59));
    assert_eq!(contested["limit"], "not known", "{contested}");
    let (_, after) = told(&text(80));
    assert!(after < 1.02 * before, "{before} Gbps, then {after}");
}
