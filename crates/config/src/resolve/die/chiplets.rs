//! `[chiplets]` of a server: its core dies and its IO die.

use super::{clustered, LINE_BYTES, PS_PER_S};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{ChipletsParams, ChipletsSpec, DieParams, SocketParams, Spec, Stop};

/// Columns and rows of quadrants of an IO die.
const QUADRANTS: [u8; 2] = [2, 2];

/// Places the parts of every socket on its chiplets, if there are any.
pub(super) fn place(sockets: &mut [SocketParams], drives: &[Vec<(u8, u32)>], spec: &Spec) -> Result<(), Issue> {
    let Some(chiplets) = &spec.chiplets else { return Ok(()) };
    if spec.noc.is_some() {
        let message = "[noc] and [chiplets] exclude each other: a socket has one die, or chiplets; give one of them";
        return Err(Issue::between(Code::ConflictingKeys, &["chiplets", "noc"], message));
    }
    if spec.cache.enabled {
        let message = "cache.enabled = true and [chiplets] exclude each other: an L3 for each CCX is not modelled";
        return Err(Issue::between(Code::ConflictingKeys, &["chiplets", "cache.enabled"], message));
    }
    for (socket, drives) in sockets.iter_mut().zip(drives) {
        let mut die = on_quadrants(chiplets, socket)?;
        die.links = drives.iter().map(|&(_, drive)| die.io[drive as usize % die.io.len()]).collect();
        super::ways::check(&die, socket)?;
        socket.die = Some(die);
    }
    Ok(())
}

/// Returns the IO die of a socket before its links are placed.
fn on_quadrants(chiplets: &ChipletsSpec, socket: &SocketParams) -> Result<DieParams, Issue> {
    let (cores, channels) = (socket.core.count, socket.memory.map.channels);
    if cores % chiplets.ccds != 0 {
        let message = format!("{} CCDs cannot share core.count = {cores}: each has as many", chiplets.ccds);
        return Err(Issue::between(Code::NotAMultiple, &["chiplets.ccds", "core.count"], message));
    }
    let each = cores / chiplets.ccds;
    if let Some(entries) = chiplets.entries.filter(|&entries| entries < each) {
        let message = format!("{entries} are less than one for each of the {each} cores of a CCD");
        return Err(Issue::between(Code::DoesNotFit, &["chiplets.entries", "core.count", "chiplets.ccds"], message));
    }
    if socket.cha.slices != channels {
        let message = format!(
            "memory.channels = {channels} and cha.slices = {}: with chiplets, every channel has its own slice",
            socket.cha.slices
        );
        return Err(Issue::between(Code::MustAgree, &["cha.slices", "memory.channels", "chiplets"], message));
    }
    if chiplets.nps.is_power_of_two() && channels % u32::from(chiplets.nps) != 0 {
        let message = format!("NPS{} cannot share memory.channels = {channels}: each node has as many", chiplets.nps);
        return Err(Issue::between(Code::NotAMultiple, &["chiplets.nps", "memory.channels"], message));
    }
    let cycle_ps = (PS_PER_S + chiplets.fclk.0 / 2) / chiplets.fclk.0;
    let cycles = |width: u64| LINE_BYTES.div_ceil(width) as u32;
    let each = socket.memory.dram.subchannels;
    let die = DieParams {
        columns: QUADRANTS[0],
        rows: QUADRANTS[1],
        cores: spread(cores, chiplets.ccds),
        slices: spread(channels, channels),
        channels: spread(channels * each, channels),
        io: spread(quadrants(), quadrants()),
        links: Vec::new(),
        cycle_ps,
        vertical_cycles: chiplets.hop,
        horizontal_cycles: chiplets.hop,
        // Parts reach the switch of their quadrant at a line per cycle.
        line_cycles: 1,
        clusters: 1,
        chiplets: Some(ChipletsParams {
            // A socket of memory alone has no CCDs.
            cores_per_ccd: (cores / chiplets.ccds).max(1),
            entries: chiplets.entries.unwrap_or(0),
            read_cycles: cycles(chiplets.read.0),
            write_cycles: cycles(chiplets.write.0),
            hop_cycles: cycles(chiplets.link.0) + 1,
        }),
    };
    clustered(chiplets.nps, "chiplets.nps", socket, die)
}

fn quadrants() -> u32 {
    u32::from(QUADRANTS[0]) * u32::from(QUADRANTS[1])
}

/// Returns the quadrant of each of `parts` parts that belong to `groups` groups in turn. The groups are spread evenly
/// over the quadrants, column by column.
fn spread(parts: u32, groups: u32) -> Vec<Stop> {
    let quadrant = |part: u32| (part * groups / parts * quadrants() / groups) as u8;
    (0..parts).map(quadrant).map(|at| Stop { column: at / QUADRANTS[1], row: at % QUADRANTS[1] }).collect()
}
