//! Operations of ranks from the nodes of their traces, for ranks that begin each as soon as it is ready.

use super::matched::{Joint, Matched};
use super::walk::Walk;
use super::Collectives;
use crate::resolve::cluster::jobs::direct::messages;
use crate::resolve::cluster::jobs::program::{listed, Program};
use hostnet_params::{OperationParams, OperationStream};
use hostnet_traffic::chakra::{Collective, NodeAction};
use std::collections::BTreeMap;

/// Adds the operations of all ranks, and their steps, to the program.
pub(super) fn write(
    program: &mut Program,
    walks: &[Walk],
    matched: &Matched,
    (collectives, is_direct): (Collectives, bool),
) {
    let mut operations: Vec<Vec<OperationParams>> = walks.iter().map(|walk| of_rank(program, walk, matched)).collect();
    let mut last = BTreeMap::new();
    for &Joint { group, kind, bytes, ref places } in &matched.joint {
        let ranks = &matched.groups[group as usize];
        // All ranks of a group execute its collectives in one order.
        for (&rank, &place) in ranks.iter().zip(places) {
            let operation = &mut operations[rank as usize][place as usize];
            operation.after.extend(last.insert((rank, group), place).filter(|other| !operation.after.contains(other)));
        }
        if is_direct && kind == Collective::AllToAll {
            for (member, (&rank, &place)) in (0..).zip(ranks.iter().zip(places)) {
                direct(program, (ranks, member), group, bytes, place, &mut operations[rank as usize]);
            }
            continue;
        }
        let begun: Vec<u32> = ranks.iter().map(|&rank| count(program, rank)).collect();
        collectives.write(program, ranks, kind, bytes);
        for ((&rank, &place), first) in ranks.iter().zip(places).zip(begun) {
            let operation = &mut operations[rank as usize][place as usize];
            operation.stream = OperationStream::Group(group);
            (operation.first, operation.steps) = (first, count(program, rank) - first);
        }
    }
    program.set_operations(operations);
}

/// Adds the messages of an all-to-all that a member of a group sends and receives at once. The operation at `place`
/// ends with the last of them.
fn direct(
    program: &mut Program,
    (ranks, member): (&[u32], u32),
    group: u32,
    bytes: u64,
    place: u32,
    operations: &mut Vec<OperationParams>,
) {
    let begin = operations.len() as u32;
    let whole = &mut operations[place as usize];
    let (id, after) = (whole.id, std::mem::take(&mut whole.after));
    operations.push(OperationParams { id, stream: OperationStream::Compute, first: 0, steps: 0, message: 0, after });
    let each = bytes / ranks.len() as u64;
    messages(program, ranks, member, each, (id, group), &[begin], operations);
    operations[place as usize].after = (begin..operations.len() as u32).collect();
}

/// Returns the number of steps of a rank so far.
fn count(program: &Program, rank: u32) -> u32 {
    program.blocks.last().map_or(0, |block| listed(block, rank).len() as u32)
}

/// Returns the operations of a rank, those of collectives still without steps, and adds the steps of all others.
fn of_rank(program: &mut Program, walk: &Walk, matched: &Matched) -> Vec<OperationParams> {
    let rank = walk.rank;
    let mut operations = Vec::with_capacity(walk.nodes.len());
    for (place, node) in (0..).zip(&walk.nodes) {
        let first = count(program, rank);
        let stream = match node.act {
            NodeAction::Compute(ps) => {
                if ps > 0 {
                    let phase = program.phase(walk.name(place));
                    // The rank waits for no work of the accelerator.
                    program.device(rank, phase, ps, u32::MAX);
                }
                OperationStream::Compute
            }
            NodeAction::Host(ps) => {
                program.compute(&[rank], "host", ps);
                OperationStream::Host
            }
            // The receiver would not notice a message without a byte.
            NodeAction::Send { to, bytes, .. } => {
                let phase = program.phase("send");
                program.step(rank, phase, 0, (to, bytes.max(1)), (0, 0));
                OperationStream::Send
            }
            NodeAction::Receive { from, bytes, .. } => {
                let phase = program.phase("receive");
                program.step(rank, phase, 0, (0, 0), (from, bytes.max(1)));
                OperationStream::Receive
            }
            NodeAction::Nothing | NodeAction::Work { .. } | NodeAction::Collective { .. } => OperationStream::Compute,
        };
        let message = matched.messages.get(&(rank, place)).copied().unwrap_or(0);
        let steps = count(program, rank) - first;
        operations.push(OperationParams { id: node.id, stream, first, steps, message, after: node.after.clone() });
    }
    operations
}
