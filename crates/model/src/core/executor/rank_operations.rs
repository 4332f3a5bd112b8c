//! Operations that a core executes for a rank of a job, one at a time.
//!
//! Accesses are those that an L1 does not serve; instructions are spread evenly over them. An operation ends with an
//! access to a private line of the rank that depends on all loads before it.

use crate::app::Step;
use crate::params::StepWorkParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Maximum number of instructions without an access. Then the private line of the rank is accessed, which is in its
/// cache.
const STRETCH: u64 = 1 << 20;
/// Instructions per line that a copy loads or stores: one for each of eight words (assumed).
const COPY_INSTRUCTIONS: u64 = 8;

/// Operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankOperation {
    /// Work over the memory of the rank.
    Work(StepWorkParams),
    /// Copy of lines from one place to another.
    Copy {
        /// Virtual address of the first line that is loaded.
        from: u64,
        /// Virtual address of the first line that is stored.
        to: u64,
        /// Bytes after which both addresses wrap around.
        around: u64,
        /// Lines.
        lines: u64,
    },
}

/// Progress of an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct OperationProgress {
    rank_operation: RankOperation,
    /// Accesses of the operation.
    accesses: u64,
    /// Instructions of the operation.
    instructions: u64,
    /// Accesses made so far.
    accessed: u64,
    /// Instructions executed so far.
    executed: u64,
    /// Deficit of each kind of access against its share: reads, writes, gathers.
    behind: [i128; 3],
    /// Lines walked so far.
    walked: u64,
    begun: bool,
}

/// Operations of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankOperations {
    /// Virtual address of the private line of the rank.
    own: u64,
    /// Virtual address of the memory that is walked through.
    walk: u64,
    /// Virtual address of the memory that is read at random.
    random: u64,
    current: Option<OperationProgress>,
}

impl RankOperations {
    /// Creates the operations of a rank with its private line, walk and random reads at these virtual addresses.
    #[must_use]
    pub fn new(own: u64, walk: u64, random: u64) -> Self {
        Self { own, walk, random, current: None }
    }

    /// Begins an operation; the previous one is over.
    pub(super) fn begin(&mut self, rank_operation: RankOperation) {
        let (accesses, instructions) = match rank_operation {
            RankOperation::Work(work) => (work.read_lines + work.write_lines + work.gathers, work.instructions),
            // A line is loaded and a line is stored: two accesses per line.
            RankOperation::Copy { lines, .. } => (2 * lines, 2 * lines * COPY_INSTRUCTIONS),
        };
        self.current = Some(OperationProgress {
            rank_operation,
            accesses,
            instructions,
            accessed: 0,
            executed: 0,
            behind: [0; 3],
            walked: 0,
            begun: false,
        });
    }

    /// Returns the next access, if there is an operation.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Step> {
        let current = self.current.as_mut()?;
        let begins = !std::mem::replace(&mut current.begun, true);
        let due = current.due();
        let instructions = due.min(STRETCH) as u32;
        current.executed += u64::from(instructions);
        let own = Step { address: self.own, instructions, store: false, depends: false, begins, ends: false };
        if due > STRETCH {
            return Some(own);
        }
        if current.accessed == current.accesses {
            self.current = None;
            // The end depends on all loads, so the operation ends when its data is there.
            return Some(Step { depends: true, ends: true, ..own });
        }
        current.accessed += 1;
        let (address, store) = current.access(self.walk, self.random, rng);
        Some(Step { address, store, ..own })
    }
}

impl OperationProgress {
    /// Returns the instructions due before the next access; before the last access, all that are left.
    fn due(&self) -> u64 {
        // `u128`, because the product of two 64-bit counts overflows.
        let upto = u128::from(self.instructions) * u128::from(self.accessed + 1) / u128::from(self.accesses + 1);
        let upto = if self.accessed == self.accesses { self.instructions } else { upto as u64 };
        upto - self.executed
    }

    /// Returns the address of the next access, and true if it is a store.
    fn access(&mut self, walk: u64, random: u64, rng: &mut Rng) -> (u64, bool) {
        match self.rank_operation {
            RankOperation::Copy { from, to, around, .. } => {
                let number = self.accessed - 1;
                let offset = number / 2 * 64 % around.max(64);
                (if number % 2 == 0 { from } else { to } + offset, number % 2 == 1)
            }
            RankOperation::Work(work) => {
                let kind = self.kind(&work);
                if kind == 2 {
                    return (random + rng.below(work.gather_lines.max(1)) * 64, false);
                }
                let line = self.walked % work.span_lines.max(1);
                self.walked += 1;
                (walk + line * 64, kind == 1)
            }
        }
    }

    /// Returns the kind of access that is furthest behind its share.
    fn kind(&mut self, work: &StepWorkParams) -> usize {
        let counts = [work.read_lines, work.write_lines, work.gathers];
        for (behind, count) in self.behind.iter_mut().zip(counts) {
            *behind += i128::from(count);
        }
        // Ties go to the lowest kind, which makes the order deterministic.
        let most = (1..3).fold(0, |most, kind| if self.behind[kind] > self.behind[most] { kind } else { most });
        // Deficits always sum up to 0: each access adds the shares and takes away their total.
        self.behind[most] -= i128::from(self.accesses);
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rank_operation: RankOperation) -> Vec<Step> {
        let mut rank_operations = RankOperations::new(0, 1 << 20, 1 << 30);
        let mut rng = Rng::new(1, 1);
        rank_operations.begin(rank_operation);
        std::iter::from_fn(|| rank_operations.next(&mut rng)).collect()
    }

    #[test]
    fn a_work_has_all_its_instructions_and_accesses_and_one_end() {
        let work = StepWorkParams {
            instructions: 10_000_019,
            read_lines: 40,
            write_lines: 20,
            gathers: 7,
            span_lines: 16,
            gather_lines: 9,
        };
        let steps = all(RankOperation::Work(work));
        assert_eq!(steps.iter().map(|step| u64::from(step.instructions)).sum::<u64>(), work.instructions);
        assert_eq!(steps.iter().filter(|step| step.store).count(), 20);
        assert_eq!(steps.iter().filter(|step| step.address >= 1 << 30).count(), 7);
        let walked = |step: &&Step| (1 << 20..1 << 30).contains(&step.address);
        assert_eq!(steps.iter().filter(walked).count(), 60);
        assert!(steps.iter().filter(walked).all(|step| step.address < (1 << 20) + 16 * 64));
        assert_eq!(steps.iter().filter(|step| step.ends).count(), 1);
        assert!(steps.last().is_some_and(|step| step.ends && step.depends) && steps[0].begins);
    }

    #[test]
    fn instructions_alone_come_in_stretches() {
        let steps =
            all(RankOperation::Work(StepWorkParams { instructions: 5 * STRETCH + 1, ..StepWorkParams::default() }));
        assert_eq!(steps.len(), 6);
        assert_eq!(steps.iter().map(|step| u64::from(step.instructions)).sum::<u64>(), 5 * STRETCH + 1);
    }

    #[test]
    fn a_copy_loads_and_stores_every_line_and_begins_again_at_its_end() {
        let steps = all(RankOperation::Copy { from: 0x10000, to: 0x20000, around: 128, lines: 3 });
        let seen: Vec<(u64, bool)> = steps.iter().map(|step| (step.address, step.store)).collect();
        let lines = [(0x10000, false), (0x20000, true), (0x10040, false), (0x20040, true)];
        assert_eq!(seen[..4], lines);
        assert_eq!(seen[4..], [(0x10000, false), (0x20000, true), (0, false)]);
    }
}
