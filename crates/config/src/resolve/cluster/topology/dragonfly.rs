//! Dragonfly topologies.

use super::{check_counts, Shape, Trunk};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::NetworkSpec;

/// Returns a dragonfly: groups of `a` switches, each with `p` hosts and `h` cables to other groups. All switches of a
/// group are connected with each other. Any two groups are connected by the same number of cables. If there is one
/// cable to each group, cable number i of a group is at its switch i / h and leads to the i-th group after it.
pub(super) fn dragonfly(network: &mut NetworkSpec, hosts: usize) -> Result<Shape, Issue> {
    let h = network.h.map_or_else(|| balanced(hosts), |h| h as usize);
    let p = network.p.map_or(h, |p| p as usize);
    let a = network.a.map_or(2 * h, |a| a as usize);
    let most = a * h + 1;
    let groups = network.groups.map_or(most, |groups| groups as usize);
    if groups > most {
        let message = format!("{groups} groups; {a} switches with {h} cables each join {most} at most");
        return Err(Issue::between(Code::TooFewSlots, &["network.groups", "network.a", "network.h"], message));
    }
    [network.a, network.p, network.h, network.groups] = [a, p, h, groups].map(|size| Some(size as u32));
    let each = a * h / (groups - 1);
    let inside = (a * a.saturating_sub(1) / 2) as u64;
    let between = (groups * (groups - 1) / 2 * each) as u64;
    let paths = ["network.a", "network.h", "network.groups"];
    check_counts((groups * a) as u64, groups as u64 * inside + between, &paths)?;
    let switches = (0..groups).flat_map(|group| (0..a).map(move |at| (format!("router-{group}-{at}"), "router")));
    let mut trunks = Vec::new();
    for group in 0..groups {
        let first = group * a;
        for one in first..first + a {
            trunks.extend((one + 1..first + a).map(|other| Trunk::new(one, other)));
        }
    }
    for group in 0..groups {
        for step in (1..groups).filter(|step| group + step < groups) {
            // Seen from the other end, the offset is that of the remaining groups.
            let back = groups - step;
            for number in 0..each {
                let at = |group: usize, step: usize| group * a + ((step - 1) * each + number) / h;
                trunks.push(Trunk { ends: [at(group, step), at(group + step, back)], global: true });
            }
        }
    }
    let leaves = (0..groups * a).collect();
    Ok(Shape { switches: switches.collect(), trunks, leaves, room: p, room_key: "p" })
}

/// Returns the least h at which a balanced dragonfly (a = 2p = 2h, all groups) has room.
fn balanced(hosts: usize) -> usize {
    // It joins ap(ah + 1) hosts (Kim et al., ISCA 2008).
    (1..).find(|h| 2 * h * h * (2 * h * h + 1) >= hosts).unwrap_or(1)
}
