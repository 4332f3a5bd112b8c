//! Properties of random valid clusters: no packet, byte or credit is lost.

use crate::cluster::lab::{drain, plan, run, servers, settle};
use crate::cluster::stats::assert_conserved;
use crate::common::laws::{assert_books, cases};
use proptest::prelude::*;

const TCP: &str = "rto_min = \"200 us\"\nrto_initial = \"400 us\"\nack_delay = \"50 us\"";

/// Generates a server with few entries of everything.
fn server(name: &'static str) -> impl Strategy<Value = String> {
    let nic = (2_u32..200, 6_u32..300, 0_u32..2, any::<bool>(), 0_u32..12, 1_u32..200);
    let stack = (any::<bool>(), 1_u32..65, prop::sample::select(vec![0, 9, 64]), 0_u32..5, any::<bool>());
    let other = (1_u32..94, 0_u32..3, 0_u32..3);
    (nic, stack, other).prop_map(move |(nic, stack, (credits, streams, remote))| {
        let (ring, kib, half, lro, coalesce, moderated) = nic;
        let (poll, budget, gro, lines, cached) = stack;
        let mut text = format!(
            "[host.{name}]\npreset = \"cascade-lake-hostcc\"\niio.write_credits = {credits}\n\
             [host.{name}.nic]\nring = {ring}\nbuffer = \"{} KiB\"\nlro = {lro}\ncoalesce = \"{coalesce} us\"\n\
             coalesce_packets = {moderated}\nsend_window = \"{} KiB\"\n\
             [host.{name}.stack]\npoll = {poll}\nbudget = {budget}\ngro = \"{gro} KiB\"\nextra_lines = {lines}\n\
             cached_user = {cached}\n",
            kib.max(20),
            32 << half
        );
        if streams > 0 {
            text += &format!(
                "[host.{name}.workload.stream]\nkind = \"stream\"\ncores = \"0-{}\"\nreads = 0.5\n",
                streams - 1
            );
        }
        if remote > 0 {
            text += &format!(
                "[host.{name}.workload.mapp]\nkind = \"remote\"\nsockets = \"0-{}\"\nreads = 0.5\n",
                remote - 1
            );
        }
        text
    })
}

/// Generates a flow between two hosts, with its own transport.
fn flow(index: usize) -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec![("a", "b"), ("b", "a"), ("c", "a"), ("a", "c"), ("c", "b")]);
    let base = prop::sample::select(vec!["dctcp", "cubic", "reno"]);
    let tcp = (base, any::<bool>(), any::<bool>(), 1_u32..5, 20_u32..400, prop::sample::select(vec![4, 32, 64]));
    let kind = prop_oneof![
        Just("kind = \"bulk\"".to_owned()),
        (1_u32..600).prop_map(|kb| format!("kind = \"bulk\"\nbytes = \"{kb} kB\"")),
        (1_u32..40_000, 1_u32..40_000, 1_u32..4, 0_u32..20).prop_map(|(request, response, depth, think)| format!(
            "kind = \"rpc\"\nrequest = \"{request} B\"\nresponse = \"{response} B\"\nin_flight = {depth}\n\
            think = \"{think} us\""
        )),
    ];
    (ends, tcp, kind, 1_u32..3, any::<bool>()).prop_map(move |((from, to), tcp, kind, count, deaf)| {
        let (base, sack, probe, acks, kib, tso) = tcp;
        let deaf = if deaf { "deaf = [\"60 us\", \"150 us\"]\n" } else { "" };
        format!(
            "[transport.t{index}]\nbase = \"{base}\"\n{TCP}\nsack = {sack}\ntail_loss_probe = {probe}\n\
            ack_segments = {acks}\n\
             receive_buffer = \"{kib} KiB\"\nsend_buffer = \"{} KiB\"\ntso = \"{tso} KiB\"\n\
             [flow.f{index}]\nfrom = \"{from}\"\nto = \"{to}\"\n{kind}\ntransport = \"t{index}\"\ncount = {count}\n\
             {deaf}",
            kib.max(64)
        )
    })
}

/// Generates an RDMA flow between two hosts, with or without PFC at hosts and switches.
fn rdma() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec![("a", "c"), ("c", "a"), ("b", "a"), ("a", "b"), ("c", "b")]);
    let base = prop::sample::select(vec!["roce", "dcqcn"]);
    (ends, base, any::<bool>(), any::<bool>(), 1_u32..100_000, 1_u32..20, 1_u32..4).prop_map(
        |((from, to), base, write, pfc, message, depth, count)| {
            let kind = if write { "write" } else { "read" };
            let pfc = if pfc {
                "[switch.s.pfc]\nxoff = \"10 kB\"\nxon = \"5 kB\"\n[host.a.nic.pfc]\nxoff = \"10 kB\"\nxon = \"5 kB\"\n"
            } else {
                ""
            };
            format!(
                "{pfc}[transport.r]\nbase = \"{base}\"\nmessage = \"{message} B\"\nin_flight = {depth}\n\
                timeout = \"100 us\"\n\
                 [flow.r]\nkind = \"{kind}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"r\"\ncount = {count}\n\
                 mtu = \"4200 B\"\n"
            )
        },
    )
}

/// Generates a UDP flow between two hosts; its socket buffers may hold only one datagram.
fn datagrams() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec![("a", "c"), ("c", "a"), ("b", "a"), ("a", "b"), ("c", "b")]);
    let pattern = prop_oneof![
        Just("size = \"100 B\"".to_owned()),
        (1_u32..100, 1_u32..9000).prop_map(|(bytes, mbps)| format!("size = \"{bytes} B\"\nrate = \"{mbps} Mbps\"")),
        (1_u32..100, 1_u32..100, 0_u32..20, 10_u32..60).prop_map(|(request, response, think, timeout)| format!(
            "pattern = \"ping\"\nrequest = \"{request} B\"\nresponse = \"{response} B\"\nthink = \"{think} us\"\n\
             timeout = \"{timeout} us\""
        )),
        Just("pattern = \"generate\"\nsize = \"64 B\"".to_owned()),
    ];
    (ends, pattern, 1_u32..3, prop::sample::select(vec![1, 2000, 200_000])).prop_map(
        |((from, to), pattern, count, buffer)| {
            let from = if pattern.contains("generate") { "a" } else { from };
            let to = if from == to { "c" } else { to };
            format!(
                "[flow.d]\nkind = \"datagram\"\nfrom = \"{from}\"\nto = \"{to}\"\n{pattern}\ncount = {count}\n\
                 buffer = \"{buffer} B\"\n"
            )
        },
    )
}

/// Returns the keys of a learning switch that forgets addresses quickly.
pub(crate) fn learning(number: u32) -> String {
    format!(
        "kind = \"learning\"\ntable = {}\nttl = \"{} us\"\nfabric = \"{} Gbps\"\ndelay = \"{} ns\"\n\
         jitter = \"{} ns\"\n",
        1 + number % 7,
        1 + number / 2,
        1 + number % 60,
        number % 3 * 450,
        number % 2 * 3000
    )
}

/// Generates a cluster of two servers, an endpoint and a switch.
pub(crate) fn cluster() -> impl Strategy<Value = String> {
    let network = (
        1_u32..101,
        256_u32..9001,
        6_u32..300,
        prop::sample::select(vec![0, 0, 2]),
        any::<bool>(),
        1_u32..100,
        1_u32..400,
    );
    let other = prop_oneof![
        server("b"),
        (1_u32..3000).prop_map(|ns| format!("[host.b]\nkind = \"endpoint\"\nlatency = \"{ns} ns\"\n"))
    ];
    let flows = (
        flow(0),
        prop::option::of(flow(1)),
        prop::option::of(flow(2)),
        prop::option::of(rdma()),
        prop::option::of(datagrams()),
    );
    (server("a"), other, network, flows, any::<u32>()).prop_map(|(a, b, network, flows, seed)| {
        let (gbps, mtu, kib, corrupt, flap, ecn, learns) = network;
        let down = if flap { "down = [[\"80 us\", \"95 us\"]]\n" } else { "" };
        let learning = (learns < 200).then(|| learning(learns));
        [
            a,
            b,
            "[host.c]\nkind = \"endpoint\"\n".to_owned(),
            format!("[network]\nmtu = \"{mtu} B\"\nrate = \"{gbps} Gbps\"\n"),
            format!("[switch.s]\nbuffer = \"{} KiB\"\necn = \"{} KiB\"\n", kib.max(20), ecn.min(kib.max(20))),
            learning.filter(|_| !flows.3.iter().any(|rdma| rdma.contains("switch.s.pfc"))).unwrap_or_default(),
            "[cable.a]\nends = [\"a\", \"s\"]\n".to_owned(),
            format!("[cable.b]\nends = [\"b\", \"s\"]\ncorrupt = 0.0{corrupt}\n"),
            format!("[cable.c]\nends = [\"c\", \"s\"]\n{down}"),
            flows.0,
            flows.1.unwrap_or_default(),
            flows.2.unwrap_or_default(),
            flows.3.unwrap_or_default(),
            flows.4.unwrap_or_default(),
            format!("[run]\nseed = {seed}\n"),
        ]
        .concat()
    })
}

proptest! {
    #![proptest_config(cases(5))]

    #[test]
    fn what_is_sent_arrives_or_is_dropped_for_a_reason(text in cluster(), until_us in 100_u64..300) {
        let plan = plan(&text);
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        servers(&simulation).into_iter().for_each(assert_books);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        servers(&simulation).into_iter().for_each(assert_books);
    }
}

proptest! {
    // Each host of a rate per load measures its memory first, which takes most of the time.
    #![proptest_config(cases(2))]

    #[test]
    fn coarser_hosts_lose_no_packet_either(text in cluster(), fluid: bool, until_us in 100_u64..300) {
        let fidelity = if fluid { "fluid" } else { "burst" };
        let preset = "preset = \"cascade-lake-hostcc\"\n";
        let plan = plan(&text.replace(preset, &format!("{preset}fidelity = \"{fidelity}\"\n")));
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
    }
}
