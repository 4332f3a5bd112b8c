//! Networks that carry messages whole: valid documents, errors, and hashes.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::NetworkFidelity;
use std::path::Path;

const JOB: &str = "[job.j]\nkind = \"allreduce\"\nhosts = \"h\"\nbytes = \"1 MB\"\n";
const HOSTS: &str = "[host.h]\nkind = \"endpoint\"\ncount = 4\n";

fn resolved(text: &str) -> Result<Plan, String> {
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn assert_refused(text: &str, says: &str) {
    match resolved(text) {
        Ok(_) => panic!("is allowed: {text}"),
        Err(error) => assert_tells(&error, &[says]),
    }
}

#[test]
fn only_a_network_of_messages_has_another_hash() {
    let plan = |network: &str| resolved(&format!("{HOSTS}{network}{JOB}")).unwrap_or_else(|error| panic!("{error}"));
    let [absent, packet, flow] =
        ["", "[network]\nfidelity = \"packet\"\n", "[network]\nfidelity = \"flow\"\n"].map(plan);
    assert_eq!((absent.cluster.fidelity, flow.cluster.fidelity), (NetworkFidelity::Packet, NetworkFidelity::Flow));
    assert_eq!(absent.hash, packet.hash);
    assert_ne!(absent.hash, flow.hash);
    let note = |plan: &Plan| plan.ignored.iter().any(|note| note.starts_with("network.fidelity"));
    assert_eq!([&absent, &packet, &flow].map(note), [false, false, true]);
    let again = serde_json::to_string(&flow.effective).expect("JSON");
    let input =
        Input { text: &again, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&input).expect("it is complete").hash, flow.hash);
}

#[test]
fn what_needs_packets_is_refused() {
    let flow = "[network]\nfidelity = \"flow\"\n";
    assert_refused(&format!("{HOSTS}[network]\nfidelity = \"flo\"\n{JOB}"), "[unknown-name network.fidelity] \"flow\"");
    assert_refused(&format!("{HOSTS}{flow}"), "[requires-key network.fidelity] job");
    let bulk = "[flow.f]\nkind = \"bulk\"\nfrom = \"h-0\"\nto = \"h-1\"\n";
    assert_refused(&format!("{HOSTS}{flow}{JOB}{bulk}"), "[not-supported flow.f] packet");
    assert_refused(&format!("{HOSTS}{flow}{JOB}compress = true\n"), "[not-supported job.j.compress] packet");
    assert_refused(&format!("{HOSTS}{flow}{JOB}algorithm = \"in-network\"\n"), "[not-supported job.j.algorithm]");
    assert_refused(&format!("{HOSTS}{flow}switch.kind = \"learning\"\n{JOB}"), "[not-supported network.switch.kind]");
    let down = "[cable.h-1]\ndown = [[\"0 us\", \"1 us\"]]\n";
    assert_refused(&format!("{HOSTS}{flow}{JOB}{down}"), "[not-supported cable.h-1.down]");
    assert_refused(&format!("{HOSTS}{flow}{JOB}[cable.h-1]\ncorrupt = 0.1\n"), "[not-supported cable.h-1.corrupt]");
    let server = "[host.s]\npreset = \"cascade-lake-hostcc\"\n";
    assert_refused(&format!("{HOSTS}{server}{flow}{JOB}"), "[wrong-host-kind host.s] endpoint");
}
