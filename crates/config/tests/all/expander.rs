//! Memory behind a CXL link: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::Placement;
use std::path::Path;

fn resolved(more: &str) -> Result<Plan, String> {
    let text = format!(
        "server = {{ preset = \"cascade-lake-6234\" }}\n{more}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n\
         memory = \"node:1\"\n"
    );
    let input =
        Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn assert_refused(more: &str, says: &[&str]) {
    match resolved(more) {
        Ok(_) => panic!("is allowed: {more}"),
        Err(error) => assert_tells(&error, says),
    }
}

#[test]
fn an_empty_table_is_a_device_and_its_memory_is_a_node() {
    let plan = resolved("expander = {}").unwrap_or_else(|error| panic!("{error}"));
    let server = plan.server().expect("a server");
    assert_eq!(server.workloads[0].memory, Placement::Socket(1));
    let expander = server.socket().expander.as_ref().expect("an expander");
    // PCIe 5.0 x8, with 64 B of slots per flit of 68 B.
    let wires = 8.0 * 32e9 / 8.0 * 128.0 / 130.0;
    assert!((expander.bytes_per_s as f64 / (wires * 64.0 / 68.0) - 1.0).abs() < 1e-6);
    assert_eq!((expander.latency_ps, expander.device_ps), (40_000, 20_000));
    assert_eq!([expander.request_bytes, expander.data_bytes], [16, 80]);
    assert_eq!(expander.memory.pages.run_bytes, server.socket().memory.pages.run_bytes);
    assert!(plan.unvalidated.as_ref().is_some_and(|why| why.contains("expander")), "{:?}", plan.unvalidated);
    let again = serde_json::to_string(&plan.effective).expect("JSON");
    let input =
        Input { text: &again, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&input).expect("it is complete").hash, plan.hash);
}

#[test]
fn what_is_wrong_is_said() {
    assert_refused("", &["[does-not-exist workload.s.memory] node 1"]);
    assert_refused("expander.lanes = 3", &["[not-a-multiple expander.lanes]"]);
    assert_refused("expander.latency = \"0 ns\"", &["[out-of-range expander.latency] 1 ps"]);
    assert_refused("expander.device = \"DDR5_480\"", &["[unknown-name expander.device] \"DDR5_4800\""]);
    assert_refused("expander.read_credit = 5", &["[unknown-key expander.read_credit] \"read_credits\""]);
    assert_refused("expander.size = \"1 TiB\"", &["[out-of-memory-space expander.size]"]);
    assert_refused("expander.size = \"64 KiB\"", &["[out-of-memory-space expander.size] 64 KiB"]);
    assert_refused("expander = {}\nnoc = { die = \"cascade-lake-18\" }", &["[not-supported expander]"]);
    assert_refused("expander = {}\ncha.tor.expander_entries = 4096", &["[wrong-order cha.tor.expander_entries] 4096"]);
    let control = "[control]\nrule = \"watch\"\nside = \"expander\"\n";
    assert_refused(&format!("expander = {{}}\n{control}"), &["[missing-key control"]);
    let two = "expander = {}\nserver.sockets = 2";
    let text = two.replace("server.sockets", "[server]\nsockets");
    let text = format!("{text}\npreset = \"skylake-8160\"\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n");
    let input =
        Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    let error = told(&resolve(&input).expect_err("two sockets"));
    assert_tells(&error, &["[not-supported expander]"]);
}
