//! Keys and parameters of the chiplets of a socket.

use super::core::CoreParams;
use super::values::{Frequency, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chiplets of a socket: core dies (CCDs) around an IO die with the memory controllers and the devices. Every channel
/// has its own slice of the CHA, which homes the lines of the channel. Without this table the cores, slices and memory
/// controllers are on one die.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipletsSpec {
    /// Core dies of the socket, each with an equal share of the cores.
    #[schemars(range(min = 1, max = 16))]
    pub ccds: u32,
    /// Lines that the cores of a CCD may have in flight beyond it, shared equally by its cores that have streams to
    /// run; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub entries: Option<u32>,
    /// Clock of the data fabric (FCLK), of the IO die and of its links (frequency).
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub fclk: Frequency,
    /// Width of the link from the IO die to each CCD: bytes of lines that cores read per clock (size).
    #[serde(default = "read")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub read: Size,
    /// Width of the link from each CCD to the IO die: bytes of lines that cores write per clock (size).
    #[serde(default = "write")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub write: Size,
    /// Width of the links between adjacent quadrants of the IO die: bytes per clock and direction (size). A line takes
    /// one clock more, for its header.
    #[serde(default = "read")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub link: Size,
    /// Cycles of a hop between adjacent quadrants of the IO die.
    #[serde(default = "hop")]
    #[schemars(range(min = 0, max = 64))]
    pub hop: u32,
    /// NUMA nodes per socket (NPS): 1, 2 or 4 parts of the IO die, each with channels of its own for its memory.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub nps: u8,
}

fn one() -> u8 {
    1
}

fn read() -> Size {
    Size(32)
}

fn write() -> Size {
    Size(16)
}

fn hop() -> u32 {
    7
}

/// Links between the CCDs and the IO die of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChipletsParams {
    /// Cores of a CCD.
    pub cores_per_ccd: u32,
    /// Lines that the cores of a CCD may have in flight beyond it; 0 for no limit.
    pub entries: u32,
    /// Cycles that a line occupies the link to its CCD.
    pub read_cycles: u32,
    /// Cycles that a line occupies the link from its CCD.
    pub write_cycles: u32,
    /// Cycles that a line occupies a link between quadrants of the IO die.
    pub hop_cycles: u32,
}

impl ChipletsParams {
    /// Returns the parameters of a core that runs streams, one of `busy` such cores of its CCD: its LFB and its
    /// prefetchers have no more lines in flight than its share of the entries of the CCD, and at least one.
    #[must_use]
    pub fn limited(&self, core: &CoreParams, busy: u32) -> CoreParams {
        if self.entries == 0 {
            return core.clone();
        }
        let share = (self.entries / busy.max(1)).max(1);
        let lfb_entries = core.lfb_entries.min(share);
        CoreParams { lfb_entries, stream_prefetches: core.stream_prefetches.min(share - lfb_entries), ..core.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(entries: u32, busy: u32) -> [u32; 2] {
        let core = CoreParams {
            count: 8,
            lfb_entries: 10,
            refill_ps: 0,
            refill_spread_ps: 0,
            issue_ps: 1,
            to_cha_ps: 1,
            from_cha_ps: 1,
            write_ack_ps: 1,
            write_until: super::super::WriteBackEnd::Admission,
            dirty_pool_lines: 1,
            rob: 1,
            stream_prefetches: 4,
        };
        let ccd = ChipletsParams { cores_per_ccd: 8, entries, read_cycles: 1, write_cycles: 1, hop_cycles: 1 };
        let core = ccd.limited(&core, busy);
        [core.lfb_entries, core.stream_prefetches]
    }

    #[test]
    fn cores_share_the_entries_of_their_ccd() {
        assert_eq!(limited(0, 8), [10, 4], "no limit");
        assert_eq!([limited(14, 1), limited(13, 1)], [[10, 4], [10, 3]], "14 lines at most, one less with 13 entries");
        assert_eq!([limited(40, 4), limited(40, 5)], [[10, 0], [8, 0]]);
        assert_eq!(limited(4, 8), [1, 0], "a core always has one");
    }
}
