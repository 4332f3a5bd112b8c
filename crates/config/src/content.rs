//! Locates and fingerprints files of the user that are too large to be read whole.

use crate::code::Code;
use crate::error::Issue;
use hostnet_files::UserFile;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Number of bytes that are hashed at each end of a file.
const END_BYTES: u64 = 1 << 20;

/// Message of the error for a file that the configuration names but that does not exist.
pub(crate) const NO_SUCH_FILE: &str =
    "there is no such file; relative paths start at the folder of the configuration, so copy the file there";

/// Returns the absolute path of `file`, relative to `base_dir`. `path` is the key of the configuration that names the
/// file, for messages.
pub(crate) fn place_of(base_dir: &Path, file: &str, path: &str) -> Result<String, Issue> {
    let fail =
        |reason: &str| Issue::new(Code::FileAccess, path, format!("cannot read {:?}: {reason}", base_dir.join(file)));
    let place = hostnet_files::absolute(&base_dir.join(file)).map_err(|error| fail(&error.to_string()))?;
    place.to_str().map(str::to_string).ok_or_else(|| fail("its path is not UTF-8"))
}

/// Returns a fingerprint of the file at `place`: its length in bytes and the SHA-256 of its first and last MiB.
/// `path` is the key of the configuration that names the file, for messages.
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
    let mut file = UserFile::open_regular(place)?;
    let length = file.length()?;
    let mut hash = Sha256::new();
    io::copy(&mut (&mut file).take(END_BYTES), &mut hash)?;
    // Both ends overlap in a file of less than 2 MiB, which the length in the fingerprint keeps unambiguous.
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    io::copy(&mut file.take(END_BYTES), &mut hash)?;
    let mut text = format!("{length} ");
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
