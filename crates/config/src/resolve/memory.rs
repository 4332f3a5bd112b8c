//! `[memory]`.

use super::context::Context;
use super::{controller, dram};
use crate::code::Code;
use crate::error::Issue;
use crate::map::{self, Geometry};
use crate::presets::is_path;
use crate::units::{format, Dimension};
use hostnet_params::{
    ControllerSpec, DramParams, DramSpec, MapParams, MapSpec, MemoryControllerParams, MemoryParams, MemorySize,
    MemorySpec, PageParams, Size, Watermark,
};
use serde_json::Value;

const PAGES: [u64; 3] = [4 << 10, 2 << 20, 1 << 30];
/// Maximum number of address bits of a map.
const ADDRESS_BITS_MAX: u8 = 46;

/// A memory system, independent of its users.
pub(super) struct System {
    pub(super) dram: DramParams,
    pub(super) controller: MemoryControllerParams,
    pub(super) map: MapParams,
    /// Capacity of all channels, in bytes.
    pub(super) capacity: u64,
}

pub(super) fn resolve(spec: &MemorySpec, context: &Context) -> Result<MemoryParams, Issue> {
    let System { dram, controller, map, capacity } = system(spec.channels, &spec.dram, &spec.controller, &spec.map)?;
    let pages = resolve_pages(spec, capacity, context)?;
    Ok(MemoryParams { dram, controller, map, pages })
}

pub(super) fn system(
    channels: u32,
    dram: &DramSpec,
    controller: &ControllerSpec,
    map: &MapSpec,
) -> Result<System, Issue> {
    let dram = dram::resolve(dram)?;
    let controller = controller::resolve(controller, &dram)?;
    let geometry = geometry(channels, &dram);
    let capacity = geometry.capacity();
    if capacity > 1 << ADDRESS_BITS_MAX {
        let shown = |bytes: u64| format(bytes, Dimension::Size);
        let message = format!("the channels hold {}; at most {}", shown(capacity), shown(1 << ADDRESS_BITS_MAX));
        return Err(Issue::between(Code::OutOfRange, &["memory.channels", "memory.dram.rows", "memory.dram"], message));
    }
    Ok(System { dram, controller, map: map::build(map, geometry)?, capacity })
}

fn geometry(channels: u32, dram: &DramParams) -> Geometry {
    let bits = |count: u32| count.trailing_zeros() as u8;
    Geometry {
        channels,
        subchannel_bits: bits(dram.subchannels),
        rank_bits: bits(dram.ranks),
        bank_group_bits: bits(dram.bank_groups),
        bank_bits: bits(dram.banks_per_group),
        row_bits: bits(dram.rows),
        column_bits: bits(dram.lines_per_row),
    }
}

fn resolve_pages(spec: &MemorySpec, capacity: u64, context: &Context) -> Result<PageParams, Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let Size(page) = spec.page;
    if !PAGES.contains(&page) {
        let message = format!("{} is not a size of pages; 4 KiB, 2 MiB and 1 GiB are", shown(page));
        return Err(Issue::new(Code::OutOfRange, "memory.page", message));
    }
    // A run of the preset grows with the pages; only one that the user gave must fit them.
    if spec.run.0 < page && context.is_given("memory.run") {
        let message = format!("{} is less than memory.page = {}", shown(spec.run.0), shown(page));
        return Err(Issue::between(Code::WrongOrder, &["memory.run", "memory.page"], message));
    }
    let run_bytes = spec.run.0.max(page);
    let memory_bytes = match spec.size {
        MemorySize::All => capacity,
        MemorySize::Bytes(Size(bytes)) if bytes <= capacity => bytes,
        MemorySize::Bytes(Size(bytes)) => {
            let message = format!(
                "{} is more than the channels hold, which is {}; give more memory.channels or memory.dram.rows",
                shown(bytes),
                shown(capacity)
            );
            return Err(Issue::between(
                Code::OutOfMemorySpace,
                &["memory.size", "memory.channels", "memory.dram"],
                message,
            ));
        }
    };
    if memory_bytes % run_bytes != 0 {
        let message = format!("{} is not a multiple of a run of {}", shown(memory_bytes), shown(run_bytes));
        return Err(Issue::between(Code::NotAMultiple, &["memory.size", "memory.run", "memory.page"], message));
    }
    Ok(PageParams { run_bytes, memory_bytes })
}

/// Returns the memory specification with every default filled in, and without references to files.
pub(super) fn effective(spec: &MemorySpec, params: &MemoryParams) -> MemorySpec {
    let mut spec = MemorySpec { run: Size(params.pages.run_bytes), ..spec.clone() };
    spec.device = spec.device.filter(|name| !is_path(name));
    spec.profile = spec.profile.filter(|name| !is_path(name));
    write_out(&mut spec.dram, &mut spec.controller, &params.dram, &params.controller);
    spec
}

/// Returns the tables of a device and of a profile as in a complete configuration; `None` for one that does not
/// resolve.
pub(super) fn written_out(device: Option<Value>, profile: Option<Value>) -> [Option<Value>; 2] {
    let Some((mut dram_spec, dram)) = device.and_then(|device| {
        let spec: DramSpec = serde_json::from_value(device).ok()?;
        let dram = dram::resolve(&spec).ok()?;
        Some((spec, dram))
    }) else {
        return [None, None];
    };
    // Without a profile, `write_out` below does not run, and the value of the device would stay absent.
    dram_spec.timing.ccd_l_wr = Some(dram.timing.ccd_l_wr);
    let controller = profile.and_then(|profile| {
        let mut spec: ControllerSpec = serde_json::from_value(profile).ok()?;
        let controller = controller::resolve(&spec, &dram).ok()?;
        write_out(&mut dram_spec, &mut spec, &dram, &controller);
        serde_json::to_value(spec).ok()
    });
    [serde_json::to_value(dram_spec).ok(), controller]
}

/// Fills in values that are absent or a share and that follow from others.
pub(super) fn write_out(
    dram_spec: &mut DramSpec,
    controller_spec: &mut ControllerSpec,
    dram: &DramParams,
    controller: &MemoryControllerParams,
) {
    dram_spec.timing.ccd_l_wr = Some(dram.timing.ccd_l_wr);
    controller_spec.rpq.full_threshold = Some(controller.rpq_full_threshold);
    controller_spec.wpq.full_threshold = Some(controller.wpq_full_threshold);
    controller_spec.write_high = Watermark::Entries(controller.write_high);
    controller_spec.write_low = Watermark::Entries(controller.write_low);
}
