//! A trace as the steps of a simulated core.

use super::access::{Access, AccessFormat, AccessTrace};
use super::error::TraceError;
use super::l1::L1;
use super::pages::Pages;
use crate::LINE_BYTES;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// An access that goes beyond the first-level cache, and the instructions before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Byte address of its line, in pages that lie side by side from 0 on.
    pub address: u64,
    /// Instructions since the step before, those whose accesses the first-level cache served among them; at most 2^32 -
    /// 1.
    pub instructions: u32,
    /// Whether it stores.
    pub store: bool,
}

/// What becomes of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOptions {
    /// Its format; told by its first record when `None`.
    pub format: Option<AccessFormat>,
    /// Bytes of memory that its pages of 4 KiB may take.
    pub memory_bytes: u64,
    /// Whose accesses are taken, as [`Access::thread`] tells; those of all threads in the order of the trace when
    /// `None`.
    pub thread: Option<u64>,
    /// Whether it begins again at its end. Pages and the cache stay as they are. All passes after the second are like
    /// that, if it has at most [`KEPT_STEPS_MAX`] steps: they come from memory.
    pub repeat: bool,
}

/// The most steps of a pass that are kept for those after it.
pub const KEPT_STEPS_MAX: usize = 1 << 21;

/// The steps of the second pass, for those after it.
#[derive(Default)]
struct Kept {
    steps: Vec<TraceStep>,
    /// The next step of a later pass; none while the second is under way.
    next: Option<usize>,
}

/// The steps of a trace. A step is one line; an access that lies across lines is several, and the instructions stand
/// before the first. What the first-level cache (32 KiB, 8 ways, LRU) holds is no step, but for the first store to a
/// line that it holds clean: beyond it the line has to become dirty. After an error comes nothing more.
///
/// [`TraceSteps::pass_over`] goes on from a given step, which is how a replay resumes.
pub struct TraceSteps {
    path: PathBuf,
    options: StepOptions,
    trace: AccessTrace,
    pages: Pages,
    l1: L1,
    /// Lines of the last access that were not looked at yet.
    pending: RangeInclusive<u64>,
    store: bool,
    /// Instructions since the last step.
    instructions: u32,
    /// Steps since the trace began, to tell a trace without any.
    steps: u64,
    /// Present from the second pass on, unless that is too long.
    kept: Option<Kept>,
    passes: u64,
    ended: bool,
}

impl TraceSteps {
    /// Opens a trace, plain or compressed.
    ///
    /// # Errors
    /// As [`AccessTrace::open`].
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

    /// The format of the trace.
    #[must_use]
    pub fn format(&self) -> AccessFormat {
        self.trace.format()
    }

    /// Bytes of the pages used so far.
    #[must_use]
    pub fn footprint_bytes(&self) -> u64 {
        self.pages.used_bytes()
    }

    fn take(&mut self, access: &Access) {
        self.instructions = self.instructions.saturating_add(access.instructions_before);
        let (first, last) = access.lines();
        self.pending = first..=last;
        self.store = access.store;
    }

    /// The step of a line that the first-level cache does not serve alone.
    fn step(&mut self, line: u64) -> Result<TraceStep, TraceError> {
        let Some(line) = self.pages.line(line) else {
            let room = self.pages.room_bytes();
            return Err(self.trace.error(format!(
                "{:#x} does not fit: the pages before it fill the memory of {room} bytes",
                line * LINE_BYTES
            )));
        };
        self.steps += 1;
        let instructions = std::mem::take(&mut self.instructions);
        Ok(TraceStep { address: line * LINE_BYTES, instructions, store: self.store })
    }

    /// Begins again. A trace that had no step the first time never will: the cache holds all of it, or it has no
    /// access.
    fn again(&mut self) -> Result<bool, TraceError> {
        if !self.options.repeat || self.steps == 0 {
            return Ok(false);
        }
        self.steps = 0;
        self.passes += 1;
        if self.passes == 1 {
            self.kept = Some(Kept::default());
        } else if let Some(kept) = &mut self.kept {
            kept.next = Some(0);
            return Ok(true);
        }
        self.trace = AccessTrace::open(&self.path, Some(self.trace.format()))?;
        Ok(true)
    }

    /// Keeps a step of the second pass.
    fn keep(&mut self, step: TraceStep) -> TraceStep {
        if let Some(kept) = &mut self.kept {
            if kept.steps.len() < KEPT_STEPS_MAX {
                kept.steps.push(step);
            } else {
                self.kept = None;
            }
        }
        step
    }

    /// The next step out of memory, once the steps of a pass are there.
    fn again_from_memory(&mut self) -> Option<TraceStep> {
        let kept = self.kept.as_mut()?;
        let next = kept.next.as_mut()?;
        let step = kept.steps[*next];
        *next = if *next + 1 < kept.steps.len() { *next + 1 } else { 0 };
        Some(step)
    }

    /// Goes on after `count` more steps, or at the end if that comes first.
    ///
    /// # Errors
    /// The first thing that is wrong with the trace before.
    pub fn pass_over(&mut self, mut count: u64) -> Result<(), TraceError> {
        while count > 0 {
            if let Some(Kept { steps, next: Some(next) }) = &mut self.kept {
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
                if !self.l1.serves(line, self.store) {
                    let step = self.step(line)?;
                    return Ok(Some(self.keep(step)));
                }
            }
            match self.trace.next() {
                Some(access) => {
                    let access = access?;
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
