//! Switches of kind "learning": resolved values, and invalid networks.

use crate::common::{cluster, cluster_text, says};
use hostnet_config::Format;
use hostnet_params::AddressLearningParams;

/// Three endpoints at three switches in a line.
const LINE: &str = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.c]\nkind = \"endpoint\"\n\
    [cable.a]\nends = [\"a\", \"s0\"]\n[cable.b]\nends = [\"b\", \"s1\"]\n[cable.c]\nends = [\"c\", \"s2\"]\n\
    [cable.one]\nends = [\"s0\", \"s1\"]\n[cable.two]\nends = [\"s1\", \"s2\"]\n\
    [switch.s0]\n[switch.s1]\n[switch.s2]\n\
    [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"c\"\n";
const STAR: &str = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
    [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n[network]\nrate = \"10 Gbps\"\n[switch.tor]\n";
const ALL: &str = "network.switch.kind=learning";

#[test]
fn a_switch_learns_as_the_document_says() {
    assert_eq!(cluster(STAR, &[]).cluster.switches[0].learning, None);
    let plan = cluster(STAR, &["switch.tor.kind=learning"]);
    let usual = AddressLearningParams {
        table: 4096,
        ttl_ps: 10_000_000_000,
        fabric_bytes_per_s: 1_250_000_000,
        delay_ps: 0,
        jitter_ps: 0,
    };
    assert_eq!((plan.cluster.switches[0].learning, plan.cluster.switches[0].latency_ps), (Some(usual), 0));
    let keys = ["table=2", "ttl=1 us", "fabric=40 Gbps", "delay=3 ns", "jitter=5 ns"];
    for place in ["switch.tor", "network.switch"] {
        let overrides: Vec<String> =
            keys.iter().chain(&["kind=learning"]).map(|key| format!("{place}.{key}")).collect();
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let plan = cluster(STAR, &overrides);
        let own = AddressLearningParams {
            table: 2,
            ttl_ps: 1_000_000,
            fabric_bytes_per_s: 5_000_000_000,
            delay_ps: 3000,
            jitter_ps: 5000,
        };
        assert_eq!(plan.cluster.switches[0].learning, Some(own), "{place}");
    }
}

#[test]
fn the_effective_form_gives_the_same_plan() {
    for overrides in [&[ALL][..], &[ALL, "network.switch.table=9", "switch.s1.table=3"], &["switch.s0.kind=routed"]] {
        let plan = cluster(LINE, overrides);
        let effective = plan.effective.to_string();
        let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
        assert_eq!((&again.cluster, &again.hash, &again.effective), (&plan.cluster, &plan.hash, &plan.effective));
    }
}

#[test]
fn keys_without_an_effect_are_refused() {
    for key in ["table=5", "ttl=1 ms", "fabric=1 Gbps", "delay=1 us", "jitter=1 us"] {
        let name = key.split('=').next().unwrap();
        says(STAR, &[&format!("switch.tor.{key}")], &[&format!("[no-effect switch.tor.{name}]")]);
        says(STAR, &[&format!("network.switch.{key}")], &[&format!("[no-effect network.switch.{name}]")]);
    }
    says(STAR, &[ALL, "switch.tor.latency=1 us"], &["[no-effect switch.tor.latency]"]);
    says(STAR, &[ALL, "network.switch.latency=1 us"], &["[no-effect network.switch.latency]"]);
    let pauses = "pfc={ xoff = \"10 kB\", xon = \"5 kB\" }";
    for place in ["switch.tor", "network.switch"] {
        says(STAR, &[ALL, &format!("{place}.{pauses}")], &[&format!("[not-supported {place}.pfc]"), "\"routed\""]);
    }
    says(STAR, &["switch.tor.kind=lerning"], &["[unknown-name switch.tor.kind] \"learning\""]);
    says(STAR, &["switch.tor.kind=learning", "switch.tor.table=0"], &["[out-of-range switch.tor.table]"]);
}

#[test]
fn a_packet_has_to_fit_into_the_buffer() {
    says(STAR, &[ALL, "switch.tor.buffer=8 kB", "network.mtu=9000 B"], &["[does-not-fit switch.tor.buffer] 9000 B"]);
    assert!(cluster_text(STAR, Format::Toml, &["switch.tor.buffer=8 kB", "network.mtu=9000 B"]).is_ok());
}

#[test]
fn loops_are_refused_by_name() {
    let ring = [LINE, "[cable.three]\nends = [\"s2\", \"s0\"]\n"].concat();
    let names = "\"s1\" | \"s0\" | \"s2\"";
    says(&ring, &[ALL], &[&format!("[sends-in-circle network.switch.kind] {names}")]);
    let own = [&ring, "[network.switch]\nkind = \"learning\"\n"].concat();
    says(&own, &[], &[&format!("[sends-in-circle cable.two] {names}")]);
    assert!(cluster_text(&ring, Format::Toml, &[]).is_ok());
    let twice = [LINE, "[cable.three]\nends = [\"s1\", \"s0\"]\n"].concat();
    says(&twice, &[ALL], &["[sends-in-circle network.switch.kind]", "\"s1\"", "\"s0\""]);
    let named = "[host.a]\nkind = \"endpoint\"\ncount = 20\n[network]\ntopology = \"ring\"\nsize = 20\n";
    says(
        named,
        &[ALL],
        &["[sends-in-circle network.switch.kind]", "\"switch-19\"", "\"switch-0\"", "\"switch-13\"", "\"switch-12\""],
    );
    for (topology, sizes) in [("fat-tree", "k=6"), ("torus", "size=[3, 3]"), ("mesh", "size=[2, 2]")] {
        let text = "[host.a]\nkind = \"endpoint\"\ncount = 20\n";
        let overrides = [ALL, &format!("network.topology={topology}"), &format!("network.{sizes}")];
        says(text, &overrides, &["[sends-in-circle network.switch.kind]"]);
    }
}

#[test]
fn switches_that_are_joined_are_of_one_kind() {
    says(LINE, &["switch.s1.kind=learning"], &["[must-agree switch.s1.kind] \"s1\" | \"s0\""]);
    let apart = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.c]\nkind = \"endpoint\"\n\
        [host.d]\nkind = \"endpoint\"\n[switch.s0]\n[switch.s1]\n\
        [cable.a]\nends = [\"a\", \"s0\"]\n[cable.b]\nends = [\"b\", \"s0\"]\n\
        [cable.c]\nends = [\"c\", \"s1\"]\n[cable.d]\nends = [\"d\", \"s1\"]\n\
        [network.switch]\ntable = 7\nlatency = \"2 us\"\n";
    let plan = cluster(apart, &["switch.s1.kind=learning"]);
    let learns: Vec<_> = plan.cluster.switches.iter().map(|switch| switch.learning.map(|own| own.table)).collect();
    assert_eq!(learns, [None, Some(7)]);
    let latencies: Vec<_> = plan.cluster.switches.iter().map(|switch| switch.latency_ps).collect();
    assert_eq!(latencies, [2_000_000, 0]);
    let again = cluster_text(&plan.effective.to_string(), Format::Json, &[]).expect("it resolves");
    assert_eq!(again.cluster, plan.cluster);
}

#[test]
fn a_fabric_that_is_slower_than_cables_is_told_of() {
    let told = |overrides: &[&str]| cluster(STAR, overrides).ignored;
    assert_eq!(told(&[ALL]), Vec::<String>::new());
    let words = "network.switch.fabric: the fabric of tor carries 10.0 Gbps to each port, and its fastest cable 100.0";
    assert_eq!(told(&[ALL, "network.rate=100 Gbps"]), [words]);
}
