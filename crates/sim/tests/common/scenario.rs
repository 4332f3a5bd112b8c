//! Random valid servers with random workloads.

use hostnet_config::Plan;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A server and its workloads, as lines of a configuration.
#[derive(Clone)]
pub struct Scenario(Vec<String>);

impl std::fmt::Debug for Scenario {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(formatter, "\n{}", self.0.join("\n"))
    }
}

impl Scenario {
    /// Returns the plan of this server.
    pub fn plan(&self) -> Plan {
        self.plan_with(&[])
    }

    /// Returns the plan of this server with overrides.
    pub fn plan_with(&self, overrides: &[&str]) -> Plan {
        super::plan(&self.0.join("\n"), overrides)
    }
}

fn lines(parts: impl Strategy<Value = Vec<String>> + 'static) -> BoxedStrategy<Vec<String>> {
    parts.boxed()
}

/// Generates counts from 1 to `most`, with 1 and `most` themselves often.
fn count(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(1), 1 => Just(most), 4 => 1..=most]
}

/// Generates multiples of `grain` up to `most`.
fn multiple(grain: u32, most: u32) -> impl Strategy<Value = u32> {
    count(most / grain).prop_map(move |number| number * grain)
}

/// Generates sizes of pools up to `most`: of at least four times `grain`, if that is above 1.
fn pool(grain: u32, most: u32) -> BoxedStrategy<u32> {
    match grain {
        1 => count(most).boxed(),
        _ => count(most / grain - 3).prop_map(move |number| (number + 3) * grain).boxed(),
    }
}

fn power(least: u32, most: u32) -> impl Strategy<Value = u32> {
    (least..=most).prop_map(|exponent| 1 << exponent)
}

fn cores(grain: u32) -> BoxedStrategy<Vec<String>> {
    let delays = (1_u32..20, 1_u32..20, 1_u32..20);
    let until = prop::sample::select(vec!["admission", "acceptance"]);
    let ahead = prop_oneof![Just(0), multiple(grain, 20)];
    let entries = if grain == 1 { count(20).boxed() } else { prop::sample::select(vec![12, 16, 20]).boxed() };
    lines((entries, 0_u32..30, 0_u32..=10, 0_u32..3, count(300), delays, until, ahead).prop_map(
        |(entries, refill, jitter, issue, dirty, (to_cha, from_cha, write_ack), until, ahead)| {
            vec![
                "[core]\ncount = 8".to_owned(),
                format!(
                    "lfb = {{ entries = {entries}, refill = \"{refill} ns\", refill_jitter = {}.{} }}",
                    jitter / 10,
                    jitter % 10
                ),
                format!("issue = \"{issue} ns\"\ndirty_pool = {dirty}\nwrite_until = \"{until}\""),
                format!("to_cha = \"{to_cha} ns\"\nfrom_cha = \"{from_cha} ns\"\nwrite_ack = \"{write_ack} ns\""),
                format!("[prefetch]\nstream_credits = {ahead}"),
            ]
        },
    ))
}

fn cha(grain: u32) -> BoxedStrategy<Vec<String>> {
    let delays = (1_u32..60, 1_u32..60, 20_u32..120);
    let slices = prop::sample::select(if grain == 1 { vec![1, 3, 18] } else { vec![4, 16] });
    let entries = || if grain == 1 { count(20).boxed() } else { pool(grain, 48) };
    lines((slices, entries(), entries(), delays).prop_map(|(slices, entries, write_entries, (there, back, write))| {
        vec![
            format!("[cha]\nslices = {slices}\ntor = {{ entries = {entries}, write_entries = {write_entries} }}"),
            format!("read_to_mc = \"{there} ns\"\nfrom_mc = \"{back} ns\"\nwrite_ack = \"{back} ns\""),
            format!("core_write_to_mc = \"{write} ns\"\nio_write_to_mc = \"{write} ns\""),
        ]
    }))
}

fn memory(grain: u32) -> BoxedStrategy<Vec<String>> {
    let layout = (
        prop::sample::select(vec![1, 2, 4]),
        // The lines of a burst are in one channel and bank.
        prop::sample::select(if grain == 1 {
            vec!["intel", "RoBaRaCoCh", "RoRaBgBaChCo"]
        } else {
            vec!["intel", "RoRaBgBaChCo"]
        }),
        prop::sample::select(vec![("4 KiB", "4 KiB"), ("4 KiB", "16 KiB"), ("2 MiB", "2 MiB")]),
        prop::sample::select(vec![("DDR4_2933", 2), ("DDR4_2933", 1), ("DDR4_3200", 1)]),
    );
    lines(layout.prop_map(|(channels, map, (page, run), (device, ranks))| {
        vec![format!(
            "[memory]\nchannels = {channels}\nmap = \"{map}\"\npage = \"{page}\"\nrun = \"{run}\"\n\
            device = \"{device}\"\n\
             dram = {{ ranks = {ranks} }}"
        )]
    }))
}

fn controller(grain: u32) -> BoxedStrategy<Vec<String>> {
    let wpq = prop_oneof![1 => Just(2.max(4 * grain)), 6 => pool(grain, 64).prop_map(|wpq| wpq.max(2))];
    let high = move |wpq: u32| (1..=wpq / grain).prop_map(move |high| high * grain);
    let queues = (pool(grain, 64), wpq.prop_flat_map(move |wpq| (Just(wpq), high(wpq))));
    let queues = queues.prop_flat_map(|(rpq, (wpq, high))| (Just((rpq, wpq, high)), 0..high));
    let few = pool(grain, 20 * grain);
    let reads = prop_oneof![1 => Just(0), 9 => pool(grain, 100)];
    let turns = (
        reads,
        0_u32..8,
        pool(grain, 100),
        prop_oneof![Just(if grain == 1 { 1 } else { 4 * grain }), few, Just(8000)],
        0_u32..8,
        count(70),
    );
    let ends = (
        prop_oneof![Just(4096), 0_u32..4],
        prop_oneof![Just("off".to_owned()), (0_u32..200).prop_map(|ns| format!("{ns} ns"))],
        prop_oneof![Just("off".to_owned()), (0_u32..2000).prop_map(|ns| format!("{ns} ns"))],
    );
    let rows = (any::<bool>(), 0_u32..2000, 0_u32..2000, any::<bool>());
    lines((queues, turns, ends, rows).prop_map(|(((rpq, wpq, high), low), turns, (hits, age, flush), rows)| {
        let (spare_rows, hold, close, precharge) = rows;
        let (reads_per_mode, reads_few, writes_per_mode, idle_writes, idle_reads, spare_writes) = turns;
        vec![
            format!("[memory.controller]\nrpq = {{ entries = {rpq}, full_threshold = {rpq} }}"),
            format!("wpq = {{ entries = {wpq}, full_threshold = {wpq} }}\nwrite_high = {high}\nwrite_low = {low}"),
            format!("reads_per_mode = {reads_per_mode}\nreads_few = {reads_few}\nwrites_per_mode = {writes_per_mode}"),
            format!("idle_writes = {idle_writes}\nidle_reads = {idle_reads}\nspare_writes = {spare_writes}"),
            format!("idle_hits = {hits}\nidle_age = \"{age}\"\nidle_flush = \"{flush}\""),
            format!("spare_rows = {spare_rows}\nrow_hold = \"{hold} ns\"\nidle_close = \"{close} ns\""),
            format!("write_auto_precharge = {precharge}"),
        ]
    }))
}

fn io(grain: u32) -> BoxedStrategy<Vec<String>> {
    let tlp = 7 + grain.ilog2() / 2;
    let iio = (pool(grain, 120), pool(grain, 220), 0_u32..4, 1_u32..200);
    let pcie = (3_u32..5, (power(tlp, 10), pool(grain, 100)), (power(tlp, 10), pool(grain, 300)), 1_u32..300);
    let ssd = (1_u32..10, 0_u32..5, count(128), power(2, 7), count(4));
    lines((iio, pcie, ssd).prop_map(|((writes, reads, line, way), pcie, (rate, latency, depth, transfer, streams))| {
        let (generation, (mps, posted), (mrrs, nonposted), wire) = pcie;
        let (posted, nonposted) = (posted.max(mps / 64), nonposted.max(mrrs / 64));
        vec![
            format!("[iio]\nwrite_credits = {writes}\nread_credits = {reads}\nline = \"{line} ns\"\nline_jitter = 0.5"),
            format!("write_to_cha = \"{way} ns\"\nread_to_cha = \"{way} ns\"\nread_return = \"{way} ns\""),
            format!(
                "[pcie]\ngeneration = {generation}\nmps = \"{mps} B\"\nmrrs = \"{mrrs} B\"\nlatency = \"{wire} ns\""
            ),
            format!("posted_lines = {posted}\nnonposted_lines = {nonposted}"),
            format!("[ssd]\ncount = 3\nbandwidth = \"{rate} GB/s\"\nlatency = \"{latency} us\"\nqueue_depth = {depth}"),
            format!("max_transfer = \"{transfer} KiB\"\nstreams = {streams}"),
        ]
    }))
}

fn any_pattern() -> BoxedStrategy<&'static str> {
    prop::sample::select(vec![
        SEQUENTIAL,
        "pattern = \"random\"",
        "pattern = \"strided\"\nstride = \"256 B\"",
        "pattern = \"strided\"\nstride = \"8256 B\"",
    ])
    .boxed()
}

const SEQUENTIAL: &str = "pattern = \"sequential\"";

fn stream(name: &'static str, cores: &'static str, grain: u32) -> BoxedStrategy<Vec<String>> {
    let pattern = if grain == 1 { any_pattern() } else { Just(SEQUENTIAL).boxed() };
    let reads = prop::sample::select(vec!["0.0", "0.3", "0.5", "1.0"]);
    lines((pattern, reads, power(5, 16), 0_u32..30).prop_map(move |(pattern, reads, kib, gap)| {
        vec![
            format!("[workload.{name}]\nkind = \"stream\"\ncores = \"{cores}\"\n{pattern}\nreads = {reads}"),
            format!("working_set = \"{kib} KiB\"\ngap = \"{gap} ns\""),
        ]
    }))
}

fn job() -> BoxedStrategy<String> {
    let direction = prop::sample::select(vec!["read", "write", "randread", "randwrite", "rw", "randrw"]);
    let block = prop::sample::select(vec!["512 B", "1536 B", "4 KiB", "20 KiB", "128 KiB", "8 MiB"]);
    let job = (direction, block, count(64), 0_u32..=100, 0_u32..3);
    job.prop_map(|(rw, bs, depth, mix, ssd)| {
        let mix = if rw.ends_with("rw") { format!(", rwmixread = {mix}") } else { String::new() };
        format!("{{ rw = \"{rw}\", bs = \"{bs}\", iodepth = {depth}, size = \"1 GiB\", ssd = {ssd}{mix} }}")
    })
    .boxed()
}

fn disk(name: &'static str, cores: &'static str) -> BoxedStrategy<Vec<String>> {
    lines(prop::collection::vec(job(), 1..4).prop_map(move |jobs| {
        let jobs = jobs.join(",\n  ");
        vec![format!("[workload.{name}]\nkind = \"fio\"\ncores = \"{cores}\"\njobs = [\n  {jobs}\n]")]
    }))
}

fn costs() -> BoxedStrategy<Vec<String>> {
    let share = || prop::sample::select(vec!["0.0", "0.5", "1.0"]);
    let lines_per_page = || prop::sample::select(vec!["0.0", "0.5", "4.25"]);
    lines((lines_per_page(), lines_per_page(), share()).prop_map(|(dma, kernel, loads)| {
        vec![format!("[fio]\ndma_lines_per_page = {dma}\nkernel_lines_per_page = {kernel}\nkernel_loads = {loads}")]
    }))
}

fn workloads(grain: u32) -> BoxedStrategy<Vec<String>> {
    let none = || lines(Just(Vec::new()));
    let streams = (stream("a", "0-2", grain), prop_oneof![none(), stream("b", "3", grain)]);
    let disks = (disk("c", "6-7"), prop_oneof![none(), disk("d", "5")]);
    let alone = streams.clone().prop_map(|(a, b)| [a, b].concat());
    let io = disks.clone().prop_map(|(c, d)| [c, d].concat());
    let both = (streams, disks).prop_map(|((a, b), (c, d))| [a, b, c, d].concat());
    prop_oneof![1 => alone, 1 => io, 3 => both].boxed()
}

/// Generates any server with any workloads.
pub fn any_scenario() -> impl Strategy<Value = Scenario> {
    scenario(1)
}

/// Generates servers whose pools are multiples of `grain` lines, with sequential streams if it is above 1.
pub fn scenario(grain: u32) -> impl Strategy<Value = Scenario> {
    let seed = any::<u32>().prop_map(|seed| vec![format!("[run]\nseed = {seed}")]);
    let parts =
        (cores(grain), cha(grain), memory(grain), controller(grain), io(grain), costs(), workloads(grain), seed);
    parts.prop_map(|(cores, cha, memory, controller, io, costs, workloads, seed)| {
        let head = vec!["[server]\npreset = \"cascade-lake-6234\"".to_owned()];
        Scenario([head, cores, cha, memory, controller, io, costs, workloads, seed].concat())
    })
}

/// Returns `count` random servers from a fixed seed.
pub fn scenarios(strategy: impl Strategy<Value = Scenario>, count: usize) -> Vec<Scenario> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[13; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("it can be made").current()).collect()
}

fn caches() -> BoxedStrategy<Vec<String>> {
    let policy = || prop::sample::select(vec!["lru", "random", "qlru"]);
    let l2 = (power(0, 7), count(16), policy(), 1_u32..20);
    let llc = (power(0, 6), count(16), policy(), prop::sample::select(vec!["victim", "inclusive"]), 1_u32..40);
    let filter = (power(0, 7), count(16));
    let prefetch = (any::<bool>(), any::<bool>(), count(40), count(32), count(32));
    let ddio = (0_u32..16, 0_u32..16, prop::sample::select(vec!["[]", "[0]", "[0, 1, 2]"]), 1_u32..60);
    lines((l2, llc, filter, prefetch, ddio, count(300)).prop_map(|(l2, llc, filter, prefetch, ddio, rob)| {
        let (first, second) = (ddio.0 % llc.1, ddio.1 % llc.1);
        let (first, last) = (first.min(second), first.max(second));
        vec![
            "[cache]\nenabled = true".to_owned(),
            format!("l2 = {{ sets = {}, ways = {}, replacement = \"{}\", hit = \"{} ns\" }}", l2.0, l2.1, l2.2, l2.3),
            format!(
                "llc = {{ sets = {}, ways = {}, replacement = \"{}\", inclusion = \"{}\", hit = \"{} ns\" }}",
                llc.0, llc.1, llc.2, llc.3, llc.4
            ),
            format!("filter = {{ sets = {}, ways = {} }}", filter.0, filter.1),
            format!(
                "[prefetch]\nstream = {}\nadjacent = {}\ncredits = {}\npages = {}\ndistance = {}",
                prefetch.0, prefetch.1, prefetch.2, prefetch.3, prefetch.4
            ),
            format!("[ddio]\nways = \"{first}-{last}\"\noff = {}\nwrite = \"{} ns\"", ddio.2, ddio.3),
            format!("[core]\nrob = {rob}"),
        ]
    }))
}

fn app() -> BoxedStrategy<Vec<String>> {
    let kind = prop::sample::select(vec![
        "app = \"redis\"\nkeys = 500\nsets = 0.3\nclients = \"9\"\nthink = \"200 ns\"\nin_flight = 5",
        "app = \"redis\"\nkeys = 20000\nvalue = \"100 B\"\nthink = \"0 ns\"\nin_flight = 3",
        "app = \"pagerank\"\nscale = 12",
        "app = \"bc\"\nscale = 10\ndegree = 2",
        "app = \"stream\"\nkernel = \"triad\"\narray = \"64 KiB\"",
        "app = \"mlc\"\nreads = 0.5\npattern = \"random\"\nworking_set = \"1 MiB\"",
        "app = \"chase\"\nworking_set = \"128 KiB\"",
    ]);
    let loops =
        prop_oneof![Just(""), Just("\nin_flight = 1\nthink = \"5 us\""), Just("\nin_flight = 4\nthink = \"90 ns\"")];
    // Core 0 also runs a stream, and core 6 the kernel work of drives.
    let core = prop::sample::select(vec![0, 6, 8]);
    lines((kind, loops, core).prop_map(|(kind, closed, core)| {
        let closed = if kind.contains("in_flight") { "" } else { closed };
        vec![format!("[workload.e]\nkind = \"app\"\ncores = \"{core}\"\n{kind}{closed}")]
    }))
}

/// Generates any server with caches and any workloads.
pub fn any_cached_scenario() -> impl Strategy<Value = Scenario> {
    let app = prop_oneof![1 => lines(Just(Vec::new())), 2 => app()];
    (any_scenario(), caches(), app, any::<bool>()).prop_map(|(Scenario(all), caches, app, consume)| {
        let rob = caches.last().map_or("", |line| line.trim_start_matches("[core]\n")).to_owned();
        let change = |line: String| {
            let line = line.replace("[core]\ncount = 8", &format!("[core]\n{rob}\ncount = 10"));
            if consume {
                line.replace("kind = \"fio\"", "kind = \"fio\"\nconsume = true")
            } else {
                line
            }
        };
        // The prefetchers of streams without caches give way to those of the L2.
        let all = all.into_iter().filter(|line| !line.starts_with("[prefetch]"));
        let all: Vec<String> = all.map(change).collect();
        Scenario([&all[..], &caches[..caches.len() - 1], &app[..]].concat())
    })
}
