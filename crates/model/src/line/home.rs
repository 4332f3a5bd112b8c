//! The home of a line: the socket, the slice of its CHA that answers for it, and its place in its memory.

use super::{Decoder, Place};
use serde::{Deserialize, Serialize};

/// Lines of a socket, as a power of two (64 TiB): the number of its socket stands above these bits of a line.
const SOCKET_BITS: u32 = 40;
const LINE_BYTES: u64 = 64;

/// The home of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The socket whose memory it lies in.
    pub socket: u8,
    /// The slice of the CHA there.
    pub slice: u8,
    /// Where it lies in memory.
    pub place: Place,
}

/// The homes of the lines of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SocketHomes {
    /// The slices that they are spread over.
    pub slices: u32,
    /// Where they lie in memory.
    pub decoder: Decoder,
}

/// The homes of all lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Homes {
    sockets: Vec<SocketHomes>,
}

impl Homes {
    /// Lines of some sockets, in the order of their numbers.
    #[must_use]
    pub fn new(sockets: Vec<SocketHomes>) -> Self {
        Self { sockets }
    }

    /// The home of line `line` (physical address / 64).
    ///
    /// # Panics
    /// If there is no such socket.
    #[must_use]
    #[inline]
    pub fn of(&self, line: u64) -> Home {
        let socket = socket_of(line);
        let within = within(line);
        let SocketHomes { slices, decoder } = &self.sockets[usize::from(socket)];
        Home { socket, slice: slice_of(within, *slices), place: decoder.place(within) }
    }

    /// Where a line lies in the memory of its socket.
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        self.of(line).place
    }
}

/// The physical address at which the memory of a socket begins.
#[must_use]
pub fn memory_of(socket: u8) -> u64 {
    (u64::from(socket) << SOCKET_BITS) * LINE_BYTES
}

/// The socket whose memory a line lies in.
#[must_use]
#[inline]
pub fn socket_of(line: u64) -> u8 {
    (line >> SOCKET_BITS) as u8
}

/// The number of a line in the memory of its socket.
#[inline]
fn within(line: u64) -> u64 {
    line & ((1 << SOCKET_BITS) - 1)
}

/// The slice of a line: a multiplicative hash of its place in the memory of its socket, scaled to any number of slices.
#[must_use]
#[inline]
pub fn slice_of(line: u64, slices: u32) -> u8 {
    let hash = within(line).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((hash * u64::from(slices)) >> 32) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::one_bank;

    fn homes(slices: u32) -> SocketHomes {
        SocketHomes { slices, decoder: one_bank(&[6, 7, 8]) }
    }

    #[test]
    fn a_line_is_at_home_at_the_socket_above_its_bits() {
        let homes = Homes::new(vec![homes(7), homes(4)]);
        for line in [0, 1, 5, 77, (1 << SOCKET_BITS) - 1] {
            let [first, second] = [homes.of(line), homes.of(1 << SOCKET_BITS | line)];
            assert_eq!((first.socket, second.socket), (0, 1));
            assert_eq!((first.slice, second.slice), (slice_of(line, 7), slice_of(line, 4)));
            assert_eq!(first.place, second.place);
            assert_eq!(slice_of(memory_of(1) / LINE_BYTES + line, 4), second.slice);
            assert_eq!(homes.of(memory_of(1) / LINE_BYTES + line), second);
        }
    }
}
