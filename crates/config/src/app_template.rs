//! Generates commented configurations of applications to start from.

use crate::code::Code;
use crate::error::suggestion;
use crate::error::Fault;
use crate::presets::{app_profile, DESCRIPTION};
use crate::units::shorten;
use hostnet_params::AppName;
use std::fmt::Write;

const SERVER: &str = "\
# Values with units are strings: \"70 ns\", \"46.9 GB/s\" (GB = 10^9), \"8 MiB\" (MiB = 2^20).

[server]
preset = \"cascade-lake-6234\" # gives every value that is not set below

[cache]
enabled = true               # L2, LLC, prefetchers and DDIO take part; applications need them

# [prefetch]
# stream = false             # the streamer; on in the preset

";

const DDIO: &str = "\
# [ddio]
# enabled = false            # writes of drives go to memory; on in the preset
# ways = \"9-10\"              # of the LLC, that writes of drives may allocate in

";

const DISK: &str = "\
# Storage reads of 8 MiB, 64 in flight per drive: they saturate the drives. Drives write to memory by way of the LLC.
[workload.disk]
kind = \"fio\"
jobs = [{ rw = \"read\", bs = \"8 MiB\", iodepth = 64, ssd = \"0-3\" }]
cores = \"6-7\"
# consume = true             # the cores read what the drives have written
# rate = \"14 GB/s\"           # no cap when absent

";

const TRACE: &str = "\
# Made with: valgrind --tool=lackey --trace-mem=yes PROGRAM 2>&1 | xz > program.lackey.xz
file = \"program.lackey.xz\"    # or of drmemtrace, Ramulator or DRAMsim3, plain or compressed
";

const RUN: &str = "\
[run]
duration = \"1 ms\"            # or: precision = 0.01
warmup = \"auto\"              # or a time such as \"20 us\"
seed = 1
";

/// Returns a commented configuration that runs an application, beside storage reads unless `alone` is true. It
/// resolves without changes; a trace needs the file that the configuration names.
///
/// # Errors
///
/// Returns an error if no application is called `name`; the message suggests the nearest name.
pub fn app_template(name: &str, alone: bool) -> Result<String, Fault> {
    let Some(app) = AppName::ALL.into_iter().find(|app| app.name() == name) else {
        let known = AppName::ALL.map(AppName::name);
        let message = format!("{} is not a known application; {}", shorten(name), suggestion(name, known));
        return Err(Fault::new(Code::UnknownName, message));
    };
    let parts =
        if alone { [SERVER, &workload(app), RUN].concat() } else { [SERVER, DDIO, &workload(app), DISK, RUN].concat() };
    Ok(parts)
}

/// Returns the table of the workload, with the values of its profile as comments.
fn workload(app: AppName) -> String {
    let name = app.name();
    let profile = app_profile(name);
    let mut text = String::new();
    for line in profile.lines().filter(|line| line.starts_with('#')) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "[workload.{name}]\nkind = \"app\"\napp = \"{name}\"");
    if app == AppName::Trace {
        text += TRACE;
    }
    text += "cores = \"0-2\"                # one thread each\n";
    text += "# llc_ways = \"0-8\"           # of the LLC, that its cores may allocate in; all when absent\n";
    text += "# From its profile; what is set here goes before it:\n";
    let mut table = "";
    for line in profile.lines() {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = header.split_once('.').map_or("", |(_, inner)| inner);
        } else if line.contains(" = ") && !line.starts_with('#') && !line.starts_with(DESCRIPTION) {
            let dot = if table.is_empty() { "" } else { "." };
            let (setting, source) = line.split_once(" # ").unwrap_or((line, ""));
            let setting = format!("{table}{dot}{}", setting.trim_end());
            let _ = writeln!(text, "# {}", format!("{setting:<28} # {source}").trim_end_matches(['#', ' ']));
        }
    }
    text + "\n"
}
