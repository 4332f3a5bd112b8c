//! LU: sweeps over the planes of a grid that is split into columns of ranks. A rank works on its part of a plane when
//! the edges of its neighbours have arrived, and then sends its own edges. The second sweep runs in the opposite
//! direction.

use super::{of, Benchmark, DOUBLE};
use crate::resolve::cluster::jobs::profile::Amount;
use crate::resolve::cluster::jobs::program::Program;

/// Numbers (doubles) per point.
const NUMBERS: u64 = 5;
/// Operations of a sweep and of the right-hand side, as shares of an iteration. A sweep has the loops of jacld and
/// blts, or of jacu and buts. The rest are the operations of rhs and the update.
const SWEEP: f64 = 0.35;

impl Benchmark {
    /// Adds the lower-upper Gauss-Seidel benchmark: two pipelined sweeps and a right-hand side in each iteration.
    pub(in crate::resolve::cluster::jobs) fn lu(&self, program: &mut Program, group: &[u32]) {
        let points: u64 = of(self.problem, [12, 33, 64, 102, 162]);
        let size = points as f64;
        // As lu.f counts them.
        let operations = 1984.77 * size.powi(3) - 10923.3 * size.powi(2) + 27770.9 * size - 144_010.0;
        let sweeps = Sweeps { benchmark: self, grid: Grid::new(program.ranks), group, points, operations };
        program.block(self.iterations([50, 300, 250, 250, 250]));
        sweeps.sweep(program, "lower sweep", true);
        sweeps.sweep(program, "upper sweep", false);
        sweeps.halos(program);
        sweeps.right_hand_side(program);
        program.block(1);
        // One norm for each of the five numbers of a point (lu.f, l2norm).
        program.doubling_sum(group, NUMBERS * DOUBLE);
    }
}

/// Number of ranks along both axes: equal, or twice as many along the first.
#[derive(Clone, Copy)]
struct Grid {
    sides: [u32; 2],
}

impl Grid {
    fn new(ranks: u32) -> Self {
        let first = 1 << ranks.ilog2().div_ceil(2);
        Self { sides: [first, ranks / first] }
    }

    /// Returns the coordinates of a rank in the grid.
    fn place(self, rank: u32) -> [u32; 2] {
        [rank % self.sides[0], rank / self.sides[0]]
    }

    /// Returns the next rank along an axis if `further`, otherwise the previous one.
    fn neighbour(self, rank: u32, axis: usize, further: bool) -> Option<u32> {
        let mut place = self.place(rank);
        place[axis] = if further { place[axis] + 1 } else { place[axis].checked_sub(1)? };
        (place[axis] < self.sides[axis]).then(|| place[1] * self.sides[0] + place[0])
    }

    /// Returns the number of points of a rank along an axis. The first ranks have one more if the points do not
    /// divide evenly.
    fn points(self, rank: u32, axis: usize, points: u64) -> u64 {
        let (side, at) = (u64::from(self.sides[axis]), u64::from(self.place(rank)[axis]));
        points / side + u64::from(at < points % side)
    }
}

/// Adds the steps of an iteration to a program.
struct Sweeps<'a> {
    benchmark: &'a Benchmark,
    grid: Grid,
    group: &'a [u32],
    points: u64,
    operations: f64,
}

impl Sweeps<'_> {
    /// Returns the number of points of a rank in a plane.
    fn plane(&self, rank: u32) -> f64 {
        (0..2).map(|axis| self.grid.points(rank, axis, self.points) as f64).product()
    }

    /// Adds a step that computes a share of the operations of an iteration on `planes` planes.
    fn compute(&self, program: &mut Program, rank: u32, name: &str, share: f64, planes: f64) {
        let units = self.plane(rank) * planes;
        let operations = self.operations * share * self.plane(rank) / (self.points * self.points) as f64;
        let work = self.benchmark.profile.work(name, Amount { operations, units, elements: 0.0 });
        let phase = program.phase(name);
        program.labor(self.group[rank as usize], phase, self.benchmark.ps(operations, 1), work);
    }

    /// Adds a sweep over all planes but the first and the last, from the first rank on if `forth`, otherwise from the
    /// last.
    fn sweep(&self, program: &mut Program, name: &str, forth: bool) {
        let planes = self.points - 2;
        let edges = program.phase(&format!("edges of the {name}"));
        for rank in 0..program.ranks {
            let own = self.group[rank as usize];
            let edge = |axis: usize| self.grid.points(rank, 1 - axis, self.points) * NUMBERS * DOUBLE;
            let other = |axis, further| {
                let rank = self.grid.neighbour(rank, axis, further);
                rank.map_or((0, 0), |rank| (self.group[rank as usize], edge(axis)))
            };
            for _ in 0..planes {
                (0..2).for_each(|axis| program.step(own, edges, 0, (0, 0), other(axis, !forth)));
                self.compute(program, rank, name, SWEEP / planes as f64, 1.0);
                (0..2).for_each(|axis| program.step(own, edges, 0, other(axis, forth), (0, 0)));
            }
        }
    }

    /// Adds the exchange of two layers of points with all neighbours.
    fn halos(&self, program: &mut Program) {
        let phase = program.phase("halos");
        for rank in 0..program.ranks {
            let own = self.group[rank as usize];
            for axis in 0..2 {
                // Two layers of points on each side (lu.f, exchange_3).
                let face = 2 * self.grid.points(rank, 1 - axis, self.points) * self.points * NUMBERS * DOUBLE;
                let other = |further| {
                    let rank = self.grid.neighbour(rank, axis, further);
                    rank.map_or((0, 0), |rank| (self.group[rank as usize], face))
                };
                program.step(own, phase, 0, other(true), other(false));
                program.step(own, phase, 0, other(false), other(true));
            }
        }
    }

    fn right_hand_side(&self, program: &mut Program) {
        let share = 1.0 - 2.0 * SWEEP;
        (0..program.ranks).for_each(|rank| self.compute(program, rank, "right-hand side", share, self.points as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bytes_of, made};
    use super::*;

    #[test]
    fn edges_and_halos_cross_every_cut() {
        // Class S on 4 ranks: two by two, of 6 by 6 by 12 points. Two cuts, each with two pairs of ranks. In each of 10
        // planes an edge of 6 points each way; two layers of 6 by 12 points both ways; at the end a sum in two rounds.
        let sweeps = 2 * 10 * 4 * 6 * 40;
        let halos = 2 * 4 * (2 * 6 * 12) * 40;
        assert_eq!(bytes_of(&made(Benchmark::lu, 4)), 50 * (sweeps + halos) + 4 * 2 * 40);
    }

    #[test]
    fn ranks_have_all_points() {
        let grid = Grid::new(8);
        assert_eq!(grid.sides, [4, 2]);
        for (axis, side) in [(0, 4), (1, 2)] {
            let all: u64 = (0..8).map(|rank| grid.points(rank, axis, 33)).sum();
            assert_eq!(all, 33 * (8 / side));
        }
    }
}
