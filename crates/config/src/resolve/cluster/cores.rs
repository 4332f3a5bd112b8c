//! Which core of a host does what.

use crate::error::Issue;

/// What a core does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Free,
    Workload(String),
    Network,
}

/// The cores of a host.
#[derive(Clone, Debug)]
pub(super) struct HostCores {
    roles: Vec<Role>,
}

impl HostCores {
    /// The cores of a server whose workloads own some of them.
    pub(super) fn new(owners: &[Option<String>]) -> Self {
        let role = |owner: &Option<String>| owner.clone().map_or(Role::Free, Role::Workload);
        HostCores { roles: owners.iter().map(role).collect() }
    }

    /// Gives a core to the network, because the key at `path` says so. The host's table is `host`.
    pub(super) fn claim(&mut self, core: u32, path: &str, host: &str) -> Result<(), Issue> {
        let count = self.roles.len();
        match self.roles.get_mut(core as usize) {
            None => {
                let message = format!(
                    "core {core} does not exist at {host}; its core.count = {count} means cores 0 to {}",
                    count - 1
                );
                Err(Issue::between(&[path, &format!("{host}.core.count")], message))
            }
            Some(Role::Workload(name)) => {
                let workload = format!("{host}.workload.{name}");
                let message = format!("core {core} is that of {workload} already");
                Err(Issue::between(&[path, &format!("{workload}.cores"), &workload], message))
            }
            Some(role) => {
                *role = Role::Network;
                Ok(())
            }
        }
    }

    /// Gives up to `wanted` free cores to the network; when none is free, those that it has already. `None` when there
    /// is no core at all for it.
    pub(super) fn take(&mut self, wanted: usize) -> Option<Vec<u32>> {
        let free = self.with(&Role::Free);
        if free.is_empty() {
            let own = self.of_network();
            return (!own.is_empty()).then_some(own);
        }
        let taken: Vec<u32> = free.into_iter().take(wanted).collect();
        for &core in &taken {
            self.roles[core as usize] = Role::Network;
        }
        Some(taken)
    }

    /// The cores of the network.
    pub(super) fn of_network(&self) -> Vec<u32> {
        self.with(&Role::Network)
    }

    fn with(&self, role: &Role) -> Vec<u32> {
        (0..).zip(&self.roles).filter(|(_, other)| *other == role).map(|(core, _)| core).collect()
    }
}
