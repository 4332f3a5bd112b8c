//! Reads floats from files of NumPy (format versions 1.0 to 3.0, `numpy.lib.format`).

use hostnet_files::UserFile;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// Largest number of floats of a file.
pub const NPY_FLOATS_MAX: u64 = 1 << 28;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Largest header, in bytes; that of an array of floats has about a hundred.
const HEADER_MAX: u32 = 4096;

/// The floats of a file, in the order in which they are stored.
pub struct NpyFloats<R> {
    reader: R,
    floats: u64,
    left: u64,
}

impl NpyFloats<BufReader<UserFile>> {
    /// Opens a file with an array of little-endian float32 of any shape.
    ///
    /// # Errors
    /// Fails if the file cannot be read or contains something else, which the text names.
    pub fn open(file: &Path) -> Result<Self, String> {
        // A pipe or a device has no length to check.
        let opened = UserFile::open_regular(file).map_err(|error| no_file(&error))?;
        let length = opened.length().map_err(|error| no_file(&error))?;
        let mut npy = Self::new(BufReader::with_capacity(1 << 16, opened))?;
        let begins = npy.reader.stream_position().map_err(|error| error.to_string())?;
        let (there, says) = (length.saturating_sub(begins), 4 * npy.floats);
        // Bytes behind the array are refused here, missing ones when they are read.
        if there > says {
            return Err(format!("{there} B behind its header; {} of float32 are {says} B", npy.floats));
        }
        Ok(npy)
    }
}

fn no_file(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

impl<R: Read> NpyFloats<R> {
    /// Like [`NpyFloats::open`], but reads from any source.
    ///
    /// # Errors
    /// Returns the same errors as [`NpyFloats::open`].
    pub fn new(mut reader: R) -> Result<Self, String> {
        let header = header(&mut reader)?;
        let descr = text_of(&header, "descr")?;
        if descr != "'<f4'" {
            let advice = "must be float32; numpy.save(FILE, values.astype(\"float32\")) writes it";
            return Err(format!("an array of {descr}; {advice}"));
        }
        let floats = floats_of(text_of(&header, "shape")?)?;
        Ok(Self { reader, floats, left: floats })
    }

    /// Returns the number of floats of the array, 1 to [`NPY_FLOATS_MAX`].
    #[must_use]
    pub fn floats(&self) -> u64 {
        self.floats
    }

    /// Reads the next floats, up to the length of `into`. Returns their number; 0 at the end.
    ///
    /// # Errors
    /// Fails if the file ends before its array does, or cannot be read.
    pub fn read(&mut self, into: &mut [f32]) -> Result<usize, String> {
        // Never beyond the array: what follows is not part of it.
        let count = self.left.min(into.len() as u64) as usize;
        let mut bytes = [0; 4];
        for float in &mut into[..count] {
            self.reader.read_exact(&mut bytes).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!("it ends before the {} floats that it says it has", self.floats)
                }
                _ => error.to_string(),
            })?;
            *float = f32::from_le_bytes(bytes);
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// Reads the text of the header, a Python dictionary.
fn header(reader: &mut impl Read) -> Result<String, String> {
    const NOT_NPY: &str = "not a file of NumPy; numpy.save writes such";
    let not_npy = |_| NOT_NPY.to_owned();
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(not_npy)?;
    if !start.starts_with(MAGIC) {
        return Err(NOT_NPY.to_owned());
    }
    let length = match (start[6], start[7]) {
        // Version 1.0 has two bytes of length, later ones four (numpy.lib.format).
        (1, 0) => {
            let mut length = [0; 2];
            reader.read_exact(&mut length).map_err(not_npy)?;
            u32::from(u16::from_le_bytes(length))
        }
        (2 | 3, 0) => {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(not_npy)?;
            u32::from_le_bytes(length)
        }
        (major, minor) => return Err(format!("version {major}.{minor} of the format; known are 1.0, 2.0 and 3.0")),
    };
    // Before memory is taken: a damaged length may be 4 GiB.
    if length > HEADER_MAX {
        return Err(format!("a header of {length} B; that of an array of floats is shorter than {HEADER_MAX} B"));
    }
    let mut text = vec![0; length as usize];
    reader.read_exact(&mut text).map_err(not_npy)?;
    String::from_utf8(text).map_err(|_| "a header that is no text".to_owned())
}

/// Returns the value of a key in the header, as it is written there.
fn text_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let wrong = || format!("a header without {key}");
    let (_, after) = header.split_once(&format!("'{key}':")).ok_or_else(wrong)?;
    let after = after.trim_start();
    let end = match after.strip_prefix('(') {
        // A tuple has commas inside, so it ends at its bracket; + 2 counts both brackets.
        Some(inside) => inside.find(')').map(|at| at + 2),
        None => after.find([',', '}']),
    };
    Ok(after[..end.ok_or_else(wrong)?].trim_end())
}

/// Returns the number of floats of an array of that shape.
fn floats_of(shape: &str) -> Result<u64, String> {
    let wrong = || format!("an array of shape {shape}");
    let inside = shape.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    let mut floats = 1_u64;
    for size in sizes {
        let size: u64 = size.parse().map_err(|_| wrong())?;
        // A shape of a damaged file may exceed 64 bits.
        floats = floats.checked_mul(size).ok_or_else(wrong)?;
    }
    match floats {
        0 => Err("an array without floats".to_owned()),
        1..=NPY_FLOATS_MAX => Ok(floats),
        _ => Err(format!("an array of {floats} floats; {NPY_FLOATS_MAX} at most are read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn floats(bytes: &[u8]) -> Result<Vec<f32>, String> {
        let mut npy = NpyFloats::new(bytes)?;
        let (mut all, mut some) = (Vec::new(), [0.0; 7]);
        loop {
            match npy.read(&mut some)? {
                0 => return Ok(all),
                count => all.extend(&some[..count]),
            }
        }
    }

    const HEADER: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5), }     \n";

    #[test]
    fn what_is_no_array_of_floats_is_refused() {
        let header = |from: &str, to: &str| file(1, &HEADER.replace(from, to), &[0; 40]);
        let refused = [
            (b"PK\x03\x04 and so on".to_vec(), "not a file of NumPy"),
            (Vec::new(), "not a file of NumPy"),
            (file(9, HEADER, &[0; 40]), "version 9.0 of the format"),
            (header("<f4", "<i4"), "an array of '<i4'; must be float32"),
            (header("'<f4'", "|O"), "an array of |O"),
            (header("(2, 5)", "(2, 0)"), "without floats"),
            (header("(2, 5)", "(2, -5)"), "shape (2, -5)"),
            (header("(2, 5)", "(99999999999, 99999999999)"), "shape"),
            (header("(2, 5)", "(2, 500000000)"), "1000000000 floats; 268435456 at most"),
            (header("'shape'", "'form'"), "without shape"),
            (header("(2, 5), }", "(2, 5"), "without shape"),
            (header("(2, 5)", "(2, 6)"), "ends before the 12 floats"),
            (file(2, &" ".repeat(5000), &[]), "header of 5000 B"),
        ];
        for (bytes, says) in refused {
            let error = floats(&bytes).expect_err(says);
            assert!(error.contains(says), "{error}");
        }
    }

    proptest! {
        #[test]
        fn floats_come_as_they_were_written(
            values in proptest::collection::vec(any::<u32>(), 1..40),
            version in 1_u8..4,
        ) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let header = HEADER.replace("(2, 5)", &format!("({},)", values.len()));
            let read = floats(&file(version, &header, &bytes)).expect("it is one");
            prop_assert_eq!(read.into_iter().map(f32::to_bits).collect::<Vec<_>>(), values);
        }

        #[test]
        fn any_bytes_are_floats_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
            header in "[-'(){}:, <f48a-z0-9]{0,60}",
        ) {
            let _ = floats(&bytes);
            let _ = floats(&file(1, &header, &bytes));
            let _ = floats(&file(3, &HEADER.replace("(2, 5)", &header), &bytes));
        }
    }
}
