//! Keeps files that can be made again in a folder of the user's cache.
//!
//! A cache never fails: a file that cannot be read is missing, and one that cannot be written is not kept. So several
//! processes may use a folder at once, and the user may delete it at any time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Variable of the environment that names the folder of the cache. An empty value switches the cache off.
const VARIABLE: &str = "HOSTNET_CACHE_DIR";

/// Returns true if the user has switched the cache off, with an empty `HOSTNET_CACHE_DIR`.
#[must_use]
pub fn is_cache_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value.is_empty())
}

/// Returns the folder of the user's cache: `$HOSTNET_CACHE_DIR`, else `$XDG_CACHE_HOME/hostnet`, else
/// `~/.cache/hostnet`. Returns `None` if the cache is off or the user has no home, as in a browser.
#[must_use]
pub fn user_cache() -> Option<PathBuf> {
    cache_of(|name| std::env::var_os(name))
}

fn cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from);
    if let Some(own) = folder(VARIABLE) {
        return Some(own).filter(|own| !own.as_os_str().is_empty());
    }
    // The XDG specification ignores paths that are not absolute.
    let absolute = |name: &str| folder(name).filter(|folder| folder.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("hostnet"))
}

/// Folder of a cache. When a bound is exceeded, the files that have not been used for the longest time are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheFolder {
    place: PathBuf,
    files_max: usize,
    bytes_max: u64,
}

impl CacheFolder {
    /// Describes a folder of at most `files_max` files and `bytes_max` bytes. The folder is made when it is needed.
    #[must_use]
    pub fn new(place: impl Into<PathBuf>, files_max: usize, bytes_max: u64) -> Self {
        Self { place: place.into(), files_max, bytes_max }
    }

    /// Returns the content of a file, which then counts as used. Returns `None` if there is no such file.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let place = self.place.join(name);
        // Opening a FIFO would wait for a writer.
        if !fs::metadata(&place).ok()?.is_file() {
            return None;
        }
        let file = File::open(&place).ok()?;
        let mut content = Vec::new();
        // No file of the cache is longer than all of them may be.
        file.take(self.bytes_max).read_to_end(&mut content).ok()?;
        // In a folder that is not writable the files keep their times.
        let _ = File::options().append(true).open(&place).and_then(|file| file.set_modified(SystemTime::now()));
        Some(content)
    }

    /// Keeps a file, in place of one with the same name. Nobody sees a part of it.
    pub fn write(&self, name: &str, content: &[u8]) {
        if content.len() as u64 <= self.bytes_max && self.replace(name, content).is_ok() {
            self.delete_unused();
        }
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.place)?;
        let unique = format!(".{name}.{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = self.place.join(unique);
        let written = File::create_new(&temporary)
            .and_then(|mut file| file.write_all(content))
            .and_then(|()| fs::rename(&temporary, self.place.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Deletes the files that have not been used for the longest time, until the others are within the bounds.
    fn delete_unused(&self) {
        let mut files = used_files(&self.place).unwrap_or_default();
        files.sort_unstable_by(|one, other| other.cmp(one));
        let mut bytes = 0;
        for (number, (_, place, length)) in files.into_iter().enumerate() {
            bytes += length;
            if number >= self.files_max || bytes > self.bytes_max {
                let _ = fs::remove_file(place);
            }
        }
    }
}

/// Returns the files of a folder: the time of the last use, the path and the length.
fn used_files(folder: &Path) -> io::Result<Vec<(SystemTime, PathBuf, u64)>> {
    let used = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        // Another process may have deleted the file since the folder was listed.
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((about.modified().ok()?, entry.path(), about.len()))
    };
    Ok(fs::read_dir(folder)?.filter_map(used).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn names(folder: &Path) -> Vec<String> {
        let files = used_files(folder).unwrap_or_default().into_iter();
        let mut names: Vec<String> = files.map(|file| file.1.file_name().unwrap().to_str().unwrap().into()).collect();
        names.sort();
        names
    }

    /// Sets the time at which a file was last used, in seconds from now.
    fn age(folder: &Path, name: &str, seconds: u64) {
        let file = File::options().append(true).open(folder.join(name)).expect("it is there");
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("it is ours");
    }

    #[test]
    fn the_environment_names_the_folder() {
        let found = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            cache_of(value)
        };
        let (home, xdg) = (("HOME", "/home/me"), ("XDG_CACHE_HOME", "/caches"));
        assert_eq!(found(&[home]), Some("/home/me/.cache/hostnet".into()));
        assert_eq!(found(&[home, xdg]), Some("/caches/hostnet".into()));
        assert_eq!(found(&[home, ("XDG_CACHE_HOME", "caches")]), Some("/home/me/.cache/hostnet".into()));
        assert_eq!(found(&[home, xdg, (VARIABLE, "own")]), Some("own".into()));
        assert_eq!(found(&[home, xdg, (VARIABLE, "")]), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_file_is_read_as_it_was_last_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CacheFolder::new(folder.path().join("new/one"), 4, 100);
        assert_eq!(cache.read("a"), None);
        for content in [&b"first"[..], b"second"] {
            cache.write("a", content);
            assert_eq!(cache.read("a").as_deref(), Some(content));
        }
        assert_eq!(names(&folder.path().join("new/one")), ["a"], "no temporary file is left");
        fs::create_dir(folder.path().join("new/one/folder")).expect("it is ours");
        assert_eq!(cache.read("folder"), None);
    }

    #[test]
    fn the_files_used_last_stay_within_the_bounds() {
        let folder = tempfile::tempdir().expect("a folder");
        let few = CacheFolder::new(folder.path(), 3, 1000);
        for (name, seconds) in [("a", 40), ("b", 30), ("c", 20)] {
            few.write(name, b"1234");
            age(folder.path(), name, seconds);
        }
        assert!(few.read("a").is_some());
        few.write("d", b"1234");
        assert_eq!(names(folder.path()), ["a", "c", "d"], "`b` has not been used for the longest time");
        age(folder.path(), "a", 10);
        age(folder.path(), "d", 5);
        let small = CacheFolder::new(folder.path(), 3, 10);
        small.write("d", b"12345");
        assert_eq!(names(folder.path()), ["a", "d"]);
        small.write("e", b"longer than all may be");
        assert_eq!(names(folder.path()), ["a", "d"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), "in the way").expect("it is ours");
        let cache = CacheFolder::new(folder.path().join("file/folder"), 4, 100);
        cache.write("a", b"lost");
        assert_eq!(cache.read("a"), None);
    }

    #[test]
    fn many_threads_may_write_and_read_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = CacheFolder::new(folder.path(), 2, 1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for round in 0..50_u8 {
                        let name = ["a", "b", "c"][usize::from(round % 3)];
                        cache.write(name, &[thread; 5000]);
                        // Another thread may have deleted or replaced it, but the content is whole.
                        if let Some(content) = cache.read(name) {
                            assert_eq!(content, [content[0]; 5000]);
                        }
                    }
                });
            }
        });
        assert!(names(folder.path()).len() <= 2);
    }
}
