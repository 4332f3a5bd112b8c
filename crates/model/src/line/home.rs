//! The home of a line: the socket, the slice of its CHA that answers for it, and its place in its memory.

use super::{Decoder, Place};
use serde::{Deserialize, Serialize};

/// Lines of a socket, as a power of two (64 TiB): the number of its socket stands above these bits of a line.
const SOCKET_BITS: u32 = 40;
const LINE_BYTES: u64 = 64;

/// Lines of a cluster of a socket, as a power of two (16 TiB): the number of its cluster stands above these bits, below
/// that of its socket.
const CLUSTER_BITS: u32 = 38;

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
    /// The slices that they are spread over: of each cluster, if there are several.
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

    /// The slice of a socket that stands for a line, which may be at home in another one.
    ///
    /// # Panics
    /// If there is no such socket.
    #[must_use]
    pub fn slice(&self, socket: u8, line: u64) -> u8 {
        slice_of(line, self.sockets[usize::from(socket)].slices)
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

/// The physical address at which the memory of a cluster of a socket begins.
#[must_use]
pub fn memory_of_cluster(socket: u8, cluster: u8) -> u64 {
    memory_of(socket) + (u64::from(cluster) << CLUSTER_BITS) * LINE_BYTES
}

/// The cluster of a line, and its number in the memory of that.
#[inline]
pub(super) fn of_cluster(line: u64) -> (u64, u64) {
    let line = within(line);
    (line >> CLUSTER_BITS, line & ((1 << CLUSTER_BITS) - 1))
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

/// The slice of a line: a multiplicative hash of its place in the memory of its cluster, scaled to any number of
/// slices.
/// Each cluster has so many; those of a cluster follow those of the one before.
#[must_use]
#[inline]
pub fn slice_of(line: u64, slices: u32) -> u8 {
    let (cluster, line) = of_cluster(line);
    let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (cluster * u64::from(slices) + ((hash * u64::from(slices)) >> 32)) as u8
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

    #[test]
    fn a_cluster_has_slices_of_its_own() {
        for line in (0..1000).map(|step| step * 7919) {
            let [first, last] = [0, 3].map(|cluster| slice_of(memory_of_cluster(2, cluster) / LINE_BYTES + line, 5));
            assert_eq!((first, last), (slice_of(line, 5), 15 + slice_of(line, 5)));
        }
    }
}
