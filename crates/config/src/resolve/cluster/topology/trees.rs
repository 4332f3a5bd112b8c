//! Trees: two tiers, leaf-spine, fat tree.

use super::{check_counts, Shape, Trunk};
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{Bandwidth, NetworkSpec};

/// Maximum number of spine switches.
const SPINES_MAX: u32 = 1024;
/// Minimum rate of a cable, in bytes per second.
const RATE_MIN: u64 = 125_000;

/// Returns leaf switches with one cable each to a root.
pub(super) fn two_tier(network: &mut NetworkSpec, hosts: usize) -> Result<Shape, Issue> {
    let (leaves, room) = leaves(network, hosts)?;
    set_core_rate(network, room, 1)?;
    let mut switches: Vec<_> = (0..leaves).map(|leaf| (format!("leaf-{leaf}"), "leaf")).collect();
    switches.push(("root".to_string(), "root"));
    let trunks = (0..leaves).map(|leaf| Trunk::new(leaf, leaves)).collect();
    Ok(Shape { switches, trunks, leaves: (0..leaves).collect(), room, room_key: "hosts_per_switch" })
}

/// Returns leaf switches with a cable each to every spine switch.
pub(super) fn leaf_spine(network: &mut NetworkSpec, hosts: usize) -> Result<Shape, Issue> {
    let (leaves, room) = leaves(network, hosts)?;
    let spines = spines_for(network, room)?;
    check_counts((leaves + spines) as u64, leaves as u64 * spines as u64, &["network.spines", "network.leaves"])?;
    let leaf = (0..leaves).map(|leaf| (format!("leaf-{leaf}"), "leaf"));
    let switches = leaf.chain((0..spines).map(|spine| (format!("spine-{spine}"), "spine"))).collect();
    let trunks = (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| Trunk::new(leaf, leaves + spine)));
    let trunks = trunks.collect();
    Ok(Shape { switches, trunks, leaves: (0..leaves).collect(), room, room_key: "hosts_per_switch" })
}

/// Returns the number of spine switches for leaves of `room` ports to hosts: the given one, or as many as carry the
/// rates of these ports.
pub(super) fn spines_for(network: &mut NetworkSpec, room: usize) -> Result<usize, Issue> {
    let spines = match network.spines {
        Some(spines) => {
            set_core_rate(network, room, spines)?;
            spines
        }
        None => {
            // Spines needed to carry the rates of all hosts at the given rate of the core cables.
            let core = network.core.as_ref().and_then(|core| core.rate).unwrap_or(network.rate);
            let upward = room as f64 * network.rate.0 as f64 / network.oversubscription.take().unwrap_or(1.0);
            // The clamp keeps the conversion in range; the check below refuses large numbers.
            (upward / core.0 as f64).ceil().clamp(1.0, 1e9) as u32
        }
    };
    if spines > SPINES_MAX {
        let message = format!("{spines} spine switches would be needed; at most {SPINES_MAX} are allowed");
        return Err(Issue::between(
            Code::TooMany,
            &["network.oversubscription", "network.core.rate", "network.spines"],
            message,
        ));
    }
    network.spines = Some(spines);
    Ok(spines as usize)
}

/// Returns the number of leaf switches, and of hosts at each.
fn leaves(network: &mut NetworkSpec, hosts: usize) -> Result<(usize, usize), Issue> {
    let (leaves, room) = match (network.leaves, network.hosts_per_switch) {
        (Some(leaves), Some(room)) => (leaves as usize, room as usize),
        (Some(leaves), None) => (leaves as usize, hosts.div_ceil(leaves as usize)),
        (None, Some(room)) => (hosts.div_ceil(room as usize), room as usize),
        (None, None) => {
            let message = "missing; give the leaf switches, or network.hosts_per_switch";
            return Err(Issue::new(Code::MissingKey, "network.leaves", message));
        }
    };
    (network.leaves, network.hosts_per_switch) = (Some(leaves as u32), Some(room as u32));
    Ok((leaves, room))
}

/// Sets the rate of the cables between switches from the oversubscription, if it is given.
fn set_core_rate(network: &mut NetworkSpec, hosts: usize, cables: u32) -> Result<(), Issue> {
    let Some(oversubscription) = network.oversubscription else { return Ok(()) };
    let core = network.core.get_or_insert_default();
    if core.rate.is_some() {
        let message = "the oversubscription follows from the rate of the cables between switches; give one of them";
        return Err(Issue::between(Code::ConflictingKeys, &["network.oversubscription", "network.core.rate"], message));
    }
    let bytes_per_s = hosts as f64 * network.rate.0 as f64 / (oversubscription * f64::from(cables));
    // Multiples of 1 kbps survive being written out and read again.
    let bytes_per_s = (bytes_per_s / 125.0).round() * 125.0;
    if !(RATE_MIN as f64..=1e13).contains(&bytes_per_s) {
        let message = format!(
            "cables between switches would carry {}; 1 Mbps to 10 TB/s is allowed",
            format(bytes_per_s.min(1e18) as u64, Dimension::Bandwidth)
        );
        return Err(Issue::between(
            Code::OutOfRange,
            &["network.oversubscription", "network.hosts_per_switch", "network.rate"],
            message,
        ));
    }
    core.rate = Some(Bandwidth(bytes_per_s as u64));
    network.oversubscription = None;
    Ok(())
}

/// Returns a fat tree of switches with k ports: k pods of k/2 edge and k/2 aggregation switches, and (k/2)^2 core
/// switches. Aggregation switch number i of each pod is connected to core switches i k/2 to (i + 1) k/2 - 1.
pub(super) fn fat_tree(network: &mut NetworkSpec, hosts: usize) -> Result<Shape, Issue> {
    // A fat tree of switches with k ports joins k^3 / 4 hosts (Al-Fares et al., SIGCOMM 2008).
    let least = (1..).map(|half| 2 * half).find(|k| k * k * k / 4 >= hosts).unwrap_or(2);
    let k = network.k.unwrap_or(least as u32) as usize;
    if k % 2 == 1 {
        let message = format!("{k} is odd; half of the ports of a switch lead upward");
        return Err(Issue::new(Code::NotAMultiple, "network.k", message));
    }
    network.k = Some(k as u32);
    let half = k / 2;
    let cores = 2 * half * k;
    let mut switches = Vec::new();
    let (mut trunks, mut leaves) = (Vec::new(), Vec::new());
    for pod in 0..k {
        let first = switches.len();
        leaves.extend(first..first + half);
        switches.extend((0..half).map(|edge| (format!("edge-{pod}-{edge}"), "edge")));
        switches.extend((0..half).map(|above| (format!("aggregation-{pod}-{above}"), "aggregation")));
        for edge in first..first + half {
            trunks.extend((0..half).map(|above| Trunk::new(edge, first + half + above)));
        }
        for above in 0..half {
            let core = |number: usize| cores + above * half + number;
            trunks.extend((0..half).map(|number| Trunk::new(first + half + above, core(number))));
        }
    }
    switches.extend((0..half * half).map(|core| (format!("core-{core}"), "core")));
    Ok(Shape { switches, trunks, leaves, room: half, room_key: "k" })
}
