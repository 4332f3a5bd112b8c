//! Compares the queue with a reference: after any sequence of operations, events are popped in key order.

use hostnet_kernel::{checkpoint, ComponentId, Event, EventKey, Queue, Time};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One revolution of the near wheel, in ps.
const NEAR_PS: u64 = 64 << 12;
/// One revolution of the far wheel, in ps.
const FAR_PS: u64 = NEAR_PS << 12;

/// Operation on both the queue and the reference. Times are relative to the current time.
#[derive(Clone, Debug)]
enum Step {
    Push { delay_ps: u64, source: u32 },
    PushMany { delay_ps: u64, spread_ps: u64, count: u64 },
    PushEarlier { by_ps: u64 },
    Pop { count: usize },
    PopUntil { ahead_ps: u64 },
    NextTime,
    Restore,
}

fn delay_ps() -> impl Strategy<Value = u64> {
    let around = |middle: u64| middle - 200..middle + 200;
    prop_oneof![
        3 => 0_u64..4,
        2 => 1_u64..200,
        4 => 300_u64..200_000,
        2 => around(NEAR_PS),
        2 => (1_u64..40).prop_map(|turns| turns * NEAR_PS),
        1 => NEAR_PS..8_000_000,
        2 => around(FAR_PS),
        1 => around(FAR_PS - NEAR_PS),
        1 => around(FAR_PS + NEAR_PS),
        2 => 1_000_000_u64..9_000_000_000,
        1 => 1_000_000_000_000_u64..9_000_000_000_000,
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (delay_ps(), 0_u32..4).prop_map(|(delay_ps, source)| Step::Push { delay_ps, source }),
        2 => (delay_ps(), 0_u64..100, 1_u64..120)
            .prop_map(|(delay_ps, spread_ps, count)| Step::PushMany { delay_ps, spread_ps, count }),
        1 => (1_u64..100_000).prop_map(|by_ps| Step::PushEarlier { by_ps }),
        8 => (1_usize..20).prop_map(|count| Step::Pop { count }),
        1 => (100_usize..1000).prop_map(|count| Step::Pop { count }),
        6 => delay_ps().prop_map(|ahead_ps| Step::PopUntil { ahead_ps }),
        4 => Just(Step::NextTime),
        1 => Just(Step::Restore),
    ]
}

/// The queue, the reference, and their current time.
struct Pair {
    queue: Queue<u32>,
    reference: BinaryHeap<Reverse<EventKey>>,
    now: Time,
    pushed: u64,
    most: usize,
}

impl Pair {
    fn new() -> Self {
        Self { queue: Queue::default(), reference: BinaryHeap::new(), now: Time::ZERO, pushed: 0, most: 0 }
    }

    fn push(&mut self, time: Time, source: u32) {
        let (source, sequence) = (ComponentId(source), self.pushed);
        self.pushed += 1;
        let event = Event { time, sequence, source, target: ComponentId(9), payload: sequence as u32 };
        self.queue.push(event);
        self.reference.push(Reverse(event.key()));
        self.most = self.most.max(self.reference.len());
    }

    fn pop_until(&mut self, limit: Time) -> Result<bool, TestCaseError> {
        let due = self.reference.peek().is_some_and(|key| key.0.time <= limit);
        let expected = if due { self.reference.pop().map(|key| key.0) } else { None };
        let popped = if limit == Time::MAX { self.queue.pop() } else { self.queue.pop_until(limit) };
        prop_assert_eq!(popped.map(|event| event.key()), expected);
        prop_assert!(popped.is_none_or(|event| u64::from(event.payload) == event.sequence));
        self.now = popped.map_or(self.now, |event| event.time);
        Ok(popped.is_some())
    }

    fn restore(&mut self) -> Result<(), TestCaseError> {
        let bytes = checkpoint::write("queue", &self.queue).expect("a queue can be written");
        let restored: Queue<u32> = checkpoint::read("queue", &bytes).expect("it can be read back");
        prop_assert_eq!(restored.to_sorted(), self.queue.to_sorted());
        prop_assert_eq!(checkpoint::write("queue", &restored).expect("and written again"), bytes);
        self.queue = restored;
        Ok(())
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Push { delay_ps, source } => self.push(self.now + delay_ps, source),
            Step::PushMany { delay_ps, spread_ps, count } => {
                for index in 0..count {
                    self.push(self.now + delay_ps + index * 37 % (spread_ps + 1), (index % 3) as u32);
                }
            }
            Step::PushEarlier { by_ps } => self.push(Time::from_ps(self.now.ps().saturating_sub(by_ps)), 1),
            Step::Pop { count } => {
                for _ in 0..count {
                    self.pop_until(Time::MAX)?;
                }
            }
            Step::PopUntil { ahead_ps } => {
                let limit = self.now + ahead_ps;
                while self.pop_until(limit)? {}
                self.now = limit;
            }
            Step::NextTime => {
                prop_assert_eq!(self.queue.next_time(), self.reference.peek().map(|key| key.0.time));
            }
            Step::Restore => self.restore()?,
        }
        prop_assert_eq!(self.queue.len(), self.reference.len());
        prop_assert_eq!(self.queue.is_empty(), self.reference.is_empty());
        prop_assert_eq!(self.queue.len_max(), self.most);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pops_in_key_order(start in prop_oneof![Just(0), delay_ps()], steps in prop::collection::vec(step(), 1..250)) {
        let mut pair = Pair::new();
        pair.now += start;
        for step in &steps {
            pair.take(step)?;
        }
        let sorted: Vec<EventKey> = pair.queue.to_sorted().iter().map(Event::key).collect();
        let reference = pair.reference.clone().into_sorted_vec();
        let expected: Vec<EventKey> = reference.into_iter().rev().map(|key| key.0).collect();
        prop_assert_eq!(sorted, expected);
        while pair.pop_until(Time::MAX)? {}
        prop_assert!(pair.queue.is_empty());
        prop_assert_eq!(pair.queue.next_time(), None);
    }

    /// Load of a simulation: a constant number of events, each replaced when it is popped.
    #[test]
    fn holds(
        pending in 1_usize..400,
        delays in prop::collection::vec(delay_ps().prop_map(|delay| delay.max(1)), 1..40)
    ) {
        let mut pair = Pair::new();
        for index in 0..pending {
            pair.push(Time::from_ps(delays[index % delays.len()]), (index % 5) as u32);
        }
        for index in 0..2000 {
            prop_assert!(pair.pop_until(Time::MAX)?);
            pair.push(pair.now + delays[index % delays.len()], (index % 7) as u32);
        }
        prop_assert_eq!(pair.queue.len(), pending);
        prop_assert_eq!(pair.queue.len_max(), pending);
    }
}

#[test]
fn the_last_moment_is_a_moment() {
    let mut pair = Pair::new();
    for ps in [u64::MAX, u64::MAX - 1, 0, u64::MAX - NEAR_PS, u64::MAX - FAR_PS, 1 << 63] {
        pair.push(Time::from_ps(ps), 0);
    }
    pair.restore().expect("nothing is lost");
    for _ in 0..6 {
        assert!(pair.pop_until(Time::MAX).expect("popped in order"));
    }
    assert!(pair.queue.is_empty());
}

/// Many events at one picosecond, as when every component wakes every other one, must not take quadratic time.
#[test]
fn a_crowd_at_one_time_is_no_disaster() {
    let mut pair = Pair::new();
    for source in 0..100_000 {
        pair.push(Time::from_ps(1), source % 1000);
    }
    for source in 0..100_000 {
        assert!(pair.pop_until(Time::MAX).expect("popped in order"));
        pair.push(pair.now + 1, source % 1000);
    }
    while pair.pop_until(Time::MAX).expect("popped in order") {}
    assert_eq!(pair.now, Time::from_ps(2));
}
