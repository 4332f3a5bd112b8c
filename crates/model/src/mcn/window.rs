//! Lines of an SRAM: the positions of pointers and rings in the address space of one machine.

use crate::params::RING_LINE_BYTES;
use serde::{Deserialize, Serialize};

/// Lines of an SRAM before its rings. Each machine has one line for the end of its writes, with the poll word, and
/// one for the position up to which it has read. A DDR burst writes a whole line, so no two writers may share one.
const POINTERS: u32 = 4;

/// Physical lines of a buffer device's SRAM in the memory of one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SramWindow {
    lines: Vec<u64>,
    on_dimm: bool,
    /// Lines of the ring to the DIMM.
    down: u32,
}

impl SramWindow {
    /// Returns the number of lines that rings of these sizes occupy, pointers included.
    #[must_use]
    pub fn lines(ring_bytes: [u32; 2]) -> u32 {
        POINTERS + ring_bytes.iter().map(|bytes| bytes / RING_LINE_BYTES).sum::<u32>()
    }

    /// Creates a window on the given physical lines, for a machine that writes and reads rings of these sizes.
    ///
    /// # Panics
    /// Panics if the number of lines is not that of the rings.
    #[must_use]
    pub fn new(lines: Vec<u64>, ring_bytes: [u32; 2], on_dimm: bool) -> Self {
        assert_eq!(lines.len() as u32, Self::lines(ring_bytes), "the rings fill the window");
        let down = ring_bytes[usize::from(on_dimm)] / RING_LINE_BYTES;
        Self { lines, on_dimm, down }
    }

    /// Returns the line in which this machine publishes the end of its writes.
    #[must_use]
    pub fn own_end(&self) -> u64 {
        self.lines[usize::from(self.on_dimm)]
    }

    /// Returns the line in which the other machine publishes the end of its writes, with the poll word.
    #[must_use]
    pub fn other_end(&self) -> u64 {
        self.lines[usize::from(!self.on_dimm)]
    }

    /// Returns the line in which this machine publishes up to where it has read.
    #[must_use]
    pub fn own_start(&self) -> u64 {
        self.lines[2 + usize::from(self.on_dimm)]
    }

    /// Returns the line in which the other machine publishes up to where it has read.
    #[must_use]
    pub fn other_start(&self) -> u64 {
        self.lines[2 + usize::from(!self.on_dimm)]
    }

    /// Returns line `line` of the ring that this machine writes if `out` is true, else of the ring that it reads.
    #[must_use]
    pub fn ring(&self, out: bool, line: u32) -> u64 {
        // The ring to the DIMM comes first, whichever side looks.
        let first = if out == self.on_dimm { POINTERS + self.down } else { POINTERS };
        self.lines[(first + line) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_machines_name_the_same_lines_and_no_two_writers_share_one() {
        let (down, up) = (192, 256);
        let lines: Vec<u64> = (100..100 + u64::from(SramWindow::lines([down, up]))).collect();
        let host = SramWindow::new(lines.clone(), [down, up], false);
        let dimm = SramWindow::new(lines, [up, down], true);
        assert_eq!((host.own_end(), host.other_end()), (dimm.other_end(), dimm.own_end()));
        assert_eq!((host.own_start(), host.other_start()), (dimm.other_start(), dimm.own_start()));
        let of =
            |window: &SramWindow, out, bytes| (0..bytes / 64).map(|line| window.ring(out, line)).collect::<Vec<_>>();
        assert_eq!(of(&host, true, down), of(&dimm, false, down));
        assert_eq!(of(&host, false, up), of(&dimm, true, up));
        let mut all = [of(&host, true, down), of(&host, false, up)].concat();
        all.extend([host.own_end(), host.own_start(), dimm.own_end(), dimm.own_start()]);
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
