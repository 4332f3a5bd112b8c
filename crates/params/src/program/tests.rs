//! Tests of collectives: programs end, and every member has what the collective promises.

use super::*;
use std::collections::VecDeque;

/// For each byte of a vector, the members whose data is in it, as bits.
type Vector = Vec<u32>;

fn collective(pattern: CollectivePattern, count: u32, bytes: u64) -> CollectiveParams {
    let group = GroupParams { first: 0, stride: 1, count, size: count };
    CollectiveParams { pattern, group, bytes, phase: 0, base: Some(0), additions: Vec::new(), blocking: false }
}

/// Runs a collective on the vectors of its members: a received vector is added if a step until the next exchange says
/// so, and is taken over otherwise. Returns the vectors at the end.
fn run(collective: &CollectiveParams, mut vectors: Vec<Vector>) -> Vec<Vector> {
    let count = vectors.len();
    let mut lines: Vec<VecDeque<(usize, Vector)>> = vec![VecDeque::new(); count * count];
    let (mut at, mut sent) = (vec![0; count], vec![false; count]);
    let is_done = |at: &[u32]| (0..).zip(at).all(|(rank, &at)| at == collective.indices(rank));
    while !is_done(&at) {
        let before = (at.clone(), sent.clone());
        for own in 0..count {
            let rank = own as u32;
            if at[own] == collective.indices(rank) {
                continue;
            }
            let PlaceStep { send: (to, bytes), at: begin, receive: (from, received), added, .. } =
                collective.action(rank, at[own]).expect("it is a member");
            if bytes > 0 && !std::mem::replace(&mut sent[own], true) {
                let begin = begin as usize;
                let data = vectors[own][begin..begin + bytes as usize].to_vec();
                lines[own * count + to as usize].push_back((begin, data));
            }
            if received > 0 {
                let Some((begin, data)) = lines[from as usize * count + own].pop_front() else { continue };
                assert_eq!(data.len() as u64, received);
                let adds = (1..=1 + u32::from(collective.blocking))
                    .filter_map(|later| collective.action(rank, at[own] + later))
                    .any(|next| next.added > 0);
                for (held, new) in vectors[own][begin..].iter_mut().zip(data) {
                    assert!(!adds || *held & new == 0, "{:?} adds data twice", collective.pattern);
                    *held = if adds { *held | new } else { new };
                }
            }
            assert!(added == 0 || bytes + received == 0);
            (at[own], sent[own]) = (at[own] + 1, false);
        }
        assert_ne!(before, (at.clone(), sent.clone()), "{:?} of {count} waits for ever", collective.pattern);
    }
    assert!(lines.iter().all(VecDeque::is_empty), "{:?} of {count} sends what none receives", collective.pattern);
    vectors
}

/// Returns the vectors of members before a sum.
fn own_vectors(count: u32, bytes: u64) -> Vec<Vector> {
    (0..count).map(|rank| vec![1 << rank; bytes as usize]).collect()
}

fn sum(patterns: &[CollectivePattern], count: u32, bytes: u64) -> Vec<Vector> {
    let one = |vectors, pattern: &CollectivePattern| run(&collective(*pattern, count, bytes), vectors);
    patterns.iter().fold(own_vectors(count, bytes), one)
}

#[test]
fn after_a_sum_every_member_has_the_data_of_all_once() {
    use CollectivePattern::*;
    for count in 2..=17 {
        for bytes in [1, 3, 16, 17, 100, 1001] {
            let wanted = vec![vec![(1 << count) - 1; bytes as usize]; count as usize];
            let gather = |root| [GatherSum { root, has_own: true }, Scatter { root }];
            let sums = [
                &[RingReduceScatter, RingPartsAllgather][..],
                &[DoublingSum],
                &[HalvingReduceScatter, DoublingPartsAllgather],
                &[TreeReduce, TreeBroadcast],
                &[TreeReduce, ChainBroadcast],
                &gather(0),
                &gather(count / 2),
                &[DirectReduceScatter, DirectPartsAllgather],
                &[RingReduceScatter, ChunkedRing { rounds: RingRounds::PartsAllgather, chunks: 3 }],
                &[ChunkedRing { rounds: RingRounds::ReduceScatter, chunks: 2 }, RingPartsAllgather],
                &[ChunkedRing { rounds: RingRounds::Allreduce, chunks: 1 }],
                &[ChunkedRing { rounds: RingRounds::Allreduce, chunks: 7 }],
                &[TreeReduce, ChunkedChain { chunks: 5 }],
                &[DoubleTreeReduce { chunks: 1 }, DoubleTreeBroadcast { chunks: 1 }],
                &[DoubleTreeReduce { chunks: 6 }, DoubleTreeBroadcast { chunks: 4 }],
            ];
            for patterns in sums {
                assert_eq!(sum(patterns, count, bytes), wanted, "{patterns:?} of {count} with {bytes} B");
            }
        }
    }
}

#[test]
fn a_ring_of_blocking_calls_sends_first_at_even_places() {
    use CollectivePattern::{RingPartsAllgather, RingReduceScatter};
    for (count, bytes) in (2..=17).flat_map(|count| [1, 3, 17, 1001].map(|bytes| (count, bytes))) {
        let blocking = |pattern| CollectiveParams { blocking: true, ..collective(pattern, count, bytes) };
        let patterns = [RingReduceScatter, RingPartsAllgather].map(blocking);
        let sums = patterns.iter().fold(own_vectors(count, bytes), |vectors, pattern| run(pattern, vectors));
        assert_eq!(sums, vec![vec![(1 << count) - 1; bytes as usize]; count as usize], "{count} with {bytes} B");
        for rank in 0..count {
            let firsts = (0..patterns[1].indices(rank)).step_by(2).filter_map(|at| patterns[1].action(rank, at));
            assert!(firsts.into_iter().all(|first| if rank % 2 == 0 { first.receive.1 } else { first.send.1 } == 0));
        }
    }
}

#[test]
fn after_an_all_gather_every_member_has_the_data_of_all() {
    use CollectivePattern::*;
    for count in 2..=17_u32 {
        let own = |rank: u32| {
            let mut vector = vec![0; 3 * count as usize];
            vector[3 * rank as usize..][..3].fill(1 << rank);
            vector
        };
        let wanted: Vector = (0..3 * count).map(|byte| 1 << (byte / 3)).collect();
        let in_chunks = ChunkedRing { rounds: RingRounds::Allgather, chunks: 2 };
        for pattern in [RingAllgather, DirectAllgather, in_chunks, DoublingAllgather] {
            if pattern != DoublingAllgather || count.is_power_of_two() {
                let vectors = run(&collective(pattern, count, 3), (0..count).map(own).collect());
                assert!(vectors.iter().all(|vector| *vector == wanted), "{pattern:?} of {count}");
            }
        }
    }
}

#[test]
fn messages_without_data_of_their_own_are_received() {
    for count in 2..=17 {
        for pattern in [CollectivePattern::Pairwise, CollectivePattern::Dissemination] {
            let vectors = vec![vec![0; 2 * count as usize]; count as usize];
            run(&collective(pattern, count, 1), vectors);
        }
    }
}

#[test]
fn peers_and_numbers_of_steps_are_those_of_the_steps() {
    use CollectivePattern::*;
    let gather = GatherSum { root: 1, has_own: false };
    let patterns = [RingReduceScatter, RingPartsAllgather, RingAllgather, Pairwise, Dissemination, DoublingSum];
    let others = [TreeReduce, TreeBroadcast, ChainBroadcast, gather, Scatter { root: 1 }];
    let halves = [HalvingReduceScatter, DoublingPartsAllgather];
    let direct = [DirectReduceScatter, DirectPartsAllgather, DirectAllgather];
    let rounds = [RingRounds::ReduceScatter, RingRounds::PartsAllgather, RingRounds::Allreduce, RingRounds::Allgather];
    let rings = rounds.into_iter().flat_map(|rounds| [1, 4].map(|chunks| ChunkedRing { rounds, chunks }));
    let in_chunks = [ChunkedChain { chunks: 5 }, DoubleTreeReduce { chunks: 3 }, DoubleTreeBroadcast { chunks: 3 }];
    let new = direct.into_iter().chain(rings).chain(in_chunks);
    for pattern in patterns.into_iter().chain(others).chain(halves).chain(new) {
        for (count, bytes) in (2..=17).flat_map(|count| [(count, 3), (count, 1000)]) {
            let mut collective = collective(pattern, count, bytes);
            let vector = bytes.div_ceil(count.into());
            for bytes in [vector, vector - 1, bytes] {
                let (instruction_fs, phase, compute_ps, work) = (0, 1, 1, 0);
                collective.additions.push(AdditionParams { bytes, instruction_fs, phase, compute_ps, work });
            }
            let part = StepPartParams::Collective(Arc::new(collective));
            let block = StepBlockParams { times: 1, parts: vec![part.clone()], operations: Vec::new() };
            let (mut steps, mut largest) = (0, 0);
            for rank in 0..count {
                let mut peers = BTreeSet::new();
                part.add_peers(rank, &mut peers);
                let mut found = BTreeSet::new();
                for step in block.steps_of(rank, 0) {
                    steps += 1;
                    largest = largest.max(step.send.map_or(0, |message| message.bytes));
                    found.extend([step.send, step.receive].into_iter().flatten().map(peer));
                }
                assert_eq!(peers, found, "{pattern:?} of {count} with {bytes} B");
            }
            assert_eq!(part.largest_message(), largest, "{pattern:?} of {count} with {bytes} B");
            assert!(part.steps_of_all() >= steps, "{pattern:?} of {count} with {bytes} B");
        }
    }
}
