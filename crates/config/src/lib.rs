//! What the user wrote, checked and resolved into a plan.
//!
//! A configuration is TOML or JSON. It names a server preset and a DRAM device that give every value it does not set
//! itself. [`resolve`] finds every user error there is to find; what comes out is a [`Plan`] in picoseconds, clocks
//! and counts.

mod app_template;
mod check;
mod cores;
mod document;
mod error;
mod fio;
mod layers;
mod map;
mod memory_plan;
mod plan;
mod presets;
mod resolve;
mod schema;
mod spec;
pub mod units;
mod ways;

pub use app_template::app_template;
pub use error::ConfigError;
pub use memory_plan::{MemoryPlan, Requests, TraceFormat, Traffic, TrafficPattern};
pub use plan::{Format, Input, Length, Plan, RunPlan, WarmUp};
pub use presets::{apps, counters, devices, presets, profiles, AppInfo, PresetInfo};
pub use resolve::{memory_plan, resolve};
pub use schema::{memory_schema, schema};

/// A commented configuration to start from. It resolves as it is.
pub fn template() -> &'static str {
    include_str!("template.toml")
}
