//! `[remote]`: cores of remote sockets, and the links to them.

use super::stream::remote_stream;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{RemoteCore, RemoteParams, RemoteSpec, Spec, UpiParams, UpiSpec, WorkloadSpec};
use std::collections::BTreeMap;

/// Resolves the cores of remote sockets; `None` if no workload runs on any.
pub(super) fn remote(spec: &Spec, workloads: &BTreeMap<String, WorkloadSpec>) -> Result<Option<RemoteParams>, Issue> {
    let mut cores = Vec::new();
    for (class, (name, workload)) in workloads.iter().enumerate() {
        let WorkloadSpec::Remote(stream) = workload else { continue };
        let path = format!("workload.{name}.sockets");
        let sockets = spec.remote.as_ref().map(|remote| remote.sockets).ok_or_else(|| {
            let message = "cores of other sockets need the table [remote]; the preset cascade-lake-hostcc has it";
            Issue::between(Code::RequiresKey, &[&path, "remote"], message)
        })?;
        let resolved = remote_stream(name, stream)?;
        for &socket in &stream.sockets.0 {
            if socket >= sockets {
                let message =
                    format!("socket {socket} does not exist; remote.sockets = {sockets} means 0 to {}", sockets - 1);
                return Err(Issue::between(Code::DoesNotExist, &[&path, "remote.sockets"], message));
            }
            let core = RemoteCore { socket, class: class as u8, stream: resolved.clone() };
            cores.extend(std::iter::repeat_n(core, stream.cores as usize));
        }
    }
    // The preset may have the table although no workload uses it.
    let remote = spec.remote.as_ref().filter(|_| !cores.is_empty());
    Ok(remote.map(|remote| remote_params(remote, cores)))
}

/// Returns the parameters of a pair of UPI directions.
pub(super) fn upi(spec: &UpiSpec) -> UpiParams {
    UpiParams {
        bytes_per_s: spec.bandwidth.0,
        latency_ps: spec.latency.0,
        data_credits: spec.data_credits,
        request_credits: spec.request_credits,
        data_bytes: spec.data.0 as u32,
        request_bytes: spec.request.0 as u32,
    }
}

fn remote_params(spec: &RemoteSpec, cores: Vec<RemoteCore>) -> RemoteParams {
    RemoteParams {
        sockets: spec.sockets,
        upi: upi(&spec.upi),
        lines_in_flight: spec.lines_in_flight,
        directory: spec.directory,
        cores,
    }
}
