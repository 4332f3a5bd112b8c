//! The server of a run as its picture shows it.

use super::paths::{DomainPath, DOMAIN_PATHS};
use super::pools::{read_pools, CreditPool};
use crate::row::{at_path, whole_at, Fields, Row};
use crate::run::ServerRun;
use serde_json::Value;

/// The server of a run, or one of its sockets, as far as the results describe it.
#[derive(Clone, Debug)]
pub(crate) struct HostView {
    /// Complete configuration.
    pub config: Row,
    /// Buffers.
    pub pools: Vec<CreditPool>,
    /// Rows of the memory channels, in order.
    pub channels: Vec<Row>,
    /// Total of the memory channels.
    pub channels_all: Option<Row>,
    /// Limits, each with the workloads that it binds.
    pub binding: Vec<(String, Vec<String>)>,
    /// Domains that are used, with the hops that their lines pass.
    pub paths: Vec<DomainPath>,
    /// What is known only of a socket that is shown alone.
    pub socket: Option<SocketView>,
}

/// Part of a host that exists only for a single socket.
#[derive(Clone, Debug)]
pub(crate) struct SocketView {
    /// Number of the socket.
    pub number: usize,
    /// Numbers of its first core, channel and drive.
    pub first: FirstParts,
    /// UPI links to and from other sockets.
    pub links: Vec<Row>,
    /// Contents of its LLC, if caches are simulated.
    pub llc: Option<Row>,
}

/// Numbers of the first parts of a socket.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstParts {
    /// Number of the first core.
    pub core: usize,
    /// Number of the first memory channel.
    pub channel: usize,
    /// Number of the first drive.
    pub drive: usize,
}

impl HostView {
    /// Reads the server of a run.
    #[must_use]
    pub(crate) fn of(run: &ServerRun) -> Self {
        let channels = run.summary.rows("channels");
        let mut single: Vec<Row> = channels.iter().copied().filter(|row| !is_total_channel(row)).cloned().collect();
        single.sort_by_key(|row| row.whole("channel"));
        let pools = read_pools(&run.summary.rows("domains"), run.domains.iter());
        let is_used = |path: &DomainPath| pools.iter().any(|pool| pool.name == path.domain);
        Self {
            config: run.config(),
            channels: single,
            channels_all: channels.into_iter().find(|row| is_total_channel(row)).cloned(),
            binding: binding_limits(&run.summary.rows("workloads")),
            paths: DOMAIN_PATHS.into_iter().filter(is_used).collect(),
            pools,
            socket: None,
        }
    }

    /// Returns the pool of this name.
    #[must_use]
    pub(crate) fn pool(&self, name: &str) -> Option<&CreditPool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// Returns the value of a configuration key.
    #[must_use]
    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        at_path(&self.config, path)
    }

    /// Returns the value of a configuration key that is a count.
    #[must_use]
    pub(crate) fn count(&self, path: &str) -> Option<usize> {
        whole_at(&self.config, path)?.try_into().ok()
    }

    /// Returns the workloads that a limit of this name binds.
    #[must_use]
    pub(crate) fn bound_by(&self, limit: &str) -> &[String] {
        self.binding.iter().find(|(name, _)| name == limit).map_or(&[], |(_, workloads)| workloads)
    }

    /// Returns true if a pool limits a workload, by itself or through a domain that uses it.
    #[must_use]
    pub(crate) fn is_binding(&self, pool: &str) -> bool {
        let domains = DOMAIN_PATHS.iter().filter(|path| path.pool == pool).map(|path| path.domain);
        domains.chain([pool]).any(|limit| !self.bound_by(limit).is_empty())
    }

    /// Returns the numbers of the first parts: those of the socket, or zeros for the whole server.
    #[must_use]
    pub(crate) fn first(&self) -> FirstParts {
        self.socket.as_ref().map(|socket| socket.first).unwrap_or_default()
    }
}

/// Returns true if a row of `channels` is the total of all channels.
fn is_total_channel(row: &Row) -> bool {
    row.whole("channel").is_some_and(|channel| channel < 0)
}

/// Returns the limits of the workloads, each with the workloads that it binds.
fn binding_limits(workloads: &[&Row]) -> Vec<(String, Vec<String>)> {
    let mut binding: Vec<(String, Vec<String>)> = Vec::new();
    for row in workloads {
        for limit in row.text("limited_by").split(" / ") {
            let workload = row.text("workload").to_owned();
            match binding.iter_mut().find(|(name, _)| name == limit) {
                Some((_, workloads)) => workloads.push(workload),
                None => binding.push((limit.to_owned(), vec![workload])),
            }
        }
    }
    binding
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn workloads_are_bound_by_their_domains() {
        let workload = |name: &str, limit: &str| json!({"workload": name, "limited_by": limit});
        let workloads = [workload("a", "C2M-Read / DRAM channel"), workload("b", "LFB")];
        let run = json!({"summary": {"workloads": workloads}});
        let host = HostView::of(&ServerRun::from_json(&run.to_string()).expect("it is a run"));
        assert_eq!(host.bound_by("DRAM channel"), ["a"]);
        assert!(host.is_binding("LFB") && host.is_binding("DRAM channel"));
        assert!(!host.is_binding("WPQ") && !host.is_binding("P2M-Write"));
    }
}
