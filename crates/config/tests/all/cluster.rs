//! Valid clusters and the plans that they resolve to.

use crate::common::{assert_tells, cluster, cluster_text, told};
use hostnet_config::{cluster_template, is_cluster, resolve, Code, Format, Input, Plan};
use hostnet_params::{
    CableEnd, CongestionControl, ControlRule, EcnParams, FlowParams, HostKind, ServerParams, Traffic, Transport,
};
use proptest::prelude::*;
use std::fmt::Write;

const TEMPLATES: [&str; 11] =
    ["hostcc", "dumbbell", "incast", "rdma", "ping", "forward", "rack-pool", "mcn", "inceptionn", "h100", "nvl72"];

/// Checks that the effective form of a plan resolves to the plan again.
fn assert_comes_back(plan: &Plan) {
    let effective = plan.effective.to_string();
    let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
    assert_eq!(again.cluster, plan.cluster);
    assert_eq!((&again.hash, &again.effective), (&plan.hash, &plan.effective));
}

fn server<'a>(plan: &'a Plan, name: &str) -> &'a ServerParams {
    match plan.cluster.hosts.iter().find(|host| host.name == name).map(|host| &host.kind) {
        Some(HostKind::Server(server)) => server,
        _ => panic!("{name} is no server"),
    }
}

fn template(name: &str, overrides: &[&str]) -> Plan {
    cluster(cluster_template(name).unwrap(), overrides)
}

#[test]
fn every_template_resolves_and_its_effective_form_gives_the_same_plan() {
    for name in TEMPLATES {
        assert!(is_cluster(cluster_template(name).unwrap(), Format::Toml), "{name}");
        assert_comes_back(&template(name, &[]));
    }
    assert!(!is_cluster(hostnet_config::template(), Format::Toml));
    let fault = cluster_template("incst").unwrap_err();
    assert!(fault.code == Code::UnknownName && fault.message.contains("\"incast\""), "{fault}");
}

#[test]
fn a_host_has_the_nic_the_cores_and_the_control_that_the_document_gives_it() {
    let plan = template("hostcc", &[]);
    let receiver = server(&plan, "receiver");
    let nic = receiver.socket().nic.as_ref().unwrap();
    let stack = receiver.stack.as_ref().unwrap();
    assert_eq!((nic.buffer_bytes, nic.frame_bytes, nic.descriptor_bytes, nic.queues), (512_000, 4014, 4096, 5));
    assert_eq!(nic.pcie.bytes_per_s, 15_753_846_153, "16 lanes of generation 3");
    assert_eq!((nic.pcie.mps_bytes, nic.pcie.mrrs_bytes), (256, 512));
    assert_eq!(stack.cores, [0, 1, 2, 3, 4], "four of bulk and one of rpc");
    let remote = receiver.socket().remote.as_ref().unwrap();
    assert_eq!(remote.cores.iter().map(|core| (core.socket, core.class)).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(remote.cores[0].stream.reads, 1 << 31);
    let Some(ControlRule::HostCc(hostcc)) = receiver.control.as_ref().map(|control| control.rule.clone()) else {
        panic!()
    };
    assert_eq!((hostcc.target_bytes_per_s, hostcc.occupancy), (10_500_000_000, 70 << 10), "84 Gbps at PCIe");
    assert!(hostcc.local && hostcc.echo);
    let flows = &plan.cluster.flows;
    assert_eq!(
        flows.iter().map(|flow| (flow.class, flow.to_core)).collect::<Vec<_>>(),
        [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4)]
    );
    assert_eq!(plan.cluster.classes, ["bulk", "rpc"]);
    assert_eq!(
        flows[4].traffic,
        Traffic::Rpc { request_bytes: 128, response_bytes: 128, other: None, in_flight: 1, think_ps: 0 }
    );
}

#[test]
fn a_core_may_have_workloads_and_sockets() {
    let shared = "host.receiver.workload.s={kind='stream',cores='0-1'}";
    let receiver = |plan: &Plan| server(plan, "receiver").stack.as_ref().unwrap().cores.clone();
    let plan = template("hostcc", &[shared, "flow.bulk.to_cores=0-3"]);
    assert_eq!(receiver(&plan), [0, 1, 2, 3, 4], "those that are named, and a free one");
    assert_comes_back(&plan);
}

#[test]
fn rules_of_control_are_what_they_are_called() {
    let rule = |overrides: &[&str]| {
        server(&template("hostcc", overrides), "receiver").control.as_ref().map(|control| control.rule.clone())
    };
    let parts = |name: &str| match rule(&[&format!("host.receiver.control.rule={name}")]) {
        Some(ControlRule::HostCc(hostcc)) => (hostcc.local, hostcc.echo),
        other => panic!("{other:?}"),
    };
    assert_eq!((parts("echo-only"), parts("local-only")), ((false, true), (true, false)));
    assert_eq!(rule(&["host.receiver.control.rule=none"]), None);
    assert_eq!(rule(&["host.receiver.control.rule=watch"]), Some(ControlRule::Watch));
    let fixed = ["host.receiver.control.rule=fixed", "host.receiver.control.level=3"];
    assert_eq!(rule(&fixed), Some(ControlRule::Fixed(3)));
    let user = ["host.receiver.control.rule=user", "host.receiver.control.name=mine"];
    assert_eq!(rule(&user), Some(ControlRule::User("mine".to_string())));
}

#[test]
fn tcp_is_as_linux_has_it_and_the_segment_follows_the_mtu() {
    let plan = template("hostcc", &[]);
    let Transport::Tcp(tcp) = &plan.cluster.flows[0].transport else { panic!("TCP was asked for") };
    assert_eq!(tcp.control, CongestionControl::Dctcp { gain: 4096, alpha: 65536 });
    assert_eq!((tcp.mss_bytes, tcp.tso_bytes, tcp.initial_window), (3948, 65536, 10));
    assert_eq!((tcp.receive_buffer_bytes, tcp.send_buffer_bytes), (1 << 20, 1 << 20));
    assert_eq!((tcp.rto_min_ps, tcp.ack_segments, tcp.ack_delay_ps), (200_000_000_000, 2, 40_000_000_000));
    let Transport::Tcp(cubic) =
        &template("hostcc", &["flow.bulk.transport=cubic", "flow.bulk.mtu=9000 B"]).cluster.flows[0].transport.clone()
    else {
        panic!()
    };
    assert_eq!((&cubic.control, cubic.mss_bytes), (&CongestionControl::Cubic, 8948));
}

#[test]
fn a_larger_mtu_takes_larger_descriptors() {
    let plan = template("hostcc", &["network.mtu=9000 B"]);
    assert_eq!(server(&plan, "receiver").socket().nic.as_ref().unwrap().descriptor_bytes, 16384);
}

#[test]
fn a_dumbbell_has_two_switches_and_one_cable_between_them() {
    let plan = template("dumbbell", &["host.sender.count=3", "host.receiver.count=3"]);
    let cluster = &plan.cluster;
    assert_eq!(cluster.switches.iter().map(|switch| switch.name.as_str()).collect::<Vec<_>>(), ["left", "right"]);
    let bottleneck = cluster.cables.last().unwrap();
    assert_eq!((bottleneck.ends, bottleneck.bytes_per_s), ([CableEnd::Switch(0), CableEnd::Switch(1)], 1_250_000_000));
    assert_eq!(cluster.cables.len(), 7);
    assert!(cluster.cables[..6].iter().all(|cable| cable.bytes_per_s == 5_000_000_000));
    let names: Vec<&str> = cluster.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["receiver-0", "receiver-1", "receiver-2", "sender-0", "sender-1", "sender-2"]);
    assert_eq!(
        cluster.flows.iter().map(|flow| (flow.from, flow.to)).collect::<Vec<_>>(),
        [(3, 0), (4, 1), (5, 2)],
        "in pairs"
    );
    assert_eq!(cluster.flows.iter().map(|flow| flow.start_ps).collect::<Vec<_>>(), [0, 500_000_000, 1_000_000_000]);
    assert_eq!(cluster.switches[0].ecn, Some(EcnParams::Packets(65)));
}

#[test]
fn a_cable_of_a_topology_is_named_after_its_host() {
    let overrides = [
        "host.sender.count=3",
        "cable.sender.rate=25 Gbps",
        "cable.sender.corrupt=0.5",
        "cable.sender-1.rate=1 Gbps",
        "cable.sender-1.down=[[\"1 ms\", \"2 ms\"]]",
        "network.bottleneck.down=[[\"3 ms\", \"4 ms\"]]",
    ];
    let plan = template(
        "dumbbell",
        &overrides.iter().map(|text| &**text).chain(["host.receiver.count=3"]).collect::<Vec<_>>(),
    );
    let cables = &plan.cluster.cables;
    let rates: Vec<u64> = cables[3..6].iter().map(|cable| cable.bytes_per_s * 8 / 1_000_000_000).collect();
    assert_eq!(rates, [25, 1, 25], "a single host says more than its table");
    assert_eq!(cables[4].down_ps, [(1_000_000_000, 2_000_000_000)]);
    assert_eq!(cables[4].corrupt, cables[3].corrupt);
    assert!(cables[..3].iter().all(|cable| cable.corrupt == 0 && cable.down_ps.is_empty()));
    assert_eq!(cables[6].down_ps, [(3_000_000_000, 4_000_000_000)]);
    assert_comes_back(&plan);
}

#[test]
fn incast_has_every_sender_and_rdma_no_core() {
    let incast = template("incast", &["flow.answer.count=2"]);
    assert_eq!(incast.cluster.flows.len(), 16);
    assert_eq!(incast.cluster.switches[0].alpha, 65536);
    let rdma = template("rdma", &[]);
    let Transport::Roce(roce) = &rdma.cluster.flows[0].transport else { panic!("RoCE was asked for") };
    assert_eq!((roce.mtu_bytes, roce.message_bytes, roce.dcqcn), (4096, 65536, None));
    assert_eq!(rdma.cluster.flows[0].priority, 3);
    assert_eq!(server(&rdma, "server").socket().nic.as_ref().unwrap().queues, 0);
    let dcqcn = template("rdma", &["flow.write.transport=dcqcn", "flow.write.kind=read", "flow.write.mtu=1500 B"]);
    let Transport::Roce(roce) = &dcqcn.cluster.flows[0].transport else { panic!("RoCE was asked for") };
    assert_eq!((roce.mtu_bytes, roce.dcqcn.unwrap().additive_bytes_per_s), (1024, 5_000_000));
}

#[test]
fn thresholds_of_marking_are_packets_bytes_or_a_ramp() {
    let ecn = |text: &str| template("dumbbell", &[&format!("network.switch.ecn={text}")]).cluster.switches[0].ecn;
    assert_eq!(ecn("1 packet"), Some(EcnParams::Packets(1)));
    assert_eq!(ecn("100 kB"), Some(EcnParams::Bytes(100_000)));
    assert_eq!(ecn("off"), None);
    let ramp = "{ min = \"5 kB\", max = \"200 kB\", most = 0.01 }";
    assert_eq!(ecn(ramp), Some(EcnParams::Ramp { min_bytes: 5000, max_bytes: 200_000, most: 42_949_673 }));
}

#[test]
fn a_seed_and_a_device_of_one_host_leave_the_others_as_they_are() {
    let text = "[host.a]\npreset = \"cascade-lake-hostcc\"\n[host.b]\npreset = \"cascade-lake-hostcc\"\n\
                [host.a.memory.dram]\nranks = 1\n[flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n";
    let plain = cluster(text, &[]);
    let [a, b] = ["a", "b"].map(|name| server(&plain, name).clone());
    assert_ne!(a.seed, b.seed);
    assert_ne!(a.socket().memory, b.socket().memory);
    let replaced = cluster(text, &["host.a.memory.device=DDR4_3200"]);
    assert_ne!(server(&replaced, "a").socket().memory.dram.timing, a.socket().memory.dram.timing);
    assert_eq!(server(&replaced, "b").socket().memory, b.socket().memory);
    assert_comes_back(&replaced);
}

/// Returns the plan of two endpoints and a flow with these keys, in a folder with a file.
fn beside(file: &str, content: &[u8], flow: &str) -> Result<Plan, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), content).unwrap();
    let text = format!(
        "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let input = Input { text: &text, format: Format::Toml, file: "t.toml", base_dir: folder.path(), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

#[test]
fn segments_that_a_nic_cuts_are_replayed_as_it_cuts_them() {
    let ipv6 = [&[0x60, 0, 0, 0, 0, 0, 6, 64][..], &[0; 32]].concat();
    let tcp = [&[0; 12][..], &[0x80], &[0; 19]].concat();
    let frame = [&[2; 12][..], &[0x86, 0xdd], &ipv6, &tcp].concat();
    let capture = |frame: &[u8], whole: usize| {
        let mut writer = hostnet_traffic::pcap::Writer::new(Vec::new(), 128).unwrap();
        writer.frame(0, frame, whole as u32).unwrap();
        writer.frame(2_000_000, frame, 14 + 1500).unwrap();
        writer.finish().unwrap()
    };
    let plan = beside("a.pcap", &capture(&frame, 14 + 80_072), "kind = \"replay\"\npcap = \"a.pcap\"").unwrap();
    let Traffic::Replay { packets } = &plan.cluster.flows[0].traffic else { panic!("a replay") };
    // 80000 B of data behind headers of 72 B: 56 segments of 1428 B, and 32 B.
    let expected: Vec<(u64, u32)> = [vec![(0, 1500); 56], vec![(0, 104), (2_000_000, 1500)]].concat();
    assert_eq!(packets, &expected);
    assert_eq!(plan.ignored.len(), 1, "{:?}", plan.ignored);
    assert!(plan.ignored[0].contains("flow.f.pcap: 1 TCP packets"), "{:?}", plan.ignored);
    let udp = [&frame[..20], &[17], &frame[21..]].concat();
    for bytes in [80_072, 9_000] {
        let error = beside("a.pcap", &capture(&udp, 14 + bytes), "kind = \"replay\"\npcap = \"a.pcap\"").unwrap_err();
        assert_tells(&error, &["[does-not-fit flow.f.pcap]", &format!("{bytes} B")]);
    }
}

#[test]
fn sizes_of_files_are_those_of_points() {
    let own = "kind = \"bulk\"\npairs = \"random\"\ncount = 2000\nsizes = ";
    let drawn = |file: &str, content: &str| {
        let plan = beside(file, content.as_bytes(), &format!("{own}\"{file}\"")).unwrap();
        assert_comes_back(&plan);
        let bytes = |flow: &FlowParams| match flow.traffic {
            Traffic::Bulk { bytes } => bytes,
            _ => panic!("bulk"),
        };
        plan.cluster.flows.iter().map(bytes).collect::<Vec<u64>>()
    };
    let percent = drawn("cdf.txt", "0 0\n10000 15\n80000 53\n1000000 70\n5000000 90\n30000000 100\n");
    let shares = "bytes,share\n0,0\n10000,0.15\n80000,.53\n1000000,.7\n5000000,.9\n30000000,1\n";
    assert_eq!(drawn("cdf.csv", shares), percent);
    let small = percent.iter().filter(|&&bytes| bytes <= 80_000).count() as f64 / percent.len() as f64;
    assert!((small - 0.53).abs() < 0.04 && percent.iter().all(|&bytes| bytes > 0), "{small}");
    let error = beside("cdf.txt", b"1 0.5\n2 0.9\n", &format!("{own}\"cdf.txt\"")).map(|_| ()).unwrap_err();
    assert_tells(&error, &["[bad-distribution flow.f.sizes] cdf.txt:2: ", "0.9"]);
    let error = beside("x.txt", b"", &format!("{own}\"websearch-cdf\"")).map(|_| ()).unwrap_err();
    assert_tells(&error, &["[unknown-name flow.f.sizes] \"websearch-cdf\""]);
}

#[test]
fn a_capture_is_replayed_with_its_times_scaled() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = hostnet_traffic::pcap::Writer::new(Vec::new(), 64).unwrap();
    for at in 0..3u64 {
        writer.frame(at * 1_000_000, &[0; 64], 514).unwrap();
    }
    std::fs::write(folder.path().join("a.pcap"), writer.finish().unwrap()).unwrap();
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
                [flow.f]\nkind = \"replay\"\nfrom = \"a\"\nto = \"b\"\npcap = \"a.pcap\"\nscale = 0.5\n";
    let resolve = |text: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
        resolve(&Input { text, format: Format::Toml, file: "t.toml", base_dir: folder.path(), overrides: &overrides })
    };
    let plan = resolve(text, &[]).unwrap();
    assert_eq!(
        plan.cluster.flows[0].traffic,
        Traffic::Replay { packets: vec![(0, 500), (500_000, 500), (1_000_000, 500)] }
    );
    assert_comes_back(&plan);
    let error = told(&resolve(text, &["flow.f.mtu=400 B"]).unwrap_err());
    assert_tells(&error, &["[does-not-fit flow.f.mtu]", "500 B", "400 B"]);
    std::fs::write(folder.path().join("a.pcap"), b"no capture at all, but long enough").unwrap();
    let error = told(&resolve(text, &[]).unwrap_err());
    assert_tells(&error, &["[malformed-file flow.f.pcap]", "a.pcap: ", "byte 0"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_legal_cluster_resolves(
        hosts in 2usize..12,
        server in any::<bool>(),
        switches in 1usize..4,
        flows in prop::collection::vec((any::<prop::sample::Index>(), 1usize..12, 0usize..5, 1u32..4), 1..6),
        gigabits in 1u64..400,
        packets in 1u32..1000,
    ) {
        let mut text = format!("[network]\nrate = \"{gigabits} Gbps\"\nswitch.ecn = \"{packets} packets\"\n");
        for at in 0..hosts {
            let kind = if server && at == 0 { "preset = \"cascade-lake-hostcc\"" } else { "kind = \"endpoint\"" };
            let _ = writeln!(text, "[host.h{at}]\n{kind}\n[cable.c{at}]\nends = [\"h{at}\", \"s{}\"]", at % switches);
        }
        for at in 0..switches {
            let _ = writeln!(text, "[switch.s{at}]");
            if at > 0 {
                let _ = writeln!(text, "[cable.t{at}]\nends = [\"s{at}\", \"s{}\"]\nlatency = \"{at} us\"", at - 1);
            }
        }
        for (at, (from, step, kind, count)) in flows.iter().enumerate() {
            let from = from.index(hosts);
            let to = (from + 1 + step % (hosts - 1)) % hosts;
            let kind = ["bulk", "rpc", "write", "read", "bulk"][*kind];
            let extra = if kind == "rpc" { "request = \"2 kB\"" } else { "bytes = \"1 MB\"" };
            let _ = writeln!(
                text,
                "[flow.f{at}]\nkind = \"{kind}\"\nfrom = \"h{from}\"\nto = \"h{to}\"\ncount = {count}\n{extra}"
            );
        }
        let unused = (0..switches).find(|switch| *switch >= hosts && switches == 1);
        prop_assume!(unused.is_none());
        let plan = cluster(&text, &[]);
        prop_assert_eq!(plan.cluster.hosts.len(), hosts);
        prop_assert_eq!(plan.cluster.cables.len(), hosts + switches - 1);
        prop_assert_eq!(plan.cluster.flows.len(), flows.iter().map(|flow| flow.3 as usize).sum::<usize>());
        prop_assert!(plan.cluster.flows.iter().all(|flow| flow.from != flow.to));
        assert_comes_back(&plan);
    }
}
