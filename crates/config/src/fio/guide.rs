//! Tests of job files like those in fio's guides and examples.

use super::tests::{jobs, refusal};
use hostnet_params::Direction::{self, RandRead, RandRw, RandWrite, Read, Rw, Write};

/// Expected jobs: direction, block size in bytes, commands in flight, drive.
type Expected<'a> = &'a [(Direction, u64, u32, Option<&'a str>)];

/// Asserts the jobs that a job file results in, and the number of its notes.
#[track_caller]
fn assert_taken(text: &str, expected: Expected, notes: usize) {
    let file = jobs(text);
    let seen: Vec<_> =
        file.jobs.iter().map(|job| (job.spec.rw, job.spec.bs.0, job.spec.iodepth, job.filename.as_deref())).collect();
    assert_eq!(seen, expected);
    assert_eq!(file.notes.len(), notes, "{:?}", file.notes);
}

/// Asserts that a job file is refused for exactly these problems, each given by its line and key, in one message of a
/// single line.
#[track_caller]
fn assert_refused_for(text: &str, expected: &[(usize, &str)]) {
    let issue = refusal(text);
    let (_, line) = issue.elsewhere.clone().expect("a place");
    let all = format!("{}: {}: {}", line.expect("a line"), issue.paths[0], issue.message);
    assert!(!all.contains('\n'), "{all}");
    let seen: Vec<&str> = all.split("; line ").collect();
    assert_eq!(seen.len(), expected.len(), "{all}");
    for (said, (line, key)) in seen.iter().zip(expected) {
        assert!(said.starts_with(&format!("{line}: {key}: ")), "{said}");
        assert!(said.len() < 220, "{said}");
    }
}

const DRIVE: Option<&str> = Some("/dev/nvme0n1");

#[test]
fn sequential_reads_of_a_share_of_the_drive() {
    let text = "[seq]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\nrw=read\nbs=128k\niodepth=32\nsize=100%\n";
    assert_taken(text, &[(Read, 128 << 10, 32, DRIVE)], 1);
}

#[test]
fn random_writes_of_many_jobs() {
    let text = "[global]\nioengine=io_uring\ndirect=1\nbs=4k\nrw=randwrite\niodepth=16\nrandrepeat=0\nnorandommap\n\
                random_generator=tausworthe64\nnumjobs=3\ngroup_reporting\nnew_group\n[w]\nfilename=/dev/nvme0n1\n";
    assert_taken(text, &[(RandWrite, 4096, 16, DRIVE); 3], 1);
}

#[test]
fn a_mix_by_its_share_of_writes() {
    let text = "[mix]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\nrw=randrw\nrwmixwrite=30\nbs=8k\niodepth=32\n";
    assert_taken(text, &[(RandRw, 8192, 32, DRIVE)], 1);
    assert_eq!(jobs(text).jobs[0].spec.rwmixread, Some(70));
}

#[test]
fn a_mix_with_the_same_size_twice() {
    let text = "[mix]\nioengine=libaio\ndirect=1\nrw=rw\nbs=16k,16k\niodepth=4\nrwmixread=90\n";
    assert_taken(text, &[(Rw, 16384, 4, None)], 1);
    assert_taken(&text.replace("bs=16k,16k", "bsrange=16k-16k"), &[(Rw, 16384, 4, None)], 1);
    assert_refused_for(&text.replace("16k,16k", "16k,64k"), &[(1, "[mix] bs")]);
    assert_refused_for(&text.replace("bs=16k,16k", "bsrange=4k-64k"), &[(5, "bsrange")]);
}

#[test]
fn a_job_of_one_direction_has_the_size_of_that_direction() {
    let text = "[w]\nioengine=libaio\ndirect=1\nrw=write\nbs=16k,64k\niodepth=4\n";
    assert_taken(text, &[(Write, 65536, 4, None)], 1);
    assert_taken(&text.replace("=write", "=read"), &[(Read, 16384, 4, None)], 1);
    assert_taken(&text.replace("16k,64k", ",64k").replace("=write", "=read"), &[(Read, 4096, 4, None)], 1);
    assert_taken(&text.replace("16k,64k", "16k,"), &[(Write, 4096, 4, None)], 1);
}

#[test]
fn a_missing_direction_is_read_as_fio_reads_it() {
    assert_taken("[j]\nioengine=libaio\ndirect=1\nbs=64k\n", &[(Read, 65536, 1, None)], 1);
}

#[test]
fn zeros_switch_options_off() {
    let text = "[r]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\nsize=1g\nrw=randread\nbs=4k\niodepth=16\n\
                rate=0\nthinktime=0\nverify=0\nrate_iops=0,0\nfsync=0\nsync=none\nlatency_target=0\nstartdelay=0s\n\
                buffered=0\nstonewall=0\ntrim_percentage=0\nzonemode=none\nlatency_window=1s\nthinktime_blocks=4\n\
                verify_pattern=0xff\n";
    assert_taken(text, &[(RandRead, 4096, 16, DRIVE)], 1);
}

#[test]
fn polled_reads_on_cores_of_their_own() {
    let text = "[global]\nioengine=io_uring\nhipri\nfixedbufs\nregisterfiles\nsqthread_poll=1\ndirect=1\nbuffered=0\n\
                norandommap=1\ncpus_allowed=0-3\ncpus_allowed_policy=split\nnumjobs=4\niodepth=64\nruntime=60\n\
                time_based=1\n[randread]\nfilename=/dev/nvme0n1\nrw=randread\nbs=4k\n";
    assert_taken(text, &[(RandRead, 4096, 64, DRIVE); 4], 1);
    assert_eq!(jobs(text).jobs.iter().filter_map(|job| job.spec.core).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let masked = text.replace("cpus_allowed=0-3", "cpumask=0xf");
    assert_eq!(jobs(&masked).jobs.iter().filter_map(|job| job.spec.core).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn batches_of_up_to_half_the_depth() {
    let text = "[b]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=32\niodepth_batch=16\n\
                iodepth_batch_complete=8\niodepth_batch_complete_max=32\n";
    assert_taken(text, &[(RandRead, 4096, 32, None)], 2);
    assert_refused_for(&text.replace("batch=16", "batch=32"), &[(1, "[b] iodepth_batch")]);
    assert_refused_for(&text.replace("batch=16", "low=16"), &[(1, "[b] iodepth_low")]);
    assert_taken(&text.replace("batch=16", "low=32"), &[(RandRead, 4096, 32, None)], 2);
}

#[test]
fn engines_of_one_command_keep_one_in_flight() {
    for engine in ["sync", "psync", "vsync", "pvsync", "pvsync2"] {
        let text = format!("[j]\nioengine={engine}\ndirect=1\nrw=read\niodepth=32\n");
        assert_taken(&text, &[(Read, 4096, 1, None)], 2);
    }
    let absent = "[j]\ndirect=1\nrw=read\niodepth=32\n";
    assert_taken(absent, &[(Read, 4096, 1, None)], 2);
    let note = "a.fio: iodepth=32 acts as 1: psync, fio's default engine, keeps one command in flight";
    assert_eq!(jobs(absent).notes[1], note);
    assert_taken("[j]\nioengine=psync\ndirect=1\nrw=read\n", &[(Read, 4096, 1, None)], 1);
}

#[test]
fn engines_whose_io_is_not_that_of_drives_are_refused() {
    for engine in ["null", "mmap", "splice", "net", "rbd", "cpuio", "libpmem", "external:./a.so", "libiao"] {
        assert_refused_for(&format!("[j]\nrw=read\nioengine={engine}\n"), &[(3, "ioengine")]);
    }
    assert!(refusal("[j]\nrw=read\nioengine=libiao\n").message.ends_with("did you mean \"libaio\"?"));
    assert_refused_for("[j]\nrw=read\nioengine=posixaio\niodepth=8\n", &[(1, "[j] ioengine")]);
    assert_taken("[j]\nrw=read\ndirect=1\nioengine=posixaio\n", &[(Read, 4096, 1, None)], 1);
}

#[test]
fn io_through_the_page_cache_is_refused_where_it_is_asked_for_and_told_where_it_is_the_default() {
    assert_refused_for("[j]\nioengine=libaio\nrw=read\ndirect=0\n", &[(4, "direct")]);
    assert_refused_for("[j]\nioengine=libaio\nrw=read\nbuffered=1\n", &[(4, "buffered")]);
    let note = "a.fio: without direct=1 fio goes through the page cache, but the model does not";
    assert_eq!(jobs("[j]\nioengine=libaio\nrw=read\n").notes, [note]);
}

#[test]
fn files_of_a_directory_are_on_one_drive() {
    let text =
        "[global]\nioengine=libaio\ndirect=1\ndirectory=/mnt/fast\nfilesize=128m\nsize=1g\nio_size=2g\nnrfiles=8\n\
                openfiles=4\nfile_service_type=random\nfallocate=none\noverwrite=1\nend_fsync=1\noffset=1g\n\
                offset_increment=10%\nmem=mmaphuge\ncreate_serialize=0\n[a]\nrw=randrw\n[b]\nrw=write\nfilename=x:y\n";
    assert_taken(text, &[(RandRw, 4096, 1, Some("/mnt/fast")), (Write, 4096, 1, Some("/mnt/fast"))], 1);
}

#[test]
fn clones_take_the_directories_in_turn() {
    let text = "[a]\nioengine=libaio\ndirect=1\nrw=read\ndirectory=/a:/b\nnumjobs=3\n";
    assert_taken(text, &[(Read, 4096, 1, Some("/a")), (Read, 4096, 1, Some("/b")), (Read, 4096, 1, Some("/a"))], 1);
}

#[test]
fn offsets_change_nothing_however_they_are_chosen() {
    let text = "[a]\nioengine=libaio\ndirect=1\nrw=randread:8\nrandom_distribution=zipf:1.2\npercentage_random=50\n\
                rw_sequencer=identical\nrandseed=42\n[b]\nioengine=libaio\ndirect=1\nrw=write:4k\n\
                random_distribution=random\n";
    assert_taken(text, &[(RandRead, 4096, 1, None), (Write, 4096, 1, None)], 1);
}

#[test]
fn nodes_of_a_server_of_one_socket_are_the_only_ones() {
    let text = "[a]\nioengine=libaio\ndirect=1\nrw=read\nnuma_cpu_nodes=0\nnuma_mem_policy=bind:0\n";
    assert_taken(text, &[(Read, 4096, 1, None)], 1);
    let other = text.replace("=0", "=1").replace(":0", ":1");
    assert_refused_for(&other, &[(5, "numa_cpu_nodes")]);
    assert!(refusal(&other).message.ends_with("(also numa_mem_policy in line 6)"));
    let two = super::parse(text, "a.fio", super::Host { nodes: 2 }).unwrap_err();
    assert!(two.paths[0] == "numa_cpu_nodes" && two.message.contains("; line 6: numa_mem_policy: "), "{}", two.message);
}

#[test]
fn the_first_job_waits_for_nobody() {
    let text = "[a]\nstonewall\nioengine=libaio\ndirect=1\nrw=read\n";
    assert_taken(text, &[(Read, 4096, 1, None)], 1);
    assert_refused_for(&format!("{text}[b]\nstonewall\nrw=write\n"), &[(6, "[b] stonewall")]);
}

#[test]
fn what_reports_and_ends_a_job_is_noted() {
    let text =
        "[a]\nioengine=libaio\ndirect=1\nrw=read\nwrite_bw_log=x\nlog_avg_msec=500\nper_job_logs=0\nss=iops:2%\n\
                ss_dur=30\nexitall\ncontinue_on_error=none\nlat_percentiles=1\npercentile_list=99:99.9\nnice=-5\n\
                prio=3\nioscheduler=none\ndedupe_percentage=50\nbuffer_compress_percentage=50\nunit_base=8\n";
    assert_taken(text, &[(Read, 4096, 1, None)], 1);
}

#[test]
fn the_latency_profile_is_refused_by_its_target() {
    let text = "[global]\nbs=4k\nrw=randread\nrandom_generator=lfsr\ndirect=1\nioengine=libaio\niodepth=128\n\
                latency_target=20ms\nlatency_window=5s\nlatency_percentile=99.0\n[device]\nfilename=/dev/nvme0n1\n";
    assert_refused_for(text, &[(8, "latency_target")]);
}

#[test]
fn a_file_is_refused_for_all_that_is_wrong_with_it_at_once() {
    let text = "[global]\nioengine=libaio\nrate=10m\nverify=crc32c\n[a]\nrw=trim\nbssplit=4k/50:8k/50\nfsync=1\n[b]\n\
                stonewall\nthinktime=10\nverify=crc32c\n[c]\ncreate_only=1\nzonemode=zbd\ntrim_percentage=5\ncgroup=x\n\
                read_iolog=a.log\nwait_for=a\nflow=2\nkb_base=1000\nmem=cudamalloc\ninclude b.fio\n";
    let keys = [
        (3, "rate"),
        (4, "verify"),
        (6, "rw"),
        (7, "bssplit"),
        (8, "fsync"),
        (11, "thinktime"),
        (14, "create_only"),
        (15, "zonemode"),
        (16, "trim_percentage"),
        (17, "cgroup"),
        (18, "read_iolog"),
        (19, "wait_for"),
        (20, "flow"),
        (21, "kb_base"),
        (22, "mem"),
        (23, "include b.fio"),
    ];
    assert_refused_for(text, &keys);
}

#[test]
fn a_long_list_of_problems_is_cut() {
    let text: String = (0..30).map(|at| format!("option_{at}=1\n")).collect();
    let issue = refusal(&format!("[a]\n{text}"));
    assert_eq!(issue.message.matches("option_").count(), 20);
    assert!(issue.message.ends_with("option_20 in line 22, 9 more)"), "{}", issue.message);
}

#[test]
fn what_fio_fills_in_when_it_runs_is_refused_by_name() {
    let text = "[a]\nioengine=libaio\ndirect=1\nrw=${RW}\nbs=${BS}\nnumjobs=$ncpus\nsize=8*$mb_memory\n";
    assert_refused_for(text, &[(4, "rw"), (5, "bs"), (6, "numjobs"), (7, "size")]);
    assert!(refusal(text).message.starts_with("\"${RW}\" refers to an environment variable"));
    assert_taken("[a]\nioengine=libaio\ndirect=1\nwrite_bw_log=${NAME}\n", &[(Read, 4096, 1, None)], 1);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_taken("\u{feff}[a]\nioengine=libaio\ndirect=1\nrw=write\n", &[(Write, 4096, 1, None)], 1);
}

#[test]
fn hints_are_for_typos() {
    let hint = |key: &str| refusal(&format!("[a]\nrw=read\n{key}=1\n")).message;
    for (key, near) in [("iodeph", "iodepth"), ("rwmixreed", "rwmixread"), ("group_reporing", "group_reporting")] {
        assert!(hint(key).ends_with(&format!("did you mean \"{near}\"?")), "{}", hint(key));
    }
    for key in ["rwmix", "fileshare", "cpus_ignored", "write_bandwidth", "a"] {
        assert!(hint(key).ends_with("see \"fio job files\" in docs/config.md"), "{}", hint(key));
    }
}

#[test]
fn options_are_known_by_one_meaning_each() {
    let mut names: Vec<_> = super::known::all().collect();
    names.sort_unstable();
    let known = names.len();
    names.dedup();
    assert_eq!(names.len(), known);
}

#[test]
fn the_page_has_all_options() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config.md")).expect("a page");
    let table = page.split("## fio job files").nth(1).and_then(|rest| rest.split("## ").next()).expect("a section");
    let words: Vec<&str> = table.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).collect();
    for option in super::known::all().chain(super::options::MODELLED) {
        assert!(words.contains(&option), "docs/config.md lacks {option}");
    }
}
