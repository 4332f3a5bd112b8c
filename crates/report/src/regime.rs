//! Sentences about the regime of contention between cores and devices.

use crate::numbers::format_percent;
use crate::row::{Fields, Row};
use hostnet_analysis::regime::{SlowedWorkload, GAIN_MIN};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of workloads that a headline names one by one.
const NAMES_MAX: usize = 2;

/// Returns a sentence that says which workloads slow which others down, by how much, and what is unknown.
///
/// `None` for a regime that is damaged.
#[must_use]
pub fn regime_headline(regime: &Row) -> Option<String> {
    let slowed: Vec<SlowedWorkload> = match regime.value("slowed") {
        Some(slowed) => Vec::deserialize(slowed).ok()?,
        None => Vec::new(),
    };
    let texts: Vec<String> = slowed.iter().map(describe_slowdown).collect();
    let (texts, open) = (texts.join("; "), regime.texts("open").join("; "));
    let not_known = if open.is_empty() { "Not known.".to_owned() } else { format!("Not known: {open}.") };
    Some(match regime.value("name").and_then(Value::as_str)? {
        "red" => format!("Red: {texts}. P2M is out of credits."),
        "blue" => format!("Blue: {texts}. P2M keeps its rate."),
        "cores" => "Cores: the cores slow each other down.".to_owned(),
        "uncontended" => {
            let least = format_percent(GAIN_MIN, 0);
            let rest = if open.is_empty() { String::new() } else { format!(" {not_known}") };
            format!("Uncontended: no workload slows another down by {least} or more.{rest}")
        }
        _ if texts.is_empty() => not_known,
        _ => format!("{texts}. {not_known}"),
    })
}

/// Describes how much a workload is slowed down, and by which others.
fn describe_slowdown(slowed: &SlowedWorkload) -> String {
    let others = &slowed.because_of;
    let named = match others.as_slice() {
        [first, rest @ ..] if others.len() > NAMES_MAX => format!("{first} and {} others", rest.len()),
        _ => others.join(" and "),
    };
    format!("{} runs {:.2} x slower because of {named}", slowed.workload, slowed.times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headline(regime: Value) -> Option<String> {
        regime_headline(regime.as_object().expect("it is an object"))
    }

    #[test]
    fn the_headline_names_who_is_slowed_down() {
        let slowed = json!([{"workload": "big", "times": 1.18, "because_of": ["db"]}]);
        let blue = headline(json!({"name": "blue", "slowed": slowed, "open": []}));
        assert_eq!(blue.as_deref(), Some("Blue: big runs 1.18 x slower because of db. P2M keeps its rate."));
        let both = headline(json!({"name": "not known", "slowed": slowed, "open": ["a", "b"]}));
        assert_eq!(both.as_deref(), Some("big runs 1.18 x slower because of db. Not known: a; b."));
        let many = json!([{"workload": "w", "times": 2.0, "because_of": ["a", "b", "c"]}]);
        let red = headline(json!({"name": "red", "slowed": many}));
        assert_eq!(red.as_deref(), Some("Red: w runs 2.00 x slower because of a and 2 others. P2M is out of credits."));
    }

    #[test]
    fn what_is_not_known_is_said() {
        let open = headline(json!({"name": "uncontended", "slowed": [], "open": ["a"]}));
        assert_eq!(open.as_deref(), Some("Uncontended: no workload slows another down by 5 % or more. Not known: a."));
        assert_eq!(headline(json!({"name": "not known", "slowed": []})).as_deref(), Some("Not known."));
        assert_eq!(headline(json!({"name": "mauve"})).as_deref(), Some("Not known."));
        assert_eq!(headline(json!({})), None);
        assert_eq!(headline(json!({"name": "blue", "slowed": [{"workload": 3}]})), None);
    }
}
