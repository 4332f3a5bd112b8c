//! Placement of drives: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use std::path::Path;

fn resolved(text: &str, format: Format) -> Result<Plan, String> {
    let input = Input { text, format, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

/// Returns a document of two sockets whose preset gives only the number of drives.
fn document(more: &str) -> String {
    format!(
        "server.preset = \"broadwell-r730\"\nssd.count = 4\npcie.lanes = 16\n{more}\n\
         [workload.s]\nkind = \"stream\"\ncores = \"0\"\n"
    )
}

fn plan(more: &str) -> Plan {
    resolved(&document(more), Format::Toml).unwrap_or_else(|error| panic!("{error}"))
}

fn counts(plan: &Plan) -> Vec<u32> {
    plan.server().expect("a server").sockets.iter().map(|socket| socket.ssd.count).collect()
}

#[test]
fn drives_are_on_every_socket_or_where_they_are_said_to_be() {
    assert_eq!(counts(&plan("")), [4, 4]);
    assert_eq!(counts(&plan("ssd.sockets = 1")), [0, 4]);
    assert_eq!(counts(&plan("ssd.sockets = [0, 0, 1, 1]")), [2, 2]);
    assert_eq!(counts(&plan("ssd.sockets = [0, 1, 1, 1]\nsocket.1.memory.channels = 2")), [1, 3]);
}

#[test]
fn drives_that_outrun_their_lanes_are_noted_with_lanes_that_fit() {
    let notes = |more: &str| {
        let ignored = plan(more).ignored.into_iter();
        ignored.filter(|note| note.contains("pcie.lanes: ")).collect::<Vec<_>>()
    };
    assert!(notes("").is_empty());
    let [note] = &notes("ssd.bandwidth = \"7 GB/s\"")[..] else { panic!("one note of both sockets") };
    assert!(note.contains("x4 of generation 3") && note.ends_with("pcie.lanes = 32 would fit"), "{note}");
    let [note] = &notes("ssd.bandwidth = \"20 GB/s\"")[..] else { panic!("one note of both sockets") };
    assert!(note.ends_with("only 3.9 GB/s"), "no link of generation 3 is as fast: {note}");
}

#[test]
fn a_drive_has_its_lanes_and_its_ddio_wherever_it_is() {
    let more = "cache.enabled = true\nddio.off = [1, 2]\n";
    let lanes = |plan: &Plan, socket: usize| plan.server().unwrap().sockets[socket].pcie.bytes_per_s;
    let ddio = |plan: &Plan, socket: usize| {
        plan.server().unwrap().sockets[socket].cache.as_ref().expect("caches").ddio.drives.clone()
    };
    let together = plan(&format!("{more}ssd.sockets = 0"));
    let apart = plan(&format!("{more}ssd.sockets = [0, 0, 1, 1]"));
    assert_eq!([lanes(&apart, 0), lanes(&apart, 1)], [lanes(&together, 0); 2]);
    assert_eq!(ddio(&together, 0), [true, false, false, true]);
    assert_eq!([ddio(&apart, 0), ddio(&apart, 1)], [vec![true, false], vec![false, true]]);
}

#[test]
fn what_the_user_says_of_a_socket_goes_before_what_the_preset_says_of_all_drives() {
    let of = |more: &str| {
        let stream = "[workload.s]\nkind = \"stream\"\ncores = \"0\"\n";
        let text = format!("server.preset = \"skylake-8160\"\n{more}\n{stream}");
        let plan = resolved(&text, Format::Toml).unwrap_or_else(|error| panic!("{error}"));
        let again = resolved(&plan.effective.to_string(), Format::Json).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.hash, &again.effective), (&plan.hash, &plan.effective));
        counts(&plan)
    };
    assert_eq!(of(""), [4, 0]);
    assert_eq!(of("socket.1.ssd.count = 2"), [4, 2]);
    assert_eq!(of("socket.1.memory.channels = 2"), [4, 0]);
    assert_eq!(of("ssd.sockets = 1\nsocket.1.memory.channels = 2"), [0, 4]);
}

#[test]
fn a_path_to_every_socket_is_of_all_drives() {
    let octo = plan("ssd.mode = \"octo\"\nssd.sockets = [0, 0, 0, 1]");
    let server = octo.server().unwrap();
    assert_eq!(server.drives_at(0), [(0, 0), (0, 1), (0, 2), (1, 0)]);
    assert_eq!(server.drives_at(1), [(1, 0), (0, 0), (0, 1), (0, 2)]);
    assert_eq!(plan("ssd.sockets = [0, 0, 0, 1]").server().unwrap().drives_at(1), [(1, 0)]);
}

#[test]
fn what_is_written_out_gives_the_same_server_again() {
    for more in ["ssd.sockets = 1", "ssd.sockets = [0, 0, 1, 1]\nssd.mode = \"octo\"\nsocket.1.memory.channels = 2"] {
        let plan = plan(more);
        let again = resolved(&plan.effective.to_string(), Format::Json).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.hash, &again.cluster, &again.effective), (&plan.hash, &plan.cluster, &plan.effective));
    }
}

#[test]
fn storage_is_served_beside_its_drive() {
    let job = |drive| format!("{{ rw = \"read\", bs = \"4 KiB\", iodepth = 1, size = \"1 MiB\", ssd = {drive} }}");
    for (drive, core) in [(1, 13), (2, 27)] {
        let disk = format!("[workload.disk]\nkind = \"fio\"\njobs = [{}]\n", job(drive));
        let plan = resolved(&(document("ssd.sockets = [0, 0, 1, 1]") + &disk), Format::Toml).unwrap();
        let fio = plan.server().unwrap().workloads[0].kind.fio().expect("storage");
        assert_eq!(fio.jobs[0].core, core);
    }
}

#[test]
fn what_cannot_be_is_said() {
    for (more, says) in [
        ("ssd.sockets = 2", "[does-not-exist ssd.sockets] socket 2 | server.sockets = 2"),
        ("ssd.sockets = [0, 0, 0, 3]", "[does-not-exist ssd.sockets[3]] socket 3"),
        ("ssd.sockets = [0, 1]", "[wrong-count ssd.sockets] ssd.count = 4"),
        ("ssd.sockets = [0, 1, 0, 1]", "[wrong-order ssd.sockets[2]] socket 0"),
        ("ssd.sockets = \"0\"", "[wrong-type ssd.sockets]"),
        ("ssd.sockets = 8", "[out-of-range ssd.sockets]"),
        ("ssd.mode = \"octopus\"", "[unknown-name ssd.mode]"),
        ("ssd.sockets = 0\nsocket.1.ssd.count = 2", "[conflicting-keys socket.1.ssd.count]"),
        ("ssd.mode = \"octo\"\nsocket.1.ssd.mode = \"standard\"", "[misplaced-key socket.1.ssd.mode]"),
        ("socket.1.ssd.sockets = 1", "[misplaced-key socket.1.ssd.sockets]"),
        ("ssd.sockets = 0\nsocket.1.pcie.lanes = 3", "[too-few-slots pcie.lanes] ssd.count = 4"),
        ("ssd.sockets = 0\nddio.off = [4]", "[does-not-exist ddio.off] drive 4 | ssd.count = 4"),
    ] {
        match resolved(&document(more), Format::Toml) {
            Ok(_) => panic!("is allowed: {more}"),
            Err(error) => assert_tells(&error, &[says]),
        }
    }
}

#[test]
fn a_job_on_several_drives_is_a_job_on_each() {
    let jobs = |jobs: &[&str]| {
        let job = "rw = \"read\", bs = \"128 KiB\", iodepth = 32";
        let tables: Vec<_> = jobs.iter().map(|keys| format!("{{ {job}, {keys} }}")).collect();
        document(&format!("[workload.d]\nkind = \"fio\"\njobs = [{}]\n", tables.join(", ")))
    };
    let plan = |tables: &[&str]| resolved(&jobs(tables), Format::Toml).unwrap_or_else(|error| panic!("{error}"));
    let each = plan(&["ssd = 1", "ssd = 3", "ssd = 0, core = 7"]);
    for together in ["ssd = \"1,3\"", "ssd = [3, 1]"] {
        let together = plan(&[together, "ssd = 0, core = 7"]);
        assert_eq!((together.hash, &together.effective), (each.hash.clone(), &each.effective));
    }
    let with_size = plan(&["ssd = \"1,3\", size = \"128 KiB\"", "ssd = 0, core = 7, size = \"128 KiB\""]);
    assert_eq!(with_size.hash, each.hash);
    let place = |tables: &[&str]| resolved(&jobs(tables), Format::Toml).unwrap_err();
    assert_tells(&place(&["ssd = \"0-3\"", "ssd = 0, core = 99"]), &["[does-not-exist workload.d.jobs[1].core]"]);
    assert_tells(&place(&["ssd = \"0-3\"", "ssd = \"0-8\""]), &["[does-not-exist workload.d.jobs[1].ssd]"]);
}
