//! Tests a memory pool over a switch: computable latencies and limits, and conservation of lines.

use crate::cluster::lab::{assert_same_on_threads_and_from_a_checkpoint, drain, plan, run, servers, settle};
use hostnet_model::params::HostKind;
use hostnet_model::pool::PoolPort;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use serde_json::Value;

/// Returns a cluster of a borrower and a lender at a switch; `borrower` has keys of the borrower's table, `more` has
/// other tables.
pub fn rack(borrower: &str, stream: &str, more: &str) -> String {
    format!(
        "[host.a]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"64 MiB\"\n{borrower}\n\
         [host.a.workload.s]\nkind = \"stream\"\nmemory = \"pool\"\nworking_set = \"4 MiB\"\n{stream}\n\
         [host.b]\npreset = \"cascade-lake-hostcc\"\npool.lent = \"256 MiB\"\n{more}\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n"
    )
}

pub const NETWORK: &str =
    "[network]\nrate = \"40 Gbps\"\nlatency = \"10 ns\"\n[network.switch]\nlatency = \"100 ns\"\n";
pub const ONE: &str = "cores = \"0\"\npattern = \"random\"\n";

pub fn summary(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

pub fn of(summary: &Value, place: usize, key: &str) -> f64 {
    summary["pool"][place][key].as_f64().unwrap_or_else(|| panic!("no {key} in {}", summary["pool"]))
}

#[test]
fn an_idle_read_takes_the_way_there_and_back() {
    let idle = |keys: &str, network: &str| {
        let keys = format!("core.lfb.entries = 1\ncore.lfb.refill = \"100 ns\"\n{keys}");
        rack(&keys, ONE, network).replace("100 us", "2 ms")
    };
    let latency = |keys: &str, network: &str| of(&summary(&idle(keys, network)), 0, "read_mean_ns");
    let base = latency("", NETWORK);
    // A few lines wait for a refresh, or find their row closed by a refresh.
    let near = |found: f64, law: f64| assert!((found - law).abs() < 5.0, "{found} ns, law {law}");
    // 100 ns more on the borrower's path to the port, on each cable, and at the switch.
    near(latency("pool.latency = \"140 ns\"", NETWORK) - base, 200.0);
    near(latency("", &NETWORK.replace("10 ns", "110 ns")) - base, 400.0);
    near(latency("", &NETWORK.replace("latency = \"100 ns\"", "latency = \"200 ns\"")) - base, 200.0);
    // Two frames of 84 B and two of 104 B at a tenth of the rate.
    near(latency("", &NETWORK.replace("40 Gbps", "4 Gbps")) - base, 2.0 * 188.0 * 8.0 * (0.25 - 0.025));
    assert!(base < 1000.0, "{base} ns");
    let far = idle("", NETWORK);
    let of_stream = |text: &str| summary(text)["servers"]["a"]["workloads"][0]["latency_mean_ns"].as_f64();
    let local = of_stream(&far.replace("memory = \"pool\"\n", "")).expect("a latency");
    let HostKind::Server(server) = &plan(&far).cluster.hosts[0].kind else { panic!("a server") };
    let wires = 2.0 * (84.0 + 104.0) * 8.0 / 40.0 + 4.0 * 10.0 + 2.0 * 100.0;
    let law = 4.0 * 40.0 + server.socket().cha.read_to_mc_ps as f64 / 1000.0 + wires;
    near(of_stream(&far).expect("a latency") - local, law);
}

#[test]
fn random_pools_drain_and_answer_each_request_once() {
    let mut simulation = run(&plan(&rack("", "cores = \"0-3\"\npattern = \"random\"\nreads = 0.5\n", NETWORK)), 100);
    settle(&mut simulation);
    drain(&mut simulation);
    let ports: Vec<&PoolPort> = servers(&simulation).iter().filter_map(|machine| machine.first()).collect();
    assert_eq!(ports.len(), 2);
    assert!(ports[0].counts().reads > 1000 && ports[0].counts().writes > 500, "{:?}", ports[0].counts());
    assert_eq!([ports[0].counts().reads, ports[0].counts().writes], ports[1].counts().served);
    assert_eq!((ports[0].counts().stale, ports[0].counts().retries, ports[0].open()), (0, 0, 0));
}

#[test]
fn reads_get_what_credits_or_the_cable_let_through() {
    for credits in [1, 4, 16] {
        let told = summary(&rack(
            &format!("pool.read_credits = {credits}\n"),
            "cores = \"0-7\"\npattern = \"random\"\n",
            NETWORK,
        ));
        let rows = told["servers"]["a"]["domains"].as_array().expect("domains");
        let row = rows
            .iter()
            .find(|row| row["domain"] == "pool read" && row["part"] == "all" && row["workload"] == "all")
            .expect("the pool");
        let of = |key: &str| row[key].as_f64().expect("a number");
        assert!(of("full_share") > 0.99 && of("in_use_max") <= f64::from(credits));
        let law = f64::from(credits) * 64.0 / of("latency_mean_ns");
        assert!((of("throughput_gb_per_s") / law - 1.0).abs() < 0.02, "{row}");
    }
    let slow = NETWORK.replace("40 Gbps", "4 Gbps");
    let told = summary(&rack("", "cores = \"0-7\"\npattern = \"random\"\n", &slow));
    let rate = of(&told, 0, "reads") * 64.0 / 100e3;
    assert!((rate / (0.5 * 64.0 / 104.0) - 1.0).abs() < 0.02, "{rate} GB/s");
    let limit = told["servers"]["a"]["workloads"][0]["limited_by"].as_str().expect("a limit").to_owned();
    assert!(limit.contains("not known"), "{limit}");
}

#[test]
fn a_sequential_stream_finds_lines_that_were_read_ahead() {
    let ahead = "core.lfb.entries = 2\npool.prefetch = { kind = \"next-line\", depth = 16, queue = 64 }\n";
    let stream = "cores = \"0\"\npattern = \"sequential\"\n";
    let [with, without] = [ahead, "core.lfb.entries = 2\n"].map(|keys| summary(&rack(keys, stream, NETWORK)));
    assert!(of(&with, 0, "prefetch_hits") > 0.8 * of(&with, 0, "reads"), "{}", with["pool"]);
    assert!(of(&with, 0, "reads") > 2.0 * of(&without, 0, "reads"));
}

#[test]
#[ignore = "long"]
fn threads_and_checkpoints_change_nothing() {
    let keys = "pool.prefetch.kind = \"stride\"\n";
    let network = format!("{NETWORK}buffer = \"2 KiB\"\n[cable.b]\ncorrupt = 0.02\n");
    let plan = plan(&rack(keys, "cores = \"0-3\"\npattern = \"sequential\"\nreads = 0.6\n", &network));
    assert_same_on_threads_and_from_a_checkpoint(&plan, 50_000_000);
}

/// Returns the summary of three servers with cores that read sequentially from a fourth, over a switch with very
/// small buffers.
fn crowd(keys: &str, cores: &str) -> Value {
    let stream = format!("cores = \"{cores}\"\npattern = \"sequential\"\n");
    let other = |name: &str| {
        format!(
            "[host.{name}]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"64 MiB\"\n{keys}\n\
             [host.{name}.workload.s]\nkind = \"stream\"\nmemory = \"pool\"\nworking_set = \"4 MiB\"\n{stream}"
        )
    };
    let network = NETWORK.replace("40 Gbps", "10 Gbps") + "buffer = \"4 KiB\"\n";
    let more = [other("c"), other("d"), network].concat();
    summary(&rack(keys, &stream, &more))
}

#[test]
fn prefetches_are_dropped_before_demand_reads() {
    let few = "core.lfb.entries = 2\n";
    let told = crowd(&format!("{few}pool.prefetch = {{ kind = \"next-line\", depth = 32, queue = 256 }}\n"), "0-3");
    let all = |told: &Value, key: &str| (0..5).filter_map(|at| told["pool"][at][key].as_f64()).sum::<f64>();
    let [demand, ahead] = ["dropped_demand", "dropped_prefetch"].map(|key| all(&told, key));
    assert!(ahead > 100.0, "{}", told["pool"]);
    assert!(demand / all(&told, "reads") < 0.1 * ahead / all(&told, "prefetches"), "{}", told["pool"]);
    // Without prefetches to drop instead, demand reads are dropped, answered with a NACK, and retried.
    let told = crowd("", "0-7");
    assert!(of(&told, 4, "dropped_demand") > 100.0, "{}", told["pool"]);
    assert!([0, 2, 3].iter().all(|&at| of(&told, at, "nacks") > 0.0 && of(&told, at, "retries") > 0.0));
}

proptest! {
    #![proptest_config(crate::common::laws::cases(6))]
    #[test]
    fn demand_completes_whatever_is_lost(
        buffer in 1_u32..40,
        corrupt in prop::sample::select(vec![0.0, 0.01, 0.2]),
        reads in prop::sample::select(vec![0.3, 1.0]),
        sequential in any::<bool>(),
        kind in prop::sample::select(vec!["none", "next-line", "stride"]),
        credits in 1_u32..64,
    ) {
        let pattern = if sequential { "sequential" } else { "random" };
        let network = format!(
            "[host.c]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"64 MiB\"\n\
             pool.prefetch.kind = \"{kind}\"\n[host.c.workload.s]\nkind = \"stream\"\nmemory = \"pool\"\n\
             working_set = \"4 MiB\"\ncores = \"0-2\"\n[network]\nrate = \"10 Gbps\"\nlatency = \"10 ns\"\n\
             [network.switch]\nbuffer = \"{} B\"\n[cable.b]\ncorrupt = {corrupt}\n", 2000 + buffer * 50
        );
        let keys = format!("pool.prefetch.kind = \"{kind}\"\npool.read_credits = {credits}\npool.timeout = \"5 us\"\n");
        let text = rack(&keys, &format!("cores = \"0-3\"\npattern = \"{pattern}\"\nreads = {reads}\n"), &network);
        let mut simulation = run(&plan(&text), 60);
        settle(&mut simulation);
        drain(&mut simulation);
        let ports: Vec<&PoolPort> = servers(&simulation).iter().filter_map(|machine| machine.first()).collect();
        for port in &ports {
            prop_assert_eq!(port.open(), 0);
        }
        let [reads, writes] = [0, 2].map(|at| (ports[at].counts().reads, ports[at].counts().writes))
            .into_iter().fold([0, 0], |sum, (reads, writes)| [sum[0] + reads, sum[1] + writes]);
        prop_assert!(reads > 0);
        let served = ports[1].counts().served;
        let hits: u64 = [0, 2].map(|at| ports[at].counts().prefetch_hits).iter().sum();
        prop_assert!(served[0] >= reads - hits && served[1] >= writes, "every line was read or written there");
    }
}
