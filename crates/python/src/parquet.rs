//! Writes result tables as Parquet files. No Python library is used, because loading one takes longer than a short
//! run.
//!
//! A file has one row group, and each column chunk has one page: definition levels, which mark the rows that have a
//! value, then the values (PLAIN), compressed with zstd. The metadata is written in the Thrift compact protocol. Both
//! formats are described at <https://parquet.apache.org/docs/file-format/> and in the `parquet.thrift` of the format,
//! which also defines the field numbers used here.

use hostnet_sim::{Cell, ColumnKind, Table};
use std::io;

const MAGIC: &[u8; 4] = b"PAR1";
const VERSION: i64 = 2;
const CREATED_BY: &str = concat!("hostnet version ", env!("CARGO_PKG_VERSION"));
const ZSTD_LEVEL: i32 = 3;

/// `Encoding`: PLAIN for values, RLE for levels, as runs of equal values or bit-packed.
const PLAIN: i64 = 0;
const RLE: i64 = 3;
/// `CompressionCodec` of the pages.
const ZSTD: i64 = 6;
/// `PageType` of every page.
const DATA_PAGE: i64 = 0;
/// `FieldRepetitionType`: a row may lack a value.
const OPTIONAL: i64 = 1;
/// `ConvertedType` of text columns.
const UTF8: i64 = 0;

/// Returns a table as the bytes of a Parquet file. Equal tables give equal bytes.
///
/// # Errors
/// Fails if zstd fails.
pub(crate) fn bytes_of(table: &Table) -> io::Result<Vec<u8>> {
    let mut file = MAGIC.to_vec();
    let chunks = if table.rows.is_empty() { 0 } else { table.columns.len() };
    let chunks = (0..chunks).map(|column| write_chunk(&mut file, table, column)).collect::<io::Result<Vec<_>>>()?;
    let start = file.len();
    write_footer(&mut file, table, &chunks);
    // A file ends with the length of its footer and the magic bytes (Parquet file format).
    let footer = (file.len() - start) as u32;
    file.extend(footer.to_le_bytes());
    file.extend(MAGIC);
    Ok(file)
}

/// Offset of a column chunk in the file, and its lengths with the page header, compressed and uncompressed.
struct Chunk {
    at: usize,
    bytes: usize,
    bytes_plain: usize,
}

fn write_chunk(file: &mut Vec<u8>, table: &Table, column: usize) -> io::Result<Chunk> {
    let page = page(table, column);
    let compressed = zstd::bulk::compress(&page, ZSTD_LEVEL)?;
    let at = file.len();
    let mut header = Struct::new(file);
    header.int(1, Int::I32, DATA_PAGE);
    header.int(2, Int::I32, page.len() as i64);
    header.int(3, Int::I32, compressed.len() as i64);
    header.inner(5, |data| {
        data.int(1, Int::I32, table.rows.len() as i64);
        data.int(2, Int::I32, PLAIN);
        data.int(3, Int::I32, RLE);
        data.int(4, Int::I32, RLE);
    });
    header.end();
    let header_bytes = file.len() - at;
    file.extend(&compressed);
    Ok(Chunk { at, bytes: header_bytes + compressed.len(), bytes_plain: header_bytes + page.len() })
}

/// Returns the content of a page: a bit per row, set if the row has a value, and the values.
fn page(table: &Table, column: usize) -> Vec<u8> {
    let cells = || table.rows.iter().map(|row| &row[column]);
    let groups = table.rows.len().div_ceil(8);
    let mut levels = Vec::new();
    // Header of a bit-packed run: the number of groups of eight values, and a 1.
    varint(&mut levels, (groups as u64) << 1 | 1);
    let bits = levels.len();
    levels.resize(bits + groups, 0);
    for (row, _) in cells().enumerate().filter(|(_, cell)| **cell != Cell::Empty) {
        levels[bits + row / 8] |= 1 << (row % 8);
    }
    // Levels of a data page follow their length (Parquet, Encodings.md, RLE).
    let mut page = (levels.len() as u32).to_le_bytes().to_vec();
    page.extend(levels);
    for cell in cells() {
        match cell {
            Cell::Integer(number) => page.extend(number.to_le_bytes()),
            Cell::Number(number) => page.extend(number.to_le_bytes()),
            Cell::Text(text) => {
                page.extend((text.len() as u32).to_le_bytes());
                page.extend(text.as_bytes());
            }
            Cell::Empty => (),
        }
    }
    page
}

fn write_footer(file: &mut Vec<u8>, table: &Table, chunks: &[Chunk]) {
    let rows = table.rows.len() as i64;
    let mut metadata = Struct::new(file);
    metadata.int(1, Int::I32, VERSION);
    metadata.list(2, table.columns.len() + 1, |index, element| match index.checked_sub(1) {
        None => {
            element.text(4, "schema");
            element.int(5, Int::I32, table.columns.len() as i64);
        }
        Some(column) => describe(table.columns[column], element),
    });
    metadata.int(3, Int::I64, rows);
    metadata.list(4, usize::from(!chunks.is_empty()), |_, group| {
        group.list(1, chunks.len(), |index, column| {
            column.int(2, Int::I64, chunks[index].at as i64);
            column.inner(3, |data| locate(table.columns[index], &chunks[index], rows, data));
        });
        group.int(2, Int::I64, chunks.iter().map(|chunk| chunk.bytes_plain as i64).sum());
        group.int(3, Int::I64, rows);
    });
    metadata.text(6, CREATED_BY);
    metadata.end();
}

/// Writes the `SchemaElement` of a column.
fn describe((name, kind): (&str, ColumnKind), element: &mut Struct<'_>) {
    element.int(1, Int::I32, type_of(kind));
    element.int(3, Int::I32, OPTIONAL);
    element.text(4, name);
    if kind == ColumnKind::Text {
        element.int(6, Int::I32, UTF8);
        // STRING is field 1 of the union LogicalType (parquet.thrift).
        element.inner(10, |logical| logical.inner(1, |_| ()));
    }
}

/// Writes the `ColumnMetaData` of a column.
fn locate((name, kind): (&str, ColumnKind), chunk: &Chunk, rows: i64, data: &mut Struct<'_>) {
    data.int(1, Int::I32, type_of(kind));
    data.ints(2, &[PLAIN, RLE]);
    data.texts(3, &[name]);
    data.int(4, Int::I32, ZSTD);
    data.int(5, Int::I64, rows);
    data.int(6, Int::I64, chunk.bytes_plain as i64);
    data.int(7, Int::I64, chunk.bytes as i64);
    data.int(9, Int::I64, chunk.at as i64);
}

/// Returns the `Type` of a column: INT64, DOUBLE or BYTE_ARRAY.
fn type_of(kind: ColumnKind) -> i64 {
    match kind {
        ColumnKind::Integer => 2,
        ColumnKind::Number => 5,
        ColumnKind::Text => 6,
    }
}

/// The two integer types of Thrift that the format uses, with their type ids in the compact protocol.
#[derive(Clone, Copy)]
enum Int {
    I32 = 5,
    I64 = 6,
}

const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A Thrift struct that is being written.
struct Struct<'a> {
    bytes: &'a mut Vec<u8>,
    last: u8,
}

impl<'a> Struct<'a> {
    fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, last: 0 }
    }

    /// Writes a field header. Fields must be written in the order of their numbers.
    fn field(&mut self, number: u8, kind: u8) {
        // A field header holds the distance to the previous field number (Thrift compact protocol).
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn int(&mut self, number: u8, kind: Int, value: i64) {
        self.field(number, kind as u8);
        zigzag(self.bytes, value);
    }

    fn text(&mut self, number: u8, value: &str) {
        self.field(number, BINARY);
        binary(self.bytes, value);
    }

    fn ints(&mut self, number: u8, values: &[i64]) {
        self.head_of_list(number, Int::I32 as u8, values.len());
        values.iter().for_each(|&value| zigzag(self.bytes, value));
    }

    fn texts(&mut self, number: u8, values: &[&str]) {
        self.head_of_list(number, BINARY, values.len());
        values.iter().for_each(|value| binary(self.bytes, value));
    }

    fn inner(&mut self, number: u8, fill: impl FnOnce(&mut Struct<'_>)) {
        self.field(number, STRUCT);
        let mut inner = Struct::new(self.bytes);
        fill(&mut inner);
        inner.end();
    }

    fn list(&mut self, number: u8, count: usize, fill: impl Fn(usize, &mut Struct<'_>)) {
        self.head_of_list(number, STRUCT, count);
        for index in 0..count {
            let mut element = Struct::new(self.bytes);
            fill(index, &mut element);
            element.end();
        }
    }

    fn head_of_list(&mut self, number: u8, kind: u8, count: usize) {
        self.field(number, LIST);
        match u8::try_from(count) {
            // The header byte holds sizes of up to 14.
            Ok(few @ 0..=14) => self.bytes.push(few << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                varint(self.bytes, count as u64);
            }
        }
    }

    fn end(self) {
        self.bytes.push(0);
    }
}

fn binary(bytes: &mut Vec<u8>, value: &str) {
    varint(bytes, value.len() as u64);
    bytes.extend(value.as_bytes());
}

fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    // ZigZag keeps small negative numbers short.
    varint(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Writes a number in groups of seven bits, the lowest group first.
fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
