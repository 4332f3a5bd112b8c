//! Benchmarks of hostnet. Each benchmark prints its speed, the largest number of pending events, and a hash of its
//! result: the hash reveals a change that is faster only because it computes something else.
//!
//! * [`Row`] is the result of one benchmark; [`table`] formats rows for the screen.
//! * [`kernel`] measures the event queue against a binary heap, [`windows`] partitions in step, [`cache`] the state
//!   of caches, [`mod@filter`] the cache filter, [`channel`] one memory channel, [`server`] whole servers,
//!   [`predict`] predictions of them and of [`random`] servers, [`network`] a network of endpoints, [`noc`] a network
//!   on a chip, [`cluster`] servers on a network, and [`codec`] the gradient codec.
//! * [`counted`] counts instructions per unit of work.
//! * [`BENCHMARKS`] lists all of them. To add one, write a function from [`Size`] to rows and append it there.
//!
//! Every benchmark also runs as a test, with tiny sizes.

pub mod cache;
pub mod channel;
pub mod cluster;
pub mod codec;
pub mod counted;
pub mod filter;
pub mod kernel;
mod memory;
pub mod network;
pub mod noc;
pub mod predict;
pub mod random;
mod row;
mod sample;
pub mod server;
pub mod windows;

pub use memory::peak_bytes;
pub use row::{json, table, Row};
pub use sample::{interleaved, Sample, Samples, Work};

/// Amount of work of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Enough to show that the benchmark works: milliseconds.
    Quick,
    /// Enough to measure: seconds.
    Full,
}

/// Function that runs a group of benchmarks and returns a row for each.
pub type Benchmark = fn(Size) -> Vec<Row>;

/// All groups of benchmarks by name, in the order in which they run.
pub const BENCHMARKS: &[(&str, Benchmark)] = &[
    ("kernel", kernel::rows),
    ("windows", windows::rows),
    ("cache", cache::rows),
    ("filter", filter::rows),
    ("memory", channel::rows),
    ("network", network::rows),
    ("noc", noc::rows),
    ("server", server::rows),
    ("pairs", server::pairs),
    ("predict", predict::rows),
    ("cluster", cluster::rows),
    ("codec", codec::rows),
];

/// Runs all benchmarks and calls `on_group` with the name of each group before it starts.
pub fn run(size: Size, mut on_group: impl FnMut(&str)) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, benchmark) in BENCHMARKS {
        on_group(name);
        memory::reset_peak();
        rows.extend(benchmark(size));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_benchmarks_run_and_repeat_their_results() {
        let hashes = || run(Size::Quick, |_| ()).into_iter().map(|row| (row.benchmark, row.hash)).collect::<Vec<_>>();
        let first = hashes();
        assert!(first.len() >= 10);
        assert_eq!(first, hashes());
    }

    #[test]
    fn every_row_says_how_fast_it_was() {
        let rows = run(Size::Quick, |_| ());
        for row in &rows {
            assert!(row.events_per_s.is_finite() && row.events_per_s > 0.0, "{row:?}");
            assert_eq!(row.pending_max > 0, !row.benchmark.starts_with("prediction"), "{row:?}");
            assert_eq!(row.hash.len(), 16, "{row:?}");
        }
        let printed = table(&rows);
        assert!(rows.iter().all(|row| printed.contains(&row.benchmark) && printed.contains(&row.hash)));
    }
}
