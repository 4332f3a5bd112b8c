//! What is wrong with a cluster is said with its place and its rule.

use crate::common::{cluster_text, says};
use hostnet_config::Format;

/// Two endpoints and a server, and a flow from one endpoint to the server.
const BASE: &str =
    "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.s]\npreset = \"cascade-lake-hostcc\"\n\
                    [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"s\"\n";

#[test]
fn names_that_do_not_exist_have_a_nearest_one() {
    says(BASE, &["flow.f.from=x"], &["--set flow.f.from=x: flow.f.from: there is no host \"x\"; did you mean \"a\"?"]);
    says(BASE, &["flow.f.transport=dctp"], &["did you mean \"dctcp\"?"]);
    says(BASE, &["host.a.kind=endpont"], &["host.a.kind", "did you mean \"endpoint\"?"]);
    says(BASE, &["host.s.preset=cascade-lake-hostc"], &["host.s.preset", "did you mean \"cascade-lake-hostcc\"?"]);
    says(BASE, &["host.s.nic.bufer=1 MB"], &["host.s.nic.bufer: unknown key; did you mean \"buffer\"?"]);
    says(
        BASE,
        &["host.ss.nic.ring=512"],
        &["host.ss.preset: missing; a server starts from a preset (", "; did you mean host.s?"],
    );
    says(BASE, &["host.other.nic.ring=512"], &["host.other.preset: missing; a server starts from a preset"]);
    says(BASE, &["flow.f.sz=1"], &["flow.f.sz: unknown key"]);
    says(
        BASE,
        &["transport.mine.rto_min=1 ms"],
        &["transport.mine.base: missing; one of cubic, dcqcn, dctcp, reno, roce is wanted"],
    );
    let cabled = [BASE, "[switch.tor]\n[cable.x]\nends = [\"a\", \"torr\"]\n"].concat();
    says(&cabled, &[], &["test.toml:13: cable.x.ends: there is no host or switch \"torr\"; did you mean \"tor\"?"]);
}

#[test]
fn services_have_their_keys_and_are_at_endpoints_and_servers() {
    let text = BASE.replace("kind = \"bulk\"", "kind = \"service\"\nrequest = \"64 B\"");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let rate = "flow.f.service.rate=100";
    says(&[], &["flow.f.service: missing; give when requests come"]);
    says(&["flow.f.service.time=1 us"], &["flow.f.service.rate", "missing"]);
    let at = "flow.f.to=b";
    assert!(cluster_text(&text, Format::Toml, &[rate]).is_ok(), "threads of a server");
    says(&[rate, at, "flow.f.service.cycles=1000"], &["flow.f.service.cycles", "is an endpoint, which has no cores"]);
    assert!(cluster_text(&text, Format::Toml, &[rate, at]).is_ok());
    says(&[rate, at, "flow.f.service.distribution=exponental"], &["did you mean \"exponential\"?"]);
    says(&[rate, at, "flow.f.service.deviation=2"], &["deviation", "only with distribution = \"lognormal\""]);
    says(&[rate, at, "flow.f.service.requests=web-search"], &["flow.f.service.requests", "give one"]);
    says(&[rate, at, "flow.f.service.responses=web-serch"], &["did you mean \"web-search\"?"]);
    says(&[rate, at, "flow.f.transport=roce"], &["flow.f.transport", "requests and answers need TCP"]);
    says(&[rate, at, "flow.f.service.worker=2"], &["did you mean \"workers\"?"]);
}

#[test]
fn a_core_of_a_rank_that_sends_at_another_rate_has_one_that_receives() {
    let text = "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"barrier\"\nhosts = \"e\"\n";
    let (sends, receives) = ("job.j.socket_send_rate=9 Gbps", "job.j.socket_rate=9 Gbps");
    says(text, &[sends], &["job.j.socket_send_rate", "only with job.j.socket_rate"]);
    says(text, &[receives, "job.j.socket_send_rate=0 Gbps"], &["job.j.socket_send_rate", "is out of range"]);
    assert!(cluster_text(text, Format::Toml, &[sends, receives]).is_ok());
}

#[test]
fn datagrams_fit_a_packet_and_have_the_keys_of_their_pattern() {
    let text = BASE.replace("bulk", "datagram");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    says(&[], &["flow.f.size: missing; give the bytes of a datagram such as \"64 B\""]);
    says(&["flow.f.pattern=ping"], &["flow.f.request: missing; give the bytes of a request"]);
    says(&["flow.f.pattern=pong"], &["flow.f.pattern", "did you mean \"ping\"?"]);
    says(
        &["flow.f.size=1473 B"],
        &["flow.f.size", "1473 B with headers of 28 B are more than the MTU of 1500 B", "not fragmented"],
    );
    says(&["flow.f.pattern=ping", "flow.f.request=64 B", "flow.f.response=1473 B"], &["flow.f.response", "1473 B"]);
    assert!(cluster_text(&text, Format::Toml, &["flow.f.size=1472 B"]).is_ok());
    assert!(cluster_text(&text, Format::Toml, &["flow.f.size=8972 B", "flow.f.mtu=9000 B"]).is_ok());
    says(&["flow.f.size=64 B", "flow.f.transport=cubic"], &["flow.f.transport", "datagrams go over UDP"]);
    says(&["flow.f.size=64 B", "flow.f.in_flight=4"], &["flow.f.in_flight", "has an effect only with kind = \"rpc\""]);
    says(&["flow.f.size=64 B", "flow.f.deaf=[\"1 us\", \"2 us\"]"], &["flow.f.deaf", "has an effect only with kind"]);
    let ping = ["flow.f.pattern=ping", "flow.f.request=64 B"];
    says(&[ping[0], ping[1], "flow.f.size=64 B"], &["flow.f.size", "only with pattern = \"open\" and \"generate\""]);
    says(&[ping[0], ping[1], "flow.f.rate=1 Gbps"], &["flow.f.rate", "only with pattern = \"open\""]);
    says(&["flow.f.size=64 B", "flow.f.timeout=1 ms"], &["flow.f.timeout", "only with pattern = \"ping\""]);
    says(&["flow.f.size=64 B", "flow.f.request=1 B"], &["flow.f.request", "only with pattern = \"ping\""]);
    says(
        &["flow.f.pattern=generate", "flow.f.size=64 B"],
        &["flow.f.pattern", "\"a\" is an endpoint; a core of a server generates packets"],
    );
    assert!(cluster_text(&text, Format::Toml, &ping).is_ok());
    self::says(BASE, &["flow.f.size=64 B"], &["flow.f.size", "has an effect only with kind = \"datagram\""]);
}

#[test]
fn packets_have_sizes_that_rise_and_fit_a_frame() {
    let text = BASE.replace("bulk", "packets");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let is_fine = |overrides: &[&str]| cluster_text(&text, Format::Toml, overrides).is_ok();
    says(&[], &["flow.f.sizes: missing; give a distribution such as \"database\""]);
    says(&["flow.f.sizes=hadop"], &["flow.f.sizes", "did you mean \"hadoop\"?"]);
    says(&["flow.f.sizes=web-search"], &["flow.f.sizes", "there is no distribution of packets \"web-search\""]);
    let points = |points: &[(u32, f64)]| {
        let each: Vec<String> =
            points.iter().map(|(bytes, share)| format!("{{ bytes = \"{bytes} B\", share = {share} }}")).collect();
        format!("flow.f.sizes=[{}]", each.join(", "))
    };
    let rise = "sizes and shares rise from point to point, and the last share is 1";
    says(&[&points(&[(64, 0.5), (100, 0.4), (200, 1.0)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(100, 0.5), (64, 1.0)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(64, 0.9)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(42, 1.0)])], &["flow.f.sizes", "headers of 42 B and at least 1 B of data; 42 B are less"]);
    assert!(is_fine(&[&points(&[(43, 1.0)])]) && is_fine(&[&points(&[(1514, 1.0)])]));
    says(&[&points(&[(1515, 1.0)])], &["flow.f.sizes", "packets of 1515 B are more than the MTU of 1500 B"]);
    says(&["flow.f.sizes=none.csv"], &["flow.f.sizes", "there is no such file"]);
    says(&["flow.f.sizes=hadoop", "flow.f.arrivals=poisson"], &["flow.f.arrivals", "only with rate"]);
    says(&["flow.f.sizes=hadoop", "flow.f.size=64 B"], &["flow.f.size", "only with kind = \"datagram\""]);
    says(&["flow.f.sizes=hadoop", "flow.f.load=0.5"], &["flow.f.load", "has an effect only with kind"]);
    says(&["flow.f.sizes=hadoop", "flow.f.function=dpi"], &["flow.f.function", "only with kind = \"forward\""]);
    says(&["flow.f.sizes=hadoop", "flow.f.transport=cubic"], &["flow.f.transport", "datagrams go over UDP"]);
}

#[test]
fn what_is_sent_on_comes_from_somewhere_and_goes_somewhere_else() {
    let text =
        BASE.replace("kind = \"bulk\"", "kind = \"packets\"\nsizes = \"database\"").replace("[flow.f]", "[flow.in]");
    let text = [&text, "\n[flow.out]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"s\"\nto = \"b\"\n"].concat();
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let is_fine = |overrides: &[&str]| cluster_text(&text, Format::Toml, overrides).is_ok();
    assert!(is_fine(&[]) && is_fine(&["flow.out.to=a", "flow.in.count=3"]));
    says(&["flow.out.to=s"], &["flow.out.to", "\"s\" sends to itself"]);
    says(&["flow.out.to=c"], &["flow.out.to", "there is no host \"c\""]);
    says(&["flow.out.from=a"], &["flow.out.from", "\"a\" is an endpoint; a core of a server sends packets on"]);
    says(&["flow.out.takes=inn"], &["flow.out.takes: there are no flows \"inn\"; did you mean \"in\"?"]);
    says(&["flow.out.takes=out"], &["flow.out.takes", "a loop"]);
    says(&["flow.out.count=2"], &["flow.out.count", "there is a flow for each that is taken"]);
    says(&["flow.out.from_cores=1"], &["flow.out.from_cores", "on the core at which that ends"]);
    says(&["flow.out.mtu=1000 B"], &["flow.out.mtu", "flow.in has larger packets"]);
    says(&["flow.out.function=l4"], &["flow.out.function", "known are: l3f, dpi"]);
    says(&["flow.in.to=b"], &["flow.out.from", "flow.in ends at \"b\", which is not among them"]);
    says(&["host.s.fidelity=burst"], &["host.s.fidelity", "not simulated line by line"]);
    says(&["host.s.fidelity=fluid"], &["host.s.fidelity", "not simulated line by line"]);
    let lost = text.replace("takes = \"in\"\n", "");
    self::says(&lost, &[], &["flow.out.takes: missing; give the flows whose packets are sent on"]);
    let bulk = text.replace("kind = \"packets\"\nsizes = \"database\"", "kind = \"bulk\"");
    self::says(&bulk, &[], &["\"in\" cannot be sent on"]);
    let twice = [&text, "[flow.more]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"s\"\nto = \"a\"\n"].concat();
    self::says(&twice, &[], &["packets of \"in\" are sent on by"]);
    let more = "[flow.x]\nkind = \"forward\"\ntakes = \"y\"\nfrom = \"s\"\nto = \"b\"\n\
                [flow.y]\nkind = \"forward\"\ntakes = \"x\"\nfrom = \"b\"\nto = \"s\"\n";
    self::says(&[&text, more].concat(), &[], &["a loop"]);
}

#[test]
fn cables_join_what_they_must() {
    let cables = |ends: &[[&str; 2]]| {
        let cable =
            |(at, [one, other]): (usize, &[&str; 2])| format!("[cable.c{at}]\nends = [\"{one}\", \"{other}\"]\n");
        [BASE, "[switch.tor]\n[switch.up]\n", &ends.iter().enumerate().map(cable).collect::<String>()].concat()
    };
    let star = [["a", "tor"], ["b", "tor"], ["s", "up"]];
    says(&cables(&star[..2]), &[], &["host.s: no cable ends at \"s\""]);
    says(&cables(&star), &[], &["flow.f.to", "no way of cables and switches leads from \"a\" to \"s\""]);
    says(
        &cables(&[star[0], star[1], star[2], ["a", "up"]]),
        &[],
        &["cable.c3.ends: a second cable ends at the host \"a\""],
    );
    says(&cables(&[["a", "tor"], ["b", "tor"], ["s", "tor"]]), &[], &["switch.up: no cable ends at this switch"]);
    says(&cables(&[["a", "a"]]), &[], &["both ends are \"a\""]);
    says(&cables(&star), &["network.topology=star"], &["a topology and cables with ends exclude each other"]);
    says(
        &cables(&star),
        &["cable.b.rate=1 Gbps"],
        &["cable.b.ends: missing; a network is made of cables that all have ends"],
    );
    says(
        BASE,
        &["cable.c.rate=1 Gbps"],
        &["cable.c: there is no host \"c\"", "a cable without ends has the name of its host"],
    );
    says(BASE, &["cable.b.down=[[\"2 ms\", \"1 ms\"]]"], &["cable.b.down[0]: 2 ms is not before 1 ms"]);
    let two = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[network]\ntopology = \"direct\"\n";
    says(&[two, "[cable.a]\n[cable.b]\n"].concat(), &[], &["test.toml:8: cable.b: is the same cable as cable.a"]);
    says(BASE, &["host.tor.kind=endpoint"], &["a host and a switch are both named \"tor\""]);
    says(BASE, &["switch.tro.buffer=1 MB"], &["switch.tro", "the switch of a star is \"tor\""]);
    says(BASE, &["network.topology=direct"], &["\"direct\" joins two hosts; there are 3"]);
    says(BASE, &["network.left=a"], &["has an effect only with topology = \"dumbbell\""]);
    says(BASE, &["network.topology=dumbbell", "network.left=a"], &["network.right", "missing; a dumbbell has hosts"]);
    let dumbbell = ["network.topology=dumbbell", "network.left=a", "network.right=b"];
    says(BASE, &dumbbell, &["\"s\" stands neither at the left nor at the right"]);
    says("[host.a]\nkind = \"endpoint\"\n", &[], &["one host is no cluster"]);
}

#[test]
fn files_lie_on_nodes_that_there_are_and_are_sent_by_servers_over_tcp() {
    let base = BASE.replace("cascade-lake-hostcc", "broadwell-r730").replace("\"a\"\nto = \"s\"", "\"s\"\nto = \"a\"");
    let says = |overrides: &[&str], wanted: &[&str]| says(&base, overrides, wanted);
    says(&["flow.f.sendfile=node:2"], &["flow.f.sendfile: there is no node 2; there are 0 to 1, by host.s.sockets"]);
    says(&["flow.f.sendfile=interleve"], &["flow.f.sendfile", "did you mean \"interleave\"?"]);
    says(
        &["flow.f.sendfile=interleave", "host.s.sockets=1"],
        &["flow.f.sendfile: \"interleave\" needs several nodes; host.s.sockets = 1"],
    );
    says(
        &["flow.f.sendfile=local", "flow.f.from=b"],
        &["flow.f.sendfile", "\"b\" is an endpoint, which has no memory"],
    );
    says(&["flow.f.sendfile=local", "flow.f.transport=roce"], &["flow.f.sendfile", "no effect over RoCE"]);
    says(
        &["flow.f.sendfile=local", "flow.f.kind=rpc", "flow.f.request=1 kB"],
        &["flow.f.sendfile: has an effect only with kind = \"bulk\""],
    );
    says(&["flow.f.sendfle=local"], &["flow.f.sendfle: unknown key; did you mean \"sendfile\"?"]);
    says(&["flow.f.sendfile=local", "flow.f.count=65536"], &["flow: the buffers", "65536 files that are sent need"]);
    says(
        &["host.s.nic.scatter=true", "host.s.nic.mode=standard"],
        &["host.s.nic.scatter: has an effect only with nic.mode = \"octo\""],
    );
    for place in ["local", "first-touch", "node:0", "node:1", "interleave"] {
        let place = format!("flow.f.sendfile={place}");
        assert!(cluster_text(&base, Format::Toml, &[&place, "host.s.nic.scatter=true"]).is_ok());
    }
    assert!(cluster_text(&base, Format::Toml, &["flow.f.sendfile=local", "host.s.sockets=1"]).is_ok());
}

#[test]
fn switches_and_nics_can_do_what_is_asked() {
    says(
        BASE,
        &["network.switch.buffer=100 kB", "network.switch.ecn=200 kB"],
        &["a threshold of 200 kB is above the buffer of 100 kB"],
    );
    says(
        BASE,
        &["network.switch.buffer=100 kB", "network.switch.ecn=67 packets"],
        &["67 packets of 1500 B are more than the buffer"],
    );
    let enough = ["network.switch.buffer=99 kB", "network.switch.ecn=66 packets"];
    assert!(cluster_text(BASE, Format::Toml, &enough).is_ok());
    says(BASE, &["network.switch.ecn=many"], &["no threshold such as \"65 packets\" or \"100 kB\""]);
    says(
        BASE,
        &["network.switch.ecn={ min = \"9 kB\", max = \"5 kB\", most = 0.1 }"],
        &["min = 9 kB is more than max = 5 kB"],
    );
    says(
        BASE,
        &["network.switch.pfc={ xoff = \"20 MB\", xon = \"1 MB\" }"],
        &["20 MB are more than the buffer of 16 MB"],
    );
    says(
        BASE,
        &["network.switch.pfc={ xoff = \"1 MB\", xon = \"2 MB\" }"],
        &["network.switch.pfc", "2 MB are more than xoff = 1 MB"],
    );
    says(BASE, &["host.s.nic.pfc={ xoff = \"2 MB\", xon = \"1 MB\" }"], &["2 MB are more than the buffer of 500 KiB"]);
    says(
        BASE,
        &["host.s.nic.send_window=4 KiB", "network.mtu=9000 B"],
        &["host.s.nic.send_window: 4 KiB have no room for a packet of 9000 B"],
    );
    says(
        BASE,
        &["flow.f.kind=write", "flow.f.count=1000"],
        &["flow: the buffers of the workloads and the 1000 regions of RDMA flows need"],
    );
    assert!(cluster_text(BASE, Format::Toml, &["flow.f.kind=write", "flow.f.count=100"]).is_ok());
    says(
        BASE,
        &["host.s.nic.completion=65 B"],
        &["host.s.nic.completion: \"65 B\" is out of range; 1 B to 64 B is allowed"],
    );
    says(BASE, &["host.s.nic.descriptor=4 KiB", "network.mtu=9000 B"], &["4 KiB are less than a packet of 9000 B"]);
    says(BASE, &["host.s.nic.buffer=4 KiB", "network.mtu=9000 B"], &["4 KiB have no room for a packet of 9000 B"]);
    says(BASE, &["host.s.nic.pool=1 MiB"], &["less than nic.ring = 1024 descriptors"]);
    says(BASE, &["host.s.nic.ddio=true"], &["DDIO needs caches"]);
    says(
        BASE,
        &["host.s.preset=cascade-lake-6234"],
        &["host.s.preset", "the server has no NIC; the preset cascade-lake-hostcc has one"],
    );
    says(BASE, &["host.s.control.rule=fixed"], &["host.s.control", "rule = \"fixed\" needs a level from 0 to 4"]);
    says(BASE, &["host.s.control.level=3"], &["has an effect only with rule = \"fixed\""]);
    says(BASE, &["host.s.control.rule=fixed", "host.s.control.level=5"], &["5 is out of range; 0 to 4 is allowed"]);
}

#[test]
fn cores_have_what_they_can_do() {
    let stream = [BASE, "[host.s.workload.w]\nkind = \"stream\"\ncores = \"0-3\"\n"].concat();
    says(
        &stream,
        &["flow.f.to_cores=3", "host.s.fidelity=burst"],
        &["flow.f.to_cores: core 3 is that of host.s.workload.w already", "needs fidelity = \"line\""],
    );
    says(BASE, &["flow.f.to_cores=8"], &["core 8 does not exist at host.s; its core.count = 8 means cores 0 to 7"]);
    says(BASE, &["flow.f.from_cores=0"], &["the endpoint host.a has no cores"]);
    says(BASE, &["host.s.stack.cores=9"], &["core 9 does not exist"]);
    says(&stream, &["host.s.workload.w.cores=0-7"], &["no core of host.s is free for it", "name those to share"]);
    says(BASE, &["flow.f.transport=roce", "flow.f.to_cores=0"], &["RoCE needs no core"]);
    let mapp = [BASE, "[host.s.workload.m]\nkind = \"remote\"\nsockets = \"0-3\"\n"].concat();
    says(&mapp, &[], &["host.s.workload.m.sockets: socket 3 does not exist; remote.sockets = 3 means 0 to 2"]);
}

#[test]
fn keys_belong_to_their_kinds() {
    says(BASE, &["flow.f.request=1 kB"], &["has an effect only with kind = \"rpc\""]);
    says(BASE, &["flow.f.kind=rpc"], &["flow.f.request", "missing"]);
    let deaf = "flow.f.deaf=[\"1 ms\", \"2 ms\"]";
    says(BASE, &[deaf, "flow.f.kind=write"], &["flow.f.deaf: has an effect only with kind = \"bulk\" and \"rpc\""]);
    says(BASE, &[deaf, "flow.f.transport=roce"], &["flow.f.deaf: has no effect over RoCE"]);
    says(BASE, &["flow.f.kind=rpc", "flow.f.request=0 B"], &["out of range"]);
    says(BASE, &["flow.f.kind=rpc", "flow.f.request=1 B", "flow.f.transport=roce"], &["requests and answers need TCP"]);
    says(BASE, &["flow.f.kind=write", "flow.f.transport=dctcp"], &["RDMA needs \"roce\" or \"dcqcn\""]);
    says(BASE, &["flow.f.kind=replay"], &["flow.f.pcap", "missing; give a capture"]);
    says(BASE, &["flow.f.kind=replay", "flow.f.pcap=none.pcap"], &["there is no such file"]);
    says(BASE, &["host.a.core.count=4"], &["host.a.core", "has an effect only at a server"]);
    says(BASE, &["host.s.latency=1 us"], &["host.s.latency", "has an effect only at an endpoint"]);
    says(BASE, &["transport.roce.rto_min=1 ms"], &["has no effect with base = \"roce\""]);
    says(BASE, &["flow.f.to=a"], &["\"a\" sends to itself"]);
    says(BASE, &["flow.f.from=[\"a\", \"b\", \"a\"]"], &["stands twice"]);
    says(BASE, &["flow.f.deaf=[\"2 ms\", \"1 ms\"]"], &["2 ms is not before 1 ms"]);
    says(BASE, &["flow.f.mtu=64 B"], &["out of range"]);
    says(BASE, &["flow.f.kind=write", "flow.f.mtu=300 B"], &["no room for a RoCE packet"]);
    says("[host.a]\n[host.b]\nkind = \"endpoint\"\n", &[], &["host.a.preset: missing; a server starts from a preset"]);
    says(BASE, &["host.s.ssd.bandwidth=1 GB/s", "host.s.core.count=0"], &["host.s.core.count"]);
}

#[test]
fn what_a_server_says_is_said_of_the_host() {
    says(BASE, &["host.s.memory.channels=0"], &["host.s.memory.channels"]);
    says(BASE, &["host.s.core.write_ack=1 us"], &["--set host.s.core.write_ack=1 us: host.s.core.write_ack"]);
    let text = "[host.a]\nkind = \"endpoint\"\n[host.s]\npreset = \"cascade-lake-hostcc\"\n[host.s.core]\n\
        write_ack = \"1 us\"\n";
    says(text, &[], &["test.toml:6: host.s.core.write_ack"]);
    for text in ["[server]\npreset = \"ice-lake-8362\"\n[host.a]\n", "[host]\n", "host = 3\n"] {
        assert!(cluster_text(text, Format::Toml, &[]).is_err(), "{text}");
    }
}

#[test]
fn a_way_of_a_flow_leads_from_switch_to_switch() {
    let ring = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[switch.s0]\n[switch.s1]\n[switch.s2]\n\
                [cable.a]\nends = [\"a\", \"s0\"]\n[cable.b]\nends = [\"b\", \"s2\"]\n\
                [cable.one]\nends = [\"s0\", \"s1\"]\n[cable.two]\nends = [\"s1\", \"s2\"]\n\
                [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n";
    let via = |names: &str| format!("{ring}via = {names}\n");
    let plan = cluster_text(&via("[\"s0\", \"s1\", \"s2\"]"), Format::Toml, &[]).expect("a way");
    assert_eq!(plan.cluster.flows[0].via, [0, 1, 2]);
    says(&via("[\"s0\", \"s3\"]"), &[], &["test.toml:20: flow.f.via: there is no switch \"s3\"; did you mean"]);
    says(&via("[\"s0\", \"s2\"]"), &[], &["flow.f.via: no cable joins \"s0\" and \"s2\""]);
    says(&via("[\"s1\", \"s2\"]"), &[], &["flow.f.via: no cable joins \"a\" and \"s1\""]);
    says(&via("[\"s0\", \"s1\", \"s0\"]"), &[], &["flow.f.via: \"s0\" stands twice"]);
    says(&via("[\"s0\", \"s1\"]"), &[], &["flow.f.via: no cable joins \"s1\" and \"b\""]);
}

#[test]
fn a_simulation_that_would_take_more_memory_than_it_may_is_refused() {
    let told = ["the simulation would take about", "run.memory allows 64 MiB: raise it where there is more"];
    says(BASE, &["flow.f.count=20000", "run.memory=64 MiB"], &told);
    let notes = |count: u32| {
        let count = format!("flow.f.count={count}");
        let overrides = ["flow.f.kind=rpc", "flow.f.request=1 kB", "run.memory=64 GiB", &count];
        cluster_text(BASE, Format::Toml, &overrides).expect("there is room").ignored
    };
    assert_eq!(notes(100), Vec::<String>::new());
    assert!(notes(65_536)[0].starts_with("the simulation takes about 1"), "{:?}", notes(65_536));
}

#[test]
fn packets_are_merged_between_endpoints_and_servers_only() {
    let endpoints = "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"barrier\"\nhosts = \"e\"\n";
    says(endpoints, &["job.j.gro=64 KiB"], &["job.j.gro", "some ranks are at endpoints and others at servers"]);
    let mixed = endpoints.replace("hosts = \"e\"", "hosts = [\"e\", \"s\"]\n[host.s]\npreset = \"mcn-scaleup-8\"");
    let acks = |overrides: &[&str]| {
        let plan = cluster_text(&mixed, Format::Toml, overrides).expect("it resolves");
        let of = |flow: &hostnet_model::params::FlowParams| match &flow.transport {
            hostnet_model::params::Transport::Tcp(tcp) => (tcp.ack_segments, tcp.ack_delay_ps),
            _ => panic!("it is TCP"),
        };
        plan.cluster.flows.iter().map(of).collect::<Vec<_>>()
    };
    let (whole, merged) = ((2, 40_000_000_000), (45, 20_000_000));
    assert_eq!(acks(&[]), [whole, merged, merged], "one pair are endpoints, with packets of 1448 B");
    assert_eq!(acks(&["job.j.gro=2000 B"]), [whole; 3]);
    says(&mixed, &["job.j.gro=64 KiB", "job.j.transport=roce"], &["job.j.gro", "only over TCP"]);
}
