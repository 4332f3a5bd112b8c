//! Tests the algorithms of collectives that keep several messages of a rank in flight against closed forms, over TCP
//! and over RoCE.

use crate::cluster::jobs::{assert_books, assert_within, finished};
use crate::cluster::lab::plan;
use hostnet_config::Plan;

const PS: u64 = 1_000_000;
/// Start of jobs, in ps.
const START_PS: u64 = 3 * PS;
/// Time of a byte on a cable, in ps.
const BYTE_PS: u64 = 800;
/// Time of a bit from one rank to another, in ps.
const WAY_PS: u64 = 2 * 3 * PS + 2 * 2 * PS + 700_000;

/// A transport whose windows are open from the beginning, and its packets.
#[derive(Clone, Copy, Debug)]
struct Carrier {
    base: &'static str,
    keys: &'static str,
    /// Maximum data of a packet, and the size of its headers and of what Ethernet adds on the wire, in bytes.
    data: u64,
    headers: u64,
}

const WINDOWS: &str = "initial_window = 10000\nreceive_buffer = \"64 MB\"";
const CARRIERS: [Carrier; 3] = [
    Carrier { base: "reno", keys: WINDOWS, data: 9000 - 52, headers: 52 + 38 },
    Carrier { base: "dctcp", keys: WINDOWS, data: 9000 - 52, headers: 52 + 38 },
    Carrier { base: "roce", keys: "", data: 4096, headers: 44 + 38 },
];

impl Carrier {
    /// Returns a plan of endpoints at a switch with cables of 10 Gbps, and a job of all of them.
    fn job(self, hosts: u32, job: &str) -> Plan {
        let Self { base, keys, .. } = self;
        plan(&format!(
            "[host.h]\nkind = \"endpoint\"\ncount = {hosts}\nlatency = \"3 us\"\n\
             [network]\nrate = \"10 Gbps\"\nlatency = \"2 us\"\nmtu = \"9000 B\"\nswitch.latency = \"700 ns\"\n\
             switch.pfc = {{ xoff = \"1 MB\", xon = \"900 kB\" }}\n\
             [transport.t]\nbase = \"{base}\"\n{keys}\n\
             [job.j]\nhosts = \"h\"\nstart = \"3 us\"\ntransport = \"t\"\n{job}\n[run]\nuntil = \"jobs\"\n"
        ))
    }

    /// Returns the duration of a job, in ps, whose statistics are consistent.
    fn took_ps(self, hosts: u32, job: &str) -> u64 {
        let (report, mut run) = finished(&self.job(hosts, job));
        assert_books(&mut run);
        let row = &report.summary["jobs"][0];
        assert_eq!(row["unfinished_ranks"].as_u64(), Some(0), "{self:?} {job}");
        (row["done_us"].as_f64().expect("it is done") * 1e6).round() as u64 - START_PS
    }

    /// Returns the time of data on a cable, in ps.
    fn wire_ps(self, bytes: u64) -> u64 {
        (bytes + bytes.div_ceil(self.data) * self.headers) * BYTE_PS
    }

    /// Returns the time from the start of a message until all of it has arrived at another rank, in ps. The first
    /// packet goes over two cables, one after the other.
    fn train_ps(self, bytes: u64) -> u64 {
        WAY_PS + self.wire_ps(bytes) + self.wire_ps(bytes.min(self.data))
    }
}

#[test]
fn messages_to_all_ranks_at_once_take_what_their_bytes_need() {
    for (carrier, hosts) in CARRIERS.into_iter().flat_map(|carrier| [2_u64, 5, 8].map(|hosts| (carrier, hosts))) {
        let of = |kind: &str, bytes: u64| {
            let job = format!("kind = \"{kind}\"\nalgorithm = \"direct\"\nbytes = \"{bytes} B\"");
            carrier.took_ps(hosts as u32, &job)
        };
        let (bytes, others) = (4_000_000 / hosts * hosts, hosts - 1);
        let what = |kind| format!("{kind} of {hosts}, {carrier:?}");
        let scatter = carrier.train_ps(others * bytes / hosts) as f64;
        assert_within(of("reducescatter", bytes), scatter, &what("reduce-scatter"));
        assert_within(of("allreduce", bytes), 2.0 * scatter, &what("all-reduce"));
        assert_within(of("allgather", bytes), carrier.train_ps(others * bytes) as f64, &what("all-gather"));
    }
}

/// Returns the duration of `messages` messages one after the other, each of `chunks` chunks, of which a rank sends each
/// on when it has arrived, in ps.
fn pipelined_ps(carrier: Carrier, messages: u64, chunk: u64, chunks: u64) -> f64 {
    let (first, each) = (carrier.train_ps(chunk), carrier.wire_ps(chunk));
    let round = (chunks * each).max(first);
    ((messages - 1) * round + first + (chunks - 1) * each) as f64
}

#[test]
fn chunks_follow_each_other_around_a_ring_and_along_a_chain() {
    for (carrier, hosts) in CARRIERS.into_iter().flat_map(|carrier| [2_u64, 5, 8].map(|hosts| (carrier, hosts))) {
        for (chunks, chunk) in [(1, 20 * carrier.data), (2, 3 * carrier.data), (16, 3 * carrier.data)] {
            let of = |kind: &str, bytes: u64| {
                let job =
                    format!("kind = \"{kind}\"\nalgorithm = \"ring\"\nbytes = \"{bytes} B\"\nchunk = \"{chunk} B\"");
                carrier.took_ps(hosts as u32, &job)
            };
            let (message, others) = (chunk * chunks, hosts - 1);
            let what = |kind| format!("{kind} of {hosts} with {chunks} chunks, {carrier:?}");
            let around = pipelined_ps(carrier, others, chunk, chunks);
            assert_within(of("reducescatter", hosts * message), around, &what("reduce-scatter"));
            assert_within(of("allgather", message), around, &what("all-gather"));
            let twice = pipelined_ps(carrier, 2 * others, chunk, chunks);
            assert_within(of("allreduce", hosts * message), twice, &what("all-reduce"));
            let chain = others * carrier.train_ps(chunk) + (chunks - 1) * carrier.wire_ps(chunk);
            assert_within(of("broadcast", message), chain as f64, &what("broadcast"));
        }
    }
}

#[test]
fn rings_within_groups_and_across_them_exchange_as_many_bytes_as_one_ring() {
    for (carrier, (hosts, group)) in
        CARRIERS.into_iter().flat_map(|carrier| [(8, 4), (8, 2), (9, 3)].map(|of| (carrier, of)))
    {
        let part = 30 * carrier.data;
        let bytes = hosts * part;
        let job = format!("kind = \"allreduce\"\nalgorithm = \"2d-ring\"\ngroup = {group}\nbytes = \"{bytes} B\"");
        let within = 2 * (group - 1) * carrier.train_ps(bytes / group);
        let across = 2 * (hosts / group - 1) * carrier.train_ps(part);
        let what = format!("{hosts} in groups of {group}, {carrier:?}");
        assert_within(carrier.took_ps(hosts as u32, &job), (within + across) as f64, &what);
    }
}

/// Returns the duration of an all-reduce along two trees, in ps, if no cable carries more than two chunks at a time: a
/// chunk goes up all levels and down again, and the others follow it. The root of a power of two has one child.
fn double_tree_ps(carrier: Carrier, hosts: u64, chunk: u64, chunks: u64) -> f64 {
    let each = carrier.wire_ps(chunk);
    let pair = carrier.train_ps(chunk) + each;
    let levels = u64::from(hosts.ilog2()) * pair - if hosts.is_power_of_two() { each } else { 0 };
    let follow = if hosts > 2 { 2 * each } else { each };
    (2 * levels + 2 * (chunks - 1) * follow) as f64
}

/// Returns the duration of an all-reduce along two trees with chunks of some packets, in ps.
fn double_tree_took_ps(carrier: Carrier, hosts: u64, packets: u64, chunks: u64) -> u64 {
    let (bytes, chunk) = (2 * chunks * packets * carrier.data, packets * carrier.data);
    let job = format!(
        "kind = \"allreduce\"\nalgorithm = \"double-binary-tree\"\nbytes = \"{bytes} B\"\nchunk = \"{chunk} B\""
    );
    carrier.took_ps(hosts as u32, &job)
}

#[test]
fn chunks_follow_each_other_up_and_down_two_trees() {
    let few = [2, 3, 4].into_iter().flat_map(|hosts| [(hosts, 6, 4), (hosts, 6, 64)]);
    let whole = [2, 3, 4, 7, 8].map(|hosts| (hosts, 20, 1));
    for (carrier, (hosts, packets, chunks)) in
        CARRIERS.into_iter().flat_map(|carrier| few.clone().chain(whole).map(move |of| (carrier, of)))
    {
        let law = double_tree_ps(carrier, hosts, packets * carrier.data, chunks);
        let what = format!("{hosts} with {chunks} chunks, {carrier:?}");
        assert_within(double_tree_took_ps(carrier, hosts, packets, chunks), law, &what);
    }
}

#[test]
fn many_chunks_along_two_trees_take_little_longer_than_their_bytes() {
    for (carrier, hosts) in CARRIERS.into_iter().flat_map(|carrier| [7_u64, 8, 16].map(|hosts| (carrier, hosts))) {
        let found = double_tree_took_ps(carrier, hosts, 6, 64);
        let law = double_tree_ps(carrier, hosts, 6 * carrier.data, 64);
        // Cables of inner nodes carry the first chunks of leaves before those that their parents wait for.
        assert!((law..1.03 * law).contains(&(found as f64)), "{hosts}, {carrier:?}: {found} ps for {law}");
    }
}

/// Asserts that no algorithm of a kind is more than a tenth faster than the one that closed forms choose.
fn assert_chosen(carrier: Carrier, kind: &str, algorithms: &[&str], (hosts, bytes): (u32, u64)) {
    let took_ps = |algorithm: &str| {
        carrier.took_ps(hosts, &format!("kind = \"{kind}\"\nbytes = \"{bytes} B\"\nalgorithm = \"{algorithm}\""))
    };
    let fits = |algorithm: &&&str| kind == "allreduce" || hosts.is_power_of_two() || !algorithm.ends_with("doubling");
    let fastest = algorithms.iter().filter(fits).map(|algorithm| (took_ps(algorithm), algorithm)).min();
    let (fastest_ps, fastest) = fastest.expect("there are algorithms");
    let chosen_ps = took_ps("auto");
    assert!(
        chosen_ps as f64 <= 1.1 * fastest_ps as f64,
        "{kind} of {bytes} B among {hosts}, {carrier:?}: {chosen_ps} ps, {fastest} {fastest_ps} ps"
    );
}

#[test]
fn no_algorithm_is_much_faster_than_the_one_that_closed_forms_choose() {
    let sums = ["ring", "recursive-doubling", "halving-doubling", "tree", "double-binary-tree", "direct", "2d-ring"];
    let kinds = [
        ("allreduce", &sums[..]),
        ("allgather", &["ring", "recursive-doubling", "direct"]),
        ("reducescatter", &["ring", "halving-doubling", "direct"]),
        ("alltoall", &["pairwise", "direct"]),
        ("broadcast", &["tree", "ring"]),
    ];
    for carrier in [CARRIERS[1], CARRIERS[2]] {
        for (kind, algorithms) in kinds {
            for of in [4, 6].into_iter().flat_map(|hosts| [1 << 10, 1 << 16, 1 << 20].map(|bytes| (hosts, bytes))) {
                assert_chosen(carrier, kind, algorithms, of);
            }
        }
        assert_chosen(carrier, "allreduce", &sums, (16, 1 << 16));
    }
}
