//! Tests traces of a processor: the accesses read from each format, and the wording of refusals.

use crate::support::{read_accesses, Packing};
use hostnet_traffic::{Access, AccessFormat, AccessTrace, Format, ACCESS_BYTES_MAX};
use std::io::{Cursor, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

fn access(address: u64, size: u32, store: bool, instructions_before: u32) -> Access {
    Access { address, thread: 0, size, instructions_before, store }
}

fn of_thread(thread: u64, access: Access) -> Access {
    Access { thread, ..access }
}

fn refusal(text: impl AsRef<[u8]>, format: Option<AccessFormat>) -> String {
    read_accesses(text.as_ref().to_vec(), format).expect_err("must be refused").to_string()
}

const LACKEY: &str = "==7== Lackey, an example Valgrind tool\n==7== \nI  0401ab70,3\nI  0401ab73,5\n S 1fff000768,8\n\
    I  0401b770,1\n M 04025310,64\n L 1FFF000768,512\n\nI  0401b770,1\n==7== \n==7== Exit code:       0\n";

#[test]
fn lackey_tells_instructions_and_sizes() {
    let expected =
        [access(0x1f_ff00_0768, 8, true, 2), access(0x0402_5310, 64, true, 1), access(0x1f_ff00_0768, 512, false, 0)];
    for format in [None, Some(AccessFormat::Lackey)] {
        assert_eq!(read_accesses(LACKEY.into(), format).unwrap(), expected);
        assert_eq!(read_accesses(LACKEY.replace('\n', "\r\n").into(), format).unwrap(), expected);
    }
}

/// Listings from four generations of the tool that show the same run give the same accesses.
#[test]
fn every_layout_of_drmemtrace_is_read() {
    let records = [
        ("1 0", 7, "<marker: version 5>"),
        ("2 0", 7, "<marker: timestamp 100>"),
        ("3 1", 7, "ifetch       5 byte(s) @ 0x0000000000404a7e 48 8b 5c 24 08       mov    0x08(%rsp) -> %rbx # a"),
        ("4 1", 7, "read         8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e"),
        ("5 2", 9, "ifetch       9 byte(s) @ 0x0000000000404a83 non-branch"),
        ("5 2", 9, "                                           00 00"),
        ("6 3", 7, "ifetch       3 byte(s) @ 0x0000000000402680 f3 48 a5             rep movsq"),
        ("7 3", 7, "pref-r-L1    1 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e"),
        ("8 4", 9, "ifetch       3 byte(s) @ 0x0000000000402680 f3 48 a5             rep movsq"),
        ("9 4", 9, "write       64 byte(s) @ 0x00007f8881e37a70 by PC 0x0000000000402680"),
        ("10 4", 7, "write        8 byte(s) @ 0x00007f8881e37a78 by PC 0x0000000000402680"),
        ("11 4", 7, "<thread 7 exited>"),
    ];
    let listing = |prefix: &dyn Fn(&str, u32) -> String| {
        let rule = "-".repeat(60);
        let lines = records.map(|(numbers, thread, what)| format!("{}{what}\n", prefix(numbers, thread)));
        format!(
            "Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n{rule}\n{}{rule}\n{}\
             View tool results:\n              4 : total instructions\n",
            lines[..8].concat(),
            lines[8..].concat()
        )
    };
    let (record, instruction) =
        (|n: &str| n.split(' ').next().unwrap().to_owned(), |n: &str| n.split(' ').nth(1).unwrap().to_owned());
    let expected = [
        of_thread(7, access(0x7fdf_64e2_adc8, 8, false, 1)),
        of_thread(9, access(0x7f88_81e3_7a70, 64, true, 2)),
        of_thread(7, access(0x7f88_81e3_7a78, 8, true, 1)),
    ];
    let read = |text: String| read_accesses(text.into(), None).unwrap();
    assert_eq!(read(listing(&|n, t| format!("{:>12}: T{t} ", record(n)))), expected);
    assert_eq!(read(listing(&|n, t| format!("{:>12}{:>12}: {t:>11} ", record(n), instruction(n)))), expected);
    assert_eq!(read(listing(&|n, t| format!("{:>12}{:>12}: T{t} ", record(n), instruction(n)))), expected);
    let workloads = expected.map(|access| of_thread(access.thread | 3 << 32, access));
    assert_eq!(read(listing(&|n, t| format!("{:>12}{:>12}: W3.T{t} ", record(n), instruction(n)))), workloads);
    let oldest = "T7   0x0000000000467c45  4c 8b 54 24 08       mov    0x08(%rsp), %r10\nT7     read  8 byte(s) @ \
                  0x7fff9f5fd9b0\n------\nT8 <marker: tid 8 on core 0>\n";
    assert_eq!(read(oldest.into()), [of_thread(7, access(0x7fff_9f5f_d9b0, 8, false, 1))]);
}

#[test]
fn an_instruction_that_repeats_counts_once() {
    let fetch =
        "  1  5: 7 ifetch  3 byte(s) @ 0x0402680 f3 48 a5 rep movsq\n  2 5: 7 read  8 byte(s) @ 0x10 by PC 0x1\n";
    let found = read_accesses(fetch.repeat(3).into(), None).unwrap();
    assert_eq!(found.iter().map(|access| access.instructions_before).collect::<Vec<_>>(), [1, 0, 0]);
}

#[test]
fn ramulator_tells_instructions_and_what_is_written_back() {
    let text = "# a\n3 20734016\n\n1 0x80 0x1047\n0 64\n";
    let expected = [
        access(20_734_016, 64, false, 4),
        access(0x80, 64, false, 2),
        access(0x1040, 64, true, 0),
        access(64, 64, false, 1),
    ];
    assert_eq!(read_accesses(text.into(), None).unwrap(), expected);
    let top = format!("{} 64", u32::MAX - 1);
    assert_eq!(read_accesses(top.into(), None).unwrap(), [access(64, 64, false, u32::MAX)]);
}

#[test]
fn traces_of_requests_are_accesses_to_lines() {
    for text in ["LD 65\nST 0x80\n", "65 R\n0x80 W\n", "41 READ 3\n80 WRITE 3\n"] {
        let found = read_accesses(text.into(), None).unwrap();
        assert_eq!(found, [access(64, 64, false, 0), access(128, 64, true, 0)], "{text}");
    }
}

#[test]
fn what_does_not_parse_is_refused_with_its_place() {
    let cases = [
        ("I  04,3\n L 04\n", "a.trace:2: \"04\""),
        ("I  04,3\n L ,8\n", "a.trace:2: \"\""),
        ("I  04,3\n L 0xg,8\n", "a.trace:2: \"0xg\""),
        ("I  04,3\n L 1ffffffffffffffff,8\n", "a.trace:2: \"1ffffffffffffffff\""),
        (" L fffffffffffffff9,8\n", "a.trace:1: \"fffffffffffffff9\""),
        (" L 04025310,0\n", "a.trace:1: \"0\""),
        (" L 04025310,65537\n", "a.trace:1: \"65537\""),
        (" L 04025310,8 \n", "a.trace:1: \"8 \""),
        ("I  04025310,3\nhello\n", "a.trace:2: \"hello\""),
        ("I  04025310,3\n L 04025310,8\n S 1fff0", "a.trace:3: \"1fff0\""),
        ("I  04025310,3\n L 04025310,8\n S 1fff000760,1", "a.trace:3: is cut short: the last line has no end"),
        ("1 0: 7 <marker: x>\n2 0: 7 read 8 byte(s) @ 0x10 by PC 0x1", "a.trace:2: is cut short"),
        (
            "1 0: 7 <marker: timestamp 5>\n2 0: 8 <marker: timestamp 4>\n3 0: 7 <marker: timestamp 4>\n",
            "a.trace:3: \"4>\"",
        ),
        ("1: T7 read 8 byte(s) @ 0x10 by PC 0x1\n2: T7 reed 8 byte(s) @ 0x10\n", "a.trace:2: \"reed\""),
        (
            "1: T7 read 8 byte(s) @ 0x10 by PC 0x1\n2: T7 read 8 bytes @ 0x10\n",
            "a.trace:2: \"2: T7 read 8 bytes @ 0x10\"",
        ),
        ("1: T7 read 8 byte(s) @ 0x10 by PC 0x1\nx: T7 read\n", "a.trace:2: \"x\""),
        ("1: T7 read 8 byte(s) @ 0x10 by PC 0x1\n2: Tx read\n", "a.trace:2: \"Tx\""),
        ("3 64\n3 64 64 64\n", "a.trace:2: \"64\""),
        ("3 64\n3\n", "a.trace:2: \"3\""),
        ("3 64\n-3 64\n", "a.trace:2: \"-3\""),
        ("3 64\n4294967295 64\n", "a.trace:2: \"4294967295\""),
        ("0 READ 5\n0 READ 4\n", "a.trace:2: \"4\""),
        ("==1== a\n\nwhat is this\n", "a.trace:3: \"what is this\""),
        ("==1== a\n", "a.trace: holds no access"),
        ("", "a.trace: holds no access"),
    ];
    for (text, message) in cases {
        let error = refusal(text, None);
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn binary_garbage_is_refused() {
    assert!(refusal(b"\x00\xff\xfe\x80\x01", None).contains("is not UTF-8: a trace is text"));
    assert!(refusal(b" L 04025310,8\n\x80\x81\n", None).starts_with("a.trace:2: "));
    assert!(refusal(b"== \xff\n", Some(AccessFormat::Lackey)).starts_with("a.trace:1: "));
    assert!(refusal(b"1: T7 <marker: x>\n2: T7 <\xff>\n", None).starts_with("a.trace:2: "));
}

#[test]
fn a_packed_trace_that_is_cut_is_told_with_its_line() {
    let text = (0..20_000).map(|line| format!(" L {:08x},8\n", line * 0x9e37_79b9_u64 % (1 << 32))).collect::<String>();
    for packing in [Packing::Gzip, Packing::Xz, Packing::Zstd] {
        let whole = packing.pack(text.as_bytes());
        assert_eq!(read_accesses(whole.clone(), None).unwrap().len(), 20_000);
        let error = refusal(&whole[..whole.len() / 2], None);
        assert!(error.contains("is cut short: ") && error.starts_with("a.trace:"), "{packing:?}: {error}");
    }
}

#[test]
fn sizes_end_with_their_limit() {
    let found = read_accesses(format!(" L 04025310,{ACCESS_BYTES_MAX}\n").into(), None).unwrap();
    assert_eq!(found, [access(0x0402_5310, ACCESS_BYTES_MAX, false, 0)]);
    let top = read_accesses(" L ffffffffffffffff,1\n".into(), None).unwrap()[0];
    assert_eq!(top.lines(), (u64::MAX / 64, u64::MAX / 64));
    assert_eq!(access(63, 2, false, 0).lines(), (0, 1));
    assert_eq!(access(64, 64, false, 0).lines(), (1, 1));
}

#[test]
fn formats_have_names() {
    let names = ["lackey", "drmemtrace", "ramulator-cpu", "ramulator", "ramulator1", "dramsim3"];
    assert_eq!(AccessFormat::ALL.map(AccessFormat::name), names);
    assert!(names.into_iter().zip(AccessFormat::ALL).all(|(name, format)| AccessFormat::named(name) == Some(format)));
    assert_eq!(AccessFormat::named("lackeys"), None);
    assert_eq!(AccessFormat::named("dramsim3"), Some(AccessFormat::Memory(Format::DramSim3)));
}

#[test]
fn a_trace_of_too_many_threads_is_refused() {
    let text = |threads: u32| (1..=threads).map(|thread| format!("1: T{thread} <marker: x>\n")).collect::<String>();
    let last = "9: T1 read 8 byte(s) @ 0x10 by PC 0x1\n";
    assert_eq!(read_accesses((text(65_536) + last).into(), None).unwrap().len(), 1);
    assert!(refusal(text(65_537) + last, None).contains("has more than 65536 threads"));
}

/// An endless source of lines that counts the bytes read from it.
struct Endless {
    line: &'static [u8],
    given: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let given = self.given.fetch_add(buffer.len() as u64, Ordering::Relaxed) as usize;
        buffer.iter_mut().enumerate().for_each(|(at, byte)| *byte = self.line[(given + at) % self.line.len()]);
        Ok(buffer.len())
    }
}

#[test]
fn no_more_is_read_than_is_needed() {
    let given = Arc::new(AtomicU64::new(0));
    let source = Endless { line: b"I  04025310,3\n L 04025310,8\n", given: given.clone() };
    let trace = AccessTrace::from_reader("endless", source, None).ok().unwrap();
    let taken = 100_000_u64;
    assert_eq!(trace.take(taken as usize).filter(|access| access.as_ref().is_ok_and(|a| a.size == 8)).count(), 100_000);
    // At most one buffer may be read ahead.
    let needed = taken * 28;
    assert!((needed..needed + (1 << 17) + 28).contains(&given.load(Ordering::Relaxed)));
}

#[test]
fn after_an_error_comes_nothing() {
    let trace = AccessTrace::from_reader("a", Cursor::new(" L 04,8\nx\n L 04,8\n"), None).ok().unwrap();
    assert_eq!(trace.map(|access| access.is_ok()).collect::<Vec<_>>(), [true, false]);
}
