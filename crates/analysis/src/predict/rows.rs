//! Predicts how often a line finds its row closed.

use super::fit::Fit;
use super::traffic::Locality;

/// A node of the quadrature on 0 to 1: the logarithm of its position and its weight.
struct Node {
    ln: f64,
    weight: f64,
}

/// Nodes of the Gauss-Legendre rule of 8 points.
const NODES: [Node; 8] = [
    Node { ln: -3.919_295_800_644_082, weight: 0.050_614_268_145_188 },
    Node { ln: -2.286_054_860_290_609, weight: 0.111_190_517_226_687 },
    Node { ln: -1.438_709_147_125_884, weight: 0.156_853_322_938_944 },
    Node { ln: -0.895_795_504_401_999, weight: 0.181_341_891_689_181 },
    Node { ln: -0.524_726_256_028_741, weight: 0.181_341_891_689_181 },
    Node { ln: -0.270_803_710_172_607, weight: 0.156_853_322_938_944 },
    Node { ln: -0.107_214_189_642_799, weight: 0.111_190_517_226_687 },
    Node { ln: -0.020_054_832_283_441, weight: 0.050_614_268_145_188 },
];
/// Sharpness with which a row closes after it has been idle for the timeout.
const IDLE_POWER: i32 = 6;

/// Walks of one kind at one controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Walks {
    /// Number of walks.
    pub(super) count: f64,
    /// Rate of each walk, in lines per ns.
    pub(super) rate: f64,
    pub(super) writes: bool,
    pub(super) locality: Locality,
}

/// Queues and timeouts of the controller that affect the rows of the walks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Queues {
    /// Number of banks.
    pub(super) banks: f64,
    /// Mean number of waiting reads.
    pub(super) reads: f64,
    /// Number of writes queued at the start of a write mode.
    pub(super) writes: f64,
    /// Time after which an idle row is closed, in ns.
    pub(super) idle_ns: f64,
    /// Time between two refreshes of a bank, in ns.
    pub(super) refresh_ns: f64,
    /// Write modes per line read.
    pub(super) modes: f64,
}

/// Returns the row misses per line of reads and of writes.
pub(super) fn misses(walks: &[Walks], queues: &Queues, fit: &Fit) -> (f64, f64) {
    let mean = |writes: bool| {
        let own = walks.iter().enumerate().filter(|(_, walk)| walk.writes == writes && walk.rate > 0.0);
        let total: f64 = own.clone().map(|(_, walk)| walk.count * walk.rate).sum();
        let missed: f64 = own
            .map(|(index, walk)| {
                let ratio =
                    if writes { of_write(walk, total, queues) } else { of_read(index, walks, total, queues, fit) };
                walk.count * walk.rate * ratio
            })
            .sum();
        if total > 0.0 {
            missed / total
        } else {
            0.0
        }
    };
    let written = mean(true);
    let read = mean(false);
    // A read that misses anyway opens its row itself, so only the others can pay for a write mode.
    (read + (1.0 - read) * reopened(walks, queues, written).min(1.0), written)
}

/// Rows that reads must reopen because a write mode used their bank, per line read.
fn reopened(walks: &[Walks], queues: &Queues, write_misses: f64) -> f64 {
    let banks = queues.banks;
    let reading: f64 = walks.iter().filter(|walk| !walk.writes).map(|walk| walk.count * walk.locality.banks).sum();
    // Expected number of distinct banks that so many random choices hit.
    let open = banks * (1.0 - (-reading / banks).exp());
    let taken = 1.0 - (-queues.writes * write_misses / banks).exp();
    open * taken * queues.modes
}

/// Row misses per line of a read walk. A walk loses its row to other walks that use the bank between two of its
/// bursts, and to page closing and refresh.
fn of_read(index: usize, walks: &[Walks], total: f64, queues: &Queues, fit: &Fit) -> f64 {
    let own = &walks[index];
    let base = 1.0 / own.locality.lines_per_visit;
    let kept = kept(index, walks, queues, fit);
    // Row hits go first, so the queued requests of a stream share one activation.
    let waiting = queues.reads * own.rate / total;
    let taken = (1.0 - kept) / (1.0 + fit.batch * waiting);
    // The walk visits its banks one after the other, so a bank rests for a whole revolution.
    let pause_ns = own.locality.burst * own.locality.banks / own.rate;
    let idle = 1.0 / (1.0 + (queues.idle_ns / pause_ns).powi(IDLE_POWER));
    // Timeout and refresh close a row independently of each other.
    let closed = 1.0 - (1.0 - idle) * (1.0 - (pause_ns / queues.refresh_ns).min(1.0));
    base + (1.0 - base) * (taken + (1.0 - taken) * kept * closed / own.locality.burst).min(1.0)
}

/// Probability that the row of a walk is not closed by another walk between two of its bursts.
fn kept(index: usize, walks: &[Walks], queues: &Queues, fit: &Fit) -> f64 {
    let banks = |walk: &Walks| (walk.locality.banks * fit.banks).min(queues.banks);
    // Substitution x = exp(-pace t) maps an exponential pause between two bursts to 0 to 1, where NODES integrate.
    let pace = walks[index].rate / banks(&walks[index]);
    let mut left_alone = [0.0; NODES.len()];
    for (other, walk) in walks.iter().enumerate() {
        let present = banks(walk) / queues.banks;
        let pace_ratio = walk.rate / banks(walk) / pace;
        // A walk does not close its own row.
        let count = walk.count - f64::from(u8::from(other == index));
        for (log, node) in left_alone.iter_mut().zip(&NODES) {
            // A product over walks as a sum of logarithms; ln_1p and exp_m1 keep the digits of small probabilities.
            *log += count * (present * (pace_ratio * node.ln).exp_m1()).ln_1p();
        }
    }
    left_alone.iter().zip(&NODES).map(|(log, node)| node.weight * log.exp()).sum()
}

/// Row misses per line of a write walk: a write mode opens a row once for all the lines of that row in the queue.
fn of_write(own: &Walks, total: f64, queues: &Queues) -> f64 {
    // 1e-3 keeps a walk with almost no queued writes from dividing by zero.
    let found = (queues.writes * own.rate / total).max(1e-3);
    let bursts = found / own.locality.burst;
    let rows = own.locality.banks;
    // Expected number of distinct rows that so many random bursts hit.
    let opened = rows * (1.0 - (bursts * (-1.0 / rows).ln_1p()).exp());
    (opened / found).clamp(1.0 / own.locality.lines_per_visit, 1.0)
}
