//! What a request for a line of an SRAM is for, as it stands in its tag.

/// What the lowest byte of a tag says: beyond what other lines of network cores are for.
const READ: u32 = 16;
const DATA: u32 = 17;
const END: u32 = 18;
const START: u32 = 19;

/// What a line of an SRAM is asked for or written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingTag {
    /// It is read: the slot of the core that its data fills.
    Read {
        /// The slot.
        slot: u16,
    },
    /// A line of a message is written, by a core.
    Data {
        /// The interface.
        port: u16,
    },
    /// The pointer past a message, by a core.
    End {
        /// The interface.
        port: u16,
    },
    /// The pointer to what has not been read, by the driver.
    Start {
        /// The interface.
        port: u16,
    },
}

impl RingTag {
    /// As it stands in the tag of a request of a class.
    pub(crate) fn tag(self, class: u8) -> u32 {
        let (kind, high) = match self {
            Self::Read { slot } => (READ, slot),
            Self::Data { port } => (DATA, port),
            Self::End { port } => (END, port),
            Self::Start { port } => (START, port),
        };
        u32::from(high) << 16 | u32::from(class) << 8 | kind
    }

    /// What a tag says, of a request for a line of an SRAM.
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

    /// Whether a tag is of such a request.
    pub(crate) fn is(tag: u32) -> bool {
        (READ..=START).contains(&(tag & 0xff))
    }
}
