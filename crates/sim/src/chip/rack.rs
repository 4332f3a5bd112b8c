//! Reports the chips of a rack.

use super::links::links;
use super::units::{bandwidth, times, ReportUnits};
use super::window::Window;
use hostnet_chip::{Chip, Place, Torus};
use hostnet_config::ChipPlan;
use serde_json::{json, Value};

/// Returns the report of the torus.
pub(super) fn rack(torus: Torus) -> Value {
    json!({ "chips": torus.chips(), "size": torus.sides, "diameter": torus.diameter() })
}

/// Returns a row of the report for each chip. `any` is one of the chips, whose network all have.
pub(super) fn chips(any: &Chip, plan: &ChipPlan, torus: Torus, windows: &[Window], units: &ReportUnits) -> Value {
    let rows = (0..).zip(windows).map(|(chip, window)| {
        // Links are sorted by load, so the first one is the fullest.
        let fullest = &links(any, &plan.chip, window, units)[0];
        json!({
            "chip": chip,
            "at": Place { chip, sides: torus.sides }.at(),
            "operations": window.stats.breakdown.count,
            "latency": times(&window.stats.latency, units),
            "rrpp": times(&window.stats.served, units),
            "bandwidth": bandwidth(window, units),
            "link": fullest["link"],
            "share": fullest["share"],
        })
    });
    rows.collect()
}
