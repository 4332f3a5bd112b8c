//! Tests RDMA into and out of a server beside its own memory traffic: the four quadrants of docs/rdma.md, and
//! conservation.

use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::nic::{DropReason, Nic};
use hostnet_model::Machine;
use hostnet_model::World;
use hostnet_sim::build::world;
use hostnet_sim::Report;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use std::path::Path;

fn plan(overrides: &[&str]) -> Plan {
    let base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read_to_string(base_dir.join("rdma.toml")).expect("the example");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    resolve(&Input { text: &text, format: Format::Toml, file: "rdma.toml", base_dir: &base_dir, overrides: &overrides })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn report(overrides: &[&str]) -> Report {
    let short = ["run.warmup=150 us", "run.duration=300 us"];
    let plan = plan(&[&short, overrides].concat());
    let mut run = Run::new(&plan, Options::default());
    run.run(|_| true).expect("it does not get stuck");
    run.report()
}

/// Returns a value of the summary: `column` of the first row of `table` whose `key` is `name`.
fn read(report: &Report, table: &str, key: &str, name: &str, column: &str) -> f64 {
    let rows = report.summary[table].as_array().expect("a table");
    let row = rows.iter().find(|row| row[key] == name).unwrap_or_else(|| panic!("{table}: no {name}"));
    row[column].as_f64().unwrap_or_else(|| panic!("{table}.{column}: {}", row[column]))
}

fn rdma(report: &Report, column: &str) -> f64 {
    read(report, "classes", "class", "rdma", column)
}

fn goodput(report: &Report) -> f64 {
    rdma(report, "goodput_gbps")
}

fn pauses(report: &Report) -> f64 {
    read(report, "hosts", "host", "server", "nic_pauses_sent")
}

/// Returns the throughput of the server's cores, in GB/s.
fn c2m(report: &Report) -> f64 {
    read(report, "memory", "workload", "c2m", "gb_per_s")
}

fn assert_lossless(report: &Report) {
    for column in
        ["retransmitted_packets", "nic_dropped_full", "nic_dropped_other", "fabric_dropped", "timeouts", "out_of_order"]
    {
        assert_eq!(rdma(report, column), 0.0, "{column}");
    }
}

const READ: &str = "flow.rdma.kind=read";
const LOADS: &str = "host.server.workload.c2m.reads=1.0";
/// Setting for negligible RDMA.
const NO_RDMA: &str = "flow.rdma.bytes=1 B";
/// Goodput of 100 Gbps: 4096 of 4178 bytes on the wire are data.
const CABLE: f64 = 100.0 * 4096.0 / 4178.0;

fn cores(last: u32) -> String {
    format!("host.server.workload.c2m.cores=0-{}", last - 1)
}

#[test]
fn alone_rdma_is_as_fast_as_its_cable_in_both_directions() {
    for kind in ["flow.rdma.kind=write", READ] {
        let found = report(&[kind, &cores(1), LOADS]);
        assert!((goodput(&found) / CABLE - 1.0).abs() < 0.005, "{kind}: {}", goodput(&found));
        assert_eq!(pauses(&found), 0.0);
        assert_lossless(&found);
        let latency = |column| read(&found, "latencies", "class", "rdma", column);
        // 128 messages of 64 KiB are in flight: Little's law.
        let expected = 128.0 * 65_536.0 * 8e-3 / goodput(&found);
        assert!(
            latency("max_us") < 1.1 * expected && latency("mean_us") > 0.4 * expected,
            "{expected}: {latency:?}",
            latency = latency("mean_us")
        );
    }
}

#[test]
fn both_directions_at_once_are_as_fast_as_one() {
    let server =
        ["host.client.kind=server", "host.client.preset=cascade-lake-hostcc", "host.client.nic.relaxed_ordering=true"];
    let back = ["flow.back.kind=write", "flow.back.from=server", "flow.back.to=client", "flow.back.class=rdma"];
    let found = report(&[&server[..], &back, &[&cores(1), LOADS]].concat());
    assert!((goodput(&found) / (2.0 * CABLE) - 1.0).abs() < 0.01, "{} Gbps", goodput(&found));
    assert_eq!(pauses(&found), 0.0);
    assert_lossless(&found);
}

#[test]
fn in_the_blue_regime_only_the_cores_slow_down() {
    for (kind, reads) in [("flow.rdma.kind=write", 1.0), (READ, 1.0), (READ, 0.0)] {
        let reads = format!("host.server.workload.c2m.reads={reads:?}");
        let alone = c2m(&report(&[&reads, NO_RDMA]));
        let found = report(&[kind, &reads]);
        assert!((goodput(&found) / CABLE - 1.0).abs() < 0.01, "{kind} {reads}: {}", goodput(&found));
        assert!(c2m(&found) < 0.85 * alone, "{kind} {reads}: {} of {alone} GB/s", c2m(&found));
        assert_eq!(pauses(&found), 0.0, "{kind} {reads}");
        assert_lossless(&found);
    }
}

#[test]
fn a_core_of_quadrant_three_reads_as_much_as_it_writes() {
    let found = report(&[&cores(1), NO_RDMA]);
    let of = |column| read(&found, "memory", "workload", "c2m", column);
    let share = of("read_gb_per_s") / of("gb_per_s");
    assert!((share - 0.5).abs() < 0.02, "C2M-ReadWrite: {share} of its traffic reads");
}

#[test]
fn in_the_red_regime_rdma_slows_down_too_and_the_nic_pauses_its_peer() {
    let few = report(&[&cores(2)]);
    assert!((goodput(&few) / CABLE - 1.0).abs() < 0.01 && pauses(&few) == 0.0, "{}", goodput(&few));
    let mut least = 0.92 * CABLE;
    // Published for the drives (figure 8d): latency of a line of P2M-Write with 4, 5 and 6 cores.
    for (last, latency_ns) in [(4, 620.5), (5, 732.8), (6, 793.5)] {
        let found = report(&[&cores(last), "run.warmup=400 us"]);
        assert!(goodput(&found) < least, "{last} cores: {} Gbps", goodput(&found));
        assert!(pauses(&found) > 0.0);
        assert_lossless(&found);
        let host = |column| read(&found, "hosts", "host", "server", column);
        assert!(host("iio_write_occupancy") > 0.98 * 93.0, "{last} cores: the write credits of the IIO are in use");
        let latency = host("iio_write_latency_ns");
        assert!((latency / latency_ns - 1.0).abs() < 0.1, "{last} cores: {latency} ns, drives {latency_ns} ns");
        least = goodput(&found);
    }
    let (alone, beside) = (c2m(&report(&[NO_RDMA])), c2m(&report(&["run.warmup=400 us"])));
    assert!(beside < 0.85 * alone, "{beside} of {alone} GB/s");
}

#[test]
fn without_pfc_the_nic_drops_and_the_client_goes_back() {
    let lossy = report(&["host.server.nic.pfc.priorities=[0]", "run.warmup=400 us", "run.duration=400 us"]);
    let lossless = report(&["run.warmup=400 us", "run.duration=400 us"]);
    assert!(rdma(&lossy, "nic_dropped_full") > 0.0 && rdma(&lossy, "retransmitted_packets") > 0.0);
    assert!(rdma(&lossy, "out_of_order") > 0.0 && pauses(&lossy) == 0.0);
    assert!(goodput(&lossy) < goodput(&lossless), "{} and {}", goodput(&lossy), goodput(&lossless));
}

#[test]
fn tcp_beside_it_takes_none_of_what_rdma_needs_to_lose_nothing() {
    let base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = "[host.server]\npreset = \"cascade-lake-hostcc\"\nnic.buffer = \"700 kB\"\n\
        nic.pfc = { priorities = [3], xoff = \"500 kB\", xon = \"400 kB\" }\n\
        [host.server.workload.mapp]\nkind = \"remote\"\nsockets = \"0-2\"\nreads = 0.5\n\
        [host.r]\nkind = \"endpoint\"\n[host.t]\nkind = \"endpoint\"\ncount = 2\n\
        [network]\nmtu = \"4200 B\"\nswitch.buffer = \"16 MB\"\n\
        switch.pfc = { priorities = [3], xoff = \"500 kB\", xon = \"400 kB\" }\n\
        [flow.rdma]\nkind = \"write\"\nfrom = \"r\"\nto = \"server\"\n\
        [flow.tcp]\nkind = \"bulk\"\nfrom = \"t\"\nto = \"server\"\ncount = 4\ntransport = \"cubic\"\n\
        [run]\nwarmup = \"300 us\"\nduration = \"1 ms\"\nseed = 1\n";
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir: &base_dir, overrides: &[] };
    let mut run = Run::new(&resolve(&input).expect("it is right"), Options::default());
    run.run(|_| true).expect("it does not get stuck");
    let found = run.report();
    assert_lossless(&found);
    assert!(pauses(&found) > 0.0);
    let dropped = read(&found, "classes", "class", "tcp", "nic_dropped_full");
    assert!(dropped > 0.0, "the share of packets that may be lost is full: {dropped}");
}

#[test]
fn faster_cables_need_wider_links() {
    let fast = |gbps: u32, generation: u32| {
        let found = report(&[
            &format!("network.rate={gbps} Gbps"),
            &format!("host.server.nic.pcie.generation={generation}"),
            "host.server.nic.send_window=256 KiB",
            "host.server.nic.pcie.nonposted_lines=1024",
            "host.server.nic.pcie.posted_lines=256",
            "host.server.iio.write_credits=400",
            "host.server.iio.read_credits=800",
            "host.server.iio.line=0.5 ns",
            "host.server.memory.channels=8",
            &cores(1),
            LOADS,
        ]);
        assert_lossless(&found);
        (goodput(&found) / f64::from(gbps) * 100.0, pauses(&found))
    };
    for (gbps, generation) in [(25, 3), (200, 4), (400, 5)] {
        let (share, pauses) = fast(gbps, generation);
        assert!((share / CABLE - 1.0).abs() < 0.01 && pauses == 0.0, "{share} at {gbps} Gbps, {pauses} pauses");
    }
    let (share, pauses) = fast(200, 3);
    assert!(share < 64.0 && share > 50.0 && pauses > 0.0, "{share}: PCIe 3.0 x16 is 126 Gbps");
}

fn nics(simulation: &Simulation<World>) -> Vec<(&Machine, &Nic)> {
    let servers = simulation.worlds().filter_map(|world| match world {
        World::Server(machine) => Some(&**machine),
        World::Fabric(_) | World::Remote => None,
    });
    servers.filter_map(|machine| Some((machine, machine.first()?))).collect()
}

/// Returns the packets that hosts sent, that arrived at hosts, and that were lost in between, over all flows.
fn stats(simulation: &Simulation<World>) -> [u64; 3] {
    let mut all = [0; 3];
    for (_, nic) in nics(simulation) {
        for flow in nic.flows() {
            all[0] += flow.sent.packets;
            all[1] += flow.received.packets;
            all[2] += flow.lost.packets;
        }
    }
    for world in simulation.worlds() {
        if let World::Fabric(fabric) = world {
            for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
                all[0] += end.sent_packets();
                all[1] += end.received_packets();
            }
            let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
            all[2] += drops.flat_map(|drops| drops.flows()).map(|(_, _, packets)| packets).sum::<u64>();
        }
    }
    all
}

/// A sender that paces packets has one timer for the next packet, and one for the retransmission timeout.
#[test]
fn paced_packets_leave_no_events_behind() {
    let dcqcn = ["network.topology=star", "network.switch.ecn=20 kB", "flow.rdma.transport=dcqcn"];
    // Writers await acknowledgements with a timeout; responders of reads have no timeout.
    let out = ["flow.rdma.kind=write", "flow.rdma.from=server", "flow.rdma.to=client"];
    // The cable behind the switch is slower than the one before it, so the switch marks.
    let short = ["cable.client.rate=50 Gbps", "run.warmup=50 us"];
    let pending = |duration: &str| {
        let mut run = Run::new(&plan(&[&dcqcn[..], &out, &short, &[duration, &cores(1)]].concat()), Options::default());
        run.run(|_| true).expect("it does not get stuck");
        assert!(read(&run.report(), "classes", "class", "rdma", "notifications") > 0.0);
        run.pending_max()
    };
    let [short, long] = ["run.duration=300 us", "run.duration=1 ms"].map(pending);
    assert!(long < short + 100, "{short} events are pending after 0.3 ms, {long} after 1 ms");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_arrives_or_is_dropped_for_a_reason(
        write: bool, back: bool, servers: bool, count in 1..5_u32, cores in 1..7_u32, message in 1_000..200_000_u32,
        payload in 10..13_u32, buffer in 30..400_u32, pfc: bool, dcqcn: bool, seed in 0..1000_u64,
    ) {
        let transport = if dcqcn { "dcqcn" } else { "roce" };
        let (from, to) = if back { ("server", "client") } else { ("client", "server") };
        let kind = if write { "write" } else { "read" };
        let (xoff, xon) = (buffer * 1000 / 2, buffer * 1000 / 3);
        let mut overrides = vec![
            format!("flow.rdma.kind={kind}"), format!("flow.rdma.from={from}"), format!("flow.rdma.to={to}"),
            format!("flow.rdma.count={count}"), format!("flow.rdma.transport={transport}"),
            format!("transport.{transport}.message={message} B"), format!(
                "transport.{transport}.payload={} B",
                1 << payload
            ),
            format!("transport.{transport}.timeout=200 us"),
            format!("host.server.workload.c2m.cores=0-{}", cores - 1),
            format!("host.server.nic.buffer={buffer} kB"),
            format!("host.server.nic.pfc.priorities=[{}]", if pfc { 3 } else { 0 }),
            format!("host.server.nic.pfc.xoff={xoff} B"), format!("host.server.nic.pfc.xon={xon} B"),
            format!("run.seed={seed}"),
        ];
        if servers {
            overrides.extend(["host.client.kind=server", "host.client.preset=cascade-lake-hostcc"].map(str::to_string));
        }
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let mut simulation = world(&plan(&overrides).cluster);
        simulation.run_until(Time::from_ps(150_000_000), |_| true);
        let dropped = |simulation: &Simulation<World>| {
            nics(simulation).iter().flat_map(|(_, nic)| nic.flows()).map(
                |flow| flow.dropped(DropReason::BufferFull).packets
            ).sum::<u64>()
        };
        // A round trip on the cable of 1 us carries another 25 kB before a pause takes effect.
        if pfc && buffer * 1000 - xoff > 45_000 {
            prop_assert_eq!(dropped(&simulation), 0);
        }
        for (world, _) in simulation.parts_mut() {
            world.stop_sources();
        }
        simulation.run_until(Time::from_ps(30_000_000_000), |_| true);
        let [sent, received, lost] = stats(&simulation);
        prop_assert!(sent > 0);
        prop_assert_eq!(sent, received + lost);
        for (machine, nic) in nics(&simulation) {
            prop_assert_eq!((machine.requests().is_empty(), nic.send_window_used()), (true, 0));
            for flow in nic.flows() {
                prop_assert_eq!(flow.inside(), 0);
                prop_assert_eq!(flow.received.packets, flow.delivered.packets + flow.dropped_in_all().packets);
            }
        }
    }
}
