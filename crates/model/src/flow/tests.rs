//! Tests of both ends of a flow, joined by a pipe of limited size.

use super::*;
use crate::params::OtherRequests;
use hostnet_measure::Histogram;
use proptest::prelude::*;

/// One direction of a byte stream: bytes written and not read yet.
struct Pipe {
    size: u64,
    held: u64,
}

fn step(now: Time, app: &mut Application, from: &mut Pipe, to: &mut Pipe, share: u64) -> ApplicationAction {
    let room = (to.size - to.held).min(share);
    let action = app.poll(now, from.held, room);
    assert!(action.read <= from.held && action.write <= room);
    assert!(action.wake_at.is_none_or(|at| at > now));
    from.held -= action.read;
    to.held += action.write;
    action
}

proptest! {
    #[test]
    fn every_request_is_answered_in_whole(
        request in 0_u64..5000, response in 0_u64..5000, in_flight in 0_u32..9, think in 0_u64..300,
        other in prop::option::of((0.0..1.0, 0_u64..3000, 0_u64..3000, any::<u64>())),
        steps in prop::collection::vec((1_u64..200, 1_u64..3000), 1..300), size in 1_u64..4000,
    ) {
        let other = other.map(|(share, request_bytes, response_bytes, seed)| OtherRequests {
            share: (share * f64::from(u32::MAX)) as u32, request_bytes, response_bytes, seed,
        });
        let traffic =
            Traffic::Rpc { request_bytes: request, response_bytes: response, other, in_flight, think_ps: think };
        let mut ends = [Application::new(&traffic, true, None), Application::new(&traffic, false, None)];
        let (mut forth, mut back) = (Pipe { size, held: 0 }, Pipe { size, held: 0 });
        let mut now = Time::ZERO;
        for (wait, share) in steps {
            now += wait;
            step(now, &mut ends[0], &mut back, &mut forth, share);
            step(now, &mut ends[1], &mut forth, &mut back, share);
        }
        let in_flight = u64::from(in_flight.max(1));
        let answered = ends[0].latency().map_or(0, Histogram::count);
        prop_assert!(ends[0].requests() - answered <= in_flight, "no more in flight than asked for");
        ends[0].stop();
        let begun = ends[0].requests();
        for _ in 0..20_000_000 / size {
            now += 1;
            let first = step(now, &mut ends[0], &mut back, &mut forth, u64::MAX);
            let second = step(now, &mut ends[1], &mut forth, &mut back, u64::MAX);
            if first.read + first.write + second.read + second.write == 0 {
                break;
            }
        }
        prop_assert_eq!(ends[0].requests(), begun, "a stopped caller begins nothing");
        prop_assert_eq!(ends[0].latency().map_or(0, Histogram::count), begun);
        let sizes = |number: u64| match other.filter(|other| other.is(number)) {
            Some(other) => (other.request_bytes.max(1), other.response_bytes.max(1)),
            None => (request.max(1), response.max(1)),
        };
        let asked: u64 = (0..begun).map(|number| sizes(number).0).sum();
        let answers: u64 = (0..begun).map(|number| sizes(number).1).sum();
        prop_assert_eq!([ends[0].written_bytes(), ends[1].received_bytes()], [asked; 2]);
        prop_assert_eq!(ends[0].received_bytes(), answers);
    }
}

#[test]
fn a_request_follows_its_answer_after_the_time_to_think() {
    let traffic = Traffic::Rpc { request_bytes: 100, response_bytes: 50, other: None, in_flight: 1, think_ps: 30 };
    let mut caller = Application::new(&traffic, true, None);
    let at = Time::from_ps;
    assert_eq!(caller.poll(at(5), 0, 60), ApplicationAction { read: 0, write: 60, wake_at: None });
    assert_eq!(caller.poll(at(6), 0, 60), ApplicationAction { read: 0, write: 40, wake_at: None });
    assert_eq!(caller.poll(at(10), 49, 60), ApplicationAction { read: 49, write: 0, wake_at: None });
    assert_eq!(caller.poll(at(12), 1, 60), ApplicationAction { read: 1, write: 0, wake_at: Some(at(42)) });
    assert_eq!(caller.poll(at(41), 0, 60), ApplicationAction { read: 0, write: 0, wake_at: Some(at(42)) });
    assert_eq!(caller.poll(at(42), 0, 600), ApplicationAction { read: 0, write: 100, wake_at: None });
    assert_eq!(
        (caller.requests(), caller.latency().expect("it calls").count(), caller.latency().expect("it calls").sum()),
        (2, 1, 7)
    );
    caller.reset();
    assert_eq!(caller.latency().expect("it calls").count(), 0);
}

#[test]
fn bulk_ends_with_its_last_byte() {
    let traffic = Traffic::Bulk { bytes: 1000 };
    let (mut writer, mut reader) = (Application::new(&traffic, true, None), Application::new(&traffic, false, None));
    assert_eq!([writer.poll(Time::ZERO, 0, 600).write, writer.poll(Time::ZERO, 0, 600).write], [600, 400]);
    assert_eq!(
        reader.poll(Time::from_ps(1), 999, 600),
        ApplicationAction { read: 999, ..ApplicationAction::default() }
    );
    assert_eq!(reader.completed_at(), None);
    reader.poll(Time::from_ps(2), 1, 600);
    reader.poll(Time::from_ps(3), 0, 600);
    assert_eq!((reader.completed_at(), reader.received_bytes()), (Some(Time::from_ps(2)), 1000));
    let mut endless = Application::new(&Traffic::Bulk { bytes: u64::MAX }, true, None);
    assert_eq!(endless.poll(Time::ZERO, 0, 1 << 60).write, 1 << 60);
    assert_eq!(endless.poll(Time::ZERO, 0, 600).write, 600);
    endless.stop();
    assert_eq!(endless.poll(Time::ZERO, 0, 600).write, 0);
}

#[test]
fn the_deaf_do_not_read_from_the_first_to_the_last_moment() {
    let traffic = Traffic::Bulk { bytes: u64::MAX };
    let mut reader = Application::new(&traffic, false, Some((100, 200)));
    let at = Time::from_ps;
    assert_eq!(reader.poll(at(99), 10, 0).read, 10);
    assert_eq!(reader.poll(at(100), 10, 0), ApplicationAction { read: 0, write: 0, wake_at: Some(at(200)) });
    assert_eq!(reader.poll(at(199), 10, 0).read, 0);
    assert_eq!(reader.poll(at(200), 10, 0), ApplicationAction { read: 10, ..ApplicationAction::default() });
    let mut writer = Application::new(&traffic, true, Some((100, 200)));
    assert_eq!(
        writer.poll(at(150), 10, 5),
        ApplicationAction { read: 10, write: 5, wake_at: None },
        "it hears what comes back"
    );
}
