//! Lists the keys that predictions do not read.
//!
//! A prediction has no energy meter and no governor, and simulates no time. Its closed-form model of memory uses
//! quotas and watermarks of the scheduler, and those timings of the DRAM that bound its throughput.

use super::{is_unused, ClusterUse};
use hostnet_config::GivenKey;
use hostnet_model::params::ServerParams;

/// Tables that a prediction does not read.
const UNREAD_TABLES: [&str; 3] = ["energy.", "power.", "run."];
/// Keys of these tables that a prediction reads nevertheless.
const READ_KEYS: [&str; 2] = ["run.name", "run.memory"];

const UNREAD_CORE_KEYS: [&str; 3] = ["core.dirty_pool", "core.lfb.refill_jitter", "cha.tor.write_entries"];

const UNREAD_CONTROLLER_KEYS: [&str; 17] = [
    "protect",
    "reads_few",
    "idle_reads",
    "idle_hits",
    "idle_age",
    "idle_flush",
    "spare_writes",
    "spare_rows",
    "row_hold",
    "row_hits",
    "write_auto_precharge",
    "refresh_postponed",
    "refresh_holds_all",
    "forwarding",
    "merging",
    "rpq.full_threshold",
    "wpq.full_threshold",
];

const UNREAD_DRAM_KEYS: [&str; 16] = [
    "row_bus",
    "rows",
    "timing.act_clocks",
    "timing.cas_clocks",
    "timing.ccd_l",
    "timing.ccd_l_wr",
    "timing.ccd_s",
    // A longer write latency shortens the turnaround to writes by as much as it lengthens the one to reads.
    "timing.cwl",
    "timing.ppd",
    "timing.ras",
    "timing.rrd_l",
    "timing.rank_switch",
    "timing.rtp",
    "timing.wr",
    "timing.wtr_s",
    "timing.refsb_refsb",
];

/// Returns the paths of the keys in `given` that cannot change the prediction of a server without a network.
pub(crate) fn list_keys_without_effect(server: &ServerParams, given: &[GivenKey]) -> Vec<String> {
    let idle = given.iter().filter(|given| is_unread(&given.key) || is_unused(server, ClusterUse::default(), given));
    idle.map(|given| given.path.clone()).collect()
}

fn is_unread(key: &str) -> bool {
    let of = |table: &str, keys: &[&str]| key.strip_prefix(table).is_some_and(|key| keys.contains(&key));
    let of_tables = UNREAD_TABLES.iter().any(|table| key.starts_with(table)) && !READ_KEYS.contains(&key);
    of_tables
        || UNREAD_CORE_KEYS.contains(&key)
        || of("memory.controller.", &UNREAD_CONTROLLER_KEYS)
        || of("memory.dram.", &UNREAD_DRAM_KEYS)
}
