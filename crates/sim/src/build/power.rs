//! Builds the power management of a server.

use super::Builder;
use hostnet_kernel::ComponentId;
use hostnet_model::core::{Core, EngineKind};
use hostnet_model::nic::{NcapWiring, Nic};
use hostnet_model::os::{NetStack, PowerWiring};
use hostnet_model::params::{FlowParams, PowerDomain, Traffic};
use hostnet_model::power::{ManagedCore, PowerManager};
use hostnet_model::{Component, ComponentKind};

/// Returns the parameters and the id of the power manager for a core, if there is one.
pub(super) fn power_wiring(server: &Builder) -> Option<PowerWiring> {
    let params = server.params.power.as_deref()?.clone();
    Some(PowerWiring { manager: ComponentId(server.layout.power), params })
}

/// Builds the power manager, if there is one, for the cores among `parts`.
pub(super) fn power(server: &Builder, parts: &[Component]) -> Option<PowerManager> {
    let params = server.params.power.as_deref()?;
    let cores: Vec<ManagedCore> = parts.iter().filter_map(Core::of).zip(core_ids(server)).map(managed_core).collect();
    let domains = match params.domain {
        PowerDomain::Core => cores.into_iter().map(|core| vec![core]).collect(),
        PowerDomain::Chip => {
            let mut cores = cores.into_iter();
            let sockets = server.layout.sockets.iter().map(|socket| socket.cores().len() as usize);
            sockets.map(|count| cores.by_ref().take(count).collect()).collect()
        }
    };
    let ncap = server.params.ncap.as_deref().map(|ncap| (ncap, server.layout.nic()));
    Some(PowerManager::new(params, ncap, domains))
}

/// Adds interrupt moderation and NCAP to a NIC, if the server has them.
pub(super) fn with_interrupts(server: &Builder, nic: Nic) -> Nic {
    let nic = match server.params.moderation {
        Some(moderation) => nic.with_master_timer(moderation.master_ps),
        None => nic,
    };
    match ncap_wiring(server) {
        Some(wiring) => nic.with_ncap(wiring),
        None => nic,
    }
}

/// Returns the time that the driver takes to inspect a packet for NCAP, in ps.
pub(super) fn inspect_ps(server: &Builder) -> u64 {
    server.params.ncap.as_deref().map_or(0, |ncap| ncap.packet_ps)
}

fn ncap_wiring(server: &Builder) -> Option<NcapWiring> {
    let params = server.params.ncap.as_deref()?.clone();
    let fastest = server.params.power.as_ref()?.pstates.len() - 1;
    let core = server.layout.core(*server.network_cores().first()?);
    let attachment = server.attachment.as_ref()?;
    let service = |flow: &FlowParams| match &flow.traffic {
        Traffic::Service(service) if flow.to == attachment.host() => Some((**service).clone()),
        _ => None,
    };
    Some(NcapWiring {
        params,
        core,
        interrupt_ps: server.params.nic()?.interrupt_ps,
        flows: attachment.flows().iter().map(service).collect(),
        fastest: fastest as u16,
    })
}

fn core_ids<'a>(server: &'a Builder) -> impl Iterator<Item = ComponentId> + 'a {
    server.layout.sockets.iter().flat_map(|socket| socket.cores().iter())
}

/// Returns how the power manager treats a core: as empty, as reporting its own state, or as always working.
fn managed_core((core, id): (&Core, ComponentId)) -> ManagedCore {
    match core.engines() {
        [] => ManagedCore::AlwaysIdle,
        [only] if NetStack::of(only).is_some_and(|stack| stack.power().is_some()) => ManagedCore::Reporting(id),
        // Streams and applications do not report idle time, so their core counts as busy.
        _ => ManagedCore::AlwaysBusy(id),
    }
}
