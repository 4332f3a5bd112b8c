use super::*;
use crate::params::*;
use hostnet_kernel::Rng;
use proptest::prelude::*;

const BASES: MemoryBases = MemoryBases { shared: 1 << 44, thread: 1 << 45, client: 1 << 46 };
const ONE: u64 = 1 << 32;

fn params(app: App) -> AppParams {
    let walks = Some(WalkParams { tlb_pages: 1536, page_bytes: 4096 });
    AppParams { cores: vec![0, 1], clients: vec![], app, instruction_fs: 200_000, in_flight: 0, think_ps: 0, walks }
}

fn redis(keys: u64, value_bytes: u64, sets: u64) -> App {
    let layout = RedisLayout {
        entry_bytes: 24,
        key_bytes: 24,
        object_bytes: 16,
        header_bytes: 6,
        request_bytes: 36,
        reply_bytes: 9,
    };
    let work =
        RedisWork { request: 1000, entry: 50, reply: 500, set: 700, finish: 400, line: 8, kernel: 600, client: 900 };
    App::Redis(RedisParams {
        keys,
        value_bytes,
        sets,
        connections: 2,
        pipeline: 32,
        socket_bytes: 1 << 17,
        layout,
        work,
    })
}

fn graph(scale: u32, degree: u32) -> GraphParams {
    GraphParams { scale, degree, rounds: 3, node: 20, edge: 5, successor: 10, dependency: 8 }
}

fn mlc(working_set_bytes: u64, reads: u64, random: bool, delay_ps: u64) -> App {
    App::Mlc(MlcParams { working_set_bytes, reads, random, delay_ps, line: 4 })
}

fn chase(working_set_bytes: u64) -> App {
    App::Chase(ChaseParams { working_set_bytes, line: 3 })
}

fn stream(kernel: StreamKernel, array_bytes: u64) -> App {
    App::Stream(StreamKernelParams { kernel, array_bytes, line: 12 })
}

fn steps(app: &App, thread: u32, threads: u32, seed: u64, count: usize) -> Vec<Step> {
    of(&params(app.clone()), thread, threads, seed, count)
}

fn of(params: &AppParams, thread: u32, threads: u32, seed: u64, count: usize) -> Vec<Step> {
    let mut rng = Rng::new(seed, u64::from(thread));
    let mut generator = Generator::new(params, thread, threads, BASES, &mut rng);
    (0..count).map(|_| generator.step(&mut rng).unwrap()).collect()
}

fn client_steps(params: &AppParams, seed: u64, count: usize) -> Vec<Step> {
    let mut rng = Rng::new(seed, 0);
    let mut generator = Generator::client(params, BASES).unwrap();
    (0..count).map(|_| generator.step(&mut rng).unwrap()).collect()
}

/// Means per operation over steps that begin with an operation.
#[derive(Debug)]
struct PerOperation {
    loads: f64,
    stores: f64,
    depends: f64,
    instructions: f64,
}

fn per_operation(steps: &[Step], counts: impl Fn(&Step) -> bool) -> PerOperation {
    let last = steps.iter().rposition(|step| step.ends).unwrap();
    let whole = &steps[..=last];
    let operations = whole.iter().filter(|step| step.ends).count() as f64;
    let share = |test: &dyn Fn(&Step) -> bool| {
        whole.iter().filter(|step| counts(step) && test(step)).count() as f64 / operations
    };
    PerOperation {
        loads: share(&|step| !step.store),
        stores: share(&|step| step.store),
        depends: share(&|step| step.depends),
        instructions: whole.iter().map(|step| f64::from(step.instructions)).sum::<f64>() / operations,
    }
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= expected * share, "{value} is not within {share} of {expected}");
}

/// Returns a filter for steps in a region of `bytes` bytes at `base`.
fn within(base: u64, bytes: u64) -> impl Fn(&Step) -> bool {
    move |step| (base..base + bytes).contains(&step.address)
}

fn apps() -> Vec<App> {
    vec![
        redis(1_000_000, 1024, 0),
        redis(1_000_000, 1024, ONE),
        redis(1_000_000, 1024, ONE / 2),
        App::PageRank(graph(20, 16)),
        App::Betweenness(graph(20, 16)),
        stream(StreamKernel::Triad, 1 << 24),
        mlc(1 << 26, ONE / 3, true, 1000),
        mlc(1 << 26, ONE, false, 0),
        chase(1 << 24),
    ]
}

/// Checks the invariants of the steps of every application.
fn check(steps: &[Step], params: &AppParams) {
    let footprint = params.footprint();
    let ends = [
        (BASES.shared, footprint.shared_bytes),
        (BASES.thread, footprint.thread_bytes),
        (BASES.client, footprint.client_bytes),
    ];
    let mut open = false;
    for step in steps {
        assert!(
            ends.iter().any(|&(base, bytes)| (base..base + bytes).contains(&step.address)),
            "{step:x?} is outside {footprint:x?}"
        );
        assert_eq!(step.begins, !open, "operations follow each other without gaps: {step:?}");
        open = !step.ends;
    }
}

#[test]
fn operations_of_every_application_follow_each_other_inside_its_memory() {
    for app in apps() {
        check(&steps(&app, 1, 3, 7, 20_000), &params(app));
    }
}

#[test]
fn steps_are_the_same_for_a_seed_and_others_for_another() {
    for app in apps().into_iter().filter(|app| !matches!(app, App::Stream(_))) {
        let run = |seed| steps(&app, 0, 2, seed, 3000);
        assert_eq!(run(1), run(1));
        let ordered = matches!(&app, App::Mlc(mlc) if !mlc.random);
        assert_eq!(run(1) == run(2), ordered, "{app:?}");
    }
}

#[test]
fn a_generator_goes_on_where_it_was_saved() {
    for app in apps() {
        let params = params(app);
        let mut rng = Rng::new(3, 3);
        let mut generator = Generator::new(&params, 0, 1, BASES, &mut rng);
        (0..777).for_each(|_| {
            generator.step(&mut rng);
        });
        let saved = serde_json::to_string(&(&generator, &rng)).unwrap();
        let (mut again, mut again_rng): (Generator, Rng) = serde_json::from_str(&saved).unwrap();
        for _ in 0..777 {
            assert_eq!(generator.step(&mut rng), again.step(&mut again_rng));
        }
    }
}

#[test]
fn a_get_reads_its_chain_and_its_value_and_marks_its_object() {
    let params = params(redis(1_000_000, 1024, 0));
    let all = of(&params, 0, 1, 5, 400_000);
    let heap = 8 * (1 << 20) + 1_000_000 * (48 + 16 + 1280);
    let get = per_operation(&all, within(BASES.thread, heap));
    // Loads: bucket, 1.477 entries of 1.5 lines (a key and its entry of 24 B each at multiples of 48 B), object, and
    // 17 lines of the value.
    near(get.loads, 1.0 + 1.477 * 1.5 + 1.0 + 17.0, 0.02);
    near(get.stores, 1.0, 0.001);
    let both = per_operation(&all, |_| true);
    // The reply of 1033 B is stored, and then loaded and stored by the kernel. Of the request of 36 B, a line is
    // loaded and stored now and then.
    near(both.stores, 1.0 + 2.0 * 1033.0 / 64.0 + 36.0 / 64.0, 0.03);
    near(both.depends, 2.0 * (1.477 + 1.0 + 1.0) + 1.477 * 0.375 * 1.0, 0.1);
}

#[test]
fn a_set_writes_its_value_where_the_last_one_was_released() {
    let params = params(redis(1_000_000, 1024, ONE));
    let all = of(&params, 0, 1, 5, 400_000);
    let heap = 8 * (1 << 20) + 1_000_000 * (48 + 16 + 1280);
    let set = per_operation(&all, within(BASES.thread, heap));
    near(set.stores, 17.0 + 1.0, 0.01);
    near(set.loads, 1.0 + 1.477 * 1.5 + 1.0 + 1.0, 0.02);
}

#[test]
fn keys_are_drawn_evenly() {
    let params = params(redis(1 << 16, 1024, 0));
    let mut counts = [0_u32; 16];
    let values = BASES.thread + 8 * (1 << 16) + (1 << 16) * (48 + 16);
    let bytes = (1 << 16) * 1280;
    for step in of(&params, 0, 1, 1, 1_000_000).iter().filter(|step| step.depends) {
        if (values..values + bytes).contains(&step.address) {
            counts[((step.address - values) * 16 / bytes) as usize] += 1;
        }
    }
    let mean = f64::from(counts.iter().sum::<u32>()) / 16.0;
    assert!(mean > 500.0);
    counts.iter().for_each(|&count| near(f64::from(count), mean, 0.15));
}

#[test]
fn a_key_is_found_on_the_same_lines_every_time() {
    let params = params(redis(1, 100, 0));
    let params = AppParams { walks: None, ..params };
    let heap = of(&params, 0, 1, 1, 10_000);
    let chain: Vec<_> = heap.iter().filter(|step| step.depends).map(|step| step.address).collect();
    let operations = heap.iter().filter(|step| step.ends).count();
    let mut distinct = chain.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() <= 6 && chain.len() >= 3 * operations, "{} of {}", distinct.len(), chain.len());
}

#[test]
fn a_client_reads_what_the_server_sent() {
    let params = params(redis(1000, 1024, 0));
    let client = client_steps(&params, 1, 50_000);
    check(&client, &params);
    let (server, read) = (of(&params, 0, 1, 1, 200_000), client.iter().filter(|step| !step.store));
    let mut sent: Vec<_> = server.iter().filter(|step| step.store).map(|step| step.address).collect();
    sent.sort_unstable();
    for step in read {
        assert!(sent.binary_search(&step.address).is_ok(), "{step:x?} was never written");
    }
    near(per_operation(&client, |_| true).loads, 1033.0 / 64.0, 0.03);
}

#[test]
fn only_a_server_has_clients() {
    let with = apps().into_iter().filter(|app| Generator::client(&params(app.clone()), BASES).is_some());
    assert!(with.into_iter().all(|app| matches!(app, App::Redis(_))));
}

#[test]
fn a_node_of_pagerank_gathers_from_all_its_neighbours() {
    let params = AppParams { walks: None, ..params(App::PageRank(graph(20, 16))) };
    let node = per_operation(&of(&params, 0, 4, 1, 1_000_000), |_| true);
    // Loads: 32 gathers, two lines of neighbours, and pointer, score and contribution in order.
    near(node.loads, 32.0 + 2.0 + 1.0 / 8.0, 0.001);
    near(node.stores, 2.0 / 16.0, 0.01);
    near(node.instructions, 20.0 + 32.0 * 5.0 + 2.0, 0.01);
    assert!(node.depends < 1e-9);
}

#[test]
fn a_node_of_betweenness_gathers_depths_on_one_way_and_marked_neighbours_on_the_other() {
    let params = AppParams { walks: None, ..params(App::Betweenness(graph(25, 16))) };
    let visit = per_operation(&of(&params, 0, 4, 1, 6_000_000), |_| true);
    // Of 32 neighbours 8.4 are one level deeper: two levels of 63% and 34% of the nodes, and their shares of the
    // nodes left after them.
    let further = 8.4;
    // Half of the visits gather 32 depths, and half gather two values of each marked neighbour. All visits load
    // pointer, count and a line of the queue per 16 nodes. Visits with marked neighbours load 2.9 lines of
    // neighbours, and those of the backward pass the marks of the row.
    near(visit.loads, 16.0 + further + 2.0 + 1.0 / 16.0 + 2.9 * 0.82 + 0.5, 0.05);
    // Marks and counts of the search, depths and queue of the nodes found, and dependency and score of the backward
    // pass.
    near(visit.stores, further + 0.5 + 0.5 / 16.0 + 1.0, 0.06);
}

#[test]
fn gathers_are_even_over_the_contributions() {
    let params = AppParams { walks: None, ..params(App::PageRank(graph(20, 16))) };
    let nodes = 1_u64 << 20;
    let first = BASES.shared + (nodes + 1) * 8 + 4088 + (nodes * 32 + 32) * 4 + 3968 + nodes * 4;
    let mut counts = [0_u32; 16];
    for step in of(&params, 0, 1, 1, 200_000) {
        if !step.store && (first..first + nodes * 4).contains(&step.address) {
            counts[((step.address - first) * 16 / (nodes * 4)) as usize] += 1;
        }
    }
    assert!(counts.iter().sum::<u32>() > 185_000, "{counts:?}");
    let mean = f64::from(counts.iter().sum::<u32>()) / 16.0;
    counts.iter().for_each(|&count| near(f64::from(count), mean, 0.04));
}

#[test]
fn threads_of_pagerank_share_the_nodes() {
    // With four chunks of 16384 nodes, every thread visits its own until all are done.
    let params = AppParams { walks: None, ..params(App::PageRank(graph(16, 2))) };
    let row = 4_u64 * 4 * 16384;
    let rows = BASES.shared + ((1 << 16) * 8 + 4096);
    let first = |thread| {
        let all = of(&params, thread, 4, 1, 1000);
        all.iter().find(|step| !step.store && (rows..rows + 4 * row).contains(&step.address)).unwrap().address
    };
    for thread in 0..4 {
        assert_eq!((first(thread) - rows) / row, u64::from(thread));
    }
}

#[test]
fn walks_come_with_what_the_tlb_does_not_cover() {
    // Contributions, scores, pointers and neighbours of 2^20 nodes take 34.6 k pages, of which the TLB holds 1536.
    let app = App::PageRank(graph(20, 16));
    let pages = AppParams { walks: None, ..params(app.clone()) }.footprint().shared_bytes / 4096;
    let tables = BASES.shared + pages * 4096;
    let walks = |tlb_pages| {
        let walks = Some(WalkParams { tlb_pages, page_bytes: 4096 });
        let all = of(&AppParams { walks, ..params(app.clone()) }, 0, 1, 1, 200_000);
        per_operation(&all, |step| step.address >= tables).loads
    };
    near(walks(1536), 32.0 * (1.0 - 1536.0 / pages as f64), 0.01);
    near(walks(pages / 2), 16.0, 0.03);
    assert!(walks(pages) < 1e-9);
}

#[test]
fn the_published_graph_takes_five_gigabytes() {
    let bytes = params(App::PageRank(graph(25, 16))).footprint().shared_bytes;
    assert!((4_700_000_000..5_200_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn an_impossible_footprint_is_told_as_the_largest_number() {
    assert_eq!(params(redis(u64::MAX, 1024, 0)).footprint().thread_bytes, u64::MAX);
    assert_eq!(params(mlc(u64::MAX, 0, true, 0)).footprint().thread_bytes, u64::MAX);
    assert_eq!(params(stream(StreamKernel::Copy, u64::MAX / 2)).footprint().shared_bytes, u64::MAX);
}

#[test]
fn a_stream_loads_and_stores_as_its_kernel_says() {
    for (kernel, loads) in
        [(StreamKernel::Copy, 1.0), (StreamKernel::Scale, 1.0), (StreamKernel::Add, 2.0), (StreamKernel::Triad, 2.0)]
    {
        let line = per_operation(&steps(&stream(kernel, 1 << 20), 0, 2, 1, 60_000), |_| true);
        near(line.loads, loads, 0.001);
        near(line.stores, 1.0, 0.001);
        near(line.instructions, 12.0, 0.001);
    }
}

#[test]
fn threads_of_a_stream_cover_every_line_once() {
    let app = stream(StreamKernel::Copy, 100 * 64);
    let mut stored = Vec::new();
    for (thread, lines) in [(0, 33), (1, 33), (2, 34)] {
        stored.extend(steps(&app, thread, 3, 1, 2 * lines).iter().filter(|step| step.store).map(|step| step.address));
    }
    stored.sort_unstable();
    stored.dedup();
    assert_eq!(stored.len(), 100);
}

#[test]
fn delays_and_shares_of_mlc_are_as_asked() {
    let params = AppParams { walks: None, ..params(mlc(1 << 26, ONE / 4, true, 20_000)) };
    let access = per_operation(&of(&params, 0, 1, 1, 50_000), |_| true);
    near(access.loads, 0.25, 0.05);
    near(access.stores, 0.75, 0.02);
    near(access.instructions, 104.0, 1e-9);
}

#[test]
fn a_chase_visits_every_line_once_in_a_turn_and_every_access_waits() {
    for lines in [1_u64, 2, 3, 7, 64, 1000, 4097] {
        let params = AppParams { walks: None, ..params(chase(lines * 64)) };
        let turn = of(&params, 0, 1, 9, lines as usize);
        assert!(turn.iter().all(|step| step.depends && !step.store && step.begins && step.ends));
        let mut visited: Vec<_> = turn.iter().map(|step| (step.address - BASES.thread) / 64).collect();
        let ascents = visited.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(lines < 64 || ascents as u64 <= lines / 10, "{ascents} of {lines} accesses are in order");
        visited.sort_unstable();
        assert_eq!(visited, (0..lines).collect::<Vec<_>>());
    }
}

#[test]
fn whole_runs_count_visits() {
    assert_eq!(count_operations(&params(App::PageRank(graph(25, 16)))), Some(3 << 25));
    assert_eq!(count_operations(&params(App::Betweenness(graph(25, 16)))), Some(6 << 25));
    assert_eq!(count_operations(&params(chase(64))), None);
}

fn any_app() -> impl Strategy<Value = App> {
    let share = prop_oneof![Just(0), Just(ONE), 0..=ONE];
    let kernel = prop_oneof![
        Just(StreamKernel::Copy),
        Just(StreamKernel::Scale),
        Just(StreamKernel::Add),
        Just(StreamKernel::Triad)
    ];
    prop_oneof![
        (1_u64..100_000, 1_u64..5000, share.clone(), 1_u32..4, 1_u32..40, 0_u64..100_000).prop_map(
            |(keys, value_bytes, sets, connections, pipeline, socket_bytes)| {
                let App::Redis(redis) = redis(keys, value_bytes, sets) else { unreachable!() };
                App::Redis(RedisParams { connections, pipeline, socket_bytes, ..redis })
            }
        ),
        (4_u32..22, 1_u32..40).prop_map(|(scale, degree)| App::PageRank(graph(scale, degree))),
        (4_u32..22, 1_u32..40).prop_map(|(scale, degree)| App::Betweenness(graph(scale, degree))),
        (kernel, 1_u64..100_000).prop_map(|(kernel, bytes)| stream(kernel, bytes)),
        (1_u64..1 << 30, share, any::<bool>(), 0_u64..100_000)
            .prop_map(|(bytes, reads, random, delay)| mlc(bytes, reads, random, delay)),
        (1_u64..1 << 30).prop_map(chase),
    ]
}

proptest! {
    #[test]
    fn every_step_of_any_application_lies_in_its_memory(
        app in any_app(),
        threads in 1_u32..9,
        thread in 0_u32..9,
        seed in any::<u64>(),
        tlb_pages in prop_oneof![Just(None), (0_u64..3000).prop_map(Some)],
    ) {
        let walks = tlb_pages.map(|tlb_pages| WalkParams { tlb_pages, page_bytes: 4096 });
        let params = AppParams { walks, ..params(app) };
        check(&of(&params, thread % threads, threads, seed, 4000), &params);
        if matches!(params.app, App::Redis(_)) {
            check(&client_steps(&params, seed, 2000), &params);
        }
    }
}
