//! Notes about a server that differs from the validated configuration of its preset, or that limits its devices.

use crate::common;
use crate::common::{cluster, examples, plan, resolve_text};
use hostnet_config::{cluster_template, presets, Format};

const DISK: &str = "[workload.disk]\nkind = \"fio\"\ncores = \"3\"\n\
    jobs = [{ rw = \"read\", bs = \"128 KiB\", iodepth = 32, size = \"1 GiB\", ssd = 0 }]\n";

fn unvalidated(settings: &[&str]) -> Option<String> {
    let settings: Vec<&str> = ["server.preset=cascade-lake-6234"].iter().chain(settings).copied().collect();
    plan(DISK, &settings).unvalidated
}

#[test]
fn a_preset_is_what_it_was_checked_on() {
    for preset in presets() {
        let found = plan(DISK, &[&format!("server.preset={}", preset.name)]).unvalidated;
        assert_eq!(found, preset.unvalidated, "{}", preset.name);
    }
}

#[test]
fn what_differs_is_named() {
    let one = unvalidated(&["memory.channels=8"]);
    let told = "unvalidated: memory.channels differs from what cascade-lake-6234 was checked on";
    assert_eq!(one.as_deref(), Some(told));
    let many = unvalidated(&["core.count=16", "iio.write_credits=23", "iio.line=1 ns", "ssd.count=2"]);
    let told = "unvalidated: core.count, iio.line, iio.write_credits and 1 more differ from what \
                cascade-lake-6234 was checked on";
    assert_eq!(many.as_deref(), Some(told));
    let switch = unvalidated(&["memory.controller.shared_queue=true"]);
    assert!(switch.is_some_and(|told| told.contains("memory.controller.shared_queue")));
    let device = unvalidated(&["memory.device=DDR5_4800"]).expect("another device");
    assert!(device.starts_with("unvalidated: ") && device.contains("memory.device"), "{device}");
}

#[test]
fn the_same_value_again_and_what_is_switched_on_or_runs_are_no_difference() {
    for settings in [
        &["memory.channels=2"][..],
        &["memory.device=DDR4_2933"],
        &["iio.line=4390 ps"],
        &["cache.enabled=true"],
        &["ddio.enabled=false", "cache.enabled=true"],
        &["run.seed=9"],
        &["workload.disk.rate=1 GB/s"],
    ] {
        assert_eq!(unvalidated(settings), None, "{settings:?}");
    }
}

#[test]
fn a_complete_configuration_says_the_same_again() {
    let changed = plan(DISK, &["server.preset=cascade-lake-6234", "memory.channels=4"]);
    let again = common::plan_json(&changed.effective.to_string(), &[]);
    assert_eq!(again.unvalidated, changed.unvalidated);
}

#[test]
fn drives_above_what_the_iio_lets_through_are_told_of_it() {
    let notes = |settings: &[&str]| {
        let settings: Vec<&str> = ["server.preset=cascade-lake-6234"].iter().chain(settings).copied().collect();
        plan(DISK, &settings).ignored
    };
    let capped = |notes: Vec<String>| notes.into_iter().find(|note| note.starts_with("iio.line"));
    assert_eq!(capped(notes(&[])), None, "four drives of the preset move 13.9 GB/s");
    let fast = ["ssd.bandwidth=7 GB/s", "pcie.generation=5"];
    let told = "iio.line: 4 drives could move 28.0 GB/s, but the IIO only 14.6 GB/s in each direction; \
                iio.line = \"2.285 ns\" would fit";
    assert_eq!(capped(notes(&fast)).as_deref(), Some(told));
    assert_eq!(capped(notes(&[&fast[..], &["iio.line=2285 ps"]].concat())), None);
    assert_eq!(capped(notes(&["ssd.bandwidth=7 GB/s", "ssd.count=2"])), None, "two move 14.0 GB/s");
}

const STREAM: &str = "[workload.load]\nkind = \"stream\"\ncores = \"0\"\n";

/// Returns the notes of a server, as pairs of a key and a sufficient setting.
fn kept(text: &str, settings: &[&str]) -> Vec<(String, String)> {
    let told = |note: &String| {
        let key = note.split(": ").next()?.to_string();
        let fits = note.split("; ").last()?.split(" would fit").next()?;
        fits.starts_with(&key).then(|| (key, fits.replace(" = ", "=").replace('"', "")))
    };
    plan(text, settings).ignored.iter().filter_map(told).collect()
}

/// Checks that the settings lead to notes about `expected`, and that following the notes repeatedly leaves none.
#[track_caller]
fn assert_kept(text: &str, settings: &[&str], expected: &[(&str, &str)]) {
    let found = kept(text, settings);
    let seen: Vec<(&str, &str)> = found.iter().map(|(key, fits)| (key.as_str(), fits.as_str())).collect();
    assert_eq!(seen, expected, "{settings:?}");
    for (key, fits) in &found {
        let after = kept(text, &[settings, &[fits.as_str()]].concat());
        assert!(after.iter().all(|(other, _)| other != key), "{fits} leaves {after:?}");
    }
}

#[test]
fn presets_keep_nothing_behind() {
    for preset in presets() {
        let preset = format!("server.preset={}", preset.name);
        assert_eq!(kept(STREAM, &[&preset]), [], "{preset}");
    }
}

#[test]
fn examples_and_templates_keep_nothing_behind() {
    let files = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut texts: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(texts.len() > 20);
    texts.extend(["hostcc", "incast", "ping", "mcn"].map(|name| cluster_template(name).unwrap().to_string()));
    for text in texts {
        // Presets of chips and networks on a chip are no servers.
        let Ok(plan) = resolve_text(&text, Format::Toml, &[]) else { continue };
        let told: Vec<_> = plan.ignored.iter().filter(|note| note.contains(" would fit")).collect();
        assert!(told.is_empty(), "{told:?}: {text}");
    }
}

#[test]
fn what_more_cores_leave_behind_is_told_with_the_value_that_fits() {
    let preset = "server.preset=ice-lake-8362";
    let scaled = [preset, "core.count=96"];
    assert_kept(STREAM, &scaled, &[("cha.slices", "cha.slices=96"), ("memory.channels", "memory.channels=12")]);
    let with_memory = [preset, "core.count=96", "memory.channels=12", "memory.device=DDR5_4800"];
    assert_kept(STREAM, &with_memory, &[("cha.slices", "cha.slices=96")]);
    assert_kept(STREAM, &[preset, "core.count=96", "cha.slices=40", "memory.channels=6"], &[]);
    assert_kept(STREAM, &[preset, "core.count=16"], &[]);
    let per_socket = ["server.sockets=2", "socket.1.core.count=96", "socket.1.memory.channels=12"];
    let notes = plan(STREAM, &[&[preset], &per_socket[..]].concat()).ignored;
    assert!(notes.iter().any(|note| note.starts_with("socket.1.cha.slices: 96 cores")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.starts_with("cha.slices")), "{notes:?}");
}

#[test]
fn what_more_memory_and_drives_leave_behind_is_told_with_the_value_that_fits() {
    let memory = ["server.preset=mcn-host-8", "memory.channels=4"];
    assert_kept(STREAM, &memory, &[("cha.slices", "cha.slices=2")]);
    assert_kept(STREAM, &["server.preset=ice-lake-8362", "memory.channels=12", "memory.device=DDR5_4800"], &[]);
    let fast = ["server.preset=cascade-lake-6234", "ssd.bandwidth=7 GB/s", "pcie.generation=5"];
    let expected = [("iio.line", "iio.line=2.285 ns"), ("iio.write_credits", "iio.write_credits=130")];
    assert_kept(DISK, &fast, &expected);
    let more = ["server.preset=cascade-lake-6234", "ssd.bandwidth=10 GB/s", "pcie.generation=5"];
    assert_kept(
        DISK,
        &[&more[..], &["iio.line=1 ns", "iio.write_credits=999"]].concat(),
        &[("iio.read_credits", "iio.read_credits=275")],
    );
    assert_kept(DISK, &[&fast[..], &["iio.line=2 ns", "iio.write_credits=8", "iio.read_credits=9"]].concat(), &[]);
}

#[test]
fn subchannels_that_are_counted_as_channels_are_told() {
    let of = |channels: &str, device: &str| {
        let preset = "server.preset=ice-lake-8362";
        let found = kept(STREAM, &[preset, &format!("memory.channels={channels}"), &format!("memory.device={device}")]);
        found.into_iter().find(|(key, _)| key == "memory.channels").map(|(_, fits)| fits)
    };
    assert_eq!(of("24", "DDR5_4800").as_deref(), Some("memory.channels=12"));
    assert_eq!(of("12", "DDR5_4800"), None);
    assert_eq!(of("24", "DDR4_3200"), None);
    assert_eq!(of("16", "HBM2E"), None);
}

#[test]
fn cables_above_what_a_server_lets_through_are_told_with_the_values_that_fit() {
    let of = |settings: &[&str]| -> Vec<Option<String>> {
        let notes = cluster(cluster_template("hostcc").unwrap(), settings).ignored;
        let fits = |key: &str| {
            let note = notes.iter().find(|note| note.contains(&format!(".{key}: ")))?;
            note.split("; ").last()?.split(" would fit").next().map(str::to_string)
        };
        let of_links = ["nic.pcie.posted_lines", "nic.pcie.nonposted_lines"];
        ["iio.line", "nic.pcie", "iio.write_credits", "iio.read_credits"]
            .into_iter()
            .chain(of_links)
            .map(fits)
            .collect()
    };
    assert_eq!(of(&[]), vec![None::<String>; 6]);
    let told = of(&["network.rate=400 Gbps"]);
    assert!(told.iter().all(Option::is_some), "{told:?}");
    let link = told[1].as_deref().expect("a link");
    assert_eq!(link, "generation = 5 with lanes = 16");
    let host = "host.receiver";
    let settings = told.iter().enumerate().map(|(at, fits)| match (at, fits.as_deref().expect("it is told")) {
        (1, _) => format!("{host}.nic.pcie.generation=5"),
        (_, fits) => format!("{host}.{}", fits.replace(" = ", "=").replace('"', "")),
    });
    let settings: Vec<String> = settings.chain(["network.rate=400 Gbps".to_string()]).collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let notes = cluster(cluster_template("hostcc").unwrap(), &settings).ignored;
    let left: Vec<_> =
        notes.iter().filter(|note| note.starts_with(&format!("{host}.")) && note.contains("fit")).collect();
    assert!(left.is_empty(), "{left:?}");
}
