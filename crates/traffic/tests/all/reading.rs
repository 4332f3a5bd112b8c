//! Tests reading of traces: the requests read, and the wording of refusals.

use crate::support::{read, Packing, CAPACITY_BYTES};
use hostnet_traffic::{Format, Request, Trace, CLOCK_MAX, LINE_LENGTH_MAX};
use std::io::{self, Cursor, Read};

fn at(clock: u64, line: u64, write: bool) -> Request {
    Request { clock, line, write, source: 0 }
}

/// Returns the first error of a trace in memory, as shown to a user.
fn refusal(text: impl AsRef<[u8]>, format: Option<Format>) -> String {
    read(text.as_ref().to_vec(), format).expect_err("must be refused").to_string()
}

#[test]
fn every_format_is_read_and_told() {
    let traces: [(Format, &str, &[Request]); 3] = [
        (Format::Ramulator, "LD 64\nST 0x80\nLD 0XFf\n", &[at(0, 1, false), at(0, 2, true), at(0, 3, false)]),
        (Format::Ramulator1, "64 R\n0x80 W\n", &[at(0, 1, false), at(0, 2, true)]),
        (
            Format::DramSim3,
            "40 READ 0\n0x80 WRITE 7\nC0 read 7\nc0 write 8\n0 P_FETCH 8\n0 P_MEM_RD 8\n0 P_LOCK_RD 8\n0 P_LOCK_WR 8\n\
             0 P_MEM_WR 8\n0 BOFF 9\n",
            &[
                at(0, 1, false),
                at(7, 2, true),
                at(7, 3, false),
                at(8, 3, true),
                at(8, 0, false),
                at(8, 0, false),
                at(8, 0, false),
                at(8, 0, false),
                at(8, 0, true),
                at(9, 0, true),
            ],
        ),
    ];
    for (format, text, requests) in traces {
        for forced in [None, Some(format)] {
            assert_eq!(read(text.into(), forced).unwrap(), requests);
        }
        let trace = Trace::from_reader("a.trace", Cursor::new(text), None, CAPACITY_BYTES).ok().unwrap();
        assert_eq!((trace.format(), trace.timed()), (format, format == Format::DramSim3));
    }
}

#[test]
fn blanks_comments_and_windows_line_ends_mean_nothing() {
    let text = "# a trace: größer\r\n\r\n \t \n\tLD\t 0x40 \r\n#LD 0x80\nST 0x80 # why\nLD 0xc0#x\n";
    let error = refusal(text, None);
    assert!(error.starts_with("a.trace:7: \"0xc0#x\""), "{error}");
    let text = text.replace("#x", " #x");
    assert_eq!(read(text.into(), None).unwrap(), [at(0, 1, false), at(0, 2, true), at(0, 3, false)]);
}

#[test]
fn the_last_line_needs_no_end() {
    assert_eq!(read("LD 0\nST 64".into(), None).unwrap(), [at(0, 0, false), at(0, 1, true)]);
    assert_eq!(read("LD 64".into(), None).unwrap(), [at(0, 1, false)]);
}

#[test]
fn what_does_not_parse_is_refused_with_its_place() {
    let cases = [
        ("LD 1\nxx 2\n", "a.trace:2: \"xx\""),
        ("LD 1\nLD\n", "a.trace:2: \"LD\""),
        ("LD 1\nLD 0x\n", "a.trace:2: \"0x\""),
        ("LD ff\n", "a.trace:1: \"ff\""),
        ("LD -64\n", "a.trace:1: \"-64\""),
        ("LD 64 64\n", "a.trace:1: \"64\""),
        ("64 R\n\n64 X\n", "a.trace:3: \"X\""),
        ("64 R\n64\n", "a.trace:2: \"64\""),
        ("0 READ 5\n0 READ\n", "a.trace:2: \"0 READ\""),
        ("0 READ 5\n0 READ 0x\n", "a.trace:2: \"0x\""),
        ("0xfg READ 5\n", "a.trace:1: \"0xfg\""),
        ("0 READ 5\n0 READ 4\n", "a.trace:2: \"4\""),
        ("# a\n0 W 5\n", "a.trace:2: \"5\""),
        ("\n\nLOAD 5\n", "a.trace:3: \"LOAD 5\""),
    ];
    for (text, message) in cases {
        let error = refusal(text, None);
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
    let forced = refusal("LD 64\n", Some(Format::DramSim3));
    assert!(forced.starts_with("a.trace:1: \"64\""), "{forced}");
}

#[test]
fn a_forced_format_does_not_forgive_the_first_line() {
    let error = refusal("64 R!\n64 R\n", Some(Format::Ramulator1));
    assert!(error.starts_with("a.trace:1: \"R!\""), "{error}");
}

#[test]
fn addresses_end_with_the_memory() {
    let last = CAPACITY_BYTES - 1;
    assert_eq!(read(format!("LD {last}\nLD {last:#x}").into(), None).unwrap(), [at(0, last / 64, false); 2]);
    let error = refusal(format!("LD 0\nST {CAPACITY_BYTES}\n"), None);
    assert!(error.starts_with("a.trace:2: \"17179869184\""), "{error}");
}

#[test]
fn numbers_end_with_64_bits() {
    let whole =
        |text: &'static str| Trace::from_reader("a", text.as_bytes(), None, u64::MAX).ok().unwrap().next().unwrap();
    let top = Ok(at(0, (u64::MAX - 1) / 64, false));
    assert_eq!(whole("LD 18446744073709551614"), top);
    assert_eq!(whole("LD 0x0000fffffffffffffffe"), top);
    for large in ["18446744073709551616", "0x10000000000000000", "99999999999999999999999999"] {
        let error = refusal(format!("LD {large}"), None);
        assert!(error.starts_with(&format!("a.trace:1: {large:?}")), "{error}");
    }
    assert_eq!(read(format!("0 READ {CLOCK_MAX}").into(), None).unwrap(), [at(CLOCK_MAX, 0, false)]);
    let late = refusal(format!("0 READ {}", CLOCK_MAX + 1), None);
    assert!(late.starts_with("a.trace:1: \"9007199254740993\"") && late.contains("9007199254740992"), "{late}");
    assert!(refusal("0 READ 18446744073709551616", None).contains("\"18446744073709551616\""));
}

#[test]
fn long_lines_end_with_their_limit() {
    let comment = |length: usize| format!("LD 64\n#{}\nLD 128\n", "ä".repeat((length - 1) / 2));
    assert_eq!(read(comment(LINE_LENGTH_MAX - 1).into(), None).unwrap().len(), 2);
    for length in [LINE_LENGTH_MAX + 1, 10 * LINE_LENGTH_MAX, 1 << 20] {
        let error = refusal(comment(length), None);
        assert!(error.starts_with("a.trace:2: \"#ää"), "{error}");
        assert!(error.contains("\"... ") && error.contains("4096 bytes"), "{error}");
    }
    let exact = format!("LD 64{}", " ".repeat(LINE_LENGTH_MAX - 5));
    assert_eq!(read(exact.clone().into(), None).unwrap().len(), 1);
    assert!(refusal(exact + " ", None).contains("4096 bytes"));
}

#[test]
fn a_trace_is_text() {
    let in_comment = refusal(b"LD 64\n# \xff\xfe\n", None);
    assert!(in_comment.starts_with("a.trace:2: \"# \u{fffd}\u{fffd}\""), "{in_comment}");
    assert!(refusal(b"LD 64 # \xff", None).contains("a.trace:1: \"# \u{fffd}\""));
    assert!(refusal(b"LD \xff\n", None).contains("a.trace:1: \"\u{fffd}\""));
    assert!(refusal(b"\x80\x81\x82", None).contains("a.trace:1: "));
    assert!(refusal(b"LD 64\n\0 1\n", None).starts_with("a.trace:2: \"\\0\""));
}

#[test]
fn a_trace_without_requests_is_refused() {
    for text in ["", "\n\n", "# nothing\n#"] {
        for packing in Packing::ALL {
            for format in [None, Some(Format::Ramulator)] {
                assert_eq!(refusal(packing.pack(text.as_bytes()), format), "a.trace: holds no request");
            }
        }
    }
}

#[test]
fn values_in_messages_are_short() {
    let error = refusal(format!("LD {}", "z".repeat(4000)), None);
    assert!(error.starts_with(&format!("a.trace:1: \"{}\"", "z".repeat(40))), "{error}");
}

#[test]
fn after_an_error_comes_nothing() {
    let text = "LD 0\nLD x\nLD 64\n";
    let trace = Trace::from_reader("a.trace", Cursor::new(text), None, CAPACITY_BYTES).ok().unwrap();
    let results: Vec<_> = trace.collect();
    assert_eq!(results.len(), 2);
    let error = results[1].as_ref().unwrap_err();
    assert_eq!((error.file(), error.line()), ("a.trace", Some(2)));
    assert!(error.message().starts_with("\"x\""));
}

#[test]
fn files_are_told_by_their_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    for packing in Packing::ALL {
        std::fs::write(&path, packing.pack(b"LD 64\nST 128\n")).unwrap();
        let trace = Trace::open(&path, None, CAPACITY_BYTES).ok().unwrap();
        let requests: Result<Vec<_>, _> = trace.collect();
        assert_eq!(requests.unwrap(), [at(0, 1, false), at(0, 2, true)], "{packing:?}");
    }
}

#[test]
fn files_that_cannot_be_opened_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("missing"), folder.path().to_path_buf()] {
        let error = Trace::open(&path, None, CAPACITY_BYTES).err().expect("must be refused");
        assert_eq!((error.file(), error.line()), (path.display().to_string().as_str(), None));
        assert!(error.message().starts_with("cannot be read: "), "{error}");
    }
}

#[test]
fn compressed_pieces_follow_one_another() {
    for packing in Packing::ALL {
        // The second compressed member continues a line of the first.
        let mut bytes = packing.pack(b"LD 64\nST 1");
        bytes.extend(packing.pack(b"28\nLD 192\n"));
        assert_eq!(read(bytes, None).unwrap(), [at(0, 1, false), at(0, 2, true), at(0, 3, false)], "{packing:?}");
    }
}

#[test]
fn a_zstd_file_may_begin_with_a_frame_to_skip() {
    let mut bytes = vec![0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    bytes.extend(Packing::Zstd.pack(b"LD 64\n"));
    assert_eq!(read(bytes, None).unwrap(), [at(0, 1, false)]);
}

#[test]
fn streams_that_end_early_are_told_with_the_line_reached() {
    let lines: u64 = 50_000;
    let text: String = (0..lines).map(|line| format!("LD {}\n", line * 0x9e37_79b9 % CAPACITY_BYTES)).collect();
    for packing in [Packing::Gzip, Packing::Xz, Packing::Zstd] {
        let whole = packing.pack(text.as_bytes());
        let half = whole[..whole.len() / 2].to_vec();
        let trace = Trace::from_reader("a.trace", Cursor::new(half), None, CAPACITY_BYTES).ok().unwrap();
        let results: Vec<_> = trace.collect();
        let error = results.last().unwrap().as_ref().unwrap_err();
        assert_eq!(error.line(), Some(results.len() as u64), "{packing:?}: {error}");
        assert!(error.message().starts_with("is cut short: "), "{packing:?}: {error}");
        let short = read(whole[..whole.len() - 1].to_vec(), None).expect_err("one byte less");
        assert!(short.message().starts_with("is cut short: "), "{packing:?}: {short}");
        assert!((2..=lines + 1).contains(&short.line().unwrap()), "{packing:?}: {short}");
    }
}

#[test]
fn damaged_streams_are_told() {
    for packing in [Packing::Gzip, Packing::Xz, Packing::Zstd] {
        let mut bytes = packing.pack("LD 64\n".repeat(1000).as_bytes());
        bytes.extend(b"no stream");
        let error = read(bytes, None).expect_err("must be refused").to_string();
        assert!(
            error.starts_with("a.trace:1") && error.contains("cannot be read") | error.contains("cut short"),
            "{error}"
        );
    }
}

/// A source that returns a byte at a time between interruptions and fails at the end.
struct Dribble {
    text: &'static [u8],
    interrupt: bool,
}

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let Some((first, rest)) = self.text.split_first() else { return Err(io::Error::other("the wire broke")) };
        buffer[0] = *first;
        self.text = rest;
        Ok(1)
    }
}

#[test]
fn an_interrupted_source_is_read_on_and_a_broken_one_told() {
    let source = Dribble { text: b"LD 64\nST 128\nLD 1", interrupt: false };
    let trace = Trace::from_reader("pipe", source, None, CAPACITY_BYTES).ok().unwrap();
    let results: Vec<_> = trace.collect();
    assert_eq!(results[..2], [Ok(at(0, 1, false)), Ok(at(0, 2, true))]);
    assert_eq!(results[2].as_ref().unwrap_err().to_string(), "pipe:3: cannot be read: the wire broke");
    assert_eq!(results.len(), 3);
    let source = Dribble { text: b"", interrupt: false };
    let error = Trace::from_reader("pipe", source, None, CAPACITY_BYTES).err().unwrap();
    assert_eq!(error.to_string(), "pipe: cannot be read: the wire broke");
}

#[test]
fn formats_have_names() {
    assert_eq!(Format::ALL.map(Format::name), ["ramulator", "ramulator1", "dramsim3"]);
}
