//! Tests pages of a pool that several servers share: the latency of a grant, and that all writes reach their place.

use crate::cluster::lab::{assert_same_on_threads_and_from_a_checkpoint, drain, plan, run, servers, settle};
use crate::cluster::pool::{of, summary, NETWORK};
use hostnet_model::pool::PoolPort;
use proptest::prelude::*;
use serde_json::Value;

/// Returns a cluster of servers that share a region of 4 MiB, a lender and the controller at a switch.
fn rack(sharers: &[&str], keys: &str, network: &str) -> String {
    let sharer = |(number, stream): (usize, &&str)| {
        format!(
            "[host.s{number}]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"4 MiB\"\npool.region = \"w\"\n{keys}\n\
             [host.s{number}.workload.s]\nkind = \"stream\"\nmemory = \"pool\"\npattern = \"random\"\n{stream}\n"
        )
    };
    let sharers: String = sharers.iter().enumerate().map(sharer).collect();
    format!(
        "{sharers}[host.t]\npreset = \"cascade-lake-hostcc\"\npool.lent = \"64 MiB\"\n\
         [host.u]\npreset = \"cascade-lake-hostcc\"\npool.controller = true\n{network}\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n"
    )
}

const READER: &str = "cores = \"0-1\"\nworking_set = \"64 KiB\"";
const WRITER: &str = "cores = \"0-1\"\nworking_set = \"64 KiB\"\nreads = 0.5";

fn total(told: &Value, key: &str) -> f64 {
    let rows = told["pool"].as_array().expect("a table");
    rows.iter().filter_map(|row| row[key].as_f64()).sum()
}

#[test]
fn readers_request_no_grants() {
    let told = summary(&rack(&[READER, READER, READER], "", NETWORK));
    assert_eq!(total(&told, "read_grants") + total(&told, "write_grants"), 0.0, "{}", told["pool"]);
    assert!((0..3).all(|at| of(&told, at, "reads") > 100.0));
}

#[test]
fn one_writer_gets_each_page_once() {
    let text = rack(&[WRITER], "", NETWORK).replace("0-1", "0").replace("20 us", "0 ps");
    let told = summary(&text);
    assert_eq!((of(&told, 0, "write_grants"), of(&told, 0, "read_grants")), (16.0, 0.0), "{}", told["pool"]);
    assert!(of(&told, 0, "writes") > 100.0);
}

/// Returns the mean latency of a grant when a single core of two servers writes, in ns. Each page is taken from the
/// other server once.
fn grant(keys: &str, network: &str) -> f64 {
    let one = "cores = \"0\"\nworking_set = \"4 MiB\"\nreads = 0.0";
    let none = "cores = \"0\"\nworking_set = \"4 MiB\"";
    let keys = format!("core.lfb.entries = 1\ncore.lfb.refill = \"2 us\"\n{keys}");
    of(&summary(&rack(&[one, none], &keys, network).replace("100 us", "200 us")), 0, "grant_mean_ns")
}

#[test]
fn a_grant_takes_the_way_to_the_switch_and_from_there_to_those_who_share() {
    let base = grant("", NETWORK);
    let near = |found: f64, law: f64| assert!((found - law).abs() < 15.0, "{found} ns, law {law}");
    // The requester and the current owner each have two paths between port and part; the cables and the switch are
    // each passed twice.
    near(grant("pool.latency = \"140 ns\"", NETWORK) - base, 400.0);
    near(grant("", &NETWORK.replace("10 ns", "110 ns")) - base, 400.0);
    // Four frames of 84 B at a tenth of the rate.
    near(grant("", &NETWORK.replace("40 Gbps", "4 Gbps")) - base, 4.0 * 84.0 * 8.0 * (0.25 - 0.025));
    // A switch that decides no requests forwards all of them: the controller is passed twice, and all messages go
    // through it.
    let far = |time: &str| {
        let keys = format!("[host.u]\npool.controller_time = \"{time}\"");
        let network = NETWORK.replace("[network.switch]\n", "[network.switch]\nsharers = 0\n");
        let one = "cores = \"0\"\nworking_set = \"4 MiB\"\nreads = 0.0";
        let none = "cores = \"0\"\nworking_set = \"4 MiB\"";
        let lone = "core.lfb.entries = 1\ncore.lfb.refill = \"20 us\"\n";
        let text = rack(&[one, none], lone, &network).replace("[host.u]", &keys).replace("100 us", "2 ms");
        of(&summary(&text), 0, "grant_mean_ns")
    };
    let short = far("100 ns");
    assert!(short > base + 4.0 * 40.0, "{short} ns by the controller, {base} ns by the switch");
    near(far("1100 ns") - short, 2000.0);
}

#[test]
fn pages_without_a_switch_entry_go_to_the_controller() {
    let decided = |sharers: &str| {
        let network = NETWORK.replace("[network.switch]\n", &format!("[network.switch]\n{sharers}"));
        let told = summary(&rack(&[WRITER, WRITER], "", &network));
        let rows = told["pool"].as_array().expect("a table").len();
        let [controller, switch] = [3, rows - 1].map(|at| told["pool"][at]["grants_here"].as_f64());
        (controller.expect("it counts"), switch)
    };
    let (controller, switch) = decided("");
    assert!(controller == 0.0 && switch.expect("it decides") > 10.0);
    let (controller, switch) = decided("sharers = 0\n");
    assert!(controller > 10.0 && switch.is_none());
    // The pages of one of the two cores.
    let (controller, switch) = decided("sharers = 64\n");
    assert!(controller > 10.0 && switch.expect("it decides about some of them") > 10.0, "{controller} {switch:?}");
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let keys = "pool.cache = \"256 KiB\"\npool.prefetch.kind = \"stride\"\n";
    let network = format!("{NETWORK}buffer = \"2 KiB\"\nsharers = 8\n[cable.s1]\ncorrupt = 0.02\n");
    let plan = plan(&rack(&[WRITER, READER, WRITER], keys, &network));
    assert_same_on_threads_and_from_a_checkpoint(&plan, 50_000_000);
}

proptest! {
    #![proptest_config(crate::common::laws::cases(6))]
    #[test]
    fn every_request_completes_and_all_writes_are_written_back(
        cache in prop::sample::select(vec!["", "pool.cache = \"16 KiB\"", "pool.cache = \"4 MiB\""]),
        ahead in prop::sample::select(vec!["", "pool.prefetch.kind = \"next-line\"", "pool.fetch = \"page\""]),
        early in any::<bool>(),
        buffer in 1_u32..40,
        sharers in prop::sample::select(vec![0, 4, 4096]),
        corrupt in prop::sample::select(vec![0.0, 0.01, 0.2]),
        reads in prop::sample::select(vec![0.3, 0.9]),
        set in prop::sample::select(vec!["4 KiB", "64 KiB", "1 MiB"]),
    ) {
        let mut keys = format!("{cache}\n{ahead}\npool.timeout = \"5 us\"\n");
        if cache.is_empty() {
            keys = keys.replace("pool.fetch = \"page\"", "");
        } else if early {
            keys += "pool.write_back = \"early\"\n";
        }
        let stream = format!("cores = \"0-2\"\nworking_set = \"{set}\"\nreads = {reads}");
        let network = format!(
            "[network]\nrate = \"10 Gbps\"\nlatency = \"10 ns\"\n[network.switch]\nbuffer = \"{} B\"\n\
             sharers = {sharers}\n[cable.s0]\ncorrupt = {corrupt}\n", 2000 + buffer * 50
        );
        let mut simulation = run(&plan(&rack(&[&stream, &stream, READER], &keys, &network)), 60);
        settle(&mut simulation);
        drain(&mut simulation);
        let ports: Vec<&PoolPort> = servers(&simulation).iter().filter_map(|machine| machine.first()).collect();
        for port in &ports {
            prop_assert_eq!((port.open(), port.waiting_for_pages()), (0, 0));
        }
        let counts = ports[..3].iter().map(|port| port.counts());
        let back: u64 = counts.clone().map(|counts| counts.writes + counts.lines_out).sum();
        prop_assert!(ports[3].counts().served[1] >= back);
        let dirty: u64 = ports.iter().map(|port| port.unwritten()).sum();
        let [written, again, out] = [0, 1, 2].map(|what| {
            counts.clone().map(|counts| [counts.cache_writes, counts.overwritten, counts.lines_out][what]).sum::<u64>()
        });
        prop_assert_eq!(written - again, out + dirty);
        prop_assert!(counts.clone().all(|counts| counts.reads + counts.cache_reads > 0));
    }
}
