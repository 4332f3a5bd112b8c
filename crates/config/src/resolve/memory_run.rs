//! The configuration of the memory alone.

use super::change::stack;
use super::memory::{system, write_out, System};
use super::source::Source;
use super::{hash, plan_error};
use crate::check::missing;
use crate::code::Code;
use crate::error::{nearest, ConfigError, Issue};
use crate::memory_plan::{MemoryPlan, Requests, TraceFormat, Traffic, TrafficPattern};
use crate::plan::Input;
use crate::presets::{self, is_path};
use crate::schema;
use crate::units::shorten;
use hostnet_params::{MemoryPartSpec, MemoryRunSpec, TraceFormatSpec, TraceSpec, TrafficSpec};
use serde_json::{json, Value};

/// Checks a configuration of the memory alone and resolves it to a plan.
///
/// # Errors
///
/// Returns the first error, with its place.
pub fn memory_plan(input: &Input) -> Result<MemoryPlan, ConfigError> {
    let source = Source::read(input, schema::complete_memory(), |_, _| defaults())?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

/// Returns the defaults: the reference channel of memory simulators.
fn defaults() -> Value {
    json!({ "memory": { "channels": 1, "device": "DDR4_2933", "profile": "intel", "map": "A" } })
}

fn build(source: &Source, input: &Input) -> Result<MemoryPlan, Issue> {
    let mut tree = defaults();
    let mut ignored = source.dropped.clone();
    ignored.extend(stack(&mut tree, &source.merged, |_, _| Value::Null));
    let files = presets::fill_memory(&mut tree, schema::complete_memory(), input.base_dir)?;
    let plan = plan_of(tree, source, input).map_err(|issue| source.claim(issue, &files))?;
    Ok(MemoryPlan { ignored, ..plan })
}

fn plan_of(tree: Value, source: &Source, input: &Input) -> Result<MemoryPlan, Issue> {
    if let Some(missing) = missing(schema::complete_memory(), &tree, "") {
        return Err(missing.issue());
    }
    let mut spec: MemoryRunSpec = serde_json::from_value(tree).map_err(plan_error)?;
    let memory = &mut spec.memory;
    let System { dram, controller, map, capacity } =
        system(memory.channels, &memory.dram, &memory.controller, &memory.map)?;
    let requests = match (&spec.trace, &spec.traffic) {
        (Some(_), Some(_)) => {
            let message = "trace and traffic exclude each other; give one of them";
            return Err(Issue::between(Code::ConflictingKeys, &["trace", "traffic"], message));
        }
        (Some(trace), None) => from_trace(trace, input),
        (None, traffic) => {
            let traffic = traffic.clone().unwrap_or_default();
            let requests = Requests::Traffic(described(&traffic)?);
            spec.traffic = Some(traffic);
            requests
        }
    };
    let MemoryPartSpec { dram: dram_spec, controller: controller_spec, device, profile, .. } = memory;
    write_out(dram_spec, controller_spec, &dram, &controller);
    // All values of the files are written out, so that the effective configuration resolves without them.
    for name in [device, profile] {
        *name = name.take().filter(|name| !is_path(name));
    }
    let (outstanding, warm_up) = (spec.run.outstanding, spec.run.warmup);
    Ok(MemoryPlan {
        hash: hash(&(&dram, &controller, &map, &requests, outstanding, warm_up))?,
        dram,
        controller,
        map,
        capacity_bytes: capacity,
        requests,
        outstanding,
        warm_up,
        effective: serde_json::to_value(&spec).map_err(plan_error)?,
        ignored: Vec::new(),
        given: source.given.clone(),
    })
}

fn from_trace(trace: &TraceSpec, input: &Input) -> Requests {
    let format = match trace.format {
        TraceFormatSpec::Auto => TraceFormat::Auto,
        TraceFormatSpec::Ramulator => TraceFormat::Ramulator,
        TraceFormatSpec::Ramulator1 => TraceFormat::Ramulator1,
        TraceFormatSpec::Dramsim3 => TraceFormat::Dramsim3,
    };
    Requests::Trace { path: input.base_dir.join(&trace.path), format }
}

fn described(spec: &TrafficSpec) -> Result<Traffic, Issue> {
    let TrafficSpec { reads, load, requests, seed, .. } = *spec;
    Ok(Traffic { pattern: pattern(&spec.pattern)?, reads, load, requests, seed })
}

fn pattern(name: &str) -> Result<TrafficPattern, Issue> {
    const STREAMS_MAX: u32 = 64;
    match name {
        "sequential" | "seq" => return Ok(TrafficPattern::Sequential),
        "random" | "rand" => return Ok(TrafficPattern::Random),
        _ => {}
    }
    let streams = [("str", false), ("cstr", true)];
    let found = streams.iter().find_map(|(prefix, colliding)| Some((name.strip_prefix(prefix)?, *colliding)));
    let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match found.filter(|(count, _)| digits(count)) {
        Some((count, colliding)) => match count.parse().ok().filter(|count| (1..=STREAMS_MAX).contains(count)) {
            Some(count) => Ok(TrafficPattern::Streams { count, colliding }),
            None => {
                let message = format!("{} is out of range; 1 to {STREAMS_MAX} streams are allowed", shorten(name));
                Err(Issue::new(Code::OutOfRange, "traffic.pattern", message))
            }
        },
        None => {
            let near = nearest(name, ["sequential", "random", "str4", "cstr4"]);
            let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            let rule = "known are \"sequential\", \"random\", \"str4\" and \"cstr4\" with any number of streams";
            let message = format!("{} is not a known pattern{near} ({rule})", shorten(name));
            Err(Issue::new(Code::UnknownName, "traffic.pattern", message))
        }
    }
}
