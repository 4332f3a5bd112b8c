//! Every kind of user error, with its place and its message.

use crate::common::{assert_tells, example, resolve_text, told};
use hostnet_config::{suggested, Format};
use std::io::Write;

fn message(text: &str, overrides: &[&str]) -> String {
    match resolve_text(text, Format::Toml, overrides) {
        Ok(_) => panic!("resolves: {text} {overrides:?}"),
        Err(error) => told(&error),
    }
}

/// Returns the error of one setting on top of the example.
fn setting(text: &str) -> String {
    message(&example("quadrant3.toml"), &[text])
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    assert_tells(message, parts);
    assert!(!message.contains('\n'), "one line: {message}");
}

#[test]
fn syntax_errors_have_line_and_column() {
    assert_says(&message("[core]\ncount = \n", &[]), &["[syntax ]", "test.toml:2: ", "column 9"]);
    let json = resolve_text("{\"core\": \n3", Format::Json, &[]).unwrap_err();
    assert_says(&told(&json), &["[syntax ] test.toml:2: "]);
}

#[test]
fn a_repeated_key_is_an_error_in_both_languages() {
    assert_says(&message("[core]\ncount = 1\ncount = 2\n", &[]), &["[syntax ] test.toml:3: "]);
    let json = resolve_text("{\"run\": {}, \"run\": {}}", Format::Json, &[]).unwrap_err();
    assert_says(&told(&json), &["[syntax ] \"run\""]);
}

#[test]
fn unknown_keys_name_their_line_and_the_nearest_key() {
    assert_says(
        &message("[core]\n\nlfb.entris = 3\n", &[]),
        &["[unknown-key core.lfb.entris]", "test.toml:3: ", "\"entries\""],
    );
    assert_says(&message("[core]\nzzz = 3\n", &[]), &["[unknown-key core.zzz]"]);
    assert_says(&setting("memory.chanels=3"), &["[unknown-key memory.chanels] \"channels\""]);
    let stream = "[workload.a]\nkind = \"stream\"\ncores = \"0\"\npatern = \"random\"\n";
    assert_says(&message(stream, &[]), &["[unknown-key workload.a.patern]", "test.toml:4: ", "\"pattern\""]);
}

#[test]
fn errors_have_the_column_of_the_key_and_the_name_that_they_propose() {
    let error = |text: &str, overrides: &[&str]| resolve_text(text, Format::Toml, overrides).expect_err("it is wrong");
    let known = [
        ("[core]\n  lfb.entris = 3\n", Some((2, 7)), Some("entries")),
        ("[run]\nseed = -1\n", Some((2, 1)), None),
        ("[core]\ncount = \n", Some((2, 9)), None),
    ];
    for (text, place, nearest) in known {
        let error = error(text, &[]);
        assert_eq!((error.line.zip(error.column), suggested(&error.message)), (place, nearest), "{text}");
    }
    let overridden = error(&example("quadrant3.toml"), &["memory.chanels=3"]);
    assert_eq!((overridden.column, suggested(&overridden.message)), (None, Some("channels")));
}

#[test]
fn units_are_wanted_and_explained() {
    let lfb = |value: &str| message(&format!("[core]\nlfb.refill = {value}\n"), &[]);
    assert_says(&lfb("13.5"), &["[wrong-type core.lfb.refill]", "test.toml:2: ", "13.5", "\"70 ns\""]);
    assert_says(&lfb("\"13.5\""), &["[bad-unit core.lfb.refill] \"13.5\""]);
    assert_says(&lfb("\"13.5 GB/s\""), &["[bad-unit core.lfb.refill] \"13.5 GB/s\""]);
    assert_says(&lfb("\"13.5 sn\""), &["[bad-unit core.lfb.refill] \"sn\""]);
    assert_says(&lfb("\"-1 ns\""), &["[out-of-range core.lfb.refill]"]);
    assert_says(&lfb("\"0.0001 ps\""), &["[not-a-multiple core.lfb.refill] 1 ps"]);
    assert_says(&lfb("\"99999999999999999999 s\""), &["[out-of-range core.lfb.refill]"]);
    assert_says(&lfb("\"1 h\""), &["[bad-unit core.lfb.refill] \"h\""]);
    assert_says(&lfb("\"10 s\""), &["[out-of-range core.lfb.refill]", "0 ps", "100 us"]);
    assert_says(&setting("workload.disk.rate=14 GB"), &["[bad-unit workload.disk.rate]"]);
    assert_says(&setting("memory.dram.data_rate=2933 MHz"), &["[bad-unit memory.dram.data_rate] \"3200 MT/s\""]);
}

#[test]
fn types_and_ranges_are_explained() {
    assert_says(&setting("core.lfb.entries=0"), &["[out-of-range core.lfb.entries] 1 to 1024"]);
    assert_says(&setting("iio.write_credits=0"), &["[out-of-range iio.write_credits]"]);
    assert_says(&setting("core.lfb.entries=1.5"), &["[wrong-type core.lfb.entries] 1.5"]);
    assert_says(&setting("core.lfb.entries='12'"), &["[wrong-type core.lfb.entries] \"12\""]);
    assert_says(&setting("core.lfb=3"), &["[wrong-type core.lfb]"]);
    assert_says(&setting("memory.controller.write_auto_precharge=1"), &["[wrong-type "]);
    let precise = message(&example("quadrant3.toml"), &["run.precision=0.01", "run.forward=auto"]);
    assert_says(&precise, &["[no-effect run.forward]"]);
    assert_says(&setting("run.seed=-1"), &["[out-of-range run.seed] -1"]);
    assert_says(&setting("run.seed=18446744073709551616"), &["[out-of-range run.seed]"]);
    assert_says(&setting("pcie.generation=7"), &["[out-of-range pcie.generation] 1 to 6"]);
    assert_says(&message("[run]\nseed = 1979-05-27\n", &[]), &["[syntax run.seed] test.toml:2: "]);
    assert_says(&message("[fio]\ndma_lines_per_page = nan\n", &[]), &["[syntax fio.dma_lines_per_page] test.toml:2: "]);
}

#[test]
fn presets_devices_and_patterns_offer_the_nearest_name() {
    assert_says(
        &message("[server]\npreset = \"cascade-lake\"\n", &[]),
        &["[unknown-name server.preset]", "test.toml:2: ", "\"cascade-lake-6234\""],
    );
    assert_says(&message("[server]\npreset = \"zen\"\n", &[]), &["[unknown-name server.preset]"]);
    assert_says(&setting("memory.device=DDR4_2993"), &["[unknown-name memory.device] \"DDR4_2933\""]);
    assert_says(
        &setting("workload.stream.pattern=sequentiel"),
        &["[unknown-name workload.stream.pattern] \"sequential\""],
    );
    assert_says(&setting("memory.map=RoBaRaCoCC"), &["[unknown-name memory.map] \"RoBaRaCoCC\""]);
}

#[test]
fn what_is_missing_is_named() {
    assert_says(&message("", &[]), &["[missing-key server.preset] cascade-lake-6234"]);
    assert_says(&message("[server]\npreset = \"cascade-lake-6234\"\n", &[]), &["[missing-key workload]"]);
    assert_says(
        &message("[server]\npreset = \"cascade-lake-6234\"\n[workload]\n", &[]),
        &["[wrong-count workload] 0 workloads"],
    );
    assert_says(&setting("nic.ring=512"), &["[missing-key nic.pcie.lanes]"]);
    assert_says(&setting("workload.x.cores=[0]"), &["[missing-key workload.x.kind]"]);
    assert_says(&setting("workload.x={kind='stream'}"), &["[missing-key workload.x.cores]"]);
    assert_says(&setting("workload.x={kind='fio'}"), &["[missing-key workload.x.job]"]);
    assert_says(&setting("workload.stream.pattern=strided"), &["[missing-key workload.stream.stride]"]);
}

#[test]
fn impossible_geometry_is_refused() {
    assert_says(&setting("memory.channels=65"), &["[out-of-range memory.channels]", "65", "1 to 64"]);
    assert_says(&setting("memory.dram.rows=1000"), &["[not-a-multiple memory.dram.rows] 1000"]);
    assert_says(&setting("memory.dram.ranks=8"), &["[too-many memory.dram.ranks]", "128", "64"]);
    assert_says(&setting("memory.dram.row_size=3 KiB"), &["[not-a-multiple memory.dram.row_size]", "2 KiB", "4 KiB"]);
    assert_says(
        &setting("memory.map={channel=['8'],rank=['15'],bank_group=['7','16'],bank=['9','7+16']}"),
        &["[bad-address-map memory.map.bank[1]]"],
    );
    assert_says(
        &setting("memory.map={channel=['8','9'],rank=['15'],bank_group=['7','16'],bank=['9','17']}"),
        &["[bad-address-map memory.map.channel] memory.channels = 2"],
    );
    assert_says(
        &setting("memory.map={channel=['8'],rank=['15'],bank_group=['7','16'],bank=['9','35']}"),
        &["[bad-address-map memory.map.bank[1]]", "bit 35", "6 to 34"],
    );
    assert_says(&setting("memory.size=64 GiB"), &["[out-of-memory-space memory.size]", "64 GiB", "32 GiB"]);
    assert_says(&setting("memory.size=1 GiB"), &["[out-of-memory-space memory.size]"]);
    assert_says(&setting("memory.page=8 KiB"), &["[out-of-range memory.page] 8 KiB"]);
    let both = message(&example("quadrant3.toml"), &["memory.run=4 KiB", "memory.page=2 MiB"]);
    assert_says(&both, &["[wrong-order memory.run]", "4 KiB", "memory.page = 2"]);
}

#[test]
fn rules_between_keys_blame_the_key_that_was_written() {
    let text = example("quadrant3.toml") + "\n[memory.controller]\nwrite_high = 40\n";
    assert_says(
        &message(&text, &["memory.controller.wpq.entries=2"]),
        &["[does-not-fit memory.controller.wpq.entries] wpq.entries = 2"],
    );
    assert_says(
        &setting("memory.controller.write_low=4095"),
        &["[wrong-order memory.controller.write_low] write_low = 4095"],
    );
    assert_says(
        &setting("memory.dram.timing.cwl=99"),
        &["[wrong-order memory.dram.timing.cwl]", "cwl = 99", "burst = 25"],
    );
    assert_says(&setting("memory.dram.timing.cl=2"), &["[wrong-order memory.dram.timing.cl] cwl = 20"]);
    assert_says(&setting("core.write_ack=100 us"), &["[wrong-order core.write_ack] 100 us"]);
    assert_says(&setting("ssd.count=17"), &["[too-few-slots ssd.count] 16"]);
    assert_says(&setting("pcie={mps='256 B',posted_lines=3}"), &["[does-not-fit pcie.posted_lines]"]);
    assert_says(
        &setting("ssd={bandwidth='1 GB/s',read_bandwidth='1 GB/s',write_bandwidth='1 GB/s'}"),
        &["[conflicting-keys ssd.bandwidth]"],
    );
    let both = "[run]\nduration = \"1 ms\"\nprecision = 0.01\n[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\n\
        kind = \"stream\"\ncores = \"0\"\n";
    assert_says(&message(both, &[]), &["[conflicting-keys run.precision] test.toml:3: "]);
    assert_says(&setting("run.duration_max=1 s"), &["[no-effect run.duration_max]"]);
    assert_says(&setting("workload.stream.stride=256 B"), &["[no-effect workload.stream.stride]"]);
    assert_says(
        &setting("workload.disk.jobs=[{rw='read',bs='1 MiB',iodepth=1,size='1 GiB',ssd=9}]"),
        &["[does-not-exist ", "drive 9"],
    );
}

#[test]
fn impossible_timings_are_refused_with_the_rule_and_the_edge_is_allowed() {
    // DDR4_2933: ras 47, rp 21, rcd 21, burst 4, ccd_s 4, ccd_l 8, rrd_s 4, rrd_l 8, wtr_s 4, wtr_l 11, refi 11437.
    let cases = [
        ("rc", 68, 67, "rc = 67 | ras + rp = 68"),
        ("rp", 21, 22, "rc = 68 | ras + rp = 69"),
        ("ras", 47, 48, "rc = 68 | ras + rp = 69"),
        ("ras", 21, 20, "ras = 20 | rcd = 21"),
        ("ccd_s", 4, 3, "ccd_s = 3 | burst = 4"),
        ("burst", 4, 5, "ccd_s = 4 | burst = 5"),
        ("ccd_l", 4, 3, "ccd_l = 3 | ccd_s = 4"),
        ("ccd_l_wr", 8, 7, "ccd_l_wr = 7 | ccd_l = 8"),
        ("rrd_l", 4, 3, "rrd_l = 3 | rrd_s = 4"),
        ("wtr_l", 4, 3, "wtr_l = 3 | wtr_s = 4"),
        ("faw", 4, 3, "faw = 3 | rrd_s = 4"),
        ("cwl", 25, 26, "cwl = 26 | cl + burst = 25"),
        ("rfc", 5718, 5719, "rfc = 5719 | refi = 5718"),
    ];
    for (key, allowed, refused, rule) in cases {
        let at = |value: u32| format!("memory.dram.timing.{key}={value}");
        let edge = resolve_text(&example("quadrant3.toml"), Format::Toml, &[&at(allowed)]);
        assert!(edge.is_ok(), "{}: {}", at(allowed), edge.unwrap_err());
        let wanted = format!("[wrong-order memory.dram.timing.{key}] --set {}: | {rule}", at(refused));
        assert_says(&setting(&at(refused)), &[&wanted]);
    }
    let off = resolve_text(&example("quadrant3.toml"), Format::Toml, &["memory.dram.timing.faw=0"]);
    assert_eq!(off.unwrap().server().unwrap().socket().memory.dram.timing.faw, 0);
}

#[test]
fn same_bank_refresh_needs_a_device_with_all_its_timings() {
    let all = |same_bank: &str, timing: &str| {
        let settings = [format!("memory.dram.same_bank={same_bank}"), format!("memory.dram.timing={timing}")];
        resolve_text(&example("quadrant3.toml"), Format::Toml, &settings.each_ref().map(String::as_str))
            .map_err(|error| told(&error))
    };
    let plan = all("one-bank", "{rfc_sb=200,refi_sb=700,refsb_refsb=700}").unwrap();
    assert_eq!(plan.server().unwrap().socket().memory.dram.timing.refi_sb, 700);
    let refused = |result: Result<_, String>| result.map(|_: hostnet_config::Plan| ()).unwrap_err();
    assert_says(
        &refused(all("one-bank", "{rfc_sb=401,refi_sb=400}")),
        &["[wrong-order memory.dram.timing.rfc_sb]", "rfc_sb = 401", "refi_sb = 400"],
    );
    assert_says(
        &refused(all("one-bank", "{rfc_sb=200,refi_sb=700,refsb_refsb=701}")),
        &["[wrong-order memory.dram.timing.refsb_refsb]", "refsb_refsb = 701", "refi_sb = 700"],
    );
    assert_says(
        &refused(all("every-group", "{rfc_sb=200}")),
        &["[missing-key memory.dram.timing.refi_sb]", "refi_sb = 0", "same_bank = \"every"],
    );
    assert_says(
        &refused(all("none", "{refsb_act=1}")),
        &["[no-effect memory.dram.timing.refsb_act]", "refsb_act = 1", "same_bank = \"none\""],
    );
    assert_says(
        &setting("memory.controller.refresh=same-bank"),
        &["[requires-key memory.controller.refresh] memory.dram.same_bank = \"none\""],
    );
    assert_says(
        &setting("memory.controller.refresh_postponed=9"),
        &[
            "[out-of-range memory.controller.refresh_postponed]",
            "refresh_postponed = 9",
            "memory.dram.postponed_max = 8",
        ],
    );
    assert_says(
        &setting("memory.dram.same_bank=every-grup"),
        &["[unknown-name memory.dram.same_bank] \"every-group\""],
    );
}

#[test]
fn policies_offer_the_nearest_name_and_a_timeout_needs_its_time() {
    assert_says(
        &setting("memory.controller.scheduler=oldest-redy"),
        &["[unknown-name memory.controller.scheduler] \"oldest-ready\""],
    );
    assert_says(&setting("memory.controller.page=lazy"), &["[unknown-name memory.controller.page]"]);
    assert_says(&setting("memory.controller.idle_close=off"), &["[requires-key memory.controller.idle_close]"]);
    let keys = ["memory.controller.idle_drain=off", "memory.controller.idle_flush=1 us"];
    let flush = message(&example("quadrant3.toml"), &keys);
    assert_says(&flush, &["[conflicting-keys memory.controller.idle_flush] idle_drain = \"off\""]);
    assert_says(
        &setting("memory.controller.write_high=80"),
        &["[does-not-fit memory.controller.write_high]", "write_high = 80", "wpq.entries = 41"],
    );
    for wrong in ["'80'", "'101%'", "'-1%'", "'%'", "'1.23456%'", "0.8"] {
        let said = setting(&format!("memory.controller.write_high={wrong}"));
        assert_says(&said, &[" memory.controller.write_high] ", "\"80%\""]);
    }
}

#[test]
fn cores_exist_and_do_the_kernel_s_work_for_one_workload() {
    let two = "workload.also={kind='fio',job='probe.fio',cores='7'}";
    assert_says(&setting(two), &["[core-taken workload.also.cores] core 7"]);
    assert_says(&setting("core.count=6"), &["[does-not-exist core.count]", "core 6", "core.count = 6", "0 to 5"]);
    assert_says(&setting("workload.stream.cores=3"), &["[wrong-type workload.stream.cores] \"0-3\""]);
    assert_says(&setting("workload.stream.cores=5-0"), &["[wrong-order "]);
    assert_says(&setting("workload.stream.cores=[0,0]"), &["[duplicate workload.stream.cores]"]);
    assert_says(&setting("workload.stream.cores=0-4000000000"), &["[malformed-value workload.stream.cores]"]);
    let all = "[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = \"0-7\"\n\
               [workload.disk]\nkind = \"fio\"\njob = \"probe.fio\"\n";
    assert_says(&message(all, &[]), &["[too-many-cores workload.disk]"]);
}

#[test]
fn unreadable_job_files_are_named() {
    assert_says(&setting("workload.disk.job=nope.fio"), &["[file-not-found workload.disk.job]"]);
    assert_says(&setting("workload.disk.job=."), &["[file-access workload.disk.job]"]);
    assert_says(&setting("workload.disk.job=/dev/zero"), &["[file-access workload.disk.job]"]);
    assert_says(&setting("workload.disk.job=quadrant3.toml"), &["[unknown-key preset] quadrant3.toml:13: "]);
    let place = std::env::temp_dir().join(format!("hostnet-config-{}.bin", std::process::id()));
    std::fs::File::create(&place).unwrap().write_all(&[0xff, 0xfe, 0, 1]).unwrap();
    let said = setting(&format!("workload.disk.job={}", place.display()));
    std::fs::remove_file(&place).unwrap();
    assert_says(&said, &["[malformed-file workload.disk.job]"]);
    assert_says(&setting("ssd.count=3"), &["[too-few-slots filename]", "quadrant.fio:19: ", "ssd.count = 3"]);
}

#[test]
fn devices_and_profiles_of_the_users_own_are_read_and_their_errors_have_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let specs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let device = std::fs::read_to_string(specs.join("dram/DDR4_2933.toml")).unwrap();
    let profile = std::fs::read_to_string(specs.join("controllers/ramulator.toml")).unwrap();
    let resolve = |device: &str, profile: &str, overrides: &[&str]| {
        std::fs::write(folder.path().join("my.toml"), device).unwrap();
        std::fs::write(folder.path().join("mc.toml"), profile).unwrap();
        let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
        let text =
            "[server]\npreset = \"cascade-lake-6234\"\n[memory]\ndevice = \"./my.toml\"\nprofile = \"mc.toml\"\n\
                    [workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
        let (format, file) = (Format::Toml, "server.toml");
        hostnet_config::resolve(&hostnet_config::Input {
            text,
            format,
            file,
            base_dir: folder.path(),
            overrides: &overrides,
        })
    };
    let says = |result: Result<hostnet_config::Plan, hostnet_config::ConfigError>, wanted: &str| {
        assert_says(&told(&result.map(|_| ()).unwrap_err()), &[wanted]);
    };
    let plan = resolve(&device, &profile, &[]).unwrap();
    let memory = &plan.server().unwrap().socket().memory;
    assert_eq!((memory.dram.timing.cl, memory.controller.write_high), (21, 26));
    let again = resolve_text(&plan.effective.to_string(), Format::Json, &[]).unwrap();
    assert_eq!((&again.hash, again.server()), (&plan.hash, plan.server()), "the files are not needed again");

    says(resolve("ranks = \n", &profile, &[]), "[syntax ] ./my.toml:1: column 9: ");
    says(
        resolve(&device.replace("rcd =", "rcdd ="), &profile, &[]),
        "[unknown-key timing.rcdd] ./my.toml:15: | \"rcd\"",
    );
    says(
        resolve(&device.replace("rc = 68", "rc = 67"), &profile, &[]),
        "[wrong-order timing.rc] ./my.toml:18: | rc = 67 | ras + rp = 68",
    );
    says(resolve(&device.replace("rfc = 514", ""), &profile, &[]), "[missing-key timing.rfc] ./my.toml: ");
    says(
        resolve(&device, &profile.replace("\"80%\"", "33"), &[]),
        "[does-not-fit write_high] mc.toml:11: | write_high = 33 | wpq.entries = 32",
    );
    says(
        resolve(&device, &profile, &["memory.dram.timing.rp=22"]),
        "[wrong-order memory.dram.timing.rp] --set memory.dram.timing.rp=22: | rc = 68 | ras + rp = 69",
    );
    assert_says(&setting("memory.device=./none.toml"), &["[file-not-found memory.device]"]);
    assert_says(&setting("memory.profile=intl"), &["[unknown-name memory.profile]", "\"intl\"", "\"intel\""]);
}

#[test]
fn malformed_settings_are_named() {
    assert_says(&setting("foo"), &["[syntax ] \"=\""]);
    assert_says(&setting("a..b=3"), &["[syntax ]"]);
    assert_says(&setting("=3"), &["[syntax ]"]);
    assert_says(&setting("workload.disk.jobs[0].bs=64k"), &["[malformed-value ]"]);
    assert_says(&setting(&format!("{}=3", ["a"; 99].join("."))), &["[syntax ]"]);
}

#[test]
fn a_name_that_says_more_than_a_known_one_is_not_taken_for_it() {
    assert_says(&setting("memory.controller.scheduler=frfcfs"), &["[unknown-name memory.controller.scheduler]"]);
    assert_says(&setting("memory.controller.scheduler=fcf"), &["[unknown-name memory.controller.scheduler] \"fcfs\""]);
}

#[test]
fn an_empty_table_that_would_change_nothing_is_refused() {
    for path in ["workload", "run"] {
        assert_says(&setting(&format!("{path}={{}}")), &[&format!("[no-effect {path}]")]);
    }
    let present = "[server]\npreset = \"ice-lake-8362\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
    assert!(resolve_text(present, Format::Toml, &["run={}"]).is_ok(), "the file has no such table");
}

#[test]
fn names_of_workloads_and_runs_are_plain() {
    assert_says(
        &message("[workload.\"a b\"]\nkind = \"stream\"\ncores = \"0\"\n", &[]),
        &["[malformed-value workload.\"a b\"] 1 to 40"],
    );
    assert_says(
        &message("[workload.all]\nkind = \"stream\"\ncores = \"0\"\n", &[]),
        &["[malformed-value workload.all] \"all\""],
    );
    assert_says(&setting("run.name=a/b"), &["[malformed-value run.name] \"a/b\""]);
}

#[test]
fn a_job_that_lacks_a_key_is_told_with_its_place() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.disk]\nkind = \"fio\"\n\
                jobs = [{ rw = \"read\", iodepth = 1, ssd = 0 }]\n";
    let input = hostnet_config::Input {
        text,
        format: hostnet_config::Format::Toml,
        file: "server.toml",
        base_dir: std::path::Path::new("."),
        overrides: &[],
    };
    let error = told(&hostnet_config::resolve(&input).expect_err("bs is missing"));
    assert_says(&error, &["[missing-key workload.disk.jobs[0].bs] server.toml:5: "]);
}

/// Returns the error of settings on top of enabled caches.
fn with_caches(settings: &[&str]) -> String {
    message(&example("quadrant3.toml"), &[&["cache.enabled=true"], settings].concat())
}

#[test]
fn masks_of_ways_are_contiguous_not_empty_and_of_ways_that_exist() {
    for key in ["ddio.ways", "workload.stream.llc_ways", "workload.disk.llc_ways"] {
        let says = |value: &str, parts: &[&str]| {
            let set = format!("{key}={value}");
            assert_says(&with_caches(&[&set]), &[&[format!("--set {set}: {key}: ").as_str()], parts].concat());
            assert_says(&setting(&set), parts);
        };
        says("'0x0'", &["[malformed-value ", "\"0x0\""]);
        says("[]", &["[wrong-count ", "1 to 64"]);
        says("'0x5'", &["[malformed-value ", "\"0x5\"", "\"9-10\""]);
        says("'0,2'", &["[malformed-value ", "\"0,2\""]);
        says("[0,2]", &["[malformed-value ", "\"0,2\""]);
        says("'10-11'", &["[does-not-exist ", "\"10-11\"", "cache.llc.ways = 11", "0 to 10"]);
        says("'0x800'", &["[does-not-exist ", "\"11\""]);
        says("[40]", &["[does-not-exist ", "\"40\""]);
        says("'5-3'", &["[wrong-order "]);
        says("'x'", &["[malformed-value ", "\"x\""]);
        says("'0xzz'", &["[malformed-value ", "\"0xzz\"", "\"0x600\""]);
        says("0x0", &["[malformed-value ", "\"0x0\""]);
        says("12", &["[does-not-exist ", "\"12\""]);
        says("1.5", &["[malformed-value ", "\"1.5\""]);
    }
    assert_says(&setting("cache.llc.ways=10"), &["[does-not-exist cache.llc.ways] \"9-10\""]);
}

#[test]
fn impossible_caches_are_refused() {
    for cache in ["l2", "llc", "filter"] {
        let key = |key: &str, value: &str| setting(&format!("cache.{cache}.{key}={value}"));
        assert_says(&key("sets", "1000"), &["[not-a-multiple ", "1000", "512", "1024"]);
        assert_says(&key("sets", "0"), &["[out-of-range ", "1 to 65536"]);
        assert_says(&key("ways", "0"), &["[out-of-range ", "1 to 32"]);
        assert_says(&key("ways", "33"), &["[out-of-range ", "33", "1 to 32"]);
    }
    assert_says(&setting("cache.l2.replacement=lruu"), &["[unknown-name cache.l2.replacement] \"lru\""]);
    assert_says(&setting("cache.llc.inclusion=inclusiv"), &["[unknown-name cache.llc.inclusion] \"inclusive\""]);
    assert_says(&setting("cache.llc.hit=0 ns"), &["[out-of-range cache.llc.hit]", "\"0 ns\"", "1 ps", "10 us"]);
    assert_says(&setting("cache.l3.ways=4"), &["[unknown-key cache.l3] \"l2\""]);
    assert_says(&setting("cache.enabled=1"), &["[wrong-type "]);
    assert_says(&setting("prefetch.distance=65"), &["[out-of-range prefetch.distance] 1 to 64"]);
    assert_says(&setting("core.frequency=3.3 ns"), &["[bad-unit core.frequency] \"2.4 GHz\""]);
    assert_says(&setting("core.frequency=3.3"), &["[wrong-type core.frequency]"]);
    let large = ["cache.llc.sets=65536", "cache.llc.ways=32"];
    assert_says(&with_caches(&large), &["[too-many cache.llc.sets] 2 GiB"]);
    let unused = resolve_text(&example("quadrant3.toml"), Format::Toml, &large);
    assert!(unused.is_ok(), "caches that take no part need no memory");
    let edge = ["cache.l2.sets=1", "cache.filter.sets=1", "cha.slices=16", "cache.llc.sets=65536", "cache.llc.ways=32"];
    assert_says(&with_caches(&edge), &["[too-many cache.llc.sets] 2 GiB"]);
    let fits = [&edge[..4], &["cache.llc.ways=31"]].concat();
    assert!(resolve_text(&example("quadrant3.toml"), Format::Toml, &fits).is_ok());
}

#[test]
fn ddio_is_off_for_drives_that_exist() {
    assert_says(&setting("ddio.off=4"), &["[does-not-exist ddio.off] drive 4"]);
    assert_says(&message("[ddio]\noff = 3\n", &[]), &["[wrong-type ddio.off]", "test.toml:2: ", "\"0-3\""]);
    assert_says(&setting("ddio.off='3-4'"), &["[does-not-exist ddio.off]", "drive 4", "ssd.count = 4", "0 to 3"]);
    assert_says(&setting("ddio.off=[9]"), &["[does-not-exist ", "drive 9"]);
    assert_says(&setting("ddio.off=[64]"), &["[out-of-range ddio.off[0]]", "64", "0 to 63"]);
    assert_says(&setting("ddio.off='0,0'"), &["[duplicate ddio.off] drive 0"]);
    assert_says(
        &message(&example("quadrant3.toml"), &["ddio.off='3'", "ssd.count=3", "workload.disk.job=probe.fio"]),
        &["[does-not-exist ddio.off] drive 3"],
    );
}

/// Returns the error of settings on top of an application.
fn app(settings: &[&str]) -> String {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
                [workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0-2\"\n";
    message(text, settings)
}

#[test]
fn what_needs_caches_says_so() {
    assert_says(&app(&["cache.enabled=false"]), &["[requires-key cache.enabled]"]);
    assert_says(&setting("workload.disk.consume=true"), &["[requires-key workload.disk.consume]"]);
    let text =
        "[server]\npreset = \"cascade-lake-6234\"\n[workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0\"\n";
    assert_says(&message(text, &[]), &["[requires-key workload.kv.app] test.toml:5: "]);
}

#[test]
fn applications_have_names_keys_and_cores() {
    assert_says(&app(&["workload.kv.app=rediss"]), &["[unknown-name workload.kv.app]", "\"rediss\"", "\"redis\""]);
    assert_says(&app(&["workload.kv.app=mysql"]), &["[unknown-name workload.kv.app] \"mysql\""]);
    assert_says(&app(&["workload.kv.scale=20"]), &["[no-effect workload.kv.scale]"]);
    assert_says(&app(&["workload.kv.scale=20"]), &["[no-effect workload.kv.scale]"]);
    assert_says(&app(&["workload.kv.app=bc", "workload.kv.keys=2"]), &["[no-effect workload.kv.keys]"]);
    assert_says(&app(&["workload.kv.instructions.node=2"]), &["[no-effect workload.kv.instructions.node]"]);
    assert_says(&app(&["workload.kv.instructions.line='1'"]), &["[wrong-type workload.kv.instructions.line] \"1\""]);
    assert_says(&app(&["workload.kv.clients=4-5"]), &["[wrong-count workload.kv.clients]"]);
    assert_says(&app(&["workload.kv.clients=2-4"]), &["[core-taken workload.kv.clients] core 2"]);
    assert_says(&app(&["workload.kv.clients=6-8"]), &["[does-not-exist workload.kv.clients] core 8"]);
    assert_says(&app(&["workload.kv.clients=3-5", "workload.kv.in_flight=0"]), &["[out-of-range workload.kv.clients]"]);
    assert_says(&app(&["workload.kv.kees=2"]), &["[unknown-key workload.kv.kees] \"keys\""]);
    assert_says(&app(&["workload.kv.value=1"]), &["[wrong-type workload.kv.value]"]);
    assert_says(&app(&["workload.kv.ipc=0"]), &["[out-of-range workload.kv.ipc] 0.01 to 16"]);
    assert_says(&app(&["workload.kv.cores=7-8"]), &["[does-not-exist workload.kv.cores] core 8"]);
    assert_says(&app(&["workload.b={kind='app',app='bc'}"]), &["[missing-key workload.b.cores]"]);
    assert_says(&app(&["workload.b={kind='app',cores='4'}"]), &["[missing-key workload.b.app]"]);
    assert_says(&app(&["workload.kv.kind=appp"]), &["[unknown-name workload.kv.kind] \"app\""]);
}

#[test]
fn applications_fit_the_memory() {
    assert_says(&app(&["workload.kv.keys=100000000"]), &["[out-of-memory-space workload.kv] 32 GiB"]);
    assert_says(&app(&["workload.b={kind='app',app='bc',cores='4',scale=32}"]), &["[out-of-memory-space workload.b]"]);
}

#[test]
fn traces_of_programs_have_a_file() {
    let trace = |settings: &[&str]| app(&[&["workload.kv.app=trace"], settings].concat());
    assert_says(&trace(&[]), &["[missing-key workload.kv.file]"]);
    assert_says(&trace(&["workload.kv.file=nothing.lackey"]), &["[file-not-found workload.kv.file]"]);
    assert_says(&trace(&["workload.kv.file=traces"]), &["[file-access workload.kv.file]"]);
    assert_says(
        &trace(&["workload.kv.file=probe.fio", "workload.kv.format=lackay"]),
        &["[unknown-name workload.kv.format]", "\"lackay\"", "\"lackey\""],
    );
    assert_says(&trace(&["workload.kv.file=probe.fio", "workload.kv.keys=2"]), &["[no-effect workload.kv.keys]"]);
    assert_says(&app(&["workload.kv.file=probe.fio"]), &["[no-effect workload.kv.file]"]);
    assert_says(
        &trace(&["workload.kv.file=probe.fio", "memory.size=1 GiB", "workload.s={kind='stream',cores='7'}"]),
        &["[out-of-memory-space memory.size]"],
    );
}

#[test]
fn a_key_above_its_table_is_told_where_it_belongs() {
    let text = "preset = \"ice-lake-8362\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
    assert_says(&message(text, &[]), &["[misplaced-key preset]", "test.toml:1: ", "\"server.preset\""]);
    assert_says(&setting("upi.bandwidth=6 GB/s"), &["[misplaced-key upi.bandwidth] \"upi.link.bandwidth\""]);
}

#[test]
fn a_missing_kind_is_told_with_its_choices() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n";
    assert_says(&message(text, &[]), &["[missing-key flow.f.kind]"]);
}

#[test]
fn a_setting_that_replaces_another_key_of_the_file_says_so() {
    let told = |overrides: &[&str]| {
        let plan = resolve_text(&example("quadrant3.toml"), Format::Toml, overrides).expect("it resolves");
        plan.ignored.into_iter().filter(|note| note.contains(" replaces ")).collect::<Vec<_>>()
    };
    assert_eq!(told(&["run.precision=0.02"]), ["run.precision = 0.02 replaces run.duration = \"1 ms\""]);
    assert!(told(&[]).is_empty());
    assert!(told(&["run.duration=2 ms"]).is_empty(), "the key itself is set");
}
