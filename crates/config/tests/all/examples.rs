//! The shipped examples, presets, devices and the template resolve.

use crate::common::{assert_tells, example, plan, plan_json, resolve_text, socket, told};
use hostnet_config::{
    app_template, apps, devices, presets, stream_and_drives_template, template, Code, Length, PresetInfo, WarmUp,
};
use hostnet_params::{
    App, EntryRelease, IdleDrain, MemoryControllerParams, PagePolicy, Refresh, RowProtection, SchedulingPolicy,
    ServerParams, SocketParams, WorkloadKind,
};
use std::path::Path;

fn fio(server: &ServerParams) -> &hostnet_params::FioParams {
    let found = server.workloads.iter().find_map(|workload| match &workload.kind {
        WorkloadKind::Fio(fio) => Some(fio),
        _ => None,
    });
    found.expect("a fio workload")
}

#[test]
fn the_third_quadrant_resolves() {
    let settings = ["core.lfb.entries=12", "core.lfb.refill=13.5 ns", "core.lfb.refill_jitter=0.3"];
    let plan = plan(&example("quadrant3.toml"), &settings);
    let server = plan.server().unwrap();
    let SocketParams { core, memory, pcie, .. } = server.socket();
    assert_eq!((core.lfb_entries, core.refill_ps, core.refill_spread_ps), (12, 13_500, 4_050));
    assert_eq!((memory.dram.clock_ps_numerator, memory.dram.clock_ps_denominator), (7_500, 11));
    assert_eq!(memory.pages.memory_bytes, 32 << 30);
    assert_eq!(pcie.bytes_per_s, 3_938_461_538, "generation 3 x4");
    let jobs = &fio(server).jobs;
    assert_eq!(jobs.iter().map(|job| (job.ssd, job.core)).collect::<Vec<_>>(), [(0, 6), (1, 7), (2, 6), (3, 7)]);
    assert!(jobs.iter().all(|job| job.block_bytes == 8 << 20 && job.io_depth == 64 && job.reads == 1 << 32));
    assert_eq!(plan.run.length, Length::Duration { ps: 1_000_000_000 });
    assert_eq!(plan.run.warm_up, WarmUp::Auto);
    let told = "unvalidated: core.lfb.refill differs from what cascade-lake-6234 was checked on";
    assert_eq!(plan.unvalidated.as_deref(), Some(told));
}

#[test]
fn workloads_may_have_the_same_core() {
    let plan = plan(&example("quadrant3.toml"), &["workload.stream.cores=5-6", "workload.disk.cores=[6]"]);
    let server = plan.server().unwrap();
    let streams = server.workloads.iter().find_map(|workload| match &workload.kind {
        WorkloadKind::Stream(stream) => Some(stream.cores.clone()),
        _ => None,
    });
    assert_eq!(streams.unwrap(), [5, 6]);
    assert!(fio(server).jobs.iter().all(|job| job.core == 6));
}

#[test]
fn controller_times_are_rounded_up_to_clocks() {
    let plan = plan(&example("quadrant3.toml"), &["memory.controller.row_hold=400 ns"]);
    assert_eq!(plan.server().unwrap().socket().memory.controller.row_hold, 587, "400 ns / (7500/11 ps) = 586.67");
}

#[test]
fn the_servers_controllers_are_the_calibrated_ones() {
    for preset in ["cascade-lake-6234", "ice-lake-8362"] {
        let plan = plan(&example("quadrant3.toml"), &[&format!("server.preset={preset}")]);
        let clocks = |ps: u64| match preset {
            "cascade-lake-6234" => (ps * 11).div_ceil(7_500) as u32,
            _ => ps.div_ceil(625) as u32,
        };
        let calibrated = MemoryControllerParams {
            rpq_entries: 46,
            wpq_entries: 41,
            wpq_full_threshold: 34,
            rpq_full_threshold: 42,
            shared_queue: false,
            entry_until: EntryRelease::Column,
            scheduler: SchedulingPolicy::ColumnFirst,
            protect: RowProtection::AllHits,
            row_hold: clocks(500_000),
            row_hits: 0,
            write_high: 40,
            write_low: 9,
            reads_per_mode: 59,
            reads_few: 2,
            writes_per_mode: 56,
            idle_drain: IdleDrain::Yield,
            idle_writes: 8,
            idle_reads: 4096,
            idle_hits: 0,
            idle_age: clocks(80_000),
            idle_flush: u32::MAX,
            spare_writes: 8,
            spare_rows: true,
            spare_clocks: 1,
            page: PagePolicy::Timeout,
            idle_close: clocks(2_000_000),
            write_auto_precharge: true,
            refresh: Refresh::AllBanks,
            refresh_postponed: 0,
            refresh_holds_all: false,
            forwarding: false,
            merging: false,
        };
        assert_eq!(plan.server().unwrap().socket().memory.controller, calibrated, "{preset}");
    }
}

#[test]
fn watermarks_as_shares_follow_the_queue() {
    let marks = |settings: &[&str]| {
        let controller = socket(&example("quadrant3.toml"), settings).memory.controller;
        (controller.write_high, controller.write_low)
    };
    let shares = |entries: u32, high: &str, low: &str| {
        let settings = [
            format!("memory.controller.wpq.entries={entries}"),
            format!("memory.controller.write_high='{high}'"),
            format!("memory.controller.write_low='{low}'"),
        ];
        marks(&settings.each_ref().map(String::as_str))
    };
    // Above 25.6 and below 6.4; above 32 and below 8 where the share is a whole number of entries.
    assert_eq!(shares(32, "80%", "20%"), (26, 6));
    assert_eq!(shares(128, "80%", "20%"), (103, 25));
    assert_eq!(shares(40, "80%", "20%"), (33, 7));
    assert_eq!(shares(40, "100%", "0%"), (40, 0));
    assert_eq!(shares(41, "12.5%", "5 %"), (6, 2));
}

#[test]
fn every_job_file_resolves() {
    for (file, reads) in [("quadrant.fio", 1u64 << 32), ("quadrant-write.fio", 0), ("probe.fio", 1 << 32)] {
        let plan = plan(&example("quadrant3.toml"), &[&format!("workload.disk.job={file}")]);
        assert!(fio(plan.server().unwrap()).jobs.iter().all(|job| job.reads == reads), "{file}");
    }
}

#[test]
fn the_templates_of_servers_resolve() {
    for (text, workloads) in [(template(), 1), (stream_and_drives_template(), 2)] {
        assert_eq!(plan(text, &[]).server().unwrap().workloads.len(), workloads);
    }
}

#[test]
fn the_templates_of_servers_resolve_with_their_examples_switched_on() {
    for text in [template(), stream_and_drives_template()] {
        let plan = plan(&uncommented(text), &[]);
        let server = plan.server().unwrap();
        assert_eq!((server.workloads.len(), server.socket().memory.map.channels), (2, 4));
    }
}

/// Returns a template with its commented keys and tables switched on.
fn uncommented(text: &str) -> String {
    text.lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || rest.split_whitespace().nth(1) == Some("=") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn the_templates_of_applications_resolve_as_they_are_and_with_their_examples_switched_on() {
    for app in apps() {
        for alone in [false, true] {
            let text = app_template(app.name, alone).unwrap();
            // The trace that the template names must come from the user.
            let text = text.replace("program.lackey.xz", "traces/redis-get.lackey.xz");
            let server = plan(&text, &[]).server().unwrap().clone();
            assert_eq!(server.workloads.len(), if alone { 1 } else { 2 }, "{}", app.name);
            assert!(server.socket().cache.is_some());
            let is_key = |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.');
            let is_value = |value: &str| value.starts_with(|c: char| c.is_ascii_digit() || c == '"') || value == "true";
            let set = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().take(3).collect();
                line.starts_with('[') || matches!(words[..], [key, "=", value] if is_key(key) && is_value(value))
            };
            let with_all = text.lines().map(|line| line.strip_prefix("# ").filter(|rest| set(rest)).unwrap_or(line));
            let with_all = with_all.collect::<Vec<_>>().join("\n");
            assert_ne!(with_all, text.trim_end(), "there are examples");
            let all = plan(&with_all, &[]).server().unwrap().clone();
            let params = |server: &ServerParams| server.workloads.iter().find(|load| load.name == app.name).cloned();
            assert_eq!(params(&all), params(&server), "the profile's own values change nothing");
        }
    }
    let error = app_template("redsi", false).unwrap_err();
    assert!(error.code == Code::UnknownName && error.message.contains("\"redis\""), "{error}");
}

#[test]
fn caches_take_part_when_they_are_enabled_and_only_then() {
    let text = example("quadrant3.toml");
    let settings = ["cache.llc.ways=12", "ddio.ways=0x3", "prefetch.stream=false", "workload.stream.llc_ways=0-3"];
    let off = plan(&text, &settings);
    assert_eq!((&off.server().unwrap().socket().cache, &off.hash), (&None, &plan(&text, &[]).hash));
    let cache = socket(&text, &[&["cache.enabled=true", "ddio.off='1-2'"], &settings[..]].concat()).cache.unwrap();
    assert_eq!((cache.l2.sets, cache.l2.ways, cache.l2.hit_ps), (1024, 16, 4_200));
    assert_eq!((cache.llc.sets, cache.llc.ways, cache.llc.hit_ps), (2048, 12, 16_000));
    assert_eq!(cache.ddio.drives, [true, false, false, true]);
    assert_eq!((cache.ddio.ways, cache.ddio.write_ps), (0b11, 33_000));
    assert_eq!(cache.masks, [0xfff, 0xf], "of the disk, all; of the stream, four");
    assert_eq!((cache.prefetch.stream, cache.prefetch.adjacent, cache.prefetch.distance_lines), (false, true, 20));
    let none = socket(&text, &["cache.enabled=true", "ddio.enabled=false"]).cache.unwrap();
    assert_eq!(none.ddio.drives, [false; 4]);
}

#[test]
fn the_presets_have_the_caches_of_their_servers() {
    for (preset, l2_kib, llc_kib, ddio) in
        [("cascade-lake-6234", 1024, 25_344, 0x600), ("ice-lake-8362", 1280, 49_152, 0xc00)]
    {
        let settings = [format!("server.preset={preset}"), "cache.enabled=true".to_string()];
        let server = plan(&example("quadrant3.toml"), &settings.each_ref().map(String::as_str));
        let server = server.server().unwrap();
        let cache = server.socket().cache.clone().unwrap();
        assert_eq!(cache.l2.sets * cache.l2.ways / 16, l2_kib, "{preset}");
        assert_eq!(server.socket().cha.slices * cache.llc.sets * cache.llc.ways / 16, llc_kib, "{preset}");
        assert_eq!((cache.ddio.ways, cache.ddio.drives.len()), (ddio, server.socket().ssd.count as usize), "{preset}");
        assert!(socket(&example("quadrant3.toml"), &[&settings[0]]).cache.is_none(), "{preset}");
    }
}

#[test]
fn applications_take_what_they_do_not_set_from_their_profiles() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
                [workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0-2\"\nsets = 0.5\n";
    let app = |settings: &[&str]| match plan(text, settings).server().unwrap().workloads[0].kind.clone() {
        WorkloadKind::App(app) => app,
        _ => panic!("an application was asked for"),
    };
    let redis = |params: App| match params {
        App::Redis(redis) => redis,
        _ => panic!("redis was asked for"),
    };
    let plain = app(&[]);
    assert_eq!(plain.cores, [0, 1, 2]);
    let plain = redis(plain.app);
    assert_eq!((plain.keys, plain.value_bytes, plain.sets), (1_000_000, 1024, 1 << 31));
    let set = app(&["workload.kv.keys=7", "workload.kv.ipc=1.25", "core.frequency=2 GHz", "workload.kv.think=3 us"]);
    assert_eq!((set.instruction_fs, set.think_ps), (400_000, 3_000_000));
    assert_eq!(redis(set.app).keys, 7);
}

#[test]
fn traces_share_the_memory_that_is_left_and_are_known_by_their_content() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
                [workload.kv]\nkind = \"app\"\napp = \"trace\"\ncores = \"0-2\"\n\
                file = \"traces/redis-get.lackey.xz\"\n";
    let other = "workload.s={kind='stream',cores='3',working_set='2 GiB'}";
    let trace = |settings: &[&str]| match plan(text, settings).server().unwrap().workloads[0].kind.clone() {
        WorkloadKind::App(app) => match app.app {
            App::Trace(trace) => trace,
            _ => panic!("a trace was asked for"),
        },
        _ => panic!("an application was asked for"),
    };
    let plain = trace(&["memory.size=8 GiB"]);
    assert_eq!(plain.memory_bytes, (((8 << 30) / 3) >> 20) << 20);
    assert_eq!((plain.format.as_deref(), plain.repeat), (None, true));
    assert!(Path::new(&plain.file).is_absolute() && plain.file.ends_with("traces/redis-get.lackey.xz"));
    assert_eq!(trace(&["memory.size=8 GiB", other]).memory_bytes, 2 << 30);
    assert_eq!(trace(&["workload.kv.format=ramulator-cpu"]).format.as_deref(), Some("ramulator-cpu"));

    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(&plain.file, &copy).unwrap();
    let from = |file: &Path| plan(text, &[&format!("workload.kv.file={}", file.display())]).hash;
    assert_eq!(from(&copy), plan(text, &[]).hash, "another place, the same content");
    let mut bytes = std::fs::read(&copy).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&copy, bytes).unwrap();
    assert_ne!(from(&copy), plan(text, &[]).hash);
}

/// Resolves a server, and its effective configuration again.
fn assert_resolves(preset: &PresetInfo, device: &str, channels: u32) {
    let text = "[workload.a]\nkind = \"stream\"\ncores = \"0\"\nworking_set = \"64 MiB\"\n";
    let settings = [
        format!("server.preset={}", preset.name),
        format!("memory.device={device}"),
        format!("memory.channels={channels}"),
    ];
    let plan = plan(text, &settings.each_ref().map(String::as_str));
    assert_eq!(plan.server().unwrap().socket().memory.map.channels, channels);
    if let Some(own) = &preset.unvalidated {
        let told = plan.unvalidated.as_ref();
        assert!(told.is_some_and(|told| told.starts_with(own.as_str())), "{}", preset.name);
    }
    let rate = device.split_once('_').map_or("3200", |(_, rate)| rate);
    let data_rate = plan.effective["memory"]["dram"]["data_rate"].as_str();
    assert_eq!(data_rate, Some(format!("{rate} MT/s").as_str()));
    let again = plan_json(&plan.effective.to_string(), &[]);
    assert_eq!(again.server().unwrap().socket().memory, plan.server().unwrap().socket().memory);
}

const CHANNELS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// Counts go round, so that each comes with every preset and with every device.
#[test]
fn every_preset_resolves_with_every_device_and_several_channel_counts() {
    for (row, preset) in presets().iter().enumerate() {
        for (column, device) in devices().iter().enumerate() {
            assert_resolves(preset, device, CHANNELS[(row + column) % CHANNELS.len()]);
        }
    }
}

#[test]
#[ignore = "long"]
fn every_preset_resolves_with_every_device_and_every_channel_count() {
    for preset in presets() {
        for device in devices() {
            CHANNELS.iter().for_each(|&channels| assert_resolves(&preset, &device, channels));
        }
    }
}

#[test]
fn the_effective_configuration_gives_the_same_plan() {
    let cases: [&[&str]; 8] = [
        &[],
        &["memory.channels=4", "memory.page=2 MiB", "run.precision=0.02", "workload.disk.rate=14 GB/s"],
        &["memory.map={channel=['8+20'],rank=['15'],bank_group=['7','16'],bank=['9','17+20']}", "run.warmup=20 us"],
        &["server.preset=ice-lake-8362", "workload.stream.pattern=strided", "workload.stream.stride=256 B"],
        &["cache.enabled=true", "ddio.off=[]", "workload.stream.llc_ways=0x1c", "workload.disk.consume=true"],
        &[
            "cache.enabled=true",
            "ddio.off=[0,3]",
            "workload.stream.cores=0-1",
            "workload.kv={kind='app',app='redis',cores='2-3',clients='4-5',sets=0.125}",
        ],
        &[
            "cache.enabled=true",
            "workload.stream.cores=0-1",
            "workload.kv={kind='app',app='trace',cores='2-3',file='traces/redis-get.lackey.xz',repeat=false}",
        ],
        &["memory.dram.timing.wr=0", "ssd.bandwidth=2 GB/s", "memory.size=16 GiB", "run.seed=18446744073709551615"],
    ];
    for settings in cases {
        let first = plan(&example("quadrant3.toml"), settings);
        let again = plan_json(&first.effective.to_string(), &[]);
        assert_eq!(first.hash, again.hash, "{settings:?}");
        assert_eq!(
            (first.server().unwrap(), &first.run, &first.name),
            (again.server().unwrap(), &again.run, &again.name)
        );
        assert_eq!((&first.effective, &first.unvalidated), (&again.effective, &again.unvalidated));
    }
}

#[test]
fn settings_on_an_effective_configuration_have_their_effect() {
    let effective = plan(&example("quadrant3.toml"), &[]).effective.to_string();
    let changed = |change: &str| plan_json(&effective, &[change]).server().unwrap().socket().clone();
    assert_eq!(changed("memory.device=DDR4_3200").memory.dram.timing.cl, 22);
    assert_eq!(changed("memory.channels=4").memory.map.channels, 4);
    assert_eq!(changed("ssd.bandwidth=1 GB/s").ssd.read_bytes_per_s, 1_000_000_000);
    assert_eq!(fio(plan_json(&effective, &["workload.disk.job=probe.fio"]).server().unwrap()).jobs.len(), 1);
    assert!(matches!(plan_json(&effective, &["run.precision=0.02"]).run.length, Length::Precision { .. }));
    let error = resolve_text(&effective, hostnet_config::Format::Json, &["server.preset=ice-lake-8362"]).unwrap_err();
    assert_tells(&told(&error), &["[no-effect server.preset]"]);
}

#[test]
fn a_configuration_keeps_its_hash_when_parts_are_added_that_it_lacks() {
    // As of the versions before those parts; a change of an example changes its hash, too.
    let hashes = [
        ("quadrant3.toml", "ab67db4eadcbef1c"),
        ("hostcc.toml", "c5b8ce0d9f5aafce"),
        ("leaf-spine.toml", "12525027cae07544"),
        ("nudma.toml", "813ae804482a3bc6"),
        ("expander.toml", "1ace03d411b520c1"),
    ];
    for (name, before) in hashes {
        assert_eq!(plan(&example(name), &[]).hash[..before.len()], *before, "{name}");
    }
}

#[test]
fn the_hash_covers_the_seed_and_not_the_name() {
    let text = example("quadrant3.toml");
    let hash = |setting: &str| plan(&text, &[setting]).hash;
    assert_ne!(hash("run.seed=1"), hash("run.seed=2"));
    assert_eq!(hash("run.name=a"), hash("run.name=b"));
    assert_ne!(hash("core.lfb.entries=12"), hash("core.lfb.entries=13"));
}

#[test]
fn only_fast_forward_that_is_on_changes_the_hash() {
    let text = example("quadrant3.toml");
    let hash = |settings: &[&str]| plan(&text, settings).hash;
    assert_eq!(hash(&[]), hash(&["run.forward=off"]));
    assert_ne!(hash(&[]), hash(&["run.forward=auto"]));
}

#[test]
fn what_the_user_wrote_is_listed() {
    let plan = plan(
        "[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"",
        &["ssd.streams=2"],
    );
    assert_eq!(plan.given, ["server.preset", "ssd.streams", "workload.a.cores", "workload.a.kind"]);
    assert_eq!(plan.name, "test");
}
