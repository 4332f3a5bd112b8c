//! The drawing of a network: routers, channels, terminals.

use serde::{Deserialize, Serialize};

/// Where something lies on the die: column and row, from the north-west corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// From west to east.
    pub column: u16,
    /// From north to south.
    pub row: u16,
}

/// A port of a router, an input and an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Port {
    /// Index of the router.
    pub router: u16,
    /// Index of the port at the router.
    pub port: u8,
}

/// A channel from one router to another, a flit wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The output that feeds it.
    pub from: Port,
    /// The input that it feeds.
    pub to: Port,
    /// Cycles from winning the crossbar of the first router to asking for that of the second, at least 1.
    pub cycles: u32,
    /// Cycles from a flit's leaving the second router's buffer until the first may send another for it, at least 1.
    pub credit_cycles: u32,
}

/// Where packets enter and leave: one flit per cycle in, and one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// The port of the router that it is attached to.
    pub at: Port,
    /// Where it is drawn.
    pub place: Place,
    /// Cycles from the terminal to the allocation of the router, at least 1.
    pub in_cycles: u32,
    /// Cycles from winning the crossbar of the router to the terminal, at least 1.
    pub out_cycles: u32,
    /// Cycles of a credit to the router, at least 1. One to the terminal takes a cycle less, but at least 1: the
    /// terminal spends no cycle of its own on it.
    pub credit_cycles: u32,
}

/// The drawing of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Where the routers lie.
    pub routers: Vec<Place>,
    /// Ports of every router that are used so far.
    pub ports: Vec<u8>,
    /// Channels between routers, in the order in which they were drawn.
    pub channels: Vec<Channel>,
    /// Terminals.
    pub terminals: Vec<Terminal>,
}

impl Layout {
    /// Adds a router and returns its index.
    ///
    /// # Panics
    /// If there are 65535 routers already.
    pub fn router(&mut self, place: Place) -> u16 {
        self.routers.push(place);
        self.ports.push(0);
        u16::try_from(self.routers.len() - 1).expect("fewer routers than 65536")
    }

    /// Takes the next port of a router.
    ///
    /// # Panics
    /// If there is no such router, or it has 255 ports already.
    pub fn port(&mut self, router: u16) -> Port {
        let ports = &mut self.ports[usize::from(router)];
        let port = Port { router, port: *ports };
        *ports += 1;
        port
    }

    /// Joins two routers by a channel each way, over a port each. Returns the two ports.
    pub fn join(&mut self, one: u16, other: u16, cycles: u32, credit_cycles: u32) -> (Port, Port) {
        let (one, other) = (self.port(one), self.port(other));
        self.channels.push(Channel { from: one, to: other, cycles, credit_cycles });
        self.channels.push(Channel { from: other, to: one, cycles, credit_cycles });
        (one, other)
    }

    /// The largest number of ports of a router.
    #[must_use]
    pub fn most_ports(&self) -> usize {
        self.ports.iter().copied().max().map_or(0, usize::from)
    }

    /// By output, `router * most_ports + port`: the router behind it, none behind a terminal's.
    #[must_use]
    pub fn far(&self) -> Vec<Option<u16>> {
        let ports = self.most_ports();
        let mut far = vec![None; self.routers.len() * ports];
        for channel in &self.channels {
            far[usize::from(channel.from.router) * ports + usize::from(channel.from.port)] = Some(channel.to.router);
        }
        far
    }

    /// A name for a router: its column and row.
    #[must_use]
    pub fn name(&self, router: u16) -> String {
        let Place { column, row } = self.routers[usize::from(router)];
        format!("({column}, {row})")
    }

    /// A name for the output of a router: the channel, or the terminal behind it.
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
