//! Classifies the IO engines of fio by the number of commands that they keep in flight.

use crate::code::Code;
use crate::error::nearest;
use crate::error::Fault;
use crate::units::shorten;

/// Number of commands of a job that an engine keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Submission {
    /// The engine keeps `iodepth` commands in flight.
    Queued,
    /// The engine keeps one command in flight, for any `iodepth`.
    OneAtATime,
    /// The number in flight depends on a library.
    Unknown,
}

/// Default engine of fio on Linux.
pub(super) const DEFAULT: &str = "psync";

const ENGINES: [(Submission, &[&str]); 3] = [
    (Submission::Queued, &["libaio", "io_uring", "io_uring_cmd", "solarisaio", "windowsaio", "xnvme", "libblkio"]),
    (Submission::OneAtATime, &["sync", "psync", "vsync", "pvsync", "pvsync2"]),
    (Submission::Unknown, &["posixaio"]),
];

/// Engines that are refused because they do not simply read and write NVMe drives, grouped by the reason to show.
const ELSEWHERE: [(&str, &[&str]); 6] = [
    ("it moves no data", &["null", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"]),
    ("it only burns CPU time; give a workload of kind \"stream\" or \"app\"", &["cpuio"]),
    ("it goes through the page cache, which is not modelled; give libaio or io_uring", &["mmap", "splice"]),
    ("it sends over a network; give hosts and flows", &["net", "netsplice", "rdma"]),
    (
        "its storage is not an NVMe drive of this server",
        &["rbd", "rados", "http", "nfs", "libhdfs", "gfapi", "gfapi_async", "libiscsi", "nbd", "sg", "mtd", "external"],
    ),
    (
        "it does not read and write NVMe drives",
        &["libpmem", "dev-dax", "libcufile", "exec", "ftruncate", "falloc", "e4defrag", "guasi"],
    ),
];

/// Returns the submission of the engine `name`. The message of an error does not name the key.
pub(super) fn submission(name: &str) -> Result<Submission, Fault> {
    // The engine "external" has a path after a colon.
    let own = name.split(':').next().unwrap_or(name);
    if let Some((submission, _)) = ENGINES.iter().find(|(_, names)| names.contains(&name)) {
        return Ok(*submission);
    }
    if let Some((reason, _)) = ELSEWHERE.iter().find(|(_, names)| names.contains(&own)) {
        return Err(Fault::new(Code::NotSupported, format!("{} is not a supported engine: {reason}", shorten(own))));
    }
    let known = ENGINES.iter().flat_map(|(_, names)| names.iter().copied());
    let hint = nearest(name, known)
        .map_or(String::from("give libaio or io_uring"), |near| format!("did you mean \"{near}\"?"));
    Err(Fault::new(Code::NotSupported, format!("{} is not a supported engine; {hint}", shorten(name))))
}
