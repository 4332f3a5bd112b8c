//! Sums and broadcasts of a vector along two binary trees, half of the vector each (Sanders, Speck, Träff, Parallel
//! Computing 35, 2009). An inner node of one tree is a leaf of the other one, so that every member sends and receives
//! about as much as any other.
//!
//! The nodes of a tree are numbered from 1 in order: those of a left subtree, their root, those of the right subtree.
//! Odd nodes are leaves. The members have these numbers in the first tree; in the second one they have them in the
//! opposite order if their number is even, and shifted by one if it is odd, so that odd and even nodes are exchanged.

use super::chunks::chunk_of;
use super::member::{adding, receiving, Member, PlaceStep};

/// Steps for each chunk of an inner node: a message and an addition for each of two children, and a message to the
/// parent.
const STEPS_OF_SUM: u32 = 5;
/// Steps for each chunk of an inner node: a message from the parent, and one to each of two children.
const STEPS_OF_BROADCAST: u32 = 3;

/// A node of one of the two trees.
#[derive(Clone, Copy)]
struct TreeNode {
    /// Number of the tree: 0 or 1.
    tree: u32,
    node: u32,
    /// Number of nodes of the tree.
    count: u32,
}

impl TreeNode {
    /// Returns the node of a member in a tree.
    fn of(place: u32, tree: u32, count: u32) -> Self {
        let node = match (tree, count % 2) {
            (0, _) => place + 1,
            (_, 0) => count - place,
            _ if place == 0 => count,
            _ => place,
        };
        Self { tree, node, count }
    }

    /// Returns the place of the member at another node of the tree.
    fn place_of(self, node: u32) -> u32 {
        match (self.tree, self.count % 2) {
            (0, _) => node - 1,
            (_, 0) => self.count - node,
            _ => node % self.count,
        }
    }

    fn is_leaf(self) -> bool {
        self.node % 2 == 1
    }

    /// Returns the distance from a node to the first one that is in no subtree of it.
    fn reach(node: u32) -> u32 {
        1 << node.trailing_zeros()
    }

    /// Returns the place of the parent; none of the root.
    fn parent(self) -> Option<u32> {
        if self.node == 1 << self.count.ilog2() {
            return None;
        }
        let above = |node: u32| (node ^ Self::reach(node)) | (2 * Self::reach(node));
        let mut ancestors = std::iter::successors(Some(above(self.node)), |&node| Some(above(node)));
        // Ancestors beyond the last node are left out.
        ancestors.find(|&node| node <= self.count).map(|node| self.place_of(node))
    }

    /// Returns the place of the left child or of the right one (0 or 1), if there is one.
    fn child(self, side: u32) -> Option<u32> {
        let half = Self::reach(self.node) / 2;
        let distances = std::iter::successors(Some(half), |&distance| Some(distance / 2));
        let mut distances = distances.take_while(|&distance| distance > 0);
        let found = match side {
            0 => distances.next().map(|distance| self.node - distance),
            _ => distances.map(|distance| self.node + distance).find(|&node| node <= self.count),
        };
        found.map(|node| self.place_of(node))
    }
}

/// Nodes of a member in both trees: the one at which it is an inner node, if there is one, and those at which it is a
/// leaf.
struct Roles {
    inner: Option<TreeNode>,
    leaves: [Option<TreeNode>; 2],
}

impl Roles {
    fn of(place: u32, count: u32) -> Self {
        let nodes = [0, 1].map(|tree| TreeNode::of(place, tree, count));
        Self {
            inner: nodes.into_iter().find(|node| !node.is_leaf()),
            leaves: nodes.map(|node| Some(node).filter(|node| node.is_leaf())),
        }
    }

    fn count_leaves(&self) -> u32 {
        self.leaves.iter().flatten().count() as u32
    }

    /// Returns the leaf of an index below their number.
    fn leaf(&self, index: u32) -> Option<TreeNode> {
        self.leaves.into_iter().flatten().nth(index as usize)
    }

    /// Returns the number of indices of a member's steps, `of_inner` for each chunk of an inner node.
    fn indices(&self, count: u32, chunks: u32, of_inner: u32) -> u32 {
        match self.inner {
            Some(_) => (self.count_leaves() + of_inner) * (chunks + lead(count, chunks)),
            None => self.count_leaves() * chunks,
        }
    }
}

/// Returns the number of chunks by which the first role of a member is ahead of the second one: the roles wait for each
/// other, so that neither takes more of the cable than its share, but not for the way of a chunk through the trees.
fn lead(count: u32, chunks: u32) -> u32 {
    (count.ilog2() + 1).min(chunks)
}

/// Sums and broadcasts along two trees, as one member takes part in them.
#[derive(Clone, Copy)]
pub(super) struct DoubleTree {
    pub(super) member: Member,
    /// Chunks of a half of the vector.
    pub(super) chunks: u32,
}

impl DoubleTree {
    /// Returns the number of indices of a member's steps of a sum.
    pub(super) fn indices_of_sum(place: u32, count: u32, chunks: u32) -> u32 {
        Roles::of(place, count).indices(count, chunks, STEPS_OF_SUM)
    }

    /// Returns the number of indices of a member's steps of a broadcast.
    pub(super) fn indices_of_broadcast(place: u32, count: u32, chunks: u32) -> u32 {
        Roles::of(place, count).indices(count, chunks, STEPS_OF_BROADCAST)
    }

    /// Returns the offset and the bytes of a chunk of the half that a tree carries.
    fn half_chunk(self, tree: u32, chunk: u32) -> (u64, u64) {
        chunk_of(chunk_of((0, self.member.bytes), tree, 2), chunk, self.chunks)
    }

    /// Sends data to a member, if there is one, without waiting until it is written.
    fn posting_to(to: Option<u32>, (at, bytes): (u64, u64)) -> PlaceStep {
        to.map_or(PlaceStep::default(), |to| PlaceStep { send: (to, bytes), at, posts: true, ..PlaceStep::default() })
    }

    /// Returns a step of the sums. Chunks of leaves are sent to the parents. Behind them, those of both children are
    /// received, added and sent on.
    pub(super) fn reduce(self, index: u32) -> PlaceStep {
        let Self { member: Member { place, count, .. }, chunks } = self;
        let roles = Roles::of(place, count);
        let leaves = roles.count_leaves();
        let of_chunk = leaves + if roles.inner.is_some() { STEPS_OF_SUM } else { 0 };
        let (number, step) = (index / of_chunk, index % of_chunk);
        if let Some(leaf) = roles.leaf(step) {
            let data = (number < chunks).then(|| self.half_chunk(leaf.tree, number));
            return data.map_or(PlaceStep::default(), |data| Self::posting_to(leaf.parent(), data));
        }
        let Some((inner, chunk)) = roles.inner.zip(number.checked_sub(lead(count, chunks))) else {
            return PlaceStep::default();
        };
        let data = self.half_chunk(inner.tree, chunk);
        match step - leaves {
            4 => Self::posting_to(inner.parent(), data),
            step => match (inner.child(step / 2), step % 2) {
                (None, _) => PlaceStep::default(),
                (Some(child), 0) => receiving(child, data.1),
                (Some(_), _) => adding(data.1),
            },
        }
    }

    /// Returns a step of the broadcasts. Chunks are received from the parent and sent to both children. Behind them,
    /// those of leaves, which go no further, are received.
    pub(super) fn broadcast(self, index: u32) -> PlaceStep {
        let Self { member: Member { place, count, .. }, chunks } = self;
        let roles = Roles::of(place, count);
        let (of_inner, behind) = match roles.inner {
            Some(_) => (STEPS_OF_BROADCAST, lead(count, chunks)),
            None => (0, 0),
        };
        let of_chunk = of_inner + roles.count_leaves();
        let (number, step) = (index / of_chunk, index % of_chunk);
        let receiving_from =
            |parent: Option<u32>, bytes: u64| parent.map_or(PlaceStep::default(), |parent| receiving(parent, bytes));
        if let Some(leaf) = step.checked_sub(of_inner).and_then(|step| roles.leaf(step)) {
            let data = number.checked_sub(behind).map(|chunk| self.half_chunk(leaf.tree, chunk));
            return data.map_or(PlaceStep::default(), |(_, bytes)| receiving_from(leaf.parent(), bytes));
        }
        let Some(inner) = roles.inner.filter(|_| number < chunks) else { return PlaceStep::default() };
        let data = self.half_chunk(inner.tree, number);
        match step {
            0 => receiving_from(inner.parent(), data.1),
            side => Self::posting_to(inner.child(side - 1), data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn both_trees_reach_all_members_and_each_is_an_inner_node_of_one_at_most() {
        for count in 2..=130_u32 {
            let mut inner = BTreeSet::new();
            for tree in [0, 1] {
                let nodes: Vec<_> = (0..count).map(|place| TreeNode::of(place, tree, count)).collect();
                let roots = nodes.iter().filter(|node| node.parent().is_none()).count();
                assert_eq!(roots, 1, "{count}");
                for (place, node) in (0..).zip(&nodes) {
                    let children: Vec<u32> = [0, 1].into_iter().filter_map(|side| node.child(side)).collect();
                    assert!(children.iter().all(|&child| nodes[child as usize].parent() == Some(place)), "{count}");
                    assert!(children.is_empty() || inner.insert(place), "{place} of {count}");
                    let ancestors = std::iter::successors(Some(place), |&place| nodes[place as usize].parent());
                    assert!(ancestors.count() as u32 <= count.ilog2() + 1, "{place} of {count}");
                }
                let children = nodes.iter().flat_map(|node| [0, 1].map(|side| node.child(side))).flatten();
                assert_eq!(children.collect::<BTreeSet<_>>().len() as u32, count - 1, "{count}");
            }
        }
    }
}
