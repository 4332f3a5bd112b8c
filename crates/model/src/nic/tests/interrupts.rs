//! Tests of interrupts with a master timer, and of the announcements of NCAP.

use super::world::{arrive, bench, data, host, params, run, tell, transmit, Bench, NIC};
use crate::line::{Content, Packet};
use crate::nic::NcapWiring;
use crate::params::{Distribution, FirstArrival, NcapParams, ServiceParams};
use crate::part::{Payload, PowerEvent};
use crate::transport::tcp::Segment;
use hostnet_kernel::{ComponentId, Time};
use proptest::prelude::*;

const US: u64 = 1_000_000;
/// Period of the master timer, in ps.
const PERIOD: u64 = 50 * US;
/// Latency of an interrupt from the NIC to a core, in ps.
const TO_CORE: u64 = US;
/// Bytes of a request.
const BYTES: u64 = 100;

fn ncap() -> NcapParams {
    NcapParams {
        software: false,
        high_per_s: Some(40_000),
        low_per_s: 20_000,
        low_bits_per_s: 1_000_000_000,
        idle_ps: None,
        steps: 2,
        low_ps: 100 * US,
        period_ps: PERIOD,
        templates: vec![*b"GE"],
        rearm_by_frequency: false,
        packet_ps: 0,
    }
}

fn service(request_bytes: Distribution, verb: [u8; 2]) -> ServiceParams {
    ServiceParams {
        number: 0,
        interval_ps: Distribution::Constant(US),
        request_bytes,
        response_bytes: Distribution::Constant(1),
        first: FirstArrival::Interval,
        burst: 1,
        spacing_ps: 0,
        verb,
        reads: 0,
        read_ps: 0,
        time_ps: Distribution::Constant(0),
        workers: 1,
        in_flight: 1,
        seed: 5,
    }
}

/// Creates a NIC with a master timer.
fn timed() -> Bench {
    let mut bench = bench(params(), host());
    let world = &mut bench.parts_mut()[0].0;
    world.nic = world.nic.clone().with_master_timer(PERIOD);
    bench
}

/// Adds NCAP to [`timed`]. NCAP knows the requests of flow 0, and those of flow 1, which begin with another verb.
fn watching(params: NcapParams, request_bytes: Distribution) -> Bench {
    let mut bench = timed();
    let (world, scheduler) = &mut bench.parts_mut()[0];
    scheduler.send(NIC, NIC, params.period_ps, Payload::Power(PowerEvent::Wake));
    let flows = vec![Some(service(request_bytes.clone(), *b"GE")), Some(service(request_bytes, *b"PU")), None, None];
    world.nic = world.nic.clone().with_ncap(NcapWiring {
        params,
        core: ComponentId(0),
        interrupt_ps: TO_CORE,
        flows,
        fastest: 3,
    });
    bench
}

fn part(flow: u32, sequence: u64, bytes: u32) -> Packet {
    let content = Content::Tcp(Segment { sequence, bytes, ..Segment::default() });
    Packet { content, ..data(flow, bytes + 52) }
}

/// Returns a request of flow 0.
fn request(number: u64) -> Packet {
    part(0, number * BYTES, BYTES as u32)
}

fn constant() -> Distribution {
    Distribution::Constant(BYTES)
}

/// Sends requests at the times `at`, in ps, and returns the announcements until `until`.
fn announced(params: NcapParams, at: &[u64], until: u64) -> Vec<(u64, bool)> {
    let mut bench = watching(params, constant());
    for (number, &at) in (0..).zip(at) {
        arrive(&mut bench, at, request(number));
    }
    high_and_low(&mut bench, until)
}

/// Arms the interrupts of both queues after each expiry of the master timer.
fn rearm(bench: &mut Bench, until: u64) {
    for expiry in 1..=until / PERIOD {
        for queue in 0..2 {
            let back = Payload::Replenished { queue, count: 0, armed: true };
            tell(bench, expiry * PERIOD + 2 * US, back);
        }
    }
}

fn high_and_low(bench: &mut Bench, until: u64) -> Vec<(u64, bool)> {
    let told = run(bench, until).announced.iter();
    told.map(|&(time, event)| match event {
        PowerEvent::Announce { high } => (time.ps(), high),
        other => panic!("{other:?}"),
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn interrupts_go_out_when_the_master_timer_expires_and_no_packet_waits_longer(
        gaps in prop::collection::vec(1_u64..70_000_000, 1..40),
    ) {
        let mut bench = timed();
        let mut at = 0;
        for (number, gap) in (0_u32..).zip(&gaps) {
            at += gap;
            arrive(&mut bench, at, data(number % 2, 300));
        }
        rearm(&mut bench, at + 2 * PERIOD);
        let world = run(&mut bench, at + 10 * PERIOD);
        prop_assert_eq!(world.received.len(), gaps.len());
        for (time, _) in &world.interrupts {
            prop_assert_eq!((time.ps() - TO_CORE) % PERIOD, 0);
        }
        for (time, core, packet) in &world.received {
            // Descriptors return after 0.5 us, and the queue is armed again 2 us after each expiry.
            let by = (time.ps() + 500_001).next_multiple_of(PERIOD) + TO_CORE;
            let since = time.ps() / PERIOD * PERIOD;
            let told = world.interrupts.iter().any(|(at, queue)| {
                *queue == packet.queue && (since..=by).contains(&at.ps())
            });
            prop_assert!(told, "core {} was not told of what came at {} ps", core, time.ps());
        }
    }
}

/// Sends a single request at `at`. Returns the times of the interrupts, and the time at which the request was
/// delivered.
fn lone(at: u64, packet: Packet) -> (Vec<u64>, u64) {
    let mut bench = watching(NcapParams { idle_ps: Some(100 * US), ..ncap() }, constant());
    arrive(&mut bench, at, packet);
    let world = run(&mut bench, at + 200 * US);
    assert!(world.announced.is_empty());
    (world.interrupts.iter().map(|(time, _)| time.ps()).collect(), world.received[0].0.ps())
}

#[test]
fn a_request_interrupts_at_once_when_there_was_none_for_long_and_else_waits() {
    let (told, _) = lone(100 * US, request(0));
    assert_eq!(told, [150 * US + TO_CORE], "not longer than that");
    let (told, there) = lone(100 * US + 1, request(0));
    assert_eq!(told, [there - 1 + TO_CORE]);
    let (told, _) = lone(101 * US, part(0, 7, 100));
    assert_eq!(told, [150 * US + TO_CORE], "one that goes on is none");
    let (told, _) = lone(101 * US, part(0, 0, 0));
    assert_eq!(told, [150 * US + TO_CORE], "an acknowledgement is none");
    let (told, _) = lone(101 * US, part(1, 0, 100));
    assert_eq!(told, [150 * US + TO_CORE], "nor is one with another first word");
    let (told, _) = lone(101 * US, part(2, 0, 100));
    assert_eq!(told, [150 * US + TO_CORE], "nor what no service sends");
}

#[test]
fn every_interrupt_begins_the_wait_for_the_next_request_anew() {
    let mut bench = watching(NcapParams { idle_ps: Some(100 * US), ..ncap() }, constant());
    for (number, at) in [(0, 120 * US), (1, 130 * US), (2, 225 * US), (3, 351 * US)] {
        arrive(&mut bench, at, request(number));
    }
    rearm(&mut bench, 500 * US);
    let world = run(&mut bench, 500 * US);
    let there: Vec<u64> = world.received.iter().map(|(time, ..)| time.ps()).collect();
    let told: Vec<u64> = world.interrupts.iter().map(|(time, _)| time.ps()).collect();
    // The request of 130 us interrupts at 150 us. 225 us is less than 100 us later, and 351 us is 101 us after 250
    // us.
    assert_eq!(told, [there[0] - 1 + TO_CORE, 150 * US + TO_CORE, 250 * US + TO_CORE, there[3] - 1 + TO_CORE]);
}

#[test]
fn a_burst_is_announced_by_one_request_more_than_the_threshold() {
    // 40000 per second are two in 50 us.
    assert_eq!(announced(ncap(), &[10 * US, 20 * US], 99 * US), []);
    assert_eq!(announced(ncap(), &[10 * US, 20 * US, 49 * US], 99 * US), [(PERIOD + TO_CORE, true)]);
    let apart = [10 * US, 20 * US, 51 * US, 61 * US];
    assert_eq!(announced(ncap(), &apart, 149 * US), [], "three in 50 us, but not by one expiry");
    let never = NcapParams { high_per_s: None, ..ncap() };
    assert_eq!(announced(never, &[US, 2 * US, 3 * US, 4 * US], 1000 * US), []);
}

#[test]
fn the_end_of_a_burst_is_announced_step_by_step_while_little_is_asked_and_sent() {
    let burst = [10 * US, 20 * US, 30 * US];
    // The rate is low from 50 us on, and two steps of 100 us follow.
    let steps = [(PERIOD + TO_CORE, true), (150 * US + TO_CORE, false), (250 * US + TO_CORE, false)];
    assert_eq!(announced(ncap(), &burst, 2000 * US), steps);
    // 20000 per second are one in 50 us, which keeps the rate from being low.
    let with_one = [&burst[..], &[120 * US]].concat();
    let late = [(PERIOD + TO_CORE, true), (250 * US + TO_CORE, false), (350 * US + TO_CORE, false)];
    assert_eq!(announced(ncap(), &with_one, 2000 * US), late);
    // 6250 bytes in 50 us are 1 Gbit/s.
    for (bytes, expected) in [(6249, steps), (6250, late)] {
        let mut bench = watching(ncap(), constant());
        for (number, &at) in (0..).zip(&burst) {
            arrive(&mut bench, at, request(number));
        }
        for first in [true, false] {
            let bytes = if first { 3000 } else { bytes - 3000 };
            transmit(&mut bench, 110 * US, data(2, bytes));
        }
        assert_eq!(high_and_low(&mut bench, 2000 * US), expected, "{bytes} bytes");
    }
}

#[test]
fn requests_of_different_sizes_are_known_by_their_places() {
    let sizes = Distribution::Points(vec![(0, 60), (u32::MAX, 400)]);
    let of = service(sizes.clone(), *b"GE");
    for (threshold, expected) in [(19, vec![(PERIOD + TO_CORE, true)]), (20, vec![])] {
        let mut bench = watching(NcapParams { high_per_s: Some(threshold * 20_000), ..ncap() }, sizes.clone());
        let mut place = 0;
        for number in 0..20 {
            let bytes = of.request(number).request_bytes as u32;
            arrive(&mut bench, (1 + 2 * number) * US, part(0, place, bytes));
            // A packet between two boundaries is no request, and a retransmission counts once.
            arrive(&mut bench, (1 + 2 * number) * US + 1, part(0, place + 1, bytes - 1));
            arrive(&mut bench, (1 + 2 * number) * US + 2, part(0, place.saturating_sub(50), 20));
            place += u64::from(bytes);
        }
        assert_eq!(high_and_low(&mut bench, 99 * US), expected, "20 are more than 19");
    }
}

#[test]
fn a_driver_that_counts_has_a_timer_of_its_own_and_interrupts_by_the_master_timer_alone() {
    let soft = NcapParams { software: true, idle_ps: Some(US), period_ps: 70 * US, ..ncap() };
    let mut bench = watching(soft, constant());
    for number in 0..4 {
        arrive(&mut bench, (10 + number) * US, request(number));
    }
    let world = run(&mut bench, 100 * US);
    let told: Vec<(Time, PowerEvent)> = world.announced.clone();
    let timers = told.iter().filter(|(_, event)| matches!(event, PowerEvent::Timer(_)));
    assert_eq!(timers.map(|(time, _)| time.ps()).collect::<Vec<_>>(), [70 * US + 1]);
    assert!(told.contains(&(Time::from_ps(70 * US + 1), PowerEvent::Announce { high: true })), "{told:?}");
    assert_eq!(world.interrupts, [(Time::from_ps(PERIOD + TO_CORE), 0)], "nothing interrupts at once");
}

#[test]
fn a_frequency_below_the_highest_arms_what_is_armed_by_frequency() {
    let by = NcapParams { rearm_by_frequency: true, ..ncap() };
    let burst = [10 * US, 20 * US, 30 * US];
    assert_eq!(announced(by.clone(), &burst, 99 * US), [], "the frequency is the highest at first");
    let mut bench = watching(by, constant());
    bench.parts_mut()[0].1.send(ComponentId(0), NIC, US, Payload::Power(PowerEvent::Frequency(2)));
    for (number, &at) in (0..).zip(&burst) {
        arrive(&mut bench, at, request(number));
    }
    assert_eq!(high_and_low(&mut bench, 99 * US), [(PERIOD + TO_CORE, true)]);
}
