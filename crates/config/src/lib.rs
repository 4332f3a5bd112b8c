//! Checks a configuration and resolves it into a plan.
//!
//! A configuration is TOML or JSON. It names a server preset and a DRAM device, which give every value that the
//! configuration does not set. [`resolve`] reports every user error that can be detected before a run and returns a
//! [`Plan`] in picoseconds, clocks and counts.

mod app_template;
mod check;
mod chip_plan;
mod chip_template;
mod content;
mod document;
mod fio;
mod layers;
mod map;
mod memory_plan;
mod noc_plan;
mod plan;
mod presets;
mod resolve;
mod schema;

use hostnet_units::{code, cores, error, ways};

pub use app_template::app_template;
pub use chip_plan::{ChipPlan, ChipWindows};
pub use chip_template::chip_template;
pub use document::{check_syntax, Format};
pub use hostnet_traffic::chakra::TraceReader;
pub use hostnet_units::code::Code;
pub use hostnet_units::error::{suggested, suggestion, ConfigError, Fault};
pub use hostnet_units::units;
pub use memory_plan::{MemoryPlan, Requests, TraceFormat, Traffic, TrafficPattern};
pub use noc_plan::{NocPlan, Packets};
pub use plan::{GivenKey, Input, Length, Plan, RunPlan, WarmUp};
pub use presets::{
    apps, chips, counters, devices, dies, energy_profiles, flow_sizes_names, job_profiles, packet_sizes_names,
    power_profiles, presets, profiles, transports, AppInfo, PresetInfo,
};
pub use resolve::{
    chakra_traces, chip_plan, is_chip, is_cluster, link_bytes_per_s, memory_plan, noc_plan, resolve, WrittenTraces,
};
pub use schema::{chip_schema, cluster_schema, memory_schema, noc_schema, schema};

/// Returns a commented configuration of a server to start from. It resolves without changes.
pub fn template() -> &'static str {
    include_str!("template.toml")
}

/// Returns a commented configuration of cores that store while drives are read. It resolves without changes.
pub fn stream_and_drives_template() -> &'static str {
    include_str!("stream_and_drives.toml")
}

const CLUSTER_TEMPLATES: [(&str, &str); 11] = [
    ("hostcc", include_str!("clusters/hostcc.toml")),
    ("dumbbell", include_str!("clusters/dumbbell.toml")),
    ("incast", include_str!("clusters/incast.toml")),
    ("rdma", include_str!("clusters/rdma.toml")),
    ("ping", include_str!("clusters/ping.toml")),
    ("forward", include_str!("clusters/forward.toml")),
    ("rack-pool", include_str!("clusters/rack-pool.toml")),
    ("inceptionn", include_str!("clusters/inceptionn.toml")),
    ("mcn", include_str!("clusters/mcn.toml")),
    ("h100", include_str!("clusters/h100.toml")),
    ("nvl72", include_str!("clusters/nvl72.toml")),
];

/// Returns the names of the templates of clusters.
pub fn cluster_templates() -> impl Iterator<Item = &'static str> {
    CLUSTER_TEMPLATES.iter().map(|(name, _)| *name)
}

/// Returns a commented configuration of a cluster to start from: "hostcc", "dumbbell", "incast", "rdma", "ping",
/// "forward", "rack-pool", "mcn", "inceptionn", "h100" or "nvl72". It resolves without changes.
///
/// # Errors
///
/// Returns an error if no template has this name; the message suggests the nearest name.
pub fn cluster_template(name: &str) -> Result<&'static str, Fault> {
    match CLUSTER_TEMPLATES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok(text),
        None => {
            let near = suggestion(name, cluster_templates());
            Err(Fault::new(Code::UnknownName, format!("{} is not a known cluster; {near}", units::shorten(name))))
        }
    }
}
