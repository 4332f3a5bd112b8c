//! A pool of memory: what a document may say, and what is wrong with it.

use crate::common::{assert_tells, cluster, cluster_text, says, told};
use hostnet_config::{resolve, Format, Input};
use hostnet_model::params::{HostKind, LenderParams, Placement};
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
        ("host.b.pool.lent=1 TiB", vec!["host.b.pool.lent", "what is lent need 1 TiB of 32 GiB of memory"]),
        ("host.b.pool.lent=5 KiB", vec!["host.b.pool.lent", "is not a multiple of pages of 4 KiB"]),
        ("host.b.pool.page=5 KiB", vec!["host.b.pool.page", "power of two"]),
        ("host.b.pool.page=8 KiB", vec!["host.b.pool.page", "pages of one size"]),
        ("host.a.pool.from=[\"a\"]", vec!["host.a.pool.from", "no other host that lends"]),
        ("host.a.pool.borrow=1 GiB", vec!["host.a.pool.borrow", "b lends 64 MiB"]),
        ("host.a.pool.borrow=0 B", vec!["host.a.pool.borrow", "borrows nothing"]),
        ("host.a.pool.demand_priority=1", vec!["host.a.pool.demand_priority", "not below 1"]),
        (
            "host.b.workload.s={kind=\"stream\",cores=\"0\",memory=\"pool\"}",
            vec!["host.b.workload.s.memory", "nothing"],
        ),
        ("host.a.pool.cache=6 KiB", vec!["host.a.pool.cache", "is not a multiple of pages of 4 KiB"]),
        ("host.a.pool.cache=1 TiB", vec!["host.a.pool.cache", "need 1048580 MiB of 32 GiB of memory"]),
        ("host.b.pool.cache=4 KiB", vec!["host.b.pool.cache", "borrows nothing that could be cached"]),
        ("host.a.pool.fetch=page", vec!["host.a.pool.fetch", "there is no cache"]),
        ("host.a.pool.write_back=early", vec!["host.a.pool.write_back", "there is no cache"]),
        ("host.a.pool.fetch=pages", vec!["host.a.pool.fetch", "did you mean \"page\""]),
        (
            "host.a.pool={borrow=\"24 MiB\",cache=\"4 MiB\",fetch=\"page\",prefetch={kind=\"stride\"}}",
            vec!["host.a.pool.prefetch.kind", "finds nothing to do"],
        ),
        ("host.a.fidelity=burst", vec!["host.a.fidelity", "needs fidelity = \"line\""]),
        ("host.a.fidelity=fluid", vec!["host.a.fidelity"]),
        ("host.a.sockets=2", vec!["host.a", "one socket"]),
        ("host.a.expander={}", vec!["host.a.expander", "node 1"]),
        ("host.a.energy={}", vec!["host.a.energy", "does not count"]),
        ("host.a.pool.lend=1 GiB", vec!["host.a.pool.lend: unknown key; did you mean \"lent\"?"]),
        (
            "network.switch={kind=\"learning\",table=2,ttl=\"1 ms\",fabric=\"100 Gbps\"}",
            vec!["messages of a pool need switches"],
        ),
    ] {
        says(BASE, &[set], &wanted);
    }
    let alone =
        BASE.replace("pool.lent = \"64 MiB\"\n", "").replace("pool.lent = \"16 MiB\"\npool.borrow = \"16 MiB\"\n", "");
    says(&alone, &[], &["host.a.pool.borrow", "no other server lends anything"]);
    let none = BASE.replace("pool.borrow = \"24 MiB\"\n", "");
    says(&none, &[], &["host.a.workload.s.memory", "missing: the server has no place in a pool"]);
    let many = BASE.replace("pool.borrow = \"16 MiB\"\n", "count = 255\n");
    says(&many, &[], &["257 servers are in the pool", "256"]);
    assert!(cluster_text(&many.replace("count = 255", "count = 254"), Format::Toml, &[]).is_ok());
    let server = "[server]\npreset = \"cascade-lake-6234\"\n[pool]\nlent = \"1 GiB\"\n\
                  [workload.s]\nkind = \"stream\"\ncores = \"0\"\n";
    let input = Input { text: server, format: Format::Toml, file: "a.toml", base_dir: Path::new("."), overrides: &[] };
    let error = told(&resolve(&input).expect_err("a server alone"));
    assert_tells(&error, &["servers of a cluster"]);
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
        ("host.e.pool.controller=false", vec!["host.a.pool.region", "pool.controller = true"]),
        ("host.a.pool.region=\"\"", vec!["host.a.pool.region", "give the region a name"]),
        ("host.d.pool.controller=true", vec!["host.d.pool.controller", "one controller"]),
        ("host.b.pool.borrow=4 MiB", vec!["host.b.pool.borrow", "see the same pages"]),
        ("host.b.pool.from=[\"d\"]", vec!["host.b.pool.from", "see the same pages"]),
        ("host.d.pool.region=w", vec!["host.d.pool.region", "borrows nothing that it could share"]),
        (
            "host.e.pool={borrow=\"8 MiB\",region=\"w\",controller=true}",
            vec!["host.e.pool.controller", "another server"],
        ),
        (
            "host.d.pool={borrow=\"8 MiB\",region=\"w\",lent=\"16 MiB\"}",
            vec!["host.a.pool.borrow", "without its region"],
        ),
        ("network.switch.sharers=20000000", vec!["network.switch.sharers", "16777216"]),
    ] {
        says(SHARED, &[set], &wanted);
    }
}
