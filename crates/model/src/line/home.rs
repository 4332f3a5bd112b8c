//! Home of a line: its socket, the CHA slice that serves it, and its place in memory.

use super::map::{Decoder, DramAddress};
use super::number::{of_cluster, socket_of, within};
use super::pages::scramble;
use crate::params::SliceHash;
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
    pub slices: Slicing,
    /// Subchannels of each channel, if every channel has its own slice for its lines; 0 if a hash assigns the slice.
    pub subchannels_at_slice: u8,
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
        let SocketHomes { slices, subchannels_at_slice, decoder } = &self.sockets[usize::from(socket)];
        let place = decoder.place(within);
        let slice = match subchannels_at_slice {
            0 => slices.of(within),
            subchannels => place.channel / subchannels,
        };
        Home { socket, slice, place }
    }

    /// Returns the slice of a socket that serves a line on that socket, even if the line is homed on another socket.
    ///
    /// # Panics
    /// Panics if there is no such socket.
    #[must_use]
    pub fn slice(&self, socket: u8, line: u64) -> u8 {
        self.sockets[usize::from(socket)].slices.of(line)
    }

    /// Returns the location of a line in the memory of its socket.
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> DramAddress {
        self.of(line).place
    }
}

/// Assignment of lines to slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slicing {
    /// Slices of a cluster, which follow those of the previous cluster.
    pub slices: u32,
    /// Hash of a line's number in the memory of its cluster, which is scaled to any number of slices.
    pub hash: SliceHash,
}

impl Slicing {
    /// Creates an assignment to `slices` slices that spreads lines at equal distances evenly.
    #[must_use]
    pub fn even(slices: u32) -> Self {
        Self { slices, hash: SliceHash::Even }
    }

    /// Returns the slice of a line.
    #[must_use]
    #[inline]
    pub fn of(self, line: u64) -> u8 {
        // The hash is within the cluster, so that its lines stay on its slices.
        let (cluster, line) = of_cluster(line);
        let hash = match self.hash {
            // The factor is 2^64 divided by the golden ratio.
            SliceHash::Even => line.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            SliceHash::Mixed => scramble(line),
        } >> 32;
        let slices = u64::from(self.slices);
        (cluster * slices + ((hash * slices) >> 32)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::map_tests::one_bank;
    use crate::line::number::{memory_of, memory_of_cluster, LINE_BYTES, SOCKET_BITS};

    fn homes(slices: u32) -> SocketHomes {
        SocketHomes { slices: Slicing::even(slices), subchannels_at_slice: 0, decoder: one_bank(&[6, 7, 8]) }
    }

    #[test]
    fn a_line_is_at_home_at_the_socket_above_its_bits() {
        let homes = Homes::new(vec![homes(7), homes(4)]);
        for line in [0, 1, 5, 77, (1 << SOCKET_BITS) - 1] {
            let [first, second] = [homes.of(line), homes.of(1 << SOCKET_BITS | line)];
            assert_eq!((first.socket, second.socket), (0, 1));
            assert_eq!((first.slice, second.slice), (Slicing::even(7).of(line), Slicing::even(4).of(line)));
            assert_eq!(first.place, second.place);
            assert_eq!(Slicing::even(4).of(memory_of(1) / LINE_BYTES + line), second.slice);
            assert_eq!(homes.of(memory_of(1) / LINE_BYTES + line), second);
        }
    }

    #[test]
    fn a_cluster_has_slices_of_its_own() {
        for hash in [SliceHash::Even, SliceHash::Mixed] {
            let five = Slicing { slices: 5, hash };
            for line in (0..1000).map(|step| step * 7919) {
                let [first, last] = [0, 3].map(|cluster| five.of(memory_of_cluster(2, cluster) / LINE_BYTES + line));
                assert_eq!((first, last), (five.of(line), 15 + five.of(line)));
            }
        }
    }

    /// Returns the variance of the number of lines per slice, over their mean, of `count` lines at a distance of `step`
    /// lines.
    fn spread(hash: SliceHash, step: u64, count: u64) -> f64 {
        let mut lines = [0_u64; 18];
        (0..count).for_each(|index| lines[usize::from(Slicing { slices: 18, hash }.of(index * step))] += 1);
        let mean = count as f64 / 18.0;
        lines.iter().map(|&of_slice| (of_slice as f64 - mean).powi(2)).sum::<f64>() / 18.0 / mean
    }

    #[test]
    fn mixed_lines_vary_as_if_drawn_at_random_and_even_ones_hardly() {
        for step in [1, 37, 2048] {
            let mixed: f64 = (1..50).map(|turn| spread(SliceHash::Mixed, step * turn, 720)).sum::<f64>() / 49.0;
            // A Poisson distribution has a variance of its mean.
            assert!((0.8..1.2).contains(&mixed), "{mixed} at a distance of {step}");
        }
        assert!(spread(SliceHash::Even, 1, 720) < 0.1);
    }
}
