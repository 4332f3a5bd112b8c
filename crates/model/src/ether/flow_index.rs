//! Index from a flow to its end at a host.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// A flow without an end at the host.
const NONE: u32 = u32::MAX;
/// Maximum number of places per end for which a table is used: with a table, a lookup takes a single access to memory.
const PLACES_PER_END: usize = 16;

/// Index from flows to ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum FlowIndex {
    /// End of each flow, from the first flow of the host on.
    Table { first: u32, ends: Vec<u32> },
    /// Flow of each end in ascending order, for a host with few of very many flows.
    List(Vec<u32>),
}

impl FlowIndex {
    /// Creates the index of ends with these flows, in ascending order.
    pub(super) fn new(flows: Vec<u32>) -> Self {
        let (Some(&first), Some(&last)) = (flows.first(), flows.last()) else { return Self::List(flows) };
        let places = (last - first) as usize + 1;
        // A host with few of very many flows would have a table that is mostly empty.
        if places > PLACES_PER_END * flows.len() {
            return Self::List(flows);
        }
        let mut ends = vec![NONE; places];
        for (end, flow) in (0..).zip(flows) {
            ends[(flow - first) as usize] = end;
        }
        Self::Table { first, ends }
    }

    /// Returns the end of a flow.
    #[inline]
    pub(super) fn end_of(&self, flow: u32) -> Option<u32> {
        match self {
            Self::Table { first, ends } => {
                // Flows below the first wrap to large numbers, which the table does not have.
                ends.get(flow.wrapping_sub(*first) as usize).copied().filter(|&end| end != NONE)
            }
            Self::List(flows) => flows.binary_search(&flow).ok().map(|end| end as u32),
        }
    }

    /// Prefetches the data that a lookup of `flow` needs.
    #[inline]
    pub(super) fn fetch(&self, flow: u32) {
        if let Self::Table { first, ends } = self {
            prefetch_index(ends, flow.wrapping_sub(*first) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_end_of_every_flow_and_no_other(
            flows in prop::collection::btree_set(0_u32..3000, 0..60),
            apart in prop::sample::select(vec![1_u32, 1000])
        ) {
            let flows: Vec<u32> = flows.into_iter().map(|flow| flow * apart).collect();
            let index = FlowIndex::new(flows.clone());
            for (end, &flow) in (0..).zip(&flows) {
                prop_assert_eq!(index.end_of(flow), Some(end));
                prop_assert_eq!(index.end_of(flow + 1), flows.binary_search(&(flow + 1)).ok().map(|end| end as u32));
            }
        }
    }

    #[test]
    fn takes_no_more_than_a_few_places_per_end() {
        let far: Vec<u32> = (0..1000).map(|flow| flow * 1000).collect();
        assert!(matches!(FlowIndex::new(far), FlowIndex::List(flows) if flows.len() == 1000));
        assert!(matches!(FlowIndex::new(vec![7, 9]), FlowIndex::Table { first: 7, ends } if ends == [0, NONE, 1]));
    }
}
