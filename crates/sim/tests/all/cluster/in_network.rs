//! Tests in-network reduction by switches: closed forms, conservation, and equal results however it is run.

use crate::cluster::lab::{drain, fabric, plan};
use crate::cluster::ranks::assert_same_however_run;
use crate::cluster::stats::assert_conserved;
use crate::common::laws::cases;
use hostnet_config::Plan;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::flow::{PhaseStats, Rank, Reducer};
use hostnet_model::World;
use hostnet_sim::{Options, Report, Run};
use proptest::prelude::*;
use proptest::sample::select;

const PS: u64 = 1_000_000;
const HEADERS: u64 = 52 + 38;
const MTU: u64 = 9000;
const BYTES: u64 = 4_000_000;

/// Returns a plan of endpoints `h` at a switch that sums up, or in a topology of such switches, with cables of 10
/// Gbps, and a job of `h`.
fn job(hosts: u32, network: &str, job: &str) -> Plan {
    plan(&format!(
        "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
         [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"{MTU} B\"\nswitch.latency = \"700 ns\"\n\
         switch.buffer = \"1 GB\"\n{network}\n\
         [transport.t]\nbase = \"reno\"\necn = false\ninitial_window = 10000\nreceive_buffer = \"64 MB\"\n\
         [job.j]\nkind = \"allreduce\"\nhosts = \"h\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

const LARGE: &str = "algorithm = \"in-network\"\nbytes = \"4 MB\"";
const SMALL: &str = "algorithm = \"in-network\"\nbytes = \"1 kB\"";

fn ranks(simulation: &Simulation<World>) -> Vec<&Rank> {
    fabric(simulation).endpoints().flat_map(|endpoint| endpoint.ranks()).collect()
}

fn reducers(simulation: &Simulation<World>) -> Vec<&Reducer> {
    fabric(simulation).endpoints().flat_map(|endpoint| endpoint.reducers()).collect()
}

/// Returns the duration of a run in ps, and its report. Each switch that summed up must have made `sums` bytes of
/// sums.
fn took(plan: &Plan, sums: u64) -> (f64, Report) {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    assert_books(&mut run, sums);
    let report = run.report();
    let done_us = report.summary["jobs"][0]["done_us"].as_f64().expect("it is done");
    (done_us * 1e6, report)
}

/// Asserts that the ranks got back the sum of what they sent, that every switch of the tree contributed, and that
/// nothing is left.
fn assert_books(run: &mut Run, sums: u64) {
    let planned: usize = run.plan().cluster.jobs.iter().map(|job| job.reducers.len()).sum();
    let simulation = run.simulation();
    let stats = ranks(simulation).into_iter().flat_map(|rank| {
        assert_eq!(rank.unreceived_bytes(), 0);
        rank.phases()
    });
    let all = stats.fold(PhaseStats::default(), |sum, stats| sum.plus(stats));
    assert_eq!(all.bytes, all.received_bytes);
    let reducers = reducers(simulation);
    assert_eq!(reducers.len(), planned);
    for reducer in reducers {
        assert_eq!((reducer.summed_bytes(), reducer.waiting_bytes()), (sums, 0), "{:?}", reducer.number());
    }
}

/// Returns the time of the packets of so many bytes on a cable, in ps.
fn wire_ps(bytes: u64) -> f64 {
    ((bytes + bytes.div_ceil(MTU - 52) * HEADERS) * 800) as f64
}

/// Returns the latency of a vector up and down through `levels` levels of switches, in ps: the whole vector once, and
/// its last packet on each further cable. Each switch passes packets to its engine and from it.
fn way_ps(bytes: u64, levels: u64) -> f64 {
    let passed = 2 * levels - 1;
    let last = wire_ps(bytes.min(MTU - 52));
    wire_ps(bytes) + passed as f64 * last + (2 * 3 * PS + 2 * levels * 2 * PS + 2 * passed * 700_000) as f64
}

fn assert_within(found_ps: f64, law_ps: f64, what: &str) {
    let off = found_ps / law_ps - 1.0;
    assert!(off.abs() < 0.01, "{what}: {found_ps} ps for {law_ps}, {:.2} % off", off * 100.0);
}

const QUICK: &str = "switch.sum = \"10 TB/s\"";
const TWO_LEVELS: &str = "topology = \"two-tier\"\nleaves = 3\ncore.rate = \"10 Gbps\"\nswitch.sum = \"10 TB/s\"";

#[test]
fn a_sum_takes_the_time_of_one_vector_whatever_the_number_of_ranks() {
    for hosts in [2, 3, 8] {
        assert_within(took(&job(hosts, QUICK, LARGE), BYTES).0, way_ps(BYTES, 1), &format!("{hosts} ranks"));
        assert_within(took(&job(hosts, QUICK, SMALL), 1000).0, way_ps(1000, 1), &format!("{hosts} ranks, small"));
    }
    let (found, report) = took(&job(6, TWO_LEVELS, LARGE), BYTES);
    assert_within(found, way_ps(BYTES, 2), "two levels");
    assert_within(took(&job(6, TWO_LEVELS, SMALL), 1000).0, way_ps(1000, 2), "two levels, small");
    let rows = report.summary["sums"].as_array().expect("a table");
    let of = |row: &serde_json::Value| (row["switch"].clone(), row["inputs"].clone(), row["bytes"].clone());
    let expected = ["leaf-0", "leaf-1", "leaf-2", "root"].map(|name| {
        let inputs = if name == "root" { 3 } else { 2 };
        (name.into(), inputs.into(), BYTES.into())
    });
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(report.summary["limits"][0]["limit"], "cable", "{}", report.summary["limits"][0]);
    assert!(!report.summary["queues"].to_string().contains(" sum"), "ways within switches are no cables");
    let jobs = &report.summary["jobs"][0];
    assert_eq!((jobs["ranks"].as_u64(), jobs["messages"].as_u64()), (Some(6), Some(6)), "switches are no ranks");
}

#[test]
fn of_levels_of_a_fat_tree_only_those_where_vectors_meet_sum_up() {
    let fat =
        |hosts: u32, job_text: &str| job(hosts, "topology = \"fat-tree\"\nk = 4\nswitch.sum = \"10 TB/s\"", job_text);
    assert_within(took(&fat(16, LARGE), BYTES).0, way_ps(BYTES, 3), "all hosts of a fat tree");
    // Two hosts are at one edge switch, four in one pod.
    assert_within(took(&fat(2, LARGE), BYTES).0, way_ps(BYTES, 1), "one edge switch");
    let (found, report) = took(&fat(4, LARGE), BYTES);
    assert_within(found, way_ps(BYTES, 2), "one pod");
    assert_eq!(report.summary["sums"][2]["switch"], "aggregation-0-0");
    // If only the root has an engine, all vectors of a leaf share its cable upward.
    let spines = "topology = \"two-tier\"\nleaves = 2\ncore.rate = \"10 Gbps\"\n[switch.root]\nsum = \"10 TB/s\"";
    let (found, report) = took(&job(6, spines, LARGE), BYTES);
    assert_within(found, way_ps(3 * BYTES, 2), "leaves without engines");
    assert_eq!(report.summary["sums"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_engine_that_is_slower_than_cables_is_the_limit_and_a_quicker_one_helps() {
    let with = |rate: &str| took(&job(4, &format!("switch.sum = \"{rate}\""), LARGE), BYTES);
    let law = |gbps: f64| BYTES as f64 * 8e3 / gbps + way_ps(MTU - 52, 1);
    let mut last = f64::INFINITY;
    for (rate, gbps) in [("2 Gbps", 2.0), ("4 Gbps", 4.0), ("8 Gbps", 8.0)] {
        let (found, report) = with(rate);
        assert_within(found, law(gbps), rate);
        let limit = &report.summary["limits"][0];
        assert_eq!((limit["limit"].as_str(), limit["place"].as_str()), (Some("switch sums"), Some("tor")), "{limit}");
        assert!(report.summary["sums"][0]["load"].as_f64().expect("a load") > 0.97);
        assert!(found < 0.55 * last, "twice the rate is twice as quick");
        last = found;
    }
    assert_eq!(with("40 Gbps").1.summary["limits"][0]["limit"], "cable");
    // At the rate of the cables the engine has as much work as the cables, and a faster one hardly helps.
    for bytes in [100_000, BYTES] {
        let text = format!("algorithm = \"in-network\"\nbytes = \"{bytes} B\"");
        let with = |rate: &str| took(&job(4, &format!("switch.sum = \"{rate}\""), &text), bytes);
        let ((same, report), (quicker, _)) = (with("10 Gbps"), with("20 Gbps"));
        assert!(same < 1.05 * quicker, "{same} {quicker}");
        assert_ne!(report.summary["limits"][0]["limit"], "switch sums");
    }
}

#[test]
fn switches_beat_the_ring_and_the_ring_one_that_sums_up_alone() {
    let of = |algorithm: &str, bytes: &str| {
        let text = format!("algorithm = \"{algorithm}\"\nbytes = \"{bytes}\"");
        let plan = job(8, "switch.sum = \"100 Gbps\"", &text);
        let mut run = Run::new(&plan, Options::default());
        assert_eq!(run.run(|_| true), Ok(true));
        run.report().summary["jobs"][0]["done_us"].as_f64().expect("it is done")
    };
    let [switches, ring, aggregator] = ["in-network", "ring", "aggregator"].map(|algorithm| of(algorithm, "4 MB"));
    assert!(1.7 * switches < ring && ring < aggregator, "{switches} {ring} {aggregator}");
    let [switches, doubling, ring] = ["in-network", "recursive-doubling", "ring"].map(|name| of(name, "100 B"));
    assert!(2.5 * switches < doubling && doubling < ring, "{switches} {doubling} {ring}");
}

#[test]
fn ranks_of_a_host_sum_up_before_and_buckets_are_exchanged_one_after_the_other() {
    let local = "ranks_per_host = 3\nsum = \"1 GB/s\"\ncopy_rate = \"2 GB/s\"\ncopy_latency = \"0 ns\"\n";
    let (found, report) = took(&job(4, QUICK, &format!("{local}{LARGE}")), BYTES);
    // Two ranks copy to the first at the same time. The first adds one after the other, and copies back to one after
    // the other.
    assert_within(found, way_ps(BYTES, 1) + 2e9 + 2.0 * 4e9 + 2.0 * 2e9, "three ranks at each host");
    let steps = report.summary["steps"].as_array().expect("a table");
    let count = |name: &str| steps.iter().find(|row| row["step"] == name).and_then(|row| row["count"].as_u64());
    assert_eq!((count("in-network"), count("sum")), (Some(4), Some(8)));
    let parts = "compute = { forward = \"5 ms\", backward = \"40 ms\", copy = \"400 us\", update = \"3 ms\" }\n\
                 bucket = \"1 MB\"\niterations = 3\n";
    let (found, _) = took(&job(4, QUICK, &format!("{parts}{LARGE}")), 3 * BYTES);
    assert_within(found, 3.0 * (48.1e9 + way_ps(BYTES / 4, 1)), "four buckets");
    // A single rank has nothing to exchange.
    let alone = format!("ranks = 1\nstart = \"1 us\"\ncompute = \"7 us\"\n{LARGE}");
    assert_eq!(took(&job(2, QUICK, &alone), BYTES).0, 8e6);
}

#[test]
fn jobs_share_the_engine_of_a_switch() {
    let other = format!("{LARGE}\n[job.k]\nkind = \"allreduce\"\nhosts = \"h\"\ntransport = \"t\"\n{LARGE}");
    let (_, report) = took(&job(2, "switch.sum = \"2 Gbps\"", &other), BYTES);
    let done = [0, 1].map(|row| report.summary["jobs"][row]["done_us"].as_f64().expect("it is done") * 1e6);
    assert_within(done[0].max(done[1]), 2.0 * BYTES as f64 * 4e3, "two jobs");
    assert!(done.iter().all(|&done| done > 0.97 * 2.0 * BYTES as f64 * 4e3), "{done:?}");
    let loads = [0, 1].map(|row| report.summary["sums"][row]["load"].as_f64().expect("a load"));
    assert!(loads.iter().all(|load| (0.48..0.51).contains(load)), "{loads:?}");
    assert_eq!(report.summary["limits"][1]["limit"], "switch sums");
}

#[test]
fn ranks_on_servers_have_their_vectors_summed_up_by_switches() {
    let text = "[host.node]\npreset = \"mcn-scaleup-8\"\ncount = 2\n[host.e]\nkind = \"endpoint\"\n\
                [network]\nrate = \"10 Gbps\"\nswitch.sum = \"100 Gbps\"\n\
                [job.j]\nkind = \"allreduce\"\nalgorithm = \"in-network\"\nhosts = [\"node\", \"e\"]\n\
                ranks_per_host = [2, 1]\nbytes = \"100 kB\"\niterations = 2\n[run]\nuntil = \"jobs\"\n";
    let (found, report) = took(&plan(text), 2 * 100_000);
    // Longer than the cables take: cores copy the vectors, line by line.
    assert!((2.0..8.0).contains(&(found / (2.0 * 100_000.0 * 800.0))), "{found}");
    assert_eq!(report.summary["jobs"][0]["hosts"], 3);
    assert_eq!(report.summary["sums"][0]["inputs"], 3);
}

#[test]
fn bytes_on_their_way_are_in_connections_or_wait_in_switches() {
    let text = "algorithm = \"in-network\"\nbytes = \"300 kB\"\niterations = 3";
    let plan = job(6, "topology = \"two-tier\"\nleaves = 2\nswitch.sum = \"3 Gbps\"", text);
    let mut simulation = hostnet_sim::build::world(&plan.cluster);
    for step in 1..60 {
        simulation.run_until(Time::from_ps(step * 60 * PS), |_| true);
        let read: u64 =
            crate::cluster::stats::streams(&simulation).iter().map(|end| end.application.received_bytes()).sum();
        let ranks = ranks(&simulation);
        let received = ranks.iter().flat_map(|rank| rank.phases()).map(|stats| stats.received_bytes).sum::<u64>();
        let unreceived = ranks.iter().map(|rank| rank.unreceived_bytes()).sum::<u64>();
        // Bytes that a switch has summed up came in at each of its inputs; sums from above were passed down at once.
        let all = reducers(&simulation);
        let summed: u64 = all.iter().map(|reducer| reducer.summed_bytes() * reducer.inputs() as u64).sum();
        assert!(received + unreceived + summed <= read, "more than has come");
        let most: u64 = all.iter().map(|reducer| reducer.summed_bytes()).max().unwrap_or(0);
        assert!(received + unreceived <= 6 * most, "no sum before it is made");
    }
    drain(&mut simulation);
    assert!(ranks(&simulation).iter().all(|rank| rank.done_at().is_some()));
    assert_conserved(&simulation, plan.cluster.flows.len());
}

/// Generates a network with some switches that sum up, and a job; and the bytes that each of these switches sums up.
fn any_job() -> impl Strategy<Value = (String, u64)> {
    let networks = select(vec![
        ("", "sum"),
        ("topology = \"two-tier\"\nleaves = 2\n", "sum"),
        ("topology = \"leaf-spine\"\nleaves = 3\nspines = 2\n", "sum"),
        ("topology = \"leaf-spine\"\nleaves = 3\nspines = 2\n", "spine"),
        ("topology = \"leaf-spine\"\nleaves = 3\nspines = 2\n", "leaf"),
        ("topology = \"fat-tree\"\nk = 4\n", "sum"),
        ("topology = \"fat-tree\"\nk = 4\n", "core"),
        ("topology = \"ring\"\nsize = 5\n", "sum"),
        ("topology = \"mesh\"\nsize = [2, 3]\n", "sum"),
        ("topology = \"dragonfly\"\nh = 1\np = 2\n", "sum"),
    ]);
    let rates = select(vec!["400 Mbps", "9 Gbps", "10 TB/s"]);
    let forms = select(vec![
        "",
        "ranks_per_host = 2\n",
        "ranks = 5\n",
        "socket_rate = \"4 Gbps\"\n",
        "bucket = \"7 kB\"\n",
        "sum = \"1 GB/s\"\nbucket = \"20 kB\"\n\
         compute = { forward = \"9 us\", backward = \"70 us\", update = \"3 us\" }\n",
    ]);
    let beside = select(vec!["", "[flow.beside]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-3\"\n"]);
    (networks, rates, forms, beside, 4_u32..8, 1_u64..60_000, 1_u64..4).prop_map(
        |((network, with), rate, form, beside, hosts, bytes, iterations)| {
            let (all, some) = match with {
                "sum" => (format!("switch.sum = \"{rate}\"\n"), String::new()),
                kind => (String::new(), format!("[switch.{kind}]\nsum = \"{rate}\"\n")),
            };
            let text = format!(
                "[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n\
                 [network]\nrate = \"10 Gbps\"\nswitch.ecn = \"20 packets\"\n{network}{all}{some}{beside}\
                 [job.j]\nkind = \"allreduce\"\nalgorithm = \"in-network\"\nhosts = \"e\"\nbytes = \"{bytes} B\"\n\
                 iterations = {iterations}\n{form}[run]\nuntil = \"jobs\"\n"
            );
            (text, bytes * iterations)
        },
    )
}

proptest! {
    #![proptest_config(cases(5))]

    #[test]
    fn sums_come_to_their_end_and_find_the_same_however_they_are_run(
        (text, sums) in any_job(),
        threads in 2_usize..4,
        processes in 1_usize..4,
        part in 0.05..0.95,
    ) {
        let plan = plan(&text);
        let mut run = Run::new(&plan, Options::default());
        prop_assert_eq!(run.run(|_| true), Ok(true));
        let report = run.report();
        prop_assert_eq!(report.summary["jobs"][0]["unfinished_ranks"].as_u64(), Some(0));
        assert_books(&mut run, sums);
        let checkpoint_at_ps = ((run.simulated_ps() as f64 * part) as u64).max(1);
        assert_same_however_run(&plan, &report, threads, processes, checkpoint_at_ps);
    }
}
