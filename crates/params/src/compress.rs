//! Keys and parameters of the compression of gradients.

use super::gradients::GradientParams;
use super::values::{Frequency, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Compression engines between the DMA engine of a NIC and its port, one for sending and one for receiving. They
/// process the marked packets of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompressSpec {
    /// Uncompressed data that an engine processes per cycle (size), such as "256 bit"; "32 B" when absent.
    #[serde(default = "width")]
    #[schemars(extend("x-min" = "4 B", "x-max" = "4 KiB"))]
    pub width: Size,
    /// Clock of an engine (frequency); "100 MHz" when absent.
    #[serde(default = "clock")]
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "10 GHz"))]
    pub clock: Frequency,
    /// Latency of a packet in an engine beyond its cycles (time); none when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub latency: Time,
    /// Compression ratio: data divided by its size on the wire. Give either this, `shares` or `gradients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.942, max = 16.0))]
    pub ratio: Option<f64>,
    /// Shares of the floats that are compressed to 0, 8, 16 and 32 bits. Give either this, `ratio` or `gradients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 4, max = 4), inner(range(min = 0.0, max = 1.0)))]
    pub shares: Option<Vec<f64>>,
    /// File of float32 gradients, as numpy.save writes it: vectors repeat them, and packets have the sizes to which
    /// `hostnet.codec` compresses them. Give either this, `ratio` or `shares`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradients: Option<String>,
    /// With `gradients`: bound on the error of a float, as the exponent k of 2^-k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 15))]
    pub bound: Option<u32>,
    /// With `gradients`: rounding mode, "thesis", "bounded" or "nearest"; "thesis" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CodecModeSpec>,
    /// Buffer of packets waiting for decompression (size); packets beyond it are dropped; "4 MiB" when absent.
    #[serde(default = "buffer")]
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "16 GiB"))]
    pub buffer: Size,
}

/// Rounding mode of the codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodecModeSpec {
    /// The published algorithm.
    #[default]
    Thesis,
    /// The published algorithm, changed such that it keeps its bound.
    Bounded,
    /// Rounding to the nearest value.
    Nearest,
}

fn width() -> Size {
    Size(32)
}

fn clock() -> Frequency {
    Frequency(100_000_000)
}

fn no_time() -> Time {
    Time(0)
}

fn buffer() -> Size {
    Size(4 << 20)
}

/// Floats in a group; each group has a tag.
const GROUP: u64 = 8;

/// Bytes of a float.
const FLOAT_BYTES: u64 = 4;

/// Bits of the tag of a group.
const TAG_BITS: u64 = 16;

/// Binary logarithm of the unit in which bits are counted, 2^-16.
const UNIT: u32 = 16;

/// Two compression engines between the DMA engine of a NIC and its port, one for sending and one for receiving.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressParams {
    /// Uncompressed bytes that an engine processes per cycle; at least 1.
    pub burst_bytes: u32,
    /// Time of a cycle, in fs; at least 1.
    pub cycle_fs: u64,
    /// Latency of a packet in an engine beyond its cycles, in ps.
    pub latency_ps: u64,
    /// Mean bits left of a float, without tags, in units of 2^-16 bits; at most 32 bits.
    pub float_bits: u64,
    /// Size of the buffer of compressed packets waiting for the receive engine, in bytes; packets beyond it are
    /// dropped.
    pub buffer_bytes: u64,
    /// Recorded sizes of consecutive floats, if any; `float_bits` is then their mean.
    pub gradients: Option<GradientParams>,
}

impl CompressParams {
    /// One bit in the unit of [`CompressParams::float_bits`].
    pub const BIT: u64 = 1 << UNIT;

    /// Returns the compressed size, in bytes, of `bytes` bytes of data from byte `at` of a vector: a tag of 16 bits
    /// per eight floats, then the bits left of each float, rounded up to bytes. A trailing part of a float is not
    /// compressed.
    #[must_use]
    pub fn wire_bytes(&self, bytes: u32, at: u64) -> u32 {
        let floats = u64::from(bytes) / FLOAT_BYTES;
        let left = match &self.gradients {
            Some(gradients) => gradients.left_bits(at, floats),
            None => (floats * self.float_bits + Self::BIT / 2) >> UNIT,
        };
        let bits = floats.div_ceil(GROUP) * TAG_BITS + left;
        bits.div_ceil(8) as u32 + bytes % FLOAT_BYTES as u32
    }

    /// Returns the time that a packet occupies an engine, in ps. Headers and data begin a burst each.
    #[must_use]
    pub fn cycles_ps(&self, header_bytes: u32, bytes: u32) -> u64 {
        let bursts = u64::from(header_bytes.div_ceil(self.burst_bytes) + bytes.div_ceil(self.burst_bytes));
        (bursts * self.cycle_fs).div_ceil(1000)
    }

    /// Returns the data that a packet with `room` bytes beside its headers may carry, in bytes. In the worst case
    /// eight floats (32 bytes) grow to 34 bytes.
    #[must_use]
    pub fn data_bytes(room: u32) -> u32 {
        room / 34 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(float_bits: u64) -> CompressParams {
        let float_bits = float_bits * CompressParams::BIT;
        CompressParams {
            burst_bytes: 32,
            cycle_fs: 10_000_000,
            latency_ps: 0,
            float_bits,
            buffer_bytes: 1 << 20,
            gradients: None,
        }
    }

    #[test]
    fn groups_of_one_class_have_the_sizes_of_the_format() {
        for (bits, group) in [(0, 2), (8, 10), (16, 18), (32, 34)] {
            let params = with(bits);
            for groups in [1, 3, 42] {
                assert_eq!(params.wire_bytes(32 * groups, 0), group * groups, "{bits}");
            }
            // Three floats and three bytes more.
            assert_eq!(params.wire_bytes(32 + 15, 0), group + 2 + (3 * bits as u32).div_ceil(8) + 3, "{bits}");
            assert_eq!((params.wire_bytes(0, 0), params.wire_bytes(3, 0)), (0, 3));
        }
    }

    #[test]
    fn what_does_not_get_smaller_still_fits() {
        for room in 34..9000 {
            let bytes = CompressParams::data_bytes(room);
            assert!(bytes > 0 && bytes % 32 == 0 && with(32).wire_bytes(bytes, 0) <= room);
            assert!(with(32).wire_bytes(bytes + 32, 0) > room);
        }
    }

    #[test]
    fn a_burst_takes_a_cycle() {
        assert_eq!(with(0).cycles_ps(66, 1344), (3 + 42) * 10_000);
        assert_eq!(with(0).cycles_ps(66, 1345), (3 + 43) * 10_000);
        assert_eq!(CompressParams { cycle_fs: 3_103_030, ..with(0) }.cycles_ps(66, 0), 9_310);
    }
}
