//! Engines of NICs that make the data of packets smaller.

use super::values::{Frequency, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two engines between the card's DMA engine and its port: one on the way out, one on the way in. They know packets of
/// jobs that are marked for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompressSpec {
    /// Data that goes through an engine in a cycle, before it is made smaller (size), such as "256 bit"; "32 B" when
    /// absent.
    #[serde(default = "width")]
    #[schemars(extend("x-min" = "4 B", "x-max" = "4 KiB"))]
    pub(crate) width: Size,
    /// Cycles of an engine (frequency); "100 MHz" when absent.
    #[serde(default = "clock")]
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "10 GHz"))]
    pub(crate) clock: Frequency,
    /// What a packet takes in an engine on top of its cycles (time); none when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) latency: Time,
    /// Data by what is left of it on the wire. This, `shares` or `gradients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.942, max = 16.0))]
    pub(crate) ratio: Option<f64>,
    /// Shares of the floats that 0, 8, 16 and 32 bits are left of. This, `ratio` or `gradients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 4, max = 4), inner(range(min = 0.0, max = 1.0)))]
    pub(crate) shares: Option<Vec<f64>>,
    /// File of gradients that numpy.save has written, float32: vectors have them over and over, and packets
    /// get as small as `hostnet.codec` makes what they have of them. This, `ratio` or `shares`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gradients: Option<String>,
    /// With `gradients`: the bound on the error of a float, k of 2^-k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 15))]
    pub(crate) bound: Option<u32>,
    /// With `gradients`: how they are rounded, "thesis", "bounded" or "nearest"; "thesis" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<CodecModeSpec>,
    /// Packets that wait to be restored (size): what comes when there are more is lost; "4 MiB" when absent.
    #[serde(default = "buffer")]
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "16 GiB"))]
    pub(crate) buffer: Size,
}

/// How a codec rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CodecModeSpec {
    /// As the algorithm was published.
    #[default]
    Thesis,
    /// The same, but so that it keeps its bound.
    Bounded,
    /// To the nearest value.
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
