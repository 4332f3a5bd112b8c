//! `[cache]`, `[prefetch]` and `[ddio]`.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use crate::ways::{checked, format_ways};
use hostnet_params::{
    CacheParams, DdioParams, DdioSpec, L2Params, LlcParams, PrefetchParams, Spec, WayMask, WorkloadSpec,
};
use std::collections::BTreeMap;

/// Maximum number of lines of all caches of a socket: 2 GiB of data.
const LINES_MAX: u64 = 1 << 25;
const LINE_BYTES: u64 = 64;

/// Resolves the caches; `None` if they are disabled. Errors are found in both cases, except for those of their size.
pub(super) fn resolve(spec: &Spec, workloads: &BTreeMap<String, WorkloadSpec>) -> Result<Option<CacheParams>, Issue> {
    if spec.cache.enabled {
        check_size(spec)?;
    }
    let ways = spec.cache.llc.ways;
    let masks = workloads.iter().map(|(name, workload)| match workload.llc_ways() {
        Some(mask) => ways_within(mask, ways, &format!("workload.{name}.llc_ways")),
        None => Ok(u32::MAX >> (u32::BITS - ways)),
    });
    let masks = masks.collect::<Result<_, _>>()?;
    let ddio = resolve_ddio(&spec.ddio, ways, spec.ssd.count)?;
    let params = CacheParams { l2: l2(spec), llc: llc(spec), prefetch: prefetch(spec), ddio, masks };
    Ok(spec.cache.enabled.then_some(params))
}

fn l2(spec: &Spec) -> L2Params {
    let l2 = &spec.cache.l2;
    L2Params { sets: l2.sets, ways: l2.ways, replacement: l2.replacement, hit_ps: l2.hit.0 }
}

fn llc(spec: &Spec) -> LlcParams {
    let llc = &spec.cache.llc;
    LlcParams {
        sets: llc.sets,
        ways: llc.ways,
        replacement: llc.replacement,
        inclusion: llc.inclusion,
        clean_victims: llc.clean_victims,
        hit_ps: llc.hit.0,
        filter_sets: spec.cache.filter.sets,
        filter_ways: spec.cache.filter.ways,
    }
}

fn prefetch(spec: &Spec) -> PrefetchParams {
    let prefetch = &spec.prefetch;
    PrefetchParams {
        stream: prefetch.stream,
        adjacent: prefetch.adjacent,
        credits: prefetch.credits,
        pages: prefetch.pages,
        distance_lines: prefetch.distance,
    }
}

/// Checks that the drives without DDIO exist.
pub(super) fn check_off(ddio: &DdioSpec, drives: u32) -> Result<(), Issue> {
    if let Some(drive) = ddio.off.0.iter().find(|&&drive| drive >= drives) {
        let has = match drives.checked_sub(1) {
            Some(last) => format!("ssd.count = {drives} means drives 0 to {last}"),
            None => "ssd.count = 0".to_owned(),
        };
        let message = format!("drive {drive} does not exist; {has}");
        return Err(Issue::between(Code::DoesNotExist, &["ddio.off", "ssd.count"], message));
    }
    Ok(())
}

fn resolve_ddio(ddio: &DdioSpec, llc_ways: u32, drives: u32) -> Result<DdioParams, Issue> {
    check_off(ddio, drives)?;
    Ok(DdioParams {
        drives: (0..drives).map(|drive| ddio.enabled && !ddio.off.0.contains(&drive)).collect(),
        ways: ways_within(ddio.ways, llc_ways, "ddio.ways")?,
        write_ps: ddio.write.0,
    })
}

/// Returns a way mask as the hardware accepts it: not empty, contiguous, and within the ways of the LLC.
fn ways_within(mask: WayMask, llc_ways: u32, path: &str) -> Result<u32, Issue> {
    let shown = format_ways(mask.0);
    let mask = checked(mask.0).map_err(|rule| Issue::new(Code::MalformedValue, path, format!("\"{shown}\" {rule}")))?;
    match u32::try_from(mask).ok().filter(|mask| u32::BITS - mask.leading_zeros() <= llc_ways) {
        Some(mask) => Ok(mask),
        None => {
            let last = llc_ways - 1;
            let rule = format!("cache.llc.ways = {llc_ways} means ways 0 to {last}");
            let message = format!("\"{shown}\" is beyond the LLC; {rule}");
            Err(Issue::between(Code::DoesNotExist, &[path, "cache.llc.ways"], message))
        }
    }
}

fn check_size(spec: &Spec) -> Result<(), Issue> {
    let lines = |count: u32, sets: u32, ways: u32| u64::from(count) * u64::from(sets) * u64::from(ways);
    let (cache, slices) = (&spec.cache, spec.cha.slices);
    let parts = [
        (lines(spec.core.count, cache.l2.sets, cache.l2.ways), "cache.l2.sets"),
        (lines(slices, cache.llc.sets, cache.llc.ways), "cache.llc.sets"),
        (lines(slices, cache.filter.sets, cache.filter.ways), "cache.filter.sets"),
    ];
    let total: u64 = parts.iter().map(|(lines, _)| lines).sum();
    if total <= LINES_MAX {
        return Ok(());
    }
    let largest = parts.iter().max_by_key(|(lines, _)| lines).map_or("cache", |(_, path)| path);
    let shown = |lines: u64| format(lines * LINE_BYTES, Dimension::Size);
    let message =
        format!("L2s, LLC and snoop filter have entries for {} of lines; at most {}", shown(total), shown(LINES_MAX));
    Err(Issue::between(
        Code::TooMany,
        &[largest, "cache.l2.sets", "cache.llc.sets", "cache.filter.sets", "cache"],
        message,
    ))
}
