//! Toy world of components that exchange random events, each with a running hash of the events that it handled, in
//! order.

use hostnet_kernel::{ComponentId, Event, Partition, Rng, Scheduler, Simulation, Time};
use serde::{Deserialize, Serialize};

/// Number of components of the world.
pub(crate) const COMPONENTS: u32 = 64;
/// Components per group; a group is never cut apart.
pub(crate) const GROUP: u32 = 8;

/// Content of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Forwarded on arrival.
    Walk(u64),
    /// Not forwarded.
    Leaf(u64),
}

/// Component of the toy world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    hash: u64,
    rng: Rng,
}

/// Time scale of a world.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Scale {
    /// Unit of the delays in ps, so that many events tie.
    pub(crate) step_ps: u64,
    /// Least delay between two groups, in ps.
    pub(crate) window_ps: u64,
}

/// World of one partition: the components from `first` on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Toy {
    first: u32,
    scale: Scale,
    members: Vec<Member>,
}

impl Toy {
    fn new(seed: u64, scale: Scale, first: u32, count: u32) -> Self {
        let member = |id| Member { hash: u64::from(id), rng: Rng::new(seed, u64::from(id)) };
        Self { first, scale, members: (first..first + count).map(member).collect() }
    }

    fn send(&mut self, source: ComponentId, message: fn(u64) -> Message, scheduler: &mut Scheduler<Message>) {
        let scale = self.scale;
        let Member { hash, rng } = &mut self.members[(source.0 - self.first) as usize];
        let target = match rng.below(4) {
            0 => rng.below(u64::from(COMPONENTS)) as u32,
            _ => source.0 / GROUP * GROUP + rng.below(u64::from(GROUP)) as u32,
        };
        let steps = if rng.below(16) == 0 { 20 + rng.below(80) } else { 1 + rng.below(10) };
        let crossing = if target / GROUP == source.0 / GROUP { 0 } else { scale.window_ps - scale.step_ps };
        let delay_ps = crossing + steps * scale.step_ps + rng.below(4) / 3 * rng.below(64);
        scheduler.send(source, ComponentId(target), delay_ps, message(*hash));
    }
}

impl Partition for Toy {
    type Payload = Message;
    type Cargo = ();

    fn on_event(&mut self, event: Event<Message>, scheduler: &mut Scheduler<Message>) {
        assert_eq!(event.time, scheduler.now());
        let member = &mut self.members[(event.target.0 - self.first) as usize];
        let (Message::Walk(carried) | Message::Leaf(carried)) = event.payload;
        for part in [event.time.ps(), event.sequence, u64::from(event.source.0), carried] {
            member.hash = (member.hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
        if let Message::Walk(_) = event.payload {
            if member.rng.below(8) == 0 {
                self.send(event.target, Message::Leaf, scheduler);
            }
            self.send(event.target, Message::Walk, scheduler);
        }
    }

    fn unload(&mut self, _: &Message) {}

    fn load(&mut self, _: &mut Message, (): ()) {}
}

/// Builds the world in `partitions` partitions, with some events pending.
pub(crate) fn build(seed: u64, scale: Scale, partitions: u32) -> Simulation<Toy> {
    let count = COMPONENTS / partitions;
    let part = |index| {
        let first = index * count;
        let mut toy = Toy::new(seed, scale, first, count);
        let mut scheduler = Scheduler::new(ComponentId(first), count as usize, 16);
        for component in (first..first + count).map(ComponentId) {
            for _ in 0..1 + component.0 % 3 {
                toy.send(component, Message::Walk, &mut scheduler);
            }
        }
        (toy, scheduler)
    };
    Simulation::new((0..partitions).map(part).collect(), scale.window_ps)
}

/// Returns the state that must not depend on how the world was run.
pub(crate) fn outcome(simulation: &Simulation<Toy>) -> (Time, u64, Vec<Member>) {
    let progress = simulation.progress();
    let members = simulation.worlds().flat_map(|toy| toy.members.clone()).collect();
    (progress.time, progress.events, members)
}
