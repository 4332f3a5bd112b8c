//! Checks which keys of a host go together, and fills in their defaults.

use super::table;
use crate::code::Code;
use crate::error::{nearest, Issue};
use hostnet_params::{EndpointParams, Fidelity, HostKindSpec, HostSpec, Time};

pub(super) const ENDPOINT_LATENCY_PS: u64 = 1_000_000;
const ENDPOINT_QUEUE_PACKETS: u32 = 64;

/// Changes the paths of an issue about the preset or sockets of a server to those of the host's table.
pub(super) fn named_preset(mut issue: Issue, path: &str) -> Issue {
    for named in &mut issue.paths {
        for key in ["preset", "sockets"] {
            if *named == format!("{path}.server.{key}") {
                *named = format!("{path}.{key}");
            }
        }
    }
    issue
}

/// Checks that a host has no key of the other kind of host.
pub(super) fn check_keys(path: &str, spec: &HostSpec) -> Result<(), Issue> {
    let wrong = match spec.kind {
        HostKindSpec::Endpoint => {
            let own = [
                ("preset", spec.preset.is_some()),
                ("sockets", spec.sockets.is_some()),
                ("fidelity", spec.fidelity.is_some()),
                ("mcn", spec.mcn.is_some()),
            ];
            let own = own.into_iter().find(|(_, given)| *given).map(|(key, _)| key);
            own.or_else(|| spec.server.keys().next().map(String::as_str)).map(|key| (key, "a server"))
        }
        HostKindSpec::Server => {
            let own = [
                ("latency", spec.latency.is_some()),
                ("queue", spec.queue.is_some()),
                ("ports", spec.ports.is_some()),
                ("compress", spec.compress.is_some()),
            ];
            own.into_iter().find(|(_, given)| *given).map(|(key, _)| (key, "an endpoint"))
        }
        HostKindSpec::Dimm => {
            let own = [
                ("mcn", spec.mcn.is_some()),
                ("at", spec.at.is_some()),
                ("ports", spec.ports.is_some()),
                ("compress", spec.compress.is_some()),
            ];
            own.into_iter().find(|(_, given)| *given).map(|(key, _)| (key, "a server"))
        }
    };
    let of_dimms = [("on", spec.on.is_some()), ("channels", spec.channels.is_some())].into_iter();
    let mut of_dimms = of_dimms.filter(|(_, given)| *given && spec.kind != HostKindSpec::Dimm);
    let wrong = of_dimms.next().map(|(key, _)| (key, "a DIMM")).or(wrong);
    match wrong {
        Some((key, kind)) => {
            let message = format!("has an effect only at {kind}");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.kind")], message))
        }
        None => Ok(()),
    }
}

pub(super) fn endpoint(spec: &HostSpec) -> EndpointParams {
    EndpointParams {
        latency_ps: spec.latency.map_or(ENDPOINT_LATENCY_PS, |Time(ps)| ps),
        queue_packets: spec.queue.unwrap_or(ENDPOINT_QUEUE_PACKETS),
        forwarding_ports: 0,
    }
}

/// Checks that a server has a preset or gives its own cores. A table with neither may be another host's, misspelled.
pub(super) fn check_start<'a>(
    name: &str,
    spec: &HostSpec,
    hosts: impl Iterator<Item = &'a String>,
) -> Result<(), Issue> {
    if spec.kind == HostKindSpec::Endpoint || spec.preset.is_some() || spec.server.contains_key("core") {
        return Ok(());
    }
    let others = hosts.map(String::as_str).filter(|other| *other != name);
    let near = nearest(name, others).map(|other| format!("; did you mean {}?", table("host", other)));
    let presets: Vec<String> = crate::presets::presets().into_iter().map(|preset| preset.name).collect();
    let rule = format!("a server starts from a preset ({}), or give kind = \"endpoint\"", presets.join(", "));
    let message = format!("missing; {rule}{}", near.unwrap_or_default());
    Err(Issue::new(Code::MissingKey, format!("{}.preset", table("host", name)), message))
}

pub(super) fn fidelity(spec: &HostSpec) -> Fidelity {
    spec.fidelity.unwrap_or(Fidelity::Line)
}
