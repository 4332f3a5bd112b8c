//! Opens the files that a configuration names: job files, traces, captures, maps of dies. Keeps files in the user's
//! cache.
//!
//! [`mount`] puts a file into memory under a path, where it hides a file on disk. A target without a disk, such as
//! WebAssembly in a browser, has only mounted files.

mod cache;

pub use cache::{is_cache_off, user_cache, CacheFolder};

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Mounted files by path.
static MOUNTED: RwLock<BTreeMap<PathBuf, Arc<[u8]>>> = RwLock::new(BTreeMap::new());

/// File of the user, open for reading.
#[derive(Debug)]
pub struct UserFile(Source);

#[derive(Debug)]
enum Source {
    Disk(File),
    Memory(Cursor<Arc<[u8]>>),
}

/// Mounts `content` at `place`, which is the path that [`UserFile::open`] is called with. It replaces a file that is
/// mounted there.
pub fn mount(place: impl Into<PathBuf>, content: impl Into<Arc<[u8]>>) {
    MOUNTED.write().unwrap_or_else(PoisonError::into_inner).insert(place.into(), content.into());
}

/// Returns true if there is a file or a folder at `place`.
#[must_use]
pub fn exists(place: &Path) -> bool {
    mounted(place).is_some() || place.exists()
}

/// Returns the absolute path of `place`, or `place` itself on a target without a current folder.
///
/// # Errors
/// Fails if `place` is empty or the current folder cannot be determined.
pub fn absolute(place: &Path) -> io::Result<PathBuf> {
    match std::path::absolute(place) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(place.to_path_buf()),
        found => found,
    }
}

impl UserFile {
    /// Opens the file at `place`, which may be a pipe.
    ///
    /// # Errors
    /// Fails if there is no such file or it cannot be opened.
    pub fn open(place: &Path) -> io::Result<Self> {
        match mounted(place) {
            Some(content) => Ok(Self(Source::Memory(Cursor::new(content)))),
            None => Ok(Self(Source::Disk(File::open(place).map_err(without_disk)?))),
        }
    }

    /// As [`UserFile::open`], but fails without opening anything that is not a regular file: opening a FIFO waits for
    /// a writer, and a device may not end.
    ///
    /// # Errors
    /// As [`UserFile::open`], and with "not a file" for a folder, a pipe or a device.
    pub fn open_regular(place: &Path) -> io::Result<Self> {
        if mounted(place).is_none() && !std::fs::metadata(place).map_err(without_disk)?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        Self::open(place)
    }

    /// Returns the length of the file, in bytes.
    ///
    /// # Errors
    /// Fails if the system does not know the length.
    pub fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Source::Disk(file) => Ok(file.metadata()?.len()),
            Source::Memory(content) => Ok(content.get_ref().len() as u64),
        }
    }
}

impl Read for UserFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::Disk(file) => file.read(buffer),
            Source::Memory(content) => content.read(buffer),
        }
    }
}

impl Seek for UserFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Source::Disk(file) => file.seek(to),
            Source::Memory(content) => content.seek(to),
        }
    }
}

fn mounted(place: &Path) -> Option<Arc<[u8]>> {
    MOUNTED.read().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
}

/// Converts the error of a target without files: what is not mounted does not exist there.
fn without_disk(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Unsupported => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut file: UserFile) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).expect("it is text");
        text
    }

    #[test]
    fn a_mounted_file_hides_one_on_disk() {
        let place = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let on_disk = read(UserFile::open_regular(place).expect("it is there"));
        assert!(on_disk.starts_with("[package]"));
        mount(place, *b"short");
        let mut file = UserFile::open_regular(place).expect("it is mounted");
        assert_eq!(file.length().expect("it is known"), 5);
        assert_eq!(file.seek(SeekFrom::End(-3)).expect("it is in range"), 2);
        assert_eq!(read(file), "ort");
        mount(place, *b"other");
        assert_eq!(read(UserFile::open(place).expect("it is mounted")), "other");
    }

    #[test]
    fn what_is_neither_mounted_nor_on_disk_is_not_found() {
        let place = Path::new("no/such/file");
        mount("no/such", *b"a name that a path begins with");
        for opened in [UserFile::open(place), UserFile::open_regular(place)] {
            assert_eq!(opened.expect_err("it is not there").kind(), io::ErrorKind::NotFound);
        }
        assert!(!exists(place) && exists(Path::new("no/such")));
    }

    #[test]
    fn a_folder_is_not_a_regular_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = UserFile::open_regular(folder).expect_err("it is a folder");
        assert_eq!(error.to_string(), "not a file");
    }

    #[test]
    fn a_target_without_files_reports_what_is_missing() {
        assert_eq!(without_disk(io::ErrorKind::Unsupported.into()).kind(), io::ErrorKind::NotFound);
        assert_eq!(without_disk(io::ErrorKind::PermissionDenied.into()).kind(), io::ErrorKind::PermissionDenied);
    }
}
