//! Tests clusters against closed forms.

use crate::cluster::lab::{drain, nic, plan, run, servers};
use crate::cluster::stats::{streams, Stream};
use hostnet_kernel::Simulation;
use hostnet_model::nic::DropReason;
use hostnet_model::World;
use hostnet_sim::sample::PoolGroup;
use hostnet_sim::{Options, Run};

/// Size of the IP and TCP headers, in bytes; `FRAMING` is what Ethernet adds on the wire.
const HEADERS: u64 = 52;
const FRAMING: u64 = 38;
const LATENCY_PS: u64 = 3_000_000;
const CABLE_PS: u64 = 2_000_000;
const SWITCH_PS: u64 = 700_000;
const PS: u64 = 1_000_000;

/// Returns a cluster of two endpoints at a switch with cables of 10 Gbps, and a flow.
fn pair(flow: &str, more: &str) -> hostnet_config::Plan {
    plan(&format!(
        "[host.a]\nkind = \"endpoint\"\nlatency = \"3 us\"\n[host.b]\nkind = \"endpoint\"\nlatency = \"3 us\"\n\
         [network]\nmtu = \"1500 B\"\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nswitch.latency = \"700 ns\"\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n{more}\n"
    ))
}

/// Returns the time on a wire of 10 Gbps, at 800 ps per byte.
fn wire_ps(data: u64) -> u64 {
    (data + HEADERS + FRAMING).max(84) * 800
}

/// Returns the latency from one transport to the other.
fn way_ps(data: u64) -> u64 {
    2 * LATENCY_PS + 2 * (wire_ps(data) + CABLE_PS) + SWITCH_PS
}

/// Returns the initiator's end.
fn caller(simulation: &Simulation<World>) -> Stream<'_> {
    streams(simulation).into_iter().find(|end| end.host == 0).expect("host 0 begins")
}

#[test]
fn an_idle_request_takes_the_sum_of_its_parts() {
    for (request, response) in [(1, 1), (128, 1000), (1448, 64)] {
        let flow = format!("kind = \"rpc\"\nrequest = \"{request} B\"\nresponse = \"{response} B\"");
        let plan = pair(&flow, "");
        let simulation = run(&plan, 2000);
        let latency = caller(&simulation).application.latency().expect("a caller");
        let each = way_ps(request) + way_ps(response);
        assert_eq!(latency.sum(), u128::from(latency.count() * each));
        assert_eq!(latency.count(), (2000 * PS - 1) / each);
    }
}

#[test]
fn a_small_window_gives_a_window_per_round_trip() {
    for packets in [2, 3, 8] {
        let bytes = packets * 1448;
        let tcp = format!(
            "[transport.t]\nbase = \"reno\"\necn = false\nack_segments = 1\nreceive_buffer = \"{} B\"\n",
            2 * bytes
        );
        let plan = pair("kind = \"bulk\"\ntransport = \"t\"", &tcp);
        let received = |until_us| {
            let simulation = run(&plan, until_us);
            let all = streams(&simulation);
            all.iter().map(|end| end.application.received_bytes()).sum::<u64>()
        };
        let got = received(6000) - received(1000);
        let round_trip_ps = way_ps(1448) + way_ps(0);
        let law = 5000 * PS / round_trip_ps * bytes;
        assert!(got.abs_diff(law) <= bytes, "{packets} packets: {got} bytes, law {law}");
    }
}

#[test]
fn a_lone_request_that_is_lost_waits_for_the_timeout() {
    let flow = "kind = \"rpc\"\nrequest = \"128 B\"\ntransport = \"t\"";
    let tcp = "[transport.t]\nbase = \"dctcp\"\nrto_min = \"5 ms\"\n";
    let each = 2 * way_ps(128);
    // The cable is down when the tenth request begins.
    let begins = 1 + 9 * each;
    let down = [begins / PS, begins / PS + 10];
    let cables = format!(
        "[switch.s]\nlatency = \"700 ns\"\n[cable.a]\nends = [\"a\", \"s\"]\ndown = [[\"{} us\", \"{} us\"]]\n\
        [cable.b]\nends = [\"b\", \"s\"]\n",
        down[0], down[1]
    );
    let simulation = run(&pair(flow, &format!("{tcp}{cables}")), 20_000);
    let end = caller(&simulation);
    assert_eq!((end.connection.counters().timeouts, end.connection.counters().probes), (1, 0));
    let latency = end.application.latency().expect("a caller");
    let sum = u64::try_from(latency.sum()).expect("it is less than the run");
    let slowest = sum - (latency.count() - 1) * each;
    assert!(slowest >= 5000 * PS + each && slowest < 6000 * PS, "{slowest} ps");
    assert!(20_000 * PS - 1 - sum < each, "it goes on as before");
}

#[test]
fn a_probe_repairs_the_tail_of_a_message_before_the_timeout() {
    // 20 packets: the last one is lost on the first cable.
    let request = 20 * 1448;
    let flow =
        format!("kind = \"rpc\"\nrequest = \"{request} B\"\nresponse = \"1 B\"\ntransport = \"t\"\nthink = \"1 ms\"");
    let tcp = |probe| {
        format!("[transport.t]\nbase = \"reno\"\nrto_min = \"5 ms\"\ninitial_window = 40\ntail_loss_probe = {probe}\n")
    };
    let whole = way_ps(request % 1448 + 1448) + 19 * wire_ps(1448) + way_ps(1);
    let begins = 1 + 9 * (whole + 1000 * PS);
    let last = begins + LATENCY_PS + 19 * wire_ps(1448);
    let down = [last + wire_ps(1448) / 2 + CABLE_PS, last + wire_ps(1448) + CABLE_PS];
    let cables = format!(
        "[switch.s]\nlatency = \"700 ns\"\n[cable.a]\nends = [\"a\", \"s\"]\ndown = [[\"{} ns\", \"{} ns\"]]\n\
        [cable.b]\nends = [\"b\", \"s\"]\n",
        down[0].div_ceil(1000),
        down[1] / 1000
    );
    for probe in [true, false] {
        let simulation = run(&pair(&flow, &format!("{}{cables}", tcp(probe))), 30_000);
        let end = caller(&simulation);
        let latency = end.application.latency().expect("a caller");
        let slowest = u64::try_from(latency.sum()).expect("it is less than the run") - (latency.count() - 1) * whole;
        let counters = end.connection.counters();
        // Without a probe, the packet before it, whose acknowledgement is delayed, is retransmitted as well.
        assert_eq!(counters.packets_retransmitted, 1 + u64::from(!probe), "{counters:?}");
        assert_eq!((counters.probes, counters.timeouts), (u64::from(probe), u64::from(!probe)));
        assert_eq!(slowest < 5000 * PS, probe, "{slowest} ps");
        assert!(slowest > whole + 2 * (way_ps(1448) + way_ps(0)), "a probe waits two round trips: {slowest} ps");
    }
}

/// Returns a cluster with flows from an endpoint into the server of the testbed.
fn testbed(flow: &str, run: &str) -> hostnet_config::Plan {
    plan(&format!(
        "[host.receiver]\npreset = \"cascade-lake-hostcc\"\n[host.sender]\nkind = \"endpoint\"\nlatency = \"2 us\"\n\
         [network]\nmtu = \"4096 B\"\nswitch.ecn = \"150 packets\"\n\
         [flow.f]\nfrom = \"sender\"\nto = \"receiver\"\nkind = \"bulk\"\n{flow}\n{run}\n"
    ))
}

#[test]
fn four_flows_fill_the_cable_of_an_idle_server() {
    let mut run =
        Run::new(&testbed("count = 4", "[run]\nwarmup = \"1 ms\"\nduration = \"2 ms\"\n"), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let class = &report.summary["classes"][0];
    let goodput = class["goodput_gbps"].as_f64().expect("a number");
    let law = 100.0 * (4096 - HEADERS) as f64 / (4096 + FRAMING) as f64;
    assert!(goodput > 0.985 * law && goodput < 1.015 * law, "{goodput} of {law} Gbps");
    assert_eq!(class["nic_dropped_full"].as_u64(), Some(0));
    assert_eq!(class["retransmitted_packets"].as_u64(), Some(0));
}

#[test]
fn the_iio_writes_the_lines_of_every_frame_and_completion() {
    let data = 4096 - HEADERS;
    let plan = testbed(&format!("bytes = \"{} B\"\ncount = 2", 200 * data), "");
    let mut simulation = run(&plan, 2000);
    drain(&mut simulation);
    let machine = servers(&simulation)[0];
    let frames: u64 = nic(machine).flows().iter().map(|flow| flow.delivered.packets).sum();
    assert_eq!(frames, 400);
    // 4096 bytes and a header of 14 at the start of a page, and one line of completion.
    let domains = hostnet_sim::sample::domains(machine, PoolGroup::P2mWrite);
    let lines: u64 = domains.iter().flat_map(|(_, domain)| domain.classes()).map(|usage| usage.acquired()).sum();
    assert_eq!(lines, frames * (4110_u64.div_ceil(64) + 1));
    assert_eq!(nic(machine).counters().written_bytes, frames * 4110);
    assert_eq!(nic(machine).flows().iter().map(|flow| flow.dropped(DropReason::BufferFull).packets).sum::<u64>(), 0);
}

#[test]
fn an_idle_request_to_a_server_takes_every_stage_as_often_as_it_passes_it() {
    let mean_us = |change: &str| {
        let plan = plan(&format!(
            "[host.server]\npreset = \"cascade-lake-hostcc\"\n[host.client]\nkind = \"endpoint\"\n\
             [network]\ntopology = \"direct\"\nmtu = \"4096 B\"\n\
             [flow.rpc]\nkind = \"rpc\"\nfrom = \"client\"\nto = \"server\"\nrequest = \"128 B\"\n{change}\n"
        ));
        let simulation = run(&plan, 3000);
        let all = streams(&simulation);
        let latency =
            all.iter().find(|end| end.counts.is_none()).expect("the client").application.latency().expect("a caller");
        latency.mean().expect("requests were answered") / 1e6
    };
    // Each `times` is the number of additional microseconds of a request and its answer per microsecond at a stage,
    // apart from the effect of memory refreshes. The descriptor and the data of the answer are read one after the
    // other, so a read counts twice, and its path over PCIe four times; the path of the request, with its credits,
    // counts twice.
    for (table, key, times) in [
        ("nic", "receive", 1.0),
        ("nic", "transmit", 2.0),
        ("nic", "interrupt", 1.0),
        ("nic", "coalesce", 1.0),
        ("stack", "packet", 1.0),
        ("stack", "segment", 1.0),
        ("stack", "send", 1.0),
        ("stack", "wake", 1.0),
        ("stack", "call", 1.0),
        ("iio", "read_to_cha", 2.0),
        ("iio", "read_return", 2.0),
        ("pcie", "latency", 6.0),
    ] {
        let of = |ns: u32| mean_us(&format!("[host.server.{table}]\n{key} = \"{ns} ns\""));
        let found = of(1500) - of(500);
        assert!((found - times).abs() < 0.3, "{table}.{key}: {found} us more");
    }
}
