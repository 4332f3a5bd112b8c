//! Tests of a core that works for a service. Events stand for the other cores; the core itself is number 0.

use super::rig::*;
use crate::line::Ecn;
use crate::os::{CoreTimeKind, ServiceWiring};
use crate::params::{Distribution, FirstArrival, ServiceParams, StackParams, Traffic};
use crate::part::{Chore, Payload};
use hostnet_kernel::{ComponentId, Time};

const OTHER: ComponentId = ComponentId(1);
const THIRD: ComponentId = ComponentId(3);
/// Delay from one core to another, in ps.
const TO_CORE: u64 = 100_000;

fn service(time_us: u64, reads: u8) -> ServiceParams {
    ServiceParams {
        number: 0,
        interval_ps: Distribution::Constant(US),
        request_bytes: Distribution::Constant(100),
        response_bytes: Distribution::Constant(1),
        first: FirstArrival::Interval,
        burst: 1,
        spacing_ps: 0,
        verb: *b"GE",
        reads,
        read_ps: 80 * US,
        time_ps: Distribution::Constant(time_us * US),
        workers: 9,
        in_flight: 1,
        seed: 5,
    }
}

/// Creates a core with a connection of a service, and two other cores, of which those in `known` are known to be busy.
fn serving(stack: StackParams, service: &ServiceParams, workers: u32, known: &[u16]) -> Run {
    let socket = socket(0, Traffic::Service(Box::new(service.clone())), false);
    let wiring =
        ServiceWiring { cores: vec![ComponentId(0), OTHER, THIRD], own: 0, services: vec![(service.clone(), workers)] };
    let mut run = rig(net_core(stack, vec![socket]).with_services(wiring), vec![None]);
    for &core in known {
        inject(&mut run, 1, Payload::Idle { core, idle: false });
    }
    run
}

/// Sends `count` requests, numbered from `first` on, which arrive at the same time.
fn requests(run: &mut Run, at: u64, first: u64, count: u32) {
    inject_packets(run, at, &[(data(first * 100, count * 100), Ecn::Capable)]);
}

/// Returns the slots of the pieces of work that core `to` was given.
fn given(run: &mut Run, to: ComponentId) -> Vec<u32> {
    let notices = &world(run).far.notices;
    let chores = notices.iter().filter(|(_, core, _)| *core == to).filter_map(|(_, _, payload)| match payload {
        Payload::Chore { chore, .. } => Some(chore.slot),
        _ => None,
    });
    chores.collect()
}

/// Returns the announcements of core 0 to core `to`: true for idle.
fn said(run: &mut Run, to: ComponentId) -> Vec<bool> {
    let notices = &world(run).far.notices;
    let words = notices.iter().filter(|(_, core, _)| *core == to).filter_map(|(_, _, payload)| match payload {
        Payload::Idle { core: 0, idle } => Some(*idle),
        _ => None,
    });
    words.collect()
}

fn served(run: &mut Run) -> u64 {
    world(run).core.services().map(|(.., counters)| counters.served).sum()
}

#[test]
fn concurrent_requests_are_given_to_idle_cores() {
    let mut run = serving(stack(), &service(50, 0), 9, &[]);
    requests(&mut run, 10 * US, 0, 4);
    run_us(&mut run, 20);
    assert_eq!(world(&mut run).core.given(), 2, "one stays, two go, and no other core is left for the last");
    assert_eq!((given(&mut run, OTHER), given(&mut run, THIRD)), (vec![1], vec![2]));
    run_us(&mut run, 1000);
    assert_eq!(served(&mut run), 2);
    inject(&mut run, 1001 * US, Payload::Served(1));
    inject(&mut run, 1002 * US, Payload::Served(2));
    run_us(&mut run, 1010);
    assert_eq!(served(&mut run), 4);
}

#[test]
fn a_request_that_arrives_at_a_busy_core_is_given_to_an_idle_one() {
    let mut run = serving(stack(), &service(500, 0), 9, &[1]);
    requests(&mut run, 10 * US, 0, 1);
    requests(&mut run, 100 * US, 1, 1);
    run_us(&mut run, 200);
    assert_eq!((given(&mut run, OTHER), given(&mut run, THIRD)), (vec![], vec![1]));
}

#[test]
fn a_core_that_becomes_idle_gets_waiting_work() {
    let mut run = serving(stack(), &service(500, 0), 9, &[1, 2]);
    requests(&mut run, 10 * US, 0, 3);
    inject(&mut run, 100 * US, Payload::Idle { core: 2, idle: true });
    inject(&mut run, 101 * US, Payload::Idle { core: 2, idle: true });
    inject(&mut run, 102 * US, Payload::Idle { core: 1, idle: true });
    run_us(&mut run, 200);
    assert_eq!((given(&mut run, OTHER), given(&mut run, THIRD)), (vec![], vec![1, 2]), "what is under way stays");
}

#[test]
fn workers_bound_the_requests_in_progress() {
    let mut run = serving(stack(), &service(50, 1), 2, &[1, 2]);
    requests(&mut run, 10 * US, 0, 5);
    run_us(&mut run, 100);
    let core = &world(&mut run).core;
    let (_, most, waiting, counters) = core.services().next().expect("a service");
    assert_eq!((most, waiting, counters.arrived, counters.wait.count()), (2, 3, 5, 2));
    run_us(&mut run, 10_000);
    assert_eq!(served(&mut run), 5);
}

#[test]
fn an_answer_does_not_wait_for_the_work_on_another_request() {
    let mut run = serving(stack(), &service(500, 0), 9, &[]);
    world(&mut run).far.keep_sent = true;
    let chore = Chore { home: 2, reads: 0, service: 0, slot: 6, work_ns: 500_000 };
    inject(&mut run, 10 * US, Payload::Chore { chore, read: false });
    requests(&mut run, 20 * US, 0, 1);
    inject(&mut run, 100 * US, Payload::Served(0));
    run_us(&mut run, 1000);
    assert_eq!(given(&mut run, OTHER), [0]);
    let sent = &world(&mut run).far.sent;
    let answer = sent.iter().find(|(_, segment)| segment.bytes > 0).expect("it is answered").0;
    assert!((100 * US..110 * US).contains(&answer.ps()), "{answer:?}");
    let spent = world(&mut run).core.times().spent_ps(CoreTimeKind::Serve, Time::from_ps(1000 * US));
    assert_eq!(spent, 500 * US, "and all of the work is done");
}

#[test]
fn of_two_pieces_given_at_once_one_moves_on_to_an_idle_core() {
    let mut run = serving(stack(), &service(50, 0), 9, &[1]);
    for (slot, home) in [(6, 1), (7, 2)] {
        let chore = Chore { home, reads: 0, service: 0, slot, work_ns: 25_000 };
        inject(&mut run, 10 * US, Payload::Chore { chore, read: false });
    }
    run_us(&mut run, 20);
    assert_eq!((given(&mut run, OTHER), given(&mut run, THIRD)), (vec![], vec![7]));
}

#[test]
fn given_work_completes_after_its_read_and_notifies_its_home() {
    let mut run = serving(stack(), &service(50, 1), 9, &[]);
    let chore = Chore { home: 1, reads: 1, service: 0, slot: 6, work_ns: 25_000 };
    inject(&mut run, 10 * US, Payload::Chore { chore, read: false });
    run_us(&mut run, 1000);
    let notices = &world(&mut run).far.notices;
    // The work arrives at a sleeping core, is executed, waits for its read of storage, and is executed to its end.
    let done = (10 + 25 + 80 + 25) * US + TO_CORE;
    assert!(notices.contains(&(Time::from_ps(done), OTHER, Payload::Served(6))), "{notices:?}");
    assert_eq!(said(&mut run, THIRD), [false, true, false, true]);
    let spent = world(&mut run).core.times().spent_ps(CoreTimeKind::Serve, Time::from_ps(1000 * US));
    assert_eq!(spent, 50 * US);
}

#[test]
fn a_core_given_work_of_no_length_announces_that_it_is_idle() {
    let mut run = serving(stack(), &service(0, 0), 9, &[]);
    let chore = Chore { home: 1, reads: 0, service: 0, slot: 6, work_ns: 0 };
    inject(&mut run, 10 * US, Payload::Chore { chore, read: false });
    run_us(&mut run, 100);
    assert_eq!(said(&mut run, OTHER), [false, true], "who gave it knows again that there is nothing to do here");
}

#[test]
fn the_kernel_preempts_a_request_whose_work_resumes_afterwards() {
    let mut run = serving(stack(), &service(50, 0), 9, &[]);
    let chore = Chore { home: 1, reads: 0, service: 0, slot: 6, work_ns: 50_000 };
    inject(&mut run, 10 * US, Payload::Chore { chore, read: false });
    // An acknowledgement arrives during the work.
    inject_packets(&mut run, 30 * US, &[(data(0, 0), Ecn::Capable)]);
    run_us(&mut run, 100);
    let kernel = world(&mut run).core.times().spent_ps(CoreTimeKind::Softirq, Time::from_ps(100 * US));
    assert!(kernel >= stack().packet_ps, "it was worked on");
    let notices = &world(&mut run).far.notices;
    let done = notices.iter().find(|(.., payload)| *payload == Payload::Served(6)).expect("it is done").0;
    assert_eq!(done.ps(), 60 * US + kernel + TO_CORE);
}
