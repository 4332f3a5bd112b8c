//! Hosts with several ports, and topologies of rails: their switches and cables, and errors.

use crate::common::{assert_tells, cluster, cluster_text, told};
use hostnet_config::{Format, Plan};
use hostnet_params::{CableEnd, ClusterParams};

fn text(hosts: usize, network: &str) -> String {
    format!("[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n[network]\n{network}\n")
}

/// Returns the plan of a network with `hosts` endpoints, whose effective configuration must resolve to the same.
fn network(hosts: usize, network: &str) -> Plan {
    let plan = cluster(&text(hosts, network), &[]);
    let effective = plan.effective.to_string();
    let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
    assert_eq!((&again.cluster, &again.effective), (&plan.cluster, &plan.effective));
    assert_eq!(again.hash, plan.hash);
    plan
}

fn refused(text: &str, wanted: &[&str]) {
    match cluster_text(text, Format::Toml, &[]) {
        Ok(_) => panic!("{text} resolves"),
        Err(error) => assert_tells(&told(&error), wanted),
    }
}

/// Returns the names of both ends of each cable.
fn ends(cluster: &ClusterParams) -> Vec<[&str; 2]> {
    let name = |end: CableEnd| match end {
        CableEnd::Host(host) => cluster.hosts[usize::from(host)].name.as_str(),
        CableEnd::Switch(switch) => cluster.switches[usize::from(switch)].name.as_str(),
    };
    cluster.cables.iter().map(|cable| cable.ends.map(name)).collect()
}

fn rails(topology: &str, more: &str) -> String {
    format!("topology = \"{topology}\"\naccelerators = 2\n{more}")
}

#[test]
fn accelerators_have_a_port_inside_their_server_and_one_on_their_rail() {
    let plan = network(4, &rails("rail-optimised", "spines = 1"));
    let expected = [
        ["e-0", "scale-up-0"],
        ["e-1", "scale-up-0"],
        ["e-2", "scale-up-1"],
        ["e-3", "scale-up-1"],
        ["e-0", "rail-0"],
        ["e-1", "rail-1"],
        ["e-2", "rail-0"],
        ["e-3", "rail-1"],
        ["rail-0", "spine-0"],
        ["rail-1", "spine-0"],
    ];
    assert_eq!(ends(&plan.cluster), expected);
    assert!(plan.cluster.hosts.iter().all(|host| host.forwarding_ports() == 0));
    let scale_up = &plan.cluster.switches[0];
    let pfc = scale_up.pfc.expect("its links have credits");
    assert!(pfc.priorities == 0xff && pfc.xon_bytes < pfc.xoff_bytes && scale_up.ecn.is_none());
    assert!(plan.unvalidated.is_some());
}

#[test]
fn without_spines_accelerators_forward_what_comes_from_their_server() {
    let plan = network(4, &rails("rail-only", ""));
    assert_eq!(ends(&plan.cluster)[8..], [[""; 2]; 0]);
    assert!(plan.cluster.hosts.iter().all(|host| host.forwarding_ports() == 1));
    let mesh = "topology = \"rail-only\"\naccelerators = 3\nscale_up = { fabric = \"mesh\", rate = \"50 GB/s\" }";
    let plan = network(6, mesh);
    assert_eq!(ends(&plan.cluster)[..3], [["e-0", "e-1"], ["e-0", "e-2"], ["e-1", "e-2"]]);
    assert_eq!((plan.cluster.switches.len(), plan.cluster.cables.len()), (3, 2 * 3 + 6));
    assert!(plan.cluster.hosts.iter().all(|host| host.forwarding_ports() == 2));
    assert!(plan.cluster.cables[..6].iter().all(|cable| cable.bytes_per_s == 50_000_000_000));
}

#[test]
fn an_accelerator_may_have_several_rails() {
    let plan = network(4, &rails("rail-only", "rails = 4"));
    let of_one: Vec<_> = ends(&plan.cluster).into_iter().filter(|ends| ends[0] == "e-1").collect();
    assert_eq!(of_one, [["e-1", "scale-up-0"], ["e-1", "rail-2"], ["e-1", "rail-3"]]);
}

#[test]
fn a_cable_of_a_host_is_one_of_its_rails() {
    let more = "[cable.e-1]\nrate = \"10 Gbps\"\n[cable.e-3_scale-up-1]\nrate = \"20 Gbps\"";
    let plan = network(4, &rails("rail-optimised", &format!("spines = 1\n{more}")));
    let rates: Vec<u64> = plan.cluster.cables.iter().map(|cable| cable.bytes_per_s / 1_250_000_000).collect();
    assert_eq!(rates, [10, 10, 10, 2, 10, 1, 10, 10, 10, 10]);
}

#[test]
fn spines_carry_what_the_rails_carry() {
    let plan = network(8, &rails("rail-optimised", "core.rate = \"50 Gbps\""));
    assert_eq!(plan.effective["network"]["spines"], 8, "four cables of 100 Gbps come to each rail");
}

#[test]
fn ports_are_parallel_cables() {
    let plan = network(2, "rate = \"10 Gbps\"\n[host.w]\nkind = \"endpoint\"\nports = 3");
    assert_eq!(ends(&plan.cluster), [["e-0", "tor"], ["e-1", "tor"], ["w", "tor"], ["w", "tor"], ["w", "tor"]]);
    let direct = "[host.a]\nkind = \"endpoint\"\nports = 2\n[host.b]\nkind = \"endpoint\"\nports = 2\n\
                  [network]\ntopology = \"direct\"\n";
    assert_eq!(ends(&cluster(direct, &[]).cluster), [["a", "b"], ["a", "b"]]);
    let changed = cluster(&format!("{direct}[cable.a]\nrate = \"1 Gbps\"\n"), &[]);
    assert!(changed.cluster.cables.iter().all(|cable| cable.bytes_per_s == 125_000_000));
    let leaves =
        network(2, "topology = \"leaf-spine\"\nleaves = 2\nspines = 1\n[host.w]\nkind = \"endpoint\"\nports = 2");
    assert_eq!(ends(&leaves.cluster).iter().filter(|ends| ends[0] == "w").count(), 2);
    refused(&direct.replacen("ports = 2", "ports = 3", 1), &["[must-agree host.a.ports] 3 ports"]);
}

#[test]
fn cables_with_ends_may_name_an_endpoint_several_times() {
    let base = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.c]\nkind = \"endpoint\"\n\
                [switch.s]\nlatency = \"1 us\"\n[cable.in]\nends = [\"a\", \"b\"]\n[cable.a]\nends = [\"a\", \"s\"]\n\
                [cable.c]\nends = [\"c\", \"s\"]\n";
    let flow = |from: &str, to: &str| format!("{base}[flow.f]\nkind = \"bulk\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
    for (from, to) in [("a", "b"), ("a", "c"), ("b", "a")] {
        assert_eq!(cluster(&flow(from, to), &[]).cluster.flows.len(), 1);
    }
    refused(&flow("b", "c"), &["[unreachable flow.f.to]", "\"b\"", "\"c\""]);
    let server = base.replace("[host.c]\nkind = \"endpoint\"", "[host.c]\npreset = \"cascade-lake-hostcc\"");
    let second = format!("{server}[cable.c2]\nends = [\"c\", \"s\"]\n");
    refused(&second, &["[bad-cabling cable.c2.ends] \"c\""]);
    let learns = base.replace("latency = \"1 us\"", "kind = \"learning\"");
    refused(&learns, &["[not-supported cable.in] \"a\""]);
}

#[test]
fn rails_that_cannot_be_are_refused() {
    let says = |hosts: usize, network: &str, wanted: &[&str]| refused(&text(hosts, network), wanted);
    let sizes = |count: &str| format!("topology = \"rail-optimised\"\naccelerators = {count}");
    says(4, "topology = \"rail-optimised\"", &["[missing-key network.accelerators]"]);
    says(4, &sizes("0"), &["[out-of-range network.accelerators] test.toml:6: "]);
    says(9, &sizes("4"), &["[not-a-multiple network.accelerators] 9 hosts | host"]);
    says(8, &format!("{}\nrails = 6", sizes("4")), &["[not-a-multiple network.rails] 6 rails | 4"]);
    says(8, &sizes("4").replace("optimised", "optimized"), &["[unknown-name network.topology] \"rail-optimised\""]);
    says(8, &format!("{}\nrail = 8", sizes("4")), &["[unknown-key network.rail]", "rails"]);
    says(
        8,
        &format!("{}\nscale_up.fabric = \"mash\"", sizes("4")),
        &["[unknown-name network.scale_up.fabric] \"mesh\""],
    );
    says(4, &rails("rail-only", "spines = 2"), &["[no-effect network.spines]"]);
    says(4, &rails("rail-only", "core.rate = \"1 Gbps\""), &["[no-effect network.core]"]);
    says(4, "accelerators = 2", &["[no-effect network.accelerators] \"rail-optimised\""]);
    says(4, "scale_up.rate = \"1 Gbps\"", &["[no-effect network.scale_up]"]);
    let more = |table: &str| rails("rail-only", table);
    says(4, &more("[switch.rail-7]\nalpha = 1"), &["[does-not-exist switch.rail-7] \"rail-"]);
    says(4, &more("[cable.e-0_rail-1]\nrate = \"1 Gbps\""), &["[does-not-exist cable.e-0_rail-1]"]);
    says(4, &more("[host.f]\nkind = \"endpoint\"\ncount = 2\nports = 2"), &["[no-effect host.f.ports] network.rails"]);
    says(4, &more("[host.f]\nkind = \"endpoint\"\ncount = 2\nat = \"rail-0\""), &["[no-effect host.f.at]"]);
    says(4, &more("[host.s]\npreset = \"cascade-lake-hostcc\"\ncount = 2"), &["[wrong-host-kind host.s]"]);
    says(2, "[host.s]\npreset = \"cascade-lake-hostcc\"\nports = 2", &["[no-effect host.s.ports]"]);
    says(16384, "topology = \"rail-only\"\naccelerators = 1024\nscale_up.fabric = \"mesh\"", &["[too-many network"]);
}
