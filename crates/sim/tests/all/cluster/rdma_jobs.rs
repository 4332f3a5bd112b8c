//! Tests jobs of ranks with messages over RoCE: collectives against closed forms, sums that losses do not change, and
//! limits.

use crate::cluster::jobs::{assert_books, assert_within, finished, ranks, stats};
use crate::cluster::lab::{drain, fabric, nic, plan, servers};
use hostnet_config::Plan;
use hostnet_model::core::Worker;
use hostnet_model::flow::Rank;
use hostnet_model::os::{CoreTimeKind, NetStack};
use hostnet_model::params::Traffic;
use hostnet_model::transport::roce::RoceCounters;
use hostnet_sim::{Report, Run};
use serde_json::Value;

const PS: u64 = 1_000_000;
/// Size of the IP, UDP and RoCE headers and what Ethernet adds on the wire, in bytes; `FRAME_MIN` is the minimum
/// frame.
const HEADERS: u64 = 44 + 38;
const FRAME_MIN: u64 = 84;
/// Size of an acknowledgement on the wire, in bytes.
const ACKNOWLEDGEMENT: u64 = 44 + 4 + 38;
/// Maximum data of a packet, in bytes.
const DATA: u64 = 4096;
/// Start of jobs, in ps.
const START_PS: u64 = 3 * PS;
const PFC: &str = "switch.pfc = { xoff = \"100 kB\", xon = \"60 kB\" }\n";

/// Returns a cluster of endpoints at a switch with cables of 10 Gbps, and a job of all of them.
fn text(hosts: u32, network: &str, transport: &str, job: &str) -> String {
    format!(
        "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"4200 B\"\nswitch.latency = \"700 ns\"\n{network}\
         [transport.t]\nbase = \"roce\"\n{transport}\n\
         [job.j]\nhosts = \"h\"\nstart = \"3 us\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    )
}

fn job(hosts: u32, network: &str, transport: &str, job: &str) -> Plan {
    plan(&text(hosts, network, transport, job))
}

/// Returns the time of a packet on a cable, in ps.
fn wire_ps(data: u64) -> u64 {
    (data + HEADERS).max(FRAME_MIN) * 800
}

/// Returns the latency of a message of one packet between two ranks, in ps.
fn way_ps(bytes: u64) -> u64 {
    2 * 3 * PS + 2 * (wire_ps(bytes) + 2 * PS) + 700_000
}

/// Returns the latency of a message of several consecutive packets between two ranks, in ps.
fn train_ps(bytes: u64) -> f64 {
    let wire = (bytes + bytes.div_ceil(DATA) * HEADERS) * 800;
    (way_ps(DATA) + wire - wire_ps(DATA)) as f64
}

/// Returns the row of the job, and its duration in ps.
fn took((report, _): &(Report, Run)) -> (&Value, u64) {
    let row = &report.summary["jobs"][0];
    assert_eq!(row["unfinished_ranks"].as_u64(), Some(0));
    (row, (row["done_us"].as_f64().expect("it is done") * 1e6).round() as u64 - START_PS)
}

fn took_ps(plan: &Plan) -> u64 {
    took(&finished(plan)).1
}

#[test]
fn small_collectives_take_as_many_messages_after_each_other_as_they_have_rounds() {
    // The next message leaves behind the acknowledgement of the last one received. At the switch, the acknowledgement
    // of another rank is ahead of a message of one byte, which is shorter.
    let next = ACKNOWLEDGEMENT * 800;
    let after = next + (next - wire_ps(1));
    for rounds in 1..=3_u64 {
        let (hosts, later) = (1 << rounds, rounds - 1);
        let barrier = took_ps(&job(hosts, "", "", "kind = \"barrier\""));
        assert_eq!(barrier, rounds * way_ps(1) + later * after, "barrier of {hosts}");
        let broadcast = took_ps(&job(hosts, "", "", "kind = \"broadcast\"\nbytes = \"500 B\""));
        assert_eq!(broadcast, rounds * way_ps(500) + later * next, "broadcast to {hosts}");
    }
}

#[test]
fn large_collectives_take_what_their_bytes_need() {
    let bytes = 4_000_000_u64;
    for hosts in [3_u64, 8] {
        let of = |kind: &str| took_ps(&job(hosts as u32, PFC, "", &format!("kind = \"{kind}\"\nbytes = \"4 MB\"")));
        let ring = 2.0 * (hosts - 1) as f64 * train_ps(bytes / hosts);
        assert_within(of("allreduce"), ring, &format!("allreduce of {hosts}"));
        assert_within(of("allgather"), (hosts - 1) as f64 * train_ps(bytes), &format!("allgather of {hosts}"));
    }
    // All data of the workers arrive over the cable of the aggregator, and all results leave over it.
    let sum = "kind = \"allreduce\"\nalgorithm = \"aggregator\"\naggregator = \"sum\"\nbytes = \"4 MB\"\n\
               [host.sum]\nkind = \"endpoint\"\nlatency = \"3 us\"";
    assert_within(took_ps(&job(4, PFC, "", sum)), 2.0 * train_ps(4 * bytes), "aggregator of 4");
}

#[test]
fn a_sender_goes_on_when_its_messages_have_room() {
    let program = "kind = \"program\"\nranks = 2\nsteps = [{ rank = 0, name = \"post\", to = 1, send = \"1 MB\" },\
                   { rank = 1, from = 0, receive = \"1 MB\" }]";
    let posted_us = |transport: &str| {
        let (report, _) = finished(&job(2, "", transport, program));
        report.summary["steps"][0]["mean_us"].as_f64().expect("it was taken")
    };
    assert_eq!(posted_us(""), 0.0);
    // All but the last message have been acknowledged by then: 64 of 100 kB have room in steps of 10 kB.
    let waited = posted_us("message = \"10 kB\"\nin_flight = 64");
    let law = (train_ps(360_000) + (2 * 5 * PS + 700_000) as f64) / 1e6;
    assert!((waited / law - 1.0).abs() < 0.02, "{waited} {law}");
}

/// Returns the sum of the counters of all flow ends.
fn counted(run: &mut Run) -> RoceCounters {
    let ends = fabric(run.simulation()).endpoints().flat_map(|endpoint| endpoint.ends());
    ends.filter_map(|end| end.memory()).fold(RoceCounters::default(), |sum, end| {
        let own = end.counters();
        RoceCounters {
            bytes_sent: sum.bytes_sent + own.bytes_sent,
            bytes_received: sum.bytes_received + own.bytes_received,
            packets_retransmitted: sum.packets_retransmitted + own.packets_retransmitted,
            notifications_sent: sum.notifications_sent + own.notifications_sent,
            ..sum
        }
    })
}

#[test]
fn lost_packets_are_retransmitted_and_no_byte_arrives_twice() {
    let tree = "kind = \"allreduce\"\nalgorithm = \"tree\"\nbytes = \"200 kB\"\niterations = 2";
    let sum = "kind = \"allreduce\"\nalgorithm = \"aggregator\"\nbytes = \"500 kB\"\nsum = \"10 GB/s\"";
    let lossy = "switch.buffer = \"60 kB\"\n";
    for of in [tree, sum] {
        let plan = job(6, lossy, "timeout = \"1 ms\"", of);
        let (report, mut run) = finished(&plan);
        assert_books(&mut run);
        let counts = counted(&mut run);
        assert!(counts.packets_retransmitted > 0, "nothing was lost");
        let sent = report.summary["jobs"][0]["bytes"].as_u64().expect("a count");
        assert_eq!((counts.bytes_sent, counts.bytes_received), (sent, sent));
        let paused = job(6, PFC, "timeout = \"1 ms\"", of);
        let (with_pauses, mut run) = finished(&paused);
        assert_books(&mut run);
        let counts = counted(&mut run);
        assert_eq!((counts.packets_retransmitted, counts.bytes_received), (0, sent));
        let pauses = with_pauses.summary["queues"].as_array().expect("a table").iter();
        assert!(pauses.filter_map(|row| row["paused_share"].as_f64()).any(|share| share > 0.0), "nobody paused");
    }
}

#[test]
fn dcqcn_keeps_queues_of_ranks_short_where_switches_mark() {
    let at = |base: &str| {
        let marks = format!("switch.ecn = \"20 packets\"\n{PFC}");
        let text = text(5, &marks, "", "kind = \"allreduce\"\nalgorithm = \"aggregator\"\nbytes = \"8 MB\"");
        let (report, mut run) = finished(&plan(&text.replace("\"roce\"", &format!("\"{base}\""))));
        assert_books(&mut run);
        let queues = report.summary["queues"].as_array().expect("a table").iter();
        let paused = queues.filter_map(|row| row["paused_share"].as_f64()).fold(0.0, f64::max);
        let limit = report.summary["limits"][0]["limit"].as_str().expect("a limit").to_owned();
        (counted(&mut run).notifications_sent, paused, limit)
    };
    let ((none, paused, waits), (some, less, slows)) = (at("roce"), at("dcqcn"));
    // The cables of the job are full while messages are in flight; without DCQCN nothing reacts to marks.
    assert_eq!([waits, slows], ["cable", "cable"]);
    assert!(none == 0 && some > 0 && less < 0.5 * paused, "{some} notifications, paused {paused} and {less}");
}

#[test]
fn bytes_on_their_way_are_between_those_sent_and_those_received() {
    let plan = job(4, "switch.buffer = \"60 kB\"\n", "timeout = \"1 ms\"", "kind = \"alltoall\"\nbytes = \"100 kB\"");
    let mut simulation = hostnet_sim::build::world(&plan.cluster);
    for step in 1..60 {
        simulation.run_until(hostnet_kernel::Time::from_ps(step * 40 * PS), |_| true);
        let ends = fabric(&simulation).endpoints().flat_map(|endpoint| endpoint.ends());
        let counts: Vec<_> = ends.filter_map(|end| Some(*end.memory()?.counters())).collect();
        let came: u64 = counts.iter().map(|end| end.bytes_received).sum();
        let ranks = ranks(&simulation);
        let (all, waiting) = (stats(&ranks), ranks.iter().map(|rank| rank.unreceived_bytes()).sum::<u64>());
        assert_eq!(came, all.received_bytes + waiting);
        assert!(counts.iter().map(|end| end.bytes_sent).sum::<u64>() >= came);
    }
    drain(&mut simulation);
    assert!(ranks(&simulation).iter().all(|rank| rank.done_at().is_some()));
    assert!(plan.cluster.flows.iter().all(|flow| matches!(flow.traffic, Traffic::Messages(_)) && flow.priority == 3));
}

#[test]
fn a_cable_limit_of_a_job_is_reported_and_a_faster_cable_helps() {
    let ring = "kind = \"allreduce\"\nbytes = \"16 MB\"\ncompute = \"COMPUTE\"";
    let at = |rate: &str, compute: &str| {
        let text = text(4, "", "", ring).replace("10 Gbps", rate).replace("COMPUTE", compute);
        let found = finished(&plan(&text));
        (found.0.summary["limits"][0]["limit"].as_str().expect("a limit").to_owned(), took(&found).1 as f64)
    };
    let ((limit, took), (_, twice)) = (at("10 Gbps", "0 us"), at("20 Gbps", "0 us"));
    assert_eq!(limit, "cable");
    assert!(twice < 0.52 * took, "{took} {twice}");
    // With as much to compute, a cable of twice the rate helps by less than a factor of two, and no cable is full.
    let ((limit, took), (_, twice)) = (at("10 Gbps", "20 ms"), at("20 Gbps", "20 ms"));
    assert_eq!(limit, "compute");
    assert!(twice > 0.6 * took && twice < 0.9 * took, "{took} {twice}");
}

#[test]
fn jobs_over_roce_and_over_tcp_and_flows_share_a_network() {
    let beside = "kind = \"allreduce\"\nbytes = \"1 MB\"\niterations = 3\n\
                  [job.k]\nkind = \"alltoall\"\nhosts = \"h\"\nbytes = \"300 kB\"\n\
                  [flow.write]\nkind = \"write\"\nfrom = \"h-0\"\nto = \"h-2\"\nbytes = \"3 MB\"\n\
                  [flow.bulk]\nkind = \"bulk\"\nfrom = \"h-1\"\nto = \"h-2\"";
    let plan = job(4, &format!("switch.ecn = \"20 packets\"\n{PFC}"), "", beside);
    let (report, run) = finished(&plan);
    let all = ranks(run.simulation());
    assert!(all.len() == 8 && all.iter().all(|rank| rank.done_at().is_some() && rank.unreceived_bytes() == 0));
    let goodput = |class: &str| {
        let rows = report.summary["classes"].as_array().expect("a table");
        rows.iter().find(|row| row["class"] == class).and_then(|row| row["goodput_gbps"].as_f64())
    };
    for class in ["j", "k", "write", "bulk"] {
        assert!(goodput(class) > Some(0.1), "{class}: {:?}", goodput(class));
    }
}

/// Returns a plan of servers of eight cores at a switch with cables of 10 Gbps, and a job of all of them.
fn at_servers(hosts: u32, network: &str, job: &str) -> Plan {
    plan(&format!(
        "[host.box]\npreset = \"mcn-scaleup-8\"\ncount = {hosts}\n[network]\nrate = \"10 Gbps\"\nlatency = \"1 us\"\n\
         mtu = \"4200 B\"\n{network}[transport.t]\nbase = \"roce\"\ntimeout = \"1 ms\"\n\
         [job.j]\nhosts = \"box\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

/// Returns the data that the NICs of servers wrote and read, and the frames that they dropped, at the end.
fn of_nics(run: &Run) -> [u64; 3] {
    servers(run.simulation()).into_iter().map(nic).fold([0; 3], |[written, read, dropped], nic| {
        let own = nic.counters();
        let lost = nic.flows().iter().map(|flow| flow.dropped_in_all().packets).sum::<u64>();
        [written + own.written_bytes, read + own.read_bytes, dropped + lost]
    })
}

fn at_cores(run: &Run) -> Vec<&Rank> {
    servers(run.simulation()).into_iter().flat_map(|machine| machine.engines::<Worker>()).map(Worker::rank).collect()
}

#[test]
fn nics_move_what_ranks_of_servers_send_at_the_rate_of_the_cable_without_their_cores() {
    let (hosts, bytes) = (4_u64, 4_000_000_u64);
    let plan = at_servers(hosts as u32, "", "kind = \"allreduce\"\nbytes = \"4 MB\"");
    let found = finished(&plan);
    let (took_ps, run) = (took(&found).1 + START_PS, &found.1);
    let part = bytes / hosts;
    // Beside cables and switch, a message passes two NICs, PCIe and memory.
    let wire = (2.0 * (hosts - 1) as f64) * ((part + part.div_ceil(DATA) * HEADERS) * 800) as f64;
    let each = (took_ps as f64 - wire) / (2 * (hosts - 1)) as f64 / PS as f64;
    assert!(each > 2.0 && each < 12.0, "{each} us beside {wire} ps");
    let sent = 2 * (hosts - 1) * bytes;
    assert_eq!(of_nics(run), [sent, sent, 0]);
    assert_eq!(found.0.summary["limits"][0]["limit"], "cable");
    let now = run.simulation().progress().time;
    let stacks = servers(run.simulation()).into_iter().flat_map(|machine| machine.engines::<NetStack>());
    let busy = |stack: &NetStack| {
        let spent =
            [CoreTimeKind::Softirq, CoreTimeKind::Call, CoreTimeKind::Copy, CoreTimeKind::Stalled, CoreTimeKind::Send];
        spent.map(|spent| stack.times().spent_ps(spent, now)).iter().sum::<u64>()
    };
    assert_eq!(stacks.map(busy).sum::<u64>(), 0, "no core works for the network");
}

#[test]
fn packets_lost_by_server_nics_still_arrive_once() {
    let sum = "kind = \"allreduce\"\nalgorithm = \"aggregator\"\nbytes = \"300 kB\"\nsum = \"10 GB/s\"";
    let plan = at_servers(4, "switch.buffer = \"40 kB\"\n", sum);
    let (report, run) = finished(&plan);
    let sent = report.summary["jobs"][0]["bytes"].as_u64().expect("a count");
    let counts: Vec<RoceCounters> = servers(run.simulation())
        .into_iter()
        .flat_map(|machine| nic(machine).rdma())
        .map(|end| *end.connection.counters())
        .collect();
    let sum = |of: fn(&RoceCounters) -> u64| counts.iter().map(of).sum::<u64>();
    assert_eq!([sum(|end| end.bytes_sent), sum(|end| end.bytes_received)], [sent, sent]);
    assert!(sum(|end| end.packets_retransmitted) > 0, "nothing was lost");
    let ranks = at_cores(&run);
    assert!(ranks.iter().all(|rank| rank.done_at().is_some() && rank.unreceived_bytes() == 0));
    assert_eq!(stats(&ranks).received_bytes, sent);
}
