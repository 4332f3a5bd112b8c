//! Levels of a breadth-first search through a uniform random graph.

use serde::{Deserialize, Serialize};

/// Maximum number of levels. A connected random graph has far fewer.
const LEVELS: usize = 64;

/// Level of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Level {
    /// Number of nodes of this level and of all levels before.
    until: u64,
    /// Share of the neighbours of its nodes that are one level deeper, in units of 2^-32.
    further: u64,
    /// Share of the deeper neighbours that the search finds for the first time, in units of 2^-32.
    found: u64,
}

/// Levels from the source to the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Levels(Vec<Level>);

impl Levels {
    /// Computes the expected levels of a graph of `nodes` nodes. A node not yet found is a neighbour of none of the
    /// `n` nodes of a level with probability exp(-n x neighbours / nodes).
    pub(super) fn new(nodes: u64, neighbours: u64) -> Self {
        let all = nodes as f64;
        let (mut level, mut rest, mut levels) = (1.0_f64, all - 1.0, Vec::with_capacity(LEVELS));
        // A level with an expected size below half a node is none.
        while level >= 0.5 && levels.len() < LEVELS {
            let reach = level * neighbours as f64 / all;
            let next = rest * (1.0 - decay(reach));
            levels.push(Level {
                until: (all - rest + 0.5) as u64,
                further: share(rest / all),
                found: if reach * rest > 0.0 { share(next / (reach * rest)) } else { 0 },
            });
            rest -= next;
            level = next;
        }
        // Rounding must not leave nodes without a level; the last one has none behind it.
        if let Some(last) = levels.last_mut() {
            *last = Level { until: nodes, further: 0, found: 0 };
        }
        Self(levels)
    }

    /// Returns the level of the node at a position in the queue.
    pub(super) fn of(&self, position: u64) -> usize {
        self.0.iter().position(|level| position < level.until).unwrap_or(self.0.len() - 1)
    }

    /// Returns the share of the neighbours of a level's nodes that are one level deeper, in units of 2^-32.
    pub(super) fn further(&self, level: usize) -> u64 {
        self.0[level].further
    }

    /// Returns the share of the deeper neighbours that are found for the first time, in units of 2^-32.
    pub(super) fn found(&self, level: usize) -> u64 {
        self.0[level].found
    }
}

fn share(value: f64) -> u64 {
    (value.clamp(0.0, 1.0) * 4_294_967_296.0) as u64
}

/// Returns exp(-x), computed by products alone so that the result is the same on every machine.
fn decay(x: f64) -> f64 {
    // (1 - x / 2^20)^(2^20) by 20 squarings.
    let mut value = 1.0 - (x / 1_048_576.0).min(1.0);
    (0..20).for_each(|_| value *= value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_hold_every_node_once_and_lead_to_every_node_but_the_source() {
        for scale in [4, 10, 20, 25, 32] {
            let nodes = 1_u64 << scale;
            let levels = Levels::new(nodes, 32);
            let (mut before, mut found) = (0, 0.0);
            for level in &levels.0 {
                assert!(level.until >= before, "{levels:?}");
                let edges = (level.until - before) as f64 * 32.0;
                found += edges * (level.further as f64 / 2_f64.powi(32)) * (level.found as f64 / 2_f64.powi(32));
                before = level.until;
            }
            assert_eq!(before, nodes);
            assert!((found / nodes as f64 - 1.0).abs() < 0.15, "{found} of {nodes} nodes are found");
        }
    }

    #[test]
    fn the_published_graph_has_two_levels_with_nearly_all_nodes() {
        let levels = Levels::new(1 << 25, 32);
        let sizes: Vec<_> = (0..levels.0.len()).map(|level| levels.0[level].until).collect();
        assert_eq!(&sizes[..3], &[1, 33, 1057]);
        assert!(sizes[4] < 1_200_000 && sizes[6] > 33_000_000, "{sizes:?}");
    }

    #[test]
    fn decay_is_the_exponential() {
        for x in [0.0, 1e-6, 0.5, 1.0, 30.0] {
            assert!((decay(x) - (-x).exp()).abs() < 1e-4, "exp(-{x}) is not {}", decay(x));
        }
        assert!(decay(1e9) == 0.0);
    }
}
