//! The servers among the hosts of a cluster, before their network is attached.

use super::super::context::Context;
use super::super::fidelity::{check_sockets, note_of_host};
use super::super::pool;
use super::super::scaling;
use super::super::source::Source;
use super::super::{complete_server, server_of, Complete, Resolved};
use super::host_keys::{fidelity, named_preset};
use super::host_names::HostNames;
use super::table;
use crate::error::Issue;
use hostnet_params::HostSpec;
use serde_json::Value;
use std::path::Path;

/// The servers of the tables of hosts. Hosts of one table are equal.
#[derive(Default)]
pub(super) struct HostServers {
    /// Server of each table; `None` for endpoints.
    by_table: Vec<Option<Resolved>>,
    /// Number of the table of each host.
    table_of: Vec<usize>,
}

impl HostServers {
    /// Adds the `count` hosts of a table.
    pub(super) fn add(&mut self, server: Option<Resolved>, count: u32) {
        self.table_of.extend(std::iter::repeat_n(self.by_table.len(), count as usize));
        self.by_table.push(server);
    }

    /// Returns the server of a host, or `None` for an endpoint.
    pub(super) fn of_host(&self, host: usize) -> Option<&Resolved> {
        self.by_table[self.table_of[host]].as_ref()
    }

    /// Returns true if a host is a server.
    pub(super) fn is_server(&self, host: usize) -> bool {
        self.of_host(host).is_some()
    }

    /// Returns the longest ramp time of a job file, in ps.
    pub(super) fn ramp_ps(&self) -> u64 {
        self.by_table.iter().flatten().map(|server| server.workloads.ramp_ps).max().unwrap_or(0)
    }

    /// Returns the servers that take part in a memory pool.
    pub(super) fn of_pool(&self, names: &HostNames) -> Vec<pool::Member<'_>> {
        let member = |host: usize| {
            let spec = self.of_host(host)?.spec.pool.as_ref()?;
            Some(pool::Member { host, table: names.table_path(host), spec })
        };
        (0..names.count()).filter_map(member).collect()
    }
}

/// Resolves the server of a table of hosts, and adds its notes.
pub(super) fn resolve(
    name: &str,
    spec: &HostSpec,
    source: &Source,
    base_dir: &Path,
    notes: &mut Vec<String>,
) -> Result<Resolved, Issue> {
    let path = table("host", name);
    let at_host = |issue: Issue| named_preset(issue.within(&path), &path);
    let complete = complete_server(&given(spec), spec.preset.as_deref(), base_dir).map_err(at_host)?;
    let Complete { mut tree, files, dropped } = complete;
    if let Some(tree) = tree.as_object_mut() {
        // The network alone may load a host, so its workloads are optional.
        tree.entry("workload").or_insert_with(|| serde_json::json!({}));
    }
    let prefix = format!("{path}.");
    let given: Vec<String> =
        source.given.iter().filter_map(|path| path.strip_prefix(&prefix)).map(str::to_string).collect();
    let context = Context { base_dir, given: &given, workloads_min: 0 };
    let resolved = server_of(tree, &context, spec.preset.as_deref()).map_err(|issue| {
        let here = at_host(issue.clone());
        // A key in the configuration is reported there, any other in the file of its device or profile.
        if source.wrote(&here) {
            here
        } else {
            at_host(files.iter().fold(issue, |issue, file| file.claim(issue)))
        }
    })?;
    notes.extend(dropped.iter().chain(&resolved.workloads.ignored).map(|text| format!("host.{name}: {text}")));
    let kept = scaling::notes(&resolved, spec.preset.as_deref(), base_dir).map_err(at_host)?;
    notes.extend(kept.iter().map(|text| format!("{path}.{text}")));
    notes.extend(note_of_host(fidelity(spec), &path));
    check_sockets(&resolved, fidelity(spec), "fidelity").map_err(|issue| issue.within(&path))?;
    Ok(resolved)
}

/// Returns the values that the user gives a server, in the form of a server's own document.
fn given(spec: &HostSpec) -> Value {
    let mut given = Value::Object(spec.server.clone());
    given["server"] = serde_json::json!({});
    if let Some(preset) = &spec.preset {
        given["server"]["preset"] = preset.clone().into();
    }
    if let Some(sockets) = spec.sockets {
        given["server"]["sockets"] = sockets.into();
    }
    given
}
