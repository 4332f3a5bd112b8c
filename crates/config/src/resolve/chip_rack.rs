//! The environment of a chip: its mirror, or the other chips of a torus.

use crate::code::Code;
use crate::error::Issue;
use crate::layers::at;
use crate::units::{format, Dimension};
use hostnet_chip::{Pattern, Torus};
use hostnet_params::{ChipSpec, RackKindSpec, RackPatternSpec};
use serde_json::Value;

/// Maximum number of chips of a torus.
const CHIPS_MAX: u64 = 512;
/// Memory of the simulating machine that the LLC lines of all chips of a torus may take, and memory per line, in
/// bytes.
const MEMORY_BYTES: u64 = 8 << 30;
const LINE_BYTES: u64 = 8;
const LINE: u64 = 64;

/// Drops the diameter of the preset's rack, which is a mirror, if the user gives a torus, and its hops unless the
/// pattern uses them.
pub(super) fn drop_mirror(tree: &mut Value, given: &Value) {
    if at(tree, &["rack", "kind"]).is_none_or(|kind| kind != "torus") {
        return;
    }
    let uniform = at(tree, &["rack", "pattern"]).is_none_or(|pattern| pattern == "uniform");
    let Some(rack) = tree.get_mut("rack").and_then(Value::as_object_mut) else { return };
    for (key, dropped) in [("diameter", true), ("hops", uniform)] {
        if dropped && at(given, &["rack", key]).is_none() {
            rack.remove(key);
        }
    }
}

/// Checks that the rack is possible, and fills in omitted values.
pub(super) fn check(spec: &mut ChipSpec) -> Result<(), Issue> {
    match spec.rack.kind {
        RackKindSpec::Mirror => check_mirror(spec),
        RackKindSpec::Torus => check_torus(spec),
    }
}

fn check_mirror(spec: &ChipSpec) -> Result<(), Issue> {
    let rack = &spec.rack;
    for (key, given) in [("size", rack.size.is_some()), ("pattern", rack.pattern.is_some())] {
        if given {
            let message = "is of a torus; set rack.kind = \"torus\", or leave it out";
            return Err(Issue::new(Code::NoEffect, format!("rack.{key}"), message));
        }
    }
    let (Some(hops), Some(diameter)) = (rack.hops, rack.diameter) else {
        let key = if rack.hops.is_none() { "rack.hops" } else { "rack.diameter" };
        return Err(Issue::new(Code::MissingKey, key, "missing; a mirror needs it"));
    };
    if hops > diameter {
        let message = format!("{hops} is beyond the diameter of the rack, {diameter} hops");
        return Err(Issue::between(Code::OutOfRange, &["rack.hops", "rack.diameter"], message));
    }
    Ok(())
}

fn check_torus(spec: &mut ChipSpec) -> Result<(), Issue> {
    if spec.rack.diameter.is_some() {
        return Err(Issue::new(Code::NoEffect, "rack.diameter", "follows from rack.size in a torus; leave it out"));
    }
    let pattern = *spec.rack.pattern.get_or_insert(RackPatternSpec::Uniform);
    let Some(torus) = torus(spec) else {
        let message = "missing; a torus needs the chips along its dimensions, such as [2, 2, 2]";
        return Err(Issue::new(Code::MissingKey, "rack.size", message));
    };
    let chips = torus.chips();
    if !(2..=CHIPS_MAX).contains(&chips) {
        let noun = if chips == 1 { "chip" } else { "chips" };
        return Err(Issue::new(Code::OutOfRange, "rack.size", format!("{chips} {noun}; 2 to {CHIPS_MAX} are allowed")));
    }
    match (pattern, spec.rack.hops) {
        (RackPatternSpec::Uniform, Some(_)) => {
            let message = "means nothing where every other chip is read from; set rack.pattern to distance or shift";
            return Err(Issue::between(Code::NoEffect, &["rack.hops", "rack.pattern"], message));
        }
        (RackPatternSpec::Distance | RackPatternSpec::Shift, None) => {
            return Err(Issue::new(Code::MissingKey, "rack.hops", "missing; the pattern needs it"));
        }
        (_, Some(hops)) if hops > torus.diameter() => {
            let message = format!("{hops} is beyond the diameter of the torus, {} hops", torus.diameter());
            return Err(Issue::between(Code::OutOfRange, &["rack.hops", "rack.size"], message));
        }
        _ => {}
    }
    check_memory(spec, chips)
}

fn check_memory(spec: &ChipSpec, chips: u64) -> Result<(), Issue> {
    let bytes = spec.coherence.llc.0 / LINE * LINE_BYTES * chips;
    if bytes <= MEMORY_BYTES {
        return Ok(());
    }
    let shown = |bytes: u64| format(bytes >> 20 << 20, Dimension::Size);
    let message = format!(
        "the simulation of {chips} chips would take about {} of memory for the lines of their LLCs; {} are allowed",
        shown(bytes),
        shown(MEMORY_BYTES)
    );
    Err(Issue::between(Code::TooLarge, &["rack.size", "coherence.llc"], message))
}

/// Returns the torus of a checked specification, or `None` for another rack.
pub(super) fn torus(spec: &ChipSpec) -> Option<Torus> {
    let size = spec.rack.size.as_ref().filter(|_| spec.rack.kind == RackKindSpec::Torus)?;
    let mut sides = [1; 3];
    sides.iter_mut().zip(size).for_each(|(side, given)| *side = *given);
    let pattern = match spec.rack.pattern {
        Some(RackPatternSpec::Uniform) | None => Pattern::Uniform,
        Some(RackPatternSpec::Distance) => Pattern::Distance,
        Some(RackPatternSpec::Shift) => Pattern::Shift,
    };
    Some(Torus { sides, pattern })
}
