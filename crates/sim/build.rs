//! Hashes the sources of the simulator, so that tables that another version measured are never used.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let crates = own.join("..");
    let mut names = BTreeSet::new();
    add_with_dependencies("sim", &crates, &mut names)?;
    let mut hasher = DefaultHasher::new();
    for name in &names {
        let sources = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", sources.display());
        hash_folder(&sources, &mut hasher)?;
    }
    // Libraries draw the random numbers, for example. The lock file is missing if the crates are built elsewhere.
    let lock = crates.join("../Cargo.lock");
    if lock.exists() {
        println!("cargo:rerun-if-changed={}", lock.display());
        fs::read_to_string(&lock)?.hash(&mut hasher);
    }
    println!("cargo:rustc-env=HOSTNET_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Adds a crate of the workspace and all those that it depends on.
fn add_with_dependencies(name: &str, crates: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    if !names.insert(name.to_owned()) {
        return Ok(());
    }
    let place = crates.join(name).join("Cargo.toml");
    println!("cargo:rerun-if-changed={}", place.display());
    let manifest = fs::read_to_string(place)?;
    let table = manifest.split("\n[").find_map(|table| table.strip_prefix("dependencies]"));
    let required = table.into_iter().flat_map(str::lines).filter_map(|line| line.strip_prefix("hostnet-"));
    required
        .filter_map(|line| line.split(['.', ' ']).next())
        .try_for_each(|name| add_with_dependencies(name, crates, names))
}

/// Hashes the names and contents of all files of a folder, in the order of their names.
fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        entry.file_name().hash(hasher);
        if entry.file_type()?.is_dir() {
            hash_folder(&entry.path(), hasher)?;
        } else {
            fs::read(entry.path())?.hash(hasher);
        }
    }
    Ok(())
}
