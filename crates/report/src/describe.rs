//! Sentences about the configuration of a run.

use crate::numbers::{format_general, format_percent, format_time_ns};
use crate::row::{at_path, whole_at, Fields, Row};
use crate::run::ServerRun;
use crate::words::{count_things, list_items};
use serde_json::Value;
use std::collections::BTreeSet;

/// Describes the run in one sentence: duration, server and workloads.
#[must_use]
pub fn describe_run(run: &ServerRun) -> String {
    let verb = match run.engine() {
        "run" => "Simulated".to_owned(),
        "predict" => "Predicted".to_owned(),
        engine => format!("Made by {engine}"),
    };
    let time = |name| run.summary.nonzero(name).map(format_time_ns);
    let window = time("window_ns").map(|window| format!(" for {window}"));
    let warm_up = time("warm_up_ns").filter(|_| window.is_some()).map(|time| format!(" after {time} of warm-up"));
    let config = run.config();
    let server = describe_server(&config).map(|server| format!(" on {server}"));
    let workloads: Vec<String> =
        run.summary.rows("workloads").into_iter().map(|row| describe_workload(&config, row)).collect();
    let [window, warm_up, server] = [window, warm_up, server].map(Option::unwrap_or_default);
    format!("{verb}{window}{warm_up}{server}: {}.", workloads.join("; "))
}

/// Describes the server; `None` if its configuration is not known.
fn describe_server(config: &Row) -> Option<String> {
    let count = |path| whole_at(config, path).map(|count| usize::try_from(count).unwrap_or(0));
    let mut parts = vec![
        count_things(count("core.count")?, "core"),
        format!("{} of {}", count_things(count("memory.channels")?, "channel"), name_device(config)),
    ];
    if let Some(drives) = count("ssd.count") {
        parts.push(format!("{} on {}", count_things(drives, "drive"), name_pcie(config)));
    }
    let parts = list_items(&parts);
    let preset = at_path(config, "server.preset").and_then(Value::as_str).filter(|preset| !preset.is_empty());
    let preset = preset.map(|preset| format!(" (preset {preset})")).unwrap_or_default();
    Some(match count("server.sockets").filter(|&sockets| sockets > 1) {
        Some(sockets) => {
            let has_own = config.value("socket").and_then(Value::as_object).is_some_and(|tables| !tables.is_empty());
            let but = if has_own { " unless a table [socket] says otherwise" } else { "" };
            format!("a server of {sockets} sockets with {parts} each{but}{preset}")
        }
        None => format!("a server with {parts}{preset}"),
    })
}

/// Names the DRAM device; a user-defined one is a file.
#[must_use]
pub(crate) fn name_device(config: &Row) -> String {
    let device = at_path(config, "memory.device").and_then(Value::as_str).filter(|device| !device.is_empty());
    match device.unwrap_or("DRAM") {
        file if file.contains('/') => format!("DRAM as in {file}"),
        device => device.replace('_', "-"),
    }
}

/// Describes generation and lanes of the links to the drives.
#[must_use]
pub(crate) fn name_pcie(config: &Row) -> String {
    match (whole_at(config, "pcie.generation"), whole_at(config, "pcie.lanes")) {
        (Some(generation), Some(lanes)) => format!("PCIe {generation}.0 x{lanes}"),
        _ => "PCIe".to_owned(),
    }
}

/// Describes a workload.
fn describe_workload(config: &Row, row: &Row) -> String {
    let (name, kind) = (row.text("workload"), row.text("kind"));
    let settings = config.value("workload").and_then(|workloads| workloads.get(name)).and_then(Value::as_object);
    let words = settings.and_then(|settings| match kind {
        "stream" if settings.contains_key("cores") => Some(describe_stream(settings)),
        "app" if settings.contains_key("app") => {
            Some(format!("runs {} on {}", settings.text("app"), name_cores(settings.text("cores"))))
        }
        _ => Some(settings.rows("jobs")).filter(|jobs| !jobs.is_empty()).map(|jobs| describe_jobs(&jobs)),
    });
    format!("“{name}” {}", words.unwrap_or_else(|| format!("({kind})")))
}

/// Names a list of cores.
fn name_cores(cores: &str) -> String {
    let is_one = !cores.is_empty() && cores.bytes().all(|byte| byte.is_ascii_digit());
    format!("{} {cores}", if is_one { "core" } else { "cores" })
}

/// Describes the loads and stores of a stream, their pattern, and the cores.
fn describe_stream(settings: &Row) -> String {
    let reads = settings.number("reads").unwrap_or(1.0);
    let verb = match reads {
        1.0 => "loads".to_owned(),
        0.0 => "stores".to_owned(),
        _ => format!("loads ({}) and stores", format_percent(reads, 0)),
    };
    let order = match settings.some_text("pattern").unwrap_or("sequential") {
        "sequential" => "line after line".to_owned(),
        "random" => "lines at random".to_owned(),
        "strided" => format!("lines {} apart", text_of(settings.value("stride"))),
        other => other.to_owned(),
    };
    format!("{verb} {order} on {}", name_cores(settings.text("cores")))
}

/// Describes the jobs of a fio workload, in detail if they are equal.
fn describe_jobs(jobs: &[&Row]) -> String {
    let text = |job: &Row, key: &str| text_of(job.value(key));
    let drives: BTreeSet<String> = jobs.iter().map(|job| text(job, "ssd")).collect();
    let place = format!("on {}", count_things(drives.len(), "drive"));
    let count = count_things(jobs.len(), "job");
    let kinds: BTreeSet<[String; 3]> =
        jobs.iter().map(|job| ["rw", "bs", "iodepth"].map(|key| text(job, key))).collect();
    match kinds.iter().collect::<Vec<_>>().as_slice() {
        [[rw, block, depth]] => format!("(fio) runs {count} of {rw}, blocks of {block}, {depth} in flight, {place}"),
        kinds => {
            let directions: BTreeSet<&str> = kinds.iter().map(|[rw, ..]| rw.as_str()).collect();
            format!("(fio) runs {count} of {} {place}", list_items(&directions.into_iter().collect::<Vec<_>>()))
        }
    }
}

/// Returns a value of a configuration as text.
fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "None".to_owned(),
    }
}

/// Describes the wall-clock time and the speed of a run, if they are known.
#[must_use]
pub(crate) fn describe_wall_time(manifest: &Row) -> Option<String> {
    let seconds = format_general(manifest.number("wall_time_s")?, 3);
    let speed = manifest.nonzero("events_per_s");
    let speed = speed.map(|speed| format!(", {} M events/s", format_general(speed / 1e6, 3)));
    Some(format!("{seconds} s{}", speed.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;
    use serde_json::json;

    fn workload(kind: &str, settings: Value) -> String {
        let config = row(json!({"workload": {"w": settings}}));
        describe_workload(&config, &row(json!({"workload": "w", "kind": kind})))
    }

    #[test]
    fn servers_are_described_as_far_as_they_are_known() {
        let server = |config: Value| describe_server(&row(config));
        let memory = json!({"channels": 1, "device": "./my.toml"});
        assert_eq!(server(json!({})), None);
        let own = server(json!({"core": {"count": 2}, "memory": memory}));
        assert_eq!(own.as_deref(), Some("a server with 2 cores and 1 channel of DRAM as in ./my.toml"));
        let preset = server(json!({
            "core": {"count": 8},
            "memory": {"channels": 2, "device": "DDR4_2933"},
            "ssd": {"count": 4},
            "pcie": {"generation": 3, "lanes": 16},
            "server": {"preset": "some", "sockets": 2},
            "socket": {"1": {}},
        }));
        let words = "a server of 2 sockets with 8 cores, 2 channels of DDR4-2933 and 4 drives on PCIe 3.0 x16 each \
                     unless a table [socket] says otherwise (preset some)";
        assert_eq!(preset.as_deref(), Some(words));
    }

    #[test]
    fn streams_are_described() {
        let cases = [
            (json!({"cores": "0"}), "“w” loads line after line on core 0"),
            (json!({"cores": "0-3", "reads": 0.0, "pattern": "random"}), "“w” stores lines at random on cores 0-3"),
            (
                json!({"cores": "0,2", "reads": 0.25, "pattern": "strided", "stride": "4 KiB"}),
                "“w” loads (25 %) and stores lines 4 KiB apart on cores 0,2",
            ),
        ];
        for (settings, words) in cases {
            assert_eq!(workload("stream", settings), words);
        }
    }

    #[test]
    fn storage_and_applications_are_described() {
        let job = |rw: &str, ssd: u32| json!({"rw": rw, "bs": "8 MiB", "iodepth": 64, "ssd": ssd});
        let alike = workload("fio", json!({"jobs": [job("read", 0), job("read", 1)]}));
        assert_eq!(alike, "“w” (fio) runs 2 jobs of read, blocks of 8 MiB, 64 in flight, on 2 drives");
        let mixed = workload("fio", json!({"jobs": [job("write", 0), job("read", 0)]}));
        assert_eq!(mixed, "“w” (fio) runs 2 jobs of read and write on 1 drive");
        assert_eq!(workload("app", json!({"app": "redis", "cores": "3"})), "“w” runs redis on core 3");
        assert_eq!(workload("fio", json!({})), "“w” (fio)");
    }
}
