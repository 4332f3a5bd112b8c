//! Tests clusters with learning switches.

use crate::cluster::lab::{drain, plan, run as world_after, settle};
use crate::cluster::stats::{assert_conserved, packets};
use crate::cluster::topologies::network;
use hostnet_config::Plan;
use hostnet_kernel::Time;
use hostnet_model::Packet;
use hostnet_sim::{Options, Report, Run};

const ENDPOINT_PS: u64 = 700_000;
const EDGE_PS: u64 = 300_000;
const CORE_PS: u64 = 2_000_000;
const DELAY_PS: u64 = 250_000;

/// Returns a cluster of six endpoints at three leaves and a root, all of them learning switches.
fn learning(more: &str) -> String {
    let keys = "switch.kind = \"learning\"\nswitch.fabric = \"4 Gbps\"\nswitch.delay = \"250 ns\"\n";
    network("two-tier", 6, "leaves = 3").replace("switch.latency = \"450 ns\"\n", keys) + more
}

fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn number(report: &Report, table: &str, row: usize, column: &str) -> u64 {
    report.summary[table][row][column].as_u64().unwrap_or_else(|| panic!("{table}: {:?}", report.summary[table]))
}

#[test]
fn a_packet_takes_the_sum_of_its_parts_across_switches_that_learn() {
    for data in [1000, 20, 1448] {
        let flow = format!(
            "[flow.f]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-5\"\nbytes = \"{data} B\"\nstart = \"5 us\"\n\
             [run]\nwarmup = \"1 us\"\nduration = \"100 us\"\n"
        );
        let report = report(&plan(&learning(&flow)));
        let wire_ps = (data + 52 + 38).max(84) * 800;
        let fabric_ps = (data + 52) * 2000 + DELAY_PS;
        let law = 2 * (ENDPOINT_PS + EDGE_PS + CORE_PS) + 4 * wire_ps + 3 * fabric_ps;
        let row = &report.summary["completions"][0];
        assert_eq!(row["max_us"].as_f64(), Some(law as f64 / 1e6));
        assert_eq!(row["slowdown_max"].as_f64(), Some(1.0));
    }
}

#[test]
fn tables_report_floods_and_strays() {
    let flow = "[flow.f]\nkind = \"datagram\"\nfrom = \"e-0\"\nto = \"e-5\"\nsize = \"1000 B\"\nrate = \"800 Mbps\"\n\
                [run]\nwarmup = \"100 us\"\nduration = \"1 ms\"\n";
    let report = report(&plan(&learning(flow)));
    // The receiver is silent, so each of a hundred packets is flooded.
    let rows = report.summary["switches"].as_array().expect("a table");
    let names: Vec<_> = rows.iter().filter_map(|row| row["switch"].as_str()).collect();
    assert_eq!(names, ["leaf-0", "leaf-1", "leaf-2", "root"]);
    for (row, _) in rows.iter().enumerate() {
        let flooded = number(&report, "switches", row, "flooded_packets");
        assert!((99..=101).contains(&flooded), "{rows:?}");
        assert_eq!(number(&report, "switches", row, "flooded_bytes"), flooded * 1028);
        assert_eq!(number(&report, "switches", row, "addresses"), 1);
        assert_eq!(number(&report, "switches", row, "learned"), 0, "that was before the window");
    }
    let queues = report.summary["queues"].as_array().expect("a table");
    let strays = |host: &str| {
        let row = queues.iter().find(|row| row["place"] == host).expect("a row");
        assert_eq!(row["flooded_packets"], 0, "hosts flood nothing");
        row["stray_packets"].as_u64().expect("a number")
    };
    assert_eq!((strays("e-0"), strays("e-5")), (0, 0));
    assert!((99..=101).contains(&strays("e-3")));
    let port = queues.iter().find(|row| row["place"] == "root" && row["to"] == "leaf-1").expect("a row");
    let gbps = port["flooded_gbps"].as_f64().expect("a number");
    assert!((gbps - port["sent_gbps"].as_f64().expect("a number")).abs() < 0.02 && gbps > 0.8);
    let class = &report.summary["classes"][0];
    assert_eq!(class["fabric_dropped"].as_u64(), Some(0), "copies are no losses");
    assert_eq!(class["host_received"].as_u64(), class["host_sent"].as_u64());
}

#[test]
fn a_cable_full_of_floods_is_reported() {
    let flow = "[flow.f]\nkind = \"datagram\"\nfrom = \"e-0\"\nto = \"e-5\"\nsize = \"1400 B\"\n\
                [flow.other]\nkind = \"bulk\"\nfrom = \"e-2\"\nto = \"e-3\"\n\
                [run]\nwarmup = \"100 us\"\nduration = \"1 ms\"\n";
    let text = learning(flow).replace("fabric = \"4 Gbps\"", "fabric = \"40 Gbps\"");
    let report = report(&plan(&text));
    let [f, other] = ["f", "other"].map(|class| {
        let rows = report.summary["limits"].as_array().expect("a table");
        rows.iter().find(|row| row["class"] == class).expect("a row")
    });
    // Flow f gets the full rate of its own cable, so the first cable is its limit; its floods fill the cables of the
    // other flow.
    assert_eq!((&f["limit"], &f["place"]), (&"cable".into(), &"e-0 to leaf-0".into()), "{f}");
    let why = other["why"].as_str().expect("text");
    assert!(other["limit"] == "cable" && why.contains("of them flooded"), "{other}");
}

#[test]
fn a_full_fabric_is_named_and_a_faster_one_helps() {
    for kind in ["kind = \"bulk\"", "kind = \"datagram\"\nsize = \"1400 B\"\nrate = \"6 Gbps\""] {
        let back = "[flow.back]\nkind = \"rpc\"\nfrom = \"e-5\"\nto = \"e-0\"\nrequest = \"64 B\"\nthink = \"5 us\"\n";
        let flow = format!(
            "[switch.root]\nfabric = \"PLANTED\"\n\
             [flow.f]\n{kind}\nfrom = \"e-0\"\nto = \"e-5\"\nstart = \"50 us\"\n{back}\
             [run]\nwarmup = \"1 ms\"\nduration = \"2 ms\"\n"
        );
        let found = |fabric: &str| {
            let text = learning(&flow).replace("4 Gbps", "40 Gbps").replace("PLANTED", fabric);
            let report = report(&plan(&text));
            let row = |table: &str| {
                let rows = report.summary[table].as_array().expect("a table");
                rows.iter().find(|row| row["class"] == "f").expect("a row").clone()
            };
            (row("limits"), row("classes")["goodput_gbps"].as_f64().expect("a number"))
        };
        let (limit, goodput) = found("4 Gbps");
        assert_eq!((limit["limit"].as_str(), limit["place"].as_str()), (Some("fabric"), Some("root")), "{limit}");
        assert!(found("5 Gbps").1 > 1.2 * goodput, "{goodput}");
    }
}

#[test]
fn networks_without_such_switches_have_no_such_tables() {
    let flow =
        "[flow.f]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-5\"\n[run]\nwarmup = \"10 us\"\nduration = \"50 us\"\n";
    let report = report(&plan(&(network("two-tier", 6, "leaves = 3") + flow)));
    assert!(report.summary.get("switches").is_none() && report.table("switches").is_none());
    assert!(report.summary["queues"].as_array().expect("a table").iter().all(|row| row.get("stray_packets").is_none()));
}

#[test]
fn servers_ignore_packets_for_other_hosts() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
                [host.s]\npreset = \"cascade-lake-hostcc\"\n\
                [network]\nrate = \"25 Gbps\"\nmtu = \"4000 B\"\n\
                switch.kind = \"learning\"\nswitch.fabric = \"100 Gbps\"\n\
                [flow.f]\nkind = \"datagram\"\nfrom = \"a\"\nto = \"b\"\nsize = \"1000 B\"\nrate = \"8 Gbps\"\n\
                [flow.g]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"s\"\n";
    let plan = plan(text);
    let mut simulation = world_after(&plan, 200);
    settle(&mut simulation);
    drain(&mut simulation);
    assert_conserved(&simulation, plan.cluster.flows.len());
    let found = packets(&simulation, plan.cluster.flows.len());
    assert!(found[0].strayed > 100 && found[0].at_nics == 0, "{found:?}");
    assert!(found[1].at_nics > 100, "{found:?}");
}

#[test]
fn hosts_record_what_is_for_them() {
    let flow = "[flow.f]\nkind = \"datagram\"\nfrom = \"e-0\"\nto = \"e-5\"\nsize = \"100 B\"\nrate = \"100 Mbps\"\n\
                [flow.g]\nkind = \"datagram\"\nfrom = \"e-1\"\nto = \"e-3\"\nsize = \"200 B\"\nrate = \"100 Mbps\"\n\
                [run]\nwarmup = \"10 us\"\nduration = \"200 us\"\n";
    let mut run = Run::new(&plan(&learning(flow)), Options::default());
    run.record("e-3").expect("there is such a host");
    let mut flows = Vec::new();
    let on_packets = |more: &[(Time, Packet)]| {
        flows.extend(more.iter().map(|(_, packet)| packet.flow));
        true
    };
    assert_eq!(run.run_recorded(|_| true, on_packets), Ok(true));
    assert!(flows.len() > 5 && flows.iter().all(|&flow| flow == 1), "{flows:?}");
}

#[test]
fn a_checkpoint_keeps_learned_addresses() {
    let flow = "[flow.f]\nkind = \"rpc\"\nfrom = \"e-0\"\nto = \"e-5\"\nrequest = \"100 B\"\n\
                [run]\nwarmup = \"50 us\"\nduration = \"300 us\"\n";
    let plan = plan(&learning(flow));
    let options = Options { checkpoint_at_ps: 123_456_789, ..Options::default() };
    let mut first = Run::new(&plan, options);
    assert_eq!(first.run(|_| true), Ok(true));
    let hash = first.report().result_hash;
    let checkpoint = first.checkpoint().expect("it was taken");
    for threads in 1..=3 {
        let options = Options { threads, ..Options::default() };
        let mut second = Run::resume(&plan, options, checkpoint).expect("it can be read");
        assert_eq!(second.run(|_| true), Ok(true));
        let report = second.report();
        assert_eq!(report.result_hash, hash);
        let floods: u64 = (0..4).map(|row| number(&report, "switches", row, "flooded_packets")).sum();
        assert_eq!((floods, number(&report, "switches", 0, "addresses")), (0, 2));
    }
}
