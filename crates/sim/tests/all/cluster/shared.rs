//! Tests cores that several engines share: applications, streams, and the network stack of the host.

use crate::cluster::lab::{drain, plan, run, servers, settle};
use crate::common::laws::assert_books;
use crate::common::{domains, us};
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_model::core::{Core, Engine, Executor};
use hostnet_model::os::{CoreTimeKind, NetStack};
use hostnet_model::Machine;
use hostnet_model::World;
use hostnet_sim::build::world;

/// Returns a cluster with a server whose core 0 receives a flow and does other work.
fn receiver(work: &str, traffic: &str) -> String {
    format!(
        "[host.receiver]\npreset = \"cascade-lake-hostcc\"\n{work}\n[host.sender]\nkind = \"endpoint\"\n\
         [network]\nmtu = \"4096 B\"\n\
         [flow.f]\nfrom = \"sender\"\nto = \"receiver\"\nto_cores = \"0\"\n{traffic}\n"
    )
}

/// Caches with a small LLC, which is quickly filled before time begins.
macro_rules! caches {
    () => {
        "cache = { enabled = true, llc = { sets = 128 } }\n"
    };
}

const BULK: &str = "kind = \"bulk\"";
const REDIS: &str =
    concat!(caches!(), "[host.receiver.workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0\"\nkeys = 4096\n");
const PAGERANK: &str =
    concat!(caches!(), "[host.receiver.workload.rank]\nkind = \"app\"\napp = \"pagerank\"\ncores = \"0\"\n");
const STREAM: &str = "[host.receiver.workload.s]\nkind = \"stream\"\ncores = \"0\"\nreads = 0.5\n";

const DISK: &str =
    "[host.receiver.workload.disk]\nkind = \"fio\"\njob = \"quadrant.fio\"\ncores = \"0\"\nconsume = true\n";
/// Keys of a flow that has not started yet.
const LATER: &str = "kind = \"bulk\"\nstart = \"9 ms\"";

/// Returns core 0 of the receiver.
fn core(simulation: &Simulation<World>) -> &Core {
    servers(simulation)[0].first().expect("a server has cores")
}

fn had(simulation: &Simulation<World>, now: Time) -> Vec<u64> {
    let core = core(simulation);
    (0..core.engines().len()).map(|engine| core.run_ps(engine, now)).collect()
}

/// Returns the lines that the LFB entries have fetched for each workload.
fn lines(machine: &Machine) -> Vec<u64> {
    let core: &Core = machine.first().expect("a server has cores");
    core.read().classes().iter().map(|usage| usage.residence().count()).collect()
}

#[test]
fn sharers_of_a_core_get_at_most_all_of_it_and_progress() {
    for work in [REDIS, PAGERANK, STREAM] {
        let plan = plan(&receiver(work, BULK));
        let mut simulation = run(&plan, 1500);
        let now = settle(&mut simulation);
        let had = had(&simulation, now);
        assert_eq!(had.len(), 2);
        assert!(had.iter().sum::<u64>() <= now.ps(), "{had:?} of {}: {work}", now.ps());
        assert!(had.iter().all(|had| *had > now.ps() / 10), "{had:?} of {}: {work}", now.ps());
        let machine = servers(&simulation)[0];
        assert_books(machine);
        assert!(lines(machine).iter().all(|lines| *lines > 500), "{:?}: {work}", lines(machine));
        let waited: Vec<u64> = (0..2).map(|engine| core(&simulation).waited_ps(engine, now)).collect();
        assert!((0..2).all(|engine| had[engine] + waited[engine] <= now.ps()), "{had:?} and {waited:?}: {work}");
        if work == STREAM {
            assert!(waited[0] >= had[1], "it always has something to do: {waited:?} of {had:?}");
        }
        let stack: &NetStack = machine.engines().next().expect("a flow ends there");
        let busy = now.ps() - stack.times().spent_ps(CoreTimeKind::Idle, now);
        assert_eq!(busy, had[1], "the sockets are busy while they have the core: {work}");
        assert!(stack.sockets().all(|(_, counts, _, _)| counts.read_bytes > 1 << 20), "{work}");
    }
}

#[test]
fn a_thread_executes_no_more_than_what_it_had_of_the_core() {
    let plan = plan(&receiver(REDIS, BULK));
    let alone = plan_of_redis_alone();
    let share = |plan: &hostnet_config::Plan| {
        let mut simulation = run(plan, 1200);
        let now = settle(&mut simulation);
        let thread: &Executor = servers(&simulation)[0].engines().next().expect("Redis runs");
        let had = if core(&simulation).engines().len() > 1 { had(&simulation, now)[0] } else { now.ps() };
        thread.operations().0 as f64 / had as f64
    };
    let (shared, alone) = (share(&plan), share(&alone));
    // Other lines in the LFB and in memory slow it down; it cannot become faster.
    assert!(shared < 1.02 * alone && shared > 0.5 * alone, "{shared} and {alone} operations per ps of its own");
}

fn plan_of_redis_alone() -> hostnet_config::Plan {
    plan(&receiver(REDIS, BULK).replace("to_cores = \"0\"", "to_cores = \"1\""))
}

#[test]
fn a_server_with_shared_cores_drains() {
    let sized = format!("{BULK}\nbytes = \"2 MB\"");
    for work in [REDIS, PAGERANK, STREAM] {
        let mut simulation = run(&plan(&receiver(work, &sized)), 700);
        drain(&mut simulation);
        let machine = servers(&simulation)[0];
        assert_books(machine);
        assert!(domains(machine).iter().filter(|(name, ..)| name.contains("LFB")).all(|(_, _, lfb)| lfb.in_use() == 0));
        let free = core(&simulation).free_entries();
        assert_eq!(free, core(&simulation).lfb().capacity(), "every entry may be allocated again: {work}");
    }
}

#[test]
fn an_answer_does_not_wait_for_a_thread_that_computes() {
    let rpc = "kind = \"rpc\"\nrequest = \"1 kB\"\nresponse = \"1 kB\"\n";
    let answers = |work: &str| {
        let simulation = run(&plan(&receiver(work, rpc)), 2000);
        let stack: &NetStack = servers(&simulation)[0].engines().next().expect("a flow ends there");
        let counts = stack.sockets().map(|(_, counts, _, _)| (counts.packets, counts.delivered)).collect::<Vec<_>>();
        counts[0]
    };
    let (packets, delivered) = answers(PAGERANK);
    assert!(packets > 10, "{packets} packets");
    assert!(packets - delivered <= 1, "the kernel sees packets at once: {packets}, {delivered}");
    assert!(packets <= answers("").0, "but answers wait for their turn");
}

#[test]
fn two_threads_have_the_same_share_of_a_core() {
    let second = PAGERANK.replace(caches!(), "").replace("rank", "rang").replace("pagerang", "pagerank");
    let plan = plan(&receiver(&format!("{PAGERANK}{second}"), LATER));
    let mut simulation = run(&plan, 2000);
    let now = settle(&mut simulation);
    let had = had(&simulation, now);
    assert_eq!(had.len(), 3);
    assert!(matches!(core(&simulation).engines(), [Engine::Executor(_), Engine::Executor(_), Engine::NetStack(_)]));
    assert!(had[0] + had[1] <= now.ps() && had[0] + had[1] > now.ps() * 99 / 100, "{had:?}");
    assert!(had[0].abs_diff(had[1]) <= 100_000_000, "a slice at most lies between them: {had:?}");
}

/// The first blocks of 8 MB can be read after about 2 ms.
#[test]
fn storage_has_its_turn_beside_a_stream_that_fills_the_lfb() {
    let work = format!("{}ssd.count = 4\n{STREAM}{DISK}", caches!()).replace("reads = 0.5", "pattern = \"random\"");
    let plan = plan(&receiver(&work, LATER));
    let had = |until_us| {
        let mut simulation = run(&plan, until_us);
        let now = settle(&mut simulation);
        had(&simulation, now)
    };
    let (before, after) = (had(4000), had(6000));
    let storage = (after[0] - before[0]) as f64 / 2e9;
    assert!((0.4..0.6).contains(&storage), "{before:?}, {after:?}");
}

#[test]
fn a_stream_that_waits_for_its_time_leaves_the_lfb_to_others() {
    let work = STREAM.replace("reads = 0.5", "gap = \"100 us\"");
    let simulation = run(&plan(&receiver(&work, LATER)), 1050);
    let lfb = core(&simulation).lfb();
    assert_eq!((core(&simulation).free_entries(), lfb.in_use()), (lfb.capacity(), 0));
}

#[test]
fn a_checkpoint_of_a_shared_core_goes_on_as_if_nothing_had_been() {
    let plan = plan(&receiver(REDIS, BULK));
    let mut simulation = world(&plan.cluster);
    simulation.run_until(us(333), |_| true);
    let bytes = checkpoint::write("", &simulation).expect("a simulation can be written");
    let mut again: Simulation<World> = checkpoint::read("", &bytes).expect("what was written");
    simulation.run_until(us(700), |_| true);
    again.run_until(us(700), |_| true);
    let state =
        |simulation: &Simulation<World>| checkpoint::write("", simulation).expect("a simulation can be written");
    assert!(state(&simulation) == state(&again));
}
