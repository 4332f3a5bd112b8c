//! Parses TOML and JSON into a tree of values and records the line of every key.

use crate::code::Code;
use crate::error::{ConfigError, Issue};
use hostnet_files::UserFile;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Largest size of a text, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;
/// Largest nesting depth of tables and lists.
const DEPTH_MAX: usize = 16;

/// Language of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text is TOML 1.
    Toml,
    /// The text is JSON with the same tables and keys.
    Json,
}

/// Parsed text.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) tree: Value,
    /// Position of the key at each dotted path; empty for JSON.
    pub(crate) places: BTreeMap<String, TextPlace>,
}

/// Position in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPlace {
    pub(crate) line: usize,
    /// Column in bytes.
    pub(crate) column: usize,
}

/// Syntax error, with its place and message.
pub(crate) struct SyntaxError {
    place: Option<TextPlace>,
    path: String,
    message: String,
}

impl SyntaxError {
    pub(crate) fn in_file(self, file: &str) -> ConfigError {
        let SyntaxError { place, path, message } = self;
        let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
        ConfigError { code: Code::Syntax, file: file.to_string(), line, column, path, message }
    }

    fn new(message: impl Into<String>) -> Self {
        SyntaxError { place: None, path: String::new(), message: message.into() }
    }
}

/// Returns `path` extended by `key`, which is quoted if it is not a bare TOML key.
pub(crate) fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if plain { key.to_string() } else { crate::units::shorten(key) };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}

/// Reads a text file of the user, relative to `base_dir`. `path` is the key that names the file, `what` the kind of
/// file, for messages.
pub(crate) fn read_text(base_dir: &Path, file: &str, path: &str, what: &str) -> Result<String, Issue> {
    let place = base_dir.join(file);
    let fail = |code: Code, reason: &str| Issue::new(code, path, format!("cannot read {place:?}: {reason}"));
    let io = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => fail(Code::FileNotFound, crate::content::NO_SUCH_FILE),
        _ => fail(Code::FileAccess, &error.to_string()),
    };
    let opened = UserFile::open_regular(&place).map_err(io)?;
    let mut bytes = Vec::new();
    // One byte more than allowed is read, so that the parser sees that the file is too long.
    opened.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(fail(Code::MalformedFile, &format!("not text, so not {what}"))),
    }
}

/// Checks that a text is valid TOML or JSON, not too long and not nested too deeply. Its meaning is not checked.
///
/// # Errors
///
/// Returns the first violation; the message calls the text `file`.
pub fn check_syntax(text: &str, format: Format, file: &str) -> Result<(), ConfigError> {
    let document = match format {
        Format::Toml => parse_toml(text),
        Format::Json => parse_json(text),
    };
    document.map(|_| ()).map_err(|error| error.in_file(file))
}

/// Parses TOML.
pub(crate) fn parse_toml(text: &str) -> Result<Document, SyntaxError> {
    check_length(text)?;
    let lines = LineIndex::new(text);
    let root = DeTable::parse(text).map_err(|error| lines.syntax_error(&error))?;
    let mut reader = TomlReader { lines: &lines, found: BTreeMap::new() };
    let tree = reader.table(root.get_ref(), "", 0)?;
    Ok(Document { tree, places: reader.found })
}

/// Parses a single TOML value. `None` if the text is not one, or is a date.
pub(crate) fn parse_toml_value(text: &str) -> Option<Value> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let value = DeValue::parse(text).ok()?;
    if value.get_ref().is_datetime() {
        return None;
    }
    let mut reader = TomlReader { lines: &LineIndex::new(""), found: BTreeMap::new() };
    reader.value(value.get_ref(), "", 0).ok()
}

/// Parses JSON. A key that appears twice in one object is an error.
pub(crate) fn parse_json(text: &str) -> Result<Document, SyntaxError> {
    check_length(text)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let tree = JsonReader.deserialize(&mut deserializer).and_then(|tree| deserializer.end().map(|()| tree));
    let tree = tree.map_err(|error| SyntaxError {
        place: (error.line() > 0).then_some(TextPlace { line: error.line(), column: error.column() }),
        ..SyntaxError::new(format!("not valid JSON: {error}"))
    })?;
    if !tree.is_object() {
        return Err(SyntaxError::new("not a configuration: a JSON object is wanted"));
    }
    // serde_json itself stops at 128 levels, so that the recursion of `depth` stays shallow.
    if depth(&tree, 0) > DEPTH_MAX {
        return Err(SyntaxError::new(format!("nested deeper than {DEPTH_MAX} levels")));
    }
    Ok(Document { tree, places: BTreeMap::new() })
}

fn check_length(text: &str) -> Result<(), SyntaxError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(SyntaxError::new(format!("longer than {} MiB", TEXT_BYTES_MAX >> 20)));
    }
    Ok(())
}

fn depth(value: &Value, above: usize) -> usize {
    let children: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => return above,
    };
    children.into_iter().map(|child| depth(child, above + 1)).max().unwrap_or(above + 1)
}

/// Offsets of the line starts of a text, to convert an offset into a line.
struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        LineIndex { starts }
    }

    fn place(&self, offset: usize) -> TextPlace {
        let line = self.starts.partition_point(|&start| start <= offset);
        TextPlace { line, column: offset - self.starts[line - 1] + 1 }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> SyntaxError {
        let reason = error.message().lines().next().unwrap_or("not valid TOML");
        let Some(span) = error.span() else {
            return SyntaxError::new(format!("not valid TOML: {reason}"));
        };
        let place = self.place(span.start);
        let message = format!("column {}: not valid TOML: {reason}", place.column);
        SyntaxError { place: Some(place), ..SyntaxError::new(message) }
    }
}

struct TomlReader<'a> {
    lines: &'a LineIndex,
    found: BTreeMap<String, TextPlace>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &str, depth: usize) -> Result<Value, SyntaxError> {
        let mut tree = Map::new();
        for (key, value) in table.iter() {
            let name: &str = key.get_ref();
            let path = join(path, name);
            let place = self.lines.place(key.span().start);
            self.found.insert(path.clone(), place);
            if depth >= DEPTH_MAX {
                let message = format!("nested deeper than {DEPTH_MAX} levels");
                return Err(SyntaxError { place: Some(place), path, message });
            }
            let value = self.value(value.get_ref(), &path, depth + 1).map_err(|mut error| {
                error.place = error.place.or(Some(place));
                error
            })?;
            tree.insert(name.to_string(), value);
        }
        Ok(Value::Object(tree))
    }

    fn value(&mut self, value: &DeValue<'_>, path: &str, depth: usize) -> Result<Value, SyntaxError> {
        let fail = |message: String| Err(SyntaxError { place: None, path: path.to_string(), message });
        match value {
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
            // An integer beyond the 64 bits of TOML still has digits here, so that the message can show them.
            DeValue::Integer(digits) => match integer(digits.as_str(), digits.radix()) {
                Some(number) => Ok(Value::Number(number)),
                None => fail(format!("{} is too large", crate::units::shorten(digits.as_str()))),
            },
            DeValue::Float(digits) => match digits.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Ok(Value::Number(number)),
                None => fail(format!("{} is not a finite number", crate::units::shorten(digits.as_str()))),
            },
            DeValue::Datetime(_) => fail("a date has no meaning here".to_string()),
            DeValue::Array(_) | DeValue::Table(_) if depth >= DEPTH_MAX => {
                fail(format!("nested deeper than {DEPTH_MAX} levels"))
            }
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| self.value(item.get_ref(), &format!("{path}[{at}]"), depth + 1));
                items.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            DeValue::Table(table) => self.table(table, path, depth),
        }
    }
}

fn integer(digits: &str, radix: u32) -> Option<Number> {
    // `i128` holds every `u64`, such as a seed, and every `i64`.
    let value = i128::from_str_radix(digits, radix).ok()?;
    u64::try_from(value).map(Number::from).or_else(|_| i64::try_from(value).map(Number::from)).ok()
}

/// Deserializes a [`Value`] and rejects repeated keys.
struct JsonReader;

impl<'de> DeserializeSeed<'de> for JsonReader {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(JsonReader)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            // serde_json would silently keep the last of several equal keys, whereas TOML rejects them.
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {} stands twice", crate::units::shorten(&key))));
            }
            map.insert(key, entries.next_value_seed(JsonReader)?);
        }
        Ok(Value::Object(map))
    }
}
