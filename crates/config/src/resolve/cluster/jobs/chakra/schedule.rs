//! Schedules all ranks of a trace together: matches messages with their receivers, and members with their
//! collectives.
//!
//! A rank advances until it needs a message that has not been sent, or a collective that other members have not
//! reached. When no rank can advance, one of them begins another node that is ready. A node that still waits then is
//! a deadlock.
//!
//! A connection delivers bytes in the order in which they were sent, whatever their tags. A rank that receives a
//! message therefore also receives all earlier messages, and does not wait when it requests these later.

use super::matched::{Joint, Matched};
use super::walk::{describe_cycle, Place, Walk};
use super::Collectives;
use crate::error::Issue;
use crate::resolve::cluster::jobs::program::Program;
use hostnet_traffic::chakra::{Collective, NodeAction};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of bytes from one rank to another.
const BYTES_MAX: u64 = 1 << 60;

/// Messages that cannot be told apart: sender, receiver and tag.
type Line = (u32, u32, u64);

/// A message that was sent: its node, its number among those from its sender to its receiver, its bytes, and the bytes
/// from its sender to its receiver up to its end.
struct Sent {
    id: u64,
    number: u32,
    bytes: u64,
    until: u64,
}

/// A group of ranks.
struct Group {
    name: String,
    ranks: Vec<u32>,
    /// Members that wait for the others.
    arrived: BTreeSet<u32>,
    /// Nodes of this collective that each member may begin next.
    offers: BTreeMap<u32, BTreeSet<Place>>,
}

pub(super) struct Schedule<'a> {
    path: &'a str,
    program: &'a mut Program,
    walks: Vec<Walk>,
    groups: Vec<Group>,
    collectives: Collectives,
    /// Messages that were sent and not received yet, in order.
    sent: BTreeMap<Line, VecDeque<Sent>>,
    /// Bytes sent from one rank to another, the bytes that the receiver has taken, and the messages sent.
    flowed: BTreeMap<(u32, u32), (u64, u64, u32)>,
    matched: Matched,
    /// Receives that ranks may begin next, and for each kind of message the receive that is possible now.
    asked: BTreeMap<Line, BTreeSet<Place>>,
    offered: BTreeMap<Line, Place>,
    /// Messages and computations that ranks can begin now (no collectives): node id, rank, and place in the trace.
    could: BTreeSet<(u64, u32, u32)>,
    /// Groups whose members can all begin a collective.
    full: BTreeSet<u32>,
    /// Ranks that may be able to advance.
    ready: VecDeque<u32>,
    /// Group that each rank waits for.
    parked: Vec<Option<u32>>,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(
        path: &'a str,
        program: &'a mut Program,
        walks: Vec<Walk>,
        groups: Vec<(String, Vec<u32>)>,
        collectives: Collectives,
    ) -> Self {
        let group = |(name, ranks)| Group { name, ranks, arrived: BTreeSet::new(), offers: BTreeMap::new() };
        let ready = (0..walks.len() as u32).collect();
        let parked = vec![None; walks.len()];
        Self {
            path,
            program,
            walks,
            groups: groups.into_iter().map(group).collect(),
            collectives,
            sent: BTreeMap::new(),
            flowed: BTreeMap::new(),
            matched: Matched::default(),
            asked: BTreeMap::new(),
            offered: BTreeMap::new(),
            could: BTreeSet::new(),
            full: BTreeSet::new(),
            ready,
            parked,
        }
    }

    /// Finds out which nodes of different ranks belong together, without adding any step.
    pub(super) fn match_nodes(mut self) -> Result<(Vec<Walk>, Matched), Issue> {
        self.program.is_muted = true;
        self.go()?;
        self.program.is_muted = false;
        let groups = self.groups.into_iter().map(|group| group.ranks).collect();
        Ok((self.walks, Matched { groups, ..self.matched }))
    }

    /// Adds the steps of all ranks to the program, from beginning to end.
    pub(super) fn run(mut self) -> Result<(), Issue> {
        self.go()?;
        self.walks.iter_mut().for_each(|walk| walk.finish(self.program));
        Ok(())
    }

    fn go(&mut self) -> Result<(), Issue> {
        loop {
            while let Some(rank) = self.ready.pop_front() {
                self.go_on(rank)?;
                if self.program.is_too_long() {
                    return Ok(());
                }
            }
            // No rank goes on by its own order, so the possible node with the lowest id is next.
            if let Some(&(id, rank, place)) = self.could.first() {
                self.take(rank, (id, place))?;
                self.ready.push_back(rank);
            } else if let Some(&group) = self.full.first() {
                self.collective(group)?;
            } else {
                break;
            }
        }
        self.check_ends()
    }

    fn walk(&mut self, rank: u32) -> &mut Walk {
        &mut self.walks[rank as usize]
    }

    /// Advances a rank as far as possible.
    fn go_on(&mut self, rank: u32) -> Result<(), Issue> {
        // A woken rank may now have a node with a lower id than its collective.
        self.unpark(rank);
        loop {
            self.walks[rank as usize].go(self.program);
            self.hear(rank)?;
            let Some(&(id, place)) = self.walk(rank).told.first() else { return Ok(()) };
            if let NodeAction::Collective { group, .. } = self.walk(rank).act(place) {
                self.parked[rank as usize] = Some(group);
                let found = &mut self.groups[group as usize];
                found.arrived.insert(rank);
                if found.arrived.len() < found.ranks.len() {
                    return Ok(());
                }
                return self.collective(group);
            }
            if self.could.contains(&(id, rank, place)) {
                self.take(rank, (id, place))?;
            } else {
                return Ok(());
            }
        }
    }

    fn unpark(&mut self, rank: u32) {
        if let Some(group) = self.parked[rank as usize].take() {
            self.groups[group as usize].arrived.remove(&rank);
        }
    }

    /// Registers the nodes that a rank may begin next.
    fn hear(&mut self, rank: u32) -> Result<(), Issue> {
        for (id, place) in std::mem::take(&mut self.walk(rank).news) {
            match self.walk(rank).act(place) {
                NodeAction::Send { to, .. } => {
                    self.check_other(rank, id, "send", to)?;
                    self.could.insert((id, rank, place));
                }
                NodeAction::Receive { from, tag, .. } => {
                    self.check_other(rank, id, "receive", from)?;
                    let line = (from, rank, tag);
                    self.asked.entry(line).or_default().insert((id, place));
                    self.offer(line);
                }
                NodeAction::Collective { group, .. } => {
                    let found = &mut self.groups[group as usize];
                    found.offers.entry(rank).or_default().insert((id, place));
                    if found.offers.len() == found.ranks.len() {
                        self.full.insert(group);
                    }
                }
                _ => {
                    self.could.insert((id, rank, place));
                }
            }
        }
        Ok(())
    }

    fn check_other(&self, rank: u32, id: u64, verb: &str, other: u32) -> Result<(), Issue> {
        let ranks = self.program.ranks;
        if other < ranks && other != rank {
            return Ok(());
        }
        let message = format!(
            "node {id}: rank {rank} cannot {verb} with rank {other}; the job has {ranks} ranks, counted from 0"
        );
        Err(self.walks[rank as usize].wrong(self.path, message))
    }

    /// Adds the step of a rank that sends, receives or computes.
    fn take(&mut self, rank: u32, (id, place): Place) -> Result<(), Issue> {
        self.could.remove(&(id, rank, place));
        self.walks[rank as usize].begin(self.program, (id, place));
        match self.walk(rank).act(place) {
            NodeAction::Send { to, bytes, tag } => self.send(rank, (id, place), (to, bytes, tag))?,
            NodeAction::Receive { from, bytes, tag } => self.receive(rank, (id, place), (from, bytes, tag))?,
            _ => {
                self.walks[rank as usize].host(self.program, place);
                return Ok(());
            }
        }
        self.walk(rank).over(place);
        Ok(())
    }

    fn send(&mut self, rank: u32, (id, place): Place, (to, bytes, tag): (u32, u64, u64)) -> Result<(), Issue> {
        // The receiver would not notice a message without a byte.
        let carried = bytes.max(1);
        let (until, _, count) = self.flowed.entry((rank, to)).or_default();
        *until += carried;
        *count += 1;
        let (until, number) = (*until, *count - 1);
        self.matched.messages.insert((rank, place), number);
        if until > BYTES_MAX {
            let message = format!("node {id}: more than {BYTES_MAX} B from rank {rank} to rank {to}");
            return Err(self.walks[rank as usize].wrong(self.path, message));
        }
        let phase = self.program.phase("send");
        self.program.step(rank, phase, 0, (to, carried), (0, 0));
        let line = (rank, to, tag);
        self.sent.entry(line).or_default().push_back(Sent { id, number, bytes, until });
        self.offer(line);
        Ok(())
    }

    fn receive(&mut self, rank: u32, (id, place): Place, (from, bytes, tag): (u32, u64, u64)) -> Result<(), Issue> {
        let line = (from, rank, tag);
        let waiting = self.sent.get_mut(&line);
        let Some(Sent { id: other, number, bytes: sent, until }) = waiting.and_then(VecDeque::pop_front) else {
            return Ok(());
        };
        if sent != bytes {
            let message = format!(
                "node {id}: rank {rank} receives {bytes} B with tag {tag} from rank {from}, which sends {sent} B in \
                 its node {other}"
            );
            return Err(self.walks[rank as usize].wrong(self.path, message));
        }
        self.matched.messages.insert((rank, place), number);
        let (_, taken, _) = self.flowed.entry((from, rank)).or_default();
        // Messages of a pair arrive as one stream: bytes that came with a later message are not awaited again.
        let missing = until.saturating_sub(*taken);
        *taken = until.max(*taken);
        let phase = self.program.phase("receive");
        self.program.step(rank, phase, 0, (0, 0), (from, missing));
        if self.sent.get(&line).is_some_and(VecDeque::is_empty) {
            self.sent.remove(&line);
        }
        if let Some(asked) = self.asked.get_mut(&line) {
            asked.remove(&(id, place));
        }
        self.offer(line);
        Ok(())
    }

    /// Offers the first requested receive among messages with the same ends and tag, if such a message has been sent.
    fn offer(&mut self, line: Line) {
        let (_, to, _) = line;
        let asked = self.asked.get(&line).and_then(BTreeSet::first).copied();
        let next = asked.filter(|_| self.sent.contains_key(&line));
        let before = self.offered.get(&line).copied();
        if next == before {
            return;
        }
        if let Some((id, place)) = before {
            self.could.remove(&(id, to, place));
            self.offered.remove(&line);
        }
        if let Some((id, place)) = next {
            self.could.insert((id, to, place));
            self.offered.insert(line, (id, place));
            self.ready.push_back(to);
        }
    }

    /// Adds the steps of a collective, in which all members of a group take part.
    fn collective(&mut self, group: u32) -> Result<(), Issue> {
        let found = &mut self.groups[group as usize];
        // Taken out meanwhile, as the walks of `self` change.
        let ranks = std::mem::take(&mut found.ranks);
        let mut places = Vec::with_capacity(ranks.len());
        for rank in &ranks {
            let offers = found.offers.entry(*rank).or_default();
            places.extend(offers.pop_first());
            if offers.is_empty() {
                found.offers.remove(rank);
            }
        }
        if found.offers.len() < ranks.len() {
            self.full.remove(&group);
        }
        let mut first = None;
        for (&rank, &(id, place)) in ranks.iter().zip(&places) {
            if let NodeAction::Collective { kind, bytes, .. } = self.walk(rank).act(place) {
                self.agree(*first.get_or_insert((rank, id, kind, bytes)), (rank, id, kind, bytes))?;
                self.walks[rank as usize].begin(self.program, (id, place));
            }
        }
        if let Some((.., kind, bytes)) = first {
            let places = places.iter().map(|&(_, place)| place).collect();
            self.matched.joint.push(Joint { group, kind, bytes, places });
            if !self.program.is_muted {
                self.collectives.write(self.program, &ranks, kind, bytes);
            }
        }
        for (&rank, &(_, place)) in ranks.iter().zip(&places) {
            self.unpark(rank);
            self.walk(rank).over(place);
            self.ready.push_back(rank);
        }
        self.groups[group as usize].ranks = ranks;
        Ok(())
    }

    /// Checks that two members of a group are at the same collective.
    fn agree(
        &self,
        (other, there, kind, bytes): (u32, u64, Collective, u64),
        own: (u32, u64, Collective, u64),
    ) -> Result<(), Issue> {
        if (kind, bytes) == (own.2, own.3) {
            return Ok(());
        }
        let message = format!(
            "rank {} does node {}, {} of {} B where rank {other} does node {there}, {} of {bytes} B; all ranks of a \
             group take part in each of its collectives, in the same order",
            own.0,
            own.1,
            own.2.name(),
            own.3,
            kind.name()
        );
        Err(self.walks[own.0 as usize].wrong(self.path, message))
    }

    /// Checks that all ranks have completed, and that all messages were received.
    fn check_ends(&self) -> Result<(), Issue> {
        if let Some((walk, cycle)) = self.walks.iter().find_map(|walk| Some((walk, walk.find_cycle()?))) {
            return Err(walk.wrong(self.path, describe_cycle(&cycle)));
        }
        let stuck = self.walks.iter().find_map(|walk| Some((walk, *walk.told.first()?)));
        if let Some((walk, (id, place))) = stuck {
            let message = format!("node {id}: rank {} waits for ever, for {}", walk.rank, self.missing(walk, place));
            return Err(walk.wrong(self.path, message));
        }
        let left = self.sent.iter().find_map(|(line, sent)| Some((line, sent.front()?)));
        if let Some((&(from, to, tag), Sent { id, bytes, .. })) = left {
            let message =
                format!("node {id}: rank {to} does not receive {bytes} B with tag {tag} that rank {from} sends it");
            return Err(self.walks[from as usize].wrong(self.path, message));
        }
        Ok(())
    }

    /// Describes the missing event that a node waits for, in words.
    fn missing(&self, walk: &Walk, place: u32) -> String {
        match walk.act(place) {
            NodeAction::Receive { from, tag, .. } => {
                let others = self.sent.keys().find(|(sender, receiver, _)| (*sender, *receiver) == (from, walk.rank));
                let other = others.map_or(String::new(), |(.., tag)| format!("; one with tag {tag} is there"));
                format!("a message with tag {tag} from rank {from}{other}")
            }
            NodeAction::Collective { kind, bytes, group } => {
                let Group { name, ranks, offers, .. } = &self.groups[group as usize];
                let absent = ranks.iter().find(|rank| !offers.contains_key(rank)).copied().unwrap_or_default();
                let named = if name.is_empty() { String::new() } else { format!(" of the group \"{name}\"") };
                format!("rank {absent}, which takes no part in {}{named} of {bytes} B", kind.name())
            }
            _ => "nothing".to_owned(),
        }
    }
}
