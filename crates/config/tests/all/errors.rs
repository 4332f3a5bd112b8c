//! Every kind of user error: where it is said to be, and how it is said.

use crate::common::{assert_tells, example, resolve_text, told};
use hostnet_config::Format;
use std::io::Write;

fn message(text: &str, overrides: &[&str]) -> String {
    match resolve_text(text, Format::Toml, overrides) {
        Ok(_) => panic!("resolves: {text} {overrides:?}"),
        Err(error) => told(&error),
    }
}

/// The message about one setting on top of the example.
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
    assert_says(&message("[core]\ncount = \n", &[]), &["test.toml:2: ", "column 9", "not valid TOML"]);
    let json = resolve_text("{\"core\": \n3", Format::Json, &[]).unwrap_err();
    assert_says(&told(&json), &["test.toml:2: ", "not valid JSON"]);
}

#[test]
fn a_repeated_key_is_an_error_in_both_languages() {
    assert_says(&message("[core]\ncount = 1\ncount = 2\n", &[]), &["test.toml:3: ", "duplicate key"]);
    let json = resolve_text("{\"run\": {}, \"run\": {}}", Format::Json, &[]).unwrap_err();
    assert_says(&told(&json), &["the key \"run\" stands twice"]);
}

#[test]
fn unknown_keys_name_their_line_and_the_nearest_key() {
    assert_says(
        &message("[core]\n\nlfb.entris = 3\n", &[]),
        &["test.toml:3: core.lfb.entris: ", "unknown key", "did you mean \"entries\"?"],
    );
    assert_says(&message("[core]\nzzz = 3\n", &[]), &["core.zzz: unknown key; known are: count, dirty_pool"]);
    assert_says(&setting("memory.chanels=3"), &["--set memory.chanels=3: memory.chanels: ", "\"channels\""]);
    let stream = "[workload.a]\nkind = \"stream\"\ncores = \"0\"\npatern = \"random\"\n";
    assert_says(&message(stream, &[]), &["test.toml:4: workload.a.patern: ", "\"pattern\""]);
}

#[test]
fn units_are_wanted_and_explained() {
    let lfb = |value: &str| message(&format!("[core]\nlfb.refill = {value}\n"), &[]);
    assert_says(&lfb("13.5"), &["test.toml:2: core.lfb.refill: 13.5 ", "a time with its unit such as \"70 ns\""]);
    assert_says(&lfb("\"13.5\""), &["\"13.5\" has no unit"]);
    assert_says(&lfb("\"13.5 GB/s\""), &["\"13.5 GB/s\" is a bandwidth", "a time such as"]);
    assert_says(&lfb("\"13.5 sn\""), &["unknown unit \"sn\""]);
    assert_says(&lfb("\"-1 ns\""), &["is negative"]);
    assert_says(&lfb("\"0.0001 ps\""), &["not a whole multiple of 1 ps"]);
    assert_says(&lfb("\"99999999999999999999 s\""), &["too large"]);
    assert_says(&lfb("\"1 h\""), &["unknown unit \"h\""]);
    assert_says(&lfb("\"10 s\""), &["out of range", "0 ps to 100 us"]);
    assert_says(&setting("workload.disk.rate=14 GB"), &["is a size", "a bandwidth such as"]);
    assert_says(
        &setting("memory.dram.data_rate=2933 MHz"),
        &["is a frequency", "a transfer rate such as \"3200 MT/s\""],
    );
}

#[test]
fn types_and_ranges_are_explained() {
    assert_says(&setting("core.lfb.entries=0"), &["core.lfb.entries: 0 is out of range; 1 to 1024"]);
    assert_says(&setting("iio.write_credits=0"), &["iio.write_credits: 0 is out of range"]);
    assert_says(&setting("core.lfb.entries=1.5"), &["1.5 is a number with decimals; a whole number is wanted"]);
    assert_says(&setting("core.lfb.entries='12'"), &["\"12\" is a string; a whole number is wanted"]);
    assert_says(&setting("core.lfb=3"), &["a table is wanted"]);
    assert_says(&setting("memory.controller.write_auto_precharge=1"), &["true or false is wanted"]);
    assert_says(&setting("run.seed=-1"), &["run.seed: -1 is out of range"]);
    assert_says(&setting("run.seed=18446744073709551616"), &["run.seed"]);
    assert_says(&setting("pcie.generation=7"), &["1 to 6"]);
    assert_says(&message("[run]\nseed = 1979-05-27\n", &[]), &["test.toml:2: run.seed: ", "a date"]);
    assert_says(&message("[fio]\ndma_lines_per_page = nan\n", &[]), &["test.toml:2: ", "not a finite number"]);
}

#[test]
fn presets_devices_and_patterns_offer_the_nearest_name() {
    assert_says(&message("[server]\npreset = \"cascade-lake\"\n", &[]), &["test.toml:2: ", "\"cascade-lake-6234\"?"]);
    assert_says(
        &message("[server]\npreset = \"zen\"\n", &[]),
        &["known are: broadwell-r730, cascade-lake-6234, cascade-lake-hostcc, i7-3770-gem5, ice-lake-8362, \
            mcn-a57, mcn-host-4, mcn-host-8, mcn-scaleup-12, mcn-scaleup-16, mcn-scaleup-8, \
            netdimm-host, skylake-8160, xeon-e5-2660-xl710"],
    );
    assert_says(&setting("memory.device=DDR4_2993"), &["did you mean \"DDR4_2933\"?"]);
    assert_says(&setting("workload.stream.pattern=sequentiel"), &["did you mean \"sequential\"?"]);
    assert_says(&setting("memory.map=RoBaRaCoCC"), &["memory.map: \"RoBaRaCoCC\" is not a known map"]);
}

#[test]
fn what_is_missing_is_named() {
    assert_says(&message("", &[]), &["server.preset: missing", "cascade-lake-6234"]);
    assert_says(
        &message("[server]\npreset = \"cascade-lake-6234\"\n", &[]),
        &["workload: missing", "[workload.stream]"],
    );
    assert_says(&message("[server]\npreset = \"cascade-lake-6234\"\n[workload]\n", &[]), &["workload: 0 workloads"]);
    assert_says(
        &setting("nic.ring=512"),
        &[
            "nic.pcie.lanes: missing; the preset cascade-lake-6234 has no [nic]",
            "the preset broadwell-r730 or cascade-lake-hostcc",
        ],
    );
    assert_says(&setting("workload.x.cores=[0]"), &["workload.x.kind: missing; one of stream, fio"]);
    assert_says(&setting("workload.x={kind='stream'}"), &["workload.x.cores: missing"]);
    assert_says(&setting("workload.x={kind='fio'}"), &["workload.x.job: missing"]);
    assert_says(&setting("workload.stream.pattern=strided"), &["workload.stream.stride: missing"]);
}

#[test]
fn impossible_geometry_is_refused() {
    assert_says(&setting("memory.channels=65"), &["memory.channels: 65 is out of range; 1 to 64"]);
    assert_says(&setting("memory.dram.rows=1000"), &["memory.dram.rows: 1000 is not a power of two"]);
    assert_says(&setting("memory.dram.ranks=8"), &["= 128; a subchannel has at most 64 banks"]);
    assert_says(&setting("memory.dram.row_size=3 KiB"), &["not a power of two such as 2 KiB or 4 KiB"]);
    assert_says(
        &setting("memory.map={channel=['8'],rank=['15'],bank_group=['7','16'],bank=['9','7+16']}"),
        &["memory.map.bank[1]: is the sum of other masks"],
    );
    assert_says(
        &setting("memory.map={channel=['8','9'],rank=['15'],bank_group=['7','16'],bank=['9','17']}"),
        &["channel has 2 masks; memory.channels = 2 needs 1"],
    );
    assert_says(
        &setting("memory.map={channel=['8'],rank=['15'],bank_group=['7','16'],bank=['9','35']}"),
        &["bit 35 is outside the address bits 6 to 34"],
    );
    assert_says(&setting("memory.size=64 GiB"), &["64 GiB is more than the channels hold, which is 32 GiB"]);
    assert_says(&setting("memory.size=1 GiB"), &["the buffers of the workloads need"]);
    assert_says(&setting("memory.page=8 KiB"), &["memory.page: 8 KiB is not a size of pages"]);
    let both = message(&example("quadrant3.toml"), &["memory.run=4 KiB", "memory.page=2 MiB"]);
    assert_says(&both, &["memory.run: 4 KiB is less than memory.page = 2 MiB"]);
}

#[test]
fn rules_between_keys_blame_the_key_that_was_written() {
    let text = example("quadrant3.toml") + "\n[memory.controller]\nwrite_high = 40\n";
    assert_says(
        &message(&text, &["memory.controller.wpq.entries=2"]),
        &["--set memory.controller.wpq.entries=2: ", "write_high = ", "exceeds wpq.entries = 2"],
    );
    assert_says(&setting("memory.controller.write_low=4095"), &["write_low = 4095 must be below write_high = "]);
    assert_says(&setting("memory.dram.timing.cwl=99"), &["cwl = 99 must not exceed cl + burst = 25"]);
    assert_says(
        &setting("memory.dram.timing.cl=2"),
        &["--set memory.dram.timing.cl=2: memory.dram.timing.cl: cwl = 20"],
    );
    assert_says(&setting("core.write_ack=100 us"), &["100 us must be below cha.core_write_to_mc + cha.write_ack"]);
    assert_says(&setting("ssd.count=17"), &["ssd.count: 16 lanes are too few"]);
    assert_says(&setting("pcie={mps='256 B',posted_lines=3}"), &["3 lines are less than pcie.mps, which is 4 lines"]);
    assert_says(
        &setting("ssd={bandwidth='1 GB/s',read_bandwidth='1 GB/s',write_bandwidth='1 GB/s'}"),
        &["has no effect"],
    );
    let both = "[run]\nduration = \"1 ms\"\nprecision = 0.01\n[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\n\
        kind = \"stream\"\ncores = \"0\"\n";
    assert_says(&message(both, &[]), &["test.toml:3: run.precision: ", "exclude each other"]);
    assert_says(&setting("run.duration_max=1 s"), &["only together with run.precision"]);
    assert_says(&setting("workload.stream.stride=256 B"), &["has an effect only with pattern"]);
    assert_says(
        &setting("workload.disk.jobs=[{rw='read',bs='1 MiB',iodepth=1,size='1 GiB',ssd=9}]"),
        &["drive 9 does not exist"],
    );
}

#[test]
fn impossible_timings_are_refused_with_the_rule_and_the_edge_is_allowed() {
    // DDR4_2933: ras 47, rp 21, rcd 21, burst 4, ccd_s 4, ccd_l 8, rrd_s 4, rrd_l 8, wtr_s 4, wtr_l 11, refi 11437.
    let cases = [
        ("rc", 68, 67, "rc = 67 must be at least ras + rp = 68"),
        ("rp", 21, 22, "rc = 68 must be at least ras + rp = 69"),
        ("ras", 47, 48, "rc = 68 must be at least ras + rp = 69"),
        ("ras", 21, 20, "ras = 20 must be at least rcd = 21"),
        ("ccd_s", 4, 3, "ccd_s = 3 must be at least burst = 4"),
        ("burst", 4, 5, "ccd_s = 4 must be at least burst = 5"),
        ("ccd_l", 4, 3, "ccd_l = 3 must be at least ccd_s = 4"),
        ("ccd_l_wr", 8, 7, "ccd_l_wr = 7 must be at least ccd_l = 8"),
        ("rrd_l", 4, 3, "rrd_l = 3 must be at least rrd_s = 4"),
        ("wtr_l", 4, 3, "wtr_l = 3 must be at least wtr_s = 4"),
        ("faw", 4, 3, "faw = 3 must be at least rrd_s = 4"),
        ("cwl", 25, 26, "cwl = 26 must not exceed cl + burst = 25"),
        ("rfc", 5718, 5719, "rfc = 5719 must not exceed half of refi = 5718"),
    ];
    for (key, allowed, refused, rule) in cases {
        let at = |value: u32| format!("memory.dram.timing.{key}={value}");
        let edge = resolve_text(&example("quadrant3.toml"), Format::Toml, &[&at(allowed)]);
        assert!(edge.is_ok(), "{}: {}", at(allowed), edge.unwrap_err());
        assert_says(&setting(&at(refused)), &[&format!("--set {}: memory.dram.timing.", at(refused)), rule]);
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
    assert_says(&refused(all("one-bank", "{rfc_sb=401,refi_sb=400}")), &["rfc_sb = 401 must not exceed refi_sb = 400"]);
    assert_says(
        &refused(all("one-bank", "{rfc_sb=200,refi_sb=700,refsb_refsb=701}")),
        &["refsb_refsb = 701 must not exceed refi_sb = 700"],
    );
    assert_says(&refused(all("every-group", "{rfc_sb=200}")), &["refi_sb = 0 or absent; same_bank = \"every-group\""]);
    assert_says(&refused(all("none", "{refsb_act=1}")), &["refsb_act = 1 has no meaning with same_bank = \"none\""]);
    assert_says(
        &setting("memory.controller.refresh=same-bank"),
        &["memory.controller.refresh: ", "memory.dram.same_bank = \"none\""],
    );
    assert_says(
        &setting("memory.controller.refresh_postponed=9"),
        &["refresh_postponed = 9 must not exceed memory.dram.postponed_max = 8"],
    );
    assert_says(&setting("memory.dram.same_bank=every-grup"), &["did you mean \"every-group\"?"]);
}

#[test]
fn policies_offer_the_nearest_name_and_a_timeout_needs_its_time() {
    assert_says(&setting("memory.controller.scheduler=oldest-redy"), &["did you mean \"oldest-ready\"?"]);
    assert_says(&setting("memory.controller.page=lazy"), &["known are: open, closed, timeout"]);
    assert_says(&setting("memory.controller.idle_close=off"), &["needs a time in idle_close"]);
    let keys = ["memory.controller.idle_drain=off", "memory.controller.idle_flush=1 us"];
    let flush = message(&example("quadrant3.toml"), &keys);
    assert_says(&flush, &["idle_flush lets writes pass that idle_drain = \"off\" forbids"]);
    assert_says(&setting("memory.controller.write_high=80"), &["write_high = 80 exceeds wpq.entries = 41"]);
    for wrong in ["'80'", "'101%'", "'-1%'", "'%'", "'1.23456%'", "0.8"] {
        let said = setting(&format!("memory.controller.write_high={wrong}"));
        assert_says(&said, &["memory.controller.write_high: ", "such as \"80%\""]);
    }
}

#[test]
fn cores_exist_and_do_the_kernel_s_work_for_one_workload() {
    let two = "workload.also={kind='fio',job='probe.fio',cores='7'}";
    assert_says(&setting(two), &["--set ", "core 7 does the kernel's work for workload.also", "one fio workload"]);
    assert_says(&setting("core.count=6"), &["core 6 does not exist; core.count = 6 means cores 0 to 5"]);
    assert_says(&setting("workload.stream.cores=3"), &["a list of cores such as \"0-3\""]);
    assert_says(&setting("workload.stream.cores=5-0"), &["runs backwards"]);
    assert_says(&setting("workload.stream.cores=[0,0]"), &["stands twice"]);
    assert_says(&setting("workload.stream.cores=0-4000000000"), &["is not a list of cores"]);
    let all = "[server]\npreset = \"cascade-lake-6234\"\n[workload.a]\nkind = \"stream\"\ncores = \"0-7\"\n\
               [workload.disk]\nkind = \"fio\"\njob = \"probe.fio\"\n";
    assert_says(&message(all, &[]), &["workload.disk: no core of 0-7 is free"]);
}

#[test]
fn unreadable_job_files_are_named() {
    assert_says(
        &setting("workload.disk.job=nope.fio"),
        &["workload.disk.job: cannot read ", "nope.fio", "no such file"],
    );
    assert_says(&setting("workload.disk.job=."), &["not a file"]);
    assert_says(&setting("workload.disk.job=/dev/zero"), &["not a file"]);
    assert_says(&setting("workload.disk.job=quadrant3.toml"), &["quadrant3.toml:4: preset: "]);
    let place = std::env::temp_dir().join(format!("hostnet-config-{}.bin", std::process::id()));
    std::fs::File::create(&place).unwrap().write_all(&[0xff, 0xfe, 0, 1]).unwrap();
    let said = setting(&format!("workload.disk.job={}", place.display()));
    std::fs::remove_file(&place).unwrap();
    assert_says(&said, &["not text, so not a fio job file"]);
    assert_says(&setting("ssd.count=3"), &["quadrant.fio:19: filename: ", "(ssd.count = 3)"]);
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
    let says = |result: Result<hostnet_config::Plan, hostnet_config::ConfigError>, whole: &str| {
        assert_eq!(result.map(|_| ()).unwrap_err().to_string(), whole);
    };
    let plan = resolve(&device, &profile, &[]).unwrap();
    let memory = &plan.server().unwrap().socket().memory;
    assert_eq!((memory.dram.timing.cl, memory.controller.write_high), (21, 26));
    let again = resolve_text(&plan.effective.to_string(), Format::Json, &[]).unwrap();
    assert_eq!((&again.hash, again.server()), (&plan.hash, plan.server()), "the files are not needed again");

    says(
        resolve("ranks = \n", &profile, &[]),
        "./my.toml:1: column 9: not valid TOML: string values must be quoted, expected literal string",
    );
    says(
        resolve(&device.replace("rcd =", "rcdd ="), &profile, &[]),
        "./my.toml:15: timing.rcdd: unknown key; did you mean \"rcd\"?",
    );
    says(
        resolve(&device.replace("rc = 68", "rc = 67"), &profile, &[]),
        "./my.toml:18: timing.rc: rc = 67 must be at least ras + rp = 68",
    );
    says(
        resolve(&device.replace("rfc = 514", ""), &profile, &[]),
        "./my.toml: timing.rfc: missing; a whole number is wanted",
    );
    says(
        resolve(&device, &profile.replace("\"80%\"", "33"), &[]),
        "mc.toml:11: write_high: memory.controller.write_high = 33 exceeds wpq.entries = 32; \
        write mode could never start",
    );
    says(
        resolve(&device, &profile, &["memory.dram.timing.rp=22"]),
        "--set memory.dram.timing.rp=22: memory.dram.timing.rp: rc = 68 must be at least ras + rp = 69",
    );
    assert_says(&setting("memory.device=./none.toml"), &["memory.device: cannot read ", "none.toml", "no such file"]);
    assert_says(
        &setting("memory.profile=intl"),
        &["memory.profile: \"intl\" is not a known profile; did you mean \"intel\"?"],
    );
}

#[test]
fn malformed_settings_are_named() {
    assert_says(&setting("foo"), &["\"=\" is missing"]);
    assert_says(&setting("a..b=3"), &["not a dotted path"]);
    assert_says(&setting("=3"), &["not a dotted path"]);
    assert_says(&setting("workload.disk.jobs[0].bs=64k"), &["set as a whole: workload.disk.jobs=[...]"]);
    assert_says(&setting(&format!("{}=3", ["a"; 99].join("."))), &["not a dotted path"]);
}

#[test]
fn a_name_that_says_more_than_a_known_one_is_not_taken_for_it() {
    assert_says(&setting("memory.controller.scheduler=frfcfs"), &["known are: ", "column-first", "fcfs"]);
    assert_says(&setting("memory.controller.scheduler=fcf"), &["did you mean \"fcfs\"?"]);
}

#[test]
fn an_empty_table_that_would_change_nothing_is_refused() {
    for path in ["workload", "run"] {
        assert_says(&setting(&format!("{path}={{}}")), &[&format!("{path}: an empty table takes nothing away")]);
    }
    let present = "[server]\npreset = \"ice-lake-8362\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
    assert!(resolve_text(present, Format::Toml, &["run={}"]).is_ok(), "the file has no such table");
}

#[test]
fn names_of_workloads_and_runs_are_plain() {
    assert_says(
        &message("[workload.\"a b\"]\nkind = \"stream\"\ncores = \"0\"\n", &[]),
        &["a name has 1 to 40 letters"],
    );
    assert_says(
        &message("[workload.all]\nkind = \"stream\"\ncores = \"0\"\n", &[]),
        &["workload.all: ", "\"all\" means all of them", "another name"],
    );
    assert_says(&setting("run.name=a/b"), &["run.name: \"a/b\" is not a name"]);
}

#[test]
fn a_job_that_lacks_a_key_is_told_with_its_place() {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.disk]\nkind = \"fio\"\n\
                jobs = [{ rw = \"read\", bs = \"4 KiB\", iodepth = 1, ssd = 0 }]\n";
    let input = hostnet_config::Input {
        text,
        format: hostnet_config::Format::Toml,
        file: "server.toml",
        base_dir: std::path::Path::new("."),
        overrides: &[],
    };
    let error = told(&hostnet_config::resolve(&input).expect_err("size is missing"));
    assert_says(&error, &["[missing-key workload.disk.jobs[0].size] server.toml:5: ", "\"8 MiB\""]);
}

/// A message about settings on top of caches that are on.
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
        says("'0x0'", &["\"0x0\" has no way; at least one is wanted"]);
        says("[]", &["a list of 0; 1 to 64 entries are allowed"]);
        says("'0x5'", &["\"0x5\" is not contiguous", "such as \"9-10\""]);
        says("'0,2'", &["\"0,2\" is not contiguous"]);
        says("[0,2]", &["\"0,2\" is not contiguous"]);
        says("'10-11'", &["\"10-11\" is beyond the LLC; cache.llc.ways = 11 means ways 0 to 10"]);
        says("'0x800'", &["\"11\" is beyond the LLC"]);
        says("[40]", &["\"40\" is beyond the LLC"]);
        says("'5-3'", &["runs backwards"]);
        says("'x'", &["\"x\" is not a list of ways"]);
        says("'0xzz'", &["\"0xzz\" is not a mask such as \"0x600\""]);
        says("0x0", &["\"0x0\" has no way"]);
        says("12", &["\"12\" is beyond the LLC"]);
        says("1.5", &["\"1.5\" is not a list of ways"]);
    }
    assert_says(
        &setting("cache.llc.ways=10"),
        &["--set cache.llc.ways=10: cache.llc.ways: \"9-10\" is beyond the LLC"],
    );
}

#[test]
fn impossible_caches_are_refused() {
    for cache in ["l2", "llc", "filter"] {
        let key = |key: &str, value: &str| setting(&format!("cache.{cache}.{key}={value}"));
        assert_says(&key("sets", "1000"), &["1000 is not a power of two such as 512 or 1024"]);
        assert_says(&key("sets", "0"), &["0 is out of range; 1 to 65536 is allowed"]);
        assert_says(&key("ways", "0"), &["0 is out of range; 1 to 32 is allowed"]);
        assert_says(&key("ways", "33"), &["33 is out of range; 1 to 32 is allowed"]);
    }
    assert_says(&setting("cache.l2.replacement=lruu"), &["did you mean \"lru\"?"]);
    assert_says(&setting("cache.llc.inclusion=inclusiv"), &["did you mean \"inclusive\"?"]);
    assert_says(&setting("cache.llc.hit=0 ns"), &["\"0 ns\" is out of range; 1 ps to 10 us"]);
    assert_says(&setting("cache.l3.ways=4"), &["cache.l3: unknown key; did you mean \"l2\"?"]);
    assert_says(&setting("cache.enabled=1"), &["true or false is wanted"]);
    assert_says(&setting("prefetch.distance=65"), &["1 to 64"]);
    assert_says(&setting("core.frequency=3.3 ns"), &["is a time; a frequency such as \"2.4 GHz\""]);
    assert_says(&setting("core.frequency=3.3"), &["a frequency with its unit"]);
    let large = ["cache.llc.sets=65536", "cache.llc.ways=32"];
    assert_says(
        &with_caches(&large),
        &["cache.llc.sets: L2s, LLC and snoop filter have entries for ", "of lines; at most 2 GiB"],
    );
    let unused = resolve_text(&example("quadrant3.toml"), Format::Toml, &large);
    assert!(unused.is_ok(), "caches that take no part need no memory");
    let edge = ["cache.l2.sets=1", "cache.filter.sets=1", "cha.slices=16", "cache.llc.sets=65536", "cache.llc.ways=32"];
    assert_says(&with_caches(&edge), &["at most 2 GiB"]);
    let fits = [&edge[..4], &["cache.llc.ways=31"]].concat();
    assert!(resolve_text(&example("quadrant3.toml"), Format::Toml, &fits).is_ok());
}

#[test]
fn ddio_is_off_for_drives_that_exist() {
    assert_says(&setting("ddio.off=4"), &["ddio.off: drive 4 does not exist"]);
    assert_says(
        &message("[ddio]\noff = 3\n", &[]),
        &["test.toml:2: ddio.off: 3 is a bare number; a list of drives such as \"0-3\""],
    );
    assert_says(&setting("ddio.off='3-4'"), &["drive 4 does not exist; ssd.count = 4 means drives 0 to 3"]);
    assert_says(&setting("ddio.off=[9]"), &["drive 9 does not exist"]);
    assert_says(&setting("ddio.off=[64]"), &["ddio.off[0]: 64 is out of range; 0 to 63"]);
    assert_says(&setting("ddio.off='0,0'"), &["drive 0 stands twice"]);
    assert_says(
        &message(&example("quadrant3.toml"), &["ddio.off='3'", "ssd.count=3", "workload.disk.job=probe.fio"]),
        &["drive 3 does not exist"],
    );
}

/// A message about settings on top of an application.
fn app(settings: &[&str]) -> String {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\n\
                [workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0-2\"\n";
    message(text, settings)
}

#[test]
fn what_needs_caches_says_so() {
    let needs = "needs caches; set cache.enabled = true";
    assert_says(&app(&["cache.enabled=false"]), &["--set cache.enabled=false: cache.enabled: an application ", needs]);
    assert_says(&setting("workload.disk.consume=true"), &["workload.disk.consume: reading ", needs]);
    let text =
        "[server]\npreset = \"cascade-lake-6234\"\n[workload.kv]\nkind = \"app\"\napp = \"redis\"\ncores = \"0\"\n";
    assert_says(&message(text, &[]), &["test.toml:5: workload.kv.app: an application needs caches"]);
}

#[test]
fn applications_have_names_keys_and_cores() {
    assert_says(
        &app(&["workload.kv.app=rediss"]),
        &["workload.kv.app: \"rediss\" is not known; did you mean \"redis\"?"],
    );
    assert_says(
        &app(&["workload.kv.app=mysql"]),
        &["\"mysql\" is not known; known are: redis, pagerank, bc, stream, mlc, chase, trace"],
    );
    assert_says(&app(&["workload.kv.scale=20"]), &["workload.kv.scale: is a key of pagerank and bc, not of redis"]);
    assert_says(&app(&["workload.kv.scale=20"]), &["redis takes keys, value, sets, connections, pipeline, socket"]);
    assert_says(&app(&["workload.kv.app=bc", "workload.kv.keys=2"]), &["keys: is a key of redis, not of bc"]);
    assert_says(
        &app(&["workload.kv.instructions.node=2"]),
        &["workload.kv.instructions.node: is a key of pagerank and bc"],
    );
    assert_says(&app(&["workload.kv.instructions.line='1'"]), &["workload.kv.instructions.line: \"1\" is a string"]);
    assert_says(&app(&["workload.kv.clients=4-5"]), &["workload.kv.clients: 2 cores of clients for 3 cores"]);
    assert_says(
        &app(&["workload.kv.clients=2-4"]),
        &["workload.kv.clients: core 2 is one of workload.kv.cores already"],
    );
    assert_says(&app(&["workload.kv.clients=6-8"]), &["workload.kv.clients: core 8 does not exist"]);
    assert_says(
        &app(&["workload.kv.clients=3-5", "workload.kv.in_flight=0"]),
        &["workload.kv.clients: clients that keep no operation in flight", "1 or more"],
    );
    assert_says(&app(&["workload.kv.kees=2"]), &["workload.kv.kees: unknown key; did you mean \"keys\"?"]);
    assert_says(&app(&["workload.kv.value=1"]), &["a size with its unit"]);
    assert_says(&app(&["workload.kv.ipc=0"]), &["workload.kv.ipc: 0 is out of range; 0.01 to 16"]);
    assert_says(&app(&["workload.kv.cores=7-8"]), &["core 8 does not exist"]);
    assert_says(&app(&["workload.b={kind='app',app='bc'}"]), &["workload.b.cores: missing"]);
    assert_says(&app(&["workload.b={kind='app',cores='4'}"]), &["workload.b.app: missing"]);
    assert_says(&app(&["workload.kv.kind=appp"]), &["did you mean \"app\"?"]);
}

#[test]
fn applications_fit_the_memory() {
    assert_says(&app(&["workload.kv.keys=100000000"]), &["the buffers of the workloads need ", "of 32 GiB of memory"]);
    assert_says(&app(&["workload.b={kind='app',app='bc',cores='4',scale=32}"]), &["workload.b: the buffers"]);
}

#[test]
fn traces_of_programs_have_a_file() {
    let trace = |settings: &[&str]| app(&[&["workload.kv.app=trace"], settings].concat());
    assert_says(&trace(&[]), &["workload.kv.file: missing; give the trace of a program, such as file = "]);
    assert_says(
        &trace(&["workload.kv.file=nothing.lackey"]),
        &["workload.kv.file: cannot read ", "there is no such file"],
    );
    assert_says(&trace(&["workload.kv.file=traces"]), &["workload.kv.file: cannot read ", "not a file"]);
    assert_says(
        &trace(&["workload.kv.file=probe.fio", "workload.kv.format=lackay"]),
        &["workload.kv.format: \"lackay\" is not known; did you mean \"lackey\"?"],
    );
    assert_says(
        &trace(&["workload.kv.file=probe.fio", "workload.kv.keys=2"]),
        &["keys: is a key of redis, not of trace"],
    );
    assert_says(&app(&["workload.kv.file=probe.fio"]), &["workload.kv.file: is a key of trace, not of redis"]);
    assert_says(
        &trace(&["workload.kv.file=probe.fio", "memory.size=1 GiB", "workload.s={kind='stream',cores='7'}"]),
        &["memory.size: the buffers of the other workloads leave no memory for a trace"],
    );
}

#[test]
fn a_key_above_its_table_is_told_where_it_belongs() {
    let text = "preset = \"ice-lake-8362\"\n[workload.a]\nkind = \"stream\"\ncores = \"0\"\n";
    assert_says(&message(text, &[]), &["test.toml:1: preset: ", "\"server.preset\""]);
    assert_says(&setting("upi.bandwidth=6 GB/s"), &["upi.bandwidth: ", "\"upi.link.bandwidth\""]);
}

#[test]
fn a_missing_kind_is_told_with_its_choices() {
    let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n";
    assert_says(&message(text, &[]), &["flow.f.kind: missing; one of ", "bulk, rpc"]);
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
