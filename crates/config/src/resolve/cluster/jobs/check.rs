//! Checks that a program of ranks terminates: every message that is received is sent, and vice versa. A sender never
//! waits for its receiver, so the order in which ranks are advanced makes no difference.

use hostnet_params::StepBlockParams;
use std::collections::BTreeMap;

/// Describes the first problem of a program in words; `None` if the program terminates.
pub(super) fn problem(ranks: u32, block: &StepBlockParams, name_of: impl Fn(u8) -> String) -> Option<String> {
    let mut left: Vec<_> = (0..ranks).map(|rank| block.steps_of(rank, 0).peekable()).collect();
    let mut at = vec![0_usize; left.len()];
    let mut sent: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut posted = vec![false; left.len()];
    let mut ready: Vec<u32> = (0..ranks).collect();
    while let Some(rank) = ready.pop() {
        let own = rank as usize;
        while let Some(step) = left[own].peek().copied() {
            // A step that waits is visited again, but it sends once.
            if let Some(message) = step.send.filter(|_| !posted[own]) {
                *sent.entry((rank, message.rank)).or_default() += message.bytes;
                ready.push(message.rank);
            }
            posted[own] = true;
            if let Some(message) = step.receive {
                let Some(there) = sent.get_mut(&(message.rank, rank)).filter(|there| **there >= message.bytes) else {
                    break;
                };
                *there -= message.bytes;
            }
            left[own].next();
            at[own] += 1;
            posted[own] = false;
        }
    }
    let stuck = (0..).zip(&mut left).zip(&at).find_map(|((rank, left), &at)| Some((rank, at, left.next()?)));
    if let Some((rank, number, step)) = stuck {
        let message = step.receive?;
        let there = sent.get(&(message.rank, rank)).copied().unwrap_or(0);
        return Some(format!(
            "rank {rank} waits for ever in its step {} ({}): it receives {} B from rank {}, which has sent it \
             {there} B by then",
            number + 1,
            name_of(step.phase),
            message.bytes,
            message.rank
        ));
    }
    let ((from, to), left) = sent.into_iter().find(|(_, left)| *left > 0)?;
    Some(format!("rank {to} does not receive {left} B that rank {from} sends it"))
}
