//! All-to-alls whose messages are all in flight at once, as grouped sends and receives of NCCL are.

use super::chunks::algorithm_name;
use super::program::{listed, Program};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{AlgorithmSpec, ComputeSpec, JobSpec, OperationParams, OperationStream, Time};

/// Checks that ranks can have several messages in flight: at endpoints, where no core copies. Otherwise the algorithm
/// `usual` is proposed.
pub(super) fn check(path: &str, spec: &JobSpec, program: &Program, usual: AlgorithmSpec) -> Result<(), Issue> {
    let needs = [
        ("hosts", !program.adding.cores.is_empty(), "ranks at servers send"),
        ("socket_rate", spec.socket_rate.is_some(), "a core of a rank copies"),
        ("compress", spec.compress == Some(true), "engines compress"),
    ];
    match needs.into_iter().find(|(_, needs, _)| *needs) {
        Some((key, _, what)) => {
            let message = format!("{what} one message after the other; \"{}\" does that", algorithm_name(usual));
            let keys = [format!("{path}.algorithm"), format!("{path}.{key}")];
            Err(Issue::between(Code::NotSupported, &[&keys[0], &keys[1]], message))
        }
        None => Ok(()),
    }
}

/// Adds the operations of an all-to-all job: each rank computes, then it sends to all others.
pub(super) fn write(spec: &mut JobSpec, program: &mut Program, ranks: &[u32], bytes: u64) {
    let ComputeSpec::Before(Time(compute_ps)) = *spec.compute.get_or_insert(ComputeSpec::Before(Time(0))) else {
        return;
    };
    let mut operations = vec![Vec::new(); ranks.len()];
    for (place, own) in (0..).zip(&mut operations) {
        if compute_ps > 0 {
            let (stream, after) = (OperationStream::Host, Vec::new());
            own.push(OperationParams { id: 0, stream, first: 0, steps: 1, message: 0, after });
        }
        let after = (0..own.len() as u32).collect::<Vec<u32>>();
        messages(program, ranks, place, bytes, (0, 0), &after, own);
    }
    program.set_operations(operations);
}

/// Adds the messages of a member of a group to the operations of its rank, each after the operations `after`, with the
/// steps of an all-to-all. `named` are the id of the messages and the number of the group.
pub(super) fn messages(
    program: &mut Program,
    ranks: &[u32],
    place: u32,
    bytes: u64,
    (id, group): (u64, u32),
    after: &[u32],
    operations: &mut Vec<OperationParams>,
) {
    let phase = program.phase("all-to-all");
    let count = ranks.len() as u32;
    let rank = ranks[place as usize];
    for distance in 1..count {
        let [to, from] = [distance, count - distance].map(|by| ranks[((place + by) % count) as usize]);
        for (send, receive) in [((to, bytes), (0, 0)), ((0, 0), (from, bytes))] {
            let first = program.blocks.last().map_or(0, |block| listed(block, rank).len() as u32);
            program.step(rank, phase, 0, send, receive);
            let stream = OperationStream::Group(group);
            let steps = u32::from(bytes > 0);
            operations.push(OperationParams { id, stream, first, steps, message: 0, after: after.to_vec() });
        }
    }
}
