//! Tests of what a table depends on.

use super::TableInputs;
use crate::build::attach::NetworkAttachment;
use crate::build::servers;
use hostnet_config::{resolve, Format, Input};
use std::collections::BTreeSet;
use std::path::Path;

const CLUSTER: &str = r#"
[host.receiver]
preset = "cascade-lake-hostcc"
fidelity = "fluid"
[host.receiver.workload.mapp]
kind = "remote"
sockets = "0-1"
[host.sender]
kind = "endpoint"
[network]
mtu = "4096 B"
[flow.bulk]
kind = "bulk"
from = "sender"
to = "receiver"
count = 2
[run]
duration = "1 ms"
"#;

fn key_of(text: &str, overrides: &[&str]) -> Option<String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let base_dir = Path::new(".");
    let input = Input { text, format: Format::Toml, file: "t.toml", base_dir, overrides: &overrides };
    let plan = resolve(&input).expect("a right cluster");
    let host = plan.cluster.hosts.iter().position(|host| host.name == "receiver").expect("it is there");
    let server = servers(&plan.cluster)[host].clone().expect("it is a server");
    let attachment = NetworkAttachment { cluster: &plan.cluster, host: host as u16, wire: None, peers: Vec::new() };
    TableInputs::of(&server, &attachment).key()
}

fn key(overrides: &[&str]) -> String {
    key_of(CLUSTER, overrides).expect("it replays no trace")
}

#[test]
fn what_does_not_matter_changes_no_key() {
    let plain = key(&[]);
    for same in [
        &["run.duration=\"7 ms\""][..],
        &["run.warmup=\"3 ms\""],
        &["run.name=\"other\""],
        &["network.latency=\"9 us\""],
        &["flow.bulk.transport=\"cubic\""],
        &["host.receiver.control.rule=\"watch\""],
        &["host.receiver.control.rule=\"fixed\"", "host.receiver.control.level=0"],
        &["host.third.kind=\"endpoint\""],
    ] {
        assert_eq!(key(same), plain, "{same:?}");
    }
    let [hostcc, fixed] = ["{rule=\"hostcc\"}", "{rule=\"fixed\", level=1}"]
        .map(|control| key(&[&format!("host.receiver.control={control}")]));
    assert_eq!(fixed, hostcc, "both may reach every state");
    assert_eq!(key_of(&CLUSTER.replace("mapp", "load").replace("bulk]", "other]"), &[]), Some(plain), "names");
}

#[test]
fn whatever_matters_changes_the_key() {
    let mut keys = BTreeSet::from([key(&[])]);
    for other in [
        &["run.seed=9"][..],
        &["network.mtu=\"1500 B\""],
        &["flow.bulk.count=3"],
        &["host.receiver.workload.mapp.reads=0.75"],
        &["host.receiver.workload.mapp.sockets=\"0\""],
        &["host.receiver.iio.write_credits=80"],
        &["host.receiver.nic.buffer=\"1 MiB\""],
        &["host.receiver.cache.enabled=true", "host.receiver.nic.ddio=true"],
        &["host.receiver.control.rule=\"fixed\"", "host.receiver.control.level=1"],
        &["host.receiver.control.rule=\"hostcc\"", "host.receiver.control.mba=\"1 us\""],
        &["host.receiver.stack.copy_line=\"9 ns\""],
    ] {
        assert!(keys.insert(key(other)), "{other:?}");
    }
}

#[test]
fn a_server_that_replays_a_trace_has_no_key() {
    let place = std::env::temp_dir().join(format!("hostnet-table-{}.lackey", std::process::id()));
    std::fs::write(&place, " L 00000040,8\n".repeat(64)).expect("a trace");
    let replay = format!("host.receiver.workload.t={{kind=\"app\", app=\"trace\", file={place:?}, cores=\"5\"}}");
    assert_eq!(key_of(CLUSTER, &["host.receiver.cache.enabled=true", &replay]), None);
    std::fs::remove_file(&place).expect("it is ours");
}
