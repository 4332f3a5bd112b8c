//! Servers of several sockets: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::{Placement, RemoteDdio};
use std::path::Path;

fn resolved(text: &str) -> Result<Plan, String> {
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn document(more: &str) -> String {
    format!("server = {{ preset = \"broadwell-r730\" }}\n{more}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n")
}

fn plan(more: &str) -> Plan {
    resolved(&document(more)).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_refused(text: &str, says: &str) {
    match resolved(text) {
        Ok(_) => panic!("is allowed: {text}"),
        Err(error) => assert_tells(&error, &[says]),
    }
}

#[test]
fn a_socket_has_what_the_server_says_but_for_its_own_tables() {
    let plan = plan("socket.1.memory.channels = 2\nsocket.1.memory.device = \"DDR4_2666\"\nsocket.1.core.count = 0");
    let server = plan.server().unwrap();
    let [first, second] = &server.sockets[..] else { panic!("two sockets") };
    assert_eq!([first, second].map(|socket| socket.core.count), [14, 0]);
    assert_eq!([first, second].map(|socket| socket.memory.map.channels), [4, 2]);
    assert_eq!([first, second].map(|socket| socket.memory.dram.timing.cl), [17, 19]);
    assert_eq!(first.memory.controller.write_high, second.memory.controller.write_high);
    assert_eq!((&first.iio, &first.cha), (&second.iio, &second.cha));
}

#[test]
fn what_is_written_out_gives_the_same_server_again() {
    for more in ["", "socket.1.memory.channels = 2", "upi.ddio = \"home\"\nupi.tor_entries = 3"] {
        let plan = plan(more);
        let text = plan.effective.to_string();
        let input =
            Input { text: &text, format: Format::Json, file: "test.json", base_dir: Path::new("."), overrides: &[] };
        let again = resolve(&input).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.hash, &again.cluster, &again.effective), (&plan.hash, &plan.cluster, &plan.effective));
    }
}

#[test]
fn links_add_up_and_half_of_the_entries_are_for_other_sockets() {
    let plan = plan("upi.ddio = \"device\"");
    let upi = plan.server().unwrap().upi.clone().expect("two sockets");
    assert_eq!((upi.upi.bytes_per_s, upi.upi.data_credits), (38_400_000_000, 128));
    assert_eq!((upi.tor_entries, upi.ddio), (7, RemoteDdio::Device));
}

#[test]
fn memory_lies_where_a_workload_wants_it() {
    for (memory, placement) in [
        ("local", Placement::Local),
        ("first-touch", Placement::Local),
        ("node:1", Placement::Socket(1)),
        ("interleave", Placement::Interleaved),
    ] {
        let plan = resolved(&(document("") + &format!("memory = \"{memory}\"\n"))).unwrap();
        assert_eq!(plan.server().unwrap().workloads[0].memory, placement);
    }
}

#[test]
fn storage_is_served_on_the_socket_of_its_drive() {
    for (drive, cores) in [(0, 12..14), (1, 26..28)] {
        let job = format!("{{ rw = \"read\", bs = \"4 KiB\", iodepth = 1, size = \"1 MiB\", ssd = {drive} }}");
        let disk = format!("[workload.disk]\nkind = \"fio\"\njobs = [{job}, {job}]\n");
        let plan = resolved(&(document("") + &disk)).unwrap_or_else(|error| panic!("{error}"));
        let fio = plan.server().unwrap().workloads[0].kind.fio().expect("storage");
        assert_eq!(fio.jobs.iter().map(|job| job.core).collect::<Vec<_>>(), cores.collect::<Vec<_>>());
    }
}

#[test]
fn tables_that_a_preset_has_for_sockets_go_with_them() {
    let text = "server = { preset = \"skylake-8160\", sockets = 1 }\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n";
    let plan = resolved(text).unwrap();
    let server = plan.server().unwrap();
    assert_eq!((server.sockets.len(), server.upi.is_none()), (1, true));
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let memory = |memory: &str| document("") + &format!("memory = \"{memory}\"\n");
    assert_refused(&memory("node:2"), "[does-not-exist workload.s.memory] node 2 | 0 to 1");
    assert_refused(&memory("nod:1"), "[unknown-name workload.s.memory] \"node:1\"");
    assert_refused(&document("socket.2.core.count = 1"), "[does-not-exist socket.2]");
    assert_refused(&document("socket.one.core.count = 1"), "[does-not-exist socket.one]");
    assert_refused(&document("socket.1.memory.chanels = 1"), "[unknown-key socket.1.memory.chanels] \"channels\"");
    assert_refused(&document("socket.1.nic.ring = 1"), "[unknown-key socket.1.nic]");
    assert_refused(&document("upi.tor_entries = 14"), "[wrong-order upi.tor_entries] cha.tor.entries = 14");
    assert_refused(&document("cha.tor.entries = 1"), "[out-of-range cha.tor.entries]");
    assert_refused(&document("socket.1.memory.run = \"64 KiB\""), "[must-agree socket.1.memory.run]");
    assert_refused(
        &document("socket.1.ssd.count = 0\nsocket.1.ddio.off = \"0\""),
        "[does-not-exist socket.1.ddio.off] drive 0",
    );
    assert_refused(&document("socket.0.core.count = 0\nsocket.1.core.count = 0"), "[wrong-count socket]");
    assert_refused(
        &document("").replace("cores = \"0\"", "cores = \"28\""),
        "[does-not-exist workload.s.cores] 0 to 27",
    );
    assert_refused(
        &document("cache.enabled = true\nsocket.1.cache.enabled = false"),
        "[must-agree socket.1.cache.enabled]",
    );
    assert_refused(&document("ssd.count = 33\npcie.lanes = 64\npcie.generation = 4"), "[too-many ssd.count] 66");
    assert_refused(
        &document("socket.1.core.write_ack = \"50 ns\"\nupi.link.latency = \"20 ns\""),
        "[must-agree upi.link.latency]",
    );
    let huge = memory("interleave").replace("cores = \"0\"", "cores = \"0-27\"\nworking_set = \"64 MiB\"");
    assert_refused(
        &(String::from("memory = { page = \"1 GiB\", run = \"1 GiB\", size = \"16 GiB\" }\n") + &huge),
        "[out-of-memory-space memory.size]",
    );
    let remote = "server = { preset = \"cascade-lake-hostcc\", sockets = 2 }\n\
                  [workload.r]\nkind = \"remote\"\ncores = 1\nsockets = \"0\"\n";
    assert_refused(remote, "[conflicting-keys server.sockets] \"remote\"");
    let clients = "server = { preset = \"broadwell-r730\" }\ncache.enabled = true\n\
                   [workload.r]\nkind = \"app\"\napp = \"redis\"\ncores = \"0\"\nclients = \"14\"\n";
    assert_refused(clients, "[must-agree workload.r.clients] client 14 | core 0");
}

#[test]
fn hosts_of_several_sockets_have_lines_or_rates_of_the_first() {
    let host = |keys: &str, cores: &str| {
        format!(
            "[host.a]\npreset = \"broadwell-r730\"\n{keys}[host.b]\nkind = \"endpoint\"\n\
             [flow.f]\nkind = \"bulk\"\nfrom = \"b\"\nto = \"a\"\nto_cores = \"{cores}\"\n"
        )
    };
    assert_refused(&host("fidelity = \"burst\"\n", "0"), "[not-supported host.a.fidelity]");
    let fluid = "fidelity = \"fluid\"\n";
    let elsewhere = "[needs-line-fidelity host.a.fidelity] socket 0 | core 14";
    assert_refused(&host(fluid, "14"), elsewhere);
    let octo = [fluid, "nic.functions = [{ socket = 0, lanes = 8 }, { socket = 1, lanes = 8 }]\n"].concat();
    assert_refused(&host(&octo, "0"), "[needs-line-fidelity host.a.fidelity] socket 0");
    resolved(&host(fluid, "0-13")).unwrap_or_else(|error| panic!("{error}"));
}
