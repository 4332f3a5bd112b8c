//! Migration of pages: valid documents and errors.

use crate::common::{assert_tells, plan, resolve_text, told};
use hostnet_config::Format;

const SERVER: &str = r#"
[server]
preset = "cascade-lake-6234"
[memory]
run = "4 KiB"
[expander]
lanes = 8
[workload.a]
kind = "stream"
cores = "0-1"
working_set = "10 KiB"
memory = "interleave"
[workload.c]
kind = "stream"
cores = "2"
[workload.m]
kind = "tiering"
cores = "7"
workloads = ["a"]
local = "16 KiB"
"#;

fn assert_refused(text: &str, overrides: &[&str], says: &str) {
    match resolve_text(text, Format::Toml, overrides) {
        Ok(_) => panic!("is allowed: {overrides:?}"),
        Err(error) => assert_tells(&told(&error), &[says]),
    }
}

#[test]
fn pages_are_those_of_the_named_streams() {
    let plan = plan(SERVER, &[]);
    let (class, tiering) = plan.server().expect("a server").tiering().expect("pages migrate");
    // Buffers of 10 KiB have three pages each.
    assert_eq!((class, &tiering.classes[..], tiering.pages), (2, &[0][..], 6));
    assert_eq!((tiering.local_pages, tiering.page_bytes, tiering.sample), (4, 4096, 16));
    assert_eq!((tiering.period_ps, tiering.shootdown_ps), (20_000_000, 2_000_000));
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |overrides: &[&str], says: &str| assert_refused(SERVER, overrides, says);
    refused(&["workload.m.workloads=[\"b\"]"], "[unknown-name workload.m.workloads] \"b\" | \"a\"");
    refused(&["workload.m.workloads=[\"m\"]"], "[wrong-kind workload.m.workloads] \"m\"");
    refused(&["workload.m.workloads=[\"a\",\"a\"]"], "[duplicate workload.m.workloads] \"a\"");
    refused(&["workload.m.workloads=[]"], "[wrong-count workload.m.workloads]");
    refused(&["workload.m.local=8 KiB"], "[does-not-fit workload.m.local] 8 KiB | 12 KiB");
    refused(&["workload.m.period=0 ns"], "[out-of-range workload.m.period] 1 us");
    refused(&["workload.m.sample=0"], "[out-of-range workload.m.sample] 1");
    refused(&["workload.m.cores=99-99"], "[does-not-exist workload.m.cores] 99");
    refused(&["memory.run=2 MiB", "memory.page=2 MiB"], "[not-a-multiple memory.run] 2 MiB | 1 MiB");
    refused(&["cache.enabled=true"], "[not-supported cache.enabled] tiering");
    refused(
        &["workload.m.workloads=[\"c\"]", "workload.c.working_set=8 GiB"],
        "[too-many workload.m.workloads] 2097152 | 1048576",
    );
    assert_refused(
        &SERVER.replace("[expander]\nlanes = 8\n", ""),
        &["workload.a.memory=local"],
        "[requires-key workload.m.kind] expander",
    );
    let twice =
        format!("{SERVER}[workload.n]\nkind = \"tiering\"\ncores = \"6\"\nworkloads = [\"a\"]\nlocal = \"16 KiB\"\n");
    assert_refused(&twice, &[], "[too-many workload.m.kind] workload.n");
}
