//! Rings, meshes and tori.

use super::{check_counts, Shape, Trunk};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{NetworkSpec, Sizes, TopologySpec};

/// Returns a grid of switches with one dimension per size, each connected to the next along each dimension. In a ring
/// and a torus the last is connected to the first, if there are three or more.
pub(super) fn grid(topology: TopologySpec, network: &mut NetworkSpec, hosts: usize) -> Result<Shape, Issue> {
    let (allowed, example) = match topology {
        TopologySpec::Ring => (1..=1, "8"),
        TopologySpec::Mesh => (2..=2, "[4, 4]"),
        _ => (2..=3, "[4, 4] or [4, 4, 4]"),
    };
    let Some(Sizes(sizes)) = &network.size else {
        let message = format!("missing; give the switches along each dimension: {example}");
        return Err(Issue::new(Code::MissingKey, "network.size", message));
    };
    if !allowed.contains(&sizes.len()) {
        let message = format!("{} dimensions; {example} is wanted", sizes.len());
        return Err(Issue::between(Code::WrongCount, &["network.size", "network.topology"], message));
    }
    let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
    let count = sizes.iter().fold(1_u64, |count, &size| count.saturating_mul(size as u64));
    if count < 2 {
        return Err(Issue::new(Code::WrongCount, "network.size", "one switch; two or more are wanted"));
    }
    check_counts(count, count.saturating_mul(sizes.len() as u64), &["network.size"])?;
    let count = count as usize;
    let room = network.hosts_per_switch.map_or(hosts.div_ceil(count), |room| room as usize);
    network.hosts_per_switch = Some(room as u32);
    let wraps = topology != TopologySpec::Mesh;
    let switches = (0..count).map(|at| (name(at, &sizes), "switch")).collect();
    let trunks = (0..count).flat_map(|at| nexts(at, &sizes, wraps)).collect();
    Ok(Shape { switches, trunks, leaves: (0..count).collect(), room, room_key: "hosts_per_switch" })
}

/// Returns the coordinates of a switch. The last coordinate changes fastest.
fn place(at: usize, sizes: &[usize]) -> Vec<usize> {
    let mut left = at;
    let mut place: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|size| {
            let here = left % size;
            left /= size;
            here
        })
        .collect();
    place.reverse();
    place
}

fn name(at: usize, sizes: &[usize]) -> String {
    let place: Vec<String> = place(at, sizes).iter().map(usize::to_string).collect();
    format!("switch-{}", place.join("-"))
}

/// Returns the cables from a switch to the next along each dimension.
fn nexts(at: usize, sizes: &[usize], wraps: bool) -> Vec<Trunk> {
    let place = place(at, sizes);
    let mut found = Vec::new();
    let mut step = 1;
    for (dimension, &size) in sizes.iter().enumerate().rev() {
        if place[dimension] + 1 < size {
            found.push(Trunk::new(at, at + step));
        } else if wraps && size > 2 {
            found.push(Trunk::new(at, at - step * (size - 1)));
        }
        step *= size;
    }
    found
}
