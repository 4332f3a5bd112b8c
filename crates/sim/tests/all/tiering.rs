//! Tests the migration of pages: where pages lie, what a move costs, and that nothing gets lost.

use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::{plan, settled, us};
use hostnet_config::Plan;
use hostnet_kernel::{checkpoint, Simulation};
use hostnet_model::tiering::{PageMove, Tiering, TieringPolicy, TieringView};
use hostnet_model::Machine;
use hostnet_sim::{build, HostError, Options, Run};
use proptest::prelude::*;
use serde_json::Value;

const SERVER: &str = r#"
[server]
preset = "cascade-lake-6234"
[core]
count = 8
[memory]
run = "4 KiB"
[expander]
lanes = 16
device = "DDR4_2933"
[workload.a]
kind = "stream"
cores = "0-1"
pattern = "random"
working_set = "64 KiB"
memory = "node:1"
[workload.b]
kind = "tiering"
cores = "7"
workloads = ["a"]
local = "128 KiB"
period = "5 us"
[run]
warmup = "100 us"
duration = "100 us"
"#;

/// Moves pages to one node, so many per decision.
#[derive(Clone, Debug)]
struct All {
    node: u8,
    each: usize,
}

impl TieringPolicy for All {
    fn decide(&mut self, view: &TieringView) -> Vec<PageMove> {
        let elsewhere = (0..).zip(view.pages).filter(|(_, page)| page.node != self.node && !page.moving);
        elsewhere.map(|(page, _)| PageMove { page, node: self.node }).take(self.each).collect()
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(vec![self.node, self.each as u8])
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        (self.node, self.each) = (state[0], state[1].into());
        Ok(())
    }
}

/// Moves pages here and there, as a list of numbers says.
#[derive(Clone, Debug)]
struct Any(Vec<u32>);

impl TieringPolicy for Any {
    fn decide(&mut self, view: &TieringView) -> Vec<PageMove> {
        let count = view.pages.len() as u32;
        let moves: Vec<PageMove> =
            self.0.iter().map(|number| PageMove { page: number / 2 % count, node: (number % 2) as u8 }).collect();
        let shift = 1.min(self.0.len());
        self.0.rotate_left(shift);
        moves
    }
}

fn start(plan: &Plan, policy: impl TieringPolicy + 'static) -> Simulation<Machine> {
    let mut simulation = build::one_server(plan.server().expect("a server"));
    simulation.parts_mut()[0].0.attach_policy(Box::new(policy)).expect("attached");
    simulation
}

fn summary(plan: &Plan, policy: impl TieringPolicy + 'static) -> Value {
    let mut run = Run::new(plan, Options::default());
    run.attach_policy("server", Box::new(policy)).expect("attached");
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

fn rate(summary: &Value) -> f64 {
    summary["workloads"][0]["throughput_gb_per_s"].as_f64().expect("a rate")
}

fn tiering(simulation: &mut Simulation<Machine>) -> &Tiering {
    settled(simulation).first::<Tiering>().expect("pages migrate")
}

#[test]
fn pages_that_stay_change_nothing() {
    let stays = rate(&summary(&plan(SERVER, &[]), All { node: 1, each: 8 }));
    let alone = SERVER.split("[workload.b]").next().expect("a part").to_owned()
        + "[run]\nwarmup = \"100 us\"\nduration = \"100 us\"\n";
    let mut run = Run::new(&plan(&alone, &[]), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    assert!((stays - rate(&run.report().summary)).abs() < 1e-9);
}

#[test]
fn pages_that_have_moved_are_as_fast_as_if_they_had_begun_there() {
    let moved = summary(&plan(SERVER, &["run.warmup=1 ms"]), All { node: 0, each: 8 });
    assert_eq!(moved["tiering"][0]["local_pages_end"].as_u64(), Some(32));
    assert_eq!(moved["tiering"][0]["moved_to_local"].as_u64(), Some(0), "before the window");
    let local = summary(&plan(SERVER, &["workload.a.memory=node:0"]), All { node: 0, each: 8 });
    assert!((rate(&moved) / rate(&local) - 1.0).abs() < 0.02, "{} and {} GB/s", rate(&moved), rate(&local));
}

#[test]
fn a_move_takes_the_shootdown_and_the_copy() {
    let moves = |overrides: &[&str]| {
        let plan =
            plan(SERVER, &[&["run.warmup=0 ns", "workload.a.gap=10 us", "workload.b.period=1 us"], overrides].concat());
        let summary = summary(&plan, All { node: 0, each: 32 });
        summary["tiering"][0]["moved_to_local"].as_u64().expect("a count")
    };
    // With one LFB entry lines are copied one after the other: 64 loads behind the link, and 64 stores.
    let one = ["core.lfb.entries=1", "core.lfb.refill=0 ns", "core.lfb.refill_jitter=0"];
    let slow = moves(&[&one[..], &["workload.b.shootdown=0 ns"]].concat());
    assert!((4..=8).contains(&slow), "{slow} pages in 99 us, each of 64 x (200 + 90 + 30) ns at least");
    let shot = moves(&["workload.b.shootdown=9 us"]);
    assert!((9..=10).contains(&shot), "{shot} pages in 99 us, each of 9 us and 1 us for its copy");
    assert!(moves(&[]) > 25);
}

#[test]
fn a_core_that_needs_a_page_waits_for_it() {
    // One page, which moves to and fro all the time: the core has it only in between.
    let one = ["workload.a.cores=0-0", "workload.a.working_set=4 KiB", "workload.b.shootdown=50 us"];
    let stays = rate(&summary(&plan(SERVER, &one), All { node: 1, each: 1 }));
    let moves = rate(&summary(&plan(SERVER, &one), Any(vec![0, 1])));
    assert!(moves < 0.25 * stays, "{moves} of {stays} GB/s");
}

#[test]
fn the_socket_has_room_for_its_share_alone() {
    for pages in [0, 1, 31, 32] {
        let local = format!("workload.b.local={} KiB", (pages * 4).max(4));
        let summary = summary(&plan(SERVER, &["run.warmup=1 ms", &local]), All { node: 0, each: 32 });
        assert_eq!(summary["tiering"][0]["local_pages_end"].as_u64(), Some(pages.max(1)));
        assert_eq!(summary["tiering"][0]["refused"].as_u64() > Some(0), pages < 32);
    }
}

#[test]
fn a_run_without_its_policy_is_refused() {
    let run = Run::new(&plan(SERVER, &[]), Options::default());
    let error = run.check_controllers().expect_err("no policy");
    assert_eq!((error.code.name(), error.host.as_str()), ("requires-key", "server"));
    let stays = Run::new(&plan(SERVER, &["workload.b.policy=none"]), Options::default());
    assert_eq!(stays.check_controllers(), Ok(()));
    let alone = plan("[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n", &[]);
    let refused: Result<(), HostError> =
        Run::new(&alone, Options::default()).attach_policy("server", Box::new(Any(Vec::new())));
    assert_eq!(refused.expect_err("no pages migrate").code.name(), "requires-key");
}

#[test]
fn a_migration_resumes_from_a_checkpoint() {
    let plan = plan(SERVER, &[]);
    let mut whole = start(&plan, All { node: 0, each: 2 });
    run_to(&mut whole, us(40));
    let bytes = checkpoint::write("a", &whole).expect("it gives its state");
    let mut resumed: Simulation<Machine> = checkpoint::read("a", &bytes).expect("a checkpoint");
    resumed.parts_mut()[0].0.attach_policy(Box::new(All { node: 1, each: 0 })).expect("attached again");
    run_to(&mut whole, us(90));
    run_to(&mut resumed, us(90));
    assert!(tiering(&mut whole).local_pages() > 0);
    assert_eq!(tiering(&mut whole).counts(), tiering(&mut resumed).counts());
    let stateless = start(&plan, Any(Vec::new()));
    assert!(checkpoint::write("a", &stateless).is_err());
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn nothing_gets_lost_while_pages_move(
        moves in prop::collection::vec(0_u32..200, 0..12),
        (reads, copiers, place) in (prop::sample::select(vec!["0", "0.5", "1"]), 1_u32..3, 0_u32..3),
        (ahead, lfb, until_us) in (0_u32..6, 1_u32..12, 1_u64..150),
    ) {
        let memory = ["node:0", "node:1", "interleave"][place as usize];
        let overrides = [
            format!("workload.a.reads={reads}"),
            format!("workload.a.memory={memory}"),
            format!("workload.b.cores={}-7", 8 - copiers),
            format!("prefetch.stream_credits={ahead}"),
            format!("core.lfb.entries={lfb}"),
        ];
        let plan = plan(SERVER, &overrides.iter().map(String::as_str).collect::<Vec<_>>());
        let mut simulation = start(&plan, Any(moves));
        run_to(&mut simulation, us(until_us));
        assert_books(settled(&mut simulation));
        assert_all_move(&mut simulation);
        drain(&mut simulation);
        assert_books(settled(&mut simulation));
        assert_little(settled(&mut simulation));
        assert_eq!(tiering(&mut simulation).moving(), 0);
    }
}
