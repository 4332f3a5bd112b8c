//! Functions that a web worker calls.
//!
//! * [`presets`], [`names`], [`examples`], [`templates`], [`schema`], [`limits`]: what an editor offers.
//! * [`check`], [`hash`]: a configuration without a run. [`mount`]: files that configurations name.
//! * [`controls`], [`adjust`]: the values of a server that sliders move, and the text with one of them changed.
//! * [`predict`], [`remedies`]: results without events, in milliseconds.
//! * [`simulate`], or [`Simulation`] step by step: a run of a server, a cluster with its flows and jobs, a chip, or a
//!   network on a chip alone.
//!
//! A request is the text of a configuration, or an object with its `text` and the optional keys `overrides` (a list of
//! `a.b=VALUE`), `file` (its name in messages), `format` ("toml" or "json"), `noc` (true for a network on a chip
//! alone) and `series` (the step of the time series).
//!
//! Results are an object with `kind` ("server", "cluster", "chip" or "noc"), `config_hash`, the complete `config`,
//! `complete` (false if the run was stopped), `result_hash` as in a manifest, and the `summary` of a run directory.
//! Those of servers and clusters also have `name`, `events`, `simulated_ns`, `tables` with their columns by name, and
//! `explanations` by host ("" for a server without a network). Their `report` is a list of sections with `name` and
//! `html`: those of the page of a server, or the picture and the explanation of each server of a network.
//!
//! A mistake is thrown as an object with `code`, `place` (the name of the file), `line` and `column` (from 1, in
//! bytes; null if not known), `key`, `text`, `nearest` (the valid name that was probably meant, or null) and `fix`.
//! After an error with the code `defect`, the module must be loaded again.

use crate::job::Job;
use crate::problem::Problem;
use crate::request::Request;
use crate::{report, results};
use hostnet_commands::remedies::{find_remedies, limit_keys, Loads};
use hostnet_config::Code;
use serde::Serialize;
use serde_json::{json, Value};
use std::path::Path;
use wasm_bindgen::prelude::*;

/// Interval between two calls of a progress function, in ms.
const PROGRESS_MS: f64 = 100.0;

/// Mounts the files of the examples, and turns panics into thrown errors.
#[wasm_bindgen(start)]
pub fn start() {
    crate::examples::mount_files();
    std::panic::set_hook(Box::new(|info| {
        wasm_bindgen::throw_val(to_js(&Problem::new(Code::Defect, info.to_string())));
    }));
}

/// Returns the version of hostnet.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns the server presets: `name`, `description`, and `unvalidated`, the reason why a preset is not validated.
#[wasm_bindgen]
#[must_use]
pub fn presets() -> JsValue {
    to_js(&crate::names::presets())
}

/// Returns the names that configurations may use, by kind: devices, dies, transports and so on.
#[wasm_bindgen]
#[must_use]
pub fn names() -> JsValue {
    to_js(&crate::names::names())
}

/// Returns the examples: `name`, `about`, `kind` (as of results), `command`, `noc` and `text`.
#[wasm_bindgen]
#[must_use]
pub fn examples() -> JsValue {
    to_js(&crate::examples::list())
}

/// Returns commented configurations to start from, by name: "server", and the templates of clusters.
#[wasm_bindgen]
#[must_use]
pub fn templates() -> JsValue {
    to_js(&crate::names::templates())
}

/// Returns the JSON Schema of a kind of configuration: "server", "cluster", "chip" or "noc".
///
/// # Errors
/// Throws if there is no such kind.
#[wasm_bindgen]
pub fn schema(kind: &str) -> Result<JsValue, JsValue> {
    crate::names::schema(kind).map(|schema| to_js(&schema)).map_err(|problem| to_js(&problem))
}

/// Returns each configuration key that can raise a limit of a server: `limit`, `path`, `what`, `scale` and `along`.
#[wasm_bindgen]
#[must_use]
pub fn limits() -> JsValue {
    to_js(&limit_keys())
}

/// Mounts a file, so that configurations can name it.
#[wasm_bindgen]
pub fn mount(name: &str, content: &[u8]) {
    hostnet_files::mount(name, content);
}

/// Checks a request. Returns `errors`, a list of mistakes as they are thrown elsewhere, with at most one entry, and for
/// a valid request its `kind`, `name`, `config_hash`, complete `config`, `notes`, and `unvalidated`, the reason why
/// results are not validated.
#[wasm_bindgen]
#[must_use]
pub fn check(request: &JsValue) -> JsValue {
    match read(request).and_then(|request| request.resolve()) {
        Ok(plan) => to_js(&crate::names::checked(&plan)),
        Err(problem) => to_js(&json!({ "errors": [problem] })),
    }
}

/// Returns the hash of everything in a request that influences the results.
///
/// # Errors
/// Throws the first mistake.
#[wasm_bindgen]
pub fn hash(request: &JsValue) -> Result<String, JsValue> {
    let plan = read(request).and_then(|request| request.resolve());
    plan.map(|plan| plan.hash().to_owned()).map_err(|problem| to_js(&problem))
}

/// Returns the controls of a request for a server without a network: `name`, `label`, `key`, `value` now, the `range`
/// of a number (least, most, step) or the `options` of a choice (value, label). The list is empty for other requests.
///
/// # Errors
/// Throws the first mistake.
#[wasm_bindgen]
pub fn controls(request: &JsValue) -> Result<JsValue, JsValue> {
    let plan = read(request).and_then(|request| request.resolve());
    let found = plan.map(|plan| plan.hosts().map(crate::controls::list).unwrap_or_default());
    found.map(|found| to_js(&found)).map_err(|problem| to_js(&problem))
}

/// Returns the text of a request in TOML with the value of a control changed. Comments and order are kept.
///
/// # Errors
/// Throws the first mistake, and if there is no such control or it has no such value.
#[wasm_bindgen]
pub fn adjust(request: &JsValue, name: &str, value: &JsValue) -> Result<String, JsValue> {
    let text = read(request).and_then(|request| adjusted(&request, name, value));
    text.map_err(|problem| to_js(&problem))
}

fn adjusted(request: &Request, name: &str, value: &JsValue) -> Result<String, Problem> {
    let value: Value = value.as_f64().map_or_else(|| json!(value.as_string()), |number| json!(number));
    crate::controls::set(request.text(), request.resolve()?.hosts()?, name, &value)
}

/// Predicts the results of a request without simulating it. `summary.engine` is "predict" then, and there are no
/// `explanations`.
///
/// # Errors
/// Throws the first mistake, or the part of the configuration that predictions do not cover.
#[wasm_bindgen]
pub fn predict(request: &JsValue) -> Result<JsValue, JsValue> {
    thrown(read(request).and_then(|request| predicted(&request)))
}

fn predicted(request: &Request) -> Result<Value, Problem> {
    let planned = request.resolve()?;
    let plan = planned.hosts()?;
    let report = results::with_report(plan, &hostnet_commands::predict(plan)?);
    Ok(results::with_head(&planned.head(), true, report))
}

/// Predicts the effect of each step that raises a limit of the server of a request: `workload`, `steps`, those of the
/// limit that it gains most from first, and their table as `html`, null without steps.
///
/// # Errors
/// As [`predict`].
#[wasm_bindgen]
pub fn remedies(request: &JsValue, workload: &str) -> Result<JsValue, JsValue> {
    thrown(read(request).and_then(|request| raised(&request, workload)))
}

fn raised(request: &Request, workload: &str) -> Result<Value, Problem> {
    let plan = request.resolve()?;
    let plan = plan.hosts()?;
    let summary = hostnet_commands::predict(plan)?.report.summary;
    let offered: Loads = serde_json::from_value(summary["offered_gb_per_s"].clone()).unwrap_or_default();
    let steps = json!(find_remedies(plan, workload, &offered, Path::new(""))?);
    Ok(json!({ "workload": workload, "html": report::remedies_html(workload, &steps), "steps": steps }))
}

/// Runs a request and returns its results. `progress` is called about ten times a second with the progress:
/// `simulated_ps`, `phase`, `progress` (0 to 1) and counts. If it returns false, the run stops, and the results so far
/// are returned with `complete` = false, or undefined if there are none yet.
///
/// # Errors
/// Throws the first mistake, or the reason why the run failed.
#[wasm_bindgen]
pub fn simulate(request: &JsValue, progress: &js_sys::Function) -> Result<JsValue, JsValue> {
    let Some(mut simulation) = Simulation::start(request, progress)? else { return Ok(JsValue::UNDEFINED) };
    while simulation.step(PROGRESS_MS)? && goes_on(progress, &simulation.status()) {}
    Ok(simulation.results())
}

/// A run that goes on step by step, so that a worker can receive messages in between.
#[wasm_bindgen]
pub struct Simulation {
    job: Job,
}

#[wasm_bindgen]
impl Simulation {
    /// Prepares the run of a request. `progress` is as for [`simulate`], and called only during the preparation.
    /// Returns undefined if it stopped the preparation.
    ///
    /// # Errors
    /// Throws the first mistake.
    pub fn start(request: &JsValue, progress: &js_sys::Function) -> Result<Option<Simulation>, JsValue> {
        let request = read(request).map_err(|problem| to_js(&problem))?;
        let mut told_ms = js_sys::Date::now();
        let job = Job::new(&request, |status| {
            let now_ms = js_sys::Date::now();
            if now_ms - told_ms < PROGRESS_MS {
                return true;
            }
            told_ms = now_ms;
            goes_on(progress, &to_js(&status))
        });
        Ok(job.map_err(|problem| to_js(&problem))?.map(|job| Self { job }))
    }

    /// Runs for about that time. Returns true if there is more to do.
    ///
    /// # Errors
    /// Throws the reason why the run failed.
    pub fn step(&mut self, milliseconds: f64) -> Result<bool, JsValue> {
        let end_ms = js_sys::Date::now() + milliseconds;
        self.job.step(|| js_sys::Date::now() >= end_ms).map_err(|problem| to_js(&problem))
    }

    /// Returns the progress.
    #[must_use]
    pub fn status(&self) -> JsValue {
        to_js(self.job.status())
    }

    /// Returns the results so far.
    #[must_use]
    pub fn results(&mut self) -> JsValue {
        to_js(&self.job.results())
    }
}

/// Calls a progress function. Returns false if it wants the run to stop, or has thrown.
fn goes_on(progress: &js_sys::Function, status: &JsValue) -> bool {
    progress.call1(&JsValue::NULL, status).is_ok_and(|answer| answer != JsValue::FALSE)
}

/// Reads a request from a value of JavaScript.
fn read(request: &JsValue) -> Result<Request, Problem> {
    let json = js_sys::JSON::stringify(request).ok().and_then(|text| text.as_string()).unwrap_or_default();
    Request::read(&json)
}

fn thrown(result: Result<Value, Problem>) -> Result<JsValue, JsValue> {
    result.map(|value| to_js(&value)).map_err(|problem| to_js(&problem))
}

/// Converts a value to one of JavaScript.
fn to_js(value: &impl Serialize) -> JsValue {
    let json = serde_json::to_string(value).expect("results are JSON");
    js_sys::JSON::parse(&json).expect("it is JSON")
}
