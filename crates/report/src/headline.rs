//! Head of a run's page: configuration, results, and warnings.

use crate::describe::{describe_run, describe_wall_time};
use crate::drift::{drift_notes, STOPPED};
use crate::html::{element, fact_list, section, wrap, wrap_as, Element, Html};
use crate::numbers::{format_number, format_share, format_time_ns, with_ci95, Quantity};
use crate::places::with_directions;
use crate::regime::regime_headline;
use crate::row::{Fields, Row};
use crate::run::ServerRun;
use hostnet_analysis::binding::NOT_KNOWN;
use serde_json::Value;

/// Regimes of contention that have a colour.
const REGIMES: [&str; 4] = ["blue", "red", "cores", "uncontended"];

/// Creates the title, a description of the run, and warnings.
#[must_use]
pub fn header(run: &ServerRun) -> Html {
    let is_stopped = run.summary.value("complete") == Some(&Value::Bool(false));
    let warnings = is_stopped.then(|| STOPPED.to_owned()).into_iter();
    let unvalidated = run.summary.some_text("unvalidated").map(str::to_owned);
    let forward = run.summary.value("forward").and_then(|forward| forward["note"].as_str()).map(str::to_owned);
    let warnings = warnings.chain(unvalidated).chain(forward).chain(drift_notes(&run.summary));
    element("header")
        .child(wrap_as("p", "eyebrow", "Host network run"))
        .child(wrap("h1", run.name()))
        .child(wrap_as("p", "lead", describe_run(run)))
        .children(warnings.map(|message| warning(&message)))
        .child(fact_list(facts(run)))
        .html()
}

/// Creates a prominent warning.
fn warning(message: &str) -> Element {
    element("p").child(wrap("b", "Note: ")).child(message).class("warning").attr("role", "note")
}

/// Returns the facts about a run.
fn facts(run: &ServerRun) -> Vec<(String, Option<Html>)> {
    let (summary, manifest) = (&run.summary, &run.manifest);
    let time = |name| summary.number(name).filter(|&ns| ns > 0.0).map(format_time_ns);
    let count = |name| summary.nonzero(name).map(|_| format_number(summary.value(name)));
    let started = manifest.some_text("started").map(|time| time.replace('T', " ").replace("+00:00", " UTC"));
    let facts = [
        ("Measured", time("window_ns")),
        ("Warm-up", time("warm_up_ns")),
        ("Engine", Some(name_engine(run.engine()))),
        ("Seed", summary.value("seed").map(Value::to_string)),
        ("Version", manifest.some_text("version").map(|version| format!("hostnet {version}"))),
        ("Lines of 64 B", count("lines")),
        ("Events", count("events")),
        ("Wall time", describe_wall_time(manifest)),
        ("Started", started),
    ];
    facts.map(|(name, text)| (name.to_owned(), text.map(|text| Html::join([text])))).into()
}

/// Returns the name and the meaning of an engine.
fn name_engine(engine: &str) -> String {
    match engine {
        "run" => "run (simulation)".to_owned(),
        "predict" => "predict (prediction by formula, without events)".to_owned(),
        other => other.to_owned(),
    }
}

/// Creates the tiles of throughput and limit of each workload, of DRAM, and of the regime.
#[must_use]
pub fn result_section(run: &ServerRun) -> Html {
    let workloads = run.summary.rows("workloads");
    let limits: Vec<String> = run.summary.texts("limits").into_iter().map(with_directions).collect();
    let is_paired = limits.len() == workloads.len();
    let limit_of = |index: usize| limits.get(index).filter(|_| is_paired);
    let tiles = workloads.iter().enumerate().map(|(index, row)| workload_tile(row, limit_of(index)));
    let tiles = tiles.chain(memory_tile(run)).chain(regime_tile(run));
    let title = if limits.is_empty() { "Throughput" } else { "What limits each workload" };
    let loose = (!is_paired && !limits.is_empty()).then(|| list(&limits).class("limits"));
    section(title, None).child(element("div").children(tiles).class("tiles")).child(loose).html()
}

/// Creates a list of sentences.
fn list(texts: &[impl AsRef<str>]) -> Element {
    element("ul").children(texts.iter().map(|text| wrap("li", text.as_ref())))
}

/// Creates the tile of a workload.
fn workload_tile(row: &Row, limit: Option<&String>) -> Element {
    element("div")
        .child(wrap("h3", row.text("workload")))
        .child(element("p").children(rates(row)).class("big"))
        .child(row.some_text("limited_by").map(limited_by))
        .child(limit.map(|limit| wrap_as("p", "sub", limit.as_str())))
        .class("card tile")
}

/// Formats the limit of a workload, which may be unknown.
fn limited_by(limit: &str) -> Element {
    if limit.starts_with(NOT_KNOWN) {
        element("p").child("limit ").child(wrap("b", NOT_KNOWN))
    } else {
        element("p").child("limited by ").child(wrap("b", limit))
    }
}

/// Formats the throughput of a workload; for an application, its operations and execution time.
fn rates(row: &Row) -> Vec<Element> {
    let throughput = row.value("throughput_gb_per_s");
    let Some(operations) = row.value("operations_per_s") else {
        return vec![big_number(throughput, row.value("throughput_ci95"), "GB/s")];
    };
    let main = match row.value("execution_time_s") {
        Some(seconds) => big_number(seconds, None::<f64>, "s to its end"),
        None => big_number(operations, row.value("operations_ci95"), "operations/s"),
    };
    vec![main, wrap("span", format!(", {} GB/s", format_number(throughput)))]
}

/// Formats a number prominently.
fn big_number(value: impl Into<Quantity>, ci95: impl Into<Quantity>, unit: &str) -> Element {
    let text = with_ci95(value, ci95);
    let (head, half) = text.split_once(" ± ").map_or((text.as_str(), None), |(head, half)| (head, Some(half)));
    element("span").child(wrap("b", head)).child(half.map(|half| format!(" ± {half}"))).child(format!(" {unit}"))
}

/// Creates the tile of the DRAM traffic and the busy share of its buses.
fn memory_tile(run: &ServerRun) -> Option<Element> {
    let total = run.summary.rows("channels").into_iter().find(|row| row.whole("channel").is_some_and(|all| all < 0))?;
    let (read, written) = (total.number("read_gb_per_s")?, total.number("write_gb_per_s")?);
    let split = format!("{} GB/s read, {} GB/s written", format_number(read), format_number(written));
    let busiest = busiest_channels(run).unwrap_or(total);
    let place = busiest.whole("socket").map(|socket| format!(" on socket {socket}"));
    let busy = busiest.value("bus_busy_share").map(|busy| {
        element("p").child("data bus busy ").child(wrap("b", format_share(busy))).child(" of the time").child(place)
    });
    let tile = element("div")
        .child(wrap("h3", "DRAM"))
        .child(wrap_as("p", "big", big_number(read + written, None::<f64>, "GB/s")))
        .child(busy)
        .child(wrap_as("p", "sub", split))
        .class("card tile");
    Some(tile)
}

/// Returns the channels of the socket with the busiest data buses; `None` if there is only one socket.
fn busiest_channels(run: &ServerRun) -> Option<&Row> {
    let busy = |row: &Row| row.number("bus_busy_share").unwrap_or_default();
    let sockets = run.summary.rows("channels_of_sockets").into_iter();
    sockets.reduce(|first, other| if busy(other) > busy(first) { other } else { first })
}

/// Creates a section of the regime alone; `None` if it is not known.
#[must_use]
pub fn regime_section(run: &ServerRun) -> Option<Html> {
    let tile = regime_tile(run)?;
    Some(section("What happens", None).child(wrap_as("div", "tiles", tile)).html())
}

/// Creates the tile of the regime with its evidence, preferably from the explanation, which has more.
fn regime_tile(run: &ServerRun) -> Option<Element> {
    let of = |tables: &Row| tables.value("regime").filter(|regime| *regime != &Value::Object(Row::new())).cloned();
    let Value::Object(regime) = of(&run.why).or_else(|| of(&run.summary))? else { return None };
    let name = regime.some_text("name")?;
    let evidence = regime.texts("evidence");
    // Older versions did not name the workloads that are slowed down.
    let text = regime.contains_key("slowed").then(|| regime_headline(&regime)).flatten();
    let class = if REGIMES.contains(&name) { format!(" regime-{name}") } else { String::new() };
    let tile = element("div")
        .child(wrap("h3", "Regime"))
        .child(wrap_as("p", "big", wrap("span", wrap("b", name))))
        .child(text.map(|text| wrap("p", text)))
        .child((!evidence.is_empty()).then(|| list(&evidence).class("evidence")))
        .class(format!("card tile regime{class}"));
    Some(tile)
}
