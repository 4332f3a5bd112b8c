//! `[pool]`: memory of other servers of a cluster.

use crate::error::Issue;
use crate::spec::{PoolFetch, PoolPrefetchKind, PoolSpec, PoolWriteBack, Size, Spec, WorkloadSpec};
use crate::units::{format, Dimension};
use hostnet_model::params::{
    Fidelity, HostKind, HostParams, LenderParams, Placement, PoolCacheParams, PoolParams, PoolPrefetchParams,
    ServerParams, SwitchParams,
};

/// What a frame has on the wire beside header and data: preamble, checksum and gap (IEEE 802.3, clauses 3 and 4).
const FRAME_BYTES: u32 = 8 + 4 + 12;
const LINE_BYTES: u32 = 64;
/// Servers that an address of one byte tells apart.
const SERVERS_MAX: usize = 256;

/// The place of a server in a pool, whose lenders are not known yet.
pub(super) fn resolve(spec: &Spec) -> Result<Option<Box<PoolParams>>, Issue> {
    let Some(pool) = &spec.pool else { return Ok(None) };
    let others = [
        ("server.sockets", spec.server.sockets.unwrap_or(1) > 1, "is for servers of one socket"),
        ("noc", spec.noc.is_some(), "has no place on a die"),
        ("remote", spec.workload.values().any(WorkloadSpec::is_remote), "is not reached over UPI"),
        ("expander", spec.expander.is_some(), "is node 1, which memory behind a link is, too"),
        ("energy", spec.energy.is_some(), "has messages that an energy meter does not count"),
    ];
    if let Some((path, _, why)) = others.into_iter().find(|(_, given, _)| *given) {
        return Err(Issue::between(&["pool", path], format!("{why}; drop one of them")));
    }
    check(pool, spec.memory.run.0.max(spec.memory.page.0))?;
    let on_wire = |bytes: u32| (pool.header.0 as u32 + bytes + FRAME_BYTES).max(pool.frame_min.0 as u32);
    let stride = match pool.prefetch.kind {
        PoolPrefetchKind::None => None,
        PoolPrefetchKind::NextLine => Some(false),
        PoolPrefetchKind::Stride => Some(true),
    };
    let ahead = |stride| PoolPrefetchParams { stride, depth: pool.prefetch.depth, queue: pool.prefetch.queue };
    Ok(Some(Box::new(PoolParams {
        lent_bytes: pool.lent.0,
        borrowed_bytes: pool.borrow.0,
        page_bytes: pool.page.0,
        lenders: Vec::new(),
        read_credits: pool.read_credits,
        write_credits: pool.write_credits,
        latency_ps: pool.latency.0,
        retry_ps: pool.retry.0,
        timeout_ps: pool.timeout.0,
        small_bytes: on_wire(0),
        data_bytes: on_wire(LINE_BYTES),
        demand_priority: pool.demand_priority,
        prefetch_priority: pool.prefetch_priority,
        port_packets: pool.port_queue,
        prefetch: stride.map(ahead),
        cache: cache(pool)?,
    })))
}

fn check(pool: &PoolSpec, run_bytes: u64) -> Result<(), Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    for (key, bytes, unit, what) in [
        ("pool.lent", pool.lent.0, pool.page.0, "pages"),
        ("pool.borrow", pool.borrow.0, pool.page.0, "pages"),
        ("pool.borrow", pool.borrow.0, run_bytes, "runs (memory.run)"),
    ] {
        if bytes % unit != 0 {
            let message = format!("{} is not a multiple of {what} of {}", shown(bytes), shown(unit));
            return Err(Issue::new(key, message));
        }
    }
    if pool.prefetch_priority >= pool.demand_priority {
        let message = format!(
            "what is read ahead has priority {}, which is not below {}, that of demand",
            pool.prefetch_priority, pool.demand_priority
        );
        return Err(Issue::between(&["pool.prefetch_priority", "pool.demand_priority"], message));
    }
    Ok(())
}

/// Local memory as a cache of the pool.
fn cache(pool: &PoolSpec) -> Result<Option<PoolCacheParams>, Issue> {
    let (whole_pages, early) = (pool.fetch == PoolFetch::Page, pool.write_back == PoolWriteBack::Early);
    let Some(Size(bytes)) = pool.cache else {
        let without = [("pool.fetch", whole_pages), ("pool.write_back", early)].into_iter().find(|(_, given)| *given);
        return match without {
            Some((key, _)) => Err(Issue::between(&[key, "pool.cache"], "there is no cache; give it a size")),
            None => Ok(None),
        };
    };
    if bytes % pool.page.0 != 0 {
        let [bytes, page] = [bytes, pool.page.0].map(|bytes| format(bytes, Dimension::Size));
        return Err(Issue::new("pool.cache", format!("{bytes} is not a multiple of pages of {page}")));
    }
    if pool.borrow.0 == 0 {
        return Err(Issue::between(&["pool.cache", "pool.borrow"], "the server borrows nothing that could be cached"));
    }
    if whole_pages && pool.prefetch.kind != PoolPrefetchKind::None {
        let message = "all lines of a page are fetched; reading ahead within it finds nothing to do";
        return Err(Issue::between(&["pool.prefetch.kind", "pool.fetch"], message));
    }
    Ok(Some(PoolCacheParams { bytes, whole_pages, early, transfers: pool.transfers }))
}

/// Where buffers in the pool lie: a node after the only socket.
pub(super) fn placement(spec: &Spec, path: &str) -> Result<Placement, Issue> {
    match &spec.pool {
        None => {
            Err(Issue::between(&[path, "pool"], "missing: the server has no place in a pool; give it a table [pool]"))
        }
        Some(pool) if pool.borrow.0 == 0 => {
            Err(Issue::between(&[path, "pool.borrow"], "the server borrows nothing of the pool"))
        }
        Some(_) => Ok(Placement::Socket(1)),
    }
}

/// Bytes of the pool that buffers of a workload may lie in, if they do at all.
pub(super) fn least_of(server: &ServerParams) -> Option<u64> {
    let pool = server.socket().pool.as_ref()?;
    let any = server.workloads.iter().any(|workload| workload.memory == Placement::Socket(1));
    any.then_some(pool.borrowed_bytes)
}

/// What a server needs of its own memory for what it lends.
pub(super) fn lent(server: &ServerParams) -> Option<(u128, String)> {
    let pool = server.socket().pool.as_ref()?;
    Some((pool.lent_bytes.into(), "pool.lent".to_owned()))
}

/// What it needs of its own memory as a cache of what it borrows.
pub(super) fn cached(server: &ServerParams) -> Option<(u128, String)> {
    let cache = server.socket().pool.as_ref()?.cache?;
    Some((cache.bytes.into(), "pool.cache".to_owned()))
}

/// Checks that a server with a place in a pool is simulated line by line.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity) -> Result<(), Issue> {
    if server.socket().pool.is_none() || fidelity == Fidelity::Line {
        return Ok(());
    }
    let message = "needs fidelity = \"line\": memory of other servers has no rates and no bursts";
    Err(Issue::between(&["fidelity", "pool"], message))
}

/// What a server of a cluster has said of its place in a pool.
pub(super) struct Member<'a> {
    pub(super) host: usize,
    /// The path of its table.
    pub(super) table: String,
    pub(super) spec: &'a PoolSpec,
}

/// Checks that the switches between the servers of a pool know where these are.
pub(super) fn check_switches(members: &[Member], switches: &[SwitchParams]) -> Result<(), Issue> {
    let learns = switches.iter().any(|switch| switch.learning.is_some());
    match members.first().filter(|_| learns) {
        Some(first) => {
            let message = "messages of a pool need switches that know where servers are, and one of them learns it";
            Err(Issue::between(&[&format!("{}.pool", first.table), "switch"], message))
        }
        None => Ok(()),
    }
}

fn pool_of(hosts: &mut [HostParams], host: usize) -> &mut PoolParams {
    let HostKind::Server(server) = &mut hosts[host].kind else { unreachable!("a member of a pool is a server") };
    server.socket_mut().pool.as_deref_mut().expect("a member of a pool has a place in it")
}

/// Hands the pages of the pool out: each borrower gets as many of each of its lenders, in the order of the hosts.
pub(super) fn hand_out(members: &[Member], hosts: &mut [HostParams]) -> Result<(), Issue> {
    let Some(first) = members.first() else { return Ok(()) };
    let key = |member: &Member, key: &str| format!("{}.pool{key}", member.table);
    if members.len() > SERVERS_MAX {
        let message =
            format!("{} servers are in the pool; addresses of one byte tell {SERVERS_MAX} apart", members.len());
        return Err(Issue::new(key(first, ""), message));
    }
    if let Some(other) = members.iter().find(|member| member.spec.page != first.spec.page) {
        return Err(Issue::between(&[&key(first, ".page"), &key(other, ".page")], "a pool has pages of one size"));
    }
    let page_bytes = first.spec.page.0;
    let mut taken = vec![0; members.len()];
    for borrower in members.iter().filter(|member| member.spec.borrow.0 > 0) {
        let lenders = lenders(borrower, members, hosts)?;
        let each = (borrower.spec.borrow.0 / page_bytes).div_ceil(lenders.len() as u64);
        let mut given = Vec::new();
        for number in lenders {
            let lender = &members[number];
            if (taken[number] + each) * page_bytes > lender.spec.lent.0 {
                let message = format!(
                    "{} lends {}, and {} more would be borrowed",
                    hosts[lender.host].name,
                    format(lender.spec.lent.0, Dimension::Size),
                    format((taken[number] + each) * page_bytes - lender.spec.lent.0, Dimension::Size)
                );
                return Err(Issue::between(&[&key(borrower, ".borrow"), &key(lender, ".lent")], message));
            }
            given.push(LenderParams { host: lender.host as u16, first_page: taken[number] });
            taken[number] += each;
        }
        pool_of(hosts, borrower.host).lenders = given;
    }
    Ok(())
}

/// The members that a borrower borrows from.
fn lenders(borrower: &Member, members: &[Member], hosts: &[HostParams]) -> Result<Vec<usize>, Issue> {
    let lends = |member: &Member| member.spec.lent.0 > 0 && member.host != borrower.host;
    let Some(names) = &borrower.spec.from else {
        let all: Vec<usize> = (0..members.len()).filter(|&number| lends(&members[number])).collect();
        if all.is_empty() {
            let message = "no other server lends anything to the pool; give one of them pool.lent";
            return Err(Issue::new(format!("{}.pool.borrow", borrower.table), message));
        }
        return Ok(all);
    };
    let path = format!("{}.pool.from", borrower.table);
    let of_name = |name: &String| {
        let found = (0..members.len()).find(|&number| hosts[members[number].host].name == *name);
        found.filter(|&number| lends(&members[number])).ok_or_else(|| {
            let known = members.iter().filter(|member| lends(member)).map(|member| hosts[member.host].name.as_str());
            let message = format!(
                "{} is no other host that lends to the pool; {}",
                crate::units::shorten(name),
                crate::error::suggestion(name, known)
            );
            Issue::new(path.clone(), message)
        })
    };
    names.iter().map(of_name).collect()
}
