//! Tests servers on a mesh: distances, full links, and that nothing else changes.

use crate::common;
use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::scenario::any_scenario;
use crate::common::{example, hash, settled, stream, us};
use hostnet_config::Plan;
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::mesh::{MeshLeg, MeshPort, StopSide};
use hostnet_model::params::{DieParams, ServerParams, Stop};
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::{self, PoolGroup};
use proptest::prelude::*;

/// Returns a die with parts at the stops that `place` returns, by kind and number.
fn die(server: &ServerParams, columns: u8, rows: u8, mut place: impl FnMut(u32, u32) -> Stop) -> DieParams {
    let socket = server.socket();
    let mut stops = |kind: u32, count: u32| (0..count).map(|number| place(kind, number)).collect::<Vec<Stop>>();
    let channels = socket.memory.map.channels * socket.memory.dram.subchannels;
    DieParams {
        columns,
        rows,
        cores: stops(0, socket.core.count),
        slices: stops(1, socket.cha.slices),
        channels: stops(2, channels),
        io: stops(3, 3),
        links: stops(4, socket.ssd.count),
        cycle_ps: 417,
        vertical_cycles: 1,
        horizontal_cycles: 2,
        line_cycles: 2,
        clusters: 1,
        chiplets: None,
    }
}

/// Returns the server of a plan on a die.
fn on(plan: &Plan, die: DieParams) -> ServerParams {
    let mut server = plan.server().expect("a server").clone();
    server.socket_mut().die = Some(die);
    server
}

fn run(server: &ServerParams, until: Time) -> Simulation<Machine> {
    let mut simulation = build::one_server(server);
    simulation.run_until(until, |_| true);
    simulation
}

/// Returns the mean residence of credits of a group, in ps.
fn latency_ps(machine: &Machine, group: PoolGroup) -> f64 {
    let (sum, count) = sample::domains(machine, group)
        .iter()
        .flat_map(|(_, domain): &(_, &Domain)| domain.classes())
        .map(|usage| (usage.residence().sum() as f64, usage.residence().count() as f64))
        .fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    sum / count
}

#[test]
fn nothing_changes_where_all_parts_are_at_one_stop() {
    let plan = example(common::QUADRANT_3, &[]);
    let server = plan.server().expect("a server");
    let at_one = die(server, 1, 1, |_, _| Stop { column: 0, row: 0 });
    let [without, with] = [server.clone(), on(&plan, at_one)].map(|server| {
        let mut simulation = run(&server, us(60));
        let machine = settled(&mut simulation);
        let read: Vec<String> =
            common::domains(machine).iter().map(|(name, _, domain)| format!("{name} {domain:?}")).collect();
        (read, common::counters(machine, us(60)).iter().map(|counters| format!("{counters:?}")).collect::<Vec<_>>())
    });
    assert_eq!(without, with);
}

#[test]
fn a_line_takes_what_its_parts_are_nearer_or_farther() {
    // A core with one miss at a time has no contention.
    let plan = stream("0", 1.0, &["core.lfb.entries=1", "core.to_cha=9 ns", "core.from_cha=9 ns"]);
    let core = &plan.server().unwrap().socket().core;
    for core_column in [0, 3, 7] {
        let place = |kind, number: u32| match kind {
            0 => Stop { column: if number == 0 { core_column } else { number as u8 }, row: 0 },
            1 => Stop { column: 4, row: 2 },
            2 => Stop { column: 6, row: 3 },
            _ => Stop { column: 0, row: 1 },
        };
        let server = on(&plan, die(plan.server().unwrap(), 8, 4, place));
        let die = server.socket().die.as_ref().unwrap();
        let way_ps = u64::from(die.route_cycles(die.cores[0], die.slices[0])) * die.cycle_ps;
        let expected_ps = core.to_cha_ps + core.from_cha_ps + 2 * way_ps - 2 * die.mean_ps(&die.cores, &die.slices);
        let mut simulation = run(&server, us(100));
        drain(&mut simulation);
        let machine = settled(&mut simulation);
        let found_ps = latency_ps(machine, PoolGroup::C2mRead) - latency_ps(machine, PoolGroup::ChaRead);
        assert!((found_ps - expected_ps as f64).abs() < 1e-3, "{core_column}: {found_ps} ps, expected {expected_ps}");
    }
}

#[test]
fn a_link_passes_a_line_in_so_many_cycles_and_no_more() {
    // All slices are behind one link, which a line occupies for 64 cycles.
    let plan = stream("0-7", 1.0, &[]);
    let place = |kind, number: u32| match kind {
        0 => Stop { column: 0, row: number as u8 },
        3 | 4 => Stop { column: 0, row: 0 },
        _ => Stop { column: 1, row: 3 },
    };
    let narrow = DieParams { line_cycles: 64, ..die(plan.server().unwrap(), 2, 8, place) };
    let line_ps = 64 * narrow.cycle_ps;
    let mut simulation = run(&on(&plan, narrow), us(200));
    let machine = settled(&mut simulation);
    let lines: u64 = common::counters(machine, us(200)).iter().flat_map(|counters| counters.reads.clone()).sum();
    let most = us(200).ps() / line_ps;
    assert!(lines <= most + 8 * 12, "{lines} lines of {most}");
    assert!(lines * 100 >= most * 97, "{lines} lines of {most}");
    let mesh = machine.meshes().next().expect("a mesh").1;
    let busiest = MeshPort::all(mesh.die()).map(|(port, ..)| mesh.counters().taken(port)).max().unwrap();
    let cycles = us(200).ps() / mesh.die().cycle_ps;
    assert!(busiest * 100 >= cycles * 97 && busiest <= cycles + 64 * 96, "{busiest} of {cycles} cycles");
}

#[test]
fn a_lone_line_waits_for_nobody() {
    let plan = stream("0", 1.0, &["core.lfb.entries=1"]);
    let place = |kind: u32, number: u32| Stop { column: ((kind * 5 + number * 3) % 6) as u8, row: (number % 5) as u8 };
    let mut simulation = run(&on(&plan, die(plan.server().unwrap(), 6, 5, place)), us(100));
    let counters = settled(&mut simulation).meshes().next().expect("a mesh").1.counters().clone();
    assert!(counters.leg(MeshLeg::CoreToCha, 0).messages > 100);
    for leg in MeshLeg::ALL {
        assert_eq!(counters.leg(leg, 0).waited_cycles, 0, "{leg:?}");
    }
}

/// Asserts that every message belongs to a line that a domain counts.
fn assert_messages(machine: &Machine, classes: usize) {
    let counters = machine.meshes().next().expect("a mesh").1.counters();
    let entered = |group, class| common::acquired(machine, group, class);
    for class in 0..classes {
        let of = |leg| counters.leg(leg, class).messages;
        let from_cores = entered(PoolGroup::C2mRead, class) + entered(PoolGroup::C2mWrite, class);
        let from_devices = entered(PoolGroup::P2mRead, class) + entered(PoolGroup::P2mWrite, class);
        let to_memory = entered(PoolGroup::ChaRead, class) + entered(PoolGroup::ChaWrite, class);
        assert_eq!([of(MeshLeg::CoreToCha), of(MeshLeg::ChaToCore)], [from_cores; 2], "class {class}: cores");
        assert_eq!([of(MeshLeg::IioToCha), of(MeshLeg::ChaToIio)], [from_devices; 2], "class {class}: devices");
        assert_eq!([of(MeshLeg::ChaToChannel), of(MeshLeg::ChannelToCha)], [to_memory; 2], "class {class}: memory");
    }
}

/// Asserts that the busy cycles of ports are those of the messages that passed.
fn assert_ports(machine: &Machine, now: Time) {
    let mesh = machine.meshes().next().expect("a mesh").1;
    let most = now.ps() / mesh.die().cycle_ps;
    for (port, ring, stop, side) in MeshPort::all(mesh.die()) {
        // Messages in flight have reserved cycles that lie ahead.
        let taken = mesh.counters().taken(port);
        assert!(taken <= most + 20_000, "{ring:?} {stop:?} {side:?}: {taken} of {most} cycles");
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn nothing_is_lost_on_any_die(
        scenario in any_scenario(),
        places in prop::collection::vec((0u8..7, 0u8..6), 64),
        shape in (1u8..=7, 1u8..=6),
        cycles in (0u32..4, 0u32..4, 1u32..40, 1u64..900),
        stop_ns in 500u64..5_000,
    ) {
        let plan = scenario.plan();
        let (columns, rows) = shape;
        let at = |number: u32| places[number as usize % places.len()];
        let place = |kind: u32, number: u32| {
            let (column, row) = at(kind * 17 + number);
            Stop { column: column % columns, row: row % rows }
        };
        let (vertical_cycles, horizontal_cycles, line_cycles, cycle_ps) = cycles;
        let die = DieParams {
            vertical_cycles, horizontal_cycles, line_cycles, cycle_ps,
            ..die(plan.server().unwrap(), columns, rows, place)
        };
        let cha = &plan.server().unwrap().socket().cha;
        let (most_ps, nearer_ps) =
            (cha.from_mc_ps.min(cha.write_ack_ps) - 2, die.nearer_ps(&die.channels, &die.slices));
        prop_assume!(nearer_ps <= most_ps);
        let server = on(&plan, die);
        let mut simulation = build::one_server(&server);
        let mut now = Time::from_ps(stop_ns * 1000 + 7);
        run_to(&mut simulation, now);
        assert_books(settled(&mut simulation));
        assert_all_move(&mut simulation);
        let bytes = checkpoint::write("", &simulation).expect("a simulation can be written");
        let mut again: Simulation<Machine> = checkpoint::read("", &bytes).expect("what was written");
        drain(&mut simulation);
        drain(&mut again);
        prop_assert_eq!(hash([settled(&mut simulation)]), hash([settled(&mut again)]), "a checkpoint changes nothing");
        now = simulation.progress().time;
        let machine = settled(&mut simulation);
        assert_books(machine);
        assert_little(machine);
        if machine.caches().next().is_none() {
            assert_messages(machine, server.workloads.len());
        }
        assert_ports(machine, now);
    }
}

#[test]
fn a_window_begins_with_empty_books() {
    let plan = stream("0-3", 0.5, &[]);
    let place = |kind: u32, number: u32| Stop { column: (number % 4) as u8, row: (kind % 4) as u8 };
    let mut simulation = run(&on(&plan, die(plan.server().unwrap(), 4, 4, place)), us(50));
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    machine.reset(scheduler.now());
    let mesh = machine.meshes().next().expect("a mesh").1;
    assert!(MeshPort::all(mesh.die()).all(|(port, ..)| mesh.counters().taken(port) == 0));
    assert!(MeshLeg::ALL.iter().all(|&leg| mesh.counters().leg(leg, 0).messages == 0));
}

#[test]
fn the_delays_of_the_configuration_hold_on_the_mean() {
    // Lines meet slices and channels one after the other, so a core at the mean distance has the mean latency.
    let plan = stream("0-7", 1.0, &["core.lfb.entries=1", "core.lfb.refill=300 ns", "run.duration=300 us"]);
    let place = |kind: u32, number: u32| match kind {
        0 => Stop { column: (number % 4) as u8, row: (number / 4) as u8 },
        1 => Stop { column: (number % 6) as u8, row: (number / 6) as u8 },
        2 => Stop { column: (number % 2 * 5) as u8, row: 2 },
        _ => Stop { column: number as u8, row: 3 },
    };
    let server = on(&plan, die(plan.server().unwrap(), 6, 4, place));
    let [flat, die] = [plan.server().unwrap(), &server].map(|server| {
        let mut simulation = run(server, us(600));
        latency_ps(settled(&mut simulation), PoolGroup::C2mRead)
    });
    assert!((die - flat).abs() < 0.01 * flat, "{die} ps on a die, {flat} without");
}

#[test]
fn a_cluster_keeps_its_lines_to_itself() {
    // Cores 0 to 3 are in the west, the others in the east; each cluster has nine slices and a channel.
    let plan = stream("0-7", 0.5, &[]);
    let place = |kind, number: u32| match kind {
        0 => Stop { column: (number / 4 * 5) as u8, row: (number % 4) as u8 },
        1 => Stop { column: (number / 9 * 3 + number % 3) as u8, row: (number % 9 / 3) as u8 },
        2 => Stop { column: (number * 5) as u8, row: 3 },
        _ => Stop { column: number as u8, row: 4 },
    };
    let one = die(plan.server().unwrap(), 6, 5, place);
    let two = DieParams { clusters: 2, ..one.clone() };
    let ways = [one, two].map(|die| {
        let clusters = die.clusters;
        let mut simulation = run(&on(&plan, die), us(100));
        let machine = settled(&mut simulation);
        let mesh = machine.meshes().next().expect("a mesh").1;
        let crossed: u64 = MeshPort::all(mesh.die())
            .filter(|(_, _, stop, side)| {
                (stop.column, *side) == (2, StopSide::East) || (stop.column, *side) == (3, StopSide::West)
            })
            .map(|(port, ..)| mesh.counters().taken(port))
            .sum();
        assert_eq!(crossed > 0, clusters == 1, "{clusters} clusters: {crossed} cycles between the halves");
        let leg = mesh.counters().leg(MeshLeg::CoreToCha, 0);
        leg.route_cycles as f64 / leg.messages as f64
    });
    assert!(ways[1] < 0.7 * ways[0], "{ways:?} cycles from a core to a slice");
}
