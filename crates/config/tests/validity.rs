//! What is said of a server that is not what its preset was checked on, or that caps what hangs off it.

mod common;

use common::plan;
use hostnet_config::presets;

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
    let told = "iio.line: 4 drives could move 28.0 GB/s, and the IIO lets 14.6 GB/s in each direction through";
    assert_eq!(capped(notes(&fast)).as_deref(), Some(told));
    assert_eq!(capped(notes(&[&fast[..], &["iio.line=2 ns"]].concat())), None);
    assert_eq!(capped(notes(&["ssd.bandwidth=7 GB/s", "ssd.count=2"])), None, "two move 14.0 GB/s");
}
