//! Tests of the queues of services: which requests begin, and how their work is divided.

use super::admission::piece_ns;
use super::*;
use crate::params::{Distribution, FirstArrival};
use proptest::prelude::*;

fn params() -> ServiceParams {
    ServiceParams {
        number: 3,
        interval_ps: Distribution::Constant(1),
        request_bytes: Distribution::Constant(1),
        response_bytes: Distribution::Constant(1),
        first: FirstArrival::Interval,
        burst: 1,
        spacing_ps: 0,
        verb: *b"GE",
        reads: 2,
        read_ps: 7,
        time_ps: Distribution::Constant(0),
        workers: 4,
        in_flight: 1,
        seed: 0,
    }
}

fn chore(slot: u32) -> Chore {
    Chore { home: 0, reads: 0, service: 0, slot, work_ns: 10 }
}

fn services(own: u16, cores: u32) -> Services {
    Services::new(ServiceWiring { cores: (0..cores).map(ComponentId).collect(), own, services: vec![(params(), 1)] })
}

#[test]
fn initially_all_cores_are_idle_and_each_is_taken_once() {
    let mut services = services(1, 4);
    let taken: Vec<_> = std::iter::from_fn(|| services.take_idle()).collect();
    assert_eq!(taken, [ComponentId(0), ComponentId(2), ComponentId(3)], "it does not take itself");
}

#[test]
fn work_in_progress_stays_and_resumes_first() {
    let mut services = services(0, 2);
    services.queue(chore(1));
    services.queue(chore(2));
    services.queue.push_front((chore(0), 9_999));
    assert_eq!(services.take_fresh().map(|chore| chore.slot), Some(1));
    assert_eq!(services.take_fresh().map(|chore| chore.slot), Some(2));
    assert_eq!(services.take_fresh(), None);
    assert_eq!(services.queue.front().map(|(chore, left)| (chore.slot, *left)), Some((0, 9_999)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn pieces_sum_to_the_work_within_a_nanosecond_each(
        work_ps in 0_u64..1_000_000_000_000,
        reads in any::<u8>(),
    ) {
        let pieces = u64::from(reads) + 1;
        let all = u64::from(piece_ns(work_ps, reads)) * 1000 * pieces;
        prop_assert!(all + pieces > work_ps && all < work_ps + pieces * 1000);
    }

    #[test]
    fn requests_begin_in_order_with_the_given_number_of_workers(
        most in 1_u32..5,
        turns in prop::collection::vec((1_u64..100, any::<bool>()), 1..100),
    ) {
        let mut admission = ServiceQueue::new(&params(), most);
        let (mut now, mut arrived, mut begun, mut ended) = (Time::ZERO, 0, 0, 0);
        let (mut queue_area, mut busy_area) = (0, 0);
        for (ps, arrives) in turns {
            queue_area += u128::from(ps * (arrived - begun));
            busy_area += u128::from(ps * (begun - ended));
            now += ps;
            if arrives {
                admission.arrive(ServiceRequest { socket: 0, number: arrived, work_ps: 0, since: now });
                arrived += 1;
            } else if ended < begun {
                admission.end(now);
                ended += 1;
            }
            while let Some(request) = admission.begin(now) {
                prop_assert_eq!(request.number, begun);
                begun += 1;
            }
            prop_assert_eq!(begun - ended, u64::from(most).min(arrived - ended));
        }
        let counters = admission.counters();
        prop_assert_eq!((counters.arrived, counters.served), (arrived, ended));
        prop_assert_eq!((counters.queue_area_ps, counters.busy_area_ps), (queue_area, busy_area));
        prop_assert_eq!(admission.waiting() as u64, arrived - begun);
        prop_assert_eq!(counters.wait.count(), begun);
        admission.reset(now);
        prop_assert_eq!((admission.counters().arrived, admission.counters().queue_area_ps), (0, 0));
        prop_assert_eq!(admission.counters().queue_max, arrived - begun);
    }

    #[test]
    fn slots_of_requests_are_reused(turns in prop::collection::vec(any::<(bool, u8)>(), 1..80)) {
        let mut services = services(0, 1);
        let mut live: Vec<(u32, u64)> = Vec::new();
        let mut most = 0;
        for (number, (begins, which)) in (0_u64..).zip(turns) {
            if begins || live.is_empty() {
                let slot = services.begin(ServiceRequest { socket: 0, number, work_ps: 0, since: Time::ZERO });
                prop_assert!(live.iter().all(|(other, _)| *other != slot));
                live.push((slot, number));
            } else {
                let (slot, number) = live.swap_remove(usize::from(which) % live.len());
                prop_assert_eq!(services.end(slot).map(|request| request.number), Some(number));
                prop_assert_eq!(services.end(slot), None, "it has ended");
            }
            most = most.max(live.len());
        }
        prop_assert_eq!(services.requests.len(), most);
    }
}
