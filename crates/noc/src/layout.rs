//! Layout of a network: routers, channels, terminals.

use serde::{Deserialize, Serialize};

/// Position on the die: column and row, counted from the north-west corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Column, from west to east.
    pub column: u16,
    /// Row, from north to south.
    pub row: u16,
}

/// Port of a router, with an input and an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Port {
    /// Index of the router.
    pub router: u16,
    /// Index of the port at the router.
    pub port: u8,
}

/// Channel from one router to another, one flit wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Output that feeds the channel.
    pub from: Port,
    /// Input that the channel feeds.
    pub to: Port,
    /// Cycles from winning the crossbar of the first router to requesting that of the second, at least 1.
    pub cycles: u32,
    /// Credit delay: cycles from when a flit leaves the buffer at `to` until `from` may reuse the slot, at least 1.
    pub credit_cycles: u32,
}

/// Terminal, where packets enter and leave the network: one flit per cycle in, and one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Port of the router that the terminal is attached to.
    pub at: Port,
    /// Position of the terminal.
    pub place: Place,
    /// Cycles from the terminal to the allocation at the router, at least 1.
    pub in_cycles: u32,
    /// Cycles from winning the crossbar of the router to the terminal, at least 1.
    pub out_cycles: u32,
    /// Cycles of a credit to the router, at least 1. A credit to the terminal takes one cycle less, but at least 1,
    /// because the terminal spends no cycle of its own on the credit.
    pub credit_cycles: u32,
}

/// Layout of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Positions of the routers.
    pub routers: Vec<Place>,
    /// Number of ports in use so far, for each router.
    pub ports: Vec<u8>,
    /// Channels between routers, in the order in which they were added.
    pub channels: Vec<Channel>,
    /// Terminals.
    pub terminals: Vec<Terminal>,
    /// True if each terminal is beside the next one, and the last one beside the first.
    pub ring: bool,
}

impl Layout {
    /// Adds a router and returns its index.
    ///
    /// # Panics
    /// Panics if there are 65536 routers already.
    pub fn add_router(&mut self, place: Place) -> u16 {
        self.routers.push(place);
        self.ports.push(0);
        u16::try_from(self.routers.len() - 1).expect("fewer routers than 65536")
    }

    /// Allocates the next port of a router.
    ///
    /// # Panics
    /// Panics if there is no such router, or if it has 255 ports already.
    pub fn port(&mut self, router: u16) -> Port {
        let ports = &mut self.ports[usize::from(router)];
        let port = Port { router, port: *ports };
        *ports += 1;
        port
    }

    /// Connects two routers by a channel in each direction, with one port each. Returns the two ports.
    pub fn join(&mut self, one: u16, other: u16, cycles: u32, credit_cycles: u32) -> (Port, Port) {
        let (one, other) = (self.port(one), self.port(other));
        // Each direction is a channel with its own flits: links are full duplex.
        self.channels.push(Channel { from: one, to: other, cycles, credit_cycles });
        self.channels.push(Channel { from: other, to: one, cycles, credit_cycles });
        (one, other)
    }

    /// Returns the largest number of ports of a router.
    #[must_use]
    pub fn ports_max(&self) -> usize {
        self.ports.iter().copied().max().map_or(0, usize::from)
    }

    /// Returns, for each output (index `router * ports_max + port`), the router downstream of the output, or `None` if
    /// the output leads to a terminal.
    #[must_use]
    pub fn downstream(&self) -> Vec<Option<u16>> {
        let ports = self.ports_max();
        let mut downstream = vec![None; self.routers.len() * ports];
        for channel in &self.channels {
            downstream[usize::from(channel.from.router) * ports + usize::from(channel.from.port)] =
                Some(channel.to.router);
        }
        downstream
    }

    /// Returns a name for a router: its column and row.
    #[must_use]
    pub fn name(&self, router: u16) -> String {
        let Place { column, row } = self.routers[usize::from(router)];
        format!("({column}, {row})")
    }

    /// Returns a name for the output of a router: the channel, or the terminal behind it.
    #[must_use]
    pub fn output_name(&self, port: Port) -> String {
        let from = self.name(port.router);
        match self.channels.iter().find(|channel| channel.from == port) {
            Some(channel) => format!("{from} -> {}", self.name(channel.to.router)),
            None => match self.terminals.iter().position(|terminal| terminal.at == port) {
                Some(terminal) => format!("{from} -> terminal {terminal}"),
                None => format!("{from} port {}", port.port),
            },
        }
    }
}
