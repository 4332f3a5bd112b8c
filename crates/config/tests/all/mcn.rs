//! DIMMs with processors: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::{HostKind, McnParams, McnWake, Transport};
use std::path::Path;

fn resolved(of_box: &str, of_dimm: &str, more: &str) -> Result<Plan, String> {
    let text = format!(
        "[host.box]\npreset = \"mcn-host-8\"\n{of_box}\n\
         [host.d]\nkind = \"dimm\"\npreset = \"mcn-a57\"\n{of_dimm}\n\
         [host.e]\nkind = \"endpoint\"\n{more}\n"
    );
    let input =
        Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn assert_refused(of_box: &str, of_dimm: &str, more: &str, says: &[&str]) {
    match resolved(of_box, of_dimm, more) {
        Ok(_) => panic!("is allowed: {of_box} {of_dimm} {more}"),
        Err(error) => assert_tells(&error, says),
    }
}

fn mcn(plan: &Plan, host: usize) -> &McnParams {
    let HostKind::Server(server) = &plan.cluster.hosts[host].kind else { panic!("it is a server") };
    server.socket().mcn.as_deref().expect("it has interfaces")
}

const ON: &str = "on = \"box\"";

fn flow(from: &str, to: &str, more: &str) -> String {
    format!("[flow.f]\nkind = \"bulk\"\ntransport = \"cubic\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

#[test]
fn a_level_stands_for_keys_and_keys_count() {
    let at = |of_box: &str| resolved(of_box, ON, &flow("d", "box", "")).unwrap_or_else(|error| panic!("{error}"));
    let first = at("");
    assert_eq!(mcn(&first, 0).wake, McnWake::Timer(5_000_000));
    assert_eq!(mcn(&first, 1).wake, McnWake::Interrupt(1_000_000));
    assert!(mcn(&first, 0).checksum_line_ps > 0 && mcn(&first, 1).checksum_line_ps > mcn(&first, 0).checksum_line_ps);
    assert_eq!(first.cluster.flows[0].mtu_bytes, 1500);
    let third = at("mcn = { level = \"mcn3\" }");
    assert_eq!(mcn(&third, 0).wake, McnWake::Interrupt(1_000_000));
    assert_eq!((mcn(&third, 0).checksum_line_ps, third.cluster.flows[0].mtu_bytes), (0, 9000));
    let tso = |plan: &Plan| match &plan.cluster.flows[0].transport {
        Transport::Tcp(tcp) => (tcp.tso_bytes, tcp.mss_bytes),
        _ => panic!("it is TCP"),
    };
    assert_eq!(tso(&third), (8948, 8948));
    let fourth = at("mcn = { level = \"mcn4\" }");
    assert!(tso(&fourth).0 == 2 * 8948 && tso(&fourth).0 + 52 + 18 < 47 << 9);
    let mixed = at("mcn = { level = \"mcn4\", tso = false, alert = false, mtu = \"1500 B\" }");
    assert_eq!((tso(&mixed), mcn(&mixed, 0).wake), ((1448, 1448), McnWake::Timer(5_000_000)));
    let again = serde_json::to_string(&fourth.effective).expect("JSON");
    let input =
        Input { text: &again, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&input).unwrap_or_else(|error| panic!("{error}")).hash, fourth.hash);
}

#[test]
fn dimms_are_shared_out_over_channels() {
    let plan =
        resolved("", "on = \"box\"\ncount = 4\nchannels = \"0-1\"", "").unwrap_or_else(|error| panic!("{error}"));
    let channels: Vec<u32> = mcn(&plan, 0).interfaces.iter().map(|interface| interface.channel).collect();
    assert_eq!(channels, [0, 1, 0, 1]);
    let ports: Vec<u16> = (1..5).map(|dimm| mcn(&plan, dimm).interfaces[0].port).collect();
    assert_eq!(ports, [0, 1, 2, 3]);
    assert!(plan.cluster.cables.iter().all(|cable| cable.ends.len() == 2));
    assert_eq!(plan.cluster.cables.len(), 2, "the box and the endpoint");
}

#[test]
fn what_has_no_place_is_refused() {
    assert_refused("", "", "", &["[missing-key host.d.on]"]);
    assert_refused("", "on = \"bx\"", "", &["[does-not-exist host.d.on] \"box\""]);
    assert_refused("", "on = \"e\"", "", &["[wrong-host-kind host.d.on]"]);
    assert_refused("", "on = \"d\"", "", &["[wrong-host-kind host.d.on]"]);
    assert_refused("", "on = \"box\"\nchannels = \"2\"", "", &["[does-not-exist host.d.channels] 0 to 1"]);
    assert_refused("", "on = \"box\"\nchannels = 1", "", &["[wrong-type host.d.channels] \"0-1\""]);
    assert_refused("", "on = \"box\"\nchannels = \"a\"", "", &["[malformed-value host.d.channels]"]);
    assert_refused("", "on = \"box\"\ncount = 9", "", &["[too-few-slots host.d.count]"]);
    assert_refused("", "on = \"box\"\nfidelity = \"burst\"", "", &["[needs-line-fidelity host.d.fidelity]"]);
    assert_refused("fidelity = \"fluid\"", ON, "", &["[needs-line-fidelity host.box.fidelity]"]);
    assert_refused("on = \"d\"", ON, "", &["[no-effect host.box.on]"]);
    assert_refused(
        "memory.controller.idle_flush = \"off\"",
        ON,
        "",
        &["[requires-key host.box.memory.controller.idle_flush]"],
    );
    assert_refused(
        "",
        ON,
        "[cable.x]\nends = [\"d\", \"e\"]\n[cable.y]\nends = [\"box\", \"e\"]",
        &["[bad-cabling cable.x.ends]"],
    );
    assert_refused("", ON, "[network]\ntopology = \"leaf-spine\"", &["[not-supported network.topology]"]);
}

#[test]
fn what_no_ring_carries_is_refused() {
    let job = "[job.j]\nkind = \"barrier\"\nhosts = [\"box\", \"d\"]\ntransport = \"roce\"";
    assert_refused("", ON, job, &["[not-supported job.j.transport] \"dctcp\""]);
    assert_refused("mcn = { rings = \"1 KiB\" }", ON, "", &["[does-not-fit host.box.mcn.rings]"]);
    assert_refused("mcn = { rings = \"4100 B\" }", ON, "", &["[not-a-multiple host.box.mcn.rings] 64 B"]);
    assert_refused("mcn = { poll = \"0 us\" }", ON, "", &["[out-of-range host.box.mcn.poll]"]);
    assert_refused("mcn = { level = \"mcn6\" }", ON, "", &["[unknown-name host.box.mcn.level] mcn6"]);
    let flow_of = |more: &str| flow("d", "box", more);
    assert_refused("", ON, &flow_of("mtu = \"9000 B\""), &["[does-not-fit flow.f.mtu] 1500 B"]);
    let rdma = "[flow.f]\nkind = \"write\"\nfrom = \"d\"\nto = \"box\"\n";
    assert_refused("", ON, rdma, &["[not-supported flow.f.kind]"]);
    let out = flow("d", "e", "mtu = \"9000 B\"");
    assert_refused("mcn = { level = \"mcn3\" }", ON, &out, &["[does-not-fit flow.f.mtu]"]);
    assert_refused("mcn = { level = \"mcn5\", alert = false }", ON, "", &["[requires-key host.box.mcn.alert]"]);
    assert_refused(
        "mcn = { level = \"mcn5\", checksum = true }",
        ON,
        "",
        &["[conflicting-keys host.box.mcn.checksum] checksum = false"],
    );
    assert_refused("mcn = { level = \"mcn4\", gso = \"48 KiB\" }", ON, "", &["[does-not-fit host.box.mcn.gso]"]);
}
