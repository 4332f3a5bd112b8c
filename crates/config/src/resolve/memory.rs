//! `[memory]`.

use super::Context;
use crate::error::Issue;
use crate::map::{self, Geometry};
use crate::spec::{ControllerSpec, DramSpec, MemorySize, MemorySpec, Size, TimingSpec, TransferRate};
use crate::units::{format, Dimension};
use hostnet_model::params::{
    ControllerParams, DramParams, EntryUntil, IdleDrain, MemoryParams, PageParams, PagePolicy, Protect, Refresh,
    SameBank, Scheduler, TimingParams,
};

const LINE_BYTES: u64 = 64;
const PAGES: [u64; 3] = [4 << 10, 2 << 20, 1 << 30];
/// Address bits that a map may have.
const ADDRESS_BITS_MAX: u8 = 46;
/// Banks of a channel that a controller can watch.
const BANKS_MAX: u32 = 64;

pub(super) fn resolve(spec: &MemorySpec, context: &Context) -> Result<MemoryParams, Issue> {
    let dram = resolve_dram(&spec.dram)?;
    let controller = resolve_controller(&spec.controller, &dram)?;
    let geometry = geometry(spec.channels, &dram);
    if geometry.address_bits() > ADDRESS_BITS_MAX {
        let message = format!("the channels hold 2^{} bytes; at most 2^{ADDRESS_BITS_MAX}", geometry.address_bits());
        return Err(Issue::between(&["memory.channels", "memory.dram.rows", "memory.dram"], message));
    }
    let map = map::build(&spec.map, geometry)?;
    let pages = resolve_pages(spec, 1 << geometry.address_bits(), context)?;
    Ok(MemoryParams { dram, controller, map, pages })
}

fn geometry(channels: u32, dram: &DramParams) -> Geometry {
    let bits = |count: u32| count.trailing_zeros() as u8;
    Geometry {
        channel_bits: bits(channels),
        rank_bits: bits(dram.ranks),
        bank_group_bits: bits(dram.bank_groups),
        bank_bits: bits(dram.banks_per_group),
        row_bits: bits(dram.rows),
        column_bits: bits(dram.lines_per_row),
    }
}

fn resolve_dram(spec: &DramSpec) -> Result<DramParams, Issue> {
    let banks = spec.ranks * spec.bank_groups * spec.banks_per_group;
    if banks > BANKS_MAX {
        let keys = ["memory.dram.ranks", "memory.dram.bank_groups", "memory.dram.banks_per_group", "memory.dram"];
        let message =
            format!("ranks x bank_groups x banks_per_group = {banks}; a channel has at most {BANKS_MAX} banks");
        return Err(Issue::between(&keys, message));
    }
    let (clock_ps_numerator, clock_ps_denominator) = clock(spec.data_rate);
    Ok(DramParams {
        clock_ps_numerator,
        clock_ps_denominator,
        subchannels: 1,
        ranks: spec.ranks,
        bank_groups: spec.bank_groups,
        banks_per_group: spec.banks_per_group,
        rows: spec.rows,
        lines_per_row: (spec.row_size.0 / LINE_BYTES) as u32,
        accesses_per_line: 1,
        row_bus: false,
        same_bank: SameBank::None,
        postponed_max: 8,
        timing: resolve_timing(&spec.timing)?,
    })
}

/// Length of a clock in ps as a fraction. Speed grades are multiples of 400/3 MT/s with a rounded name: 2933 means
/// 8800/3.
fn clock(TransferRate(rate): TransferRate) -> (u64, u64) {
    const STEP: u64 = 400_000_000;
    const ROUNDING: u64 = 2_000_000;
    let steps = (3 * rate + STEP / 2) / STEP;
    let (numerator, denominator) = match (steps * STEP).abs_diff(3 * rate) {
        0..=ROUNDING => (15_000, steps),
        _ => (2_000_000_000_000, rate),
    };
    let divisor = greatest_common_divisor(numerator, denominator);
    (numerator / divisor, denominator / divisor)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

fn resolve_timing(spec: &TimingSpec) -> Result<TimingParams, Issue> {
    let at_most = |(name, value): (&str, u32), (other, rule, limit): (&str, &str, u32)| {
        let paths = [name, other].map(|name| format!("memory.dram.timing.{name}"));
        let message = format!("{name} = {value} must not exceed {rule} = {limit}");
        (value > limit).then(|| Issue::between(&[&paths[0], &paths[1], "memory.dram.timing"], message))
    };
    let broken = at_most(("cwl", spec.cwl), ("cl", "cl + burst", spec.cl + spec.burst))
        .or_else(|| at_most(("ras", spec.ras), ("rc", "rc", spec.rc)))
        .or_else(|| at_most(("rfc", spec.rfc), ("refi", "half of refi", spec.refi / 2)));
    if let Some(issue) = broken {
        return Err(issue);
    }
    let TimingSpec { burst, cl, cwl, rcd, rp, ras, rc, wr, rtp, ccd_s, ccd_l, rrd_s, rrd_l, wtr_s, wtr_l, .. } = *spec;
    let TimingSpec { faw, rfc, refi, rank_switch, read_to_write, .. } = *spec;
    Ok(TimingParams {
        burst,
        cl,
        cwl,
        rcd,
        rp,
        ras,
        rc,
        wr,
        rtp,
        ccd_s,
        ccd_l,
        ccd_l_wr: ccd_l,
        rrd_s,
        rrd_l,
        wtr_s,
        wtr_l,
        faw,
        ppd: 0,
        rfc,
        refi,
        rfc_sb: 0,
        refi_sb: 0,
        refsb_act: 0,
        refsb_refsb: 0,
        rank_switch,
        read_to_write,
        act_clocks: 1,
        cas_clocks: 1,
    })
}

fn resolve_controller(spec: &ControllerSpec, dram: &DramParams) -> Result<ControllerParams, Issue> {
    let path = |name: &str| format!("memory.controller.{name}");
    if spec.write_high > spec.wpq.entries {
        let message = format!(
            "memory.controller.write_high = {} exceeds wpq.entries = {}; write mode could never start",
            spec.write_high, spec.wpq.entries
        );
        return Err(Issue::between(&[&path("write_high"), &path("wpq.entries")], message));
    }
    if spec.write_low >= spec.write_high {
        let message = format!("write_low = {} must be below write_high = {}", spec.write_low, spec.write_high);
        return Err(Issue::between(&[&path("write_low"), &path("write_high")], message));
    }
    let clocks = |ps: u64| {
        let clocks = (u128::from(ps) * u128::from(dram.clock_ps_denominator)).div_ceil(dram.clock_ps_numerator.into());
        u32::try_from(clocks).unwrap_or(u32::MAX)
    };
    Ok(ControllerParams {
        rpq_entries: spec.rpq.entries,
        wpq_entries: spec.wpq.entries,
        wpq_full_threshold: spec.wpq.full_threshold,
        rpq_full_threshold: spec.rpq.full_threshold,
        shared_queue: false,
        entry_until: EntryUntil::Column,
        scheduler: Scheduler::ColumnFirst,
        protect: Protect::AllHits,
        row_hold: clocks(spec.row_hold.0),
        row_hits: 0,
        write_high: spec.write_high,
        write_low: spec.write_low,
        reads_per_mode: spec.reads_per_mode,
        reads_few: spec.reads_few,
        writes_per_mode: spec.writes_per_mode,
        idle_drain: IdleDrain::Yield,
        idle_writes: spec.idle_writes,
        idle_reads: spec.idle_reads,
        spare_writes: spec.spare_writes,
        spare_rows: spec.spare_rows,
        page: PagePolicy::Timeout,
        idle_close: clocks(spec.idle_close.0),
        write_auto_precharge: spec.write_auto_precharge,
        refresh: Refresh::AllBanks,
        refresh_postponed: 0,
        refresh_holds_all: false,
        forwarding: false,
        merging: false,
    })
}

fn resolve_pages(spec: &MemorySpec, capacity: u64, context: &Context) -> Result<PageParams, Issue> {
    let shown = |bytes: u64| format(bytes, Dimension::Size);
    let Size(page) = spec.page;
    if !PAGES.contains(&page) {
        let message = format!("{} is not a size of pages; 4 KiB, 2 MiB and 1 GiB are", shown(page));
        return Err(Issue::new("memory.page", message));
    }
    if spec.run.0 < page && context.is_given("memory.run") {
        let message = format!("{} is less than memory.page = {}", shown(spec.run.0), shown(page));
        return Err(Issue::between(&["memory.run", "memory.page"], message));
    }
    let run_bytes = spec.run.0.max(page);
    let memory_bytes = match spec.size {
        MemorySize::All => capacity,
        MemorySize::Bytes(Size(bytes)) if bytes <= capacity => bytes,
        MemorySize::Bytes(Size(bytes)) => {
            let message = format!("{} is more than the channels hold, which is {}", shown(bytes), shown(capacity));
            return Err(Issue::between(&["memory.size", "memory.channels", "memory.dram"], message));
        }
    };
    if memory_bytes % run_bytes != 0 {
        let message = format!("{} is not a multiple of a run of {}", shown(memory_bytes), shown(run_bytes));
        return Err(Issue::between(&["memory.size", "memory.run", "memory.page"], message));
    }
    Ok(PageParams { run_bytes, memory_bytes })
}

/// The memory with the resolved run of pages written out.
pub(super) fn effective(spec: &MemorySpec, params: &MemoryParams) -> MemorySpec {
    MemorySpec { run: Size(params.pages.run_bytes), ..spec.clone() }
}
