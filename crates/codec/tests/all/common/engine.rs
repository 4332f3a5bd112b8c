//! Cycle-level model of the engines of the NIC (sections 3.5.1, figures 3.8 and 3.9), with 256 bits in or out per
//! clock.

use super::printed;

pub const BURST_BITS: usize = 256;

/// Sequence of bits, the first one lowest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(pub Vec<bool>);

impl Bits {
    pub fn push(&mut self, value: u32, width: usize) {
        self.0.extend((0..width).map(|bit| value >> bit & 1 == 1));
    }

    pub fn take(&mut self, width: usize) -> Self {
        Self(self.0.drain(..width).collect())
    }

    pub fn value(&self) -> u32 {
        self.0.iter().rev().fold(0, |value, &bit| value << 1 | u32::from(bit))
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut bits = Self::default();
        bytes.iter().for_each(|&byte| bits.push(u32::from(byte), 8));
        bits
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.chunks(8).map(|byte| Self(byte.to_vec()).value() as u8).collect()
    }
}

/// State of the compression engine between clocks.
#[derive(Debug, Default)]
pub struct Compressor {
    /// Bits in the alignment unit: less than a burst between clocks.
    aligned: Bits,
}

/// Burst that leaves an engine, and the number of its bits that are data.
pub type Burst = (Bits, usize);

impl Compressor {
    /// Advances one clock with a burst of eight floats. Returns the bits that the compression unit makes of the burst,
    /// and the bursts that leave.
    ///
    /// The unit makes up to 272 bits of 256, so at every sixteenth such clock two bursts are ready.
    pub fn clock(&mut self, floats: [u32; 8], error_bound: u32) -> (usize, Vec<Burst>) {
        let blocks = floats.map(|f| printed::compress(f, error_bound));
        let mut unit = Bits::default();
        blocks.iter().for_each(|&(_, _, t)| unit.push(t, 2));
        blocks.iter().for_each(|&(v, width, _)| unit.push(v, width as usize));
        let made = unit.0.len();
        self.aligned.0.extend(unit.0);
        let mut bursts = Vec::new();
        while self.aligned.0.len() >= BURST_BITS {
            bursts.push((self.aligned.take(BURST_BITS), BURST_BITS));
        }
        (made, bursts)
    }

    /// Ends a packet: returns the remaining bits, padded with zeros on the bus.
    pub fn flush(&mut self) -> Option<Burst> {
        let data = self.aligned.0.len();
        let mut rest = std::mem::take(&mut self.aligned);
        rest.0.resize(BURST_BITS, false);
        (data > 0).then_some((rest, data))
    }
}

/// State of the decompression engine between clocks.
#[derive(Debug, Default)]
pub struct Decompressor {
    /// Burst buffer.
    buffer: Bits,
    /// Number of clocks so far.
    pub clocks: usize,
}

/// Largest group: tags, and eight uncompressed floats.
const GROUP_BITS_MAX: usize = 272;
/// Size of the burst buffer: two bursts and one byte. The published two bursts do not suffice: 264 bits left and the
/// first 8 bits of the next burst can form a group, while there is no room for that burst.
const BUFFER_BITS: usize = 2 * BURST_BITS + 8;

impl Decompressor {
    /// Advances one clock: reads a burst if a largest group may not be buffered, and decodes a group if one is
    /// complete.
    pub fn clock(&mut self, input: &mut impl Iterator<Item = Bits>) -> Option<[u32; 8]> {
        self.clocks += 1;
        if self.buffer.0.len() < GROUP_BITS_MAX {
            self.buffer.0.extend(input.next().into_iter().flat_map(|burst| burst.0));
        }
        assert!(self.buffer.0.len() <= BUFFER_BITS);
        let tags: Vec<u32> = self.buffer.0.chunks(2).take(8).map(|tag| Bits(tag.to_vec()).value()).collect();
        let widths: Vec<usize> = tags.iter().map(|&t| [0, 8, 16, 32][t as usize]).collect();
        if self.buffer.0.len() < 16 + widths.iter().sum::<usize>() {
            return None;
        }
        self.buffer.take(16);
        let mut floats = [0; 8];
        for (lane, float) in floats.iter_mut().enumerate() {
            *float = printed::decompress(self.buffer.take(widths[lane]).value(), tags[lane]);
        }
        Some(floats)
    }
}
