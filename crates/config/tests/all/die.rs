//! The die of a server: maps, and what is wrong with them.

use crate::common::{assert_tells, told};
use hostnet_config::{dies, resolve, Format, Input, Plan};
use hostnet_model::params::{DieParams, Stop};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;

/// A folder for the files of a test.
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

/// A map of 8 cores and 18 slices, but for the rows that are left out or added.
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

/// What resolving a server with this map of its own gives.
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
    // What is written out has the map itself, so that it needs no file.
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
        ("header", "core0,0,0\n".into(), "own.csv:1: \"core0,0,0\" is not the header of a map"),
        ("empty", "# nothing\n".into(), "own.csv: is empty; a map begins with part,column,row"),
        ("twice", map(&[], &["cha3,0,0"]), "own.csv:32: cha3 is there twice"),
        ("gap", map(&["core3"], &[]), "has no part core3, but core7: numbers begin with 0"),
        ("few", map(&["core7"], &[]), "has 7 of core; core.count = 8"),
        ("slices", map(&["cha17"], &[]), "has 17 of cha; cha.slices = 18"),
        ("more", map(&[], &["cha18,0,0"]), "has 19 of cha; cha.slices = 18"),
        ("imc", map(&["imc0", "imc1"], &[]), "has no part imc0; a map has at least one imc"),
        ("three", map(&[], &["imc2,0,0"]), "has 3 of imc, which cannot share 2 channels"),
        ("kind", map(&[], &["chaa,0,0"]), "own.csv:32: \"chaa\" is no part of a map; did you mean \"cha\"?"),
        ("number", map(&[], &["core,0,0"]), "own.csv:32: \"core\" has no number, as core0 has"),
        ("column", map(&[], &["core8,32,0"]), "own.csv:32: column \"32\" is not 0 to 31"),
        ("sign", map(&[], &["core8,-1,0"]), "own.csv:32: column \"-1\" is not 0 to 31"),
        ("row", map(&[], &["core8,0"]), "own.csv:32: lacks the row; a row is part,column,row"),
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
        ("", "noc: missing; name a map (cascade-lake-18"),
        ("die = \"cascade-lake-81\"", "is not a known die; did you mean \"cascade-lake-18\"?"),
        ("die = \"none.csv\"", "there is no such file"),
        ("die = \"skylake-24\"", "skylake-24 has 24 of cha; cha.slices = 18"),
        (
            &format!("{preset}\nnic = \"iio7\""),
            "noc.nic: \"iio7\" is no stop of cascade-lake-18 for devices; did you mean",
        ),
        (&format!("{preset}\ndrives = [\"iio0\", \"core0\"]"), "noc.drives: \"core0\" is no stop"),
        (&format!("{preset}\nclusters = 3"), "3 is not 1, 2 or 4"),
        (&format!("{preset}\nclusters = 4"), "4 clusters cannot share cha.slices = 18"),
        (&format!("{preset}\nlink = \"65 B\""), "noc.link"),
        (
            &format!("{preset}\nclock = \"100 MHz\""),
            "nearer a memory controller than the mean, which is more than cha.from_mc",
        ),
        (&format!("{preset}\nrouting = \"xy\""), "noc.routing: unknown key"),
        (&format!("{preset}\nmap.core0 = [0, 0]"), "excludes noc.map"),
        ("map.core0 = [0, 32]", "is beyond 32 columns and rows"),
        ("map.croe0 = [0, 0]", "\"croe0\" is no part of a map; did you mean \"core\"?"),
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
        assert_tells(&error, &["host.a.fidelity: only lines travel over a mesh (noc)"]);
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
