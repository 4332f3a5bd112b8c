//! Traffic among many hosts: senders and receivers, sizes and frequency.

use crate::common::{assert_tells, cluster, cluster_text, told};
use hostnet_config::{Format, Plan};
use hostnet_params::{FlowParams, Traffic};
use std::collections::{BTreeMap, BTreeSet};

const HOSTS: &str = "[host.e]\nkind = \"endpoint\"\ncount = 12\n[network]\ntopology = \"leaf-spine\"\nleaves = 3\n\
                     [run]\nwarmup = \"1 ms\"\nduration = \"9 ms\"\n";

fn text(flow: &str) -> String {
    format!("{HOSTS}[flow.f]\nkind = \"bulk\"\nfrom = \"e\"\nto = \"e\"\n{flow}\n")
}

fn plan(flow: &str, overrides: &[&str]) -> Plan {
    let plan = cluster(&text(flow), overrides);
    let effective = plan.effective.to_string();
    let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
    assert_eq!((&again.cluster, &again.hash), (&plan.cluster, &plan.hash));
    plan
}

fn flows(flow: &str, overrides: &[&str]) -> Vec<FlowParams> {
    plan(flow, overrides).cluster.flows.clone()
}

fn pairs(flows: &[FlowParams]) -> Vec<(u16, u16)> {
    flows.iter().map(|flow| (flow.from, flow.to)).collect()
}

#[test]
fn all_to_all_is_every_pair_once() {
    let flows = flows("pairs = \"all-to-all\"\ncount = 2", &[]);
    assert_eq!(flows.len(), 12 * 11 * 2);
    let all = pairs(&flows);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 12 * 11);
    assert!(all.iter().all(|(from, to)| from != to));
}

#[test]
fn a_permutation_uses_every_host_once_on_either_side_and_follows_the_seed() {
    let drawn = |seed: &str| pairs(&flows("pairs = \"permutation\"", &[&format!("run.seed={seed}")]));
    let permutation = drawn("1");
    assert_eq!(permutation.len(), 12);
    assert!(permutation.iter().all(|(from, to)| from != to));
    for side in [
        permutation.iter().map(|pair| pair.0).collect::<BTreeSet<_>>(),
        permutation.iter().map(|pair| pair.1).collect(),
    ] {
        assert_eq!(side.len(), 12);
    }
    assert_eq!(permutation, drawn("1"));
    assert_ne!(permutation, drawn("2"));
    let beside = "pairs = \"permutation\"\n[flow.a]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-1\"";
    assert_eq!(pairs(&flows(beside, &[]))[1..], permutation, "another table changes nothing");
}

#[test]
fn incast_comes_from_as_many_as_asked() {
    let all = pairs(&flows("pairs = \"incast\"", &["flow.f.to=e-3"]));
    assert_eq!(all.len(), 11);
    assert!(all.iter().all(|&(from, to)| to == 3 && from != 3));
    let some = pairs(&flows("pairs = \"incast\"\nsenders = 4", &["flow.f.to=[\"e-3\", \"e-5\"]"]));
    for to in [3, 5] {
        let from: BTreeSet<u16> = some.iter().filter(|pair| pair.1 == to).map(|pair| pair.0).collect();
        assert!(from.len() == 4 && !from.contains(&to), "{from:?}");
    }
}

#[test]
fn random_pairs_are_of_every_sender() {
    let drawn = pairs(&flows("pairs = \"random\"\ncount = 50", &[]));
    let mut sent = BTreeMap::new();
    drawn.iter().for_each(|pair| *sent.entry(pair.0).or_insert(0) += 1);
    assert!(sent.len() == 12 && sent.values().all(|&flows| flows == 50));
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 12 * 11, "600 draws miss none of 132 pairs");
}

fn bytes(flow: &FlowParams) -> u64 {
    match flow.traffic {
        Traffic::Bulk { bytes } => bytes,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn an_open_loop_offers_its_load_until_its_end() {
    for (load, pairs) in [(0.5, ""), (0.8, "pairs = \"permutation\"\n"), (0.8, "pairs = \"all-to-all\"\n")] {
        let flows = flows(&format!("{pairs}bytes = \"50 kB\"\nload = {load}"), &[]);
        let offered: u64 = flows.iter().map(bytes).sum();
        let law = load * 12.0 * 12.5e9 * 0.01;
        assert!((offered as f64 / law - 1.0).abs() < 0.03, "{offered} of {law}");
        assert!(flows.windows(2).all(|pair| pair[0].start_ps <= pair[1].start_ps));
        let last = flows.last().expect("there are flows").start_ps;
        assert!((9_900_000_000..10_000_000_000).contains(&last), "{last}");
        assert!(flows.iter().all(|flow| flow.from != flow.to));
    }
    let half = flows("sizes = \"web-search\"\nload = 0.5\nstart = \"2 ms\"\nuntil = \"4 ms\"", &[]);
    assert!(half.iter().all(|flow| (2_000_000_000..4_000_000_000).contains(&flow.start_ps)));
    let incast = flows("pairs = \"incast\"\nbytes = \"10 kB\"\nload = 0.5", &["flow.f.to=e-0"]);
    let offered: u64 = incast.iter().map(bytes).sum();
    assert!((offered as f64 / (0.5 * 12.5e9 * 0.01) - 1.0).abs() < 0.05, "of the cable of the receiver: {offered}");
}

#[test]
fn sizes_are_of_their_distribution() {
    let own = "sizes = [{ bytes = \"1 kB\", share = 0.5 }, { bytes = \"3 kB\", share = 1 }]";
    let drawn: Vec<u64> = flows(&format!("pairs = \"all-to-all\"\ncount = 10\n{own}"), &[]).iter().map(bytes).collect();
    let smallest = drawn.iter().filter(|&&bytes| bytes == 1000).count();
    assert!((600..720).contains(&smallest), "{smallest} of {}", drawn.len());
    assert!(drawn.iter().all(|bytes| (1000..=3000).contains(bytes)));
    let mined = flows("sizes = \"data-mining\"\nload = 1", &["run.duration=100 ms"]);
    let small = mined.iter().filter(|flow| bytes(flow) <= 10220).count() as f64 / mined.len() as f64;
    assert!((small - 0.8).abs() < 0.03, "{small}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let says = |flow: &str, overrides: &[&str], wanted: &str| {
        let error = match cluster_text(&text(flow), Format::Toml, overrides) {
            Err(error) => told(&error),
            Ok(_) => panic!("{flow} {overrides:?} resolves"),
        };
        assert_tells(&error, &[wanted]);
    };
    says("pairs = \"all-to-al\"", &[], "[unknown-name flow.f.pairs] \"all-to-all\"");
    says("sizes = \"web-serch\"\nload = 0.5", &[], "[unknown-name flow.f.sizes] \"web-serch\"");
    says("load = 0.5", &[], "[requires-key flow.f.load]");
    says("load = 1.5\nbytes = \"1 kB\"", &[], "[out-of-range flow.f.load]");
    says("load = 0.5\nbytes = \"1 B\"", &[], "[too-many flow.f.load] 1048576");
    says("load = 0.0001\nbytes = \"100 TB\"", &[], "[nothing-to-do flow.f.load]");
    says("load = 0.5\nbytes = \"1 kB\"\ncount = 2", &[], "[no-effect flow.f.count]");
    says("load = 0.5\nbytes = \"1 MB\"", &["run.precision=0.1"], "[requires-key flow.f.load]");
    says("pairs = \"permutation\"\nsenders = 3", &[], "[no-effect flow.f.senders] pairs = \"incast\"");
    says("pairs = \"incast\"\nsenders = 12", &[], "[wrong-count flow.f.senders] 12 | 11");
    says("pairs = \"permutation\"", &["flow.f.to=e-1"], "[wrong-count flow.f.to] 12");
    says("pairs = \"random\"", &["flow.f.from=e-1", "flow.f.to=e-1"], "[sends-in-circle flow.f.from] \"e-1\"");
    says("pairs = \"permutation\"", &["flow.f.from=e-1", "flow.f.to=e-1"], "[sends-in-circle flow.f.from]");
    says("until = \"1 ms\"", &[], "[no-effect flow.f.until]");
    says("bytes = \"1 MB\"\nsizes = \"web-search\"", &[], "[conflicting-keys flow.f.bytes]");
    says(
        "sizes = [{ bytes = \"2 kB\", share = 0.5 }, { bytes = \"1 kB\", share = 1 }]",
        &[],
        "[bad-distribution flow.f.sizes]",
    );
    says("sizes = \"web-search\"\npairs = \"random\"", &["flow.f.kind=rpc"], "[no-effect flow.f.kind] kind = \"bulk\"");
    says("", &["flow.f.from=[\"e-1\", \"e-2\"]"], "[wrong-count flow.f.from] pairs = \"all");
}
