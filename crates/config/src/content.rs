//! Files of the user's that are too large to read whole: where they are, and what tells them apart.

use crate::code::Code;
use crate::error::Issue;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at each end of a file that tell it from others, beside its length.
const END_BYTES: u64 = 1 << 20;

/// Text of the error for a file that the configuration names and that is not there.
pub(crate) const NO_SUCH_FILE: &str =
    "there is no such file; relative paths start at the folder of the configuration, so copy the file there";

/// The complete path of a file that the configuration names at `path`, relative to `base_dir`.
pub(crate) fn place_of(base_dir: &Path, file: &str, path: &str) -> Result<String, Issue> {
    let fail =
        |reason: &str| Issue::new(Code::FileAccess, path, format!("cannot read {:?}: {reason}", base_dir.join(file)));
    let place = std::path::absolute(base_dir.join(file)).map_err(|error| fail(&error.to_string()))?;
    place.to_str().map(str::to_string).ok_or_else(|| fail("its path is not UTF-8"))
}

/// What tells the content of the file at `place` from that of other files: its length, and a hash of both its ends.
pub(crate) fn content(place: &str, path: &str) -> Result<String, Issue> {
    read(Path::new(place)).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => NO_SUCH_FILE.to_string(),
            _ => error.to_string(),
        };
        Issue::new(Code::from(&error), path, format!("cannot read {place:?}: {reason}"))
    })
}

fn read(place: &Path) -> io::Result<String> {
    if !std::fs::metadata(place)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut file = File::open(place)?;
    let length = file.metadata()?.len();
    let mut hash = Sha256::new();
    io::copy(&mut (&mut file).take(END_BYTES), &mut hash)?;
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    io::copy(&mut file.take(END_BYTES), &mut hash)?;
    let mut text = format!("{length} ");
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
