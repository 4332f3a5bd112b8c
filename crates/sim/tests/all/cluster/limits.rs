//! Tests the limit that a run reports for a class with faults.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Run};
use serde_json::Value;

/// Returns the limit of the only class, and the row of that class, for an endpoint that sends to another over 10
/// Gbps.
fn told(network: &str, flow: &str) -> (Value, Value) {
    let plan = plan(&format!(
        "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[network]\nrate = \"10 Gbps\"\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n[run]\nwarmup = \"1 ms\"\nduration = \"2 ms\"\n{network}\n"
    ));
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let summary = run.report().summary;
    (summary["limits"][0].clone(), summary["classes"][0].clone())
}

const BULK: &str = "kind = \"bulk\"";

#[test]
fn a_sound_network_is_limited_by_its_cable() {
    assert_eq!(told("", BULK).0["limit"], "cable");
}

#[test]
fn a_run_that_is_stopped_at_the_end_of_its_warm_up_has_measured_nothing() {
    let text = "[host.sender]\nkind = \"endpoint\"\n[host.receiver]\npreset = \"cascade-lake-hostcc\"\n\
        [flow.f]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\n\
        [run]\nwarmup = \"100 us\"\nduration = \"1 ms\"\n";
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|status| !status.measuring), Ok(false));
    let summary = run.report().summary;
    assert_eq!((&summary["window_ns"], &summary["limits"][0]["limit"]), (&0.0.into(), &"nothing measured".into()));
    assert!(!summary.to_string().contains("NaN"), "{summary}");
}

#[test]
fn of_several_congested_hosts_the_worst_is_named_and_the_others_are_counted() {
    let text = "[host.receiver]\npreset = \"cascade-lake-hostcc\"\ncount = 2\n\
        [host.receiver.workload.mapp]\nkind = \"remote\"\nsockets = \"0-2\"\nreads = 0.5\n\
        [host.sender]\nkind = \"endpoint\"\ncount = 2\n\
        [network]\nrate = \"100 Gbps\"\nmtu = \"4000 B\"\nswitch.ecn = \"100 packets\"\n\
        [flow.bulk]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\ncount = 4\ntransport = \"dctcp\"\n\
        [run]\nwarmup = \"500 us\"\nduration = \"500 us\"\n";
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let summary = run.report().summary;
    let (limit, row) = (&summary["limits"][0], &summary["classes"][0]);
    assert_eq!(limit["limit"], "host network", "{limit}");
    let waits = summary["hosts"].as_array().expect("a table").iter();
    let worst = waits.filter_map(|host| host["nic_credit_wait_share"].as_f64()).fold(0.0, f64::max);
    assert_eq!(limit["load"].as_f64(), Some(worst));
    assert!(limit["why"].as_str().expect("words").contains("; the same at receiver-"), "{limit}");
    let count = |name: &str| row[name].as_u64().expect("a count");
    assert!(0 < count("received_segments") && count("received_segments") <= count("sent_packets"), "{row}");
    assert!(count("marked_segments") <= count("received_segments"), "{row}");
}

#[test]
fn a_cable_that_is_down_is_named_with_its_share_of_the_window() {
    let (limit, _) = told("[cable.b]\ndown = [[\"0 us\", \"500 us\"], [\"1500 us\", \"2500 us\"]]", BULK);
    assert_eq!(
        (&limit["limit"], &limit["place"], &limit["load"]),
        (&"cable down".into(), &"b to tor".into(), &0.5.into())
    );
}

#[test]
fn a_receiver_that_does_not_read_is_named() {
    let (limit, row) = told("", "kind = \"bulk\"\ndeaf = [\"500 us\", \"100 s\"]");
    assert_eq!((&limit["limit"], &limit["place"], &limit["load"]), (&"deaf receiver".into(), &"b".into(), &1.0.into()));
    assert_eq!(row["goodput_gbps"], 0.0);
}

#[test]
fn losses_are_the_limit_unless_the_class_waits_for_timeouts() {
    let (limit, row) = told("[cable.a]\ncorrupt = 0.02", BULK);
    assert_eq!(limit["limit"], "losses");
    assert!(limit["load"].as_f64() > Some(0.005) && row["fabric_dropped"].as_u64() > Some(0), "{limit} {row}");
    let (limit, row) = told("[cable.a]\ncorrupt = 1.0", BULK);
    assert_eq!((&limit["limit"], &row["host_sent"]), (&"silence".into(), &0.into()), "it waits for its first timeout");
}

#[test]
fn datagrams_wait_for_their_clock_their_cable_or_an_answer_and_nobody_slows_down_for_losses() {
    let open = "kind = \"datagram\"\nsize = \"1000 B\"";
    let (limit, row) = told("", &format!("{open}\nrate = \"800 Mbps\""));
    assert_eq!(limit["limit"], "clock");
    assert_eq!((&row["sent_packets"], &row["received_segments"]), (&200.into(), &200.into()));
    assert!((row["goodput_gbps"].as_f64().expect("a number") - 0.8).abs() < 1e-9, "{row}");
    assert_eq!(told("", open).0["limit"], "cable");
    let ping = "kind = \"datagram\"\npattern = \"ping\"\nrequest = \"64 B\"";
    assert_eq!(told("", ping).0["limit"], "requests in flight");
    let broken = "[cable.a]\ncorrupt = 0.05";
    let (limit, row) = told(broken, &format!("{open}\nrate = \"800 Mbps\""));
    assert_eq!(limit["limit"], "losses");
    assert!(limit["why"].as_str().expect("text").ends_with("and nobody retransmits them"), "{limit}");
    assert_eq!(row["retransmitted_packets"], 0);
    let (limit, row) = told(broken, &format!("{ping}\ntimeout = \"50 us\""));
    assert_eq!(limit["limit"], "timeouts");
    assert!(row["timeouts"].as_u64() > Some(0), "{row}");
}

#[test]
fn a_capture_that_is_replayed_counts_as_sent_and_received() {
    let file = std::env::temp_dir().join(format!("hostnet-limits-{}.pcap", std::process::id()));
    let packet = [0x45, 0, 0x03, 0xe8].into_iter().chain([0; 16]).collect::<Vec<u8>>();
    let mut writer = hostnet_traffic::pcap::Writer::new(Vec::new(), 64).expect("memory");
    for index in 0..4000 {
        let frame = [&[0; 12][..], &[0x08, 0], &packet].concat();
        writer.frame(index * 1_000_000, &frame, 1014).expect("memory");
    }
    std::fs::write(&file, writer.finish().expect("memory")).expect("a file");
    let (limit, row) = told("", &format!("kind = \"replay\"\npcap = {file:?}"));
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(limit["limit"], "capture");
    assert_eq!((&row["sent_packets"], &row["host_received"]), (&2000.into(), &2000.into()));
    assert!((row["goodput_gbps"].as_f64().expect("a number") - 8.0).abs() < 1e-9, "{row}");
}

#[test]
fn a_capture_that_is_faster_than_its_cable_waits_for_it_and_loses_nothing() {
    let file = std::env::temp_dir().join(format!("hostnet-limits-fast-{}.pcap", std::process::id()));
    let mut writer = hostnet_traffic::pcap::Writer::new(Vec::new(), 64).expect("memory");
    for index in 0..2500 {
        writer.frame(index * 400_000, &[0; 14], 1014).expect("memory");
    }
    std::fs::write(&file, writer.finish().expect("memory")).expect("a file");
    let (limit, row) = told("", &format!("kind = \"replay\"\npcap = {file:?}\nstart = \"1 ms\""));
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(limit["limit"], "cable");
    // A packet has 1038 B on the wire.
    assert!((2400..=2409).contains(&row["host_received"].as_u64().expect("a count")), "10 Gbps for 2 ms: {row}");
    assert_eq!(row["fabric_dropped"], 0);
}

#[test]
fn packets_of_a_server_on_a_failed_cable_are_counted() {
    let plan = plan(
        "[host.s]\npreset = \"cascade-lake-hostcc\"\n[host.b]\nkind = \"endpoint\"\n\
         [cable.s]\ndown = [[\"30 us\", \"60 us\"]]\n\
         [flow.f]\nkind = \"bulk\"\nfrom = \"s\"\nto = \"b\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 ms\"\n",
    );
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let row = run.report().summary["classes"][0].clone();
    let [sent, received, lost] =
        ["host_sent", "host_received", "fabric_dropped"].map(|key| row[key].as_u64().expect("a count"));
    assert!(lost > 0 && received + lost <= sent && sent - received - lost < 200, "{row}");
}

#[test]
fn caches_of_hosts_tell_what_became_of_the_lines_of_their_nics() {
    let plan = plan(
        "[host.s]\npreset = \"cascade-lake-hostcc\"\ncache.enabled = true\nnic.ddio = true\n[host.e]\n\
        kind = \"endpoint\"\n\
         [flow.f]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"s\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 ms\"\n",
    );
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let caches = report.table("caches").expect("a table");
    let rows: Vec<Value> = caches.rows.iter().map(|row| caches.row_json(row)).collect();
    let flow = rows.iter().find(|row| row["workload"] == "f").expect("a row of the flow");
    let count = |key: &str| flow[key].as_u64().expect("a count");
    let written = report.summary["hosts"][0]["iio_write_gbps"].as_f64().expect("a rate") * 1e6 / 512.0;
    assert_eq!(flow["host"], "s");
    let there = (count("ddio_updates") + count("ddio_allocations")) as f64;
    assert!((there - written).abs() <= 93.0 && there > 10_000.0, "{there} of {written} lines");
}
