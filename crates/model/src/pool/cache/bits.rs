//! Bit per line of every frame.

use super::FrameLine;
use serde::{Deserialize, Serialize};

/// Bit per line of every frame.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LineBits {
    words_per_frame: usize,
    words: Vec<u64>,
}

impl LineBits {
    pub(super) fn new(frames: usize, page_lines: u64) -> Self {
        let words_per_frame = page_lines.div_ceil(64) as usize;
        Self { words_per_frame, words: vec![0; frames * words_per_frame] }
    }

    /// Returns the bits of a frame.
    pub(super) fn of(&mut self, frame: u32) -> &mut [u64] {
        let first = frame as usize * self.words_per_frame;
        &mut self.words[first..first + self.words_per_frame]
    }

    pub(super) fn get(&self, spot: FrameLine) -> bool {
        let first = spot.frame as usize * self.words_per_frame;
        self.words[first + (spot.within / 64) as usize] >> (spot.within % 64) & 1 == 1
    }

    /// Sets a bit. Returns its previous value.
    pub(super) fn put(&mut self, spot: FrameLine, on: bool) -> bool {
        let word = &mut self.of(spot.frame)[(spot.within / 64) as usize];
        let bit = 1 << (spot.within % 64);
        let was = *word & bit != 0;
        *word = if on { *word | bit } else { *word & !bit };
        was
    }

    /// Returns the first line of a frame whose bit is set.
    pub(super) fn first(&mut self, frame: u32) -> Option<u64> {
        let (at, word) = self.of(frame).iter().enumerate().find(|(_, &word)| word != 0)?;
        Some(at as u64 * 64 + u64::from(word.trailing_zeros()))
    }
}
