//! Keys that name a core, a channel, a drive, a socket, a rank or the like reject numbers beyond the last one, for
//! every kind of host.

use crate::common::{cluster_text, resolve_text};
use hostnet_config::{ConfigError, Format, Plan};

/// Servers without a network; `{}` is the place of the number.
const SERVERS: [(&str, &str, &str); 14] = [
    ("workload.w.cores", "7", "[workload.w]\nkind = \"stream\"\ncores = \"{}\"\nreads = 1.0"),
    ("workload.w.cores", "15", "server.sockets = 2\n[workload.w]\nkind = \"stream\"\ncores = \"{}\"\nreads = 1.0"),
    ("workload.w.cores", "7", "cache.enabled = true\n[workload.w]\nkind = \"app\"\napp = \"redis\"\ncores = \"{}\""),
    (
        "workload.w.clients",
        "7",
        "cache.enabled = true\n[workload.w]\nkind = \"app\"\napp = \"redis\"\ncores = \"0\"\nclients = \"{}\"",
    ),
    ("workload.w.llc_ways", "10", "cache.enabled = true\n{stream}llc_ways = \"{}\""),
    ("ddio.ways", "10", "cache.enabled = true\nddio.ways = \"{}\"\n{stream}"),
    ("ddio.off", "3", "cache.enabled = true\nddio.off = \"{}\"\n{stream}"),
    ("ssd.sockets[3]", "1", "server.sockets = 2\nssd.sockets = [0, 0, 0, {}]\n{stream}"),
    ("socket", "1", "server.sockets = 2\n[socket.{}.memory]\nchannels = 1\n{stream}"),
    ("workload.w.memory", "1", "server.sockets = 2\n{stream}memory = \"node:{}\""),
    ("workload.w.jobs[0].ssd", "3", "[workload.w]\nkind = \"fio\"\njobs = [{ {job}, ssd = {} }]"),
    ("workload.w.jobs[0].ssd", "3", "[workload.w]\nkind = \"fio\"\njobs = [{ {job}, ssd = \"0,{}\" }]"),
    ("workload.w.jobs[0].core", "7", "[workload.w]\nkind = \"fio\"\njobs = [{ {job}, ssd = 0, core = {} }]"),
    ("workload.w.cores", "7", "[workload.w]\nkind = \"fio\"\ncores = \"{}\"\njobs = [{ {job}, ssd = 0 }]"),
];

/// A fio job that reads a drive.
const JOB: &str = "rw = \"read\", bs = \"64 KiB\", iodepth = 16, size = \"1 GiB\"";

const STREAM: &str = "[workload.w]\nkind = \"stream\"\ncores = \"0\"\nreads = 1.0\n";

/// Clusters; endpoint `b` sends to `a` if there is `{flow}`.
const CLUSTERS: [(&str, &str, &str); 14] = [
    ("flow.f.to_cores", "7", "{server}{flow}to_cores = \"{}\""),
    ("flow.f.to_cores", "15", "{server}sockets = 2\n{flow}to_cores = \"{}\""),
    ("flow.f.to_cores", "7", "{server}fidelity = \"fluid\"\n{flow}to_cores = \"{}\""),
    ("flow.f.to_cores", "7", "{server}fidelity = \"burst\"\n{flow}to_cores = \"{}\""),
    ("flow.f.from_cores", "7", "{server}[flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\nfrom_cores = \"{}\""),
    ("flow.f.move[0].core", "7", "{server}{flow}move = [{ at = \"20 us\", end = \"to\", core = {} }]"),
    (
        "host.a.workload.m.sockets",
        "2",
        "{server}workload.m = { kind = \"remote\", sockets = \"{}\", reads = 1.0 }\n{flow}",
    ),
    ("host.a.stack.cores", "7", "{server}stack.cores = \"{}\"\n{flow}"),
    (
        "host.a.nic.functions[0].socket",
        "1",
        "{server}sockets = 2\nnic.functions = [{ socket = {}, lanes = 16 }]\n{flow}",
    ),
    ("host.box.mcn.core", "7", "{mcn}[host.box.mcn]\ncore = {}"),
    ("host.d.channels", "1", "{mcn}channels = \"{}\""),
    ("job.j.cores", "7", "{server}cache.enabled = true\n{job}cores = \"{}\""),
    ("job.j.steps[0].rank", "1", "{pair}[[job.j.steps]]\nrank = {}\ncompute = \"1 us\""),
    (
        "flow.f.to",
        "1",
        "[host.b]\nkind = \"endpoint\"\ncount = 2\n[flow.f]\nkind = \"bulk\"\nfrom = \"b-0\"\nto = \"b-{}\"",
    ),
];

const PARTS: [(&str, &str); 5] = [
    ("{server}", "[host.b]\nkind = \"endpoint\"\n[host.a]\npreset = \"cascade-lake-hostcc\"\n"),
    ("{flow}", "[flow.f]\nkind = \"bulk\"\nfrom = \"b\"\nto = \"a\"\n"),
    (
        "{mcn}",
        "[host.box]\npreset = \"mcn-host-8\"\n\
         [flow.f]\nkind = \"bulk\"\ntransport = \"cubic\"\nfrom = \"d\"\nto = \"box\"\n\
         [host.d]\nkind = \"dimm\"\npreset = \"mcn-a57\"\non = \"box\"\n",
    ),
    ("{job}", "[job.j]\nkind = \"allreduce\"\nhosts = \"a\"\nbytes = \"1 KB\"\n"),
    ("{pair}", "[host.b]\nkind = \"endpoint\"\ncount = 2\n[job.j]\nkind = \"program\"\nhosts = \"b\"\n"),
];

fn check(key: &str, last: &str, resolved: impl Fn(&str) -> Result<Plan, ConfigError>) {
    if let Err(error) = resolved(last) {
        panic!("{key}: {last} is there: {error}");
    }
    let beyond = (last.parse::<u32>().expect("a number") + 1).to_string();
    let error = resolved(&beyond).err().unwrap_or_else(|| panic!("{key}: {beyond} is not there"));
    assert!(error.path.starts_with(key), "{key}: {error}");
    assert!(error.message.contains(&beyond) && error.message.len() > beyond.len() + 10, "{key}: {error}");
}

#[test]
fn what_a_server_does_not_have_cannot_be_named() {
    for (key, last, text) in SERVERS {
        check(key, last, |number| {
            let body = text.replace("{stream}", STREAM).replace("{job}", JOB).replace("{}", number);
            resolve_text(&format!("server.preset = \"cascade-lake-6234\"\n{body}\n"), Format::Toml, &[])
        });
    }
}

#[test]
fn what_a_host_of_a_cluster_does_not_have_cannot_be_named() {
    for (key, last, text) in CLUSTERS {
        check(key, last, |number| {
            let body = PARTS.iter().fold(text.to_owned(), |text, (part, of)| text.replace(part, of));
            cluster_text(&body.replace("{}", number), Format::Toml, &[])
        });
    }
}
