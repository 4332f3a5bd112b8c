//! Execution traces of Chakra, byte by byte.

/// A number as protocol buffers have it.
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field with a number, and one with bytes.
pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

pub fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A message of a file.
pub fn message(fields: &[Vec<u8>]) -> Vec<u8> {
    let whole = fields.concat();
    [varint(whole.len() as u64), whole].concat()
}

/// A node: its number, its type, the nodes that it waits for, and its attributes.
pub fn node(id: u64, kind: u64, after: &[u64], attributes: &[(&str, u64)]) -> Vec<u8> {
    let attributes: Vec<Vec<u8>> = attributes.iter().map(|(name, value)| named(name, &number(13, *value))).collect();
    exact(id, kind, after, 100, &attributes)
}

/// An attribute with its value as it stands in the file.
pub fn named(name: &str, value: &[u8]) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), value.to_vec()].concat())
}

/// A node that computes so many microseconds, with attributes as they stand in the file.
pub fn exact(id: u64, kind: u64, after: &[u64], micros: u64, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut fields = vec![number(1, id), bytes(2, b"a name"), number(3, kind), number(7, micros)];
    fields.extend(after.iter().map(|&other| number(5, other)));
    fields.extend(attributes.iter().cloned());
    message(&fields)
}

pub fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    [message(&[bytes(1, b"0.0.4")]), nodes.concat()].concat()
}

pub fn sum(id: u64, after: &[u64], bytes: u64) -> Vec<u8> {
    node(id, 7, after, &[("comm_type", 0), ("comm_size", bytes)])
}
