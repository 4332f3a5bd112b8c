//! Workloads of kind "app".

use super::cores::Cores;
use super::{ResolveWorkload, WorkloadScope};
use crate::error::Issue;
use crate::resolve::app;
use hostnet_params::{AppFootprint, AppParams, AppSpec, CoreList, WorkloadKind, BUFFER_ALIGNMENT};

impl ResolveWorkload for AppSpec {
    fn claim(&self, name: &str, cores: &mut Cores) -> Result<(), Issue> {
        cores.take_all(&self.cores, name, "cores")?;
        let clients = self.clients.iter().flat_map(|CoreList(clients)| clients);
        clients.into_iter().try_for_each(|&core| cores.take_alone(core, name, &format!("workload.{name}.clients")))
    }

    fn resolve(&self, name: &str, scope: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        app::resolve(name, self, scope.spec).map(WorkloadKind::App)
    }
}

/// Returns the bytes of the memory of an application.
pub(super) fn bytes(app: &AppParams) -> u128 {
    let AppFootprint { shared_bytes, thread_bytes, client_bytes } = app.footprint();
    let aligned = |bytes: u64| u128::from(bytes).next_multiple_of(BUFFER_ALIGNMENT.into());
    let (threads, clients) = (app.cores.len() as u128, app.clients.len() as u128);
    aligned(shared_bytes) + aligned(thread_bytes) * threads + aligned(client_bytes) * clients
}
