//! Effects of actions on a system.

use crate::cache::{self, CacheEvent, Completion};
use crate::directory::{self, DirectoryEvent};
use crate::explore::{Action, AgentLine, BrokenInvariant, Invariant, LineWorld, Packet, System, World};
use crate::tile::{self, TileEvent, TileHalf};
use crate::uncached::{self, UncachedEvent, UncachedLine};
use crate::{Agent, Message, Node, Rules, Sends, Value};

/// Result of a step of an agent: its new state, its messages, and the access that is served with its half.
type AgentStep = (AgentLine, Sends, Option<(TileHalf, Completion)>);

impl<R: Rules> System<R> {
    /// Returns the state after an action, or `None` if the action must wait or changes nothing.
    ///
    /// # Errors
    ///
    /// Returns a violation if an illegal message arrives, or if a read does not return the newest value.
    pub fn apply(&self, world: &World, action: Action) -> Result<Option<World>, BrokenInvariant> {
        let (index, before) = match action {
            Action::Load(line, ..)
            | Action::Store(line, ..)
            | Action::Evict(line, ..)
            | Action::EvictBlock(line)
            | Action::Deliver(line, _) => (usize::from(line), &world.lines[usize::from(line)]),
        };
        let mut after = before.clone();
        let happened = match action {
            Action::Deliver(_, packet) => {
                // The packets are sorted (`LineWorld::send`).
                if let Ok(at) = after.packets.binary_search(&packet) {
                    after.packets.remove(at);
                }
                match packet.to {
                    Node::Home => {
                        let event = DirectoryEvent::Receive { from: packet.from, message: packet.message };
                        self.at_home(&mut after, event)?
                    }
                    Node::Memory => self.at_memory(&mut after, packet.message),
                    Node::Agent(agent) => self.at_agent(&mut after, agent, &action)?,
                }
            }
            Action::EvictBlock(_) => self.at_home(&mut after, DirectoryEvent::EvictBlock)?,
            Action::Load(_, agent, _) | Action::Store(_, agent, ..) | Action::Evict(_, agent, _) => {
                // The bound limits transactions; accesses that send no message are always possible.
                let may_ask = world.in_flight() < usize::from(self.bounds.in_flight);
                let agent = Agent::new(agent).expect("a system has fewer than 128 agents");
                self.at_agent(&mut after, agent, &action)? && (may_ask || after.packets.len() == before.packets.len())
            }
        };
        // Steps without effect would be loops, which add no states.
        if !happened || after == *before {
            return Ok(None);
        }
        let mut next = world.clone();
        next.lines[index] = after;
        Ok(Some(next))
    }

    fn at_home(&self, line: &mut LineWorld, event: DirectoryEvent) -> Result<bool, BrokenInvariant> {
        let was_busy = line.home.is_busy();
        let step = directory::step_by(self.rules, line.home, event).map_err(BrokenInvariant::illegal)?;
        if step.blocked {
            // Only a busy line may make a request wait (Invariant::IdleServes).
            return if was_busy {
                Ok(false)
            } else {
                Err(Invariant::IdleServes.broken("a free line blocks a request"))
            };
        }
        line.home = step.line;
        for sent in step.out.iter() {
            // An uncached write becomes visible with its acknowledgement: later loads must see it.
            if sent.message == Message::WriteAck {
                make_visible(line, line.home.block.value());
            }
            match sent.message {
                // Written at once, so that no later fetch can overtake the write.
                Message::WriteMemory(value) if self.bounds.memory_in_order => line.memory = value,
                message => line.send(Packet { from: Node::Home, to: sent.to, message }),
            }
        }
        Ok(true)
    }

    fn at_memory(&self, line: &mut LineWorld, message: Message) -> bool {
        match message {
            Message::WriteMemory(value) => line.memory = value,
            _ => {
                let message = Message::MemoryData(line.memory);
                line.send(Packet { from: Node::Memory, to: Node::Home, message });
            }
        }
        true
    }

    fn at_agent(&self, line: &mut LineWorld, agent: Agent, action: &Action) -> Result<bool, BrokenInvariant> {
        let index = usize::from(agent.index());
        let Some(&state) = line.agents.get(index) else {
            return Err(Invariant::Receiver.broken("a message to nobody"));
        };
        let Some((next, out, done)) = self.agent_step(state, action, line.newest)? else {
            return Ok(false);
        };
        line.agents[index] = next;
        for sent in out.iter() {
            line.send(Packet { from: Node::Agent(agent), to: sent.to, message: sent.message });
        }
        match (done, state, next) {
            (Some((_, Completion::Loaded(value))), AgentLine::Uncached { fresh, .. }, _) => {
                // An uncached read may return any value that was the newest at some time since its request.
                newest(fresh >> value & 1 == 1, value)?;
            }
            (Some((_, Completion::Loaded(value))), ..) => newest(value == line.newest, value)?,
            (Some((_, Completion::Stored)), _, AgentLine::Uncached { .. }) | (None, ..) => {}
            (Some((half, Completion::Stored)), _, AgentLine::Tile(tile)) => {
                make_visible(line, tile.copy(half).value());
            }
            (Some((_, Completion::Stored)), _, AgentLine::Cache(cache)) => {
                make_visible(line, cache.readable());
            }
        }
        Ok(true)
    }

    /// Computes the step of an agent, or `None` if it stalls.
    fn agent_step(
        &self,
        state: AgentLine,
        action: &Action,
        newest: Value,
    ) -> Result<Option<AgentStep>, BrokenInvariant> {
        Ok(match state {
            AgentLine::Cache(line) => {
                let event = match *action {
                    Action::Store(.., value) => CacheEvent::Store(value),
                    Action::Evict(..) => CacheEvent::Evict,
                    Action::Deliver(_, packet) => CacheEvent::Receive { from: packet.from, message: packet.message },
                    Action::Load(..) | Action::EvictBlock(_) => CacheEvent::Load,
                };
                let step = cache::step_by(self.rules, line, event).map_err(BrokenInvariant::illegal)?;
                let done = step.done.map(|done| (TileHalf::Core, done));
                (!step.stall).then_some((AgentLine::Cache(step.line), step.out, done))
            }
            AgentLine::Tile(line) => {
                let event = match *action {
                    Action::Store(_, _, half, value) => TileEvent::Store(half, value),
                    Action::Evict(_, _, half) => TileEvent::Evict(half),
                    Action::Deliver(_, packet) => TileEvent::Receive { from: packet.from, message: packet.message },
                    Action::Load(_, _, half) => TileEvent::Load(half),
                    Action::EvictBlock(_) => return Ok(None),
                };
                let step = tile::step_by(self.rules, line, event).map_err(BrokenInvariant::illegal)?;
                (!step.stall).then_some((AgentLine::Tile(step.line), step.out, step.done))
            }
            AgentLine::Uncached { line, fresh } => {
                let event = match *action {
                    Action::Store(.., value) => UncachedEvent::Write(value),
                    Action::Deliver(_, packet) => UncachedEvent::Receive { from: packet.from, message: packet.message },
                    _ => UncachedEvent::Read,
                };
                let step = uncached::step(line, event).map_err(BrokenInvariant::illegal)?;
                let fresh = match (line, step.line) {
                    (_, UncachedLine::Idle | UncachedLine::Writing) => 0,
                    (UncachedLine::Reading, UncachedLine::Reading) => fresh,
                    // At the request only the current value is admissible; later stores add theirs (`make_visible`).
                    (_, UncachedLine::Reading) => 1 << newest,
                };
                let done = step.done.map(|done| (TileHalf::Core, done));
                (!step.stall).then_some((AgentLine::Uncached { line: step.line, fresh }, step.out, done))
            }
        })
    }
}

/// Makes a store visible to reads.
fn make_visible(line: &mut LineWorld, value: Option<Value>) {
    let Some(value) = value else { return };
    line.newest = value;
    // Reads in flight may return the old value or this one.
    for agent in &mut line.agents {
        if let AgentLine::Uncached { line: UncachedLine::Reading, fresh } = agent {
            *fresh |= 1 << value;
        }
    }
}

fn newest(holds: bool, value: Value) -> Result<(), BrokenInvariant> {
    if holds {
        return Ok(());
    }
    Err(Invariant::NewestValue.broken(format!("a read gets {value}, which is not the newest value")))
}
