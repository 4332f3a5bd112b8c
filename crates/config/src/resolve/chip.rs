//! The configuration of a chip.

use super::hash::hash;
use super::plan_error;
use super::source::Source;
use super::{chip_rack, chip_shape};
use crate::check::missing;
use crate::chip_plan::{ChipPlan, ChipWindows};
use crate::code::Code;
use crate::document::{parse_json, parse_toml, Format};
use crate::error::{ConfigError, Issue};
use crate::layers::{at, overlay};
use crate::plan::Input;
use crate::presets;
use crate::schema;
use hostnet_chip::{
    CacheParams, ChipError, ChipParams, Completion, FloorPlan, Home, Interleave, Mode, NiParams, Placement, RackParams,
    SoftwareCosts, Workload,
};
use hostnet_noc::{Allocation, Reuse, Router};
use hostnet_params::{
    ChipModeSpec, ChipOpSpec, ChipSpec, CompletionSpec, CoreList, HomeSpec, McInterleaveSpec, PlacementSpec, Size, Time,
};
use serde_json::{json, Value};
use std::path::Path;

const LINE: u64 = 64;
/// The largest slice of the LLC, in bytes.
const SLICE_MAX: u64 = 1 << 28;
const WARM_UP: Time = Time(30_000_000);
const WINDOW_LOADED: Time = Time(15_000_000);
const WINDOW_TURNS: Time = Time(3_000_000_000);

/// Returns true if a text describes a chip: it has a table `chip`.
pub fn is_chip(text: &str, format: Format) -> bool {
    let document = match format {
        Format::Toml => parse_toml(text),
        Format::Json => parse_json(text),
    };
    document.is_ok_and(|document| document.tree.get("chip").is_some())
}

/// Checks a configuration of a chip and resolves it to a plan.
///
/// # Errors
///
/// Returns the first error, with its place.
pub fn chip_plan(input: &Input) -> Result<ChipPlan, ConfigError> {
    let source = Source::read(input, schema::complete_chip(), |_, _| Value::Null)?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

fn build(source: &Source, input: &Input) -> Result<ChipPlan, Issue> {
    let preset = at(&source.merged, &["chip", "preset"]).and_then(Value::as_str);
    let mut tree = preset.map_or(Ok(json!({})), presets::chip)?;
    overlay(&mut tree, &source.merged);
    // Defaults of the preset that contradict the user's topology or rack go before the first check.
    chip_shape::drop_routing(&mut tree, &source.merged);
    chip_rack::drop_mirror(&mut tree, &source.merged);
    if let Some(missing) = missing(schema::complete_chip(), &tree, "") {
        return Err(match preset {
            Some(_) => missing.issue(),
            None => {
                let names: Vec<_> = presets::chips().collect();
                let rule = format!("missing, and {} is not given; known are: {}", missing.path, names.join(", "));
                Issue::new(Code::MissingKey, "chip.preset", rule)
            }
        });
    }
    let spec: ChipSpec = serde_json::from_value(tree).map_err(plan_error)?;
    plan_of(spec, input.file)
}

fn plan_of(mut spec: ChipSpec, file: &str) -> Result<ChipPlan, Issue> {
    chip_shape::check(&spec)?;
    chip_rack::check(&mut spec)?;
    let torus = chip_rack::torus(&spec);
    let tiles = u32::from(spec.chip.columns) * u32::from(spec.chip.rows);
    spec.workload.cores.get_or_insert_with(|| CoreList((0..tiles).collect()));
    let loaded = spec.workload.mode != ChipModeSpec::Turns;
    spec.run.warmup.get_or_insert(WARM_UP);
    spec.run.window.get_or_insert(if loaded { WINDOW_LOADED } else { WINDOW_TURNS });
    let clock_hz = spec.chip.clock.0;
    let chip = params(&spec)?;
    chip.check().and_then(|()| FloorPlan::new(&chip).map(|_| ())).map_err(refused)?;
    let cycles_of = |time: Option<Time>| time.map_or(0, |time| cycles(time, clock_hz));
    let windows = ChipWindows {
        warm_up: cycles_of(spec.run.warmup),
        window: cycles_of(spec.run.window).max(1),
        change: spec.run.change,
        max: spec.run.max,
    };
    let stem = || Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = spec.run.name.clone().or_else(stem).unwrap_or_else(|| "chip".to_owned());
    Ok(ChipPlan {
        hash: hash(&(&chip, clock_hz, windows, torus))?,
        name,
        chip,
        torus,
        clock_hz,
        windows,
        effective: serde_json::to_value(&spec).map_err(plan_error)?,
    })
}

/// Converts a time to whole cycles, rounded.
fn cycles(time: Time, clock_hz: u64) -> u64 {
    const PS: u128 = 1_000_000_000_000;
    // In 128 bits, as ps times Hz exceed 64.
    ((u128::from(time.0) * u128::from(clock_hz) + PS / 2) / PS) as u64
}

/// Returns the number of lines of a slice of the LLC.
fn slice_lines(spec: &ChipSpec) -> Result<u32, Issue> {
    let slices = chip_shape::slices(spec);
    let set = slices * LINE * u64::from(spec.coherence.ways);
    let Size(llc) = spec.coherence.llc;
    if llc % set != 0 {
        let message = format!("{llc} B are no whole sets of {} lines in each of {slices} tiles", spec.coherence.ways);
        return Err(Issue::between(Code::NotAMultiple, &["coherence.llc", "coherence.ways"], message));
    }
    if llc / slices > SLICE_MAX {
        let message = format!("{llc} B are {} B in each of {slices} tiles, where 256 MiB are the most", llc / slices);
        return Err(Issue::between(Code::OutOfRange, &["coherence.llc", "chip.columns"], message));
    }
    Ok((llc / LINE / slices) as u32)
}

fn params(spec: &ChipSpec) -> Result<ChipParams, Issue> {
    let clock_hz = spec.chip.clock.0;
    let cores = spec.workload.cores.iter().flat_map(|CoreList(list)| list);
    Ok(ChipParams {
        shape: chip_shape::shape(spec.noc.topology),
        columns: spec.chip.columns,
        rows: spec.chip.rows,
        router: Router {
            vc_flits: spec.noc.vc_flits,
            allocation: Allocation::Speculative,
            reuse: Reuse::TailSent,
            switch_cycles: spec.noc.switch_cycles,
            link_cycles: spec.noc.link_cycles,
            credit_cycles: spec.noc.credit_cycles,
        },
        vcs: spec.noc.vcs,
        flit_bytes: spec.noc.link.0 as u32,
        memories: chip_shape::memories(spec)?,
        routing: chip_shape::routing(spec.noc.routing),
        cache: CacheParams {
            l1_cycles: spec.coherence.l1_cycles,
            bank_cycles: spec.coherence.bank_cycles,
            bank_busy_cycles: spec.coherence.bank_busy_cycles,
            slice_lines: slice_lines(spec)?,
            ways: spec.coherence.ways,
            entries: spec.coherence.entries,
            dirty_percent: spec.coherence.dirty,
        },
        memory_cycles: cycles(spec.memory.latency, clock_hz) as u32,
        interleave: match spec.noc.mc_interleave {
            McInterleaveSpec::Line => Interleave::Line,
            McInterleaveSpec::Page => Interleave::Page,
            McInterleaveSpec::Row => Interleave::Row,
        },
        home: match spec.coherence.home {
            HomeSpec::PageOffset => Home::PageOffset,
            HomeSpec::Hash => Home::Hash,
        },
        ni: interfaces(spec),
        software: SoftwareCosts {
            wq_write: spec.software.wq_write_cycles,
            cq_read: spec.software.cq_read_cycles,
            load: spec.software.load_cycles,
            poll_every: spec.software.poll_every,
            mshrs: spec.software.mshrs,
        },
        // Without hops the rack is a torus with a uniform pattern, where the hops follow from source and destination.
        rack: RackParams { hops: spec.rack.hops.unwrap_or(1), hop_cycles: cycles(spec.rack.hop, clock_hz) as u32 },
        workload: Workload {
            writes_percent: writes_percent(spec)?,
            mode: match spec.workload.mode {
                ChipModeSpec::Turns => Mode::Turns,
                ChipModeSpec::Sync => Mode::Sync,
                ChipModeSpec::Async => Mode::Async,
            },
            lines: (spec.workload.size.0 / LINE) as u32,
            cores: cores.map(|core| *core as u16).collect(),
        },
        seed: spec.run.seed,
    })
}

fn writes_percent(spec: &ChipSpec) -> Result<u32, Issue> {
    match (spec.workload.op, spec.workload.writes) {
        (ChipOpSpec::Mixed, Some(writes)) => Ok(writes),
        (ChipOpSpec::Mixed, None) => Err(Issue::new(
            Code::RequiresKey,
            "workload.op",
            "\"mixed\" needs workload.writes, the percent of the operations that write",
        )),
        (_, Some(_)) => {
            let message = "is the share of writes of \"mixed\" operations; set workload.op = \"mixed\" or leave it out";
            Err(Issue::between(Code::NoEffect, &["workload.writes", "workload.op"], message))
        }
        (ChipOpSpec::Read, None) => Ok(0),
        (ChipOpSpec::Write, None) => Ok(100),
    }
}

fn interfaces(spec: &ChipSpec) -> NiParams {
    let ni = &spec.ni;
    NiParams {
        placement: match ni.placement {
            PlacementSpec::Edge => Placement::Edge,
            PlacementSpec::PerTile => Placement::PerTile,
            PlacementSpec::Split => Placement::Split,
            PlacementSpec::Numa => Placement::Numa,
        },
        entries: ni.wq.entries,
        wq_entries_per_line: ni.wq.per_line,
        cq_entries_per_line: ni.cq.per_line,
        rgp_frontend_cycles: ni.rgp_frontend_cycles,
        rgp_backend_cycles: ni.rgp_backend_cycles,
        rcp_backend_cycles: ni.rcp_backend_cycles,
        rcp_frontend_cycles: ni.rcp_frontend_cycles,
        latch_saves_cycles: ni.latch_saves_cycles,
        rrpp_cycles: ni.rrpp_cycles,
        handover_cycles: ni.handover_cycles,
        in_flight: ni.in_flight,
        rrpp_in_flight: ni.rrpp_in_flight,
        completion: match ni.completion {
            CompletionSpec::Posted => Completion::Posted,
            CompletionSpec::Acked => Completion::Acked,
        },
    }
}

/// Converts an error of the chip model into an issue that names the user's keys.
fn refused(error: ChipError) -> Issue {
    let keys: &[&str] = match error.field {
        "columns" => &["chip.columns", "chip.rows"],
        "rows" => &["chip.rows"],
        "memories" => &["noc.mc", "noc.mc_interleave"],
        "vcs" => &["noc.vcs", "noc.routing"],
        "vc_flits" => &["noc.vc_flits"],
        "routing" => &["noc.routing", "noc.vcs"],
        "ways" => &["coherence.ways", "coherence.llc"],
        "entries" => &["coherence.entries"],
        "wq" => &["ni.wq.entries", "ni.wq.per_line", "ni.wq"],
        "cq" => &["ni.cq.per_line", "ni.wq.entries"],
        "in_flight" => &["ni.in_flight"],
        "rrpp_in_flight" => &["ni.rrpp_in_flight"],
        "hops" => &["rack.hops"],
        "hop_cycles" => &["rack.hop", "chip.clock"],
        "lines" => &["workload.size"],
        "cores" => &["workload.cores", "chip.columns"],
        _ => &["chip"],
    };
    let code = match error.field {
        "ways" | "wq" | "cq" => Code::NotAMultiple,
        "memories" | "cores" => Code::DoesNotExist,
        "routing" => Code::Deadlock,
        _ => Code::OutOfRange,
    };
    Issue::between(code, keys, error.message)
}
