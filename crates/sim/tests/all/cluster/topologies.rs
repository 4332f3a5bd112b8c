//! Tests networks of many switches: latencies, use of all equal paths, and conservation of packets.

use crate::cluster::conservation::learning;
use crate::cluster::lab::{drain, fabric, plan, run as world_after, settle};
use crate::cluster::stats::assert_conserved;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_sim::{Options, Report, Run, SimulationError};
use proptest::prelude::*;

const ENDPOINT_PS: u64 = 700_000;
const EDGE_PS: u64 = 300_000;
const CORE_PS: u64 = 2_000_000;
const GLOBAL_PS: u64 = 5_000_000;
const SWITCH_PS: u64 = 450_000;

/// Networks, with the number of cables within groups and between groups on the path from the first host to the last.
const SHAPES: [(&str, u32, &str, u64, u64); 8] = [
    ("two-tier", 6, "leaves = 3", 2, 0),
    ("leaf-spine", 6, "leaves = 3\nspines = 2", 2, 0),
    ("fat-tree", 16, "", 4, 0),
    ("ring", 6, "size = 6", 1, 0),
    ("mesh", 12, "size = [3, 4]", 5, 0),
    ("torus", 9, "size = [3, 3]", 2, 0),
    ("torus", 27, "size = [3, 3, 3]", 3, 0),
    ("dragonfly", 72, "", 2, 1),
];

/// Networks without loops.
const TREES: [(&str, u32, &str, u64, u64); 3] =
    [("two-tier", 6, "leaves = 3", 2, 0), ("mesh", 8, "size = [1, 4]", 3, 0), ("two-tier", 12, "leaves = 6", 2, 0)];

pub fn network(shape: &str, hosts: u32, sizes: &str) -> String {
    let global = if shape == "dragonfly" { "global.latency = \"5 us\"\n" } else { "" };
    format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"700 ns\"\n\
         [network]\ntopology = \"{shape}\"\n{sizes}\n\
         {global}rate = \"10 Gbps\"\nlatency = \"300 ns\"\ncore.latency = \"2 us\"\nswitch.latency = \"450 ns\"\n"
    )
}

fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

/// Returns the time on a wire of 10 Gbps, with headers and framing.
fn wire_ps(data: u64) -> u64 {
    (data + 52 + 38).max(84) * 800
}

#[test]
fn a_packet_takes_the_sum_of_its_parts_across_every_network() {
    for (shape, hosts, sizes, core, global) in SHAPES {
        let flow = format!(
            "[flow.f]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-{}\"\nbytes = \"1000 B\"\nstart = \"5 us\"\n\
             [run]\nwarmup = \"1 us\"\nduration = \"100 us\"\n",
            hosts - 1
        );
        let report = report(&plan(&(network(shape, hosts, sizes) + &flow)));
        let between = core + global;
        let law = 2 * (ENDPOINT_PS + EDGE_PS)
            + (between + 2) * wire_ps(1000)
            + (between + 1) * SWITCH_PS
            + core * CORE_PS
            + global * GLOBAL_PS;
        let row = &report.summary["completions"][0];
        assert_eq!(row["max_us"].as_f64(), Some(law as f64 / 1e6), "{shape}");
        assert_eq!(row["slowdown_max"].as_f64(), Some(1.0), "{shape}");
    }
}

#[test]
fn many_packets_take_as_long_as_the_slowest_cable_needs_for_them() {
    let tcp = "[transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 1000\nreceive_buffer = \"16 MB\"\n";
    for (rates, last) in [("", 1448), ("core.rate = \"4 Gbps\"\n", 700), ("core.rate = \"40 Gbps\"\n", 1)] {
        let bytes = 99 * 1448 + last;
        let flow = format!(
            "{rates}{tcp}[flow.f]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-5\"\n\
             bytes = \"{bytes} B\"\nstart = \"5 us\"\n\
             transport = \"t\"\n[run]\nwarmup = \"1 us\"\nduration = \"1 ms\"\n"
        );
        let report = report(&plan(&(network("leaf-spine", 6, "leaves = 3\nspines = 2") + &flow)));
        let row = &report.summary["completions"][0];
        assert_eq!((row["slowdown_max"].as_f64(), row["completed"].as_u64()), (Some(1.0), Some(1)), "{rates}");
    }
}

#[test]
fn flows_that_share_a_cable_are_slowed_down_by_as_many_as_there_are() {
    let flow = "[flow.f]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e-0\"\npairs = \"incast\"\nbytes = \"1 MB\"\n\
                start = \"10 us\"\n[run]\nwarmup = \"1 us\"\nduration = \"30 ms\"\n";
    let text = network("leaf-spine", 9, "leaves = 3\nspines = 3") + "switch.ecn = \"65 packets\"\n" + flow;
    let report = report(&plan(&text));
    let rows = report.summary["completions"].as_array().expect("a table");
    let names: Vec<_> = rows.iter().filter_map(|row| row["size"].as_str()).collect();
    assert_eq!(names, ["all", "up to 1 MB"]);
    let worst = rows[0]["slowdown_max"].as_f64().expect("a number");
    assert!((7.5..8.8).contains(&worst), "eight senders share a cable: {worst}");
}

#[test]
fn all_equal_ways_are_used_and_about_alike() {
    for (shape, hosts, sizes) in [("leaf-spine", 16, "leaves = 4\nspines = 4"), ("fat-tree", 16, "k = 4")] {
        let flow = "[flow.f]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\npairs = \"all-to-all\"\ncount = 8\n\
                    bytes = \"1 kB\"\n[run]\nwarmup = \"0 us\"\nduration = \"2 ms\"\n";
        let report = report(&plan(&(network(shape, hosts, sizes) + flow)));
        let all = report.summary["queues"].as_array().expect("a table").iter();
        let sent: Vec<(String, u64)> = all
            .filter(|port| !port["to"].as_str().expect("a name").starts_with("e-"))
            .filter(|port| !port["place"].as_str().expect("a name").starts_with("e-"))
            .map(|port| (port["place"].to_string(), port["sent_packets"].as_u64().expect("a number")))
            .collect();
        assert_eq!(sent.len(), if shape == "fat-tree" { 64 } else { 32 });
        for leaf in sent.iter().map(|port| &port.0).filter(|name| name.contains("leaf") || name.contains("edge")) {
            let own: Vec<u64> = sent.iter().filter(|port| port.0 == *leaf).map(|port| port.1).collect();
            let mean = own.iter().sum::<u64>() as f64 / own.len() as f64;
            assert!(own.iter().all(|&sent| (sent as f64 / mean - 1.0).abs() < 0.25), "{leaf}: {own:?}");
        }
        assert!(sent.iter().all(|port| port.1 > 0), "{sent:?}");
    }
}

#[test]
fn a_full_cable_limits_the_classes_that_cross_it() {
    let flows = "core.rate = \"1 Gbps\"\n[flow.full]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-2\"\n\
                 [flow.other]\nkind = \"rpc\"\nfrom = \"e-4\"\nto = \"e-6\"\nrequest = \"100 B\"\n\
                 [run]\nwarmup = \"2 ms\"\nduration = \"2 ms\"\n";
    let report = report(&plan(&(network("two-tier", 8, "leaves = 4") + flows)));
    let limits = report.summary["limits"].as_array().expect("a table");
    let found: Vec<_> = limits.iter().map(|row| (row["limit"].as_str(), row["place"].as_str())).collect();
    assert_eq!(found[0].0, Some("cable"), "{found:?}");
    assert!(["leaf-0 to root", "root to leaf-1"].map(Some).contains(&found[0].1), "{found:?}");
    assert_eq!(found[1].0, Some("requests in flight"), "{found:?}");
}

#[test]
fn a_ring_by_name_with_pauses_finds_its_cycle() {
    let text =
        "[host.e]\nkind = \"endpoint\"\ncount = 5\n[network]\ntopology = \"ring\"\nsize = 5\nrate = \"40 Gbps\"\n\
                core.rate = \"10 Gbps\"\n\
                switch = { buffer = \"1 MB\", pfc = { priorities = [0], xoff = \"20 kB\", xon = \"10 kB\" } }\n\
                [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 1000\nreceive_buffer = \"4 MB\"\n\
                [flow.f]\nkind = \"bulk\"\ntransport = \"t\"\nfrom = [\"e-0\", \"e-1\", \"e-2\", \"e-3\", \"e-4\"]\n\
                to = [\"e-2\", \"e-3\", \"e-4\", \"e-0\", \"e-1\"]\n[run]\nwarmup = \"0 us\"\nduration = \"5 ms\"\n";
    let error = Run::new(&plan(text), Options::default()).run(|_| true).expect_err("it cannot go on");
    let SimulationError::Deadlock { cycle, .. } = &error else { panic!("{error}") };
    for index in 0..5 {
        let named: Vec<_> = cycle.iter().filter(|name| name.starts_with(&format!("switch-{index} port "))).collect();
        assert!(named.len() == 1 && named[0].contains(&format!(" to switch-{}, ", (index + 1) % 5)), "{cycle:?}");
    }
}

#[test]
fn a_switch_and_its_endpoints_are_a_range_of_components() {
    let text = network("fat-tree", 16, "") + "[host.a]\nkind = \"endpoint\"\nat = \"edge-2-1\"\n";
    let text = text.replace("count = 16", "count = 15");
    let plan = plan(&text);
    let simulation = world_after(&plan, 1);
    let fabric = fabric(&simulation);
    for (number, endpoint) in fabric.endpoints().enumerate() {
        let own = fabric.endpoint_component(number).expect("it is there");
        let (switch, port) = endpoint.ports()[0].peer();
        let first =
            (0..=own.0 - switch.0).filter_map(|back| fabric.switch_at(hostnet_kernel::ComponentId(own.0 - back)));
        assert_eq!(first.take(1).last(), fabric.switch_at(switch), "no other switch stands between");
        let back = fabric.switch(fabric.switch_at(switch).expect("a switch")).expect("it is there");
        assert_eq!(back.ports()[usize::from(port)].egress().peer(), (own, 0));
    }
}

/// Generates switches in a random tree with hosts at any of them; the last switch may close a loop.
fn drawn() -> impl Strategy<Value = String> {
    let draws = prop::collection::vec((any::<prop::sample::Index>(), 1_u32..3000), 20);
    (2_usize..7, 6_usize..12, draws).prop_map(|(switches, hosts, draws)| {
        let mut draws = draws.into_iter();
        let mut text = format!("[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n");
        let mut cable = |name: String, ends: [String; 2], latency_ns: u32| {
            text += &format!("[cable.{name}]\nends = {ends:?}\nlatency = \"{latency_ns} ns\"\n");
        };
        let mut draw = |places: usize| draws.next().map_or((0, 1), |(at, ns)| (at.index(places), ns));
        for switch in 1..switches {
            let (above, ns) = draw(switch);
            cable(format!("up-{switch}"), [format!("s{switch}"), format!("s{above}")], ns);
            if switch > 2 && switch + 1 == switches && above > 0 {
                cable("across".to_owned(), [format!("s{switch}"), "s0".to_owned()], ns + 1);
            }
        }
        for host in 0..hosts {
            let (at, ns) = draw(switches);
            cable(format!("of-{host}"), [format!("e-{host}"), format!("s{at}")], ns);
        }
        (0..switches).for_each(|switch| text += &format!("[switch.s{switch}]\nlatency = \"450 ns\"\n"));
        text + "[network]\nrate = \"10 Gbps\"\n"
    })
}

/// Returns the network with learning switches.
pub fn learning_network(network: &str, number: u32) -> String {
    let keys: Vec<String> = learning(number).lines().map(|line| format!("switch.{line}\n")).collect();
    network.replace("switch.latency = \"450 ns\"\n", &keys.concat())
}

/// Generates a random network with all patterns of traffic.
pub fn any_network() -> impl Strategy<Value = String> {
    let named =
        prop::sample::select(SHAPES.to_vec()).prop_map(|(shape, hosts, sizes, ..)| network(shape, hosts, sizes));
    let learns = (prop::sample::select(TREES.to_vec()), 1_u32..400)
        .prop_map(|((shape, hosts, sizes, ..), number)| learning_network(&network(shape, hosts, sizes), number));
    let shape = prop_oneof![2 => named, 1 => drawn(), 1 => learns];
    let pairs = prop::sample::select(vec!["all-to-all", "permutation", "random", "incast"]);
    let transport = prop::sample::select(vec!["dctcp", "reno", "t"]);
    let buffer = prop::sample::select(vec!["20 kB", "200 kB", "16 MB"]);
    (shape, pairs, transport, buffer, 0.05..1.0_f64, any::<bool>(), 1_u32..1000).prop_map(
        |(network, pairs, transport, buffer, load, rdma, seed)| {
            let kind = if rdma { "write" } else { "bulk" };
            let transport = if rdma { "dcqcn" } else { transport };
            // Packets that time out together are flooded together: small buffers lose them again, for minutes.
            let buffer = if network.contains("learning") && buffer == "20 kB" { "100 kB" } else { buffer };
            network
                + &format!(
                    "switch.buffer = \"{buffer}\"\nswitch.ecn = \"10 packets\"\n\
                     [transport.t]\nbase = \"cubic\"\nrto_min = \"200 us\"\n\
                     [flow.open]\nkind = \"{kind}\"\ntransport = \"{transport}\"\nfrom = \"e\"\nto = \"e\"\n\
                     sizes = [{{ bytes = \"1 B\", share = 0.3 }}, {{ bytes = \"60 kB\", share = 1 }}]\nload = {load}\n\
                     until = \"300 us\"\n\
                     [flow.more]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\npairs = \"{pairs}\"\nbytes = \"5 kB\"\n\
                     [run]\nseed = {seed}\n"
                )
        },
    )
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn no_packet_is_lost_in_any_network(text in any_network(), until_us in 50_u64..300) {
        let plan = plan(&text);
        let mut simulation = world_after(&plan, until_us);
        settle(&mut simulation);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
    }
}

#[test]
fn threads_change_nothing_in_a_network_with_servers() {
    let text = "[host.e]\nkind = \"endpoint\"\ncount = 14\n\
                [host.s]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"burst\"\nat = \"leaf-1\"\n\
                [host.t]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"burst\"\nat = \"leaf-3\"\n\
                [network]\ntopology = \"leaf-spine\"\nleaves = 4\nspines = 2\nmtu = \"4000 B\"\n\
                [flow.open]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\nsizes = \"web-search\"\nload = 0.4\n\
                [flow.copy]\nkind = \"bulk\"\nfrom = \"s\"\nto = \"t\"\n\
                [flow.in]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"s\"\npairs = \"incast\"\nsenders = 5\n\
                bytes = \"20 kB\"\n\
                [run]\nwarmup = \"40 us\"\nduration = \"60 us\"\n";
    let plan = plan(text);
    let hash = |threads: usize| {
        let mut run = Run::new(&plan, Options { threads, ..Options::default() });
        assert_eq!(run.run(|_| true), Ok(true));
        run.report().result_hash
    };
    assert_eq!(hash(1), hash(2));
    assert_eq!(hash(1), hash(3));
}
