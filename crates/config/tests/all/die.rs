//! The die of a server: maps and their errors.

use crate::common::{assert_tells, told};
use hostnet_config::{dies, resolve, Format, Input, Plan};
use hostnet_params::{DieParams, Placement, Stop};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;

/// Returns a folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hostnet-die-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn resolved(text: &str, base_dir: &std::path::Path) -> Result<Plan, String> {
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir, overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn document(noc: &str) -> String {
    format!(
        "server = {{ preset = \"cascade-lake-6234\" }}\n[noc]\n{noc}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n"
    )
}

fn die_of(plan: &Plan) -> &DieParams {
    plan.server().expect("a server").socket().die.as_ref().expect("a die")
}

/// Returns a map of 8 cores and 18 slices without the rows `without` and with the rows `more`.
fn map(without: &[&str], more: &[&str]) -> String {
    let mut text = String::from("part,column,row\n");
    let cores = (0..8).map(|number| (format!("core{number}"), number % 6, 1 + number / 6));
    let slices = (0..18).map(|number| (format!("cha{number}"), number % 6, 1 + number / 6));
    let others =
        [("imc0", 0, 4), ("imc1", 5, 4), ("iio0", 1, 0), ("iio1", 4, 0)].map(|(part, c, r)| (part.into(), c, r));
    for (part, column, row) in cores.chain(slices).chain(others).filter(|(part, ..)| !without.contains(&part.as_str()))
    {
        writeln!(text, "{part},{column},{row}").expect("a string");
    }
    more.iter().for_each(|row| text += &format!("{row}\n"));
    text
}

/// Resolves a server with a map from the user's file.
fn with_map(name: &str, map: &str, noc: &str) -> Result<Plan, String> {
    let folder = folder(name);
    std::fs::write(folder.join("own.csv"), map).expect("a file");
    let found = resolved(&document(&format!("die = \"own.csv\"\n{noc}")), &folder);
    std::fs::remove_dir_all(&folder).expect("the folder of the test");
    found
}

#[test]
fn every_map_of_the_program_is_one_of_a_server() {
    let servers = [
        ("cascade-lake-18", "cascade-lake-6234"),
        ("cascade-lake-18", "cascade-lake-hostcc"),
        ("skylake-24", "skylake-8160"),
        ("ice-lake-32", "ice-lake-8362"),
        ("skylake-xcc-28", "skylake-8160\", count = 1 }\ncore.count = 28\ncha.slices = 28\n#"),
    ];
    for die in dies() {
        assert!(servers.iter().any(|(known, _)| *known == die), "{die} is of no server");
    }
    for (die, preset) in servers.into_iter().take(4) {
        let text = format!(
            "server = {{ preset = \"{preset}\" }}\nnoc.die = \"{die}\"\n\
             [workload.s]\nkind = \"stream\"\ncores = \"0\"\n"
        );
        let plan = resolved(&text, &std::env::temp_dir()).unwrap_or_else(|error| panic!("{error}"));
        for socket in &plan.server().unwrap().sockets {
            let die = socket.die.as_ref().expect("every socket has the die");
            assert_eq!(die.links.len(), socket.ssd.count as usize, "a stop for every drive");
            assert_eq!(die.channels.len() as u32, socket.memory.map.channels);
        }
    }
}

#[test]
fn a_map_may_be_a_file_or_a_table() {
    let plain = with_map("plain", &map(&[], &[]), "drives = \"iio1\"").unwrap_or_else(|error| panic!("{error}"));
    let die = die_of(&plain);
    assert_eq!((die.columns, die.rows), (6, 5));
    assert_eq!(die.links, vec![Stop { column: 4, row: 0 }; 4]);
    assert_eq!((die.cycle_ps, die.vertical_cycles, die.horizontal_cycles, die.line_cycles), (417, 1, 2, 2));
    let decorated = format!("\u{feff}# a comment\r\n\r\n{}", map(&[], &["# the end"]).replace('\n', " , a source\r\n"));
    let again = with_map("decorated", &decorated, "drives = [\"iio1\"]").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plain.hash, again.hash);
    // The effective configuration contains the map, so that it needs no file.
    let text = plain.effective.to_string();
    let here = std::env::temp_dir();
    let input = Input { text: &text, format: Format::Json, file: "a.json", base_dir: &here, overrides: &[] };
    let again = resolve(&input).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((&again.hash, &again.effective), (&plain.hash, &plain.effective));
}

#[test]
fn a_server_without_a_die_has_the_hash_that_it_had() {
    let text = document("").replace("[noc]\n", "");
    let plan = resolved(&text, &std::env::temp_dir()).unwrap_or_else(|error| panic!("{error}"));
    let server = serde_json::to_string(plan.server().unwrap()).expect("parameters are JSON");
    assert!(!server.contains("\"die\"") && plan.effective.get("noc").is_none());
}

#[test]
fn clusters_have_slices_and_channels_that_lie_beside_each_other() {
    let plan = with_map("clusters", &map(&[], &[]), "clusters = 2").unwrap_or_else(|error| panic!("{error}"));
    let die = die_of(&plan);
    assert!(die.slices[..9].iter().all(|stop| stop.column < 3) && die.slices[9..].iter().all(|stop| stop.column >= 3));
    assert_eq!(die.channels.iter().map(|stop| stop.column).collect::<Vec<_>>(), [0, 5]);
    assert_eq!(die.cores.iter().map(|&stop| die.cluster_of(stop)).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1, 0, 0]);
}

#[test]
fn wrong_maps_are_told_with_file_and_line() {
    let cases: [(&str, String, &str); 14] = [
        ("header", "core0,0,0\n".into(), "[malformed-file ] own.csv:1:  | \"core0,0,0\""),
        ("empty", "# nothing\n".into(), "[malformed-file ] own.csv: "),
        ("twice", map(&[], &["cha3,0,0"]), "[malformed-file ] own.csv:32: "),
        ("gap", map(&["core3"], &[]), "[malformed-file ]"),
        ("few", map(&["core7"], &[]), "[must-agree noc.die] core.count = 8"),
        ("slices", map(&["cha17"], &[]), "[must-agree noc.die] 17 | cha.slices = 18"),
        ("more", map(&[], &["cha18,0,0"]), "[must-agree noc.die] 19 | cha.slices = 18"),
        ("imc", map(&["imc0", "imc1"], &[]), "[malformed-file ]"),
        ("three", map(&[], &["imc2,0,0"]), "[not-a-multiple noc.die]"),
        ("kind", map(&[], &["chaa,0,0"]), "[malformed-file ] own.csv:32:  | \"chaa\""),
        ("number", map(&[], &["core,0,0"]), "[malformed-file ] own.csv:32:  | \"core\""),
        ("column", map(&[], &["core8,32,0"]), "[malformed-file ] own.csv:32:  | \"32\""),
        ("sign", map(&[], &["core8,-1,0"]), "[malformed-file ] own.csv:32:  | \"-1\""),
        ("row", map(&[], &["core8,0"]), "[malformed-file ] own.csv:32: "),
    ];
    for (name, map, says) in cases {
        let error = with_map(name, &map, "").expect_err(name);
        assert_tells(&error, &[says]);
    }
}

#[test]
fn wrong_tables_are_told() {
    let preset = "die = \"cascade-lake-18\"";
    let cases = [
        ("", "[missing-key noc]"),
        ("die = \"cascade-lake-81\"", "[unknown-name noc.die] \"cascade-lake-18\""),
        ("die = \"none.csv\"", "[file-not-found noc.die]"),
        ("die = \"skylake-24\"", "[must-agree noc.die] 24 | cha.slices = 18"),
        (&format!("{preset}\nnic = \"iio7\""), "[does-not-exist noc.nic] \"iio7\""),
        (&format!("{preset}\ndrives = [\"iio0\", \"core0\"]"), "[does-not-exist noc.drives] \"core0\""),
        (&format!("{preset}\nclusters = 3"), "[out-of-range noc.clusters]"),
        (&format!("{preset}\nclusters = 4"), "[not-a-multiple noc.clusters] cha.slices = 18"),
        (&format!("{preset}\nlink = \"65 B\""), "[out-of-range noc.link]"),
        (&format!("{preset}\nclock = \"100 MHz\""), "[wrong-order noc.clock]"),
        (&format!("{preset}\nrouting = \"xy\""), "[unknown-key noc.routing]"),
        (&format!("{preset}\nmap.core0 = [0, 0]"), "[conflicting-keys noc.die]"),
        ("map.core0 = [0, 32]", "[out-of-range noc.map.core0] 32"),
        ("map.croe0 = [0, 0]", "[unknown-name noc.map.croe0] \"croe0\" | \"core\""),
    ];
    for (noc, says) in cases {
        let error = resolved(&document(noc), &std::env::temp_dir()).expect_err(noc);
        assert_tells(&error, &[says]);
    }
}

#[test]
fn only_hosts_with_lines_have_a_mesh() {
    for fidelity in ["burst", "fluid"] {
        let text = format!(
            "[host.a]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"{fidelity}\"\nnoc.die = \"cascade-lake-18\"\n\
             [host.b]\nkind = \"endpoint\"\n[network]\nrate = \"100 Gbps\"\nlatency = \"1 us\"\n\
             [flow.f]\nkind = \"bulk\"\nfrom = \"b\"\nto = \"a\"\n"
        );
        let error = resolved(&text, &std::env::temp_dir()).expect_err(fidelity);
        assert_tells(&error, &["[needs-line-fidelity host.a.fidelity]"]);
        let lines = text.replace(fidelity, "line");
        let plan = resolved(&lines, &std::env::temp_dir()).unwrap_or_else(|error| panic!("{error}"));
        let hosts = format!("{:?}", plan.cluster);
        assert!(
            hosts.contains("links: [Stop { column: 1, row: 0 }, Stop { column: 1, row: 0 }]"),
            "the drive and the NIC"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_map_is_what_it_says(places in prop::collection::vec((0u8..32, 0u8..32), 30), drives in 0usize..2) {
        let parts = (0..8).map(|number| format!("core{number}")).chain((0..18).map(|number| format!("cha{number}")));
        let parts = parts.chain(["imc0", "imc1", "iio0", "iio1"].map(str::to_owned));
        let rows: Vec<String> =
            parts.zip(&places).map(|(part, (column, row))| format!("map.{part} = [{column}, {row}]")).collect();
        let noc = format!("clock = \"10 GHz\"\nvertical = 0\ndrives = \"iio{drives}\"\n{}", rows.join("\n"));
        let plan = resolved(&document(&noc), &std::env::temp_dir()).map_err(TestCaseError::fail)?;
        let die = die_of(&plan);
        let stops: Vec<Stop> = places.iter().map(|&(column, row)| Stop { column, row }).collect();
        prop_assert_eq!(&die.cores[..], &stops[..8]);
        prop_assert_eq!(&die.slices[..], &stops[8..26]);
        prop_assert_eq!(&die.channels[..], &stops[26..28]);
        prop_assert_eq!(&die.links[..], &vec![stops[28 + drives]; 4][..]);
    }
}

/// Returns a server of eight cores and four channels on chiplets.
fn on_chiplets(settings: &str, more: &str) -> String {
    format!(
        "server = {{ preset = \"cascade-lake-6234\" }}\n[core]\nto_cha = \"15 ns\"\nfrom_cha = \"15 ns\"\n\
         [cha]\nslices = 4\n[memory]\nchannels = 4\n{more}\n\
         [chiplets]\n{settings}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n"
    )
}

#[test]
fn chiplets_are_spread_over_the_quadrants_of_their_io_die() {
    let text = on_chiplets("ccds = 4\nfclk = \"1467 MHz\"\nlink = \"16 B\"\nentries = 12", "");
    let plan = resolved(&text, &std::env::temp_dir()).unwrap_or_else(|error| panic!("{error}"));
    let die = die_of(&plan);
    let quadrants = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(column, row)| Stop { column, row });
    assert_eq!((&die.slices[..], &die.channels[..], &die.io[..]), (&quadrants[..], &quadrants[..], &quadrants[..]));
    assert_eq!(die.cores, quadrants.iter().flat_map(|&stop| [stop; 2]).collect::<Vec<Stop>>());
    let chiplets = die.chiplets.as_ref().expect("chiplets");
    assert_eq!((die.cycle_ps, chiplets.cores_per_ccd, chiplets.entries), (682, 2, 12));
    assert_eq!([chiplets.read_cycles, chiplets.write_cycles, chiplets.hop_cycles], [2, 4, 5]);
}

#[test]
fn wrong_chiplets_are_told() {
    let fclk = "fclk = \"1467 MHz\"";
    let cases = [
        ("ccds = 8", "", "[missing-key chiplets.fclk]"),
        ("ccds = 8\nfclk = \"0 MHz\"", "", "[out-of-range chiplets.fclk]"),
        (&format!("ccds = 0\n{fclk}"), "", "[out-of-range chiplets.ccds]"),
        (&format!("ccds = 16\n{fclk}"), "", "[not-a-multiple chiplets.ccds] core.count = 8"),
        (&format!("ccds = 3\n{fclk}"), "", "[not-a-multiple chiplets.ccds] core.count = 8"),
        (&format!("ccds = 4\nnps = 3\n{fclk}"), "", "[out-of-range chiplets.nps]"),
        (&format!("ccds = 4\nentries = 0\n{fclk}"), "", "[out-of-range chiplets.entries]"),
        (&format!("ccds = 4\nentries = 1\n{fclk}"), "", "[does-not-fit chiplets.entries] 1 | 2"),
        (&format!("ccds = 4\nhop = 64\n{fclk}"), "", "[wrong-order chiplets.fclk] data fabric"),
        (&format!("ccds = 4\nread = \"65 B\"\n{fclk}"), "", "[out-of-range chiplets.read]"),
        (&format!("ccds = 4\n{fclk}"), "[cache]\nenabled = true", "[conflicting-keys chiplets]"),
        (&format!("ccds = 4\n{fclk}"), "[noc]\ndie = \"cascade-lake-18\"", "[conflicting-keys chiplets]"),
    ];
    for (settings, more, says) in cases {
        let text = on_chiplets(settings, more);
        assert_tells(&resolved(&text, &std::env::temp_dir()).expect_err(says), &[says]);
    }
    let empty = on_chiplets(&format!("ccds = 4\n{fclk}"), "[socket.1.core]\ncount = 0");
    let empty = empty.replace("cascade-lake-6234\"", "cascade-lake-6234\", sockets = 2");
    assert!(resolved(&empty, &std::env::temp_dir()).is_ok(), "a socket may have memory alone");
    let odd = on_chiplets(&format!("ccds = 4\nnps = 4\n{fclk}"), "").replace("slices = 4", "slices = 2");
    let odd = odd.replace("channels = 4", "channels = 2");
    let error = resolved(&odd, &std::env::temp_dir()).expect_err("two channels");
    assert_tells(&error, &["[not-a-multiple chiplets.nps] memory.channels = 2"]);
    let unlike = on_chiplets(&format!("ccds = 4\n{fclk}"), "").replace("slices = 4", "slices = 18");
    let error = resolved(&unlike, &std::env::temp_dir()).expect_err("18 slices");
    assert_tells(&error, &["[must-agree cha.slices] memory.channels = 4 | cha.slices = 18"]);
}

/// Returns a server of two sockets with four NUMA nodes each, whose second socket has twice the channels.
fn nodes_of_chiplets(memory: &str) -> Result<Plan, String> {
    let text = on_chiplets("ccds = 4\nnps = 4\nfclk = \"1467 MHz\"", "[socket.1.memory]\nchannels = 8")
        .replace("slices = 4", "")
        .replace("cascade-lake-6234\"", "cascade-lake-6234\", sockets = 2");
    resolved(&format!("{text}memory = \"{memory}\"\n"), &std::env::temp_dir())
}

#[test]
fn nodes_are_numbered_socket_by_socket() {
    for (memory, socket, cluster) in [("node:0", 0, 0), ("node:3", 0, 3), ("node:4", 1, 0), ("node:7", 1, 3)] {
        let plan = nodes_of_chiplets(memory).unwrap_or_else(|error| panic!("{error}"));
        let server = plan.server().expect("a server");
        assert_eq!(server.workloads[0].memory, Placement::Cluster { socket, cluster });
        assert_eq!([server.sockets[0].cha.slices, server.sockets[1].cha.slices], [4, 8], "one per channel");
    }
    let error = nodes_of_chiplets("node:8").expect_err("there are eight");
    assert_tells(&error, &["[does-not-exist workload.s.memory] node 8 | 0 to 7 | chiplets.nps"]);
}

#[test]
fn a_node_of_chiplets_beside_far_memory_is_refused() {
    for far in ["expander", "pool"] {
        let text = on_chiplets("ccds = 4\nnps = 2\nfclk = \"1467 MHz\"", &format!("[{far}]"));
        let error = resolved(&text, &std::env::temp_dir()).expect_err(far);
        assert_tells(&error, &[&format!("[not-supported {far}] chiplets.nps = 1")]);
        let one = resolved(&text.replace("nps = 2", "nps = 1"), &std::env::temp_dir());
        // A pool is refused later: it is of servers of a cluster.
        assert!(one.err().is_none_or(|error| !error.contains("not-supported")), "{far}");
    }
}
