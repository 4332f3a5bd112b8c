//! Workloads of kinds "stream" and "remote".

use super::arithmetic::share;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{AccessPattern, CoreList, PatternSpec, RemoteStreamSpec, StreamParams, StreamSpec};

/// Resolves the stream of some cores.
pub(super) fn resolve_stream(name: &str, spec: &StreamSpec) -> Result<StreamParams, Issue> {
    let path = |key: &str| format!("workload.{name}.{key}");
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let pattern = match (spec.pattern, spec.stride) {
        (PatternSpec::Strided, Some(stride)) if stride <= spec.working_set => {
            AccessPattern::Strided { bytes: stride.0 }
        }
        (PatternSpec::Strided, Some(stride)) => {
            let message = format!("{} is more than working_set = {}", shown(stride.0), shown(spec.working_set.0));
            return Err(Issue::between(Code::DoesNotFit, &[&path("stride"), &path("working_set")], message));
        }
        (PatternSpec::Strided, None) => {
            let message = "missing; pattern = \"strided\" needs one such as \"256 B\"";
            return Err(Issue::new(Code::MissingKey, path("stride"), message));
        }
        (_, Some(_)) => {
            return Err(Issue::new(Code::NoEffect, path("stride"), "has an effect only with pattern = \"strided\""));
        }
        (PatternSpec::Sequential, None) => AccessPattern::Sequential,
        (PatternSpec::Random, None) => AccessPattern::Random,
    };
    Ok(StreamParams {
        cores: spec.cores.0.clone(),
        pattern,
        reads: share(spec.reads),
        working_set_bytes: spec.working_set.0,
        gap_ps: spec.gap.0,
    })
}

/// Resolves the stream of a core of another socket. The stream has no core of this socket.
pub(super) fn remote_stream(name: &str, spec: &RemoteStreamSpec) -> Result<StreamParams, Issue> {
    let RemoteStreamSpec { pattern, stride, reads, working_set, gap, .. } = *spec;
    let cores = CoreList(Vec::new());
    resolve_stream(name, &StreamSpec { cores, pattern, stride, reads, working_set, gap, llc_ways: None, memory: None })
}
