//! Converts a trace to the steps of a simulated core.

use super::access::{Access, AccessFormat, AccessTrace};
use super::error::TraceError;
use super::l1::L1;
use super::pages::Pages;
use crate::LINE_BYTES;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// An access that the first-level cache does not serve alone, with the instructions before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Byte address of the accessed line, in pages that are contiguous from 0 on.
    pub address: u64,
    /// Instructions since the previous step, including those whose accesses the first-level cache served; at most
    /// 2^32 - 1.
    pub instructions: u32,
    /// True for a store.
    pub store: bool,
}

/// Options of the conversion of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOptions {
    /// Format of the trace; `None` to recognize it by its first record.
    pub format: Option<AccessFormat>,
    /// Maximum memory that the thread's pages of 4 KiB may use, in bytes.
    pub memory_bytes: u64,
    /// Thread whose accesses are used, as in [`Access::thread`]; `None` for all threads in the order of the trace.
    pub thread: Option<u64>,
    /// True to start again at the end. Pages and cache keep their state. If the second pass has at most
    /// [`KEPT_STEPS_MAX`] steps, all later passes repeat it from memory.
    pub repeat: bool,
}

/// Maximum number of steps of a pass that are kept for later passes.
pub const KEPT_STEPS_MAX: usize = 1 << 21;

/// The steps of the second pass, kept for later passes.
#[derive(Default)]
struct Kept {
    steps: Vec<TraceStep>,
    /// Index of the next step of a later pass; `None` during the second pass.
    next: Option<usize>,
}

/// The steps of a trace. A step accesses one line: an access that crosses lines becomes several steps, the first of
/// which has the instructions. Accesses served by the first-level cache (32 KiB, 8 ways, LRU) cause no step, except
/// for the first store to a clean line, which must become dirty beyond the cache too. After an error the iterator
/// ends.
///
/// [`TraceSteps::skip_steps`] continues from a given step, which is how a replay resumes.
pub struct TraceSteps {
    path: PathBuf,
    options: StepOptions,
    trace: AccessTrace,
    pages: Pages,
    l1: L1,
    /// Lines of the last access that were not processed yet.
    pending: RangeInclusive<u64>,
    store: bool,
    /// Instructions since the last step.
    instructions: u32,
    /// Steps of this pass, to detect a trace that causes none.
    steps: u64,
    /// Present from the second pass on, unless that pass is too long.
    kept: Option<Kept>,
    passes: u64,
    ended: bool,
}

impl TraceSteps {
    /// Opens a trace, plain or compressed.
    ///
    /// # Errors
    /// Returns the same errors as [`AccessTrace::open`].
    pub fn open(path: impl AsRef<Path>, options: StepOptions) -> Result<Self, TraceError> {
        let path = path.as_ref().to_path_buf();
        let trace = AccessTrace::open(&path, options.format)?;
        Ok(Self {
            path,
            options,
            trace,
            pages: Pages::new(options.memory_bytes),
            l1: L1::new(),
            pending: RangeInclusive::new(1, 0),
            store: false,
            instructions: 0,
            steps: 0,
            kept: None,
            passes: 0,
            ended: false,
        })
    }

    /// Returns the format of the trace.
    #[must_use]
    pub fn format(&self) -> AccessFormat {
        self.trace.format()
    }

    /// Returns the size of the pages used so far, in bytes.
    #[must_use]
    pub fn footprint_bytes(&self) -> u64 {
        self.pages.used_bytes()
    }

    fn take(&mut self, access: &Access) {
        // Instructions of accesses that the L1 serves add up until the next step.
        self.instructions = self.instructions.saturating_add(access.instructions_before);
        let (first, last) = access.lines();
        self.pending = first..=last;
        self.store = access.store;
    }

    /// Returns the step for a line that the first-level cache does not serve alone.
    fn step(&mut self, line: u64) -> Result<TraceStep, TraceError> {
        let Some(line) = self.pages.line(line) else {
            let room = self.pages.room_bytes();
            return Err(self.trace.error(format!(
                "{:#x} does not fit: the pages before it fill the memory of {room} bytes",
                line * LINE_BYTES
            )));
        };
        self.steps += 1;
        // Only the first step of an access has its instructions; further lines have none.
        let instructions = std::mem::take(&mut self.instructions);
        Ok(TraceStep { address: line * LINE_BYTES, instructions, store: self.store })
    }

    /// Starts the next pass. A trace without a step in its first pass never has one: it has no access, or the cache
    /// holds all of it.
    fn again(&mut self) -> Result<bool, TraceError> {
        if !self.options.repeat || self.steps == 0 {
            return Ok(false);
        }
        self.steps = 0;
        self.passes += 1;
        // The first pass begins with an empty L1, so only passes from the second on are alike.
        if self.passes == 1 {
            self.kept = Some(Kept::default());
        } else if let Some(kept) = &mut self.kept {
            kept.next = Some(0);
            return Ok(true);
        }
        // The format is given, so that a repeated pass cannot be read as another.
        self.trace = AccessTrace::open(&self.path, Some(self.trace.format()))?;
        Ok(true)
    }

    /// Keeps a step of the second pass.
    fn keep(&mut self, step: TraceStep) -> TraceStep {
        if let Some(kept) = &mut self.kept {
            if kept.steps.len() < KEPT_STEPS_MAX {
                kept.steps.push(step);
            } else {
                // The pass is too long to keep: later passes read the file again.
                self.kept = None;
            }
        }
        step
    }

    /// Returns the next step from memory, once a complete pass has been kept.
    fn again_from_memory(&mut self) -> Option<TraceStep> {
        let kept = self.kept.as_mut()?;
        let next = kept.next.as_mut()?;
        let step = kept.steps[*next];
        *next = if *next + 1 < kept.steps.len() { *next + 1 } else { 0 };
        Some(step)
    }

    /// Skips `count` steps, or as many as there are.
    ///
    /// # Errors
    /// Returns the first error in the skipped part of the trace.
    pub fn skip_steps(&mut self, mut count: u64) -> Result<(), TraceError> {
        while count > 0 {
            if let Some(Kept { steps, next: Some(next) }) = &mut self.kept {
                // Kept passes repeat, so any number of steps is one remainder.
                *next = ((*next as u64 + count) % steps.len() as u64) as usize;
                return Ok(());
            }
            if self.next().transpose()?.is_none() {
                return Ok(());
            }
            count -= 1;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<Option<TraceStep>, TraceError> {
        loop {
            if let Some(step) = self.again_from_memory() {
                return Ok(Some(step));
            }
            while let Some(line) = self.pending.next() {
                if !self.l1.serve_access(line, self.store) {
                    let step = self.step(line)?;
                    return Ok(Some(self.keep(step)));
                }
            }
            match self.trace.next() {
                Some(access) => {
                    let access = access?;
                    // Other threads are skipped with their instructions, which are counted per thread.
                    if self.options.thread.is_none_or(|thread| thread == access.thread) {
                        self.take(&access);
                    }
                }
                None => {
                    if !self.again()? {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl Iterator for TraceSteps {
    type Item = Result<TraceStep, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
