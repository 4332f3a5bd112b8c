//! CG: the conjugate gradient method with a sparse matrix.

use super::{of, Benchmark, DOUBLE};
use crate::resolve::cluster::jobs::program::Program;

/// Conjugate gradient steps per outer iteration.
const STEPS: u32 = 25;

impl Benchmark {
    /// Adds the conjugate gradient benchmark. The matrix is split among rows and columns of ranks. Sums are exchanged
    /// along rows, and vectors with the rank at the transposed place.
    pub(in crate::resolve::cluster::jobs) fn cg(&self, program: &mut Program, group: &[u32]) {
        let rows: u64 = of(self.problem, [1400, 7000, 14000, 75000, 150_000]);
        let nonzeros: f64 = of(self.problem, [7.0, 8.0, 11.0, 13.0, 15.0]);
        let filled = nonzeros * (nonzeros + 1.0);
        let steps = f64::from(STEPS);
        // As cg.f counts them for its MFLOPS.
        let operations = 2.0 * rows as f64 * (3.0 + filled + steps * (5.0 + filled) + 3.0);
        let (each, found) = (operations / (steps + 1.0), rows as f64 * filled);
        let grid = Grid::new(program.ranks);
        // With twice as many columns as rows, the two halves of a row's part are summed separately. In both cases a
        // rank sends as many numbers as it has columns.
        let part = rows / u64::from(grid.columns) * DOUBLE;
        program.block(self.iterations([15, 15, 15, 75, 75]));
        grid.scalar_product(program, group, 1);
        for step in 0..=STEPS {
            self.compute(program, "sparse product", each, found, (rows / u64::from(grid.columns)) as f64);
            grid.sums_of_rows(program, group, part);
            grid.transpose(program, group, part);
            grid.scalar_product(program, group, 1);
            if step < STEPS {
                grid.scalar_product(program, group, 1);
            }
        }
        // Two norms at once (cg.f).
        grid.scalar_product(program, group, 2);
    }
}

/// Rows and columns of ranks. There are as many columns as rows, or twice as many.
struct Grid {
    rows: u32,
    columns: u32,
}

impl Grid {
    fn new(ranks: u32) -> Self {
        let rows = 1 << (ranks.ilog2() / 2);
        Self { rows, columns: ranks / rows }
    }

    /// Adds a sum of vectors along rows: first with the next rank, then with ranks at doubling distances.
    fn sums_of_rows(&self, program: &mut Program, group: &[u32], bytes: u64) {
        let phase = program.phase("sums of rows");
        (0..self.columns.ilog2()).for_each(|stage| self.exchange(program, group, phase, 1 << stage, bytes));
    }

    /// Adds a sum of numbers along rows: first with the rank half a row away, then with ranks at halving distances.
    fn scalar_product(&self, program: &mut Program, group: &[u32], numbers: u64) {
        let phase = program.phase("scalar products");
        let stages = (0..self.columns.ilog2()).rev();
        stages.for_each(|stage| self.exchange(program, group, phase, 1 << stage, numbers * DOUBLE));
    }

    /// Adds an exchange of every rank with the one at `distance` in its row.
    fn exchange(&self, program: &mut Program, group: &[u32], phase: u8, distance: u32, bytes: u64) {
        for rank in 0..program.ranks {
            // Rows have a power of two ranks, so another column differs in one bit.
            let other = group[(rank ^ distance) as usize];
            program.step(group[rank as usize], phase, 0, (other, bytes), (other, bytes));
        }
    }

    /// Adds the exchange of a vector with the rank at the transposed place.
    fn transpose(&self, program: &mut Program, group: &[u32], bytes: u64) {
        let phase = program.phase("transpose");
        for rank in 0..program.ranks {
            let other = if self.rows == self.columns {
                (rank % self.rows) * self.rows + rank / self.rows
            } else {
                let half = rank / 2;
                2 * ((half % self.rows) * self.rows + half / self.rows) + rank % 2
            };
            if other != rank {
                let other = group[other as usize];
                program.step(group[rank as usize], phase, 0, (other, bytes), (other, bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bytes_of, made};
    use super::*;

    #[test]
    fn ranks_exchange_as_much_as_they_have_columns() {
        // 8 ranks: two rows of four columns of 350. In each of 26 products two stages and a transpose, where four ranks
        // stay in place; 52 scalar products of a number and one of two, in two stages.
        let (columns, products) = (1400 / 4 * 8, 26);
        let numbers = (52 * 8 + 2 * 8) * 2 * 8;
        assert_eq!(bytes_of(&made(Benchmark::cg, 8)), 15 * (products * columns * (2 * 8 + 4) + numbers));
    }

    #[test]
    fn a_grid_of_ranks_has_as_many_columns_as_rows_or_twice_as_many() {
        for (ranks, rows, columns) in [(1, 1, 1), (2, 1, 2), (4, 2, 2), (8, 2, 4), (128, 8, 16)] {
            let grid = Grid::new(ranks);
            assert_eq!((grid.rows, grid.columns), (rows, columns));
        }
    }
}
