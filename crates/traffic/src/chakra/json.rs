//! Reads traces as JSON: the messages of a file as protobuf maps them to JSON, one object after the other.

use super::messages::{Attribute, BoolList, Inputs, RawNode};
use super::{at, ChakraError};
use serde_json::{Deserializer, Map, Value};
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Size of the largest object of a file, in bytes. An object is longer than the message it represents.
const OBJECT_BYTES_MAX: u64 = 1 << 23;

/// Names of the node types, in the order of their numbers.
const KINDS: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// Returns true if a file begins as JSON: with a bracket and a character that may follow it. The bracket alone may
/// also be the length of a protobuf message.
pub(super) fn is_json(head: &[u8]) -> bool {
    let mut visible = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    match (visible.next(), visible.next()) {
        (Some(b'{'), Some(next)) => matches!(next, b'"' | b'}'),
        (Some(b'['), Some(next)) => matches!(next, b'{' | b']'),
        _ => false,
    }
}

/// Returns the nodes of a file, each with the byte at which the object before it ends.
pub(super) fn nodes(from: impl Read) -> Result<impl Iterator<Item = Result<(u64, RawNode), ChakraError>>, ChakraError> {
    let left = Rc::new(Cell::new(OBJECT_BYTES_MAX));
    let mut objects = Deserializer::from_reader(LimitedReader { from, left: Rc::clone(&left) }).into_iter::<Value>();
    let mut next = move || {
        // The limit is renewed per object, so that files may be long and objects may not.
        left.set(OBJECT_BYTES_MAX);
        let begin = objects.byte_offset() as u64;
        let value = objects.next()?;
        Some(value.map(|value| (begin, value)).map_err(|error| at(begin, format!("no JSON of Chakra: {error}"))))
    };
    // Checked before any node: a file of another kind would fail later with a message that explains nothing.
    check_first(next())?;
    Ok(std::iter::from_fn(move || {
        Some(next()?.and_then(|(begin, value)| Ok((begin, node(&value).map_err(|fault| at(begin, fault))?))))
    }))
}

/// Checks that the first object is the metadata of the file.
fn check_first(first: Option<Result<(u64, Value), ChakraError>>) -> Result<(), ChakraError> {
    const WANTED: &str = "JSON is read as chakra_jsonizer writes it, one object after the other";
    match first.transpose()? {
        Some((_, Value::Object(object))) if object.contains_key("workload_graph") => {
            Err(at(0, format!("JSON of one object with a workload_graph: {WANTED}; or give the .et file")))
        }
        // A node has an id, GlobalMetadata has none.
        Some((_, Value::Object(object))) if !object.contains_key("id") => Ok(()),
        _ => Err(at(0, format!("JSON that does not begin with an object of GlobalMetadata: {WANTED}"))),
    }
}

/// A reader that fails after a given number of bytes, unless the limit is renewed.
struct LimitedReader<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(buffer.len());
        // An empty buffer asks for nothing: 0 is the right answer then, and not the end of the file.
        if most == 0 && !buffer.is_empty() {
            return Err(io::Error::other(format!("an object of more than {OBJECT_BYTES_MAX} B")));
        }
        let read = self.from.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

/// Converts an object to a node. The error is a sentence.
fn node(value: &Value) -> Result<RawNode, String> {
    let object = value.as_object().ok_or("no object of a node")?;
    let whole = |names| field(object, names).map_or(Ok(0), |value| natural(value, names));
    let list = |names| field(object, names).map_or(Ok(Vec::new()), |value| naturals(value, names));
    let inputs = object.get("inputs").and_then(|inputs| inputs.get("values")).and_then(Value::as_str);
    let attr =
        object.get("attr").map_or(Ok(&[][..]), |list| list.as_array().map(Vec::as_slice).ok_or("attr is no list"));
    Ok(RawNode {
        id: whole(["id", "id"])?,
        name: object.get("name").and_then(Value::as_str).unwrap_or_default().into(),
        kind: object.get("type").map_or(Ok(0), kind)?,
        ctrl_deps: list(["ctrlDeps", "ctrl_deps"])?,
        data_deps: list(["dataDeps", "data_deps"])?,
        duration_micros: whole(["durationMicros", "duration_micros"])?,
        inputs: inputs.map(|values| Inputs { values: values.into() }),
        attr: attr?.iter().map(attribute).collect::<Result<_, _>>()?,
    })
}

/// Returns a field by one of its names: the one in JSON, or the one in the definition of the message.
fn field<'a>(object: &'a Map<String, Value>, names: [&str; 2]) -> Option<&'a Value> {
    names.into_iter().find_map(|name| object.get(name))
}

/// Parses a whole number. The JSON of protobuf writes numbers of 64 bits as strings.
fn natural(value: &Value, [name, _]: [&str; 2]) -> Result<u64, String> {
    // Readers of JSON may hold 53 bits only, hence the strings of protobuf.
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.ok_or_else(|| format!("{name} is {value}, no whole number"))
}

fn naturals(value: &Value, names: [&str; 2]) -> Result<Vec<u64>, String> {
    let list = value.as_array().ok_or_else(|| format!("{} is no list", names[0]))?;
    list.iter().map(|value| natural(value, names)).collect()
}

fn kind(value: &Value) -> Result<i32, String> {
    let named = value.as_str().and_then(|name| KINDS.iter().position(|kind| *kind == name)).map(|at| at as i64);
    let number = named.or_else(|| value.as_i64()).and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| format!("type {value} is not known; known are {}", KINDS.join(", ")))
}

fn attribute(value: &Value) -> Result<Attribute, String> {
    let object = value.as_object().ok_or("an attribute is no object")?;
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut attribute = Attribute { name: name.into(), ..Attribute::default() };
    for (key, value) in object {
        let wrong = || format!("attribute {name}: {key} is {value}");
        // One spelling for `int64_val` and `int64Val`.
        match key.replace('_', "").to_ascii_lowercase().as_str() {
            "boolval" => attribute.truth = Some(value.as_bool().ok_or_else(wrong)?),
            "boollist" => attribute.truths = Some(BoolList { values: truths(value).ok_or_else(wrong)? }),
            "stringval" => attribute.text = Some(value.as_str().ok_or_else(wrong)?.into()),
            "doubleval" | "floatval" => attribute.double = Some(float(value).ok_or_else(wrong)?),
            "int32val" | "int64val" | "sint32val" | "sint64val" | "sfixed32val" | "sfixed64val" => {
                attribute.int64 = Some(integer(value).ok_or_else(wrong)?);
            }
            "uint32val" | "uint64val" | "fixed32val" | "fixed64val" => {
                attribute.uint64 = Some(natural(value, [key, key])?);
            }
            _ => {}
        }
    }
    Ok(attribute)
}

fn truths(value: &Value) -> Option<Vec<bool>> {
    let Some(values) = value.get("values") else { return Some(Vec::new()) };
    values.as_array()?.iter().map(Value::as_bool).collect()
}

fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// Parses a float. The JSON of protobuf writes infinities and NaN as strings.
fn float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}
