//! Assignment of the cores of hosts.

use crate::code::Code;
use crate::error::Issue;

/// The role of a core: the workloads and the network traffic that run on it.
#[derive(Clone, Debug, Default)]
struct Role {
    /// Workloads that own the core.
    workloads: Vec<String>,
    network: bool,
}

/// Roles of the cores of a host.
#[derive(Clone, Debug)]
pub(super) struct HostCores {
    roles: Vec<Role>,
    /// True if workloads and the network may run on the same core.
    shared: bool,
}

/// Cores of the hosts of a cluster.
#[derive(Default)]
pub(super) struct ClusterCores {
    /// Cores of each host; `None` for an endpoint.
    by_host: Vec<Option<HostCores>>,
}

impl ClusterCores {
    /// Adds `count` equal hosts. Their cores are owned by the workloads of `owners`, which is `None` for endpoints.
    pub(super) fn add(&mut self, owners: Option<&[Vec<String>]>, shared: bool, count: u32) {
        let cores = owners.map(|owners| HostCores::new(owners, shared));
        self.by_host.extend(std::iter::repeat_n(cores, count as usize));
    }

    /// Returns the cores of a host, or `None` for an endpoint.
    pub(super) fn of_host(&self, host: usize) -> Option<&HostCores> {
        self.by_host[host].as_ref()
    }

    /// Returns the cores of a host, to assign them, or `None` for an endpoint.
    pub(super) fn of_host_mut(&mut self, host: usize) -> Option<&mut HostCores> {
        self.by_host[host].as_mut()
    }
}

impl HostCores {
    /// Returns the cores of a server with the workloads that own them. A host that is simulated line by line may have
    /// cores that are `shared` with the network.
    fn new(owners: &[Vec<String>], shared: bool) -> Self {
        let role = |workloads: &Vec<String>| Role { workloads: workloads.clone(), network: false };
        HostCores { roles: owners.iter().map(role).collect(), shared }
    }

    /// Returns true if workloads and the network may run on the same core.
    pub(super) fn may_be_shared(&self) -> bool {
        self.shared
    }

    /// Assigns a core to the network, as the key at `path` requires. The host's table is `host`.
    pub(super) fn claim(&mut self, core: u32, path: &str, host: &str) -> Result<(), Issue> {
        let count = self.roles.len();
        match self.roles.get_mut(core as usize) {
            None => {
                let message = format!(
                    "core {core} does not exist at {host}; its core.count = {count} means cores 0 to {}",
                    count - 1
                );
                Err(Issue::between(Code::DoesNotExist, &[path, &format!("{host}.core.count")], message))
            }
            Some(Role { workloads, .. }) if !workloads.is_empty() && !self.shared => {
                let workload = format!("{host}.workload.{}", workloads[0]);
                let message =
                    format!("core {core} is that of {workload} already; sharing it needs fidelity = \"line\"");
                Err(Issue::between(Code::CoreTaken, &[path, &format!("{workload}.cores"), &workload], message))
            }
            Some(role) => {
                role.network = true;
                Ok(())
            }
        }
    }

    /// Assigns up to `wanted` free cores to the network. If none is free, returns the cores that the network already
    /// has; `None` if the network can have no core at all.
    pub(super) fn take(&mut self, wanted: usize) -> Option<Vec<u32>> {
        let free = self.with(|role| role.workloads.is_empty() && !role.network);
        // With no core left, flows share the cores of the network.
        if free.is_empty() {
            let own = self.of_network();
            return (!own.is_empty()).then_some(own);
        }
        let taken: Vec<u32> = free.into_iter().take(wanted).collect();
        for &core in &taken {
            self.roles[core as usize].network = true;
        }
        Some(taken)
    }

    /// Returns the cores of the network.
    pub(super) fn of_network(&self) -> Vec<u32> {
        self.with(|role| role.network)
    }

    fn with(&self, wanted: impl Fn(&Role) -> bool) -> Vec<u32> {
        (0..).zip(&self.roles).filter(|(_, role)| wanted(role)).map(|(core, _)| core).collect()
    }
}
