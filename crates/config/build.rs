//! Embeds every file of `specs/`, so that a new device, server, chip, die, controller, application, transport, list of
//! counters or distribution of sizes is a new file and nothing else.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let specs = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../../specs");
    let mut text = String::new();
    let folders = [
        ("SERVERS", "servers"),
        ("DIES", "dies"),
        ("DEVICES", "dram"),
        ("PROFILES", "controllers"),
        ("APPS", "apps"),
        ("JOBS", "jobs"),
        ("CHIPS", "chips"),
        ("COUNTERS", "counters"),
        ("TRANSPORTS", "transports"),
        ("FLOW_SIZES", "flow-sizes"),
        ("ENERGY", "energy"),
        ("POWER", "power"),
        ("PACKET_SIZES", "packet-sizes"),
    ];
    for (name, folder) in folders {
        text += &constant(name, &specs.join(folder))?;
    }
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("specs.rs"), text)
}

/// `const NAME: &[(&str, &str)]` with the stem and the text of every TOML or CSV file of a folder, in order.
fn constant(name: &str, folder: &Path) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml" || extension == "csv"));
    files.sort_by(|one, other| one.file_stem().cmp(&other.file_stem()));
    let mut text = format!("const {name}: &[(&str, &str)] = &[\n");
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let place = fs::canonicalize(&file)?;
        let _ = writeln!(text, "    ({stem:?}, include_str!({:?})),", place.to_string_lossy());
    }
    Ok(text + "];\n")
}
