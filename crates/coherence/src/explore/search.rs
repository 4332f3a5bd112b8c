//! Breadth-first search of all states.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::BuildHasherDefault;

use crate::explore::rename::{Fingerprint, Renamings};
use crate::explore::{Action, BrokenInvariant, Invariant, System, World};
use crate::Rules;

/// Result of an exploration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Number of distinct states.
    pub states: usize,
    /// Number of states that differ by more than the names of agents and lines. Transitions are counted from these
    /// only.
    pub classes: usize,
    /// Number of transitions from them that change the state.
    pub transitions: usize,
    /// Number of them with nothing pending.
    pub quiet: usize,
    /// Largest distance of a state from the start, in steps.
    pub depth: usize,
    /// Violated invariant, if any; it ends the exploration.
    pub violation: Option<Violation>,
}

/// Violated invariant, with a shortest path to the violation.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Description of the violation.
    pub broken: BrokenInvariant,
    /// Actions on the path, each with the state of its line after the action.
    pub trace: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, classes, transitions, quiet, depth, .. } = self;
        write!(f, "{states} states in {classes} classes, {transitions} transitions, {quiet} quiet, depth {depth}")?;
        self.violation.as_ref().map_or(Ok(()), |violation| write!(f, "\n{violation}"))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.broken)?;
        (1..).zip(&self.trace).try_for_each(|(number, step)| writeln!(f, "{number:3}. {step}"))
    }
}

/// First discovery of a state: the state before, and the index of the action.
type Origin = (u32, u16);

struct Search {
    names: Renamings,
    states: usize,
    known: HashMap<u128, u32, BuildHasherDefault<Fingerprint>>,
    origins: Vec<Origin>,
    quiet: Vec<u32>,
    /// Transitions by delivery of a message, as from and to.
    deliveries: Vec<(u32, u32)>,
    transitions: usize,
}

impl<R: Rules> System<R> {
    /// Explores all states, one of each symmetry class. States are distinguished by fingerprints of 128 bits.
    ///
    /// # Panics
    ///
    /// Panics on more than 2^32 classes.
    #[must_use]
    pub fn explore(&self) -> Report {
        self.explore_by(Renamings::all(&self.bounds))
    }

    /// Explores all states without symmetry reduction: states that differ only by a permutation of lines, or of agents
    /// of one kind, count separately.
    ///
    /// # Panics
    ///
    /// Panics on more than 2^32 states.
    #[must_use]
    pub fn explore_without_symmetry(&self) -> Report {
        self.explore_by(Renamings::kept(&self.bounds))
    }

    fn explore_by(&self, names: Renamings) -> Report {
        let start = World::start(&self.bounds);
        let (mark, states) = names.fingerprint(&start);
        let mut search = Search {
            names,
            states,
            known: HashMap::default(),
            origins: vec![(0, 0)],
            quiet: Vec::new(),
            deliveries: Vec::new(),
            transitions: 0,
        };
        search.known.insert(mark, 0);
        let mut open = VecDeque::from([(start, 0_u32)]);
        let (mut at, mut depth) = (0_u32, 0);
        while let Some((world, steps)) = open.pop_front() {
            depth = steps;
            if let Err(broken) = self.expand(&mut search, &mut open, &world, at, steps) {
                return self.report(&search, depth, Some(broken));
            }
            at += 1;
        }
        let stuck = search
            .stuck()
            .map(|state| (Invariant::Drains.broken("the messages on their way lead nowhere"), state, None));
        self.report(&search, depth, stuck)
    }

    /// Adds the successors of a state to the search.
    fn expand(
        &self,
        search: &mut Search,
        open: &mut VecDeque<(World, u32)>,
        world: &World,
        at: u32,
        steps: u32,
    ) -> Result<(), (BrokenInvariant, u32, Option<Action>)> {
        // Checked when a state leaves the queue: breadth first, so the first violation has a shortest path.
        world.check().map_err(|broken| (broken, at, None))?;
        if world.is_quiet() {
            search.quiet.push(at);
        }
        for (number, action) in (0_u16..).zip(self.actions(world)) {
            let Some(next) = self.apply(world, action).map_err(|broken| (broken, at, Some(action)))? else {
                continue;
            };
            search.transitions += 1;
            let new = u32::try_from(search.origins.len()).expect("fewer than 2^32 states");
            let (mark, same) = search.names.fingerprint(&next);
            let to = *search.known.entry(mark).or_insert(new);
            // Messages must drain without the help of new accesses (Invariant::Drains), so only deliveries count.
            if matches!(action, Action::Deliver(..)) {
                search.deliveries.push((at, to));
            }
            if to == new {
                search.states += same;
                search.origins.push((at, number));
                open.push_back((next, steps + 1));
            }
        }
        Ok(())
    }

    fn report(&self, search: &Search, depth: u32, broken: Option<(BrokenInvariant, u32, Option<Action>)>) -> Report {
        let violation = broken.map(|(broken, state, last)| {
            let mut trace = self.path_to(search, state);
            trace.extend(last.map(|action| action.to_string()));
            Violation { broken, trace }
        });
        Report {
            states: search.states,
            classes: search.origins.len(),
            transitions: search.transitions,
            quiet: search.quiet.len(),
            depth: depth as usize,
            violation,
        }
    }

    /// Returns the actions from the start to a state.
    fn path_to(&self, search: &Search, state: u32) -> Vec<String> {
        let mut numbers = Vec::new();
        let mut at = state;
        while at != 0 {
            let (from, number) = search.origins[at as usize];
            numbers.push(number);
            at = from;
        }
        // States are not stored: the path is replayed from the start, which saves most of the memory.
        let mut world = World::start(&self.bounds);
        let step = |number: u16| {
            let action = self.actions(&world)[usize::from(number)];
            if let Ok(Some(next)) = self.apply(&world, action) {
                world = next;
            }
            let (Action::Load(line, ..)
            | Action::Store(line, ..)
            | Action::Evict(line, ..)
            | Action::EvictBlock(line)
            | Action::Deliver(line, _)) = action;
            format!("{:<58} {}", action.to_string(), world.lines[usize::from(line)])
        };
        let mut trace: Vec<String> = numbers.into_iter().rev().map(step).collect();
        trace.extend(in_flight_messages(&world));
        trace
    }
}

/// Returns the messages that are in flight, if there are any.
fn in_flight_messages(world: &World) -> Option<String> {
    let packets = world.lines.iter().flat_map(|line| &line.packets);
    let left: Vec<String> =
        packets.map(|packet| format!("{} gets {} from {}", packet.to, packet.message, packet.from)).collect();
    (!left.is_empty()).then(|| format!("on the way: {}", left.join("; ")))
}

impl Search {
    /// Returns the first state from which deliveries alone reach no quiet state.
    fn stuck(&self) -> Option<u32> {
        // Lists the predecessors of each state by counting sort, then searches backwards from the quiet states.
        let mut first = vec![0_u32; self.origins.len() + 1];
        for (_, to) in &self.deliveries {
            first[*to as usize + 1] += 1;
        }
        for state in 1..first.len() {
            first[state] += first[state - 1];
        }
        let mut next = first.clone();
        let mut from = vec![0_u32; self.deliveries.len()];
        for (start, to) in &self.deliveries {
            from[next[*to as usize] as usize] = *start;
            next[*to as usize] += 1;
        }
        let mut drains = vec![false; self.origins.len()];
        let mut left = self.quiet.clone();
        while let Some(state) = left.pop() {
            // A state may be listed several times, once for each successor that drains.
            if std::mem::replace(&mut drains[state as usize], true) {
                continue;
            }
            let range = first[state as usize] as usize..first[state as usize + 1] as usize;
            left.extend(from[range].iter().filter(|before| !drains[**before as usize]));
        }
        drains.iter().position(|drains| !drains).and_then(|state| u32::try_from(state).ok())
    }
}
