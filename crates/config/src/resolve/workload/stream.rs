//! Workloads of kinds "stream" and "remote".

use super::super::stream::{remote_stream, resolve_stream};
use super::cores::Cores;
use super::{ResolveWorkload, WorkloadScope};
use crate::error::Issue;
use hostnet_params::{RemoteStreamSpec, StreamParams, StreamSpec, WorkloadKind, BUFFER_ALIGNMENT};

impl ResolveWorkload for StreamSpec {
    fn claim(&self, name: &str, cores: &mut Cores) -> Result<(), Issue> {
        cores.take_all(&self.cores, name, "cores")
    }

    fn resolve(&self, name: &str, _: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        resolve_stream(name, self).map(WorkloadKind::Stream)
    }
}

impl ResolveWorkload for RemoteStreamSpec {
    /// Claims no core, as those of remote sockets belong to no workload of this server.
    fn claim(&self, _: &str, _: &mut Cores) -> Result<(), Issue> {
        Ok(())
    }

    fn resolve(&self, name: &str, _: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        remote_stream(name, self).map(WorkloadKind::Stream)
    }
}

/// Returns the bytes of the buffers of all cores of a stream.
pub(super) fn bytes(stream: &StreamParams) -> u128 {
    let buffer = stream.working_set_bytes.next_multiple_of(BUFFER_ALIGNMENT);
    u128::from(buffer) * stream.cores.len() as u128
}
