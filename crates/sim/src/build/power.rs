//! The power management of a server.

use super::Builder;
use hostnet_kernel::ComponentId;
use hostnet_model::core::{Core, Runs};
use hostnet_model::os::{NetStack, PowerWiring};
use hostnet_model::params::PowerDomain;
use hostnet_model::power::{Managed, PowerManager};
use hostnet_model::{Component, Member};

impl Builder<'_> {
    /// What a core is told of the power management, if there is any.
    pub(super) fn power_wiring(&self) -> Option<PowerWiring> {
        let params = self.params.power.as_deref()?.clone();
        Some(PowerWiring { manager: ComponentId(self.layout.power), params })
    }

    /// The power management, if there is any, of cores that are built.
    pub(super) fn power(&self, parts: &[Component]) -> Option<PowerManager> {
        let params = self.params.power.as_deref()?;
        let cores: Vec<Managed> = parts.iter().filter_map(Core::of).zip(self.core_ids()).map(managed).collect();
        let domains = match params.domain {
            PowerDomain::Core => cores.into_iter().map(|core| vec![core]).collect(),
            PowerDomain::Chip => {
                let mut cores = cores.into_iter();
                let sockets = self.layout.sockets.iter().map(|socket| socket.cores().len() as usize);
                sockets.map(|count| cores.by_ref().take(count).collect()).collect()
            }
        };
        Some(PowerManager::new(params, self.params.ncap.as_deref(), domains))
    }

    fn core_ids(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.layout.sockets.iter().flat_map(|socket| socket.cores().iter())
    }
}

/// What is known of a core.
fn managed((core, id): (&Core, ComponentId)) -> Managed {
    match core.engines() {
        [] => Managed::Empty,
        [only] if NetStack::of(only).is_some_and(|stack| stack.power().is_some()) => Managed::Tells(id),
        _ => Managed::Works,
    }
}
