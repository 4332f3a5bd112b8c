//! How the ranks of a job are spread over its hosts.

use crate::error::Issue;
use crate::resolve::cluster::hosts::Hosts;
use crate::spec::{JobSpec, RanksPerHost};

/// Ranks of a job.
pub(super) const RANKS_MAX: usize = 1 << 14;

/// The host of each rank. `at` are the hosts of the job.
pub(super) fn placed(path: &str, spec: &JobSpec, at: &[usize], hosts: &Hosts) -> Result<Vec<usize>, Issue> {
    let counts = match (spec.ranks, &spec.ranks_per_host) {
        (Some(_), Some(_)) => {
            let keys = [format!("{path}.ranks"), format!("{path}.ranks_per_host")];
            return Err(Issue::between(
                &[&keys[0], &keys[1]],
                "either says how many ranks there are; give one of them",
            ));
        }
        (Some(ranks), None) => return Ok((0..ranks as usize).map(|rank| at[rank % at.len()]).collect()),
        (None, None) => vec![1; at.len()],
        (None, Some(RanksPerHost::All(each))) => vec![*each; at.len()],
        (None, Some(RanksPerHost::Each(counts))) => of_each(path, spec, counts, hosts)?,
    };
    let ranks = counts.iter().map(|&count| count as usize).sum::<usize>();
    if ranks > RANKS_MAX {
        let message = format!("{ranks} ranks at {} hosts are more than {RANKS_MAX}", at.len());
        return Err(Issue::between(&[&format!("{path}.ranks_per_host"), &format!("{path}.hosts")], message));
    }
    Ok(at.iter().zip(counts).flat_map(|(&host, count)| std::iter::repeat_n(host, count as usize)).collect())
}

/// The ranks at each host, of those at the hosts of each entry of `hosts`.
fn of_each(path: &str, spec: &JobSpec, counts: &[u32], hosts: &Hosts) -> Result<Vec<u32>, Issue> {
    let (names, key) = (&spec.hosts.0, format!("{path}.hosts"));
    if counts.len() != names.len() {
        let message = format!("{} counts; hosts has {} entries, and each has one", counts.len(), names.len());
        return Err(Issue::between(&[&format!("{path}.ranks_per_host"), &key], message));
    }
    let mut found = Vec::new();
    for (name, &count) in names.iter().zip(counts) {
        found.extend(hosts.named(name, &key)?.map(|_| count));
    }
    Ok(found)
}
