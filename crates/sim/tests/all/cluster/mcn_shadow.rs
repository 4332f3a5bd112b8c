//! Observes the SRAMs of buffer devices from outside, by the addresses of lines that are written and read.

use crate::cluster::lab::servers;
use hostnet_kernel::{Event, Observer, Simulation};
use hostnet_model::mcn::{Mcn, McnCounts, SramWindow};
use hostnet_model::params::ring_lines;
use hostnet_model::params::{ClusterParams, HostKind, McnParams};
use hostnet_model::{Machine, PartKind, Payload, RequestId, RingEvent, World};
use std::collections::{HashMap, VecDeque};

/// Content of a line of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Free,
    Written,
    Shown,
    Read,
}

/// Role of a line of an SRAM for the machine that accesses it by its number.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// A line of a ring.
    Ring { ring: usize, at: usize },
    /// Pointer to the end of the data written to a ring.
    End { ring: usize },
    /// Pointer to the end of the data read from a ring.
    Start { ring: usize },
}

/// State of one ring.
#[derive(Debug)]
struct Ring {
    lines: Vec<Line>,
    /// Index of the first line that is not free, of the end of the visible data, and of the end of the data written
    /// before the last pointer.
    first: usize,
    end: usize,
    pointed: usize,
    /// Lines written since the last pointer, and before each pointer that the reader has not seen.
    written: usize,
    pointers: VecDeque<usize>,
    /// Lines that had been read when the reader stored each of its pointers.
    starts: VecDeque<usize>,
    /// Lines of each visible message, and the number of messages that are visible, that the reader knew when it last
    /// read the poll word, and that the reader has begun to read.
    messages: VecDeque<usize>,
    came: u64,
    known: u64,
    begun: u64,
    /// True if a core reads poll words; `looked` counts the reads of the poll word of this ring.
    looks: bool,
    looked: u64,
}

impl Ring {
    fn new(lines: u32, looks: bool) -> Self {
        Self {
            lines: vec![Line::Free; lines as usize],
            first: 0,
            end: 0,
            pointed: 0,
            written: 0,
            pointers: VecDeque::new(),
            starts: VecDeque::new(),
            messages: VecDeque::new(),
            came: 0,
            known: 0,
            begun: 0,
            looks,
            looked: 0,
        }
    }

    /// Handles the arrival of a line of a message at the device.
    fn write(&mut self, at: usize) {
        assert_eq!(self.lines[at], Line::Free, "line {at} is written before it was read");
        self.lines[at] = Line::Written;
        self.written += 1;
    }

    /// Handles the arrival of a pointer at the device, and checks that the data before it have no gap.
    fn point(&mut self) {
        let count = self.lines.len();
        let gap = (0..self.written).find(|line| self.lines[(self.pointed + line) % count] != Line::Written);
        assert_eq!(gap, None, "of {} lines from {}", self.written, self.pointed);
        self.pointed = (self.pointed + self.written) % count;
        self.pointers.push_back(std::mem::take(&mut self.written));
    }

    /// Makes a message of so many lines visible to the reader.
    fn show(&mut self, lines: usize) {
        let count = self.lines.len();
        assert_eq!(self.pointers.pop_front(), Some(lines), "lines that were there when the pointer was");
        (0..lines).for_each(|line| self.lines[(self.end + line) % count] = Line::Shown);
        self.end = (self.end + lines) % count;
        self.messages.push_back(lines);
        self.came += 1;
    }

    /// Handles a read of the poll word.
    fn look(&mut self) {
        self.known = self.came;
        self.looked += 1;
    }

    /// Handles the read of a line of a message.
    fn read(&mut self, at: usize) {
        assert_eq!(self.lines[at], Line::Shown, "line {at} is read");
        self.lines[at] = Line::Read;
        if at == self.next_message() {
            self.begun += 1;
            assert!(!self.looks || self.begun <= self.known, "message {} of {}", self.begun, self.known);
        }
    }

    /// Returns the first line of the message that is read next.
    fn next_message(&self) -> usize {
        let left = (self.came - self.begun) as usize;
        let after: usize = self.messages.iter().rev().take(left).sum();
        (self.end + self.lines.len() - after) % self.lines.len()
    }

    /// Handles the arrival of the reader's pointer at the device.
    fn start(&mut self) {
        let count = self.lines.len();
        let read = (0..count).take_while(|line| self.lines[(self.first + line) % count] == Line::Read).count();
        self.starts.push_back(read);
    }

    /// Frees so many read lines for the writer.
    fn free(&mut self, lines: usize) {
        let count = self.lines.len();
        let read = self.starts.pop_front().expect("a pointer was stored");
        assert!(lines <= read, "{lines} lines are free, {read} were read");
        (0..lines).for_each(|line| self.lines[(self.first + line) % count] = Line::Free);
        self.first = (self.first + lines) % count;
        self.starts.iter_mut().for_each(|other| *other -= lines);
        let mut left = lines;
        while left > 0 {
            left -= self.messages.pop_front().expect("what was read came");
        }
    }

    fn held(&self) -> usize {
        self.lines.iter().filter(|line| **line != Line::Free).count()
    }
}

/// All rings of a world, and the packets offered to the drivers of each machine.
#[derive(Debug)]
pub struct Shadow {
    /// Number of a machine, by the id of its first part.
    machines: HashMap<u32, usize>,
    roles: Vec<HashMap<u64, Role>>,
    rings: Vec<Ring>,
    /// Rings that each interface of each machine writes and reads.
    ends: Vec<Vec<[usize; 2]>>,
    offered: Vec<u64>,
}

fn params(cluster: &ClusterParams) -> Vec<&McnParams> {
    let servers = cluster.hosts.iter().filter_map(|host| match &host.kind {
        HostKind::Server(server) => Some(server),
        HostKind::Endpoint(_) => None,
    });
    servers.filter_map(|server| server.socket().mcn.as_deref()).collect()
}

/// Returns the lines of a window with their roles for the ring that its machine writes and the ring that it reads.
fn roles(window: &SramWindow, [out, into]: [usize; 2], bytes: [u32; 2]) -> impl Iterator<Item = (u64, Role)> + '_ {
    let line = |ring, write, bytes: u32| {
        (0..bytes / 64).map(move |at| (window.ring(write, at), Role::Ring { ring, at: at as usize }))
    };
    let pointers = [
        (window.own_end(), Role::End { ring: out }),
        (window.other_end(), Role::End { ring: into }),
        (window.own_start(), Role::Start { ring: into }),
        (window.other_start(), Role::Start { ring: out }),
    ];
    line(out, true, bytes[0]).chain(line(into, false, bytes[1])).chain(pointers)
}

impl Shadow {
    /// Creates the rings of a world that has not run yet. All its servers must have interfaces.
    pub fn new(cluster: &ClusterParams, simulation: &Simulation<World>) -> Self {
        let (machines, params) = (servers(simulation), params(cluster));
        let mut shadow = Self {
            machines: machines.iter().enumerate().map(|(at, machine)| (machine.first_id().0, at)).collect(),
            roles: vec![HashMap::new(); machines.len()],
            rings: Vec::new(),
            ends: params.iter().map(|own| vec![[usize::MAX; 2]; own.interfaces.len()]).collect(),
            offered: vec![0; machines.len()],
        };
        let dimms = params.iter().enumerate().filter(|(_, own)| own.on_dimm);
        for (dimm, own) in dimms {
            let [up, down] = [shadow.rings.len(), shadow.rings.len() + 1];
            let looks = own.dma_lines.is_none();
            shadow.rings.extend(own.ring_bytes.map(|bytes| Ring::new(bytes / 64, looks)));
            let host = usize::from(own.interfaces[0].host);
            shadow.ends[dimm][0] = [up, down];
            shadow.ends[host][usize::from(own.interfaces[0].port)] = [down, up];
        }
        for (at, machine) in machines.into_iter().enumerate() {
            for (window, ends) in interfaces(machine).windows().iter().zip(&shadow.ends[at]) {
                shadow.roles[at].extend(roles(window, *ends, params[at].ring_bytes));
            }
        }
        shadow
    }

    fn role(&self, at: usize, id: RequestId, machine: &Machine) -> Option<Role> {
        self.roles[at].get(&machine.requests().get(id).line).copied()
    }

    fn on_interfaces(&mut self, at: usize, payload: Payload, machine: &Machine) {
        match payload {
            Payload::Transmit(_) => self.offered[at] += 1,
            Payload::Packet { id, port } => {
                let lines = ring_lines(machine.packets().get(id).ip_bytes);
                self.rings[self.ends[at][usize::from(port)][1]].show(lines as usize);
            }
            Payload::Ring(RingEvent::Freed { port, lines }) => {
                self.rings[self.ends[at][usize::from(port)][0]].free(usize::from(lines));
            }
            Payload::Issued(id) => match self.role(at, id, machine) {
                Some(Role::Ring { ring, at }) => self.rings[ring].write(at),
                Some(Role::End { ring }) => self.rings[ring].point(),
                Some(Role::Start { ring }) => self.rings[ring].start(),
                None => panic!("the device has no such line"),
            },
            _ => {}
        }
    }

    /// Checks the statistics of all interfaces against the observations.
    pub fn check(&self, simulation: &Simulation<World>) {
        let machines = servers(simulation);
        for (at, machine) in machines.iter().enumerate() {
            let mcn = interfaces(machine);
            let own: Vec<(u16, McnCounts)> = mcn.counts().map(|(host, counts)| (host, *counts)).collect();
            assert_eq!(own.iter().map(|(_, counts)| counts.offered).sum::<u64>(), self.offered[at]);
            let rows = own.iter().zip(mcn.waiting().zip(mcn.used()));
            for (&[out, into], ((peer, counts), (waiting, used))) in self.ends[at].iter().zip(rows) {
                let ring = &self.rings[out];
                let back = interfaces(machines[usize::from(*peer)]).counts();
                let there = back.map(|(_, counts)| *counts).nth(self.port(out)).expect("it leads back");
                let crossing = ring.pointers.len() as u64;
                assert_eq!(counts.sent, ring.came + crossing);
                assert_eq!((there.arrived, counts.arrived), (ring.came, self.rings[into].came));
                let inside = there.arrived - there.read;
                assert_eq!(counts.offered, there.read + inside + crossing + waiting + counts.dropped);
                assert!(ring.held() <= used as usize && (used as usize) < ring.lines.len());
                assert!(there.read <= ring.begun.max(if ring.looks { 0 } else { ring.came }));
            }
        }
    }

    /// Returns the number of times that a machine has read the poll word of each of its interfaces.
    pub fn looked(&self, machine: usize) -> Vec<u64> {
        self.ends[machine].iter().map(|[_, into]| self.rings[*into].looked).collect()
    }

    /// Returns the interface that reads a ring, by its number at its machine.
    fn port(&self, ring: usize) -> usize {
        let mut ends = self.ends.iter().filter_map(|ends| ends.iter().position(|[_, into]| *into == ring));
        ends.next().expect("somebody reads it")
    }

    /// Checks that all rings are empty, and that both sides know it.
    pub fn check_empty(&self, simulation: &Simulation<World>) {
        self.check(simulation);
        assert!(self.rings.iter().all(|ring| ring.held() == 0 && ring.messages.is_empty()), "{:?}", self.rings);
        for mcn in servers(simulation).into_iter().map(interfaces) {
            assert!(mcn.used().all(|lines| lines == 0) && mcn.waiting().all(|packets| packets == 0));
        }
    }
}

fn interfaces(machine: &Machine) -> &Mcn {
    machine.first().expect("it has interfaces")
}

impl Observer<World> for Shadow {
    fn before(&mut self, event: &Event<Payload>, world: &World) {
        let World::Server(machine) = world else { return };
        let at = self.machines[&machine.first_id().0];
        if let Payload::Data(id) = event.payload {
            match self.role(at, id, machine) {
                Some(Role::Ring { ring, at }) => self.rings[ring].read(at),
                Some(Role::End { ring }) => self.rings[ring].look(),
                Some(Role::Start { .. }) | None => {}
            }
        }
        if Some(event.target) == machine.id(PartKind::Mcn) {
            self.on_interfaces(at, event.payload, machine);
        }
    }

    fn after(&mut self, _: &Event<Payload>, _: &World) {}
}
