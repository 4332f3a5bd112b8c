//! Distribution of the ranks of a job over its hosts.

use super::is_traced;
use crate::code::Code;
use crate::error::Issue;
use crate::resolve::cluster::fabric::Fabric;
use crate::resolve::cluster::host_names::HostNames;
use crate::units::shorten;
use hostnet_params::{AlgorithmSpec, JobKindSpec, JobSpec, RanksPerHost};
use std::collections::BTreeSet;

/// Maximum number of ranks of a job.
pub(super) const RANKS_MAX: usize = 1 << 14;

/// Returns the host of each rank; `at` are the hosts of the job.
pub(super) fn placed(path: &str, spec: &JobSpec, at: &[usize], hosts: &HostNames) -> Result<Vec<usize>, Issue> {
    let counts = match (spec.ranks, &spec.ranks_per_host) {
        (Some(_), Some(_)) => {
            let keys = [format!("{path}.ranks"), format!("{path}.ranks_per_host")];
            let message = "either says how many ranks there are; give one of them";
            return Err(Issue::between(Code::ConflictingKeys, &[&keys[0], &keys[1]], message));
        }
        (Some(ranks), None) => return Ok((0..ranks as usize).map(|rank| at[rank % at.len()]).collect()),
        (None, None) => vec![1; at.len()],
        (None, Some(RanksPerHost::All(each))) => vec![*each; at.len()],
        (None, Some(RanksPerHost::Each(counts))) => of_each(path, spec, counts, hosts)?,
    };
    let ranks = counts.iter().map(|&count| count as usize).sum::<usize>();
    if ranks > RANKS_MAX {
        let message = format!("{ranks} ranks at {} hosts are more than {RANKS_MAX}", at.len());
        return Err(Issue::between(
            Code::TooMany,
            &[&format!("{path}.ranks_per_host"), &format!("{path}.hosts")],
            message,
        ));
    }
    Ok(at.iter().zip(counts).flat_map(|(&host, count)| std::iter::repeat_n(host, count as usize)).collect())
}

/// Returns the number of ranks at each host, from the counts for each entry of `hosts`.
fn of_each(path: &str, spec: &JobSpec, counts: &[u32], hosts: &HostNames) -> Result<Vec<u32>, Issue> {
    let (names, key) = (&spec.hosts.0, format!("{path}.hosts"));
    if counts.len() != names.len() {
        let message = format!("{} counts; hosts has {} entries, and each has one", counts.len(), names.len());
        return Err(Issue::between(Code::WrongCount, &[&format!("{path}.ranks_per_host"), &key], message));
    }
    let mut found = Vec::new();
    for (name, &count) in names.iter().zip(counts) {
        found.extend(hosts.find(name, &key)?.map(|_| count));
    }
    Ok(found)
}

/// Returns the host of the rank that only aggregates, if there is one.
pub(super) fn aggregator(path: &str, spec: &JobSpec, hosts: &HostNames) -> Result<Option<usize>, Issue> {
    let Some(name) = &spec.aggregator else { return Ok(None) };
    let key = format!("{path}.aggregator");
    let found = hosts.find(name, &key)?;
    if found.len() > 1 {
        let message = format!("{} are {} hosts; give one, such as \"{name}-0\"", shorten(name), found.len());
        return Err(Issue::new(Code::WrongCount, key, message));
    }
    Ok(found.into_iter().next())
}

/// Fills in the number of ranks of a group: the ranks of a host, or, with one rank per host, a number near the square
/// root of the number of ranks. Groups of a "2d-ring" are as large as each other: the ranks at a switch if there are
/// several switches with as many.
pub(super) fn group(path: &str, spec: &mut JobSpec, placed: &[usize], fabric: &Fabric) -> Result<(), Issue> {
    let is_auto = spec.algorithm == Some(AlgorithmSpec::Auto) && spec.kind == JobKindSpec::Allreduce;
    let is_square = spec.algorithm == Some(AlgorithmSpec::TwoDimensionalRing) || is_auto;
    if spec.algorithm != Some(AlgorithmSpec::Hierarchical) && !is_square {
        return Ok(());
    }
    if let Some(group) = spec.group {
        return if is_square { check_group(path, spec.kind, placed.len(), group as usize) } else { Ok(()) };
    }
    let first = placed.iter().take_while(|host| Some(*host) == placed.first()).count().max(1);
    let even = placed.chunks(first).all(|group| group.len() == first && group.iter().all(|host| *host == group[0]));
    let hosts: BTreeSet<usize> = placed.iter().copied().collect();
    let is_even = even && hosts.len() * first == placed.len();
    if !is_even && is_auto {
        return Ok(());
    }
    if !is_even {
        let message = "hosts do not have as many ranks each, one host after the other; give group";
        return Err(Issue::between(Code::MissingKey, &[&format!("{path}.group"), &format!("{path}.ranks")], message));
    }
    // Near the square root, so that a group has about as many ranks as there are leaders.
    let root = 1 << (hosts.len().ilog2() / 2);
    let group = match (first, is_square) {
        (1, true) => ranks_of_switch(placed, fabric).unwrap_or_else(|| divisor(placed.len())),
        (1, false) => root,
        _ => first,
    };
    spec.group = u32::try_from(group).ok();
    Ok(())
}

/// Checks that groups of `group` ranks are as large as each other. Traces have groups of their own.
fn check_group(path: &str, kind: JobKindSpec, ranks: usize, group: usize) -> Result<(), Issue> {
    if is_traced(kind) || ranks % group == 0 {
        return Ok(());
    }
    let message = format!("{ranks} ranks do not divide into groups of {group}; \"2d-ring\" needs equal groups");
    let keys = ["group", "ranks", "ranks_per_host", "hosts"].map(|key| format!("{path}.{key}"));
    Err(Issue::between(Code::NotAMultiple, &[&keys[0], &keys[1], &keys[2], &keys[3]], message))
}

/// Returns the number of ranks at each switch, if there are several switches with as many, one switch after the other.
fn ranks_of_switch(placed: &[usize], fabric: &Fabric) -> Option<usize> {
    let of_host = fabric.first_switches();
    let switches: Vec<usize> = placed.iter().map(|host| of_host.get(host).copied()).collect::<Option<_>>()?;
    let count = switches.iter().take_while(|switch| Some(*switch) == switches.first()).count();
    let alike = |group: &[usize]| group.len() == count && group.iter().all(|switch| *switch == group[0]);
    let distinct: BTreeSet<usize> = switches.iter().copied().collect();
    let is_even = switches.chunks(count.max(1)).all(alike) && distinct.len() * count == switches.len();
    (is_even && count > 1 && distinct.len() > 1).then_some(count)
}

/// Returns the largest divisor of a number up to its square root.
fn divisor(number: usize) -> usize {
    (1..=number.isqrt()).rev().find(|divisor| number % divisor == 0).unwrap_or(1)
}
