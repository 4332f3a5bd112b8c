//! Raises limits in configurations: the value of a key, and those of the keys that change with it.

use hostnet_analysis::limits::{Key, Scale, RAISE};
use hostnet_report::numbers::format_general;
use serde_json::{json, Value};

/// Credits that are useful only for whole packets, and the key of the packet size.
const PACKETS: [(&str, &str); 2] = [("pcie.posted_lines", "pcie.mps"), ("pcie.nonposted_lines", "pcie.mrrs")];
/// Key of the lines in flight of a CCD, which its cores share evenly.
const ENTRIES_OF_CCDS: &str = "chiplets.entries";
/// Key that defaults to half of `cha.tor.entries`.
const ENTRIES_OF_OTHERS: &str = "upi.tor_entries";
/// Significant digits of quantities that were multiplied.
const DIGITS: usize = 6;

/// A configuration with a value raised.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    /// Value of the key before.
    pub before: Value,
    /// Value of the key after.
    pub after: Value,
    /// The configuration.
    pub config: Value,
}

/// Raises the limit of a key in a complete configuration. Returns `None` if that is not possible.
#[must_use]
pub(super) fn raise_key(config: &Value, key: &Key, factor: f64) -> Option<Raised> {
    raise_path(config, key.path, key.along, key.scale, factor)
}

/// Raises the value at a dotted path of a complete configuration, and those at the paths `along` where they are given.
/// Returns `None` if that is not possible.
///
/// Sockets with a table of their own are raised together with the others.
#[must_use]
pub fn raise_path(config: &Value, path: &str, along: &[&str], scale: Scale, factor: f64) -> Option<Raised> {
    let before = match value_at(config, path) {
        None if path == ENTRIES_OF_OTHERS && config["upi"].is_object() => {
            json!(value_at(config, "cha.tor.entries")?.as_u64()? / 2)
        }
        found => found?.clone(),
    };
    let after = match packet_of(config, path) {
        1 => raise_value(&before, scale, factor)?,
        packet => json!(to_whole_packets(before.as_u64()?, packet, factor)),
    };
    if equal(&after, &before) {
        return None;
    }
    let mut changed = config.clone();
    let sockets = config["socket"].as_object().into_iter().flatten();
    for table in std::iter::once(String::new()).chain(sockets.map(|(number, _)| format!("socket.{number}."))) {
        for key in std::iter::once(&path).chain(along) {
            let place = format!("{table}{key}");
            let raised = match value_at(config, &place) {
                _ if table.is_empty() && *key == path => Some(after.clone()),
                Some(value) if *value == before => Some(after.clone()),
                Some(value) => raise_value(value, scale, factor),
                None => None,
            };
            if let Some(raised) = raised {
                set_value_at(&mut changed, &place, raised);
            }
        }
    }
    Some(Raised { before, after, config: changed })
}

/// Returns the factor that a raise by a quarter amounts to in whole numbers or packets.
pub(super) fn effective_factor(key: &Key, raised: &Raised) -> f64 {
    if key.scale != Scale::Count {
        return RAISE;
    }
    let packet = packet_of(&raised.config, key.path);
    let packets = |value: &Value| value.as_u64().unwrap_or(0) / packet;
    packets(&raised.after) as f64 / packets(&raised.before).max(1) as f64
}

/// Raises a value by a factor. Returns `None` if the value has no such raise.
#[must_use]
pub fn raise_value(value: &Value, scale: Scale, factor: f64) -> Option<Value> {
    match scale {
        Scale::Count => Some(json!((value.as_u64()? as f64 * factor).ceil() as u64)),
        Scale::Whole => {
            let count = value.as_u64()?;
            (factor.fract() == 0.0).then(|| json!(count * factor as u64))
        }
        Scale::Exact => {
            let count = value.as_u64()? as f64 * factor;
            (count.fract() == 0.0).then(|| json!(count as u64))
        }
        Scale::Rate => multiply_quantity(value, factor),
        Scale::Less => match value.as_f64() {
            Some(number) => Some(json!(number / factor)),
            None => multiply_quantity(value, 1.0 / factor),
        },
        Scale::Grade | Scale::Asked => None,
    }
}

/// Multiplies a quantity and keeps its unit.
fn multiply_quantity(value: &Value, factor: f64) -> Option<Value> {
    let (number, unit) = quantity(value)?;
    Some(json!(format!("{} {unit}", format_general(number * factor, DIGITS))))
}

/// Divides a quantity such as "10 GB/s" or "1e-3 us" into its number and its unit.
fn quantity(value: &Value) -> Option<(f64, &str)> {
    let text = value.as_str()?;
    // The longest number that the text begins with: units begin with a letter, and none is a number with an `e`.
    let ends = (1..text.len()).rev().filter(|&end| text.is_char_boundary(end));
    let (number, unit) = ends.map(|end| text.split_at(end)).find(|(number, _)| is_number(number))?;
    Some((number.parse().ok()?, unit.trim_start()))
}

/// Returns true if a text is a number: digits with a point, and possibly an exponent.
fn is_number(text: &str) -> bool {
    text.ends_with(|last: char| last.is_ascii_digit() || last == '.') && text.parse::<f64>().is_ok()
}

/// Returns the number of credits that are useful only together: the lines of a packet, or one for each core of a CCD; 1
/// for other limits.
fn packet_of(config: &Value, path: &str) -> u64 {
    if path == ENTRIES_OF_CCDS {
        let count = |path| value_at(config, path).and_then(Value::as_u64);
        return count("core.count").zip(count("chiplets.ccds")).map_or(1, |(cores, ccds)| (cores / ccds.max(1)).max(1));
    }
    let size = PACKETS.iter().find(|(credits, _)| *credits == path).and_then(|(_, size)| value_at(config, size));
    let bytes = match size.and_then(quantity) {
        Some((number, "KiB")) => number * 1024.0,
        Some((number, _)) => number,
        None => return 1,
    };
    (bytes.round() as u64 / 64).max(1)
}

/// Returns credits for more whole packets.
fn to_whole_packets(lines: u64, packet: u64, factor: f64) -> u64 {
    ((lines / packet).max(1) as f64 * factor).ceil() as u64 * packet
}

/// Returns true if two values are equal; numbers are compared by value, whole or not.
fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Returns the value at a dotted path; `None` without one.
fn value_at<'a>(config: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(config, |table, key| table.get(key)).filter(|value| !value.is_null())
}

/// Sets the value at a dotted path whose table exists.
fn set_value_at(config: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(config, |table, key| &mut table[key]);
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &'static str, scale: Scale, along: &'static [&'static str]) -> Key {
        Key { path, what: "it", scale, along }
    }

    #[test]
    fn each_scale_raises_its_values() {
        let raised = [
            (json!(3), Scale::Count, 1.25, Some(json!(4))),
            (json!(16), Scale::Whole, 2.0, Some(json!(32))),
            (json!(16), Scale::Whole, 1.25, None),
            (json!(6), Scale::Exact, 1.25, None),
            (json!(8), Scale::Exact, 1.25, Some(json!(10))),
            (json!("3.465 GB/s"), Scale::Rate, 2.0, Some(json!("6.93 GB/s"))),
            (json!("1e-3us"), Scale::Less, 2.0, Some(json!("0.0005 us"))),
            (json!("4.39 ns"), Scale::Less, 2.0, Some(json!("2.195 ns"))),
            (json!(30), Scale::Less, 1.25, Some(json!(24.0))),
            (json!("none"), Scale::Rate, 2.0, None),
            (json!("DDR4_2933"), Scale::Grade, 2.0, None),
        ];
        for (value, scale, factor, expected) in raised {
            assert_eq!(raise_value(&value, scale, factor), expected, "{value} {scale:?}");
        }
    }

    #[test]
    fn entries_of_a_ccd_are_raised_by_one_for_each_core() {
        let config = json!({ "core": { "count": 96 }, "chiplets": { "ccds": 12, "entries": 16 } });
        let entries = key("chiplets.entries", Scale::Count, &[]);
        let raised = raise_key(&config, &entries, 1.25).expect("it is a count");
        assert_eq!((raised.before.clone(), raised.after.clone()), (json!(16), json!(24)));
        assert!((effective_factor(&entries, &raised) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_raise_changes_the_tables_of_sockets_and_what_follows_the_key() {
        let config = json!({
            "cha": { "tor": { "entries": 14, "write_entries": 7 } },
            "socket": { "0": { "cha": { "tor": { "entries": 14 } } }, "1": { "cha": { "tor": { "entries": 20 } } } },
        });
        let tor = key("cha.tor.entries", Scale::Count, &["cha.tor.write_entries"]);
        let raised = raise_key(&config, &tor, 2.0).expect("it is a count");
        let expected = json!({
            "cha": { "tor": { "entries": 28, "write_entries": 14 } },
            "socket": { "0": { "cha": { "tor": { "entries": 28 } } }, "1": { "cha": { "tor": { "entries": 40 } } } },
        });
        assert_eq!((raised.before, raised.after, raised.config), (json!(14), json!(28), expected));
    }

    #[test]
    fn credits_grow_by_whole_packets() {
        let config = json!({ "pcie": { "posted_lines": 10, "mps": "256 B", "nonposted_lines": 8, "mrrs": "1 KiB" } });
        let posted = key("pcie.posted_lines", Scale::Count, &[]);
        let raised = raise_key(&config, &posted, 1.25).expect("it is a count");
        assert_eq!(raised.after, json!(12));
        assert!((effective_factor(&posted, &raised) - 1.5).abs() < 1e-12);
        let nonposted = key("pcie.nonposted_lines", Scale::Count, &[]);
        assert_eq!(raise_key(&config, &nonposted, 1.25).expect("it is a count").after, json!(32));
    }

    #[test]
    fn what_is_absent_or_does_not_grow_is_not_raised() {
        let config = json!({ "upi": {}, "cha": { "tor": { "entries": 15 } }, "a": 0 });
        assert_eq!(raise_key(&config, &key("b", Scale::Count, &[]), 2.0), None);
        assert_eq!(raise_key(&config, &key("a", Scale::Count, &[]), 2.0), None);
        let others = raise_key(&config, &key("upi.tor_entries", Scale::Count, &[]), 2.0).expect("it has a default");
        assert_eq!((others.before, others.after), (json!(7), json!(14)));
    }
}
