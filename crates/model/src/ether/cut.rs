//! Splits a network into partitions of whole racks (a switch with its endpoints).

use std::ops::Range;

/// Distributes racks over at least one and at most `parts` ranges of about equal weight. `racks` gives the number of
/// nodes and the weight of each rack in order. Returns ranges of nodes.
pub(super) fn ranges(racks: &[(usize, u64)], parts: usize) -> Vec<Range<usize>> {
    let total: u128 = racks.iter().map(|rack| u128::from(rack.1)).sum::<u128>().max(1);
    let mut ranges: Vec<(u128, Range<usize>)> = Vec::new();
    let (mut before, mut next) = (0, 0);
    for &(nodes, weight) in racks {
        // A rack belongs to the part that contains its middle.
        let part = (2 * before + u128::from(weight)) * parts as u128 / (2 * total);
        before += u128::from(weight);
        match ranges.last_mut().filter(|range| range.0 == part) {
            Some((_, range)) => range.end += nodes,
            None => ranges.push((part, next..next + nodes)),
        }
        next += nodes;
    }
    if ranges.is_empty() {
        ranges.push((0, 0..0));
    }
    ranges.into_iter().map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racks_are_shared_out_evenly_and_stay_whole() {
        let racks = [(5, 8), (5, 8), (5, 8), (5, 8), (1, 4), (1, 4)];
        let ends = |racks: &[(usize, u64)], parts| {
            let ranges = ranges(racks, parts);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start) && ranges[0].start == 0);
            ranges.iter().map(|range| range.end).collect::<Vec<usize>>()
        };
        assert_eq!(ends(&racks, 1), [22]);
        assert_eq!(ends(&racks, 2), [10, 22]);
        assert_eq!(ends(&racks, 100), [5, 10, 15, 20, 21, 22]);
        assert_eq!(ends(&[], 3), [0]);
        assert_eq!(ends(&[(7, 0)], 3), [7]);
    }
}
