//! Reports as HTML, with the definitions of terms that pages have.

use hostnet_config::Plan;
use hostnet_report::explanation::{explanation_text, Details};
use hostnet_report::{draw_explanation, draw_remedies, page_sections, picture_section, with_definitions};
use hostnet_report::{Glossary, Html, Row, ServerRun};
use hostnet_sim::FinishedRun;
use serde_json::{json, Value};
use std::sync::LazyLock;

/// Maximum number of servers of a network that are drawn.
const DRAWN_MAX: usize = 4;

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| {
    let text = include_str!("../../../python/hostnet/glossary/glossary.json");
    serde_json::from_str(text).expect("the glossary is generated")
});

/// Returns the sections of the report of a server in their order, each as `name` and `html`.
pub(crate) fn server_sections(plan: &Plan, run: &FinishedRun, explanation: &Value) -> Value {
    let why = object(explanation);
    let text = (!why.is_empty()).then(|| explanation_text(&why, &Details::default()));
    let reported = ServerRun {
        explanation: text,
        why,
        ..server_run(&plan.name, &run.report.summary, &plan.hash, &plan.effective, domains(run, None))
    };
    let sections = page_sections(&reported, Html::raw(""), &GLOSSARY);
    sections.into_iter().map(|(name, html)| json!({ "name": name, "html": defined(html) })).collect()
}

/// Returns the picture and the explanation of the first servers of a network, each as `name` of the host and `html`.
pub(crate) fn servers_inside(plan: &Plan, run: &FinishedRun, explanations: &Value) -> Value {
    let servers = run.report.summary["servers"].as_object().into_iter().flatten().take(DRAWN_MAX);
    let inside = servers.filter_map(|(host, part)| {
        let config = host_config(&plan.effective, host);
        let reported = server_run(host, part, &plan.hash, &config, domains(run, Some(host)));
        let parts = [picture_section(&reported), draw_explanation(&object(&explanations[host]), &GLOSSARY)];
        let html: String = parts.into_iter().flatten().map(defined).collect();
        (!html.is_empty()).then(|| json!({ "name": host, "html": html }))
    });
    inside.collect()
}

/// Returns the table of remedies as HTML. `steps` are predicted, and those of the gains of `workload`.
pub(crate) fn remedies_html(workload: &str, steps: &Value) -> Option<String> {
    let remedies = json!({ "engine": "predict", "workload": workload, "steps": steps });
    draw_remedies(&remedies, &GLOSSARY).map(defined)
}

fn server_run(name: &str, summary: &Value, hash: &str, config: &Value, domains: Vec<Row>) -> ServerRun {
    ServerRun {
        folder: name.to_owned(),
        summary: object(summary),
        manifest: object(&json!({ "version": env!("CARGO_PKG_VERSION"), "config_hash": hash, "config": config })),
        domains,
        ..ServerRun::default()
    }
}

/// Returns the rows of the table of domains; of a network, those of a host.
fn domains(run: &FinishedRun, host: Option<&str>) -> Vec<Row> {
    let table = run.report.table("domains").into_iter();
    let rows = table.flat_map(|table| table.rows.iter().map(|row| object(&table.row_json(row))));
    rows.filter(|row| host.is_none_or(|name| row["host"] == name)).collect()
}

/// Returns the configuration of a host as that of a server. The name of a host has a number if there are several.
fn host_config(config: &Value, host: &str) -> Value {
    let hosts = &config["host"];
    let base = host.rsplit_once('-').map_or(host, |(base, _)| base);
    let mut own = hosts.get(host).unwrap_or(&hosts[base]).clone();
    if let Some(sockets) = own.get("sockets").cloned() {
        own["server"] = json!({ "sockets": sockets });
    }
    own
}

fn object(value: &Value) -> Row {
    value.as_object().cloned().unwrap_or_default()
}

fn defined(html: Html) -> String {
    with_definitions(&String::from(html), &GLOSSARY)
}
