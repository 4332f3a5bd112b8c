//! The picture of UPI links between sockets.

use crate::runs::{between, domain_row, read_run};
use hostnet_report::picture_section;
use serde_json::{json, Value};

fn section(count: usize) -> String {
    let pairs = (0..count).flat_map(|one| (0..count).filter(move |other| one != *other).map(move |other| (one, other)));
    let links: Vec<Value> = pairs
        .map(|(one, other)| {
            let busy = 0.01 * (8 * one + other) as f64;
            json!({"from": one, "to": other, "busy_share": busy, "gb_per_s": 1.0, "line_gb_per_s": 0.5})
        })
        .collect();
    let run = json!({
        "summary": {"domains": [domain_row("LFB", "all", 12.0, 24.0)], "upi": links},
        "manifest": {"config": {"server": {"sockets": count}}},
    });
    picture_section(&read_run(&run)).expect("there is a pool").to_string()
}

#[test]
fn every_direction_has_its_share() {
    for count in 2..9 {
        let section = section(count);
        let mut titles = between(&section, "<title>socket ", ":");
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count * (count - 1));
        let digits = if count > 4 { 0 } else { 1 };
        for title in titles {
            let (one, other) = title.split_once(" to ").expect("it names both");
            let [one, other] = [one, other].map(|number| number.parse::<usize>().expect("it is a number"));
            let share = format!("{:.digits$}\u{a0}%</text>", (8 * one + other) as f64);
            assert!(section.contains(&share), "{share}");
        }
    }
}

#[test]
fn an_idle_direction_is_thin_and_a_busy_one_is_thick() {
    let section = section(4);
    let widths = |class: &str| -> Vec<f64> {
        let lines = section.split("<line").filter(|line| line.contains(&format!("class=\"{class}\"")));
        lines.filter_map(|line| between(line, "stroke-width=\"", "\"").first()?.parse().ok()).collect()
    };
    assert!(widths("upi").iter().all(|&width| width > 1.5 && width < 9.0));
    assert!(widths("upi idle").is_empty(), "each has some load");
}
