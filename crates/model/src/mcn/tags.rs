//! Purpose of a request for a line of an SRAM, encoded in its tag.

/// Values of the lowest byte of a tag, distinct from those of other lines of network cores.
const READ: u32 = 16;
const DATA: u32 = 17;
const END: u32 = 18;
const START: u32 = 19;

/// Purpose of a request for a line of an SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingTag {
    /// A read whose data fills a slot of the core.
    Read {
        /// Index of the slot.
        slot: u16,
    },
    /// A write of a line of a message, by a core.
    Data {
        /// Index of the interface.
        port: u16,
    },
    /// A write of the pointer past a message, by a core.
    End {
        /// Index of the interface.
        port: u16,
    },
    /// A write of the pointer to the first unread line, by the driver.
    Start {
        /// Index of the interface.
        port: u16,
    },
}

impl RingTag {
    /// Returns the tag of a request of traffic class `class`.
    pub(crate) fn tag(self, class: u8) -> u32 {
        let (kind, high) = match self {
            Self::Read { slot } => (READ, slot),
            Self::Data { port } => (DATA, port),
            Self::End { port } => (END, port),
            Self::Start { port } => (START, port),
        };
        u32::from(high) << 16 | u32::from(class) << 8 | kind
    }

    /// Returns the purpose that a tag encodes.
    pub(crate) fn of(tag: u32) -> Self {
        let high = (tag >> 16) as u16;
        match tag & 0xff {
            READ => Self::Read { slot: high },
            DATA => Self::Data { port: high },
            END => Self::End { port: high },
            START => Self::Start { port: high },
            _ => unreachable!("a line of an SRAM has a tag of its own"),
        }
    }

    /// Returns true if a tag belongs to a request for a line of an SRAM.
    pub(crate) fn is(tag: u32) -> bool {
        (READ..=START).contains(&(tag & 0xff))
    }
}
