//! Tests UDP flows against closed forms.

use crate::cluster::lab::{plan, run};
use crate::cluster::stats::{datagrams, Datagrams};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::transport::stage_times::Stage;
use hostnet_model::World;
use hostnet_sim::{Options, Run};

/// Size of the IP and UDP headers, in bytes; `FRAMING` is what Ethernet adds on the wire.
const HEADERS: u64 = 28;
const FRAMING: u64 = 38;
const LATENCY_PS: u64 = 3_000_000;
const CABLE_PS: u64 = 2_000_000;
const SWITCH_PS: u64 = 700_000;
const PS: u64 = 1_000_000;

/// Returns a plan of two endpoints at a switch with cables of 10 Gbps, and a UDP flow.
fn pair(flow: &str, more: &str) -> Plan {
    plan(&format!(
        "[host.a]\nkind = \"endpoint\"\nlatency = \"3 us\"\n[host.b]\nkind = \"endpoint\"\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nswitch.latency = \"700 ns\"\n\
         [flow.f]\nkind = \"datagram\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n{more}\n"
    ))
}

/// Returns the time on a wire of 10 Gbps, at 800 ps per byte.
fn wire_ps(data: u64) -> u64 {
    (data + HEADERS + FRAMING).max(84) * 800
}

/// Returns the latency from one application to the other.
fn way_ps(data: u64) -> u64 {
    2 * LATENCY_PS + 2 * (wire_ps(data) + CABLE_PS) + SWITCH_PS
}

/// Returns the end of the flow at a host.
fn end(simulation: &Simulation<World>, host: u16) -> Datagrams<'_> {
    datagrams(simulation).into_iter().find(|end| end.host == host).expect("the flow ends there")
}

#[test]
fn an_idle_round_trip_takes_the_sum_of_its_parts() {
    for (request, response, think_us) in [(1, 1, 0), (64, 1000, 0), (1472, 18, 5)] {
        let flow = format!(
            "pattern = \"ping\"\nrequest = \"{request} B\"\nresponse = \"{response} B\"\nthink = \"{think_us} us\""
        );
        let simulation = run(&pair(&flow, ""), 2000);
        let latency = end(&simulation, 0).application.latency().expect("it asks");
        let each = way_ps(request) + way_ps(response);
        assert_eq!(latency.sum(), u128::from(latency.count() * each));
        let turn = each + think_us * PS;
        assert_eq!(latency.count(), (2000 * PS - 1 + think_us * PS) / turn);
    }
}

#[test]
fn lost_requests_are_given_up_after_the_timeout_and_counted() {
    let each = 2 * way_ps(64);
    // The cable is down when the tenth request begins.
    let begins = 1 + 9 * each;
    let down = [begins / PS, begins / PS + 10];
    let cables = format!(
        "[switch.s]\nlatency = \"700 ns\"\n[cable.a]\nends = [\"a\", \"s\"]\ndown = [[\"{} us\", \"{} us\"]]\n\
         [cable.b]\nends = [\"b\", \"s\"]\n",
        down[0], down[1]
    );
    let flow = "pattern = \"ping\"\nrequest = \"64 B\"\ntimeout = \"200 us\"";
    let simulation = run(&pair(flow, &cables), 5000);
    let application = end(&simulation, 0).application;
    let (counts, latency) = (application.counts(), application.latency().expect("it asks"));
    assert_eq!((counts.timeouts, counts.late), (1, 0));
    assert_eq!(latency.sum(), u128::from(latency.count() * each), "no answer is later for it");
    assert_eq!(latency.count(), (5000 * PS - 1 - 200 * PS) / each);
}

#[test]
fn a_late_answer_is_discarded() {
    let flow = "pattern = \"ping\"\nrequest = \"64 B\"\ntimeout = \"20 us\"";
    assert!(2 * way_ps(64) > 20 * PS && 2 * way_ps(64) < 40 * PS);
    let simulation = run(&pair(flow, ""), 1000);
    let application = end(&simulation, 0).application;
    let counts = application.counts();
    assert_eq!(application.latency().expect("it asks").count(), 0);
    assert_eq!((counts.timeouts, counts.sent), (49, 50));
    assert_eq!((counts.late, counts.received), (49, 49));
}

#[test]
fn an_open_loop_sends_by_its_clock_and_no_faster_than_its_port() {
    // 800 Mbps of 1000 B: one datagram every 10 us.
    let simulation = run(&pair("size = \"1000 B\"\nrate = \"800 Mbps\"", ""), 1000);
    let (from, to) = (end(&simulation, 0).application.counts(), end(&simulation, 1).application.counts());
    assert_eq!(from.sent, 1000 / 10);
    assert_eq!(to.received, (1000 * PS - 1 - way_ps(1000)) / (10 * PS) + 1);
    // Without a rate, and with a rate above that of the cable, the wire is never idle.
    for rate in ["", "rate = \"20 Gbps\""] {
        let simulation = run(&pair(&format!("size = \"1000 B\"\n{rate}"), ""), 1000);
        let to = end(&simulation, 1).application.counts();
        assert_eq!(to.received, (1000 * PS - 1 - way_ps(1000)) / wire_ps(1000) + 1, "{rate}");
    }
}

/// Returns a plan of a UDP flow between an endpoint and the server of the testbed.
fn testbed(flow: &str, change: &str) -> Plan {
    plan(&format!(
        "[host.server]\npreset = \"cascade-lake-hostcc\"\n[host.client]\nkind = \"endpoint\"\n\
         [network]\ntopology = \"direct\"\n[flow.f]\nkind = \"datagram\"\n{flow}\n{change}\n"
    ))
}

/// Returns the mean time of an idle round trip to a server, and of its stages in both directions, in us.
fn idle_us(change: &str) -> (f64, [f64; 10]) {
    // The think time keeps round trips out of phase with memory refreshes, which occur every 7.8 us.
    let flow = "pattern = \"ping\"\nfrom = \"client\"\nto = \"server\"\nrequest = \"64 B\"\nthink = \"2 us\"";
    let simulation = run(&testbed(flow, change), 3000);
    let all = datagrams(&simulation);
    let client = all.iter().find(|end| end.counts.is_none()).expect("the client");
    let latency = client.application.latency().expect("it asks");
    let [there, back] = [false, true].map(|back| {
        let end = all.iter().find(|end| end.counts.is_none() == back).expect("both ends");
        end.application.stage_stats()
    });
    let counts = [latency.count(), there.total().count(), back.total().count()];
    assert!(counts[0] == counts[2] && counts[1] - counts[0] <= 1, "{counts:?}");
    let per = |sum: u64, count: u64| sum as f64 / count as f64 / 1e6;
    let stages = Stage::ALL.map(|stage| per(there.sum_ps(stage), counts[1]) + per(back.sum_ps(stage), counts[2]));
    (latency.mean().expect("it was answered") / 1e6, stages)
}

#[test]
fn an_idle_round_trip_to_a_server_takes_every_stage_as_often_as_it_passes_it() {
    // As for TCP (`closed_form.rs`), but without TCP's work on a segment.
    for (table, key, times) in [
        ("nic", "receive", &[(Stage::RxDma, 1.0)] as &[_]),
        ("nic", "transmit", &[(Stage::TxDma, 1.0), (Stage::Wire, 1.0)]),
        ("nic", "interrupt", &[(Stage::RxDriver, 1.0)]),
        ("nic", "coalesce", &[(Stage::RxDriver, 1.0)]),
        ("stack", "packet", &[(Stage::RxDriver, 1.0)]),
        ("stack", "segment", &[]),
        ("stack", "ack", &[]),
        ("stack", "send", &[(Stage::TxDriver, 1.0)]),
        ("stack", "generate", &[]),
        ("stack", "wake", &[(Stage::RxCopy, 1.0)]),
        ("stack", "call", &[(Stage::TxCopy, 1.0)]),
        ("iio", "write_to_cha", &[(Stage::RxDma, 1.0)]),
        ("iio", "read_to_cha", &[(Stage::TxDma, 2.0)]),
        ("iio", "read_return", &[(Stage::TxDma, 2.0)]),
        ("pcie", "latency", &[(Stage::RxDma, 1.0), (Stage::TxDma, 4.0)]),
    ] {
        let of = |ns: u32| idle_us(&format!("[host.server.{table}]\n{key} = \"{ns} ns\""));
        let ((slow_us, slow), (fast_us, fast)) = (of(1500), of(500));
        let law: f64 = times.iter().map(|(_, times)| times).sum();
        let found = slow_us - fast_us;
        assert!((found - law).abs() < 0.3, "{table}.{key}: {found} us more");
        for stage in Stage::ALL {
            let law = times.iter().find(|(of, _)| *of == stage).map_or(0.0, |(_, times)| *times);
            let found = slow[stage as usize] - fast[stage as usize];
            assert!((found - law).abs() < 0.3, "{table}.{key}, {stage:?}: {found} us more");
        }
    }
}

#[test]
fn stages_add_up_to_the_round_trip_and_are_reported() {
    let (round_us, stages) = idle_us("");
    assert!((stages.iter().sum::<f64>() - round_us).abs() < 1e-3 * round_us, "{stages:?} of {round_us} us");
    let plan = testbed(
        "pattern = \"ping\"\nfrom = \"client\"\nto = \"server\"\nrequest = \"64 B\"",
        "[run]\nwarmup = \"50 us\"\nduration = \"300 us\"",
    );
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let summary = run.report().summary;
    let rows = summary["stages"].as_array().expect("a table");
    for way in ["there", "back"] {
        let own: Vec<_> = rows.iter().filter(|row| row["way"] == way).collect();
        let (all, each) = own.split_last().expect("stages");
        assert_eq!((&all["stage"], &all["percent"]), (&"all".into(), &100.0.into()));
        let sum: f64 = each.iter().filter_map(|row| row["mean_us"].as_f64()).sum();
        assert!((sum / all["mean_us"].as_f64().expect("a mean") - 1.0).abs() < 1e-12);
        assert!(each.iter().all(|row| row["p50_us"].is_null()) && all["p99_us"].is_f64());
    }
}

#[test]
fn an_unlimited_generator_sends_at_the_cost_of_the_kernel() {
    for (cost_ns, bytes) in [(100, 64), (219, 64), (1000, 1472)] {
        let flow = format!("pattern = \"generate\"\nfrom = \"server\"\nto = \"client\"\nsize = \"{bytes} B\"");
        let change = format!("[host.server.stack]\ngenerate = \"{cost_ns} ns\"");
        let plan = testbed(&flow, &change);
        let sent = |us| {
            let simulation = run(&plan, us);
            let all = datagrams(&simulation);
            all.iter().find(|end| end.counts.is_some()).expect("the server").application.counts().sent
        };
        let (got, law) = (sent(1500) - sent(500), PS / cost_ns);
        assert!(got.abs_diff(law) <= 1, "{cost_ns} ns: {got}, law {law}");
    }
}

#[test]
fn a_generator_fills_its_ring_and_no_more_when_the_cable_is_slower() {
    let flow = "pattern = \"generate\"\nfrom = \"server\"\nto = \"client\"\nsize = \"1472 B\"";
    let plan = testbed(flow, "[run]\nwarmup = \"0.2 ms\"\nduration = \"0.5 ms\"\n[cable.client]\nrate = \"10 Gbps\"");
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let all = datagrams(run.simulation());
    let end = all.iter().find(|end| end.counts.is_some()).expect("the server");
    let wire_ps = (1472 + HEADERS + FRAMING) * 800;
    let left = run.simulation().progress().time.ps() / wire_ps;
    let ahead = end.application.counts().sent - left;
    assert!((1000..=1040).contains(&ahead), "{ahead} of 1024 descriptors, and what the port holds");
    let idle = run.report().summary["hosts"][0]["core_send_share"].as_f64().expect("a share");
    assert!(idle > 0.99, "it tries without end: {idle}");
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let server = |name: &str| format!("[host.{name}]\npreset = \"cascade-lake-hostcc\"\n");
    let flow = |name: &str, ends: [&str; 2], what: &str| {
        format!("[flow.{name}]\nkind = \"datagram\"\nfrom = \"{}\"\nto = \"{}\"\n{what}\n", ends[0], ends[1])
    };
    let text = [
        server("a"),
        server("b"),
        "[network]\nlatency = \"500 ns\"\n".to_owned(),
        flow("ping", ["a", "b"], "pattern = \"ping\"\nrequest = \"64 B\"\ncount = 2"),
        flow("open", ["b", "a"], "size = \"1000 B\"\nrate = \"3 Gbps\""),
        flow("pour", ["a", "b"], "pattern = \"generate\"\nsize = \"1400 B\""),
        "[run]\nwarmup = \"30 us\"\nduration = \"90 us\"\n".to_owned(),
    ];
    let plan = plan(&text.concat());
    let hash = |run: &mut Run| {
        assert_eq!(run.run(|_| true), Ok(true));
        let report = run.report();
        (report.result_hash, report.summary["stages"].clone())
    };
    let expected = hash(&mut Run::new(&plan, Options::default()));
    let options = Options { threads: 2, checkpoint_at_ps: 47_000_001, ..Options::default() };
    let mut first = Run::new(&plan, options);
    assert_eq!(hash(&mut first), expected, "two threads");
    let checkpoint = first.checkpoint().expect("it was taken");
    let mut second = Run::resume(&plan, options, checkpoint).expect("it can be read");
    assert_eq!(hash(&mut second), expected, "from a checkpoint");
}
