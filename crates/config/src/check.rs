//! Checks a tree of values against the schema and describes violations in words.

use crate::code::Code;
use crate::cores::{parse_cores, parse_list};
use crate::document::join;
use crate::error::{suggestion, Fault, Issue};
use crate::units::{format, parse, shorten, Dimension};
use crate::ways::parse_ways;
use hostnet_params::{EcnSpec, PowerAt, Share, StateAt, Template, CHANNEL_MAX, DRIVE_MAX};
use serde_json::{Map, Value};

/// Checks that every key is known and every value has the right type, unit and range. Keys may be absent.
pub(crate) fn check(schema: &Value, value: &Value, path: &str) -> Result<(), Issue> {
    if let Some(choices) = list(schema, "oneOf").or_else(|| list(schema, "anyOf")) {
        return check_choice(choices, value, path);
    }
    // Its type is a list of two, which the match on a single type below would refuse.
    if schema["x-quantity"] == "count or share" {
        return check_watermark(schema, value, path);
    }
    match (schema["type"].as_str(), value) {
        (Some("object"), Value::Object(map)) => check_object(schema, map, path),
        (Some("array"), Value::Array(items)) => check_array(schema, items, path),
        (Some("string"), Value::String(text)) => check_string(schema, text, path),
        (Some("boolean"), Value::Bool(_)) => Ok(()),
        (Some("integer"), Value::Number(number)) if number.is_u64() || number.is_i64() => {
            check_range(schema, value, path)
        }
        (Some("number"), Value::Number(_)) => check_range(schema, value, path),
        (Some("integer" | "number"), Value::String(text)) if no_number(text).is_some() => {
            let reason = no_number(text).unwrap_or_default();
            let message = format!("{} {reason}; {}", shorten(text).trim_matches('"'), range_or_kind(schema));
            Err(Issue::new(Code::OutOfRange, path, message))
        }
        _ => Err(Issue::new(
            Code::WrongType,
            path,
            format!("{} is {}; {} is wanted", show(value), kind(value), wanted(schema)),
        )),
    }
}

/// Required key that is absent, with a description of its value.
#[derive(Debug, PartialEq)]
pub(crate) struct Missing {
    pub(crate) path: String,
    wanted: String,
}

impl Missing {
    /// Converts the missing key to an issue that describes the wanted value.
    pub(crate) fn issue(self) -> Issue {
        Issue::new(Code::MissingKey, self.path, format!("missing; {} is wanted", self.wanted))
    }
}

/// Returns the first key that a complete configuration needs and `value` lacks.
pub(crate) fn missing(schema: &Value, value: &Value, path: &str) -> Option<Missing> {
    let choices = list(schema, "oneOf").or_else(|| list(schema, "anyOf"));
    let schema = match choices {
        Some(choices) => choose(choices, value)?,
        None => schema,
    };
    if let Some(items) = value.as_array() {
        let mut items = items.iter().enumerate();
        return items.find_map(|(at, item)| missing(&schema["items"], item, &format!("{path}[{at}]")));
    }
    let map = value.as_object()?;
    let mut required = list(schema, "required").into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.find(|name| !map.contains_key(*name)) {
        // A missing table is reported by its first required key, which is what the user has to write.
        let nested = missing(&schema["properties"][name], &Value::Object(Map::new()), &join(path, name));
        let here = || Missing { path: join(path, name), wanted: wanted(&schema["properties"][name]) };
        return Some(nested.unwrap_or_else(here));
    }
    let known = map.iter().filter_map(|(name, value)| Some((name, value, schema["properties"].get(name)?)));
    for (name, value, property) in known {
        if let Some(found) = missing(property, value, &join(path, name)) {
            return Some(found);
        }
    }
    let extra = &schema["additionalProperties"];
    if extra.is_object() {
        return map.iter().find_map(|(name, value)| missing(extra, value, &join(path, name)));
    }
    None
}

fn list<'a>(schema: &'a Value, key: &str) -> Option<&'a Vec<Value>> {
    schema.get(key).and_then(Value::as_array)
}

/// Returns the alternative that a value is meant to match: by its `kind`, or else by its type.
fn choose<'a>(choices: &'a [Value], value: &Value) -> Option<&'a Value> {
    let kind = value.get("kind");
    let by_kind = choices.iter().find(|choice| kind.is_some() && choice["properties"]["kind"].get("const") == kind);
    let name = match value {
        // With kinds, a table without a known one matches nothing: its type alone would select the first alternative.
        Value::Object(_) if choices.iter().any(|choice| choice["properties"]["kind"].get("const").is_some()) => {
            return by_kind;
        }
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(number) if !number.is_f64() => "integer",
        _ => return None,
    };
    choices.iter().find(|choice| choice["type"] == name)
}

fn check_choice(choices: &[Value], value: &Value, path: &str) -> Result<(), Issue> {
    if choices.iter().all(|choice| choice.get("const").is_some()) {
        let names = choices.iter().filter_map(|choice| choice["const"].as_str());
        return check_name(names, value, path);
    }
    if let Some(choice) = choose(choices, value) {
        return check(choice, value, path);
    }
    let kinds: Vec<&str> = choices.iter().filter_map(|choice| choice["properties"]["kind"]["const"].as_str()).collect();
    if let (Value::Object(map), false) = (value, kinds.is_empty()) {
        return match map.get("kind") {
            Some(kind) => check_name(kinds, kind, &join(path, "kind")),
            None => Err(Issue::new(
                Code::MissingKey,
                join(path, "kind"),
                format!("missing; one of {} is wanted", kinds.join(", ")),
            )),
        };
    }
    let mut wanted: Vec<String> = choices.iter().map(wanted).collect();
    wanted.dedup();
    let message = format!("{} is {}; {} is wanted", show(value), kind(value), wanted.join(" or "));
    Err(Issue::new(Code::WrongType, path, message))
}

fn check_name<'a>(names: impl IntoIterator<Item = &'a str>, value: &Value, path: &str) -> Result<(), Issue> {
    let names: Vec<&str> = names.into_iter().collect();
    match value {
        Value::String(text) if names.contains(&text.as_str()) => Ok(()),
        Value::String(text) => Err(Issue::new(
            Code::UnknownName,
            path,
            format!("{} is not known; {}", shorten(text), suggestion(text, names)),
        )),
        _ => Err(Issue::new(
            Code::WrongType,
            path,
            format!("{} is {}; one of {} is wanted", show(value), kind(value), names.join(", ")),
        )),
    }
}

fn check_object(schema: &Value, map: &Map<String, Value>, path: &str) -> Result<(), Issue> {
    let properties = schema["properties"].as_object();
    for (name, value) in map {
        let inner = join(path, name);
        if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
            check_or_const(schema, value, &inner)?;
        } else if schema["additionalProperties"].is_object() {
            check_entry_name(name, &inner)?;
            check(&schema["additionalProperties"], value, &inner)?;
        } else {
            let tables = properties.into_iter().flatten();
            let mut within = tables.filter(|(_, table)| table["properties"].get(name).is_some());
            // A key at the wrong level, such as `preset` above all tables, is meant for the only table that knows it.
            if let (Some((table, _)), None) = (within.next(), within.next()) {
                let meant = join(&join(path, table), name);
                return Err(Issue::new(Code::MisplacedKey, inner, format!("unknown key; did you mean \"{meant}\"?")));
            }
            let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
            return Err(Issue::new(Code::UnknownKey, inner, format!("unknown key; {}", suggestion(name, known))));
        }
    }
    Ok(())
}

fn check_or_const(schema: &Value, value: &Value, path: &str) -> Result<(), Issue> {
    match schema.get("const") {
        // `choose` has already compared the only constant, which is the kind.
        Some(_) => Ok(()),
        None => check(schema, value, path),
    }
}

/// Checks a name chosen by the user. Such names appear in tables, file names and dotted paths.
fn check_entry_name(name: &str, path: &str) -> Result<(), Issue> {
    const LENGTH_MAX: usize = 40;
    // Result tables use "all" for rows that sum up all workloads.
    if name == "all" {
        let message = "\"all\" means all of them in tables of results; use another name";
        return Err(Issue::new(Code::MalformedValue, path, message));
    }
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain && !name.is_empty() && name.len() <= LENGTH_MAX {
        return Ok(());
    }
    Err(Issue::new(Code::MalformedValue, path, format!("a name has 1 to {LENGTH_MAX} letters, digits, \"-\" or \"_\"")))
}

fn check_array(schema: &Value, items: &[Value], path: &str) -> Result<(), Issue> {
    let least = schema["minItems"].as_u64().unwrap_or(0);
    let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
    let count = items.len() as u64;
    if count < least || count > most {
        let allowed = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        return Err(Issue::new(Code::WrongCount, path, format!("a list of {count}; {allowed} entries are allowed")));
    }
    for (at, item) in items.iter().enumerate() {
        check(&schema["items"], item, &format!("{path}[{at}]"))?;
        if schema["uniqueItems"] == true && items[..at].contains(item) {
            return Err(Issue::new(Code::Duplicate, path, format!("{} stands twice", show(item))));
        }
    }
    Ok(())
}

fn check_string(schema: &Value, text: &str, path: &str) -> Result<(), Issue> {
    const LENGTH_MAX: usize = 4096;
    let fail = |fault: Fault| Err(fault.blame(path));
    if text.len() > LENGTH_MAX {
        return fail(Fault::new(Code::OutOfRange, format!("{} is longer than {LENGTH_MAX} bytes", shorten(text))));
    }
    if let Some(names) = list(schema, "enum") {
        return check_name(names.iter().filter_map(Value::as_str), &Value::String(text.to_string()), path);
    }
    match schema["x-form"].as_str() {
        Some("cores") => return parse_cores(text).map(|_| ()).or_else(fail),
        Some("channels") => return parse_list(text, "channel", CHANNEL_MAX).map(|_| ()).or_else(fail),
        Some("drives") => return parse_list(text, "drive", DRIVE_MAX).map(|_| ()).or_else(fail),
        Some("ways") => return parse_ways(text).map(|_| ()).or_else(fail),
        Some("ecn") => return EcnSpec::parse(text).map(|_| ()).or_else(fail),
        Some("frequency at voltage") => return StateAt::parse(text).map(|_| ()).or_else(fail),
        Some("power at voltage") => return PowerAt::parse(text).map(|_| ()).or_else(fail),
        Some("template") => return Template::parse(text).map(|_| ()).or_else(fail),
        _ => {}
    }
    let words = list(schema, "x-words");
    if words.is_some_and(|words| words.iter().any(|word| word == text)) {
        return Ok(());
    }
    match schema["x-quantity"].as_str().and_then(Dimension::from_name) {
        Some(dimension) => check_quantity(schema, dimension, text, path),
        None => Ok(()),
    }
}

fn check_watermark(schema: &Value, value: &Value, path: &str) -> Result<(), Issue> {
    match value {
        Value::Number(number) if number.is_u64() || number.is_i64() => check_range(schema, value, path),
        Value::String(text) => Share::parse(text).map(|_| ()).map_err(|fault| fault.blame(path)),
        _ => Err(Issue::new(
            Code::WrongType,
            path,
            format!("{} is {}; {} is wanted", show(value), kind(value), wanted(schema)),
        )),
    }
}

fn check_quantity(schema: &Value, dimension: Dimension, text: &str, path: &str) -> Result<(), Issue> {
    let words = list(schema, "x-words").into_iter().flatten().filter_map(Value::as_str);
    let or_words: String = words.map(|word| format!(" (or \"{word}\")")).collect();
    let fail = |code: Code, message: String| Err(Issue::new(code, path, message + &or_words));
    let value = match parse(text, dimension) {
        Ok(value) => value,
        Err(Fault { code, message }) => return fail(code, message),
    };
    let bound = |key: &str| schema[key].as_str().and_then(|text| parse(text, dimension).ok());
    let least = bound("x-min").unwrap_or(0);
    let most = bound("x-max").unwrap_or(u64::MAX);
    if value < least || value > most {
        let range = format!("{} to {}", format(least, dimension), format(most, dimension));
        return fail(Code::OutOfRange, format!("{} is out of range; {range} is allowed", shorten(text)));
    }
    if schema["x-power-of-two"] == true && !value.is_power_of_two() {
        let near = powers_around(value, least, most).map(|power| format(power, dimension));
        let near = near.collect::<Vec<_>>().join(" or ");
        return fail(Code::NotAMultiple, format!("{} is not a power of two such as {near}", shorten(text)));
    }
    match bound("x-multiple-of") {
        Some(step) if value % step != 0 => {
            fail(Code::NotAMultiple, format!("{} is not a multiple of {}", shorten(text), format(step, dimension)))
        }
        _ => Ok(()),
    }
}

/// Returns the reason why a text that looks like a number is not a valid one. A number that TOML rejects, such as one
/// that is too large, arrives as a text from the command line.
fn no_number(text: &str) -> Option<&'static str> {
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() && !text.contains(|c: char| c.is_ascii_digit()) {
        return Some("is not a finite number");
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    (whole && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()).then_some("is out of range")
}

/// Returns the range that the schema of a number allows, or else the kind of value.
fn range_or_kind(schema: &Value) -> String {
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("{least} to {most} is allowed"),
        (Some(least), None) if schema["type"] == "integer" => format!("{least} to {} is allowed", u64::MAX),
        (Some(least), None) => format!("{least} or more is allowed"),
        _ => format!("{} is wanted", wanted(schema)),
    }
}

fn check_range(schema: &Value, value: &Value, path: &str) -> Result<(), Issue> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    let least = schema["minimum"].as_f64().unwrap_or(f64::MIN);
    let most = schema["maximum"].as_f64().unwrap_or(f64::MAX);
    if !(least..=most).contains(&number) {
        let message = format!("{} is out of range; {}", show(value), range_or_kind(schema));
        return Err(Issue::new(Code::OutOfRange, path, message));
    }
    let whole = value.as_u64().unwrap_or(0);
    if schema["x-power-of-two"] == true && !whole.is_power_of_two() {
        // A value of the wrong size is reported with powers that are in range themselves.
        let near: Vec<String> =
            powers_around(whole, least as u64, most as u64).map(|power| power.to_string()).collect();
        let message = format!("{} is not a power of two such as {}", show(value), near.join(" or "));
        return Err(Issue::new(Code::NotAMultiple, path, message));
    }
    Ok(())
}

/// Returns the nearest powers of two below and above a value that are in range.
fn powers_around(value: u64, least: u64, most: u64) -> impl Iterator<Item = u64> {
    // 2^63 is the largest power of two in 64 bits.
    let above = value.checked_next_power_of_two().unwrap_or(1 << 63);
    [above / 2, above].into_iter().filter(move |power| (least..=most).contains(power))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(number) if number.is_f64() => "a number with decimals",
        Value::Number(_) => "a bare number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => shorten(text),
        Value::Array(_) => "[...]".to_string(),
        Value::Object(_) => "{...}".to_string(),
        other => other.to_string(),
    }
}

/// Describes in words the values that a schema allows.
fn wanted(schema: &Value) -> String {
    if let Some(dimension) = schema["x-quantity"].as_str().and_then(Dimension::from_name) {
        return format!("{} with its unit such as {}", dimension.one(), dimension.shown());
    }
    if let Some(choices) = list(schema, "oneOf").or_else(|| list(schema, "anyOf")) {
        let names: Vec<&str> = choices.iter().filter_map(|choice| choice["const"].as_str()).collect();
        return match names.len() == choices.len() {
            true => format!("one of {}", names.join(", ")),
            false => choices.iter().map(wanted).collect::<Vec<_>>().join(" or "),
        };
    }
    let form = match schema["type"].as_str() {
        _ if schema["x-quantity"] == "count or share" => "a count or a share such as \"80%\"",
        _ if schema["x-form"] == "cores" => "a list of cores such as \"0-3\"",
        _ if schema["x-form"] == "channels" => "a list of channels such as \"0-1\"",
        _ if schema["x-form"] == "drives" => "a list of drives such as \"0-3\"",
        _ if schema["x-form"] == "ways" => "a list of ways such as \"9-10\"",
        _ if schema["x-form"] == "ecn" => "a threshold such as \"65 packets\"",
        _ if schema["x-form"] == "frequency at voltage" => "a frequency at a voltage such as \"0.8 GHz @ 0.65 V\"",
        _ if schema["x-form"] == "power at voltage" => "a power at a voltage such as \"1.92 W @ 0.65 V\"",
        _ if schema["x-form"] == "template" => "two characters such as \"GE\"",
        Some("object") => "a table",
        Some("array") if schema["items"]["type"] == "integer" => "a list of numbers such as [0, 1]",
        Some("array") => "a list",
        Some("string") => "a string",
        Some("boolean") => "true or false",
        Some("integer") => "a whole number",
        _ => "a number",
    };
    form.to_string()
}
