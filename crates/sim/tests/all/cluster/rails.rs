//! Tests endpoints with several ports, and topologies of rails: closed forms, backpressure, losses, and equal results
//! however they are run.

use crate::cluster::jobs::finished;
use crate::cluster::lab::{drain, fabric, plan, run as world_after, settle};
use crate::cluster::ranks::assert_same_however_run;
use crate::cluster::stats::assert_conserved;
use crate::common::laws::cases;
use hostnet_sim::{Options, Report, Run};
use proptest::prelude::*;
use serde_json::Value;

/// Latencies, in ps: of endpoints, cables and switches of the scale-up fabric, and cables and switches of the rails.
const ENDPOINT_PS: u64 = 300_000;
const INSIDE_PS: (u64, u64) = (40_000, 100_000);
const RAIL_PS: (u64, u64) = (500_000, 400_000);
/// Times of a byte at 500 GB/s and at 400 Gbps, in ps.
const INSIDE_BYTE_PS: u64 = 2;
const RAIL_BYTE_PS: u64 = 20;
/// Data of a packet, what it and an acknowledgement have beside it on the wire, and an acknowledgement, in bytes.
const DATA: u64 = 4096;
const HEADERS: u64 = 44 + 38;
const ACKNOWLEDGEMENT: u64 = 44 + 4 + 38;

/// Returns servers of `accelerators` endpoints `e`, with a scale-up fabric of 500 GB/s and rails of 400 Gbps.
fn network(topology: &str, servers: u32, accelerators: u32, more: &str) -> String {
    let switch = if more.contains("mesh") { "" } else { "[switch.scale-up]\nlatency = \"100 ns\"\n" };
    let tables = more.find('[').unwrap_or(more.len());
    let (keys, tables) = more.split_at(tables);
    format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {}\nlatency = \"300 ns\"\n\
         [network]\ntopology = \"{topology}\"\naccelerators = {accelerators}\nrate = \"400 Gbps\"\n\
         latency = \"500 ns\"\nmtu = \"4200 B\"\nswitch.latency = \"400 ns\"\n\
         switch.pfc = {{ xoff = \"400 kB\", xon = \"300 kB\" }}\nswitch.buffer = \"64 MB\"\n\
         scale_up.rate = \"500 GB/s\"\nscale_up.latency = \"40 ns\"\n{keys}\n{switch}{tables}",
        servers * accelerators
    )
}

fn write(name: &str, from: &str, to: &str, more: &str) -> String {
    format!(
        "[flow.{name}]\nkind = \"write\"\ntransport = \"roce\"\nfrom = {from:?}\nto = {to:?}\nstart = \"5 us\"\n\
         {more}\n"
    )
}

const RUN: &str = "[run]\nwarmup = \"1 us\"\nduration = \"400 us\"\n";

fn report_with(text: &str, threads: usize) -> Report {
    let mut run = Run::new(&plan(text), Options { threads, ..Options::default() });
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn report(text: &str) -> Report {
    report_with(text, 1)
}

fn row<'a>(report: &'a Report, table: &str, key: &str, value: &str) -> &'a Value {
    let rows = report.summary[table].as_array().unwrap_or_else(|| panic!("no table {table}"));
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {value} in {table}"))
}

/// Returns the time to completion of the only flow of a class, in ps, which must be that of an idle network.
fn took_alone_ps(report: &Report, class: &str) -> u64 {
    let row = row(report, "completions", "class", class);
    assert_eq!(row["slowdown_max"].as_f64(), Some(1.0), "{row}");
    (row["max_us"].as_f64().expect("it is complete") * 1e6).round() as u64
}

fn dropped(report: &Report) -> u64 {
    report.summary["drops"]
        .as_array()
        .map_or(0, |rows| rows.iter().filter_map(|row| row["dropped_packets"].as_u64()).sum())
}

/// Returns the time of a train of packets over cables with these times of a byte, the slowest one last, with
/// `latency_ps` in all.
fn train_ps(bytes: u64, cables: &[u64], latency_ps: u64) -> u64 {
    let packets = bytes / DATA;
    assert_eq!(packets * DATA, bytes);
    let wire = DATA + HEADERS;
    let slowest = cables.iter().max().expect("there is a cable");
    cables.iter().sum::<u64>() * wire + (packets - 1) * wire * slowest + latency_ps
}

/// Returns the latency between two endpoints with a switch between them, and with their own.
fn way_ps((cable, switch): (u64, u64)) -> u64 {
    2 * ENDPOINT_PS + 2 * cable + switch
}

/// Returns the time of a write of `bytes` with its acknowledgement over two equal cables.
fn write_ps(bytes: u64, byte_ps: u64, latency_ps: u64) -> u64 {
    train_ps(bytes, &[byte_ps; 2], latency_ps) + 2 * ACKNOWLEDGEMENT * byte_ps + latency_ps
}

#[test]
fn a_message_takes_its_bytes_at_the_rate_of_its_fabric_and_none_disturbs_the_other() {
    let bytes = 256 * DATA;
    let sized = format!("bytes = \"{bytes} B\"");
    let base = network("rail-optimised", 2, 4, "spines = 2");
    let inside = write("inside", "e-0", "e-3", &sized);
    let across = write("across", "e-0", "e-4", &sized);
    let laws = [
        ("inside", write_ps(bytes, INSIDE_BYTE_PS, way_ps(INSIDE_PS))),
        ("across", write_ps(bytes, RAIL_BYTE_PS, way_ps(RAIL_PS))),
    ];
    for text in [format!("{base}{inside}{RUN}"), format!("{base}{across}{RUN}"), format!("{base}{inside}{across}{RUN}")]
    {
        let report = report(&text);
        for (class, law) in laws.iter().filter(|(class, _)| text.contains(&format!("[flow.{class}]"))) {
            assert_eq!(took_alone_ps(&report, class), *law, "{class}");
        }
        assert_eq!(dropped(&report), 0);
    }
}

#[test]
fn rails_are_joined_by_spines() {
    let text = network("rail-optimised", 2, 2, "spines = 1\ncore.latency = \"700 ns\"");
    let report = report(&(text + &write("f", "e-0", "e-3", &format!("bytes = \"{} B\"", 16 * DATA)) + RUN));
    let way = way_ps(RAIL_PS) + 2 * RAIL_PS.1 + 2 * 700_000;
    let law = train_ps(16 * DATA, &[RAIL_BYTE_PS; 4], way) + 4 * ACKNOWLEDGEMENT * RAIL_BYTE_PS + way;
    assert_eq!(took_alone_ps(&report, "f"), law);
}

#[test]
fn without_spines_a_neighbour_forwards_to_its_rail() {
    let bytes = 64 * DATA;
    let flow = write("f", "e-0", "e-5", &format!("bytes = \"{bytes} B\""));
    // Through the switch of the fabric, the accelerator of rail 2, and its rail, and back by rail 0.
    let way = way_ps(INSIDE_PS) + way_ps(RAIL_PS);
    let cables = [INSIDE_BYTE_PS, INSIDE_BYTE_PS, RAIL_BYTE_PS, RAIL_BYTE_PS];
    let law = train_ps(bytes, &cables, way) + ACKNOWLEDGEMENT * cables.iter().sum::<u64>() + way;
    let switched = report(&(network("rail-only", 2, 3, "") + &flow + RUN));
    assert_eq!(took_alone_ps(&switched, "f"), law);
    let sent = |place: &str, to: &str| {
        let rows = switched.summary["queues"].as_array().expect("a table");
        let row = rows.iter().find(|row| row["place"] == place && row["to"] == to).expect("a port");
        row["sent_packets"].as_u64().expect("a count")
    };
    assert_eq!((sent("e-0", "scale-up-0"), sent("e-2", "rail-2"), sent("e-0", "rail-0")), (64, 64, 0));
    let acknowledged = sent("e-5", "scale-up-1");
    assert_eq!((acknowledged, sent("e-3", "rail-0"), sent("e-5", "rail-2")), (acknowledged, acknowledged, 0));
    assert!(acknowledged > 0);
    // With a cable to each neighbour there is no switch and one cable less.
    let mesh = report(&(network("rail-only", 2, 3, "scale_up.fabric = \"mesh\"") + &flow + RUN));
    let way = way - INSIDE_PS.0 - INSIDE_PS.1;
    let cables = [INSIDE_BYTE_PS, RAIL_BYTE_PS, RAIL_BYTE_PS];
    let law = train_ps(bytes, &cables, way) + ACKNOWLEDGEMENT * cables.iter().sum::<u64>() + way;
    assert_eq!(took_alone_ps(&mesh, "f"), law);
}

#[test]
fn two_equal_ports_carry_twice_as_much_with_two_queue_pairs() {
    let bytes = 200 * DATA;
    let text = |ports: u32, count: u32| {
        let flow = write("f", "a", "b", &format!("bytes = \"{bytes} B\"\ncount = {count}"));
        format!(
            "[host.a]\nkind = \"endpoint\"\nlatency = \"300 ns\"\nports = {ports}\n\
             [host.b]\nkind = \"endpoint\"\nlatency = \"300 ns\"\nports = {ports}\n\
             [network]\nrate = \"400 Gbps\"\nlatency = \"500 ns\"\nmtu = \"4200 B\"\nswitch.latency = \"400 ns\"\n\
             {flow}{RUN}"
        )
    };
    let law = write_ps(bytes, RAIL_BYTE_PS, way_ps(RAIL_PS));
    for (ports, count) in [(1, 1), (2, 1), (2, 2), (4, 4)] {
        assert_eq!(took_alone_ps(&report(&text(ports, count)), "f"), law, "{count} flows, {ports} ports");
    }
    let shared = report(&text(2, 4));
    let longest = row(&shared, "completions", "class", "f")["max_us"].as_f64().expect("they are complete") * 1e6;
    let twice = (law + 200 * (DATA + HEADERS) * RAIL_BYTE_PS) as f64;
    assert!((longest / twice - 1.0).abs() < 0.01, "{longest} for {twice}");
}

#[test]
fn every_port_holds_its_own_senders_back() {
    let base = network("rail-optimised", 2, 4, "spines = 1")
        .replace("latency = \"300 ns\"\n", "latency = \"300 ns\"\nqueue = 4\n");
    let inside = write("inside", "e-0", "e-1", "count = 4");
    let across = write("across", "e-0", "e-4", "count = 4");
    let report = report(&format!("{base}{inside}{across}[run]\nwarmup = \"100 us\"\nduration = \"200 us\"\n"));
    for (to, rate) in [("scale-up-0", 4000.0), ("rail-0", 400.0)] {
        let rows = report.summary["queues"].as_array().expect("a table");
        let port = rows.iter().find(|row| row["place"] == "e-0" && row["to"] == to).expect("a port");
        let sent = port["sent_gbps"].as_f64().expect("a rate");
        assert!((sent / rate - 1.0).abs() < 0.001, "{sent} of {rate} Gbps");
        assert_eq!(port["queue_max_packets"].as_u64(), Some(4), "{port}");
    }
    assert_eq!(dropped(&report), 0);
    let limit = row(&report, "limits", "class", "across");
    assert_eq!((&limit["limit"], &limit["place"]), (&"cable".into(), &"e-0 to rail-0".into()), "{limit}");
    let limit = row(&report, "limits", "class", "inside");
    assert_eq!((&limit["limit"], &limit["place"]), (&"cable".into(), &"e-0 to scale-up-0".into()), "{limit}");
}

#[test]
fn a_forwarding_accelerator_shares_its_rail_with_its_neighbours() {
    let own = write("own", "e-0", "e-2", "");
    let others = write("others", "e-1", "e-2", "");
    for queue in [1, 64] {
        let base = network("rail-only", 2, 2, "")
            .replace("latency = \"300 ns\"\n", &format!("latency = \"300 ns\"\nqueue = {queue}\n"));
        let report = report(&format!("{base}{own}{others}[run]\nwarmup = \"400 us\"\nduration = \"400 us\"\n"));
        let goodput = |class| row(&report, "classes", "class", class)["goodput_gbps"].as_f64().expect("a rate");
        let (own, others) = (goodput("own"), goodput("others"));
        let most = 400.0 * DATA as f64 / (DATA + HEADERS) as f64;
        assert!(((own + others) / most - 1.0).abs() < 0.005, "{own} + {others} of {most}");
        assert!((own / others - 1.0).abs() < 0.01, "{own} and {others}");
        assert_eq!(dropped(&report), 0);
    }
}

#[test]
fn an_incast_inside_a_server_loses_nothing() {
    for transport in ["roce", "dctcp"] {
        let flow =
            "[flow.f]\nkind = \"bulk\"\nfrom = [\"e-1\", \"e-2\", \"e-3\", \"e-4\", \"e-5\", \"e-6\", \"e-7\"]\n\
                    to = \"e-0\"\ncount = 2\n";
        let flow = if transport == "roce" { flow.replace("bulk", "write") } else { flow.to_owned() };
        let base = network("rail-only", 2, 8, "");
        let report = report(&format!("{base}{flow}[run]\nwarmup = \"50 us\"\nduration = \"50 us\"\n"));
        assert_eq!(dropped(&report), 0, "{transport}");
        let rows = report.summary["queues"].as_array().expect("a table");
        let port = rows.iter().find(|row| row["place"] == "scale-up-0" && row["to"] == "e-0").expect("a port");
        let sent = port["sent_gbps"].as_f64().expect("a rate");
        assert!(sent > 3995.0, "{transport}: {sent} Gbps");
    }
}

/// Returns the time of a job, in ps, and the report of its run.
fn job(network: &str, job: &str) -> (u64, Report) {
    let report = report(&format!("{network}[job.j]\ntransport = \"roce\"\n{job}\n[run]\nuntil = \"jobs\"\n"));
    let row = &report.summary["jobs"][0];
    assert_eq!(row["unfinished_ranks"].as_u64(), Some(0));
    assert_eq!(dropped(&report), 0);
    ((row["done_us"].as_f64().expect("it is done") * 1e6).round() as u64, report)
}

fn assert_within(found: u64, law: u64, what: &str) {
    let off = found as f64 / law as f64 - 1.0;
    assert!(off.abs() < 0.01, "{what}: {found} ps for {law}, {:.2} % off", 100.0 * off);
}

#[test]
fn a_ring_takes_the_rate_of_the_fabric_that_it_lies_in() {
    let bytes = 1024 * DATA;
    let all_reduce = |hosts: &str| format!("kind = \"allreduce\"\nbytes = \"{bytes} B\"\nhosts = {hosts}");
    let base = network("rail-optimised", 4, 4, "spines = 2");
    // 2 (p - 1) messages of a p-th of the vector, one after the other.
    let law = |byte_ps: u64, way| 6 * train_ps(bytes / 4, &[byte_ps; 2], way);
    let (inside, report) = job(&base, &all_reduce("[\"e-4\", \"e-5\", \"e-6\", \"e-7\"]"));
    assert_within(inside, law(INSIDE_BYTE_PS, way_ps(INSIDE_PS)), "inside a server");
    let limit = row(&report, "limits", "class", "j");
    assert_eq!(limit["limit"], "cable", "{limit}");
    assert!(limit["place"].to_string().contains("scale-up-1"), "{limit}");
    let (across, report) = job(&base, &all_reduce("[\"e-1\", \"e-5\", \"e-9\", \"e-13\"]"));
    assert_within(across, law(RAIL_BYTE_PS, way_ps(RAIL_PS)), "along a rail");
    let limit = row(&report, "limits", "class", "j");
    assert!(limit["place"].to_string().contains("rail-1"), "{limit}");
}

#[test]
fn no_sum_of_a_grid_of_accelerators_is_faster_than_its_bandwidth() {
    let bytes = 16 << 20_u64;
    for topology in ["rail-optimised", "rail-only"] {
        for algorithm in ["ring", "halving-doubling", "tree", "hierarchical", "recursive-doubling"] {
            let base = network(topology, 4, 4, "");
            let text =
                format!("kind = \"allreduce\"\nalgorithm = \"{algorithm}\"\nbytes = \"{bytes} B\"\nhosts = \"e\"");
            let (took, _) = job(&base, &text);
            // Each accelerator of a server sends its part of the sum of the server to the others at least, and each
            // server sends 3/4 of the vector twice, over the rails of its four accelerators.
            let inside = 2 * bytes * 3 / 4 * INSIDE_BYTE_PS;
            let across = 2 * bytes * 3 / 4 / 4 * RAIL_BYTE_PS;
            assert!(took > inside.max(across), "{topology}, {algorithm}: {took}");
        }
    }
}

#[test]
fn the_slower_of_two_fabrics_is_named() {
    let all = "kind = \"allreduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"4 MiB\"\nhosts = \"e\"";
    let base = network("rail-optimised", 2, 4, "spines = 4");
    let named = |text: &str| {
        let (_, report) = job(text, all);
        let limit = row(&report, "limits", "class", "j").clone();
        assert_eq!(limit["limit"], "cable", "{limit}");
        limit["place"].as_str().expect("a place").to_owned()
    };
    assert!(named(&base).contains(" to rail-") || named(&base).starts_with("rail-"), "{}", named(&base));
    let slow = base.replace("scale_up.rate = \"500 GB/s\"", "scale_up.rate = \"5 GB/s\"");
    assert!(named(&slow).contains("scale-up-"), "{}", named(&slow));
    let one = base.replace("[switch.scale-up]", "[cable.e-2]\nrate = \"20 Gbps\"\n[switch.scale-up]");
    assert!(["e-2 to rail-2", "rail-2 to e-2"].contains(&&*named(&one)), "{}", named(&one));
}

/// Generates a network of rails.
fn any_rails() -> impl Strategy<Value = String> {
    let topology = prop::sample::select(vec!["rail-optimised", "rail-only"]);
    let fabric = prop::sample::select(vec!["switch", "mesh"]);
    (topology, fabric, 1_u32..4, 2_u32..5, 1_u32..3, 1_u32..9).prop_map(
        |(topology, fabric, servers, accelerators, each, queue)| {
            let keys = format!("scale_up.fabric = \"{fabric}\"\nrails = {}", accelerators * each);
            let text = network(topology, servers, accelerators, &keys);
            text.replace("latency = \"300 ns\"\n", &format!("latency = \"300 ns\"\nqueue = {queue}\n"))
        },
    )
}

/// Generates traffic among all accelerators of a network of rails.
fn any_traffic() -> impl Strategy<Value = String> {
    let transport = prop::sample::select(vec!["roce", "dcqcn", "dctcp"]);
    let pairs = prop::sample::select(vec!["all-to-all", "permutation", "random", "incast"]);
    let bytes = 1_u64..200_000;
    prop::collection::vec((transport, pairs, bytes, 1_u32..3), 1..4).prop_map(|flows| {
        let flow = |(number, (transport, pairs, bytes, count)): (usize, (&str, &str, u64, u32))| {
            let kind = if transport == "dctcp" { "bulk" } else { "write" };
            format!(
                "[flow.f{number}]\nkind = \"{kind}\"\ntransport = \"{transport}\"\nfrom = \"e\"\nto = \"e\"\n\
                 pairs = \"{pairs}\"\nbytes = \"{bytes} B\"\ncount = {count}\n"
            )
        };
        flows.into_iter().enumerate().map(flow).collect()
    })
}

#[test]
fn jobs_end_the_same_however_they_are_run() {
    for (topology, more) in [("rail-optimised", ""), ("rail-only", ""), ("rail-only", "scale_up.fabric = \"mesh\"")] {
        let base = network(topology, 2, 3, more);
        for (transport, kind) in [("roce", "alltoall"), ("dctcp", "allreduce")] {
            let job =
                format!("[job.j]\nkind = \"{kind}\"\nhosts = \"e\"\nbytes = \"60 kB\"\ntransport = \"{transport}\"\n");
            let plan = plan(&format!("{base}{job}[run]\nuntil = \"jobs\"\n"));
            let (report, _) = finished(&plan);
            assert_same_however_run(&plan, &report, 3, 2, 4_000_000);
        }
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn no_packet_is_lost_on_rails(network in any_rails(), traffic in any_traffic(), until_us in 5_u64..100) {
        let plan = plan(&format!("{network}{traffic}"));
        let mut simulation = world_after(&plan, until_us);
        settle(&mut simulation);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        let losses = fabric(&simulation).switches().map(|switch| {
            switch.ports().iter().map(|port| port.overflowed_packets()).sum::<u64>()
        });
        prop_assert_eq!(losses.sum::<u64>(), 0);
    }

    #[test]
    fn threads_change_nothing_on_rails(network in any_rails(), traffic in any_traffic(), seed in 1_u32..1000) {
        let text = format!("{network}{traffic}[run]\nseed = {seed}\nwarmup = \"5 us\"\nduration = \"30 us\"\n");
        let hash = |threads| report_with(&text, threads).result_hash;
        prop_assert_eq!(hash(1), hash(2));
        prop_assert_eq!(hash(1), hash(3));
    }
}
