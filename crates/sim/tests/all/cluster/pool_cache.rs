//! Tests local memory as a cache of a pool's pages: closed forms, and conservation of writes.

use crate::cluster::lab::{assert_same_on_threads_and_from_a_checkpoint, drain, plan, run, servers, settle};
use crate::cluster::pool::{of, rack, summary, NETWORK, ONE};
use hostnet_model::pool::PoolPort;
use proptest::prelude::*;
use serde_json::Value;

/// Returns a rack whose borrower has a cache and one line in flight at a time.
fn lone(keys: &str, stream: &str) -> String {
    let keys = format!("core.lfb.entries = 1\ncore.lfb.refill = \"100 ns\"\n{keys}");
    rack(&keys, stream, NETWORK)
}

/// Returns the mean latency of the reads of the borrower's cores, in ns.
fn latency(summary: &Value) -> f64 {
    summary["servers"]["a"]["workloads"][0]["latency_mean_ns"].as_f64().expect("a latency")
}

#[test]
fn a_cache_hit_costs_as_much_as_local_memory() {
    let small =
        |text: String| text.replace("\"4 MiB\"", "\"64 KiB\"").replace("20 us", "2 ms").replace("100 us", "1 ms");
    let cached = summary(&small(lone("pool.cache = \"64 KiB\"\npool.fetch = \"page\"\n", ONE)));
    assert_eq!((of(&cached, 0, "reads"), of(&cached, 0, "pages_out")), (0.0, 0.0), "{}", cached["pool"]);
    assert!(of(&cached, 0, "cache_reads") > 1000.0);
    let local = summary(&small(lone("", ONE).replace("memory = \"pool\"\n", "")));
    let [cached, local] = [cached, local].map(|told| latency(&told));
    assert!((cached - local).abs() < 2.0, "{cached} ns, local {local} ns");
}

#[test]
fn a_cache_miss_costs_as_much_as_a_pool_without_cache() {
    // So large that no line is read twice, and that pages rarely conflict.
    let large = |text: String| text.replace("\"4 MiB\"", "\"48 MiB\"").replace("100 us", "1 ms");
    let [flat, cached] = ["", "pool.cache = \"64 KiB\"\n"].map(|keys| summary(&large(lone(keys, ONE))));
    assert!(of(&cached, 0, "cache_reads") < 0.01 * of(&cached, 0, "reads"), "{}", cached["pool"]);
    assert!(of(&cached, 0, "pages_out") > 500.0);
    let [flat, cached] = [flat, cached].map(|told| of(&told, 0, "read_mean_ns"));
    assert!((cached - flat).abs() < 5.0, "{cached} ns, flat {flat} ns");
}

#[test]
fn pages_fit_up_to_the_size_of_the_cache() {
    // One core reads 16 pages sequentially, again and again.
    let reads = |cache: &str| {
        let stream = "cores = \"0\"\npattern = \"sequential\"\n";
        let text = rack(&format!("pool.cache = \"{cache}\"\n"), stream, NETWORK);
        let told = summary(&text.replace("\"4 MiB\"", "\"64 KiB\"").replace("20 us", "1 ms"));
        [of(&told, 0, "reads"), of(&told, 0, "pages_out"), of(&told, 0, "cache_reads")]
    };
    let [fits, misses] = ["64 KiB", "60 KiB"].map(reads);
    assert!(fits[0] == 0.0 && fits[1] == 0.0 && fits[2] > 100.0, "{fits:?}");
    assert!(misses[0] > 100.0 && misses[1] > 2.0, "{misses:?}");
}

#[test]
fn whole_pages_help_those_that_read_them_and_single_lines_the_others() {
    let result = |fetch: &str, stream: &str| {
        let text = rack(&format!("core.lfb.entries = 2\npool.cache = \"256 KiB\"\n{fetch}"), stream, NETWORK);
        summary(&text.replace("\"4 MiB\"", "\"32 MiB\"").replace("100 us", "400 us"))
    };
    let page = "pool.fetch = \"page\"\n";
    let bytes = |told: &Value| of(told, 1, "demand_bytes") + of(told, 1, "prefetch_bytes");
    let [in_turn, lines_in_turn] = [page, ""].map(|fetch| result(fetch, "cores = \"0\"\npattern = \"sequential\"\n"));
    assert!(of(&in_turn, 0, "cache_reads") > 0.5 * of(&in_turn, 0, "reads"), "{}", in_turn["pool"]);
    assert!(latency(&in_turn) < 0.8 * latency(&lines_in_turn));
    let [at_random, lines] = [page, ""].map(|fetch| result(fetch, ONE));
    assert!(bytes(&at_random) > 4.0 * bytes(&lines), "{}", at_random["pool"]);
}

#[test]
fn dirty_lines_go_back_when_their_room_is_wanted_or_early() {
    let result = |keys: &str| {
        let stream = "cores = \"0\"\npattern = \"random\"\nreads = 0.5\n";
        let keys = format!("core.lfb.entries = 4\npool.cache = \"8 MiB\"\n{keys}");
        summary(&rack(&keys, stream, NETWORK).replace("20 us", "400 us"))
    };
    let [late, early] = ["", "pool.write_back = \"early\"\n"].map(result);
    assert!(of(&late, 0, "cache_writes") > 100.0);
    assert_eq!(of(&late, 0, "lines_out"), 0.0, "all pages fit");
    assert!(of(&early, 0, "lines_out") > 0.9 * of(&early, 0, "cache_writes"), "{}", early["pool"]);
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let keys = "pool.cache = \"256 KiB\"\npool.fetch = \"page\"\npool.write_back = \"early\"\n";
    let network = format!("{NETWORK}buffer = \"2 KiB\"\n[cable.b]\ncorrupt = 0.02\n");
    let plan = plan(&rack(keys, "cores = \"0-3\"\npattern = \"sequential\"\nreads = 0.6\n", &network));
    assert_same_on_threads_and_from_a_checkpoint(&plan, 50_000_000);
}

proptest! {
    #![proptest_config(crate::common::laws::cases(6))]
    #[test]
    fn written_lines_are_cached_or_written_back(
        cache_kib in prop::sample::select(vec![4_u32, 16, 64, 1024, 8192]),
        buffer in 1_u32..40,
        corrupt in prop::sample::select(vec![0.0, 0.01, 0.2]),
        reads in prop::sample::select(vec![0.3, 0.9]),
        sequential in any::<bool>(),
        fetch in prop::sample::select(vec![
            "fetch = \"page\"", "fetch = \"line\"", "prefetch.kind = \"next-line\"", "prefetch.kind = \"stride\"",
        ]),
        write_back in prop::sample::select(vec!["early", "eviction"]),
        transfers in 1_u32..64,
        set in prop::sample::select(vec!["256 KiB", "4 MiB"]),
    ) {
        let pattern = if sequential { "sequential" } else { "random" };
        let network = format!(
            "[network]\nrate = \"10 Gbps\"\nlatency = \"10 ns\"\n[network.switch]\nbuffer = \"{} B\"\n\
             [cable.b]\ncorrupt = {corrupt}\n", 2000 + buffer * 50
        );
        let keys = format!(
            "pool.cache = \"{cache_kib} KiB\"\npool.{fetch}\npool.write_back = \"{write_back}\"\n\
             pool.transfers = {transfers}\npool.timeout = \"5 us\"\n"
        );
        let stream = format!("cores = \"0-3\"\npattern = \"{pattern}\"\nreads = {reads}\n");
        let text = rack(&keys, &stream, &network).replace("\"4 MiB\"", &format!("\"{set}\""));
        let mut simulation = run(&plan(&text), 60);
        settle(&mut simulation);
        drain(&mut simulation);
        let ports: Vec<&PoolPort> = servers(&simulation).iter().filter_map(|machine| machine.first()).collect();
        let counts = ports[0].counts();
        prop_assert_eq!(ports[0].open(), 0);
        prop_assert!(counts.reads > 0 && counts.pages_in >= counts.pages_out);
        prop_assert!(counts.pages_in - counts.pages_out <= u64::from(cache_kib) / 4);
        prop_assert_eq!(counts.cache_writes - counts.overwritten, counts.lines_out + ports[0].unwritten());
        let [read, written] = ports[1].counts().served;
        prop_assert!(written >= counts.writes + counts.lines_out);
        prop_assert!(read >= counts.reads - counts.prefetch_hits);
    }
}
