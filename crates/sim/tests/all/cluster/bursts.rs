//! Tests that servers in bursts have the same limits in bytes.

use crate::cluster::lab;
use crate::common::{counters, plan as server_plan, us};
use hostnet_model::params::{LineSize, ServerParams};
use hostnet_sim::build::coarse::bursts;
use hostnet_sim::build::one_server;
use hostnet_sim::{Options, Run};

/// Returns a server with cores that load and store at full speed.
fn saturated(preset: &str, cores: &str) -> ServerParams {
    let text = format!(
        "[server]\npreset = \"{preset}\"\n[workload.load]\nkind = \"stream\"\ncores = \"{cores}\"\nreads = 0.5\n"
    );
    server_plan(&text, &[]).server().unwrap().clone()
}

/// Returns the lines that memory transfers in 100 us, after another 100 us.
fn moved(server: &ServerParams) -> u64 {
    let mut simulation = one_server(server);
    let mut lines = |until| {
        simulation.run_until(us(until), |_| true);
        hostnet_sim::sample::settle(&mut simulation.parts_mut()[0].0, us(until));
        let channels = counters(&simulation.parts()[0].0, us(until));
        channels.iter().flat_map(|channel| channel.reads.iter().chain(&channel.writes)).sum::<u64>()
    };
    let before = lines(100);
    lines(200) - before
}

#[test]
fn bursts_of_one_line_are_lines() {
    for (preset, cores) in [("cascade-lake-hostcc", "0-7"), ("cascade-lake-6234", "0-5")] {
        let server = saturated(preset, cores);
        assert_eq!(bursts(&server, LineSize::LINE), server);
    }
}

#[test]
fn limits_are_the_same_in_bytes() {
    let server = saturated("cascade-lake-hostcc", "0-7");
    for shift in 1..=3 {
        let bursts = bursts(&server, LineSize::burst(shift));
        let [server, coarse] = [&server, &bursts].map(ServerParams::socket);
        // Rounding loses or gains at most half a burst.
        let close = |name: &str, lines: u32, bursts: u32| {
            assert!(
                bursts > 0 && (bursts << shift).abs_diff(lines) <= 1 << shift >> 1,
                "{name}: {lines} lines, {bursts} bursts of 2^{shift}"
            );
        };
        let same = |name: &str, one: u64, other: u64| assert_eq!(one >> shift, other, "{name}, bursts of 2^{shift}");
        close("LFB", server.core.lfb_entries, coarse.core.lfb_entries);
        close("IIO writes", server.iio.write_credits, coarse.iio.write_credits);
        close("IIO reads", server.iio.read_credits, coarse.iio.read_credits);
        close("posted", server.pcie.posted_lines, coarse.pcie.posted_lines);
        close("nonposted", server.pcie.nonposted_lines, coarse.pcie.nonposted_lines);
        close("RPQ", server.memory.controller.rpq_entries, coarse.memory.controller.rpq_entries);
        close("WPQ", server.memory.controller.wpq_entries, coarse.memory.controller.wpq_entries);
        same("PCIe", server.pcie.bytes_per_s, coarse.pcie.bytes_per_s);
        same("memory", server.memory.pages.memory_bytes, coarse.memory.pages.memory_bytes);
        assert_eq!(coarse.iio.line_ps, server.iio.line_ps << shift);
        assert_eq!(coarse.core.issue_ps, server.core.issue_ps << shift);
        let [own, of_bursts] = [&server.memory.controller, &coarse.memory.controller];
        assert_eq!((own.spare_clocks, of_bursts.spare_clocks), (1, 1 << shift));
        assert!((of_bursts.reads_few << shift).abs_diff(own.reads_few) <= 1 << shift >> 1);
        assert!(of_bursts.write_low < of_bursts.write_high);
        // Latencies are those of the first line.
        assert_eq!(coarse.cha.read_to_mc_ps, server.cha.read_to_mc_ps);
        assert_eq!(coarse.iio.write_to_cha_ps, server.iio.write_to_cha_ps);
    }
}

#[test]
fn a_saturated_memory_moves_as_many_bytes() {
    let server = saturated("cascade-lake-hostcc", "0-7");
    let lines = moved(&server) as f64;
    let bursts = (moved(&bursts(&server, LineSize::burst(2))) << 2) as f64;
    assert!((bursts / lines - 1.0).abs() < 0.03, "{lines} lines, in bursts {bursts}");
}

#[test]
fn a_host_whose_memory_is_saturated_drops_packets_in_bursts_too() {
    let text = "[host.receiver]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"burst\"\n\
                workload.mapp = { kind = \"remote\", sockets = \"0-2\", reads = 0.5 }\n\
                [host.sender]\nkind = \"endpoint\"\nlatency = \"8 us\"\n\
                [network]\nrate = \"100 Gbps\"\nlatency = \"1 us\"\nmtu = \"4096 B\"\nswitch.buffer = \"16 MB\"\n\
                [flow.bulk]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\ncount = 4\ntransport = \"dctcp\"\n\
                [run]\nwarmup = \"4 ms\"\nduration = \"4 ms\"\n";
    let mut run = Run::new(&lab::plan(text), Options::default());
    run.run(|_| true).expect("nothing is stuck");
    let summary = run.report().summary;
    let of = |table: &str, column: &str| summary[table][0][column].as_f64().expect("a number");
    // Line by line: 47.6 Gbps, 93 of 93 lines.
    assert!((43.0..52.0).contains(&of("classes", "goodput_gbps")), "{}", of("classes", "goodput_gbps"));
    assert!(of("hosts", "iio_write_occupancy") > 88.0, "{}", of("hosts", "iio_write_occupancy"));
    assert!(of("classes", "nic_dropped_full") > 0.0);
}
