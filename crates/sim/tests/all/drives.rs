//! Tests drives of several sockets: the sockets that their data cross, and the benefit of a path to every socket.

use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::{acquired, plan, settled, us};
use hostnet_kernel::Simulation;
use hostnet_model::nvme::Ssd;
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::PoolGroup;
use proptest::prelude::*;

const UNTIL_US: u64 = 300;

/// Returns jobs of the cores of a socket on four drives, each with some commands in flight.
fn jobs(rw: &str, first_core: u32) -> String {
    let job = |at: u32| {
        let core = first_core + at;
        format!("{{ rw = \"{rw}\", bs = \"64 KiB\", iodepth = 8, size = \"64 MiB\", ssd = {at}, core = {core} }}")
    };
    format!("jobs = [{}]", (0..4).map(job).collect::<Vec<_>>().join(", "))
}

/// Returns a server of two sockets with 24 cores each, and four drives with these settings. The jobs run on the cores
/// of `socket`.
fn server(socket: u32, rw: &str, settings: &[&str]) -> Simulation<Machine> {
    let text = format!(
        "server.preset = \"skylake-8160\"\n[workload.disk]\nkind = \"fio\"\n{}\n\
         [workload.stream]\nkind = \"stream\"\ncores = \"8-9,32-33\"\nmemory = \"interleave\"\nreads = 0.5\n",
        jobs(rw, 24 * socket)
    );
    build::one_server(plan(&text, settings).server().expect("a server"))
}

/// Returns the bytes that the drives transfer during a test.
fn moved(simulation: &mut Simulation<Machine>) -> f64 {
    run_to(simulation, us(UNTIL_US));
    let machine = settled(simulation);
    assert_books(machine);
    let services = machine.each::<Ssd>().flat_map(Ssd::services);
    services.map(|service| service.bytes as f64).sum()
}

fn assert_alike(what: &str, one: f64, other: f64) {
    assert!((one / other - 1.0).abs() < 0.03, "{what}: {one} B, and {other} B");
}

const CACHED: [&str; 3] = ["cache.enabled=true", "cache.l2.sets=64", "cache.llc.sets=64"];

#[test]
fn octo_is_local_to_every_socket() {
    for rw in ["read", "write"] {
        for cached in [&[][..], &CACHED] {
            let with = |settings: &[&'static str]| [cached, settings].concat();
            let local = moved(&mut server(1, rw, &with(&["ssd.sockets=1"])));
            let octo = moved(&mut server(1, rw, &with(&["ssd.mode=octo"])));
            assert_alike(&format!("octo and local, {rw}"), octo, local);
        }
    }
}

#[test]
fn swapped_sockets_mirror_each_other() {
    for rw in ["read", "write"] {
        let remote = moved(&mut server(1, rw, &["ssd.sockets=0"]));
        let mirrored = moved(&mut server(0, rw, &["ssd.sockets=1"]));
        assert_alike(&format!("remote either way, {rw}"), remote, mirrored);
    }
}

#[test]
fn lines_of_drives_cross_only_where_they_have_no_path() {
    let lines = |settings: &[&str]| {
        let mut simulation = server(1, "read", &[settings, &["workload.stream.memory=local"]].concat());
        moved(&mut simulation);
        acquired(settled(&mut simulation), PoolGroup::ChaUpi, 0)
    };
    assert_eq!(lines(&["ssd.sockets=1"]), 0);
    assert_eq!(lines(&["ssd.mode=octo"]), 0);
    assert_eq!(lines(&["ssd.sockets=[1,1,1,1]"]), 0);
    let [all, half] = [&["ssd.sockets=0"][..], &["ssd.sockets=[0,0,1,1]"]].map(|settings| lines(settings) as f64);
    assert!(all > 10_000.0 && (half / all - 0.5).abs() < 0.03, "{half} of {all} lines");
}

#[test]
fn memory_of_every_socket_is_reached_by_its_own_path() {
    let mut simulation = server(1, "read", &["ssd.mode=octo", "workload.disk.memory=interleave"]);
    let both = moved(&mut simulation);
    assert_eq!(acquired(settled(&mut simulation), PoolGroup::ChaUpi, 0), 0);
    assert_alike("interleaved and local", both, moved(&mut server(1, "read", &["ssd.sockets=1"])));
}

#[test]
fn a_path_to_the_own_socket_alone_is_the_standard() {
    let mut alike = ["standard", "octo"].map(|mode| {
        let text = format!("server.preset = \"cascade-lake-6234\"\n[workload.disk]\nkind = \"fio\"\n{}\n", {
            jobs("read", 0)
        });
        let settings = [format!("ssd.mode={mode}"), "ssd.count=4".to_string()];
        let settings = settings.each_ref().map(String::as_str);
        build::one_server(plan(&text, &settings).server().expect("a server"))
    });
    let [standard, octo] = alike.each_mut().map(moved);
    assert!((standard - octo).abs() < f64::EPSILON, "{standard} B, and {octo} B");
}

proptest! {
    #![proptest_config(cases(12))]

    /// With any paths and any credits, the statistics are consistent, everything makes progress, and every credit is
    /// returned in the end.
    #[test]
    fn credits_come_back(
        octo in any::<bool>(),
        socket in 0_u32..2,
        rw in prop::sample::select(vec!["read", "write", "rw"]),
        places in prop::sample::select(vec!["0", "1", "[0,0,1,1]", "[0,1,1,1]"]),
        memory in prop::sample::select(vec!["local", "interleave", "node:0"]),
        posted in prop::sample::select(vec![4_u32, 7, 64]),
        upi in prop::sample::select(vec![1_u32, 64]),
        lanes in prop::sample::select(vec![4_u32, 16]),
    ) {
        let settings = [
            format!("ssd.mode={}", if octo { "octo" } else { "standard" }),
            format!("ssd.sockets={places}"),
            format!("workload.disk.memory={memory}"),
            format!("pcie.posted_lines={posted}"),
            format!("upi.link.data_credits={upi}"),
            format!("pcie.lanes={lanes}"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut simulation = server(socket, rw, &settings);
        prop_assert!(moved(&mut simulation) > 0.0);
        assert_all_move(&mut simulation);
        drain(&mut simulation);
        assert_little(settled(&mut simulation));
    }
}
