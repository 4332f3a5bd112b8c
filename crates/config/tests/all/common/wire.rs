//! Execution traces of Chakra, encoded byte by byte.

/// Encodes a varint of protocol buffers.
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Encodes a numeric field.
pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

pub fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// Encodes a length-prefixed message of a file.
pub fn message(fields: &[Vec<u8>]) -> Vec<u8> {
    let whole = fields.concat();
    [varint(whole.len() as u64), whole].concat()
}

/// Encodes a node: number, type, predecessors and attributes.
pub fn node(id: u64, kind: u64, after: &[u64], attributes: &[(&str, u64)]) -> Vec<u8> {
    let attributes: Vec<Vec<u8>> = attributes.iter().map(|(name, value)| named(name, &number(13, *value))).collect();
    exact(id, kind, after, 100, &attributes)
}

/// Encodes an attribute with an encoded value.
pub fn named(name: &str, value: &[u8]) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), value.to_vec()].concat())
}

/// Encodes a node that computes for `micros` us, with encoded attributes.
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
