//! `[energy]`: energy consumption of the parts of a server.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{EnergyParams, EnergySpec, Fidelity, ServerParams};

/// Resolves the parameters of the energy meter.
pub(super) fn params(spec: &EnergySpec) -> Box<EnergyParams> {
    Box::new(EnergyParams {
        core_active_uw: spec.core_active.0,
        core_idle_uw: spec.core_idle.0,
        uncore_uw: spec.uncore.0,
        llc_lookup_fj: spec.llc_lookup.0,
        dram_background_uw: spec.dram_background.0,
        dram_activate_fj: spec.dram_activate.0,
        dram_read_fj: spec.dram_read.0,
        dram_write_fj: spec.dram_write.0,
        dram_refresh_fj: spec.dram_refresh.0,
        io_byte_fj: spec.io_byte.0,
        nic_uw: spec.nic.0,
        nic_byte_fj: spec.nic_byte.0,
        band_ppm: (spec.band * 1e6).round() as u32,
    })
}

/// Checks that a server with a meter is simulated line by line.
pub(super) fn check_lines(server: &ServerParams, fidelity: Fidelity, key: &str) -> Result<(), Issue> {
    if server.energy.is_none() || fidelity == Fidelity::Line {
        return Ok(());
    }
    let message = "needs fidelity = \"line\": only there every command of a DRAM is counted";
    Err(Issue::between(Code::NeedsLineFidelity, &[key, "energy"], message))
}
