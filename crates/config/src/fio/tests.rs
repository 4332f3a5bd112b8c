//! Tests of parsing and refusing job files.

use super::job::FileJob;
use super::parse::JobFile;
use super::{parse, Host};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{Direction, Size};

const HOST: Host = Host { nodes: 1 };

#[track_caller]
pub(super) fn jobs(text: &str) -> JobFile {
    parse(text, "a.fio", HOST).unwrap_or_else(|issue| panic!("{issue:?}"))
}

#[track_caller]
pub(super) fn refusal(text: &str) -> Issue {
    parse(text, "a.fio", HOST).map(|_| ()).unwrap_err()
}

fn only(text: &str) -> FileJob {
    let mut file = jobs(text);
    assert_eq!(file.jobs.len(), 1);
    file.jobs.remove(0)
}

#[track_caller]
fn assert_refused(text: &str, line: usize, code: Code, part: &str) {
    let issue = refusal(text);
    assert_eq!(issue.elsewhere, Some(("a.fio".to_string(), Some(line))), "{}", issue.message);
    assert_eq!(issue.code, code, "{}", issue.message);
    assert!(issue.message.contains(part), "{}", issue.message);
}

#[test]
fn a_job_has_fios_defaults() {
    let job = only("[job]\nrw=read\n").spec;
    assert_eq!(
        (job.rw, job.bs.0, job.iodepth, job.size, job.rwmixread),
        (Direction::Read, 4096, 1, Some(Size(1 << 30)), None)
    );
}

#[test]
fn global_options_apply_to_the_jobs_after_them() {
    let file = jobs("[global]\nrw=read\nbs=8m\n[a]\n[global]\nbs=4k\n[b]\nrw=randwrite\n");
    let seen: Vec<_> = file.jobs.iter().map(|job| (job.spec.rw, job.spec.bs.0)).collect();
    assert_eq!(seen, [(Direction::Read, 8 << 20), (Direction::RandWrite, 4096)]);
}

#[test]
fn sizes_have_fios_suffixes() {
    for (text, bytes) in [("4096", 4096), ("4k", 4096), ("4K", 4096), ("4kb", 4096), ("8m", 8 << 20), ("1g", 1 << 30)] {
        assert_eq!(only(&format!("[j]\nrw=read\nsize=2g\nbs={text}\n")).spec.bs.0, bytes, "{text}");
    }
    assert_refused("[j]\nrw=read\nbs=4kib\n", 3, Code::MalformedValue, "\"4kib\"");
    assert_refused("[j]\nrw=read\nbs=100\n", 3, Code::NotAMultiple, "512");
    assert_refused("[j]\nrw=read\nbs=99999999999999999999g\n", 3, Code::MalformedValue, "9g\"");
    assert_refused("[j]\nrw=read\nsize=20z\n", 3, Code::MalformedValue, "\"20z\"");
}

#[test]
fn mixed_directions_have_a_share_of_reads() {
    assert_eq!(only("[j]\nrw=randrw\nrwmixread=70\n").spec.rwmixread, Some(70));
    assert_eq!(only("[j]\nrw=read\nrwmixread=70\n").spec.rwmixread, None);
    assert_eq!(Direction::Rw.reads_percent(70), 70);
    assert_eq!(Direction::RandWrite.reads_percent(70), 0);
}

#[test]
fn clones_take_cores_in_turn() {
    let file = jobs("[global]\nrw=read\ncpus_allowed=6-7\n[a]\nnumjobs=3\n[b]\n");
    assert_eq!(file.jobs.iter().filter_map(|job| job.spec.core).collect::<Vec<_>>(), [6, 7, 6, 7]);
}

#[test]
fn several_files_share_the_commands_of_a_job() {
    let file = jobs("[a]\nrw=read\nioengine=libaio\niodepth=5\nsize=1m\nfilename=/dev/nvme0n1:/dev/nvme1n1\n");
    let half = Some(Size(512 << 10));
    let seen: Vec<_> = file.jobs.iter().map(|job| (job.filename.as_deref(), job.spec.iodepth, job.spec.size)).collect();
    assert_eq!(seen, [(Some("/dev/nvme0n1"), 3, half), (Some("/dev/nvme1n1"), 2, half)]);
    assert_refused("[a]\nrw=read\nfilename=x:y\n", 1, Code::OutOfRange, "2 files");
}

#[test]
fn comments_and_blank_lines_are_skipped() {
    let job = only("; one\n# two\n\n  [j]  # three\n rw = write ; four\nfilename=/a#b\n");
    assert_eq!((job.spec.rw, job.filename.as_deref(), job.line), (Direction::Write, Some("/a#b"), 4));
}

#[test]
fn options_without_effect_stand_in_one_note() {
    let file = jobs(
        "[global]\nioengine=libaio\ndirect=1\ntime_based\nruntime=60\n[j]\nrw=read\nramp_time=2ms\nloops=3\nhipri\n",
    );
    let steady = "time_based, runtime=60, loops=3 (a run measures run.duration in steady state)";
    let listed = format!(
        "a.fio: no effect in the model: direct=1 (there is no page cache); {steady}; hipri (submission costs no \
         CPU time)"
    );
    assert_eq!(file.notes, [listed]);
    assert_eq!(file.ramp_ps, 2_000_000_000);
    let long = jobs("[j]\nrw=read\ndirect=1\nramp_time=5\n");
    assert_eq!((long.ramp_ps, long.notes.len()), (0, 1));
}

#[test]
fn what_begins_like_an_option_that_reports_is_refused() {
    for key in ["write_foo", "write_bandwidth", "write_mode", "log_foo", "gtod_foo"] {
        assert_refused(&format!("[j]\nrw=read\n{key}=1\n"), 3, Code::UnknownKey, "");
    }
    assert_refused("[j]\nrw=read\nwrite_iop_log=x\n", 3, Code::UnknownKey, "\"write_iops_log\"");
    assert_refused("[j]\nrw=read\nlat_pecentiles=1\n", 3, Code::UnknownKey, "\"lat_percentiles\"");
}

#[test]
fn broken_files_are_refused_at_their_line() {
    assert_refused("rw=read\n", 1, Code::MisplacedKey, "[global]");
    assert_refused("[j]\nrw=read\niodeph=3\n", 3, Code::UnknownKey, "\"iodepth\"");
    assert_refused("[j]\nrw=read\nrate=1g\n", 3, Code::NotSupported, "");
    assert_refused("[j]\nrw=read\nlatency_target=10ms\n", 3, Code::NotSupported, "");
    assert_refused("[j]\nrw=raed\n", 2, Code::UnknownName, "\"read\"");
    assert_refused("[j]\nrw=read\niodepth\n", 3, Code::MissingKey, "");
    assert_refused("[j]\nrw=read\niodepth=0\n", 3, Code::OutOfRange, "1 to 65536");
    assert_refused("[j]\nrw=read\ncpus_allowed=x\n", 3, Code::MalformedValue, "\"x\"");
    assert_refused("[j\nrw=read\n", 1, Code::MalformedFile, "[job]");
    assert_refused("[j]\nrw=read\nsize=4k\nbs=8k\n", 1, Code::WrongOrder, "");
    assert_refused("[j]\nrw=read\nnumjobs=1024\n[k]\nrw=read\n", 4, Code::TooMany, "1024");
    assert_eq!(refusal("# nothing\n").code, Code::NothingToDo);
}
