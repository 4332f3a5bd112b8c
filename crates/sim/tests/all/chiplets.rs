//! Tests servers of chiplets: links of core dies, quadrants with memory of their own, and shared entries.

use crate::common::laws::{assert_books, assert_little, drain};
use crate::common::results::{assert_near, report};
use crate::common::{self, acquired, counters, domains, settled, us};
use hostnet_config::Plan;
use hostnet_sim::build;
use hostnet_sim::sample::PoolGroup;

/// Returns the plan of a server of four CCDs with two cores each, and a stream on some cores.
fn plan(cores: &str, reads: f64, settings: &[&str]) -> Plan {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\n\
         [core]\nlfb.entries = 24\nto_cha = \"15 ns\"\nfrom_cha = \"15 ns\"\n\
         [cha]\nslices = 4\ntor.entries = 512\n\
         [memory]\nchannels = 4\n\
         [chiplets]\nccds = 4\nfclk = \"1 GHz\"\n\
         [workload.stream]\nkind = \"stream\"\ncores = \"{cores}\"\nreads = {reads:?}\n\
         [run]\nwarmup = \"20 us\"\nduration = \"60 us\"\n"
    );
    common::plan(&text, settings)
}

/// Returns the channels that lines were read from.
fn used_channels(plan: &Plan) -> Vec<usize> {
    let mut simulation = build::one_server(plan.server().expect("a server"));
    simulation.run_until(us(20), |_| true);
    let channels = counters(settled(&mut simulation), us(20));
    (0..4).filter(|&channel| channels[channel].reads.iter().sum::<u64>() > 0).collect()
}

fn gb_per_s(plan: &Plan) -> f64 {
    report(plan).summary["workloads"][0]["throughput_gb_per_s"].as_f64().expect("a rate")
}

#[test]
fn a_socket_of_memory_alone_has_no_ccds() {
    let plan = plan("0-1", 1.0, &["server.sockets=2", "socket.1.core.count=0", "workload.stream.memory=node:1"]);
    assert!(gb_per_s(&plan) > 1.0, "its memory is reached over the links between sockets");
}

#[test]
fn a_link_moves_its_width_per_clock_and_no_more() {
    // Two cores of one CCD, with 8 B per clock: 8 GB/s of reads.
    let reads = gb_per_s(&plan("0-1", 1.0, &["chiplets.read=8 B"]));
    assert_near("GB/s of reads", reads, 8.0, 0.1);
    // On two CCDs the cores have a link each.
    assert_near("GB/s on two CCDs", gb_per_s(&plan("1-2", 1.0, &["chiplets.read=8 B"])), 2.0 * 8.0, 1.5);
    // Stores read as many lines as they write, with 4 B per clock.
    let stores = gb_per_s(&plan("0-1", 0.0, &["chiplets.write=4 B"]));
    assert_near("GB/s of stores", stores, 2.0 * 4.0, 0.2);
}

#[test]
fn a_full_link_is_the_limit() {
    let found = report(&plan("0-1", 1.0, &["chiplets.read=8 B"]));
    assert_eq!(found.summary["binding"][0]["binding"][0], "CCD link");
    let links = &found.summary["dies"][0]["ccd_links"];
    assert!(links[0]["reads_busy_share"].as_f64() > Some(0.97), "{links}");
    assert_eq!(links[1]["reads_busy_share"].as_f64(), Some(0.0));
}

#[test]
fn a_full_link_between_quadrants_is_the_limit() {
    let found = report(&plan("0-7", 1.0, &["chiplets.link=1 B", "chiplets.read=64 B"]));
    assert_eq!(found.summary["binding"][0]["binding"][0], "fabric link");
}

#[test]
fn the_entries_of_a_ccd_are_the_limit_where_its_cores_share_them() {
    let found = |settings: &[&str]| report(&plan("0-1", 1.0, settings)).summary["binding"][0]["binding"][0].clone();
    assert_eq!(found(&["chiplets.entries=4", "chiplets.read=64 B"]), "CCD");
    assert_eq!(found(&["core.lfb.entries=2", "chiplets.read=64 B"]), "C2M-Read");
}

#[test]
fn a_node_has_channels_of_its_own() {
    for (nps, own) in [(1, 4), (2, 2), (4, 1)] {
        for core in [0_usize, 7] {
            let plan = plan(&core.to_string(), 1.0, &[&format!("chiplets.nps={nps}")]);
            let first = if core == 0 { 0 } else { 4 - own };
            let own: Vec<usize> = (first..first + own).collect();
            assert_eq!(used_channels(&plan), own, "core {core} with NPS{nps}");
        }
    }
}

#[test]
fn buffers_lie_on_the_node_that_a_workload_names() {
    for (nps, own) in [(2, 2), (4, 1)] {
        for node in 0..nps {
            let settings = [format!("chiplets.nps={nps}"), format!("workload.stream.memory=node:{node}")];
            let plan = plan("0", 1.0, &[&settings[0], &settings[1]]);
            assert_eq!(used_channels(&plan), (node * own..(node + 1) * own).collect::<Vec<usize>>(), "{settings:?}");
        }
    }
}

#[test]
fn memory_of_the_own_quadrant_is_nearer() {
    let ns = |hop: u32| {
        let settings = [&*format!("chiplets.hop={hop}"), "chiplets.nps=4", "core.lfb.entries=1"];
        report(&plan("0", 1.0, &settings)).summary["workloads"][0]["latency_mean_ns"].as_f64().expect("a latency")
    };
    // Of four quadrants, the others are one, one and two hops away: a mean of one hop of 7 ns in each direction.
    assert_near("ns from all quadrants less own", ns(0) - ns(7), 14.0, 0.5);
}

#[test]
fn the_cores_of_a_ccd_share_its_entries() {
    let capacities = |cores: &str| {
        let plan = plan(cores, 1.0, &["chiplets.entries=20"]);
        let mut simulation = build::one_server(plan.server().expect("a server"));
        simulation.run_until(us(5), |_| true);
        let machine = settled(&mut simulation);
        let own =
            domains(machine).into_iter().filter(|(_, group, domain)| *group == PoolGroup::Lfb && domain.in_use() > 0);
        own.map(|(_, _, domain)| domain.capacity()).collect::<Vec<u32>>()
    };
    assert_eq!(capacities("0"), [20]);
    assert_eq!(capacities("0-2"), [10, 10, 20]);
}

#[test]
fn nothing_is_lost_on_chiplets() {
    for settings in [&["chiplets.nps=4", "chiplets.link=1 B"][..], &["prefetch.stream_credits=9", "chiplets.read=1 B"]]
    {
        let plan = plan("0-7", 0.5, settings);
        let mut simulation = build::one_server(plan.server().expect("a server"));
        simulation.run_until(us(40), |_| true);
        assert_books(settled(&mut simulation));
        drain(&mut simulation);
        let machine = settled(&mut simulation);
        assert_little(machine);
        assert!(acquired(machine, PoolGroup::C2mRead, 0) > 0);
    }
}
