//! Jobs whose vectors are added by switches: the reduction tree, and errors.

use crate::common;
use crate::common::cluster_text;
use hostnet_config::{Format, Plan};

/// Eight endpoints below two leaf switches and two spines, and a job of theirs.
const BASE: &str = "[host.e]\nkind = \"endpoint\"\ncount = 8\n\
                    [network]\ntopology = \"leaf-spine\"\nleaves = 2\nspines = 2\nmtu = \"9000 B\"\n\
                    [job.j]\nkind = \"allreduce\"\nalgorithm = \"in-network\"\nhosts = \"e\"\nbytes = \"1 MB\"\n\
                    [run]\nuntil = \"jobs\"\n";
const SUMS: &str = "network.switch.sum=50 Gbps";

fn resolved(overrides: &[&str]) -> Plan {
    cluster_text(BASE, Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn says(overrides: &[&str], wanted: &[&str]) {
    common::says(BASE, overrides, wanted);
}

/// Returns the reducers of a job: switch, inputs and output of each.
fn tree(plan: &Plan, job: usize) -> Vec<(&str, &[u32], Option<u32>)> {
    let own = plan.cluster.jobs[job].reducers.iter();
    own.map(|reducer| {
        let switch = plan.cluster.switches[usize::from(reducer.switch)].name.as_str();
        assert_eq!(plan.cluster.hosts[usize::from(reducer.host)].name, format!("{switch} sum"));
        (switch, reducer.inputs.as_slice(), reducer.output)
    })
    .collect()
}

#[test]
fn vectors_are_added_where_they_meet() {
    let plan = resolved(&[SUMS]);
    let expected: [(&str, &[u32], Option<u32>); 3] =
        [("leaf-0", &[0, 1, 2, 3], Some(10)), ("leaf-1", &[4, 5, 6, 7], Some(10)), ("spine-0", &[8, 9], None)];
    assert_eq!(tree(&plan, 0), expected);
    let first = &plan.cluster.jobs[0].reducers[0];
    assert_eq!((first.bytes_per_s, first.packet_bytes), (6_250_000_000, 8948));
    assert_eq!((plan.cluster.hosts.len(), plan.cluster.cables.len(), plan.cluster.flows.len()), (11, 15, 10));
    assert_eq!(plan.effective["network"]["switch"]["sum"], "6.25 GB/s");
    let again = cluster_text(&plan.effective.to_string(), Format::Json, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.hash, plan.hash);
    assert_ne!(resolved(&["network.switch.sum=51 Gbps"]).hash, plan.hash);
    // A rank alone on its host sends its vector unchanged, and so do all ranks of a switch without an engine.
    let lone = resolved(&[SUMS, "job.j.hosts=[\"e-0\", \"e-1\", \"e-7\"]"]);
    assert_eq!(tree(&lone, 0), [("leaf-0", [0, 1].as_slice(), Some(4)), ("spine-0", &[2, 3], None)]);
    let spines = resolved(&["switch.spine.sum=1 Gbps"]);
    assert_eq!(tree(&spines, 0), [("spine-0", [0, 1, 2, 3, 4, 5, 6, 7].as_slice(), None)]);
    let second = resolved(&["switch.spine-1.sum=1 Gbps", "switch.leaf-1.sum=1 Gbps"]);
    let expected = [("leaf-1", [4, 5, 6, 7].as_slice(), Some(9)), ("spine-1", &[0, 1, 2, 3, 8], None)];
    assert_eq!(tree(&second, 0), expected);
    // Hosts of one switch need no other switch.
    let leaf = resolved(&[SUMS, "job.j.hosts=[\"e-4\", \"e-5\"]"]);
    assert_eq!(tree(&leaf, 0), [("leaf-1", [0, 1].as_slice(), None)]);
    // The first rank of each host sends for the host.
    let more = resolved(&[SUMS, "job.j.ranks=10"]);
    assert_eq!(tree(&more, 0)[0], ("leaf-0", [0, 1, 2, 3].as_slice(), Some(12)));
    assert!(tree(&resolved(&[SUMS, "job.j.ranks=1"]), 0).is_empty());
}

#[test]
fn without_such_a_job_engines_are_not_there() {
    let ring = |overrides: &[&str]| resolved(&[overrides, &["job.j.algorithm=ring"]].concat());
    let (with, without) = (ring(&[SUMS]), ring(&[]));
    assert_eq!((with.hash, with.cluster), (without.hash, without.cluster));
}

#[test]
fn jobs_share_the_engines_of_switches() {
    let more =
        "\n[job.k]\nkind = \"allreduce\"\nalgorithm = \"in-network\"\nhosts = [\"e-0\", \"e-1\"]\nbytes = \"9 B\"\n";
    let plan = cluster_text(&format!("{BASE}{more}"), Format::Toml, &[SUMS]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.cluster.hosts.len(), 11);
    assert_eq!(plan.cluster.jobs[1].reducers[0].host, plan.cluster.jobs[0].reducers[0].host);
}

#[test]
fn what_is_wrong_is_said() {
    says(&[], &["[requires-key job.j.algorithm] network.switch.sum = \"100"]);
    says(&[SUMS, "job.j.kind=allgather"], &["[not-supported job.j.kind] \"in-network\""]);
    let compressed = [SUMS, "job.j.compress=true", "host.e.compress.ratio=8"];
    says(&compressed, &["[conflicting-keys job.j.compress]"]);
    says(&["network.switch.sum=0"], &["[wrong-type network.switch.sum]"]);
    says(&["network.switch.sums=1 Gbps"], &["[unknown-key network.switch.sums] \"sum\""]);
    says(&["job.j.algorithm=innetwork"], &["[unknown-name job.j.algorithm] \"in-network\""]);
    let trace = BASE.replace("allreduce", "chakra").replace("bytes = \"1 MB\"", "trace = \"t\"");
    common::says(&trace, &[SUMS], &["[not-supported job.j.algorithm] \"ring\""]);
    let pair = |cables: &str, overrides: &[&str], wanted: &[&str]| {
        let base = BASE.replace("topology = \"leaf-spine\"\nleaves = 2\nspines = 2\n", "");
        common::says(&format!("{}{cables}", base.replace("count = 8", "count = 2")), overrides, wanted);
    };
    let learning = ["network.switch.kind=learning", SUMS];
    pair("", &learning, &["[not-supported network.switch.sum] kind = \"routed\""]);
    let apart = "[switch.s]\nsum = \"1 Gbps\"\n[switch.t]\n[cable.a]\nends = [\"e-0\", \"s\"]\n\
                 [cable.b]\nends = [\"e-1\", \"t\"]\n";
    pair(apart, &[], &["[unreachable job.j.algorithm]"]);
    let direct = "[switch.s]\nsum = \"1 Gbps\"\n[host.f]\nkind = \"endpoint\"\n[cable.f]\nends = [\"f\", \"s\"]\n\
                  [cable.a]\nends = [\"e-0\", \"e-1\"]\n";
    pair(direct, &[], &["[unreachable job.j.algorithm] \"e-0\""]);
}
