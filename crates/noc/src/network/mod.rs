//! Cycle-level simulation of flits.
//!
//! In a cycle flits and credits arrive first, then every terminal sends at most one flit, then every router with flits
//! or requests allocates. No effect of a router reaches another one in the same cycle, so the order of routers does
//! not matter.

mod allocate;
mod counters;
mod terminal;
#[cfg(test)]
mod tests;
mod wheel;

use crate::routes::bits;
use crate::{Layout, Reuse, Router, Routes};
use counters::NetworkCounters;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
use terminal::Terminals;
use wheel::Wheel;

/// Id of a packet while it is in the network.
pub type PacketId = u32;

/// Packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Terminal that sends the packet.
    pub source: u16,
    /// Terminal that receives the packet.
    pub destination: u16,
    /// Class of the packet.
    pub class: u8,
    /// Group of the packet: its class in one order of dimensions; see [`Routes`].
    pub group: u8,
    /// Length of the packet, in flits.
    pub flits: u16,
    /// Cycle in which the packet was offered.
    pub created: u64,
    /// Cycle in which the head flit left the terminal's queue.
    pub entered: u64,
    /// Tag that the sender attached.
    pub tag: u64,
}

/// Packet that has arrived completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Packet that arrived.
    pub packet: Packet,
    /// Cycle in which the tail flit reached the terminal.
    pub at: u64,
}

/// Marks the head flit of a packet in the word of a flit; [`TAIL`] marks the tail flit.
const HEAD: u32 = 1 << 31;
const TAIL: u32 = 1 << 30;
const PACKET: u32 = TAIL - 1;
/// Marks a target at a terminal in the target words of flits and credits.
const AT_TERMINAL: u32 = 1 << 31;
const NOBODY: u8 = u8::MAX;
/// Largest number of ports of a router.
const PORTS: usize = 32;

/// Allocation state of a router. Bits are virtual channels, `port * vcs + vc`, of its inputs or of its outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct RouterState {
    /// Inputs: a head flit is first, and has no channel of the next router.
    waiting: u64,
    /// Inputs: a packet holds a channel of the next router.
    active: u64,
    /// Inputs: active, with a flit and with a credit for it.
    ready: u64,
    /// Outputs: the channel can be allocated to a packet.
    free: u64,
    /// Outputs: the next router has room in the channel.
    credit: u64,
    /// Round-robin pointer over the virtual channels of an input.
    turn_vc: [u8; PORTS],
    /// Round-robin pointer of an input over the outputs.
    turn_output: [u8; PORTS],
    /// Round-robin pointer of an output over the inputs.
    turn_input: [u8; PORTS],
}

/// Wire at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Wire {
    /// First virtual channel at the other end, with `AT_TERMINAL` if that is a terminal.
    base: u32,
    /// Latency of a flit (outputs) or of a credit (inputs), in cycles.
    cycles: u32,
}

/// Network with the packets in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    cycle: u64,
    rules: Router,
    routes: Routes,
    vcs: usize,
    /// Virtual channels of a router, over all ports.
    width: usize,
    ports: usize,
    states: Vec<RouterState>,
    /// Routers with something to allocate, as a bit mask.
    awake: Vec<u64>,
    /// Buffers of the input virtual channels: a ring of `1 << ring` words each.
    buffers: Vec<u32>,
    ring: u32,
    first: Vec<u8>,
    len: Vec<u8>,
    /// Per input virtual channel: the output channels that its head may use, as a bit mask. `output` is the one that
    /// its packet holds.
    wanted: Vec<u64>,
    output: Vec<u8>,
    output_port: Vec<u8>,
    /// Per output virtual channel: the input that holds it. `room` is the free room in the buffer behind it.
    owner: Vec<u8>,
    room: Vec<u8>,
    /// Round-robin pointers of the output virtual channels over the inputs. `turn_ask` is that of the inputs over the
    /// outputs.
    turn_grant: Vec<u8>,
    turn_ask: Vec<u8>,
    /// By output virtual channel of a router: inputs that request it, as a bit mask. Empty between two routers.
    asking: Vec<u64>,
    /// By port: wire of the output's flits. `up` is the wire of the input's credits.
    down: Vec<Wire>,
    up: Vec<Wire>,
    wheel: Wheel,
    terminals: Terminals,
    /// Packets that have left their terminal's queue, by id. `vacant` lists the unused ids.
    packets: Vec<Packet>,
    vacant: Vec<PacketId>,
    rng: Rng,
    counters: NetworkCounters,
}

impl Network {
    /// Creates an empty network of routers that [`Router::check`] accepts. `seed` determines the orders that packets
    /// draw at random.
    ///
    /// # Panics
    /// Panics if a router has more than 32 ports, or if a channel takes longer than 65536 cycles.
    #[must_use]
    pub fn new(rules: Router, layout: &Layout, routes: Routes, seed: u64) -> Self {
        let (ports, vcs, count) = (layout.ports_max(), routes.vcs, layout.routers.len());
        assert!(ports <= PORTS, "{ports} ports at a router");
        let width = ports * vcs;
        let all = bits(width);
        let state = RouterState { free: all, credit: all, ..RouterState::default() };
        // A power of two, so that positions in the ring wrap by a mask.
        let ring = u32::from(rules.vc_flits).next_power_of_two().trailing_zeros();
        let (down, up) = wires(layout, ports, vcs);
        let longest = down.iter().chain(&up).map(|wire| wire.cycles).max().unwrap_or(1);
        let entry = layout.terminals.iter().map(|terminal| terminal.in_cycles.max(terminal.credit_cycles)).max();
        let cells = count * width;
        Self {
            cycle: 0,
            rules,
            vcs,
            width,
            ports,
            states: vec![state; count],
            awake: vec![0; count.div_ceil(64)],
            buffers: vec![0; cells << ring],
            ring,
            first: vec![0; cells],
            len: vec![0; cells],
            wanted: vec![0; cells],
            output: vec![0; cells],
            output_port: vec![0; cells],
            owner: vec![NOBODY; cells],
            room: vec![rules.vc_flits; cells],
            turn_grant: vec![0; cells],
            turn_ask: vec![0; cells],
            asking: vec![0; width],
            down,
            up,
            wheel: Wheel::new(longest.max(entry.unwrap_or(1))),
            terminals: Terminals::new(layout, &routes, &rules, ports),
            routes,
            packets: Vec::new(),
            vacant: Vec::new(),
            // The stream number is "noc" in ASCII.
            rng: Rng::new(seed, 0x6e6f_6300),
            counters: NetworkCounters::new(count * ports),
        }
    }

    /// Returns the cycle that the next step simulates.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Advances the clock of an empty network.
    ///
    /// # Panics
    /// Panics if the network is not empty, or if the cycle lies in the past.
    pub fn skip_to(&mut self, cycle: u64) {
        assert!(self.is_idle() && cycle >= self.cycle, "there are packets on their way");
        self.cycle = cycle;
    }

    /// Returns true if no packet and no credit is in flight.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.wheel.is_empty()
    }

    /// Returns the number of packets offered and not delivered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.terminals.waiting + self.packets.len() - self.vacant.len()
    }

    /// Returns the flits sent since the start by each output (`router * ports + port`) of the routers.
    #[must_use]
    pub fn sent(&self) -> &[u64] {
        &self.counters.sent
    }

    /// Returns the flits that terminals have sent since the start.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.counters.injected
    }

    /// Returns the number of ports per router, which is the stride of [`Network::sent`].
    #[must_use]
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// Returns the flits that have passed routers, counted once at each router.
    #[must_use]
    pub fn flit_hops(&self) -> u64 {
        self.counters.sent.iter().sum()
    }

    /// Returns the routing table.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Simulates one cycle. Packets that have arrived are appended to `delivered`.
    pub fn step(&mut self, delivered: &mut Vec<Delivery>) {
        // Arrivals first: what was sent in an earlier cycle takes part in the allocation of this one.
        self.arrivals(delivered);
        self.send_from_terminals();
        for word in 0..self.awake.len() {
            // A copy: routers may fall asleep during the scan, and none is woken by another within a cycle.
            let mut routers = self.awake[word];
            while routers != 0 {
                let router = word * 64 + routers.trailing_zeros() as usize;
                routers &= routers - 1;
                self.allocate(router);
            }
        }
        self.cycle += 1;
    }

    fn arrivals(&mut self, delivered: &mut Vec<Delivery>) {
        let (flits, credits) = self.wheel.take(self.cycle);
        for &(target, flit) in &flits {
            if target & AT_TERMINAL == 0 {
                self.receive(target as usize, flit);
            } else {
                self.deliver(target & !AT_TERMINAL, flit, delivered);
            }
        }
        for &target in &credits {
            if target & AT_TERMINAL == 0 {
                self.receive_credit(target as usize);
            } else {
                self.terminals.receive_credit((target & !AT_TERMINAL) as usize);
            }
        }
        self.wheel.recycle(self.cycle, flits, credits);
    }

    /// Enqueues a flit in an input virtual channel.
    fn receive(&mut self, cell: usize, flit: u32) {
        let (router, bit) = (cell / self.width, 1_u64 << (cell % self.width));
        let len = usize::from(self.len[cell]);
        debug_assert!(len < usize::from(self.rules.vc_flits), "a flit came without a credit");
        let place = (usize::from(self.first[cell]) + len) & ((1 << self.ring) - 1);
        self.buffers[(cell << self.ring) + place] = flit;
        self.len[cell] += 1;
        // Behind other flits it changes neither the head nor the readiness of the buffer.
        if len > 0 {
            return;
        }
        // No packet holds the channel, so the flit is a head.
        if self.states[router].active & bit == 0 {
            self.route_head(router, cell, bit);
        } else {
            self.refresh_ready(router, cell, bit);
        }
    }

    /// Computes the next hop of the head flit that is first in a buffer.
    fn route_head(&mut self, router: usize, cell: usize, bit: u64) {
        let flit = self.buffers[(cell << self.ring) + usize::from(self.first[cell])];
        debug_assert!(flit & HEAD != 0, "packets are mixed in a virtual channel");
        let packet = &self.packets[(flit & PACKET) as usize];
        let hop = self.routes.hop(packet.group, router, packet.destination);
        self.wanted[cell] = hop.vcs << (usize::from(hop.port) * self.vcs);
        self.output_port[cell] = hop.port;
        // Routed once per router, when the head becomes first; the table makes lookahead unnecessary.
        self.states[router].waiting |= bit;
        self.awake[router / 64] |= 1 << (router % 64);
    }

    /// Marks an active input virtual channel as ready if it has both a flit and a credit.
    #[inline]
    fn refresh_ready(&mut self, router: usize, cell: usize, bit: u64) {
        let state = &mut self.states[router];
        if self.len[cell] > 0 && state.credit >> self.output[cell] & 1 != 0 {
            state.ready |= bit;
            self.awake[router / 64] |= 1 << (router % 64);
        }
    }

    fn receive_credit(&mut self, cell: usize) {
        let (router, local) = (cell / self.width, cell % self.width);
        self.room[cell] += 1;
        self.states[router].credit |= 1 << local;
        let owner = self.owner[cell];
        if owner != NOBODY {
            self.refresh_ready(router, router * self.width + usize::from(owner), 1 << owner);
        // All places are back: the tail has left the buffer there, so it holds no packet any more.
        } else if self.rules.reuse == Reuse::Drained && self.room[cell] == self.rules.vc_flits {
            self.states[router].free |= 1 << local;
        }
    }

    /// Delivers a flit to a terminal.
    fn deliver(&mut self, place: u32, flit: u32, delivered: &mut Vec<Delivery>) {
        self.counters.ejected += 1;
        self.terminals.receive(place as usize, self.cycle, &mut self.wheel);
        if flit & TAIL != 0 {
            let id = flit & PACKET;
            delivered.push(Delivery { packet: self.packets[id as usize], at: self.cycle });
            // Ids are reused, so that packets need no memory in the steady state.
            self.vacant.push(id);
        }
    }
}

/// Computes the wires of the flits of every output, and of the credits of every input.
fn wires(layout: &Layout, ports: usize, vcs: usize) -> (Vec<Wire>, Vec<Wire>) {
    let count = layout.routers.len() * ports;
    let (mut down, mut up) = (vec![Wire::default(); count], vec![Wire::default(); count]);
    let index = |port: crate::Port| usize::from(port.router) * ports + usize::from(port.port);
    for channel in &layout.channels {
        let (from, to) = (index(channel.from), index(channel.to));
        down[from] = Wire { base: (to * vcs) as u32, cycles: channel.cycles };
        up[to] = Wire { base: (from * vcs) as u32, cycles: channel.credit_cycles };
    }
    for (number, terminal) in layout.terminals.iter().enumerate() {
        let base = AT_TERMINAL | (number * vcs) as u32;
        down[index(terminal.at)] = Wire { base, cycles: terminal.out_cycles };
        // The terminal spends no cycle of its own on a credit.
        up[index(terminal.at)] = Wire { base, cycles: terminal.credit_cycles.saturating_sub(1).max(1) };
    }
    (down, up)
}
