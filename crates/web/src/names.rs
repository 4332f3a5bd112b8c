//! Names, schemas and templates that a page offers.

use crate::problem::Problem;
use crate::request::Planned;
use hostnet_config::Code;
use serde_json::{json, Map, Value};

/// Kinds of configurations that have a schema.
const KINDS: [&str; 4] = ["server", "cluster", "chip", "noc"];

/// Returns the server presets.
pub(crate) fn presets() -> Value {
    let preset = |preset: hostnet_config::PresetInfo| {
        let hostnet_config::PresetInfo { name, description, unvalidated } = preset;
        json!({ "name": name, "description": description, "unvalidated": unvalidated })
    };
    hostnet_config::presets().into_iter().map(preset).collect()
}

/// Returns the names that configurations may use, by kind.
pub(crate) fn names() -> Value {
    json!({
        "apps": hostnet_config::apps().into_iter().map(|app| app.name).collect::<Vec<_>>(),
        "chips": hostnet_config::chips().collect::<Vec<_>>(),
        "devices": hostnet_config::devices(),
        "dies": hostnet_config::dies().collect::<Vec<_>>(),
        "energy_profiles": hostnet_config::energy_profiles().collect::<Vec<_>>(),
        "flow_sizes": hostnet_config::flow_sizes_names().collect::<Vec<_>>(),
        "job_profiles": hostnet_config::job_profiles().collect::<Vec<_>>(),
        "packet_sizes": hostnet_config::packet_sizes_names().collect::<Vec<_>>(),
        "power_profiles": hostnet_config::power_profiles().collect::<Vec<_>>(),
        "profiles": hostnet_config::profiles(),
        "transports": hostnet_config::transports().collect::<Vec<_>>(),
    })
}

/// Returns commented configurations to start from, by name.
pub(crate) fn templates() -> Value {
    let cluster = |name| Some((name, hostnet_config::cluster_template(name).ok()?));
    let all = std::iter::once(("server", hostnet_config::template()));
    let all = all.chain(hostnet_config::cluster_templates().filter_map(cluster));
    all.map(|(name, text)| (name.to_owned(), json!(text))).collect::<Map<_, _>>().into()
}

/// Returns the JSON Schema of a kind of configuration.
///
/// # Errors
/// Returns an error if there is no such kind.
pub(crate) fn schema(kind: &str) -> Result<Value, Problem> {
    let schema = match kind {
        "server" => hostnet_config::schema(),
        "cluster" => hostnet_config::cluster_schema(),
        "chip" => hostnet_config::chip_schema(),
        "noc" => hostnet_config::noc_schema(),
        _ => {
            let near = hostnet_config::suggestion(kind, KINDS);
            return Err(Problem::new(Code::UnknownName, format!("kind \"{kind}\": {near}")));
        }
    };
    Ok(json!(schema))
}

/// Describes a valid configuration.
pub(crate) fn checked(plan: &Planned) -> Value {
    let (name, notes, unvalidated) = match plan {
        Planned::Hosts(plan) => (Some(&plan.name), plan.ignored.as_slice(), plan.unvalidated.as_ref()),
        Planned::Chip(plan) => (Some(&plan.name), &[][..], None),
        Planned::Noc(_) => (None, &[][..], None),
    };
    json!({
        "errors": [],
        "kind": plan.kind(),
        "name": name,
        "config_hash": plan.hash(),
        "config": plan.effective(),
        "notes": notes,
        "unvalidated": unvalidated,
    })
}
