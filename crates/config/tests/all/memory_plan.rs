//! The configuration of the memory alone: defaults, overrides, errors, and the reference controller.

use crate::common::alone::resolve_alone;
use crate::common::{assert_tells, told};
use hostnet_config::{
    devices, memory_plan, memory_schema, profiles, ConfigError, Format, MemoryPlan, Requests, TraceFormat, Traffic,
    TrafficPattern,
};
use hostnet_params::{EntryRelease, IdleDrain, PagePolicy, Refresh, RowProtection, SchedulingPolicy};
use proptest::prelude::*;
use std::path::Path;

fn resolve(text: &str, format: Format, overrides: &[&str]) -> Result<MemoryPlan, ConfigError> {
    resolve_alone(memory_plan, (text, format, "memory.toml"), overrides)
}

fn plan(overrides: &[&str]) -> MemoryPlan {
    resolve("", Format::Toml, overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn error(overrides: &[&str]) -> String {
    told(&resolve("", Format::Toml, overrides).unwrap_err())
}

#[test]
fn nothing_said_is_the_reference_channel_with_random_reads() {
    let plan = plan(&[]);
    assert_eq!((plan.map.channels, plan.capacity_bytes, plan.dram.timing.refi), (1, 16 << 30, 11_437));
    assert_eq!((plan.controller.rpq_entries, plan.outstanding, plan.warm_up), (46, 0, 0.1));
    let traffic = Traffic { pattern: TrafficPattern::Random, reads: 1.0, load: None, requests: 1_000_000, seed: 1 };
    assert_eq!(plan.requests, Requests::Traffic(traffic));
    assert_eq!(plan.given, [""; 0]);
}

#[test]
fn the_profile_of_ramulator_is_its_controller_at_every_queue_size() {
    let controller = plan(&["memory.profile=ramulator"]).controller;
    assert_eq!((controller.rpq_entries, controller.wpq_entries), (32, 32));
    assert_eq!((controller.write_high, controller.write_low), (26, 6), "above 25.6, below 6.4");
    assert_eq!((controller.scheduler, controller.protect), (SchedulingPolicy::OldestReady, RowProtection::OlderHits));
    assert_eq!((controller.entry_until, controller.idle_drain), (EntryRelease::Activation, IdleDrain::Mode));
    assert_eq!((controller.page, controller.refresh), (PagePolicy::Open, Refresh::AllBanks));
    assert_eq!((controller.row_hold, controller.row_hits, controller.reads_per_mode), (u32::MAX, 0, 0));
    assert!(controller.forwarding && controller.merging && controller.refresh_holds_all);
    assert!(!controller.write_auto_precharge && controller.spare_writes > controller.wpq_entries);
    let large =
        plan(&["memory.profile=ramulator", "memory.controller.rpq.entries=128", "memory.controller.wpq.entries=128"]);
    assert_eq!((large.controller.write_high, large.controller.write_low), (103, 25), "above 102.4, below 25.6");
    assert_eq!(large.controller.rpq_full_threshold, 128);
}

#[test]
fn a_queue_without_a_free_entry_counts_as_full() {
    for (wanted, full) in [(1, 1), (5, 5), (6, 6), (7, 6), (4096, 6)] {
        for queue in ["rpq", "wpq"] {
            let of_queue = |key: &str, count: u32| format!("memory.controller.{queue}.{key}={count}");
            let marks = ["write_high=6", "write_low=2"].map(|mark| format!("memory.controller.{mark}"));
            let settings =
                [of_queue("entries", 6), of_queue("full_threshold", wanted), marks[0].clone(), marks[1].clone()];
            let controller = plan(&settings.each_ref().map(String::as_str)).controller;
            let threshold = [controller.rpq_full_threshold, controller.wpq_full_threshold];
            assert_eq!(threshold[usize::from(queue == "wpq")], full, "{queue} {wanted}");
        }
    }
}

#[test]
fn every_device_resolves_with_every_profile_and_map() {
    for device in devices() {
        for profile in profiles() {
            for (map, channels) in [("A", 1), ("B", 2), ("C", 3), ("intel", 6), ("RoBaRaCoCh", 8)] {
                let settings = [
                    format!("memory.device={device}"),
                    format!("memory.profile={profile}"),
                    format!("memory.map={map}"),
                    format!("memory.channels={channels}"),
                ];
                let plan = plan(&settings.each_ref().map(String::as_str));
                let (dram, lines) = (&plan.dram, u64::from(plan.dram.rows) * u64::from(plan.dram.lines_per_row));
                let banks = u64::from(dram.subchannels * dram.ranks * dram.bank_groups * dram.banks_per_group);
                assert_eq!(plan.capacity_bytes, channels * banks * lines * 64, "{device}");
                let again = resolve(&plan.effective.to_string(), Format::Json, &[]).unwrap();
                assert_eq!((again.hash, again.effective), (plan.hash, plan.effective), "{device} {profile} {map}");
            }
        }
    }
}

#[test]
fn one_line_takes_the_bus_time_of_its_device() {
    // Data rate x width: 12.8, 19.2, 21.33, 23.47, 25.6 GB/s for 64 bits of DDR; 2 x 32 bits of DDR5; 2 x 64 bits of
    // HBM2E, and 16 bits of LPDDR5X.
    let peaks = [
        ("DDR3_1600", 12.8),
        ("DDR4_2400", 19.2),
        ("DDR4_2666", 8000.0 / 3.0 * 0.008),
        ("DDR4_2933", 8800.0 / 3.0 * 0.008),
        ("DDR4_3200", 25.6),
        ("DDR5_4800", 38.4),
        ("DDR5_5600", 44.8),
        ("DDR5_6400", 51.2),
        ("HBM2E", 51.2),
        ("LPDDR5X_8533", 25_600.0 / 3.0 * 0.002),
    ];
    assert_eq!(devices(), peaks.map(|(device, _)| device));
    for (device, gb_per_s) in peaks {
        let dram = plan(&[&format!("memory.device={device}")]).dram;
        let clock_ps = dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64;
        let line_ns = f64::from(dram.timing.burst * dram.accesses_per_line) * clock_ps / 1000.0;
        let peak = 64.0 * f64::from(dram.subchannels) / line_ns;
        assert!((peak - gb_per_s).abs() < 1e-9, "{device}: {peak} GB/s");
    }
}

#[test]
fn requests_are_what_was_asked_for() {
    let traffic = plan(&[
        "traffic.pattern=cstr4",
        "traffic.reads=0.5",
        "traffic.load=0.6",
        "traffic.requests=250000",
        "traffic.seed=7",
        "run.outstanding=32",
        "run.warmup=0",
    ]);
    let pattern = TrafficPattern::Streams { count: 4, colliding: true };
    let expected = Traffic { pattern, reads: 0.5, load: Some(0.6), requests: 250_000, seed: 7 };
    assert_eq!(traffic.requests, Requests::Traffic(expected));
    assert_eq!((traffic.outstanding, traffic.warm_up), (32, 0.0));
    let trace = plan(&["trace.path=a.trace.gz", "trace.format=dramsim3"]);
    let path = Path::new("folder").join("a.trace.gz");
    assert_eq!(trace.requests, Requests::Trace { path, format: TraceFormat::Dramsim3 });
}

#[test]
fn the_hash_covers_all_that_matters() {
    let base = plan(&[]).hash;
    for setting in ["traffic.seed=2", "traffic.reads=0.5", "run.outstanding=1", "run.warmup=0.2", "memory.map=B"] {
        assert_ne!(plan(&[setting]).hash, base, "{setting}");
    }
    assert_eq!(plan(&["traffic.pattern=rand", "memory.channels=1"]).hash, base);
}

#[test]
fn errors_have_their_place_and_their_rule() {
    let cases: [(&[&str], &str); 9] = [
        (&["traffic.pattern=randm"], "[unknown-name traffic.pattern] \"randm\" | \"random\""),
        (&["traffic.pattern=str0"], "[out-of-range traffic.pattern] \"str0\" | 1 to 64"),
        (&["traffic.pattern=str65"], "[out-of-range traffic.pattern] \"str65\" | 1 to 64"),
        (&["traffic.reads=1.1"], "[out-of-range traffic.reads] 1.1 | 0.0 to 1.0"),
        (&["traffic.seed=1", "trace.path=a"], "[conflicting-keys trace]"),
        (&["trace.format=auto"], "[missing-key trace.path]"),
        (&["memory.device=DDR5_4801"], "[unknown-name memory.device] \"DDR5_4800\""),
        (&["memory.controller.refresh=same-bank"], "memory.dram.same_bank = \"none\""),
        (&["core.count=3"], "[unknown-key core]"),
    ];
    for (settings, part) in cases {
        let said = error(settings);
        assert_tells(&said, &[part]);
    }
    let said = told(&resolve("[memory]\n\nchanels = 2\n", Format::Toml, &[]).unwrap_err());
    assert_tells(&said, &["[unknown-key memory.chanels] memory.toml:3: ", "\"channels\""]);
    assert_eq!(
        plan(&["memory.device=DDR5_4800", "memory.controller.refresh=same-bank"]).controller.refresh,
        Refresh::SameBank
    );
}

#[test]
fn the_schema_has_the_keys_and_needs_none() {
    let schema = memory_schema();
    assert_eq!(schema["title"], "hostnet memory configuration");
    for key in ["memory", "traffic", "trace", "run"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}");
    }
    assert!(schema.get("required").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_setting_is_a_panic_and_what_resolves_resolves_again(
        key in prop::sample::select(vec![
            "traffic.pattern", "traffic.load", "traffic.requests", "memory.map", "memory.device", "memory.profile",
            "memory.controller.write_high", "memory.controller.write_low", "memory.controller.wpq.entries",
            "memory.controller.shared_queue", "memory.controller.row_hold", "memory.channels", "run.warmup",
            "memory.dram.subchannels", "memory.dram.timing.rc", "trace.path", "memory.dram.same_bank",
        ]),
        value in "([0-9]{1,5}%?|true|off|[A-C]|str[0-9]{0,5}|bg co ba ra ro; (bg|ra)\\^=ro\\[[0-9:]{1,4}\\]|.{0,12})",
    ) {
        let setting = format!("{key}={value}");
        if let Ok(plan) = resolve("", Format::Toml, &[&setting]) {
            let again = resolve(&plan.effective.to_string(), Format::Json, &[]).unwrap();
            prop_assert_eq!(again.hash, plan.hash);
        }
    }
}

#[test]
fn what_a_change_of_the_device_drops_is_told() {
    let file = "[memory]\ndevice = \"DDR4_2933\"\ndram.timing.cl = 30\ndram.ranks = 2\n";
    let told = |overrides: &[&str]| resolve(file, Format::Toml, overrides).expect("a memory").ignored;
    assert!(told(&[]).is_empty());
    assert!(told(&["memory.channels=2"]).is_empty());
    assert_eq!(
        told(&["memory.device=DDR4_3200"]),
        ["memory.device = \"DDR4_3200\" drops what was set over \"DDR4_2933\": memory.dram.timing.cl = 30"]
    );
}
