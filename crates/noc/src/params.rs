//! Parameters of a network on a chip.

use crate::NocError;
use serde::{Deserialize, Serialize};

/// Network: its shape, its routers, and the classes of messages that it carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Topology of the routers.
    pub shape: Shape,
    /// Properties of every router.
    pub router: Router,
    /// Classes of messages, at least one. Each class has private virtual channels.
    pub classes: Vec<Class>,
}

/// Topology of the routers, and the places of the terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Columns and rows of routers, each connected to its neighbours, with one terminal per router.
    Mesh {
        /// Routers from west to east, 1 to 32.
        columns: u16,
        /// Routers from north to south, 1 to 32.
        rows: u16,
    },
    /// Ring of routers, with one terminal per router. Packets take the shorter direction, and draw one if both are
    /// equal.
    Ring {
        /// Routers, 2 to 256.
        nodes: u16,
    },
}

/// Order of dimensions in which messages of a class are routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// First along the row, then along the column.
    Xy,
    /// First along the column, then along the row.
    Yx,
    /// Random choice of one of the two per packet (O1TURN, Seo and others, ISCA 2005); each has half of the virtual
    /// channels.
    O1Turn,
}

/// Class of messages. Classes share links and nothing else, so a class that is stuck does not block another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// Name in reports.
    pub name: String,
    /// Order of dimensions in which the packets of the class are routed.
    pub order: Order,
    /// Private virtual channels at an input port: at least 1, with O1TURN or on a ring 2. Virtual channels of
    /// all classes times ports of a router are at most 64.
    pub vcs: u8,
}

/// Router with a buffer per input port and virtual channel, and a crossbar that passes one flit per input and one per
/// output in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Router {
    /// Capacity of the buffer of a virtual channel in flits, 1 to 255.
    pub vc_flits: u8,
    /// Time at which the head of a packet is allocated a virtual channel of the next router.
    pub allocation: Allocation,
    /// Time at which a virtual channel of the next router becomes free for another packet.
    pub reuse: Reuse,
    /// Cycles from winning the crossbar to the wire, 0 to 16.
    pub switch_cycles: u8,
    /// Cycles on the wire between neighbours, 0 to 16.
    pub link_cycles: u8,
    /// Credit delay: cycles from when a flit leaves a buffer until the upstream router may reuse its slot, 1 to 32.
    pub credit_cycles: u8,
}

/// Time at which the head of a packet is allocated a virtual channel of the next router. All allocators are separable
/// and input-first, with round-robin arbiters and one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocation {
    /// In the cycle in which the head requests the crossbar. Requests with a channel have priority at the crossbar,
    /// and a grant without a channel is wasted (Peh and Dally, HPCA 2001).
    Speculative,
    /// One cycle before the head requests the crossbar.
    Staged,
    /// When the head wins the crossbar: any free channel that its route permits.
    AtSwitch,
}

/// Time at which a virtual channel of the next router becomes free for another packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reuse {
    /// When the tail flit of the previous packet has been sent.
    TailSent,
    /// When the tail flit of the previous packet has left the buffer of the next router.
    Drained,
}

const WIRE_CYCLES_MAX: u8 = 16;
const CREDIT_CYCLES_MAX: u8 = 32;

impl Router {
    /// Checks that all properties are in range.
    ///
    /// # Errors
    /// Returns a [`NocError`] if a property is out of range.
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

    /// Returns the cycles that a head takes at every router before it requests the crossbar.
    #[must_use]
    pub fn allocation_cycles(&self) -> u32 {
        u32::from(self.allocation == Allocation::Staged)
    }

    /// Returns the cycles from a request of the crossbar to the request at the next router: 1 for allocation, the
    /// crossbar, the wire.
    #[must_use]
    pub fn hop_cycles(&self) -> u32 {
        // 1 for allocation: an effect of a router reaches another one in a later cycle.
        1 + u32::from(self.switch_cycles) + u32::from(self.link_cycles)
    }

    /// Returns the cycles from a terminal to the allocation at the first router.
    #[must_use]
    pub fn entry_cycles(&self) -> u32 {
        1 + u32::from(self.link_cycles)
    }
}
