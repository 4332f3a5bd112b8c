//! Tests laws that bind the measurements of a cluster.

use crate::cluster::lab::{drain, nic, plan, run, servers, settle};
use crate::common::{domains, us};
use hostnet_model::os::{CoreTimeKind, NetStack, CORE_TIME_KINDS};
use hostnet_sim::sample::PoolGroup;

/// An endpoint that sends to a server with loaded memory.
const LOADED: &str = "[host.receiver]\npreset = \"cascade-lake-hostcc\"\n\
    [host.receiver.workload.mapp]\nkind = \"remote\"\nsockets = \"0-2\"\nreads = 0.5\n\
    [host.sender]\nkind = \"endpoint\"\n[network]\nmtu = \"4096 B\"\n\
    [flow.f]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\ncount = 2\nbytes = \"1213200 B\"\n";

#[test]
fn little_holds_in_the_buffer_of_a_nic_and_in_every_domain() {
    let plan = plan(LOADED);
    let mut simulation = run(&plan, 300);
    drain(&mut simulation);
    let now = settle(&mut simulation);
    let machine = servers(&simulation)[0];
    let counters = nic(machine).counters();
    // All packets are full: 300 of 4044 bytes of data for each flow.
    let frames: u64 = nic(machine).flows().iter().map(|flow| flow.delivered.packets).sum();
    assert_eq!((frames, counters.buffered_ps.count()), (600, 600));
    let area = counters.buffer.mean() * now.ps() as f64;
    let sum = counters.buffered_ps.sum() as f64 * 4110.0;
    assert!((area / sum - 1.0).abs() < 1e-9, "{area} byte ps, {sum}");
    assert!(counters.buffer.max() > 4110, "it was ever more than one packet");
    for (name, group, domain) in domains(machine) {
        for usage in domain.classes().iter().filter(|_| group != PoolGroup::Wpq) {
            assert_eq!(u128::from(usage.area_ps()), usage.residence().sum(), "{name}");
            assert_eq!(usage.acquired(), usage.residence().count(), "{name}");
        }
    }
}

#[test]
fn the_time_of_network_cores_adds_up() {
    const KINDS: [CoreTimeKind; CORE_TIME_KINDS] = [
        CoreTimeKind::Idle,
        CoreTimeKind::Softirq,
        CoreTimeKind::Call,
        CoreTimeKind::Copy,
        CoreTimeKind::Stalled,
        CoreTimeKind::Send,
        CoreTimeKind::Register,
        CoreTimeKind::Serve,
    ];
    let mut simulation = run(&plan(LOADED), 150);
    settle(&mut simulation);
    let mut busy = 0;
    for core in servers(&simulation)[0].engines::<NetStack>() {
        let spent = |kind| core.times().spent_ps(kind, us(150));
        assert_eq!(KINDS.into_iter().map(spent).sum::<u64>(), us(150).ps());
        busy += u32::from(spent(CoreTimeKind::Idle) < us(150).ps());
    }
    assert_eq!(busy, 2, "a core for each flow");
}

#[test]
fn upi_traffic_equals_that_of_remote_sockets() {
    let mut simulation = run(&plan(LOADED), 100);
    settle(&mut simulation);
    let machine = servers(&simulation)[0];
    let of = |group| crate::common::acquired(machine, group, 0);
    let (reads, writes) = (of(PoolGroup::C2mRead), of(PoolGroup::C2mWrite));
    assert!(reads > 1000 && writes > 500, "{reads} reads, {writes} writes");
    let channels = crate::common::counters(machine, us(100));
    let lines = |pick: fn(&hostnet_model::memory::Counters) -> u64| channels.iter().map(pick).sum::<u64>();
    let read = lines(|counters| counters.reads[0]);
    assert!(read <= reads && reads - read <= 3 * 40 + 200, "memory read {read} of {reads} lines");
}

#[test]
fn a_controller_that_only_watches_changes_nothing() {
    let watch = format!("{LOADED}[host.receiver.control]\nrule = \"watch\"\n");
    let result = |text: &str| {
        let mut simulation = run(&plan(text), 120);
        settle(&mut simulation);
        let machine = servers(&simulation)[0];
        let frames: Vec<_> = nic(machine).flows().iter().map(|flow| flow.delivered).collect();
        let levels =
            domains(machine).iter().map(|(name, _, domain)| (name.clone(), domain.area_ps())).collect::<Vec<_>>();
        (frames, levels)
    };
    assert_eq!(result(&watch), result(LOADED));
}

#[test]
fn a_congested_sender_marks_what_it_sends() {
    let text = |control: &str| {
        format!(
            "[host.sender]\npreset = \"cascade-lake-hostcc\"\n{control}[host.receiver]\nkind = \"endpoint\"\n\
             [network]\nmtu = \"4096 B\"\n[flow.f]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\ncount = 2\n"
        )
    };
    let control = "[host.sender.control]\nrule = \"echo-only\"\nside = \"sender\"\noccupancy = 20.0\n";
    let sent = |text: &str| {
        let simulation = run(&plan(text), 1000);
        let all = crate::cluster::stats::streams(&simulation);
        let sum = |pick: fn(&crate::cluster::stats::Stream) -> u64| all.iter().map(pick).sum::<u64>();
        let marked_by_host = sum(|end| end.counts.map_or(0, |counts| counts.marked_by_host));
        (
            sum(|end| end.application.received_bytes()),
            marked_by_host,
            sum(|end| end.connection.counters().segments_marked),
        )
    };
    let (free, by_host, marked) = sent(&text(""));
    assert_eq!((by_host, marked), (0, 0));
    let (bytes, by_host, marked) = sent(&text(control));
    assert!(by_host > 100 && marked > 100 && marked <= by_host, "{marked} of {by_host} marked packets came");
    assert!(2 * bytes < free, "what marks slow down: {bytes} bytes, {free} without");
}

#[test]
fn an_echo_marks_packets_before_the_transport_sees_them() {
    let control = "[host.receiver.control]\nrule = \"echo-only\"\noccupancy = 20.0\ntarget = \"99 Gbps\"\n";
    let text = LOADED.replace("bytes = \"1213200 B\"\n", "") + control;
    let simulation = run(&plan(&text), 300);
    let mut marked = 0;
    for end in crate::cluster::stats::streams(&simulation) {
        let Some(counts) = end.counts else { continue };
        marked += counts.marked_by_host;
        assert!(end.connection.counters().segments_marked > 0, "TCP sees what the host marks");
        assert_eq!(counts.marked, 0, "the switch marks nothing");
    }
    assert!(marked > 0, "an occupancy of 20 lines is always there");
}

#[test]
fn every_class_of_traffic_has_books_of_its_own_however_many_there_are() {
    let mut text = "[host.receiver]\npreset = \"cascade-lake-hostcc\"\n\
        [host.receiver.workload.a]\nkind = \"stream\"\ncores = \"0\"\n\
        [host.receiver.workload.b]\nkind = \"stream\"\ncores = \"1\"\n\
        [host.sender]\nkind = \"endpoint\"\n"
        .to_owned();
    for class in 0..128 {
        text += &format!("[flow.f{class}]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\nbytes = \"40 kB\"\n");
    }
    let mut simulation = run(&plan(&text), 400);
    settle(&mut simulation);
    let machine = servers(&simulation)[0];
    for class in 0..130 {
        let of = |group| crate::common::acquired(machine, group, class);
        let (devices, written) = (of(PoolGroup::P2mWrite), of(PoolGroup::ChaWrite));
        assert!(class < 2 || devices > 0, "class {class} received nothing");
        assert!(
            written <= of(PoolGroup::Tor) && devices <= written + 93,
            "class {class}: {devices} lines, {written} at the CHA"
        );
    }
}
