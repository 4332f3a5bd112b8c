//! Lines about what would help: one for each limit, in descending order of gain.

use super::remedies::{counted_gain, divided_text, group_by_limit, step_by, Remedies, Step, NO_GAIN};
use super::wrap::wrap_text;
use crate::numbers::{format_change, format_general};
use hostnet_analysis::limits::RAISE;
use std::collections::BTreeMap;

/// Factors by which every limit is raised.
const FACTORS: [f64; 3] = [RAISE, 2.0, 4.0];

/// Width of the label.
const LABEL: usize = 25;

/// Width of a gain.
const GAIN: usize = 10;

/// Maximum number of steps that are shown; the JSON has all.
const STEPS_MAX: usize = 12;

/// Maximum length of the name of another workload.
const NAME_MAX: usize = 12;

/// Returns the lines of all remedies.
pub(super) fn remedy_lines(remedies: &Remedies) -> Vec<String> {
    let workload = &remedies.workload;
    let engine = name_engine(remedies);
    let mut lines = wrap_text(&format!("What would help {workload} (each change alone, {engine}):"), 0, 0);
    if remedies.steps.is_empty() {
        lines.push("  nothing can be changed by one step".to_owned());
        return lines;
    }
    let limits = group_by_limit(&remedies.steps);
    let (shown, none): (Vec<Vec<&Step>>, Vec<Vec<&Step>>) =
        limits.into_iter().partition(|limit| limit.iter().any(|step| has_effect(step, workload)));
    if !shown.is_empty() {
        let heads = FACTORS.map(|factor| format!("{:>GAIN$}", format!("x {}", format_general(factor, 6)))).concat();
        lines.push(format!("    {:LABEL$}{heads}   effect on others", ""));
    }
    let (raised, changed): (Vec<Vec<&Step>>, Vec<Vec<&Step>>) =
        shown.into_iter().partition(|limit| FACTORS.contains(&limit[0].factor));
    lines.extend(raised.iter().take(STEPS_MAX).flat_map(|limit| limit_lines(limit, workload)));
    lines.extend(changed.iter().flat_map(|limit| change_lines(limit[0], workload)));
    if !none.is_empty() {
        let names: Vec<&str> = none.iter().map(|limit| limit[0].what.as_str()).collect();
        lines.extend(wrap_text(&format!("No effect on {workload}: {}.", names.join(", ")), 2, 2));
    }
    lines
}

/// Names the engine of the steps.
fn name_engine(remedies: &Remedies) -> &'static str {
    match remedies.engine.as_str() {
        "run" => "simulated",
        _ if remedies.steps.iter().any(|step| step.confirmed().is_some()) => "predicted and simulated",
        _ => "predicted",
    }
}

/// Returns the effect of raising a limit by each factor, on the workload and on the others.
fn limit_lines(steps: &[&Step], workload: &str) -> Vec<String> {
    let row = |text: &dyn Fn(&Step) -> String| {
        let cell = |factor| step_by(steps, factor).map(text).unwrap_or_default();
        FACTORS.map(|factor| format!("{:>GAIN$}", cell(factor))).concat()
    };
    let first = steps[0];
    let what = &first.what;
    let label =
        if first.before.is_empty() { what.clone() } else { format!("{what}: {}{}", first.before, divided_text(steps)) };
    let mut lines = Vec::new();
    let beside = if label.chars().count() > LABEL {
        lines.push(format!("    {label}"));
        String::new()
    } else {
        label
    };
    let gains = row(&|step| simulated_gain_text(step, workload));
    lines.push(format!("    {beside:LABEL$}{gains}  {}", others_text(steps, workload)).trim_end().to_owned());
    if steps.iter().any(|step| step.confirmed().is_some()) {
        let sure = row(&|step| confirmed_text(step, workload));
        lines.push(format!("      {:1$}{sure}", "simulated", LABEL - 2).trim_end().to_owned());
    }
    lines
}

/// Returns the effect of a change that raises no limit.
fn change_lines(step: &Step, workload: &str) -> Vec<String> {
    let sure = confirmed_text(step, workload);
    let sure = if sure.is_empty() { sure } else { format!(" (simulated {sure})") };
    let others = others_text(&[step], workload);
    let others = if others.is_empty() { others } else { format!("; {others}") };
    let Step { what, before, after, .. } = step;
    let gain = simulated_gain_text(step, workload);
    wrap_text(&format!("{what}, {before} -> {after}: {gain}{sure}{others}"), 4, 4)
}

/// Formats a gain, with its interval unless it was predicted.
fn simulated_gain_text(step: &Step, workload: &str) -> String {
    let noise = step.noise(workload).filter(|_| step.confirmed().is_none());
    format!("{}{}", gain_text(step.gains.get(workload).copied()), noise_text(noise))
}

/// Formats a simulated gain with its interval, beside a predicted one.
fn confirmed_text(step: &Step, workload: &str) -> String {
    let text = |gains: &BTreeMap<String, f64>| {
        format!("{}{}", gain_text(gains.get(workload).copied()), noise_text(step.noise(workload)))
    };
    step.confirmed.as_ref().map(text).unwrap_or_default()
}

/// Formats the noise of a gain.
fn noise_text(noise: Option<f64>) -> String {
    noise.map(|noise| format!(" ±{:.0}", (100.0 * noise).max(0.5))).unwrap_or_default()
}

/// Formats a gain in percent.
#[must_use]
fn gain_text(gain: Option<f64>) -> String {
    gain.map_or_else(|| "-".to_owned(), |gain| format_change(counted_gain(gain), 0))
}

/// Returns true if a step affects a workload beyond noise.
fn has_effect(step: &Step, workload: &str) -> bool {
    let least = step.noise(workload).unwrap_or_default().max(NO_GAIN);
    step.surest().get(workload).is_some_and(|gain| gain.abs() >= least)
}

/// Formats the largest change of another workload by any of the steps.
fn others_text(steps: &[&Step], workload: &str) -> String {
    let changes = steps.iter().flat_map(|step| {
        let others = step.surest().iter().filter(move |(name, _)| *name != workload && has_effect(step, name));
        others.map(|(name, gain)| (name, *gain))
    });
    let most = changes.reduce(|most, other| if other.1.abs() > most.1.abs() { other } else { most });
    most.map(|(name, gain)| {
        let name: String = name.chars().take(NAME_MAX).collect();
        format!("{name} {}", gain_text(Some(gain)))
    })
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::{json, Value};

    fn remedies(engine: &str, steps: &[Value]) -> Vec<String> {
        let told = json!({"engine": engine, "workload": "disk", "steps": steps});
        remedy_lines(&Remedies::deserialize(told).expect("they are remedies"))
    }

    fn step(path: &str, factor: f64, gain: f64, other: f64) -> Value {
        let gains = json!({"disk": gain, "a long workload": other});
        json!({"what": path, "path": path, "before": "8", "after": "16", "factor": factor, "gains": gains})
    }

    #[test]
    fn each_limit_has_a_line() {
        let lines = remedies(
            "predict",
            &[
                step("rpq", 1.25, 0.1, 0.0),
                step("rpq", 2.0, 0.25, -0.04),
                step("wpq", 2.0, 0.001, 0.0),
                step("slower", 1.0, 0.5, 0.0),
            ],
        );
        assert_eq!(
            lines,
            [
                "What would help disk (each change alone, predicted):",
                "                                 x 1.25       x 2       x 4   effect on others",
                "    rpq: 8                        +10 %     +25 %            a long workl -4 %",
                "    slower, 8 -> 16: +50 %",
                "  No effect on disk: wpq.",
            ]
        );
        assert_eq!(remedies("run", &[])[1], "  nothing can be changed by one step");
    }

    #[test]
    fn simulated_gains_have_their_interval() {
        let mut sure = step("rpq", 2.0, 0.25, 0.0);
        sure["confirmed"] = json!({"disk": 0.2});
        sure["noise"] = json!({"disk": 0.03});
        let lines = remedies("predict", &[sure]);
        assert!(lines[0].contains("predicted and simulated"));
        assert_eq!(lines[3], "      simulated                          +20 % ±3");
        let mut noisy = step("rpq", 2.0, 0.02, 0.0);
        noisy["noise"] = json!({"disk": 0.03});
        assert_eq!(remedies("run", &[noisy])[1], "  No effect on disk: rpq.", "the gain is within the noise");
    }
}
