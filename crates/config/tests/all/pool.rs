//! A pool of memory: valid documents and errors.

use crate::common::{assert_tells, cluster, cluster_text, says, told};
use hostnet_config::{resolve, Format, Input};
use hostnet_params::{HostKind, LenderParams, Placement};
use std::path::Path;

/// A borrower and two lenders.
const BASE: &str = "[host.a]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"24 MiB\"\n\
                    [host.a.workload.s]\nkind = \"stream\"\ncores = \"0\"\nmemory = \"pool\"\nworking_set = \"4 MiB\"\n\
                    [host.b]\npreset = \"cascade-lake-hostcc\"\npool.lent = \"64 MiB\"\n\
                    [host.c]\npreset = \"cascade-lake-hostcc\"\npool.lent = \"16 MiB\"\npool.borrow = \"16 MiB\"\n";

#[test]
fn pages_are_handed_out_in_turn_and_to_one_each() {
    let plan = cluster(BASE, &[]);
    let of = |host: usize| match &plan.cluster.hosts[host].kind {
        HostKind::Server(server) => server.clone(),
        HostKind::Endpoint(_) => panic!("a server"),
    };
    assert_eq!(of(0).workloads[0].memory, Placement::Socket(1));
    let pool = |host: usize| of(host).socket().pool.clone().expect("a place in the pool");
    let lender = |host, first_page| LenderParams { host, first_page };
    assert_eq!(pool(0).lenders, [lender(1, 0), lender(2, 0)]);
    assert_eq!(pool(2).lenders, [lender(1, 3072)]);
    assert_eq!((pool(0).small_bytes, pool(0).data_bytes), (84, 104));
    let text = serde_json::to_string(&plan.effective).expect("JSON");
    let again =
        Input { text: &text, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&again).expect("it is complete").hash, plan.hash);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (set, wanted) in [
        ("host.b.pool.lent=1 TiB", vec!["[out-of-memory-space host.b.pool.lent]", "1 TiB", "32 GiB"]),
        ("host.b.pool.lent=5 KiB", vec!["[not-a-multiple host.b.pool.lent] 4 KiB"]),
        ("host.b.pool.page=5 KiB", vec!["[not-a-multiple host.b.pool.page]"]),
        ("host.b.pool.page=8 KiB", vec!["[must-agree host.b.pool.page]"]),
        ("host.a.pool.from=[\"a\"]", vec!["[does-not-exist host.a.pool.from]"]),
        ("host.a.pool.borrow=1 GiB", vec!["[out-of-memory-space host.a.pool.borrow] 64 MiB"]),
        ("host.a.pool.borrow=0 B", vec!["[requires-key host.a.pool.borrow]"]),
        ("host.a.pool.demand_priority=1", vec!["[wrong-order host.a.pool.demand_priority]"]),
        (
            "host.b.workload.s={kind=\"stream\",cores=\"0\",memory=\"pool\"}",
            vec!["[requires-key host.b.workload.s.memory]"],
        ),
        ("host.a.pool.cache=6 KiB", vec!["[not-a-multiple host.a.pool.cache] 4 KiB"]),
        ("host.a.pool.cache=1 TiB", vec!["[out-of-memory-space host.a.pool.cache]", "1048580 MiB", "32 GiB"]),
        ("host.b.pool.cache=4 KiB", vec!["[no-effect host.b.pool.cache]"]),
        ("host.a.pool.fetch=page", vec!["[requires-key host.a.pool.fetch]"]),
        ("host.a.pool.write_back=early", vec!["[requires-key host.a.pool.write_back]"]),
        ("host.a.pool.fetch=pages", vec!["[unknown-name host.a.pool.fetch] \"page\""]),
        (
            "host.a.pool={borrow=\"24 MiB\",cache=\"4 MiB\",fetch=\"page\",prefetch={kind=\"stride\"}}",
            vec!["[conflicting-keys host.a.pool.prefetch.kind]"],
        ),
        ("host.a.fidelity=burst", vec!["[needs-line-fidelity host.a.fidelity] fidelity = \"line\""]),
        ("host.a.fidelity=fluid", vec!["[needs-line-fidelity host.a.fidelity]"]),
        ("host.a.sockets=2", vec!["[not-supported host.a.sockets]"]),
        ("host.a.expander={}", vec!["[not-supported host.a.expander] node 1"]),
        ("host.a.energy={}", vec!["[not-supported host.a.energy]"]),
        ("host.a.pool.lend=1 GiB", vec!["[unknown-key host.a.pool.lend] \"lent\""]),
        (
            "network.switch={kind=\"learning\",table=2,ttl=\"1 ms\",fabric=\"100 Gbps\"}",
            vec!["[not-supported host.a.pool]"],
        ),
    ] {
        says(BASE, &[set], &wanted);
    }
    let alone =
        BASE.replace("pool.lent = \"64 MiB\"\n", "").replace("pool.lent = \"16 MiB\"\npool.borrow = \"16 MiB\"\n", "");
    says(&alone, &[], &["[requires-key host.a.pool.borrow]"]);
    let none = BASE.replace("pool.borrow = \"24 MiB\"\n", "");
    says(&none, &[], &["[requires-key host.a.workload.s.memory]"]);
    let many = BASE.replace("pool.borrow = \"16 MiB\"\n", "count = 255\n");
    says(&many, &[], &["[too-many host.a.pool]", "257", "256"]);
    assert!(cluster_text(&many.replace("count = 255", "count = 254"), Format::Toml, &[]).is_ok());
    let server = "[server]\npreset = \"cascade-lake-6234\"\n[pool]\nlent = \"1 GiB\"\n\
                  [workload.s]\nkind = \"stream\"\ncores = \"0\"\n";
    let input = Input { text: server, format: Format::Toml, file: "a.toml", base_dir: Path::new("."), overrides: &[] };
    let error = told(&resolve(&input).expect_err("a server alone"));
    assert_tells(&error, &["[misplaced-key pool]"]);
}

/// Two servers that share a region, a lender and a controller.
const SHARED: &str = "[host.a]\npreset = \"cascade-lake-hostcc\"\npool = { borrow = \"8 MiB\", region = \"w\" }\n\
                      [host.b]\npreset = \"cascade-lake-hostcc\"\npool = { borrow = \"8 MiB\", region = \"w\" }\n\
                      [host.c]\npreset = \"cascade-lake-hostcc\"\npool.borrow = \"4 MiB\"\n\
                      [host.d]\npreset = \"cascade-lake-hostcc\"\npool.lent = \"16 MiB\"\n\
                      [host.e]\npreset = \"cascade-lake-hostcc\"\npool.controller = true\n";

#[test]
fn servers_of_a_region_have_the_same_pages() {
    let plan = cluster(SHARED, &[]);
    let pool = |host: usize| match &plan.cluster.hosts[host].kind {
        HostKind::Server(server) => server.socket().pool.clone().expect("a place in the pool"),
        HostKind::Endpoint(_) => panic!("a server"),
    };
    assert_eq!((pool(0).lenders.clone(), pool(0).shared), (pool(1).lenders, pool(1).shared));
    assert_eq!(pool(2).lenders, [LenderParams { host: 3, first_page: 2048 }]);
    assert_eq!((pool(0).shared.map(|shared| shared.controller), pool(2).shared), (Some(4), None));
    let regions = pool(4).controller.expect("it decides").regions;
    assert_eq!(regions.iter().map(|region| region.members.clone()).collect::<Vec<_>>(), [[0, 1]]);
    let sharers = plan.cluster.switches[0].sharers.clone().expect("it has lists");
    assert_eq!((sharers.pages, sharers.regions), (4096, regions));
    assert!(cluster(SHARED, &["network.switch.sharers=0"]).cluster.switches[0].sharers.is_none());
}

#[test]
fn what_is_wrong_with_a_region_is_said_with_its_place() {
    for (set, wanted) in [
        ("host.e.pool.controller=false", vec!["[requires-key host.a.pool.region] pool.controller = true"]),
        ("host.a.pool.region=\"\"", vec!["[malformed-value host.a.pool.region]"]),
        ("host.d.pool.controller=true", vec!["[duplicate host.d.pool.controller]"]),
        ("host.b.pool.borrow=4 MiB", vec!["[must-agree host.b.pool.borrow]"]),
        ("host.b.pool.from=[\"d\"]", vec!["[must-agree host.b.pool.from]"]),
        ("host.d.pool.region=w", vec!["[requires-key host.d.pool.region]"]),
        (
            "host.e.pool={borrow=\"8 MiB\",region=\"w\",controller=true}",
            vec!["[conflicting-keys host.e.pool.controller]"],
        ),
        ("host.d.pool={borrow=\"8 MiB\",region=\"w\",lent=\"16 MiB\"}", vec!["[requires-key host.a.pool.borrow]"]),
        ("network.switch.sharers=20000000", vec!["[out-of-range network.switch.sharers] 16777216"]),
    ] {
        says(SHARED, &[set], &wanted);
    }
}
