//! Each error of a cluster has its place and its rule.

use crate::common::{cluster_text, says};
use hostnet_config::Format;

/// Two endpoints and a server, and a flow from one endpoint to the server.
const BASE: &str =
    "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.s]\npreset = \"cascade-lake-hostcc\"\n\
                    [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"s\"\n";

#[test]
fn names_that_do_not_exist_have_a_nearest_one() {
    says(BASE, &["flow.f.from=x"], &["[does-not-exist flow.f.from]", "\"x\"", "\"a\""]);
    says(BASE, &["flow.f.transport=dctp"], &["[unknown-name flow.f.transport] \"dctcp\""]);
    says(BASE, &["host.a.kind=endpont"], &["[unknown-name host.a.kind] \"endpoint\""]);
    says(BASE, &["host.s.preset=cascade-lake-hostc"], &["[unknown-name host.s.preset] \"cascade-lake-hostcc\""]);
    says(BASE, &["host.s.nic.bufer=1 MB"], &["[unknown-key host.s.nic.bufer] \"buffer\""]);
    says(BASE, &["host.ss.nic.ring=512"], &["[missing-key host.ss.preset]"]);
    says(BASE, &["host.other.nic.ring=512"], &["[missing-key host.other.preset]"]);
    says(BASE, &["flow.f.sz=1"], &["[unknown-key flow.f.sz]"]);
    says(BASE, &["transport.mine.rto_min=1 ms"], &["[missing-key transport.mine.base]"]);
    let cabled = [BASE, "[switch.tor]\n[cable.x]\nends = [\"a\", \"torr\"]\n"].concat();
    says(&cabled, &[], &["[does-not-exist cable.x.ends]", "test.toml:13: ", "\"torr\"", "\"tor\""]);
}

#[test]
fn services_have_their_keys_and_are_at_endpoints_and_servers() {
    let text = BASE.replace("kind = \"bulk\"", "kind = \"service\"\nrequest = \"64 B\"");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let rate = "flow.f.service.rate=100";
    says(&[], &["[missing-key flow.f.service]"]);
    says(&["flow.f.service.time=1 us"], &["[missing-key flow.f.service.rate]"]);
    let at = "flow.f.to=b";
    assert!(cluster_text(&text, Format::Toml, &[rate]).is_ok(), "threads of a server");
    says(&[rate, at, "flow.f.service.cycles=1000"], &["[wrong-host-kind flow.f.service.cycles]"]);
    assert!(cluster_text(&text, Format::Toml, &[rate, at]).is_ok());
    says(
        &[rate, at, "flow.f.service.distribution=exponental"],
        &["[unknown-name flow.f.service.distribution] \"exponential\""],
    );
    says(
        &[rate, at, "flow.f.service.deviation=2"],
        &["[no-effect flow.f.service.deviation] distribution = \"lognormal\""],
    );
    says(&[rate, at, "flow.f.service.requests=web-search"], &["[conflicting-keys flow.f.service.requests]"]);
    says(
        &[rate, at, "flow.f.service.responses=web-serch"],
        &["[unknown-name flow.f.service.responses] \"web-search\""],
    );
    says(&[rate, at, "flow.f.transport=roce"], &["[requires-key flow.f.transport]"]);
    says(&[rate, at, "flow.f.service.worker=2"], &["[unknown-key flow.f.service.worker] \"workers\""]);
}

#[test]
fn a_core_of_a_rank_that_sends_at_another_rate_has_one_that_receives() {
    let text = "[host.e]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"barrier\"\nhosts = \"e\"\n";
    let (sends, receives) = ("job.j.socket_send_rate=9 Gbps", "job.j.socket_rate=9 Gbps");
    says(text, &[sends], &["[no-effect job.j.socket_send_rate]"]);
    says(text, &[receives, "job.j.socket_send_rate=0 Gbps"], &["[out-of-range job.j.socket_send_rate]"]);
    assert!(cluster_text(text, Format::Toml, &[sends, receives]).is_ok());
}

#[test]
fn datagrams_fit_a_packet_and_have_the_keys_of_their_pattern() {
    let text = BASE.replace("bulk", "datagram");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    says(&[], &["[missing-key flow.f.size] \"64 B\""]);
    says(&["flow.f.pattern=ping"], &["[missing-key flow.f.request]"]);
    says(&["flow.f.pattern=pong"], &["[unknown-name flow.f.pattern] \"ping\""]);
    says(&["flow.f.size=1473 B"], &["[does-not-fit flow.f.size]", "1473 B", "28 B", "1500 B"]);
    says(
        &["flow.f.pattern=ping", "flow.f.request=64 B", "flow.f.response=1473 B"],
        &["[does-not-fit flow.f.response] 1473 B"],
    );
    assert!(cluster_text(&text, Format::Toml, &["flow.f.size=1472 B"]).is_ok());
    assert!(cluster_text(&text, Format::Toml, &["flow.f.size=8972 B", "flow.f.mtu=9000 B"]).is_ok());
    says(&["flow.f.size=64 B", "flow.f.transport=cubic"], &["[no-effect flow.f.transport]"]);
    says(&["flow.f.size=64 B", "flow.f.in_flight=4"], &["[no-effect flow.f.in_flight] kind = \"rpc\""]);
    says(&["flow.f.size=64 B", "flow.f.deaf=[\"1 us\", \"2 us\"]"], &["[no-effect flow.f.deaf]"]);
    let ping = ["flow.f.pattern=ping", "flow.f.request=64 B"];
    says(&[ping[0], ping[1], "flow.f.size=64 B"], &["[no-effect flow.f.size]", "pattern = \"open\"", "\"generate\""]);
    says(&[ping[0], ping[1], "flow.f.rate=1 Gbps"], &["[no-effect flow.f.rate] pattern = \"open\""]);
    says(&["flow.f.size=64 B", "flow.f.timeout=1 ms"], &["[no-effect flow.f.timeout] pattern = \"ping\""]);
    says(&["flow.f.size=64 B", "flow.f.request=1 B"], &["[no-effect flow.f.request] pattern = \"ping\""]);
    says(&["flow.f.pattern=generate", "flow.f.size=64 B"], &["[wrong-host-kind flow.f.pattern] \"a\""]);
    assert!(cluster_text(&text, Format::Toml, &ping).is_ok());
    self::says(BASE, &["flow.f.size=64 B"], &["[no-effect flow.f.size] kind = \"datagram\""]);
}

#[test]
fn packets_have_sizes_that_rise_and_fit_a_frame() {
    let text = BASE.replace("bulk", "packets");
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let is_fine = |overrides: &[&str]| cluster_text(&text, Format::Toml, overrides).is_ok();
    says(&[], &["[missing-key flow.f.sizes] \"database\""]);
    says(&["flow.f.sizes=hadop"], &["[unknown-name flow.f.sizes] \"hadoop\""]);
    says(&["flow.f.sizes=web-search"], &["[unknown-name flow.f.sizes] \"web-search\""]);
    let points = |points: &[(u32, f64)]| {
        let each: Vec<String> =
            points.iter().map(|(bytes, share)| format!("{{ bytes = \"{bytes} B\", share = {share} }}")).collect();
        format!("flow.f.sizes=[{}]", each.join(", "))
    };
    let rise = "sizes and shares rise from point to point, and the last share is 1";
    says(&[&points(&[(64, 0.5), (100, 0.4), (200, 1.0)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(100, 0.5), (64, 1.0)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(64, 0.9)])], &["flow.f.sizes", rise]);
    says(&[&points(&[(42, 1.0)])], &["[out-of-range flow.f.sizes]", "42 B", "1 B"]);
    assert!(is_fine(&[&points(&[(43, 1.0)])]) && is_fine(&[&points(&[(1514, 1.0)])]));
    says(&[&points(&[(1515, 1.0)])], &["[does-not-fit flow.f.sizes]", "1515 B", "1500 B"]);
    says(&["flow.f.sizes=none.csv"], &["[file-not-found flow.f.sizes]"]);
    says(&["flow.f.sizes=hadoop", "flow.f.arrivals=poisson"], &["[no-effect flow.f.arrivals]"]);
    says(&["flow.f.sizes=hadoop", "flow.f.size=64 B"], &["[no-effect flow.f.size] kind = \"datagram\""]);
    says(&["flow.f.sizes=hadoop", "flow.f.load=0.5"], &["[no-effect flow.f.load]"]);
    says(&["flow.f.sizes=hadoop", "flow.f.function=dpi"], &["[no-effect flow.f.function] kind = \"forward\""]);
    says(&["flow.f.sizes=hadoop", "flow.f.transport=cubic"], &["[no-effect flow.f.transport]"]);
}

#[test]
fn what_is_sent_on_comes_from_somewhere_and_goes_somewhere_else() {
    let text =
        BASE.replace("kind = \"bulk\"", "kind = \"packets\"\nsizes = \"database\"").replace("[flow.f]", "[flow.in]");
    let text = [&text, "\n[flow.out]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"s\"\nto = \"b\"\n"].concat();
    let says = |overrides: &[&str], wanted: &[&str]| says(&text, overrides, wanted);
    let is_fine = |overrides: &[&str]| cluster_text(&text, Format::Toml, overrides).is_ok();
    assert!(is_fine(&[]) && is_fine(&["flow.out.to=a", "flow.in.count=3"]));
    says(&["flow.out.to=s"], &["[sends-in-circle flow.out.to] \"s\""]);
    says(&["flow.out.to=c"], &["[does-not-exist flow.out.to] \"c\""]);
    says(&["flow.out.from=a"], &["[wrong-host-kind flow.out.from] \"a\""]);
    says(&["flow.out.takes=inn"], &["[does-not-exist flow.out.takes]", "\"inn\"", "\"in\""]);
    says(&["flow.out.takes=out"], &["[sends-in-circle flow.out.takes]"]);
    says(&["flow.out.count=2"], &["[no-effect flow.out.count]"]);
    says(&["flow.out.from_cores=1"], &["[no-effect flow.out.from_cores]"]);
    says(&["flow.out.mtu=1000 B"], &["[does-not-fit flow.out.mtu]"]);
    says(&["flow.out.function=l4"], &["[unknown-name flow.out.function]"]);
    says(&["flow.in.to=b"], &["[must-agree flow.out.from] \"b\""]);
    says(&["host.s.fidelity=burst"], &["[needs-line-fidelity host.s.fidelity]"]);
    says(&["host.s.fidelity=fluid"], &["[needs-line-fidelity host.s.fidelity]"]);
    let lost = text.replace("takes = \"in\"\n", "");
    self::says(&lost, &[], &["[missing-key flow.out.takes]"]);
    let bulk = text.replace("kind = \"packets\"\nsizes = \"database\"", "kind = \"bulk\"");
    self::says(&bulk, &[], &["[not-supported flow.out.takes] \"in\""]);
    let twice = [&text, "[flow.more]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"s\"\nto = \"a\"\n"].concat();
    self::says(&twice, &[], &["[duplicate flow.out.takes] \"in\""]);
    let more = "[flow.x]\nkind = \"forward\"\ntakes = \"y\"\nfrom = \"s\"\nto = \"b\"\n\
                [flow.y]\nkind = \"forward\"\ntakes = \"x\"\nfrom = \"b\"\nto = \"s\"\n";
    self::says(&[&text, more].concat(), &[], &["[sends-in-circle flow.x.takes]"]);
}

#[test]
fn cables_join_what_they_must() {
    let cables = |ends: &[[&str; 2]]| {
        let cable =
            |(at, [one, other]): (usize, &[&str; 2])| format!("[cable.c{at}]\nends = [\"{one}\", \"{other}\"]\n");
        [BASE, "[switch.tor]\n[switch.up]\n", &ends.iter().enumerate().map(cable).collect::<String>()].concat()
    };
    let star = [["a", "tor"], ["b", "tor"], ["s", "up"]];
    says(&cables(&star[..2]), &[], &["[bad-cabling host.s] \"s\""]);
    says(&cables(&star), &[], &["[unreachable flow.f.to]", "\"a\"", "\"s\""]);
    says(&cables(&[star[0], star[1], star[2], ["s", "up"]]), &[], &["[bad-cabling cable.c3.ends] \"s\""]);
    says(&cables(&[["a", "tor"], ["b", "tor"], ["s", "tor"]]), &[], &["[bad-cabling switch.up]"]);
    says(&cables(&[["a", "a"]]), &[], &["[bad-cabling cable.c0.ends] \"a\""]);
    says(&cables(&star), &["network.topology=star"], &["[conflicting-keys network.topology]"]);
    says(&cables(&star), &["cable.b.rate=1 Gbps"], &["[missing-key cable.b.ends]"]);
    says(BASE, &["cable.c.rate=1 Gbps"], &["[does-not-exist cable.c] \"c\""]);
    says(BASE, &["cable.b.down=[[\"2 ms\", \"1 ms\"]]"], &["[wrong-order cable.b.down[0]]", "2 ms", "1 ms"]);
    let two = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[network]\ntopology = \"direct\"\n";
    says(&[two, "[cable.a]\n[cable.b]\n"].concat(), &[], &["[duplicate cable.b] test.toml:8: "]);
    says(BASE, &["host.tor.kind=endpoint"], &["[duplicate host.tor] \"tor\""]);
    says(BASE, &["switch.tro.buffer=1 MB"], &["[bad-cabling switch.tro] \"tor\""]);
    says(BASE, &["network.topology=direct"], &["[wrong-count network.topology] \"direct\""]);
    says(BASE, &["network.left=a"], &["[no-effect network.left] topology = \"dumbbell\""]);
    says(BASE, &["network.topology=dumbbell", "network.left=a"], &["[missing-key network.right]"]);
    let dumbbell = ["network.topology=dumbbell", "network.left=a", "network.right=b"];
    says(BASE, &dumbbell, &["[bad-cabling network.left] \"s\""]);
    says("[host.a]\nkind = \"endpoint\"\n", &[], &["[wrong-count host]"]);
}

#[test]
fn files_lie_on_nodes_that_there_are_and_are_sent_by_servers_over_tcp() {
    let base = BASE.replace("cascade-lake-hostcc", "broadwell-r730").replace("\"a\"\nto = \"s\"", "\"s\"\nto = \"a\"");
    let says = |overrides: &[&str], wanted: &[&str]| says(&base, overrides, wanted);
    says(&["flow.f.sendfile=node:2"], &["[does-not-exist flow.f.sendfile]", "node 2", "0 to 1"]);
    says(&["flow.f.sendfile=interleve"], &["[unknown-name flow.f.sendfile] \"interleave\""]);
    says(
        &["flow.f.sendfile=interleave", "host.s.sockets=1"],
        &["[requires-key flow.f.sendfile]", "\"interleave\"", "host.s.sockets = 1"],
    );
    says(&["flow.f.sendfile=local", "flow.f.from=b"], &["[wrong-host-kind flow.f.sendfile] \"b\""]);
    says(&["flow.f.sendfile=local", "flow.f.transport=roce"], &["[no-effect flow.f.sendfile]"]);
    says(
        &["flow.f.sendfile=local", "flow.f.kind=rpc", "flow.f.request=1 kB"],
        &["[no-effect flow.f.sendfile] kind = \"bulk\""],
    );
    says(&["flow.f.sendfle=local"], &["[unknown-key flow.f.sendfle] \"sendfile\""]);
    says(&["flow.f.sendfile=local", "flow.f.count=65536"], &["[out-of-memory-space flow] 65536"]);
    says(
        &["host.s.nic.scatter=true", "host.s.nic.mode=standard"],
        &["[no-effect host.s.nic.scatter] nic.mode = \"octo\""],
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
        &["[does-not-fit network.switch.ecn]", "200 kB", "100 kB"],
    );
    says(
        BASE,
        &["network.switch.buffer=100 kB", "network.switch.ecn=67 packets"],
        &["[does-not-fit network.switch.ecn]", "67", "1500 B"],
    );
    let enough = ["network.switch.buffer=99 kB", "network.switch.ecn=66 packets"];
    assert!(cluster_text(BASE, Format::Toml, &enough).is_ok());
    says(BASE, &["network.switch.ecn=many"], &["[malformed-value network.switch.ecn]", "\"65 packets\"", "\"100 kB\""]);
    says(
        BASE,
        &["network.switch.ecn={ min = \"9 kB\", max = \"5 kB\", most = 0.1 }"],
        &["[wrong-order network.switch.ecn.min]", "min = 9", "max = 5"],
    );
    says(
        BASE,
        &["network.switch.pfc={ xoff = \"20 MB\", xon = \"1 MB\" }"],
        &["[does-not-fit network.switch.pfc.xoff]", "20 MB", "16 MB"],
    );
    says(
        BASE,
        &["network.switch.pfc={ xoff = \"1 MB\", xon = \"2 MB\" }"],
        &["[wrong-order network.switch.pfc.xon]", "2 MB", "xoff = 1"],
    );
    says(
        BASE,
        &["host.s.nic.pfc={ xoff = \"2 MB\", xon = \"1 MB\" }"],
        &["[does-not-fit host.s.nic.pfc.xoff]", "2 MB", "500 KiB"],
    );
    says(
        BASE,
        &["host.s.nic.send_window=4 KiB", "network.mtu=9000 B"],
        &["[does-not-fit host.s.nic.send_window]", "4 KiB", "9000 B"],
    );
    says(BASE, &["flow.f.kind=write", "flow.f.count=1000"], &["[out-of-memory-space flow] 1000"]);
    assert!(cluster_text(BASE, Format::Toml, &["flow.f.kind=write", "flow.f.count=100"]).is_ok());
    says(BASE, &["host.s.nic.completion=65 B"], &["[out-of-range host.s.nic.completion]", "\"65 B\"", "1 B", "64 B"]);
    says(
        BASE,
        &["host.s.nic.descriptor=4 KiB", "network.mtu=9000 B"],
        &["[does-not-fit host.s.nic.descriptor]", "4 KiB", "9000 B"],
    );
    says(
        BASE,
        &["host.s.nic.buffer=4 KiB", "network.mtu=9000 B"],
        &["[does-not-fit host.s.nic.buffer]", "4 KiB", "9000 B"],
    );
    says(BASE, &["host.s.nic.pool=1 MiB"], &["[does-not-fit host.s.nic.pool] nic.ring = 1024"]);
    says(BASE, &["host.s.nic.ddio=true"], &["[requires-key host.s.nic.ddio]"]);
    says(BASE, &["host.s.preset=cascade-lake-6234"], &["[missing-key host.s.preset]"]);
    says(BASE, &["host.s.control.rule=fixed"], &["[missing-key host.s.control.level]", "rule = \"fixed\"", "0 to 4"]);
    says(BASE, &["host.s.control.level=3"], &["[no-effect host.s.control.level] rule = \"fixed\""]);
    says(
        BASE,
        &["host.s.control.rule=fixed", "host.s.control.level=5"],
        &["[out-of-range host.s.control.level] 0 to 4"],
    );
}

#[test]
fn cores_have_what_they_can_do() {
    let stream = [BASE, "[host.s.workload.w]\nkind = \"stream\"\ncores = \"0-3\"\n"].concat();
    says(
        &stream,
        &["flow.f.to_cores=3", "host.s.fidelity=burst"],
        &["[core-taken flow.f.to_cores]", "core 3", "fidelity = \"line\""],
    );
    says(BASE, &["flow.f.to_cores=8"], &["[does-not-exist flow.f.to_cores]", "core 8", "core.count = 8", "0 to 7"]);
    says(BASE, &["flow.f.from_cores=0"], &["[wrong-host-kind flow.f.from_cores]"]);
    says(BASE, &["host.s.stack.cores=9"], &["[does-not-exist host.s.stack.cores] core 9"]);
    says(&stream, &["host.s.workload.w.cores=0-7"], &["[too-many-cores host.s]"]);
    says(BASE, &["flow.f.transport=roce", "flow.f.to_cores=0"], &["[no-effect flow.f.to_cores]"]);
    let mapp = [BASE, "[host.s.workload.m]\nkind = \"remote\"\nsockets = \"0-3\"\n"].concat();
    says(&mapp, &[], &["[does-not-exist host.s.workload.m.sockets]", "socket 3", "remote.sockets = 3", "0 to 2"]);
}

#[test]
fn keys_belong_to_their_kinds() {
    says(BASE, &["flow.f.request=1 kB"], &["[no-effect flow.f.request] kind = \"rpc\""]);
    says(BASE, &["flow.f.kind=rpc"], &["[missing-key flow.f.request]"]);
    let deaf = "flow.f.deaf=[\"1 ms\", \"2 ms\"]";
    says(BASE, &[deaf, "flow.f.kind=write"], &["[no-effect flow.f.deaf]", "kind = \"bulk\"", "\"rpc\""]);
    says(BASE, &[deaf, "flow.f.transport=roce"], &["[no-effect flow.f.deaf]"]);
    says(BASE, &["flow.f.kind=rpc", "flow.f.request=0 B"], &["[out-of-range "]);
    says(
        BASE,
        &["flow.f.kind=rpc", "flow.f.request=1 B", "flow.f.transport=roce"],
        &["[requires-key flow.f.transport]"],
    );
    says(
        BASE,
        &["flow.f.kind=write", "flow.f.transport=dctcp"],
        &["[requires-key flow.f.transport]", "\"roce\"", "\"dcqcn\""],
    );
    says(BASE, &["flow.f.kind=replay"], &["[missing-key flow.f.pcap]"]);
    says(BASE, &["flow.f.kind=replay", "flow.f.pcap=none.pcap"], &["[file-not-found flow.f.pcap]"]);
    says(BASE, &["host.a.core.count=4"], &["[no-effect host.a.core]"]);
    says(BASE, &["host.s.latency=1 us"], &["[no-effect host.s.latency]"]);
    says(BASE, &["transport.roce.rto_min=1 ms"], &["[no-effect transport.roce.rto_min] base = \"roce\""]);
    says(BASE, &["flow.f.to=a"], &["[sends-in-circle flow.f.to] \"a\""]);
    says(BASE, &["flow.f.from=[\"a\", \"b\", \"a\"]"], &["[duplicate flow.f.from]"]);
    says(BASE, &["flow.f.deaf=[\"2 ms\", \"1 ms\"]"], &["[wrong-order flow.f.deaf[0]]", "2 ms", "1 ms"]);
    says(BASE, &["flow.f.mtu=64 B"], &["[out-of-range "]);
    says(BASE, &["flow.f.kind=write", "flow.f.mtu=300 B"], &["[does-not-fit flow.f.mtu]"]);
    says("[host.a]\n[host.b]\nkind = \"endpoint\"\n", &[], &["[missing-key host.a.preset]"]);
    says(BASE, &["host.s.ssd.bandwidth=1 GB/s", "host.s.core.count=0"], &["[out-of-range host.s.core.count]"]);
}

#[test]
fn what_a_server_says_is_said_of_the_host() {
    says(BASE, &["host.s.memory.channels=0"], &["[out-of-range host.s.memory.channels]"]);
    says(BASE, &["host.s.core.write_ack=1 us"], &["[wrong-order host.s.core.write_ack]"]);
    let text = "[host.a]\nkind = \"endpoint\"\n[host.s]\npreset = \"cascade-lake-hostcc\"\n[host.s.core]\n\
        write_ack = \"1 us\"\n";
    says(text, &[], &["[wrong-order host.s.core.write_ack] test.toml:6: "]);
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
    says(&via("[\"s0\", \"s3\"]"), &[], &["[does-not-exist flow.f.via]", "test.toml:20: ", "\"s3\""]);
    says(&via("[\"s0\", \"s2\"]"), &[], &["[unreachable flow.f.via]", "\"s0\"", "\"s2\""]);
    says(&via("[\"s1\", \"s2\"]"), &[], &["[unreachable flow.f.via]", "\"a\"", "\"s1\""]);
    says(&via("[\"s0\", \"s1\", \"s0\"]"), &[], &["[duplicate flow.f.via] \"s0\""]);
    says(&via("[\"s0\", \"s1\"]"), &[], &["[unreachable flow.f.via]", "\"s1\"", "\"b\""]);
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
    says(endpoints, &["job.j.gro=64 KiB"], &["[no-effect job.j.gro]"]);
    let mixed = endpoints.replace("hosts = \"e\"", "hosts = [\"e\", \"s\"]\n[host.s]\npreset = \"mcn-scaleup-8\"");
    let acks = |overrides: &[&str]| {
        let plan = cluster_text(&mixed, Format::Toml, overrides).expect("it resolves");
        let of = |flow: &hostnet_params::FlowParams| match &flow.transport {
            hostnet_params::Transport::Tcp(tcp) => (tcp.ack_segments, tcp.ack_delay_ps),
            _ => panic!("it is TCP"),
        };
        plan.cluster.flows.iter().map(of).collect::<Vec<_>>()
    };
    let (whole, merged) = ((2, 40_000_000_000), (45, 20_000_000));
    assert_eq!(acks(&[]), [whole, merged, merged], "one pair are endpoints, with packets of 1448 B");
    assert_eq!(acks(&["job.j.gro=2000 B"]), [whole; 3]);
    says(&mixed, &["job.j.gro=64 KiB", "job.j.transport=roce"], &["[no-effect job.j.gro]"]);
}
