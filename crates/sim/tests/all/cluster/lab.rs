//! Builds clusters from text, and runs them.

use crate::common::us;
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::nic::Nic;
use hostnet_model::Machine;
use hostnet_model::World;
use hostnet_sim::build::world;
use hostnet_sim::sample::{self, PoolGroup};
use hostnet_sim::{Options, Run};
use std::path::Path;

/// Time in which a world must drain, in us: many retransmission timeouts, each twice as long as the one before.
const DRAIN_US: u64 = 1_000_000_000;

/// Returns the plan of a valid TOML text.
pub fn plan(text: &str) -> Plan {
    let base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    resolve(&Input { text, format: Format::Toml, file: "test.toml", base_dir: &base_dir, overrides: &[] })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the world of a plan after `until_us`.
pub fn run(plan: &Plan, until_us: u64) -> Simulation<World> {
    let mut simulation = world(&plan.cluster);
    simulation.run_until(us(until_us), |_| true);
    simulation
}

/// Returns the fabric of a world.
pub fn fabric(simulation: &Simulation<World>) -> &hostnet_model::ether::Fabric {
    let fabric = simulation.worlds().find_map(|world| match world {
        World::Fabric(fabric) => Some(&**fabric),
        World::Server(_) | World::Remote => None,
    });
    fabric.expect("there is a fabric")
}

/// Returns the servers of a world, in their order.
pub fn servers(simulation: &Simulation<World>) -> Vec<&Machine> {
    let servers = simulation.worlds().filter_map(|world| match world {
        World::Server(machine) => Some(&**machine),
        World::Fabric(_) | World::Remote => None,
    });
    servers.collect()
}

/// Returns the servers of a world, mutably.
pub fn servers_mut(simulation: &mut Simulation<World>) -> Vec<&mut Machine> {
    let servers = simulation.parts_mut().iter_mut().filter_map(|(world, _)| match world {
        World::Server(machine) => Some(&mut **machine),
        World::Fabric(_) | World::Remote => None,
    });
    servers.collect()
}

/// Returns the NIC of a server.
pub fn nic(machine: &Machine) -> &Nic {
    machine.first().expect("a server on a network has a NIC")
}

/// Brings the statistics of all parts of a world up to now, and returns the time.
pub fn settle(simulation: &mut Simulation<World>) -> Time {
    let now = simulation.progress().time;
    for (world, _) in simulation.parts_mut() {
        match world {
            World::Server(machine) => sample::settle(machine, now),
            World::Fabric(fabric) => fabric.settle(now),
            World::Remote => {}
        }
    }
    now
}

/// Returns true if nothing is in flight or waits: requests, packets, segments, bytes of connections or on the way to
/// one, credits.
fn is_empty(simulation: &Simulation<World>) -> bool {
    let streams = crate::cluster::stats::streams(simulation).iter().all(|end| {
        let sent = end.connection.counters().bytes_sent;
        let copied = end.application.written_bytes() == sent;
        copied && end.connection.unacknowledged() == 0 && end.connection.readable() == 0
    });
    let datagrams = crate::cluster::stats::datagrams(simulation).iter().all(|end| {
        let counts = end.application.counts();
        end.counts.is_none_or(|own| own.segments == counts.received && own.sent == counts.sent)
    });
    let parts = simulation.worlds().all(|world| match world {
        World::Fabric(fabric) => fabric.packets().is_empty(),
        World::Remote => false,
        World::Server(machine) => {
            let mut credits = crate::common::domains(machine).into_iter();
            machine.requests().is_empty()
                && machine.packets().is_empty()
                && credits.all(|(_, group, domain)| group == PoolGroup::Wpq || domain.in_use() == 0)
        }
    });
    streams && datagrams && parts
}

/// Stops all sources and runs the world until it is empty.
pub fn drain(simulation: &mut Simulation<World>) {
    drain_by(simulation, |simulation, until| {
        simulation.run_until(until, |_| true);
    });
}

/// Like [`drain`], but `advance` runs the world up to a time.
pub fn drain_by(simulation: &mut Simulation<World>, mut advance: impl FnMut(&mut Simulation<World>, Time)) {
    simulation.parts_mut().iter_mut().for_each(|part| part.0.stop_sources());
    let mut step_us = 50;
    let end = simulation.progress().time + DRAIN_US * 1_000_000;
    while !is_empty(simulation) {
        let now = simulation.progress().time;
        assert!(now < end, "the world does not drain: {}", left(simulation));
        advance(simulation, now + step_us * 1_000_000);
        step_us = (step_us * 2).min(100_000);
    }
    settle(simulation);
}

/// Asserts that a run has the same result on one to three threads, and from a checkpoint at `at_ps`.
pub fn assert_same_on_threads_and_from_a_checkpoint(plan: &Plan, at_ps: u64) {
    let result = |run: &mut Run| {
        assert_eq!(run.run(|_| true), Ok(true));
        run.report().result_hash
    };
    let expected = result(&mut Run::new(plan, Options::default()));
    for threads in 1..=3 {
        let options = Options { threads, checkpoint_at_ps: at_ps, ..Options::default() };
        let mut first = Run::new(plan, options);
        assert_eq!(result(&mut first), expected, "{threads} threads");
        let checkpoint = first.checkpoint().expect("it was taken");
        let mut second = Run::resume(plan, options, checkpoint).expect("it can be read");
        assert_eq!(result(&mut second), expected, "{threads} threads, from a checkpoint");
    }
}

/// Describes what is left in a world.
fn left(simulation: &Simulation<World>) -> String {
    let mut left = vec![format!("{} packets in the fabric", fabric(simulation).packets().len())];
    for machine in servers(simulation) {
        left.push(format!("{} requests, {} packets", machine.requests().len(), machine.packets().len()));
        let held = crate::common::domains(machine).into_iter().filter(|(_, _, domain)| domain.in_use() > 0);
        left.extend(held.map(|(name, _, domain)| format!("{name}: {}", domain.in_use())));
    }
    for end in crate::cluster::stats::streams(simulation) {
        let connection = end.connection;
        left.push(format!(
            "flow {}: {} bytes out, {} to read",
            end.flow,
            connection.unacknowledged(),
            connection.readable()
        ));
    }
    left.join("\n")
}
