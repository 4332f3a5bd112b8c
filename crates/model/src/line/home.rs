//! Home of a line: its socket, the CHA slice that serves it, and its place in memory.

use super::map::{Decoder, DramAddress};
use super::number::{of_cluster, socket_of, within};
use serde::{Deserialize, Serialize};

/// Home of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Socket whose memory holds the line.
    pub socket: u8,
    /// CHA slice of that socket.
    pub slice: u8,
    /// Location in memory.
    pub place: DramAddress,
}

/// Homes of the lines of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SocketHomes {
    /// Slices that the lines are spread over; of each cluster, if there are several.
    pub slices: u32,
    /// Address map of the memory.
    pub decoder: Decoder,
}

/// Homes of all lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Homes {
    sockets: Vec<SocketHomes>,
}

impl Homes {
    /// Creates the homes of the lines of `sockets`, which are in the order of their numbers.
    #[must_use]
    pub fn new(sockets: Vec<SocketHomes>) -> Self {
        Self { sockets }
    }

    /// Returns the home of line `line` (physical address / 64).
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    #[inline]
    pub fn of(&self, line: u64) -> Home {
        let socket = socket_of(line);
        let within = within(line);
        let SocketHomes { slices, decoder } = &self.sockets[usize::from(socket)];
        Home { socket, slice: slice_of(within, *slices), place: decoder.place(within) }
    }

    /// Returns the slice of a socket that serves a line on that socket, even if the line is homed on another socket.
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    pub fn slice(&self, socket: u8, line: u64) -> u8 {
        slice_of(line, self.sockets[usize::from(socket)].slices)
    }

    /// Returns the location of a line in the memory of its socket.
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> DramAddress {
        self.of(line).place
    }
}

/// Returns the slice of a line: a multiplicative hash of its number in the memory of its cluster, scaled to any number
/// of slices. Each cluster has `slices` slices, which follow those of the previous cluster.
#[must_use]
#[inline]
pub fn slice_of(line: u64, slices: u32) -> u8 {
    // The hash is within the cluster, so that its lines stay on its slices.
    let (cluster, line) = of_cluster(line);
    // The factor is 2^64 divided by the golden ratio.
    let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (cluster * u64::from(slices) + ((hash * u64::from(slices)) >> 32)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::map_tests::one_bank;
    use crate::line::number::{memory_of, memory_of_cluster, LINE_BYTES, SOCKET_BITS};

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
