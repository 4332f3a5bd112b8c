//! Tests jobs of ranks on cores of servers: closed forms, consistent statistics, and planted limits.

use crate::cluster::lab::{plan, servers};
use hostnet_config::Plan;
use hostnet_model::core::Worker;
use hostnet_model::flow::{PhaseStats, Rank};
use hostnet_sim::{Epoch, Options, Report, Run};
use proptest::prelude::*;
use serde_json::Value;

/// Time of an instruction at 3.4 GHz, in ps.
const INSTRUCTION_PS: f64 = 1000.0 / 3.4;
/// Latency of the notice of a message through memory, in ps.
const NOTICE_PS: u64 = 500_000;

/// Returns a plan of a job on a single server of eight cores.
fn job(job: &str) -> Plan {
    plan(&format!("[host.box]\npreset = \"mcn-scaleup-8\"\n[job.j]\nhosts = \"box\"\n{job}\n[run]\nuntil = \"jobs\"\n"))
}

/// Returns a plan of a job on `hosts` servers of eight cores, at a switch.
fn jobs(hosts: u32, job: &str) -> Plan {
    plan(&format!(
        "[host.box]\npreset = \"mcn-scaleup-8\"\ncount = {hosts}\n[network]\nrate = \"10 Gbps\"\nlatency = \"1 us\"\n\
         [job.j]\nhosts = \"box\"\n{job}\n[run]\nuntil = \"jobs\"\n"
    ))
}

fn finished(plan: &Plan) -> (Report, Run) {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    (run.report(), run)
}

/// Returns the row of the job.
fn row(report: &Report) -> &Value {
    let row = &report.summary["jobs"][0];
    assert_eq!(row["unfinished_ranks"].as_u64(), Some(0));
    row
}

fn took_ps(plan: &Plan) -> f64 {
    row(&finished(plan).0)["done_us"].as_f64().expect("it is done") * 1e6
}

fn ranks(run: &Run) -> Vec<&Rank> {
    servers(run.simulation()).into_iter().flat_map(|machine| machine.engines::<Worker>()).map(Worker::rank).collect()
}

/// Returns a program of ranks that all take one step.
fn alone(ranks: u32, step: &str) -> Plan {
    job(&format!("kind = \"program\"\nranks = {ranks}\nsteps = [{{ name = \"work\", {step} }}]"))
}

fn assert_within(found: f64, law: f64, share: f64, what: &str) {
    assert!((found / law - 1.0).abs() < share, "{what}: {found:.0} for {law:.0}");
}

#[test]
fn instructions_take_as_long_as_the_clock_says() {
    for (instructions, ipc) in [(1_000_000_u64, 1.0), (12_345_678, 1.0), (4_000_000, 2.0)] {
        let plan = job(&format!(
            "kind = \"program\"\nranks = 8\nipc = {ipc:.1}\nsteps = [{{ instructions = {instructions} }}]"
        ));
        assert_within(took_ps(&plan), instructions as f64 * INSTRUCTION_PS / ipc, 0.002, "instructions");
    }
    assert_within(took_ps(&alone(2, "compute = \"3 ms\"")), 3e9, 0.001, "time");
}

#[test]
fn lines_of_a_core_alone_take_their_latency_by_the_entries_of_its_lfb() {
    let lines = 1 << 16;
    let (report, run) = finished(&alone(1, &format!("reads = \"{} B\"", lines * 64)));
    let took = row(&report)["done_us"].as_f64().expect("it is done") * 1e6;
    let now = run.simulation().progress().time;
    let machine = servers(run.simulation())[0];
    let lfb = machine.each::<hostnet_model::core::Core>().next().expect("it has cores").lfb();
    let held = lfb.area_ps() as f64;
    assert!(now.ps() > 0);
    // All six entries are always held, apart from the refill of 1 ns after each.
    let law = (held + f64::from(lines) * 1000.0) / 6.0;
    assert_within(took, law, 0.03, "lines");
}

#[test]
fn all_cores_together_get_what_the_channels_or_the_buffer_of_the_cha_give() {
    let each = 4 << 20;
    let took = took_ps(&alone(8, &format!("reads = \"{each} B\"")));
    let gb_per_s = 8.0 * f64::from(each) / took * 1000.0;
    // Two channels of 25.6 GB/s.
    assert!(gb_per_s < 51.2 && gb_per_s > 15.0, "{gb_per_s}");
    let one = took_ps(&alone(1, &format!("reads = \"{each} B\"")));
    assert!(took > one, "{took} {one}");
}

#[test]
fn a_working_set_that_caches_hold_is_read_once_from_memory() {
    let reuse = |set: &str| finished(&alone(1, &format!("reads = \"8 MiB\", working_set = \"{set}\""))).0;
    let read = |report: &Report| {
        row(report)["memory_gb_per_s"].as_f64().unwrap_or(0.0) * row(report)["done_us"].as_f64().unwrap_or(0.0) * 1e3
    };
    let (small, large) = (read(&reuse("128 KiB")), read(&reuse("8 MiB")));
    assert!(small < 0.03 * large, "{small} {large}");
}

#[test]
fn a_message_through_memory_takes_two_copies_and_a_notice() {
    let bytes = 64 * 256;
    let steps = format!(
        "steps = [{{ rank = 0, to = 1, send = \"{bytes} B\" }}, {{ rank = 1, from = 0, receive = \"{bytes} B\" }}]"
    );
    let (report, run) = finished(&job(&format!("kind = \"program\"\nranks = 2\niterations = 20\n{steps}")));
    let all = ranks(&run);
    let [sender, receiver] = [all[0].phases()[0], all[1].phases()[0]];
    // Sixteen instructions per line for loads and stores, with all lines in caches after the first copies.
    let copy = 256.0 * 16.0 * INSTRUCTION_PS;
    let sends = sender.time_ps as f64 / sender.steps as f64;
    assert!(sends > copy && sends < 6.0 * copy, "{sends} {copy}");
    let last = row(&report)["done_us"].as_f64().expect("it is done") * 1e6;
    assert!(last > sender.time_ps as f64 + copy + NOTICE_PS as f64);
    assert_eq!(receiver.received_bytes, sender.bytes);
}

#[test]
fn a_barrier_of_one_server_takes_log2_rounds() {
    let of = |ranks: u32| took_ps(&job(&format!("kind = \"barrier\"\nranks = {ranks}\niterations = 50"))) / 50.0;
    let round = of(2);
    assert!(round > NOTICE_PS as f64 && round < 1.4 * NOTICE_PS as f64, "{round}");
    for (ranks, rounds) in [(4, 2.0), (8, 3.0)] {
        assert_within(of(ranks), rounds * round, 0.05, "barrier");
    }
}

#[test]
fn books_of_steps_add_up_and_all_that_is_sent_is_received() {
    for hosts in [1, 2] {
        let (report, run) = finished(&jobs(hosts, "kind = \"npb-cg\"\nranks = 8\niterations = 1"));
        let done = row(&report)["done_us"].as_f64().expect("it is done");
        let mut all = PhaseStats::default();
        for rank in ranks(&run) {
            let stats = rank.phases().iter().fold(PhaseStats::default(), |sum, stats| sum.plus(stats));
            let end = rank.done_at().expect("it is done");
            assert_eq!(stats.time_ps, end.ps() - 1, "from its beginning to its end");
            assert!(stats.compute_ps <= stats.time_ps && end.ps() as f64 / 1e6 <= done + 1e-6);
            assert_eq!(rank.unreceived_bytes(), 0);
            all = all.plus(&stats);
        }
        assert_eq!(all.bytes, all.received_bytes);
        assert_eq!(row(&report)["bytes"].as_u64(), Some(all.bytes));
    }
}

#[test]
fn endpoints_and_servers_share_a_job() {
    for transport in ["dctcp", "dcqcn"] {
        let text = "[host.box]\npreset = \"mcn-scaleup-8\"\n[host.e]\nkind = \"endpoint\"\ncount = 2\n\
         [network]\nrate = \"10 Gbps\"\n\
         [job.j]\nkind = \"npb-mg\"\nhosts = [\"box\", \"e\"]\nranks = 8\niterations = 1\n\
         transport = \"dctcp\"\n[run]\nuntil = \"jobs\"\n";
        let (report, run) = finished(&plan(&text.replace("dctcp", transport)));
        assert_eq!(row(&report)["ranks"].as_u64(), Some(8));
        assert!(ranks(&run).len() < 8);
    }
}

/// Returns the outcome of a run: the hash of its results, its epochs, and its checkpoint.
fn found(mut run: Run) -> (String, Vec<Epoch>, Option<Vec<u8>>) {
    assert_eq!(run.run(|_| true), Ok(true));
    (run.report().result_hash, run.epochs().to_vec(), run.checkpoint().map(<[u8]>::to_vec))
}

/// Returns a plan of ranks that compute, read at random and send within a server and beyond, for about 200 us. An
/// epoch is a hundredth of the maximum duration of the run.
fn mixed(duration_max: &str, transport: &str) -> Plan {
    let step =
        "{ instructions = 20000, reads = \"64 KiB\", writes = \"32 KiB\", gathers = 300, gather_set = \"1 MiB\", \
                to = 1, send = \"20 kB\", from = 1, receive = \"20 kB\" }";
    plan(&format!(
        "[host.box]\npreset = \"mcn-scaleup-8\"\ncount = 2\n[network]\nrate = \"10 Gbps\"\nlatency = \"1 us\"\n\
         [job.j]\nhosts = \"box\"\nkind = \"program\"\nranks = 4\niterations = 3\nsteps = [{step}]\n\
         transport = \"{transport}\"\n[run]\nuntil = \"jobs\"\nduration_max = \"{duration_max}\"\n"
    ))
}

#[test]
fn threads_change_nothing_however_often_the_state_is_looked_at() {
    let mut hashes = Vec::new();
    for (duration_max, epochs, transport) in
        [("1 ms", 10, "dctcp"), ("3 ms", 4, "dctcp"), ("10 s", 1, "dctcp"), ("1 ms", 5, "dcqcn"), ("10 s", 1, "dcqcn")]
    {
        let plan = mixed(duration_max, transport);
        let expected = found(Run::new(&plan, Options::default()));
        assert!(expected.1.len() >= epochs, "{} epochs of {duration_max}", expected.1.len());
        for threads in 2..=3 {
            assert_eq!(
                found(Run::new(&plan, Options { threads, ..Options::default() })),
                expected,
                "{threads} threads"
            );
        }
        hashes.push(expected.0);
    }
    let (tcp, roce) = hashes.split_at(3);
    assert!(tcp.iter().all(|hash| *hash == tcp[0]) && roce[0] == roce[1], "looking changes nothing");
    assert_ne!(tcp[0], roce[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn checkpoints_change_nothing(at_ps in 1_u64..150_000_000, threads in 1_usize..4, roce: bool) {
        let plan = mixed("1 ms", if roce { "roce" } else { "dctcp" });
        let options = Options { threads, checkpoint_at_ps: at_ps, ..Options::default() };
        let first = found(Run::new(&plan, options));
        let checkpoint = first.2.as_deref().expect("it was taken");
        let again = found(Run::new(&plan, Options { threads: 1, ..options }));
        prop_assert_eq!(again.2.as_deref(), Some(checkpoint));
        let second = Run::resume(&plan, options, checkpoint).expect("it can be read");
        prop_assert_eq!(second.simulation().progress().time.ps(), at_ps);
        let second = found(second);
        prop_assert_eq!((second.0, second.1), (first.0, first.1));
    }
}

fn limit(report: &Report) -> (String, String) {
    let row = &report.summary["limits"][0];
    let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    (word("limit"), word("why"))
}

#[test]
fn planted_limits_are_named_or_nothing_is() {
    let (cores, why) = limit(&finished(&alone(8, "instructions = 3000000, reads = \"64 KiB\"")).0);
    assert_eq!(cores, "rank cores", "{why}");
    let barriers = |latency: u32| {
        let text = format!("kind = \"barrier\"\nranks = 8\niterations = 50\ncopy_latency = \"{latency} ns\"");
        finished(&job(&text)).0
    };
    let (copies, why) = limit(&barriers(500));
    assert_eq!(copies, "copies", "{why}");
    let done_us = |report: &Report| report.summary["jobs"][0]["done_us"].as_f64().expect("it is done");
    assert!(done_us(&barriers(100)) < 0.8 * done_us(&barriers(500)));
    let gathers =
        |more: &str| finished(&jobs(2, &format!("kind = \"allgather\"\nranks = 2\nbytes = \"5 MB\"\n{more}"))).0;
    let slow = gathers("[cable.box]\nrate = \"1 Gbps\"");
    let [packets, quicker] = [gathers(""), gathers("[host.box.stack]\npacket = \"50 ns\"")];
    assert_eq!(limit(&slow).0, "cable", "{}", limit(&slow).1);
    assert_eq!(limit(&packets).0, "receiver cores", "{}", limit(&packets).1);
    assert!(done_us(&packets) < 0.4 * done_us(&slow) && done_us(&quicker) < 0.95 * done_us(&packets));
    let (memory, why) = limit(&finished(&alone(8, "reads = \"4 MiB\"")).0);
    assert!(["memory bandwidth", "not known"].contains(&memory.as_str()), "{memory} {why}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn random_programs_come_to_their_end(
        ranks in 2_u32..6, hosts in 1_u32..3, bytes in 1_u64..200_000, instructions in 1_u64..100_000,
        reads in 1_u64..4000, writes in 1_u64..4000, gathers in 1_u64..2000, set in 1_u64..8000, roce: bool,
    ) {
        let transport = if roce { "roce" } else { "dctcp" };
        let step = format!(
            "{{ instructions = {instructions}, reads = \"{} B\", writes = \"{} B\", working_set = \"{} B\", \
             gathers = {gathers}, gather_set = \"{} B\", to = 1, send = \"{bytes} B\", from = 1, \
             receive = \"{bytes} B\" }}",
            reads * 64, writes * 64, set * 64, set * 128,
        );
        let plan = jobs(hosts, &format!(
            "kind = \"program\"\ntransport = \"{transport}\"\nranks = {ranks}\niterations = 2\nsteps = [{step}]"
        ));
        let (report, run) = finished(&plan);
        prop_assert_eq!(row(&report)["bytes"].as_u64(), Some(2 * u64::from(ranks) * bytes));
        for rank in self::ranks(&run) {
            prop_assert_eq!(rank.unreceived_bytes(), 0);
        }
    }
}
