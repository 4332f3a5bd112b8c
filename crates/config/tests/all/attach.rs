//! Attachment of a NIC: each error has its place and its rule.

use crate::common::{cluster_text, says};
use hostnet_config::Format;

/// Two endpoints and a server, and a flow from one endpoint to the server.
const BASE: &str =
    "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[host.s]\npreset = \"cascade-lake-hostcc\"\n\
                    [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"s\"\n";

#[test]
fn a_card_sits_in_one_place_and_has_the_keys_of_that() {
    let says = |overrides: &[&str], wanted: &[&str]| says(BASE, overrides, wanted);
    says(&["host.s.nic.attach=pcy"], &["[unknown-name host.s.nic.attach] \"pcie\""]);
    says(
        &["host.s.nic.fetch=8"],
        &["[no-effect host.s.nic.fetch]", "nic.attach = \"pcie\"", "\"onchip\"", "\"cxl\"", "\"dimm\""],
    );
    says(
        &["host.s.nic.attach=pcie", "host.s.nic.onchip.latency=1 ns"],
        &["[no-effect host.s.nic.onchip] nic.attach = \"onchip\""],
    );
    says(
        &["host.s.nic.attach=onchip", "host.s.nic.cxl.latency=1 ns"],
        &["[no-effect host.s.nic.cxl] nic.attach = \"cxl\""],
    );
    says(&["host.s.nic.attach=cxl", "host.s.nic.fetch=5"], &["[does-not-fit host.s.nic.fetch] 16 B"]);
    says(&["host.s.nic.attach=pcie", "host.s.nic.fetch=33"], &["[out-of-range host.s.nic.fetch] 1 to 32"]);
    says(&["host.s.nic.attach=pcie", "host.s.nic.register=0 ns"], &["[out-of-range host.s.nic.register] 1 ps"]);
    let functions = "host.s.nic.functions=[{socket=0}]";
    says(&["host.s.nic.attach=onchip", functions], &["[conflicting-keys host.s.nic.functions]"]);
    for key in ["nic.attach=pcie", "stack.zero_copy=true"] {
        let key = format!("host.s.{key}");
        says(&[&key, "host.s.fidelity=burst"], &["[needs-line-fidelity host.s.fidelity] fidelity = \"line\""]);
        says(&[&key, "host.s.fidelity=fluid"], &["[needs-line-fidelity host.s.fidelity] fidelity = \"line\""]);
    }
    let plan = cluster_text(BASE, Format::Toml, &["host.s.nic.attach=cxl"]).expect("a card at CXL");
    assert!(plan.unvalidated.iter().any(|reason| reason.contains("a NIC at CXL")), "{:?}", plan.unvalidated);
}

#[test]
fn what_is_wrong_with_a_dimm_is_said() {
    let says = |overrides: &[&str], wanted: &[&str]| {
        let all = [&["host.s.nic.attach=dimm"][..], overrides].concat();
        says(BASE, &all, wanted);
    };
    says(&["host.s.nic.dimm.channel=9"], &["[does-not-exist host.s.nic.dimm.channel] channel 9"]);
    says(&["host.s.nic.dimm.async.ids=0"], &["[out-of-range host.s.nic.dimm.async.ids] 1 to 65536"]);
    says(&["host.s.nic.dimm.async.cmd=0 ns"], &["[out-of-range host.s.nic.dimm.async.cmd] 1 ps"]);
    says(&["host.s.nic.dimm.device=DDR4_240"], &["[unknown-name host.s.nic.dimm.device] \"DDR4_2400\""]);
    says(&["host.s.nic.dimm.device=DDR5_4800"], &["[not-supported host.s.nic.dimm.device]"]);
    says(&["host.s.nic.dimm.ncache.size=100 B"], &["[not-a-multiple host.s.nic.dimm.ncache.size]"]);
    says(&["host.s.nic.dimm.clone.subarrays=65536"], &["[out-of-range host.s.nic.dimm.clone.subarrays] 32768"]);
    says(&["host.s.nic.dimm.chanel=0"], &["[unknown-key host.s.nic.dimm.chanel] \"channel\""]);
    says(&["host.s.nic.descriptor=16 KiB"], &["[not-supported host.s.nic.descriptor]"]);
    says(&["host.s.expander={}"], &["[not-supported host.s.expander]"]);
    says(&["host.s.fidelity=burst"], &["[needs-line-fidelity host.s.fidelity] fidelity = \"line\""]);
    says(&["flow.f.sendfile=local", "flow.f.from=s", "flow.f.to=a"], &["[not-supported host.s.nic.attach]"]);
    let stream = "host.s.workload.beside={kind=\"stream\",cores=\"0\",memory=\"interleave\"}";
    says(&[stream], &["[not-supported host.s.workload.beside.memory]"]);
}
