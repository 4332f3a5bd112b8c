//! MG: a V-cycle over grids, each with half the points of the finer one along every axis.

use super::{of, Benchmark, DOUBLE};
use crate::resolve::cluster::jobs::profile::Amount;
use crate::resolve::cluster::jobs::program::Program;

/// Operations per point, from the comments of mg.f: of the residual, of the smoother, and, per point of the coarser
/// grid, of the projection and the interpolation.
const RESIDUAL: f64 = 15.0;
const SMOOTHER: f64 = 16.0;
const PROJECTION: f64 = 24.0;
const INTERPOLATION: f64 = 20.0;
/// Total operations per point of the finest grid and iteration, as the benchmark counts them.
const COUNTED: f64 = 58.0;

impl Benchmark {
    /// Adds the multigrid benchmark. Faces of boxes are exchanged with neighbours on every level. On coarse levels
    /// only some ranks have points, and send them to the others on the way to finer levels.
    pub(in crate::resolve::cluster::jobs) fn mg(&self, program: &mut Program, group: &[u32]) {
        let finest: u32 = of(self.problem, [5, 7, 8, 8, 9]);
        let boxes = Boxes::new(program.ranks);
        let points = |level: u32| 8_f64.powi(level as i32);
        let coarser: f64 = (1..finest).map(points).sum();
        let smoothed = RESIDUAL + SMOOTHER;
        let counted = smoothed * (coarser + points(finest)) + RESIDUAL * points(finest) - RESIDUAL * points(1)
            + (PROJECTION + INTERPOLATION) * coarser;
        let cycle = Cycle { boxes, benchmark: self, group, scale: COUNTED * points(finest) / counted };
        // The residual and its norms once before the cycles (mg.f).
        program.block(1);
        cycle.halos(program, finest);
        cycle.norms(program);
        program.block(self.iterations([4, 4, 4, 20, 20]));
        cycle.write(program, finest);
        program.block(1);
        cycle.norms(program);
    }
}

/// Adds the steps of a V-cycle to a program.
struct Cycle<'a> {
    boxes: Boxes,
    benchmark: &'a Benchmark,
    group: &'a [u32],
    scale: f64,
}

impl Cycle<'_> {
    fn write(&self, program: &mut Program, finest: u32) {
        for level in (1..finest).rev() {
            self.compute(program, "projection", PROJECTION, level);
            self.halos(program, level);
        }
        self.compute(program, "smoother", SMOOTHER, 1);
        self.halos(program, 1);
        for level in 2..=finest {
            self.compute(program, "interpolation", INTERPOLATION, level - 1);
            self.hand_out(program, level);
            for (name, operations) in [("residual", RESIDUAL), ("smoother", SMOOTHER)] {
                self.compute(program, name, operations, level);
                self.halos(program, level);
            }
        }
        self.compute(program, "residual", RESIDUAL, finest);
        self.halos(program, finest);
    }

    /// Adds two sums over all ranks.
    fn norms(&self, program: &mut Program) {
        // A sum and a maximum, one after the other (mg.f, norm2u3).
        (0..2).for_each(|_| program.doubling_sum(self.group, DOUBLE));
    }

    /// Adds the computation of every rank on its points of a level.
    fn compute(&self, program: &mut Program, name: &str, operations: f64, level: u32) {
        let phase = program.phase(name);
        for rank in 0..program.ranks {
            let points: u64 = (0..3).map(|axis| self.boxes.points(rank, axis, level)).product();
            let operations = operations * self.scale * points as f64;
            let amount = Amount { operations, units: points as f64, elements: 0.0 };
            let work = self.benchmark.profile.work(name, amount);
            program.labor(self.group[rank as usize], phase, self.benchmark.ps(operations, 1), work);
        }
    }

    /// Adds the exchange of faces between neighbours with points of a level, in both directions along each axis.
    fn halos(&self, program: &mut Program, level: u32) {
        let phase = program.phase(&format!("halos of level {level}"));
        for axis in 0..3 {
            for rank in (0..program.ranks).filter(|&rank| self.boxes.is_alive(rank, level)) {
                let [next, last] = self.boxes.neighbours(rank, axis, level);
                if next != rank {
                    let bytes = self.boxes.face(rank, axis, level);
                    let [next, last] = [next, last].map(|rank| self.group[rank as usize]);
                    let rank = self.group[rank as usize];
                    // Both sides are sent before either is received (mg.f, comm3).
                    program.step(rank, phase, 0, (next, bytes), (0, 0));
                    program.step(rank, phase, 0, (last, bytes), (next, bytes));
                    program.step(rank, phase, 0, (0, 0), (last, bytes));
                }
            }
        }
    }

    /// Adds the messages of ranks with points of the next coarser level to neighbours without: two faces to the next
    /// rank, one to the last.
    fn hand_out(&self, program: &mut Program, level: u32) {
        let phase = program.phase(&format!("handing out level {level}"));
        for axis in (0..3).filter(|&axis| self.boxes.thins_out(axis, level)) {
            for rank in 0..program.ranks {
                let [next, last] = self.boxes.neighbours(rank, axis, level);
                let own = self.group[rank as usize];
                let to = |other: u32, faces: u64, of: u32| {
                    (self.group[other as usize], faces * self.boxes.whole_face(of, axis, level))
                };
                if self.boxes.points(rank, axis, level - 1) > 0 {
                    program.step(own, phase, 0, to(next, 2, rank), (0, 0));
                    program.step(own, phase, 0, to(last, 1, rank), (0, 0));
                } else if self.boxes.points(next, axis, level - 1) > 0 {
                    program.step(own, phase, 0, (0, 0), to(next, 1, next));
                    program.step(own, phase, 0, (0, 0), to(last, 2, last));
                }
            }
        }
    }
}

/// Boxes of the ranks along three axes.
struct Boxes {
    /// Binary logarithms of the ranks along each axis.
    logs: [u32; 3],
}

impl Boxes {
    fn new(ranks: u32) -> Self {
        let all = ranks.ilog2();
        let first = all / 3;
        let second = (all - first) / 2;
        Self { logs: [first, second, all - first - second] }
    }

    /// Returns the coordinate of a rank along an axis.
    fn place(&self, rank: u32, axis: usize) -> u32 {
        let before: u32 = self.logs[..axis].iter().sum();
        (rank >> before) & ((1 << self.logs[axis]) - 1)
    }

    /// Returns the number of points of a rank along an axis. If there are fewer points than ranks, the last rank of
    /// each group has one.
    fn points(&self, rank: u32, axis: usize, level: u32) -> u64 {
        let (place, log) = (u64::from(self.place(rank, axis)), self.logs[axis]);
        (((place + 1) << level) >> log) - ((place << level) >> log)
    }

    fn is_alive(&self, rank: u32, level: u32) -> bool {
        (0..3).all(|axis| self.points(rank, axis, level) > 0)
    }

    /// Returns true if some ranks have points of a level along an axis but none of the next coarser level.
    fn thins_out(&self, axis: usize, level: u32) -> bool {
        level <= self.logs[axis]
    }

    /// Returns the next and the previous rank with points of a level along an axis, with wrap-around.
    fn neighbours(&self, rank: u32, axis: usize, level: u32) -> [u32; 2] {
        let log = self.logs[axis];
        let (ranks, stride) = (1 << log, 1 << (log - log.min(level)));
        let before: u32 = self.logs[..axis].iter().sum();
        let place = self.place(rank, axis);
        let at = |place: u32| (rank & !((ranks - 1) << before)) | ((place & (ranks - 1)) << before);
        [at(place + stride), at(place + ranks - stride)]
    }

    /// Returns the bytes of a face of a box. The face includes the halos along earlier axes.
    fn face(&self, rank: u32, axis: usize, level: u32) -> u64 {
        // Axes that were exchanged before add their two halo layers (mg.f, comm3).
        let side = |other: usize| self.points(rank, other, level) + if other < axis { 2 } else { 0 };
        (0..3).filter(|&other| other != axis).map(side).product::<u64>() * DOUBLE
    }

    /// Like [`Boxes::face`], but with the halos along both axes.
    fn whole_face(&self, rank: u32, axis: usize, level: u32) -> u64 {
        (0..3).filter(|&other| other != axis).map(|other| self.points(rank, other, level) + 2).product::<u64>() * DOUBLE
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::profile::Profile;
    use super::super::tests::{bytes_of, made};
    use super::*;
    use crate::resolve::cluster::jobs::check::problem;
    use hostnet_params::ProblemSpec;

    #[test]
    fn ranks_without_points_of_a_level_get_them_from_those_that_have() {
        // 64 ranks, four along each axis: the level of two points per axis has points for eight of them.
        let boxes = Boxes::new(64);
        assert_eq!(boxes.logs, [2, 2, 2]);
        let alive = |level| (0..64).filter(|&rank| boxes.is_alive(rank, level)).count();
        assert_eq!([alive(1), alive(2), alive(5)], [8, 64, 64]);
        assert!((0..3).all(|axis| boxes.thins_out(axis, 2) && !boxes.thins_out(axis, 3)));
        let mut program = Program::new(64);
        program.block(1);
        let group: Vec<u32> = (0..64).collect();
        let benchmark =
            Benchmark { problem: ProblemSpec::S, ops_per_s: 1e9, iterations: None, profile: Profile::default() };
        Cycle { boxes, benchmark: &benchmark, group: &group, scale: 1.0 }.hand_out(&mut program, 2);
        // Along each axis 32 ranks have points of the coarser level; they send three faces of three by three.
        assert_eq!(bytes_of(&program), 3 * 32 * 3 * 9 * 8);
        let name = |_| String::new();
        assert_eq!(problem(64, &program.blocks[0], name), None);
    }

    #[test]
    fn two_ranks_exchange_faces_along_one_axis() {
        // Of the last axis, with the halos of the others, both ways, to the only neighbour.
        let face = |level: u32| (2 + (1_u64 << level)).pow(2) * 8;
        let cycle: u64 = (1..5).map(|level| 3 * face(level)).sum::<u64>() - face(1) + 3 * face(5);
        assert_eq!(Boxes::new(2).logs, [0, 0, 1]);
        let norms = 2 * 2 * 2 * 8;
        assert_eq!(bytes_of(&made(Benchmark::mg, 2)), 4 * (4 * cycle + face(5)) + norms);
    }
}
