//! What a network on a chip is made of.

use crate::NocError;
use serde::{Deserialize, Serialize};

/// A network: its shape, its routers, and the classes of messages that it carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// How routers are joined.
    pub shape: Shape,
    /// How every router works.
    pub router: Router,
    /// The classes of messages; each has virtual channels of its own. At least one.
    pub classes: Vec<Class>,
}

/// How routers are joined, and where terminals are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Columns and rows of routers, each joined to its neighbours, with a terminal each.
    Mesh {
        /// Routers from west to east, 1 to 32.
        columns: u16,
        /// Routers from north to south, 1 to 32.
        rows: u16,
    },
    /// Routers on a circle, with a terminal each; the shorter way is taken, clockwise when both are equal.
    Ring {
        /// Routers, 2 to 256.
        nodes: u16,
    },
}

/// The order of dimensions in which messages of a class travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// First along the row, then along the column.
    Xy,
    /// First along the column, then along the row.
    Yx,
    /// Each packet draws one of the two (O1TURN, Seo and others, ISCA 2005); each has half of the virtual channels.
    O1Turn,
}

/// A class of messages. Classes share links, and nothing else: a class that is stuck does not hold up another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// What it is called in reports.
    pub name: String,
    /// How its packets travel.
    pub order: Order,
    /// Virtual channels of an input port that are its own: at least 1, with O1TURN or on a ring 2, with both 4. Virtual
    /// channels of all classes times ports of a router are 64 at most.
    pub vcs: u8,
}

/// A router with a buffer per input port and virtual channel, and a crossbar that takes a flit per input and gives a
/// flit per output and cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Router {
    /// Flits in the buffer of a virtual channel, 1 to 255.
    pub vc_flits: u8,
    /// When the head of a packet gets a virtual channel of the next router.
    pub allocation: Allocation,
    /// When a virtual channel of the next router is free for another packet.
    pub reuse: Reuse,
    /// Cycles between winning the crossbar and being on the wire, 0 to 16.
    pub switch_cycles: u8,
    /// Cycles on the wire between neighbours, 0 to 16.
    pub link_cycles: u8,
    /// Cycles from a flit's leaving a buffer until the router before may send another for it, 1 to 32.
    pub credit_cycles: u8,
}

/// When the head of a packet gets a virtual channel of the next router. All allocators are separable, inputs first,
/// with round-robin arbiters and one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocation {
    /// In the cycle in which it asks for the crossbar; who has a channel already goes first at the crossbar, and a win
    /// without a channel is lost (Peh and Dally, HPCA 2001).
    Speculative,
    /// A cycle before it asks for the crossbar.
    Staged,
    /// When it wins the crossbar: a free channel of those that it may use.
    AtSwitch,
}

/// When a virtual channel of the next router is free for another packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reuse {
    /// When the last flit of the packet before was sent.
    TailSent,
    /// When the last flit of the packet before has left the buffer there.
    Drained,
}

const WIRE_CYCLES_MAX: u8 = 16;
const CREDIT_CYCLES_MAX: u8 = 32;

impl Router {
    /// Refuses what no router can be.
    ///
    /// # Errors
    /// When a property is out of range.
    pub fn check(&self) -> Result<(), NocError> {
        let ranges = [
            ("vc_flits", self.vc_flits, 1, u8::MAX),
            ("switch_cycles", self.switch_cycles, 0, WIRE_CYCLES_MAX),
            ("link_cycles", self.link_cycles, 0, WIRE_CYCLES_MAX),
            ("credit_cycles", self.credit_cycles, 1, CREDIT_CYCLES_MAX),
        ];
        match ranges.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => {
                Err(NocError::new(name, format!("{value} is out of range; {least} to {most} are allowed")))
            }
            None => Ok(()),
        }
    }

    /// Cycles that a head takes at every router before it asks for the crossbar.
    #[must_use]
    pub fn allocation_cycles(&self) -> u32 {
        u32::from(self.allocation == Allocation::Staged)
    }

    /// Cycles from asking for the crossbar to asking for the next router's: 1 for allocation, the crossbar, the wire.
    #[must_use]
    pub fn hop_cycles(&self) -> u32 {
        1 + u32::from(self.switch_cycles) + u32::from(self.link_cycles)
    }

    /// Cycles from a terminal to the first router's allocation.
    #[must_use]
    pub fn entry_cycles(&self) -> u32 {
        1 + u32::from(self.link_cycles)
    }
}
