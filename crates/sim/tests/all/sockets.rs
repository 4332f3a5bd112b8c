//! Tests servers of several sockets: each is built like the first, and has its own memory and caches.

use crate::common::laws::{assert_all_move, assert_books, assert_little, drain, run_to};
use crate::common::{counters, example, settled, us, QUADRANT_3};
use hostnet_config::Plan;
use hostnet_kernel::{Simulation, Time};
use hostnet_model::params::{ServerParams, SocketParams, Workload, WorkloadKind};
use hostnet_model::Machine;
use hostnet_sim::build;

const CACHED: [&str; 4] =
    ["cache.enabled=true", "cache.l2.sets=64", "cache.llc.sets=64", "workload.stream.working_set=4 MiB"];

/// Returns a server with cores that store while drives are read.
fn server(overrides: &[&str]) -> ServerParams {
    let plan: Plan = example(QUADRANT_3, overrides);
    plan.server().expect("a server").clone()
}

/// Returns the workload on the cores and drives that follow those of a socket.
fn after(socket: &SocketParams, workload: &Workload) -> Workload {
    let mut kind = workload.kind.clone();
    match &mut kind {
        WorkloadKind::Stream(stream) => stream.cores.iter_mut().for_each(|core| *core += socket.core.count),
        WorkloadKind::Fio(fio) => {
            for job in &mut fio.jobs {
                job.core += socket.core.count;
                job.ssd += socket.ssd.count;
            }
        }
        WorkloadKind::App(_) | WorkloadKind::Dma(_) | WorkloadKind::Tiering(_) | WorkloadKind::Network => {
            unreachable!("there is none")
        }
    }
    Workload { name: format!("{}-after", workload.name), kind, ..workload.clone() }
}

/// Returns the server with a second socket like its first, and with its workloads on the second one.
fn on_the_second(server: &ServerParams) -> ServerParams {
    let socket = server.socket();
    let workloads = server.workloads.iter().map(|workload| after(socket, workload)).collect();
    ServerParams { sockets: vec![socket.clone(); 2], workloads, ..server.clone() }
}

/// Returns the server twice: the first workloads on one socket, the second ones on the other.
fn doubled(server: &ServerParams) -> ServerParams {
    let second = on_the_second(server);
    let workloads = [server.workloads.clone(), second.workloads.clone()].concat();
    ServerParams { workloads, ..second }
}

fn run(server: &ServerParams, until: Time) -> Simulation<Machine> {
    let mut simulation = build::one_server(server);
    run_to(&mut simulation, until);
    assert_books(settled(&mut simulation));
    simulation
}

/// Returns the lines that the channels of each socket have transferred.
fn moved(simulation: &mut Simulation<Machine>, sockets: usize, now: Time) -> Vec<u64> {
    let channels = counters(settled(simulation), now);
    let lines = |channel: &hostnet_model::memory::Counters| channel.reads.iter().chain(&channel.writes).sum::<u64>();
    let each: Vec<u64> = channels.iter().map(lines).collect();
    each.chunks(channels.len() / sockets).map(|channels| channels.iter().sum()).collect()
}

/// Asserts equal numbers of lines, up to the effect of different random numbers.
fn assert_alike(one: u64, other: u64) {
    assert!((one as f64 - other as f64).abs() <= 0.05 * one as f64, "{one} lines, and {other}");
}

#[test]
fn sockets_side_by_side_do_what_each_does_alone() {
    let now = us(200);
    for overrides in [&[][..], &CACHED] {
        let server = server(overrides);
        let [alone] = moved(&mut run(&server, now), 1, now)[..] else { panic!("a socket") };
        let mut simulation = run(&doubled(&server), now);
        let [first, second] = moved(&mut simulation, 2, now)[..] else { panic!("two sockets") };
        assert_eq!(alone, first, "the first socket does not notice the second");
        assert_alike(alone, second);
        assert_all_move(&mut simulation);
        drain(&mut simulation);
        assert_little(settled(&mut simulation));
    }
}

#[test]
fn workloads_on_the_second_socket_use_its_memory() {
    let now = us(200);
    for overrides in [&[][..], &CACHED] {
        let server = server(overrides);
        let [alone] = moved(&mut run(&server, now), 1, now)[..] else { panic!("a socket") };
        let mut simulation = run(&on_the_second(&server), now);
        let [first, second] = moved(&mut simulation, 2, now)[..] else { panic!("two sockets") };
        assert_eq!(first, 0, "no line of the socket where nothing runs");
        assert_alike(alone, second);
        let looked_up = settled(&mut simulation).caches().map(|caches| {
            caches.counts().classes().iter().map(|counts| counts.llc_lookups + counts.ddio_allocations).sum::<u64>()
        });
        let looked_up: Vec<u64> = looked_up.collect();
        assert!(looked_up.is_empty() || (looked_up[0] == 0 && looked_up[1] > 0), "{looked_up:?}");
    }
}

#[test]
fn a_server_in_bursts_has_all_its_sockets() {
    let server = doubled(&server(&[]));
    let bursts = build::coarse::bursts(&server, hostnet_model::params::LineSize::burst(1));
    assert_eq!(bursts.sockets[0], bursts.sockets[1]);
    assert_eq!(bursts.sockets[0].memory.pages.memory_bytes, server.sockets[0].memory.pages.memory_bytes / 2);
}
