//! Allocation in a router: virtual channels of the next routers, and the crossbar.

use super::{Network, HEAD, NOBODY, PORTS, TAIL};
use crate::routes::bits;
use crate::{Allocation, Reuse};

/// Number of ports that covers the routers of a mesh, with some margin.
const FEW_PORTS: usize = 8;

/// Requests for the crossbar of a router with up to `P` ports. Firm requests hold a channel of the next router
/// already.
struct Requests<const P: usize> {
    /// Outputs that are requested, as a bit mask.
    outputs: u32,
    /// By output: requesting inputs, as a bit mask. Those of `speculative` hold no channel yet.
    firm: [u32; P],
    speculative: [u32; P],
    /// By input: the virtual channel that makes the request.
    vc: [u8; P],
}

impl<const P: usize> Requests<P> {
    #[inline]
    fn new() -> Self {
        Self { outputs: 0, firm: [0; P], speculative: [0; P], vc: [0; P] }
    }

    #[inline]
    fn add(&mut self, input: usize, output: usize, vc: usize, firm: bool) {
        self.outputs |= 1 << output;
        let row = if firm { &mut self.firm } else { &mut self.speculative };
        row[output] |= 1 << input;
        self.vc[input] = vc as u8;
    }
}

impl Network {
    pub(super) fn allocate(&mut self, router: usize) {
        // The crossbar sees the state at the beginning of the cycle.
        let firm = self.states[router].ready;
        // Taken before channels are allocated: a head that gets one in this cycle is still a speculative request.
        let speculative = match self.rules.allocation {
            Allocation::Staged => 0,
            Allocation::Speculative | Allocation::AtSwitch => self.speculative_requests(router),
        };
        // AtSwitch allocates a channel only to a head that has won the crossbar.
        if self.rules.allocation != Allocation::AtSwitch && self.states[router].waiting != 0 {
            self.allocate_vcs(router);
        }
        if firm | speculative != 0 {
            // Most routers have few ports, so their request tables are kept short to clear.
            if self.ports <= FEW_PORTS {
                self.allocate_crossbar::<FEW_PORTS>(router, firm, speculative);
            } else {
                self.allocate_crossbar::<PORTS>(router, firm, speculative);
            }
        }
        let state = &self.states[router];
        // An idle router costs nothing until a flit or a credit wakes it.
        if state.ready | state.waiting == 0 {
            self.awake[router / 64] &= !(1 << (router % 64));
        }
    }

    /// Allocates the crossbar, which passes at most one flit per input and one per output.
    #[inline]
    fn allocate_crossbar<const P: usize>(&mut self, router: usize, firm: u64, speculative: u64) {
        let mut requests = Requests::<P>::new();
        match self.rules.allocation {
            Allocation::AtSwitch => self.request_crossbar_as_equals(router, firm, speculative, &mut requests),
            _ => self.request_crossbar(router, firm, speculative, &mut requests),
        }
        self.grant(router, &requests);
    }

    /// Returns the waiting inputs for which a channel is free and has room.
    fn speculative_requests(&self, router: usize) -> u64 {
        let state = &self.states[router];
        // Without room behind the channel a grant of the crossbar would be lost for certain.
        let good = state.free & state.credit;
        let mut found = 0;
        for local in each(state.waiting) {
            if self.wanted[router * self.width + local] & good != 0 {
                found |= 1 << local;
            }
        }
        found
    }

    /// Allocates free channels of the next routers to waiting heads: each head requests one, each channel grants one.
    fn allocate_vcs(&mut self, router: usize) {
        let base = router * self.width;
        let (waiting, free) = (self.states[router].waiting, self.states[router].free);
        let mut asked = 0_u64;
        for local in each(waiting) {
            // Room is not needed yet: a channel may be held while its buffer is full.
            let wanted = self.wanted[base + local] & free;
            if wanted != 0 {
                let output = next(wanted, self.turn_ask[base + local]);
                asked |= 1 << output;
                self.asking[output] |= 1 << local;
            }
        }
        for output in each(asked) {
            // Taken and not read, so that the table is empty for the next router.
            let asking = std::mem::take(&mut self.asking[output]);
            let input = next(asking, self.turn_grant[base + output]);
            // Pointers move on a grant only: an input that lost keeps its turn, so none starves.
            self.turn_ask[base + input] = self.after(output);
            self.turn_grant[base + output] = self.after(input);
            self.assign_vc(router, input, output);
        }
    }

    /// Returns the virtual channel after `local`, cyclically over all of a router.
    #[inline]
    fn after(&self, local: usize) -> u8 {
        (if local + 1 == self.width { 0 } else { local + 1 }) as u8
    }

    fn assign_vc(&mut self, router: usize, input: usize, output: usize) {
        let (cell, behind) = (router * self.width + input, router * self.width + output);
        self.output[cell] = output as u8;
        self.owner[behind] = input as u8;
        let state = &mut self.states[router];
        state.waiting &= !(1 << input);
        state.active |= 1 << input;
        state.free &= !(1 << output);
        // With a credit the packet may pass: in this cycle if its request is speculative, else in the next.
        self.refresh_ready(router, cell, 1 << input);
    }

    /// Selects one request per input: firm requests before hopeful ones, then round robin.
    #[inline]
    fn request_crossbar<const P: usize>(&self, router: usize, firm: u64, speculative: u64, requests: &mut Requests<P>) {
        let mask = bits(self.vcs);
        for input in 0..self.ports {
            let shift = input * self.vcs;
            let (own_firm, own_speculative) = (firm >> shift & mask, speculative >> shift & mask);
            // Firm requests cannot be wasted, so they go first (Peh and Dally, HPCA 2001).
            let own = if own_firm != 0 { own_firm } else { own_speculative };
            if own != 0 {
                let (output, vc) = self.choose(router, input, own);
                requests.add(input, output, vc, own_firm != 0);
            }
        }
    }

    /// Selects one of the virtual channels `own` of an input: round robin among the channels to each output, then
    /// round robin among the outputs. Returns the output and the channel.
    #[inline]
    fn choose(&self, router: usize, input: usize, own: u64) -> (usize, usize) {
        let base = router * self.width + input * self.vcs;
        // A single request, the common case, needs no arbitration.
        if own & (own - 1) == 0 {
            let vc = own.trailing_zeros() as usize;
            return (usize::from(self.output_port[base + vc]), vc);
        }
        let state = &self.states[router];
        let turn = u32::from(state.turn_vc[input]);
        let (mut outputs, mut vc_of) = (0_u64, [0_u8; PORTS]);
        // Channels at or after the pointer come first, then those before it.
        let below = own & ((1 << turn) - 1);
        for vc in each(own & !below).chain(each(below)) {
            let output = usize::from(self.output_port[base + vc]);
            if outputs >> output & 1 == 0 {
                outputs |= 1 << output;
                vc_of[output] = vc as u8;
            }
        }
        let output = next(outputs, state.turn_output[input]);
        (output, usize::from(vc_of[output]))
    }

    /// Selects one request per input: round robin over its virtual channels, with or without a channel of the next
    /// router.
    #[inline]
    fn request_crossbar_as_equals<const P: usize>(
        &self,
        router: usize,
        firm: u64,
        speculative: u64,
        requests: &mut Requests<P>,
    ) {
        for input in 0..self.ports {
            let shift = input * self.vcs;
            let own = (firm | speculative) >> shift & bits(self.vcs);
            if own != 0 {
                let vc = next(own, self.states[router].turn_vc[input]);
                let output = usize::from(self.output_port[router * self.width + shift + vc]);
                // AtSwitch has no priority among requests (docs/models/noc.md, Allocation), so all count as firm.
                requests.add(input, output, vc, true);
            }
        }
    }

    /// Grants one input per output, and sends its flit.
    fn grant<const P: usize>(&mut self, router: usize, requests: &Requests<P>) {
        for output in each(u64::from(requests.outputs)) {
            let firm = requests.firm[output];
            let inputs = if firm != 0 { firm } else { requests.speculative[output] };
            let state = &mut self.states[router];
            let input = next(u64::from(inputs), state.turn_input[output]);
            let vc = usize::from(requests.vc[input]);
            // The pointer moves behind the winner, which is then served last.
            state.turn_input[output] = ((input + 1) % self.ports) as u8;
            state.turn_output[input] = ((output + 1) % self.ports) as u8;
            state.turn_vc[input] = ((vc + 1) % self.vcs) as u8;
            let local = input * self.vcs + vc;
            if self.rules.allocation == Allocation::AtSwitch && state.waiting >> local & 1 != 0 {
                let wanted = self.wanted[router * self.width + local] & state.free & state.credit;
                // The lowest free one, as between the routers of Garnet.
                self.assign_vc(router, local, wanted.trailing_zeros() as usize);
            }
            // A speculative grant without a channel has wasted the output's cycle.
            if self.states[router].ready >> local & 1 != 0 {
                self.send(router, input, local);
            }
        }
    }

    /// Sends the first flit of an input virtual channel over the crossbar.
    fn send(&mut self, router: usize, input: usize, local: usize) {
        let cell = router * self.width + local;
        let output = usize::from(self.output[cell]);
        let behind = router * self.width + output;
        let first = usize::from(self.first[cell]);
        let flit = self.buffers[(cell << self.ring) + first];
        self.first[cell] = ((first + 1) & ((1 << self.ring) - 1)) as u8;
        self.len[cell] -= 1;
        self.room[behind] -= 1;
        let port = usize::from(self.output_port[cell]);
        self.counters.sent[router * self.ports + port] += 1;
        let wire = self.down[router * self.ports + port];
        let vc = (output - port * self.vcs) as u32;
        self.wheel.flit(self.cycle + u64::from(wire.cycles), wire.base + vc, flit);
        let wire = self.up[router * self.ports + input];
        let vc = (local - input * self.vcs) as u32;
        // The credit leaves with the flit: its place in the buffer is free from now on.
        self.wheel.credit(self.cycle + u64::from(wire.cycles), wire.base + vc);
        let state = &mut self.states[router];
        // The last place is gone; the packet keeps the channel and waits for a credit.
        if self.room[behind] == 0 {
            state.credit &= !(1 << output);
            state.ready &= !(1 << local);
        }
        if flit & TAIL != 0 {
            self.release_vc(router, local, output);
        } else if self.len[cell] == 0 {
            state.ready &= !(1 << local);
        }
    }

    /// Releases the channel of a packet that has passed, and makes the next packet of the buffer the first.
    fn release_vc(&mut self, router: usize, local: usize, output: usize) {
        let (cell, behind) = (router * self.width + local, router * self.width + output);
        let state = &mut self.states[router];
        state.active &= !(1 << local);
        state.ready &= !(1 << local);
        self.owner[behind] = NOBODY;
        // With Drained the last credit frees the channel (`receive_credit`).
        if self.rules.reuse == Reuse::TailSent {
            state.free |= 1 << output;
        }
        // With TailSent the next packet may stand behind the tail in the same buffer.
        if self.len[cell] > 0 {
            self.route_head(router, cell, 1 << local);
        }
    }
}

/// Iterates over the set bits of a word, from the lowest.
#[inline]
fn each(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

/// Returns the first set bit at or after `turn`, or else the lowest one (round robin).
#[inline]
pub(super) fn next(word: u64, turn: u8) -> usize {
    let late = word >> turn;
    if late != 0 {
        usize::from(turn) + late.trailing_zeros() as usize
    } else {
        word.trailing_zeros() as usize
    }
}

/// Returns the word of a flit: its packet, and the marks of head and tail.
pub(super) fn flit_of(packet: u32, first: bool, last: bool) -> u32 {
    packet | if first { HEAD } else { 0 } | if last { TAIL } else { 0 }
}
