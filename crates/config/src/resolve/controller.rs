//! `[memory.controller]`.

use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{
    ControllerSpec, DramParams, IdleDrain, MemoryControllerParams, PagePolicy, Refresh, SameBank, Share, Time,
    TimeLimit, Watermark,
};

pub(super) fn resolve(spec: &ControllerSpec, dram: &DramParams) -> Result<MemoryControllerParams, Issue> {
    let (write_high, write_low) = watermarks(spec)?;
    check_page(spec)?;
    check_flush(spec)?;
    check_refresh(spec, dram)?;
    let clocks = |limit: TimeLimit| match limit {
        TimeLimit::Off => u32::MAX,
        TimeLimit::After(Time(ps)) => {
            let clocks = u128::from(ps) * u128::from(dram.clock_ps_denominator);
            u32::try_from(clocks.div_ceil(dram.clock_ps_numerator.into())).unwrap_or(u32::MAX)
        }
    };
    let write_entries = if spec.shared_queue { spec.rpq.entries } else { spec.wpq.entries };
    Ok(MemoryControllerParams {
        rpq_entries: spec.rpq.entries,
        wpq_entries: spec.wpq.entries,
        wpq_full_threshold: full_threshold(spec.wpq.full_threshold, write_entries),
        rpq_full_threshold: full_threshold(spec.rpq.full_threshold, spec.rpq.entries),
        shared_queue: spec.shared_queue,
        entry_until: spec.entry_until,
        scheduler: spec.scheduler,
        protect: spec.protect,
        row_hold: clocks(spec.row_hold),
        row_hits: spec.row_hits,
        write_high,
        write_low,
        reads_per_mode: spec.reads_per_mode,
        // A threshold equal to the entries of the queue would always hold: writes would be served before reads
        // forever.
        reads_few: spec.reads_few.min(spec.rpq.entries - 1),
        writes_per_mode: spec.writes_per_mode,
        idle_drain: spec.idle_drain,
        idle_writes: spec.idle_writes,
        idle_reads: spec.idle_reads,
        idle_hits: spec.idle_hits,
        idle_age: clocks(spec.idle_age),
        idle_flush: clocks(spec.idle_flush),
        spare_writes: spec.spare_writes,
        spare_rows: spec.spare_rows,
        // Only bursts of several lines scale this value (`sim::build`); one line takes one clock.
        spare_clocks: 1,
        page: spec.page,
        idle_close: clocks(spec.idle_close),
        write_auto_precharge: spec.write_auto_precharge,
        refresh: spec.refresh,
        refresh_postponed: spec.refresh_postponed,
        refresh_holds_all: spec.refresh_holds_all,
        forwarding: spec.forwarding,
        merging: spec.merging,
    })
}

fn path(name: &str) -> String {
    format!("memory.controller.{name}")
}

/// Returns the number of entries at or above which a queue counts as full. A queue without a free entry is full, even
/// if the threshold of a preset is for a longer queue.
fn full_threshold(wanted: Option<u32>, entries: u32) -> u32 {
    wanted.map_or(entries, |wanted| wanted.min(entries))
}

/// Returns the numbers of entries at which write mode begins and ends. As shares: begins above one, ends below the
/// other.
fn watermarks(spec: &ControllerSpec) -> Result<(u32, u32), Issue> {
    let (queue, entries) = match spec.shared_queue {
        true => ("rpq.entries", spec.rpq.entries),
        false => ("wpq.entries", spec.wpq.entries),
    };
    let exact = |Share(share): Share| u64::from(share) * u64::from(entries);
    let high = match spec.write_high {
        Watermark::Entries(high) => high,
        // In units of the exact share, so that rounding does not move the first entry above it.
        Watermark::Share(share) => (exact(share) / u64::from(Share::ONE) + 1).min(entries.into()) as u32,
    };
    let low = match spec.write_low {
        Watermark::Entries(low) => low,
        Watermark::Share(share) => exact(share).div_ceil(Share::ONE.into()).saturating_sub(1) as u32,
    };
    if high > entries {
        let message =
            format!("memory.controller.write_high = {high} exceeds {queue} = {entries}; write mode could never start");
        return Err(Issue::between(Code::DoesNotFit, &[&path("write_high"), &path(queue)], message));
    }
    if low >= high {
        let message = format!("write_low = {low} must be below write_high = {high}");
        return Err(Issue::between(Code::WrongOrder, &[&path("write_low"), &path("write_high")], message));
    }
    Ok((high, low))
}

fn check_page(spec: &ControllerSpec) -> Result<(), Issue> {
    if spec.page == PagePolicy::Timeout && spec.idle_close == TimeLimit::Off {
        let message = "the page policy \"timeout\" needs a time in idle_close, which is \"off\"";
        return Err(Issue::between(Code::RequiresKey, &[&path("page"), &path("idle_close")], message));
    }
    Ok(())
}

fn check_flush(spec: &ControllerSpec) -> Result<(), Issue> {
    if spec.idle_flush != TimeLimit::Off && spec.idle_drain == IdleDrain::Off {
        let message = "idle_flush lets writes pass that idle_drain = \"off\" forbids; drop one, or use \"yield\"";
        return Err(Issue::between(Code::ConflictingKeys, &[&path("idle_flush"), &path("idle_drain")], message));
    }
    Ok(())
}

fn check_refresh(spec: &ControllerSpec, dram: &DramParams) -> Result<(), Issue> {
    if spec.refresh == Refresh::SameBank && dram.same_bank == SameBank::None {
        let message = "the refresh \"same-bank\" needs a device that has it; memory.dram.same_bank = \"none\"";
        return Err(Issue::between(
            Code::RequiresKey,
            &[&path("refresh"), "memory.dram.same_bank", "memory.device"],
            message,
        ));
    }
    if spec.refresh_postponed > dram.postponed_max {
        let message = format!(
            "refresh_postponed = {} must not exceed memory.dram.postponed_max = {}",
            spec.refresh_postponed, dram.postponed_max
        );
        return Err(Issue::between(
            Code::OutOfRange,
            &[&path("refresh_postponed"), "memory.dram.postponed_max", "memory.device"],
            message,
        ));
    }
    Ok(())
}
