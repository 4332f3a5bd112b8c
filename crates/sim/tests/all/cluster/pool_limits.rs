//! Tests the limits of workloads with buffers in a memory pool: more of the named limit helps.

use crate::cluster::pool::summary;
use proptest::prelude::*;

/// A borrower and lenders at a switch.
#[derive(Clone, Copy, Debug)]
struct Rack {
    lenders: u32,
    cores: u32,
    entries: u32,
    credits: u32,
    /// Rates of the borrower's cable and of the other cables, in Gbps.
    gbps: [u32; 2],
    reads: f64,
    sequential: bool,
}

const RACK: Rack =
    Rack { lenders: 2, cores: 4, entries: 10, credits: 256, gbps: [100, 100], reads: 1.0, sequential: false };

/// Returns the reported limit of the borrower's cores, and their throughput.
fn limit(rack: Rack) -> (String, f64) {
    let Rack { lenders, cores, entries, credits, gbps, reads, sequential } = rack;
    let pattern = if sequential { "sequential" } else { "random" };
    let told = summary(&format!(
        "[host.a]\npreset = \"cascade-lake-hostcc\"\ncore.lfb.entries = {entries}\n\
         pool = {{ borrow = \"64 MiB\", read_credits = {credits} }}\n\
         [host.a.workload.s]\nkind = \"stream\"\nmemory = \"pool\"\nworking_set = \"4 MiB\"\n\
         cores = \"0-{}\"\npattern = \"{pattern}\"\nreads = {reads}\n\
         [host.b]\npreset = \"cascade-lake-hostcc\"\ncount = {lenders}\npool.lent = \"256 MiB\"\n\
         [network]\nrate = \"{} Gbps\"\nlatency = \"10 ns\"\n[network.switch]\nlatency = \"100 ns\"\n\
         [cable.a]\nrate = \"{} Gbps\"\n[run]\nwarmup = \"20 us\"\nduration = \"60 us\"\n",
        cores - 1,
        gbps[1],
        gbps[0]
    ));
    let row = &told["servers"]["a"]["workloads"][0];
    let limit = row["limited_by"].as_str().expect("a limit").to_owned();
    (limit, row["throughput_gb_per_s"].as_f64().expect("a rate"))
}

#[test]
fn planted_limits_of_a_pool_path_are_named_and_help_when_raised() {
    let planted = [
        ("pool read", Rack { credits: 8, ..RACK }, Rack { credits: 10, ..RACK }),
        ("pool port", Rack { gbps: [10, 100], ..RACK }, Rack { gbps: [20, 100], ..RACK }),
        ("C2M-Read", Rack { entries: 2, ..RACK }, Rack { entries: 3, ..RACK }),
    ];
    for (name, as_it_is, raised) in planted {
        let [(found, rate), (_, better)] = [as_it_is, raised].map(limit);
        assert_eq!(found, name, "{as_it_is:?}");
        assert!(better > 1.1 * rate, "{raised:?} gives {better} GB/s for {rate}");
    }
}

#[test]
fn limits_of_lenders_have_no_name() {
    for rack in [Rack { gbps: [100, 10], ..RACK }, Rack { lenders: 1, gbps: [10, 10], ..RACK }] {
        assert_eq!(limit(rack).0, "not known", "{rack:?}");
    }
}

proptest! {
    #![proptest_config(crate::common::laws::cases(6))]
    #[test]
    fn what_is_named_helps_when_it_is_raised(
        (lenders, cores, entries, credits) in (1_u32..4, 1_u32..9, 1_u32..13, 1_u32..100),
        gbps in prop::array::uniform2(prop::sample::select(vec![10_u32, 25, 40, 100])),
        reads in prop::sample::select(vec![1.0, 1.0, 0.5]),
        sequential in any::<bool>(),
    ) {
        let rack = Rack { lenders, cores, entries, credits, gbps, reads, sequential };
        let (found, rate) = limit(rack);
        let raised = match found.as_str() {
            "pool read" => Rack { credits: 2 * credits, ..rack },
            "pool port" => Rack { gbps: [2 * gbps[0], gbps[1]], ..rack },
            "C2M-Read" | "C2M-ReadWrite" => Rack { entries: 2 * entries, ..rack },
            "not known" => return Ok(()),
            other => return Err(TestCaseError::fail(format!("{other} is named: {rack:?}"))),
        };
        let (_, better) = limit(raised);
        prop_assert!(better > 1.02 * rate, "{found}: {better} GB/s for {rate}, {rack:?}");
    }
}
