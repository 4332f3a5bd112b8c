//! Short texts for counts in a picture.

use crate::describe::name_device;
use crate::host::{CreditPool, HostView};
use crate::numbers::{format_general, format_number, format_whole};
use crate::words::count_things;
use serde_json::Value;

/// Counts from here on are written in thousands.
const COMPACT: f64 = 10_000.0;

/// Counts from here on are written in millions: the first that would be 1,000 thousands.
const MILLIONS: f64 = 999_500.0;

/// Formats a count, in thousands or millions if it is large.
#[must_use]
pub(crate) fn format_compact(count: f64) -> String {
    if count < COMPACT {
        return format_whole(count);
    }
    let (size, unit) = if count >= MILLIONS { (1e6, "M") } else { (1e3, "k") };
    format!("{}{unit}", format_general(count / size, 3))
}

/// Formats the entries in use of a pool and their total.
pub(super) fn in_use_text(pool: Option<&CreditPool>) -> String {
    let Some(pool) = pool else { return "not used".to_owned() };
    let in_use = pool.in_use();
    let text = if in_use < COMPACT { format_number(in_use) } else { format_compact(in_use) };
    pool.whole.capacity.map_or(text.clone(), |capacity| format!("{text} of {}", format_compact(capacity)))
}

/// Describes the number of parts of a kind, as far as it is known.
pub(super) fn describe_parts(count: Option<usize>, noun: &str) -> String {
    match count {
        Some(0) => format!("No {noun}s"),
        Some(count) => count_things(count, noun),
        None => format!("{}{}s", noun[..1].to_uppercase(), &noun[1..]),
    }
}

/// Describes the number of memory controllers: one per channel or subchannel.
pub(super) fn describe_controllers(host: &HostView) -> String {
    let Some(channels) = host.count("memory.channels").filter(|&channels| channels > 0) else {
        return "Memory controllers".to_owned();
    };
    match host.count("memory.dram.subchannels") {
        Some(subchannels) if subchannels > 1 => format!("Memory controllers, {channels} x {subchannels} subchannels"),
        _ => format!("Memory controllers, {}", count_things(channels, "channel")),
    }
}

/// Returns the numbers of ranks, bank groups and banks per group of a channel, as far as the configuration has them.
pub(super) fn bank_counts(host: &HostView) -> [Option<usize>; 3] {
    ["ranks", "bank_groups", "banks_per_group"]
        .map(|key| host.count(&format!("memory.dram.{key}")).filter(|&count| count > 0))
}

/// Describes the DRAM device and its banks.
pub(super) fn describe_dram(host: &HostView) -> String {
    let device = host.get("memory.device").and_then(Value::as_str).filter(|device| !device.contains('/'));
    let name = device.map_or_else(|| "DRAM".to_owned(), |_| format!("DRAM, {}", name_device(&host.config)));
    match bank_counts(host) {
        [Some(ranks), Some(groups), Some(banks)] => format!("{name}, {} banks each", ranks * groups * banks),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_short() {
        let cases = [(9999.0, "9,999"), (10_000.0, "10k"), (16_384.0, "16.4k"), (999_499.0, "999k")];
        for (count, text) in cases {
            assert_eq!(format_compact(count), text);
        }
        assert_eq!(format_compact(4_194_304.0), "4.19M");
    }

    #[test]
    fn parts_are_counted_as_far_as_known() {
        assert_eq!(
            [None, Some(0), Some(1)].map(|count| describe_parts(count, "core")),
            ["Cores", "No cores", "1 core"]
        );
    }
}
