//! Assigns credits to the entries of their buffers for drawing.

use super::Crossing;
use crate::read::sample::PoolGroup;
use crate::watch::events::Part;

/// Returns the buffer whose entries are the credits of a domain.
fn buffer(group: PoolGroup) -> PoolGroup {
    match group {
        // Groups that share credits share the entries of one buffer.
        PoolGroup::C2mRead | PoolGroup::C2mWrite => PoolGroup::Lfb,
        PoolGroup::ChaRead | PoolGroup::ChaWrite => PoolGroup::Tor,
        other => other,
    }
}

/// Assigns every crossing an entry of its buffer, so that no two crossings overlap in an entry. An entry that becomes
/// free exactly at the start of the crossing is preferred, as the read and the write of a store follow each other;
/// otherwise the first free entry is taken. Returns the part, the buffer and the number of each entry, and the order
/// of the crossings by their start.
#[must_use]
pub fn lanes(crossings: &[Crossing]) -> (Vec<(Part, PoolGroup, usize)>, Vec<usize>) {
    let mut order: Vec<usize> = (0..crossings.len()).collect();
    // The index breaks ties, so that equal traces give equal drawings.
    order.sort_by_key(|&index| (crossings[index].start_ps, index));
    let mut buffers: Vec<((Part, PoolGroup), Vec<u64>)> = Vec::new();
    let mut found = vec![(Part { kind: "", number: 0, server: None }, PoolGroup::Lfb, 0); crossings.len()];
    for &index in &order {
        let crossing = &crossings[index];
        let name = (crossing.part, buffer(crossing.group));
        let place = buffers.iter().position(|buffer| buffer.0 == name).unwrap_or_else(|| {
            buffers.push((name, Vec::new()));
            buffers.len() - 1
        });
        let ends = &mut buffers[place].1;
        let same = ends.iter().position(|&end_ps| end_ps == crossing.start_ps);
        let entry = same.or_else(|| ends.iter().position(|&end_ps| end_ps < crossing.start_ps)).unwrap_or(ends.len());
        if entry == ends.len() {
            ends.push(0);
        }
        ends[entry] = crossing.end_ps;
        found[index] = (name.0, name.1, entry);
    }
    (found, order)
}
