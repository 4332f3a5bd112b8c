//! Breakdown of the time of the data bus of a memory channel.

use crate::numbers::{describe_share, format_percent};
use crate::row::{Fields, Row};
use hostnet_analysis::binding::CHANNEL;
use hostnet_analysis::evidence::{Load, Stage};
use serde::Deserialize;

/// Describes how long the bus of the limiting channel of a workload transfers lines; `None` if it is not known.
pub(super) fn describe_bus(row: &Row, channels: &[Row]) -> Option<String> {
    if !row.texts("binding").contains(&CHANNEL) {
        return None;
    }
    let stages = row.rows("stages").into_iter().cloned().map(serde_json::Value::Object);
    let used = stages.filter_map(|stage| Stage::deserialize(stage).ok()).filter(|stage| stage.limit == CHANNEL);
    let used = used.filter_map(|stage| match stage.load {
        Load::Rate { used } => Some((used, stage.place)),
        Load::Pool { .. } => None,
    });
    let (used, place) = used.max_by(|(one, first), (other, second)| one.total_cmp(other).then(first.cmp(second)))?;
    let is_it = |row: &&Row| row.whole("channel").is_some_and(|number| format!("channel {number}") == place);
    let busy = channels.iter().find(is_it)?.number("bus_busy_share")?;
    Some(format!(
        "Lines are on the bus of {place} {} of the time. Turns between reads and writes, refreshes and the wait for \
         rows to open count as used too: {} of what it can do.",
        describe_share(busy),
        format_percent(used.min(1.0), 0),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn rows(value: Value) -> Vec<Row> {
        Vec::deserialize(value).expect("they are rows")
    }

    #[test]
    fn the_busiest_channel_is_described_if_channels_limit() {
        let stage =
            |place: &str, used: f64| json!({"limit": CHANNEL, "place": place, "load": {"rate": {"used": used}}});
        let stages = json!([stage("channel 0", 0.5), stage("channel 1", 1.02)]);
        let row = |limit: &str| rows(json!([{"binding": [limit], "stages": stages}])).remove(0);
        let channels = rows(json!([{"channel": 0, "bus_busy_share": 0.4}, {"channel": 1, "bus_busy_share": 0.81}]));
        let text = describe_bus(&row(CHANNEL), &channels).expect("the bus is known");
        assert!(text.starts_with("Lines are on the bus of channel 1 81 % of the time"), "{text}");
        assert!(text.ends_with(": 100 % of what it can do."), "{text}");
        assert_eq!(describe_bus(&row("C2M-Read"), &channels), None);
        assert_eq!(describe_bus(&row(CHANNEL), &[]), None);
    }
}
