//! Drawings of an explanation: a card for each workload, and the table of remedies.

use super::parts::PARTS;
use super::remedies::{counted_gain, divided_text, group_by_limit, sorted_factors, step_by, Remedies, Step, NO_GAIN};
use crate::glossary::Glossary;
use crate::html::{details, element, section, wrap, wrap_as, Element, Html};
use crate::numbers::{format_change, format_general, format_percent, without_negative_zero};
use crate::places::with_directions;
use crate::row::{Fields, Row};
use crate::run::ServerRun;
use crate::svg::{anchored_label, label, round_to};
use crate::table::simple_table;
use hostnet_analysis::limits::NOT_KNOWN;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Dimensions of a bar chart.
const NAME_WIDTH: f64 = 116.0;
const BAR_WIDTH: f64 = 170.0;
const VALUE_WIDTH: f64 = 64.0;
const ROW_HEIGHT: f64 = 20.0;

/// Maximum number of limits in the chart of a workload.
const GAINS_MAX: usize = 5;

/// Factor of a change that raises no limit.
const UNRAISED: f64 = 1.0;

/// An explanation, as far as it is drawn.
#[derive(Deserialize)]
struct Why {
    workloads: Vec<ExplainedWorkload>,
    /// Names of the parts of a latency.
    #[serde(default = "own_parts")]
    parts: BTreeMap<String, String>,
    steps: Option<Remedies>,
}

/// Returns the names of the parts of a latency for an explanation that does not have them.
fn own_parts() -> BTreeMap<String, String> {
    PARTS.map(|(key, name, _)| (key.to_owned(), name.to_owned())).into()
}

#[derive(Deserialize)]
struct ExplainedWorkload {
    workload: String,
    limited: String,
    #[serde(default)]
    doubtful: bool,
    limits: Option<RaisedLimits>,
    latency: Option<Row>,
    #[serde(default)]
    pools: Vec<Row>,
}

#[derive(Deserialize)]
struct RaisedLimits {
    #[serde(default)]
    gains: Vec<LimitGain>,
}

#[derive(Deserialize)]
struct LimitGain {
    limit: String,
    gain: f64,
}

/// Creates the section from the explanation of a run; `None` without one.
#[must_use]
pub fn why_section(run: &ServerRun, glossary: &Glossary) -> Option<Html> {
    let text = run.explanation.as_deref().filter(|text| !text.trim().is_empty())?;
    let block = wrap_as("div", "block", wrap("pre", text));
    let drawn = draw_explanation(&run.why, glossary);
    let content = if drawn.is_some() { details("As text", block) } else { block };
    Some(section("Why", None).child(drawn).child(content).html())
}

/// Creates a card per workload and the table of remedies; `None` if the explanation cannot be read.
#[must_use]
pub fn draw_explanation(why: &Row, glossary: &Glossary) -> Option<Html> {
    let why = Why::deserialize(Value::Object(why.clone())).ok().filter(|why| !why.workloads.is_empty())?;
    let cards = element("div").children(why.workloads.iter().map(|row| workload_card(row, &why.parts))).class("whys");
    let remedies = why.steps.filter(|remedies| !remedies.steps.is_empty());
    let table = remedies.map(|remedies| remedies_table(&remedies, glossary));
    Some(Html::join([Some(cards), table]))
}

/// Creates the table of remedies alone, from the `steps` of an explanation; `None` if they cannot be read.
#[must_use]
pub fn draw_remedies(steps: &Value, glossary: &Glossary) -> Option<Html> {
    let remedies = Remedies::deserialize(steps).ok().filter(|remedies| !remedies.steps.is_empty())?;
    Some(remedies_table(&remedies, glossary).html())
}

/// Creates the card of a workload: its limit, the gains of raised limits, and the sources of its latency.
fn workload_card(row: &ExplainedWorkload, parts: &BTreeMap<String, String>) -> Element {
    let gains = row.limits.as_ref().filter(|_| !row.doubtful).and_then(|limits| gains_figure(&limits.gains));
    let sentence = format!("{} {}.", row.workload, with_directions(&row.limited));
    element("div")
        .child(wrap("h3", row.workload.as_str()))
        .child(wrap_as("p", "sub", sentence))
        .child(gains)
        .child(row.latency.as_ref().map(|latency| latency_figure(latency, parts, &row.pools)))
        .class("card why")
}

/// A bar with its name on the left and its value on the right.
struct Bar {
    name: String,
    value: f64,
    text: String,
    kind: char,
}

/// Draws the gain of raising each limit by a quarter, as bars; `None` without gains.
fn gains_figure(gains: &[LimitGain]) -> Option<Element> {
    let mut bars: Vec<Bar> = Vec::new();
    for LimitGain { limit, gain } in gains {
        // Several keys may raise a limit; the first has the largest gain.
        if bars.len() < GAINS_MAX && !bars.iter().any(|bar| bar.name == *limit) {
            let (value, text) = ((100.0 * gain).max(0.0), format_change(*gain, 0));
            bars.push(Bar { name: limit.clone(), value, text, kind: 'a' });
        }
    }
    (!bars.is_empty()).then(|| figure("A quarter more of one limit gives (predicted)", &bars))
}

/// Draws the parts of a latency as bars; `parts` has their names. An unknown part has no bar.
fn latency_figure(latency: &Row, parts: &BTreeMap<String, String>, pools: &[Row]) -> Element {
    let bar = |(key, _, kind): (&str, &str, char)| {
        let name = parts.get(key)?.clone();
        Some(match latency.number(key) {
            Some(value) => {
                let text = format!("{} ns", without_negative_zero(format!("{value:.0}")));
                Bar { name, value: value.max(0.0), text, kind }
            }
            None => Bar { name, value: 0.0, text: NOT_KNOWN.to_owned(), kind: 'n' },
        })
    };
    let bars: Vec<Bar> = PARTS.into_iter().filter_map(bar).collect();
    let domain = latency.text("domain");
    let place = pools.iter().find(|pool| pool.text("domain") == domain).and_then(|pool| pool.some_text("place"));
    let place = place.map(|place| format!(" on {place}")).unwrap_or_default();
    let mean = latency.number("mean_ns").unwrap_or_default();
    figure(&format!("Where the {mean:.0} ns of a line in {domain}{place} come from"), &bars)
}

/// Draws bars with their names on the left and their values on the right.
fn figure(caption: &str, bars: &[Bar]) -> Element {
    let longest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let longest = if longest == 0.0 { 1.0 } else { longest };
    let mut drawing = element("svg");
    for (index, bar) in bars.iter().enumerate() {
        let top = index as f64 * ROW_HEIGHT;
        let middle = top + ROW_HEIGHT / 2.0 + 4.0;
        let width = round_to(BAR_WIDTH * bar.value / longest, 1);
        let size = [("x", NAME_WIDTH), ("y", top + 3.0), ("width", width), ("height", ROW_HEIGHT - 6.0)];
        drawing = drawing
            .child(anchored_label(&bar.name, NAME_WIDTH - 8.0, middle, "end"))
            .child(element("rect").numbers(size).class(format!("bar fill-{}", bar.kind)))
            .child(label(&bar.text, NAME_WIDTH + width + 6.0, middle));
    }
    let (width, height) = (NAME_WIDTH + BAR_WIDTH + VALUE_WIDTH, bars.len() as f64 * ROW_HEIGHT);
    let drawing = drawing.attr("viewBox", format!("0 0 {width} {height}")).attr("role", "img");
    element("figure").child(wrap("figcaption", caption)).child(drawing.attr("aria-label", caption))
}

/// A limit with the steps that raise it.
struct RaisedLimit<'a> {
    steps: Vec<&'a Step>,
    /// Gains of the workload that suffers, by factor.
    gains: Vec<Option<f64>>,
}

impl<'a> RaisedLimit<'a> {
    fn of(steps: Vec<&'a Step>, factors: &[f64], workload: &str) -> Self {
        let gain = |&factor| Some(counted_gain(*step_by(&steps, factor)?.surest().get(workload)?));
        Self { gains: factors.iter().map(gain).collect(), steps }
    }

    /// Returns true if a raise changes the throughput of the workload that suffers.
    fn has_effect(&self) -> bool {
        self.gains.iter().any(|gain| gain.is_some_and(|gain| gain != 0.0))
    }

    /// Returns the row of the limit: its name, its value, its gains.
    fn row(&self) -> Vec<String> {
        let first = self.steps[0];
        let gains = self.gains.iter().map(|gain| gain.map(|gain| format_change(gain, 0)).unwrap_or_default());
        let now = format!("{}{}", first.before, divided_text(&self.steps));
        [first.what.clone(), now].into_iter().chain(gains).collect()
    }
}

/// Creates the table of the effect of raising each limit on the workload that suffers, in the order of the steps.
/// Limits without effect are folded.
fn remedies_table(remedies: &Remedies, glossary: &Glossary) -> Element {
    let raised: Vec<&Step> = remedies.steps.iter().filter(|step| step.factor != UNRAISED).collect();
    let factors = sorted_factors(&raised);
    let limits = group_by_limit(raised).into_iter();
    let (helping, others): (Vec<RaisedLimit>, Vec<RaisedLimit>) =
        limits.map(|steps| RaisedLimit::of(steps, &factors, &remedies.workload)).partition(RaisedLimit::has_effect);
    let engine = if remedies.engine == "predict" { "predicted" } else { "simulated" };
    let caption = format!("What more of one limit does for the throughput of {} ({engine})", remedies.workload);
    let heads = ["limit".to_owned(), "now".to_owned()].into_iter();
    let heads: Vec<String> =
        heads.chain(factors.iter().map(|&factor| format!("x {}", format_general(factor, 6)))).collect();
    let table = |limits: &[RaisedLimit], label: &str| {
        (!limits.is_empty()).then(|| simple_table(&heads, limits.iter().map(RaisedLimit::row), 2, label, glossary))
    };
    let (count, plural) = (others.len(), if others.len() > 1 { "s" } else { "" });
    let count = format!("{count} other limit{plural}, each with an effect of less than {}", format_percent(NO_GAIN, 0));
    element("figure")
        .child(wrap("figcaption", caption.as_str()))
        .child(table(&helping, &caption))
        .child(table(&others, &count).map(|table| details(&count, table)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn section_of(why: Value) -> String {
        let run = json!({"why": why, "explanation": "because <it> is\n"});
        let run = ServerRun::from_json(&run.to_string()).expect("it is a run");
        why_section(&run, &Glossary::default()).expect("it is explained").to_string()
    }

    fn explanation() -> Value {
        let latency = json!({
            "domain": "C2M-Read", "mean_ns": 90.0, "unloaded_ns": 60.0, "read_hol_ns": 35.0, "unexplained_ns": -0.4,
        });
        let gain = |limit: &str, gain: f64| json!({"limit": limit, "gain": gain});
        let step = |path: &str, factor: f64, gain: f64| {
            let gains = json!({"w": gain});
            json!({"what": path, "path": path, "before": "46", "factor": factor, "gains": gains})
        };
        json!({
            "workloads": [{
                "workload": "w",
                "limited": "is limited by UPI link (at upi 0-1, full)",
                "limits": {"gains": [gain("LFB", 0.17), gain("LFB", 0.1), gain("core", -0.001)]},
                "latency": latency,
                "doubtful": false,
                "pools": [{"domain": "C2M-Read", "place": "socket 1"}],
            }],
            "parts": {"unloaded_ns": "idle", "write_hol_ns": "writes", "unexplained_ns": "rest"},
            "steps": {"engine": "predict", "workload": "w", "steps": [
                step("rpq", 2.0, 0.25),
                step("rpq", 1.25, 0.009),
                step("faster", 1.0, 0.5),
                step("wpq", 2.0, 0.001),
            ]},
        })
    }

    #[test]
    fn limits_and_parts_of_the_latency_are_bars() {
        let section = section_of(explanation());
        assert!(section.contains("w is limited by UPI link (at socket 0 to 1, full)."));
        assert!(section.contains("Where the 90 ns of a line in C2M-Read on socket 1 come from"));
        assert_eq!(section.matches(">LFB<").count(), 1, "the first of two with one name");
        assert!(section.contains(">+17\u{a0}%<") && section.contains(">0\u{a0}%<") && !section.contains("-0"));
        assert_eq!(section.matches("not known").count(), 1, "the part that is missing");
        assert!(!section.contains("read_hol"), "a part without a name");
        let mut unnamed = explanation();
        unnamed.as_object_mut().expect("it is an object").remove("parts");
        assert!(section_of(unnamed).contains(">read head-of-line<"), "names are known where there are none");
    }

    #[test]
    fn remedies_have_a_column_per_factor() {
        let section = section_of(explanation());
        let heads = section.split("<th ").skip(1).filter_map(|cell| cell.split(['>', '<']).nth(1));
        let heads: Vec<&str> = heads.take(4).collect();
        assert_eq!(heads, ["limit", "now", "x 1.25", "x 2"]);
        let gains = "<td class=\"number\">0\u{a0}%</td><td class=\"number\">+25\u{a0}%</td>";
        assert!(section.contains(&format!("<td>rpq</td><td>46</td>{gains}")));
        assert!(!section.contains("faster"), "it raises no limit");
        let (shown, folded) = section.split_once("<details>").expect("a limit without effect is folded");
        assert!(!shown.contains("wpq") && folded.contains("<td>wpq</td>"));
        assert!(folded.starts_with("<summary>1 other limit, each with an effect of less than 1\u{a0}%"));
    }

    #[test]
    fn a_damaged_explanation_is_shown_as_text() {
        let none = json!({"workloads": [], "parts": {}});
        for damaged in [json!({"workloads": 3}), json!({"workloads": [{}]}), none, json!({})] {
            let section = section_of(damaged);
            assert!(section.contains("because &lt;it&gt; is") && !section.contains("<svg"));
        }
        let run = ServerRun { explanation: Some(" \n".to_owned()), ..ServerRun::default() };
        for run in [run, ServerRun::default()] {
            assert!(why_section(&run, &Glossary::default()).is_none());
        }
    }
}
