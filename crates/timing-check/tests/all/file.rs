//! Tests command files: what is written is read back, errors name a line and a rule, and nothing panics.

use std::io::{BufReader, Cursor, Read};

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::DramParams;
use hostnet_timing_check::{
    check_file, write_header, write_record, CheckOptions, CommandReader, FileError, LocatedViolation, RuleCount,
    HEADER, LINE_BYTES_MAX,
};
use proptest::prelude::*;

use crate::common::{at, command, ddr4, ddr5, devices, hbm};

const KINDS: [CommandKind; 8] = [
    CommandKind::Activate,
    CommandKind::Read,
    CommandKind::ReadPrecharge,
    CommandKind::Write,
    CommandKind::WritePrecharge,
    CommandKind::Precharge,
    CommandKind::PrechargeAll,
    CommandKind::Refresh,
];

fn read(p: &DramParams, text: &[u8]) -> Result<Vec<CommandRecord>, FileError> {
    CommandReader::new(text, p, None)?.collect()
}

/// Returns the error about a file whose third line is `line`.
fn said(p: &DramParams, line: &str) -> String {
    read(p, format!("# made by a test\n{HEADER}\n{line}\n").as_bytes()).unwrap_err().to_string()
}

fn written(stream: &[CommandRecord]) -> Vec<u8> {
    let mut text = Vec::new();
    write_header(&mut text).unwrap();
    stream.iter().for_each(|record| write_record(&mut text, record).unwrap());
    text
}

#[test]
fn a_file_looks_as_documented() {
    let stream = [
        CommandRecord { row: 77, ..at(5, command(CommandKind::Activate, 1, 2, 3)) },
        CommandRecord { column: 9, channel: 12, ..at(30, command(CommandKind::Read, 1, 2, 3)) },
        at(90, command(CommandKind::Precharge, 0, 1, 0)),
        at(91, command(CommandKind::PrechargeAll, 1, 0, 0)),
        at(u64::MAX >> 1, command(CommandKind::Refresh, 1, 0, 0)),
    ];
    let text = written(&stream);
    assert_eq!(
        String::from_utf8_lossy(&text),
        "clock,channel,command,rank,bank_group,bank,row,column\n5,0,ACT,1,2,3,77,\n30,12,RD,1,2,3,,9\n\
        90,0,PRE,0,1,0,,\n\
         91,0,PREA,1,,,,\n9223372036854775807,0,REF,1,,,,\n"
    );
    assert_eq!(read(&ddr4(), &text).unwrap(), stream);
    let windows = String::from_utf8_lossy(&text).replace('\n', "\r\n");
    assert_eq!(read(&ddr4(), windows.as_bytes()).unwrap(), stream);
}

#[test]
fn the_longest_record_can_be_written() {
    let widest = CommandRecord {
        clock: u64::MAX,
        channel: u32::MAX,
        rank: 255,
        bank_group: 255,
        bank: 255,
        row: u32::MAX,
        column: u32::MAX,
        kind: CommandKind::RefreshSameBank,
    };
    for kind in KINDS.into_iter().chain([CommandKind::RefreshSameBank]) {
        let text = written(&[CommandRecord { kind, ..widest }]);
        assert_eq!(text.iter().filter(|&&byte| byte == b',').count(), 14);
    }
}

#[test]
fn fields_without_use_are_ignored_but_must_be_of_the_device() {
    let line = |text: &str| format!("{HEADER}\n# comment\n{text}\n");
    let read = |p: &DramParams, text: &str| read(p, line(text).as_bytes()).map(|records| records[0]);
    assert_eq!(read(&ddr4(), "7,0,PREA,1,2,3,4,5").unwrap(), at(7, command(CommandKind::PrechargeAll, 1, 0, 0)));
    assert!(read(&ddr4(), "7,0,PREA,1,4,3,4,5").is_err());
    let refresh = |group| at(7, command(CommandKind::RefreshSameBank, 0, group, 3));
    assert_eq!(read(&ddr5(), "7,0,REFSB,0,,3,,").unwrap(), refresh(0));
    assert_eq!(read(&ddr5(), "7,0,REFSB,0,2,3,,").unwrap(), refresh(0));
    assert_eq!(read(&hbm(), "7,0,REFSB,0,2,3,,").unwrap(), refresh(2));
    assert!(read(&hbm(), "7,0,REFSB,0,,3,,").is_err());
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    let p = ddr4();
    for (line, rule) in [
        ("", "line 3: has 1 fields"),
        ("1,0,ACT,0,0,0,0", "line 3: has 7 fields"),
        ("1,0,ACT,0,0,0,0,,", "line 3: has 9 fields"),
        ("1,0,ACTT,0,0,0,0,", "line 3: `command` is \"ACTT\""),
        ("1,0,rea,0,0,0,0,", "REFSB; nearest is RDA"),
        ("1,0,,0,0,0,0,", "line 3: `command` is missing"),
        (",0,ACT,0,0,0,0,", "line 3: `clock` is missing"),
        ("1,,ACT,0,0,0,0,", "line 3: `channel` is missing"),
        ("1,0,ACT,0,0,0,,", "line 3: `row` is missing"),
        ("1,0,RD,0,0,0,,", "line 3: `column` is missing"),
        ("1,0,PRE,0,0,,,", "line 3: `bank` is missing"),
        ("1,0,REF,,,,,", "line 3: `rank` is missing"),
        ("-1,0,REF,0,,,,", "line 3: `clock` is \"-1\""),
        ("1,0,REF, 0,,,,", "line 3: `rank` is \" 0\""),
        ("9223372036854775808,0,REF,0,,,,", "line 3: `clock` is 9223372036854775808"),
        ("1,1024,REF,0,,,,", "line 3: `channel` is 1024"),
        ("1,0,REF,2,,,,", "line 3: `rank` is 2"),
        ("1,0,REF,256,,,,", "line 3: `rank` is 256"),
        ("1,0,ACT,0,4,0,0,", "line 3: `bank_group` is 4"),
        ("1,0,ACT,0,0,4,0,", "line 3: `bank` is 4"),
        ("1,0,ACT,0,0,0,65536,", "line 3: `row` is 65536"),
        ("1,0,RD,0,0,0,,128", "line 3: `column` is 128"),
        ("1,0,REFSB,0,0,0,,", "line 3: `command` is REFSB"),
        ("5,0,REF,0,,,,\n4,0,REF,0,,,,", "line 4: `clock` is 4"),
    ] {
        assert!(said(&p, line).contains(rule), "{line}: {}", said(&p, line));
    }
}

#[test]
fn the_number_of_controllers_is_heeded_when_known() {
    let text = format!("{HEADER}\n1,1,REF,0,,,,\n1,2,REF,0,,,,\n");
    let mut reader = CommandReader::new(text.as_bytes(), &ddr4(), Some(2)).unwrap();
    assert_eq!(reader.read().unwrap().map(|record| record.channel), Some(1));
    assert!(reader.read().unwrap_err().to_string().contains("line 3: `channel` is 2"));
    assert!(reader.read().unwrap().is_none(), "an error ends the file");
}

#[test]
fn clocks_of_different_channels_may_interleave() {
    let text = format!("{HEADER}\n5,0,REF,0,,,,\n4,1,REF,0,,,,\n5,0,REF,0,,,,\n");
    assert_eq!(read(&ddr4(), text.as_bytes()).unwrap().len(), 3);
}

#[test]
fn bad_files_are_told() {
    let p = ddr4();
    let message = |text: &[u8]| read(&p, text).unwrap_err().to_string();
    assert!(message(b"").contains("line 1: "));
    assert!(message(b"# only\n").contains("line 1: "));
    assert!(message(b"LD 0x1000\n").contains("line 1: \"LD 0x1000\""));
    let cut = [HEADER.as_bytes(), b"\n1,0,REF,0,,,,\n2,0,REF,0,,,"].concat();
    assert!(message(&cut).contains("line 3: "));
    let bytes = [HEADER.as_bytes(), b"\n1,0,\xff,0,,,,\n"].concat();
    assert!(message(&bytes).contains("line 2: byte 5"));
}

#[test]
fn a_line_may_be_long_but_not_endless() {
    let p = ddr4();
    let comment = |bytes: usize, end: &str| format!("{HEADER}\n#{}{end}1,0,REF,0,,,,\n", "x".repeat(bytes - 1));
    for end in ["\n", "\r\n"] {
        assert_eq!(read(&p, comment(LINE_BYTES_MAX, end).as_bytes()).unwrap().len(), 1);
        let error = read(&p, comment(LINE_BYTES_MAX + 1, end).as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 2: ") && error.contains("1024 bytes"), "{error}");
    }
    let endless = BufReader::new(Cursor::new(format!("{HEADER}\n")).chain(std::io::repeat(b'1')));
    let error = CommandReader::new(endless, &p, None).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.line, 2);
}

#[test]
fn a_file_is_checked_to_its_first_violation_or_to_its_end() {
    let text = format!("{HEADER}\n0,0,ACT,0,0,0,7,\n20,0,RD,0,0,0,,0\n21,0,RD,0,0,0,,1\n21,0,REF,1,,,,\n");
    let found = |options| check_file(text.as_bytes(), &ddr4(), options).unwrap();
    let first = found(CheckOptions::default());
    assert_eq!((first.commands, first.end_clock), (2, 20));
    assert!(matches!(first.first, Some(LocatedViolation { line: 3, violation }) if violation.rule == "tRCD"));
    let all = found(CheckOptions { all: true, ..CheckOptions::default() });
    assert_eq!((all.commands, all.end_clock, all.first), (4, 21, first.first));
    let count = |rule, violations| RuleCount { rule, violations };
    assert_eq!(all.counts, [count("tRCD", 1), count("tCCD_L", 1), count("command bus", 1)]);
}

#[test]
fn a_file_may_end_with_a_missing_refresh() {
    let text = format!("{HEADER}\n0,0,REF,0,,,,\n0,1,REF,0,,,,\n102934,1,REF,0,,,,\n");
    let found =
        |refresh| check_file(text.as_bytes(), &ddr4(), CheckOptions { refresh, ..CheckOptions::default() }).unwrap();
    assert_eq!(found(true).first.unwrap().violation.rule, "tREFI");
    assert_eq!(found(false).first, None);
    assert_eq!(found(false).counts, []);
}

fn records() -> impl Strategy<Value = Vec<CommandRecord>> {
    let record = (0..8_usize, 0..2_u8, 0..4_u8, 0..4_u8, 0..65536_u32, 0..128_u32, 0..3_u32, 0..1_000_000_000_u64);
    let record = record.prop_map(|(kind, rank, bank_group, bank, row, column, channel, clock)| {
        use CommandKind::{Activate, Precharge, PrechargeAll, Refresh};
        let kind = KINDS[kind];
        let whole = matches!(kind, PrechargeAll | Refresh);
        CommandRecord {
            clock,
            channel,
            kind,
            rank,
            bank_group: if whole { 0 } else { bank_group },
            bank: if whole { 0 } else { bank },
            row: if kind == Activate { row } else { 0 },
            column: if matches!(kind, Activate | Precharge | PrechargeAll | Refresh) { 0 } else { column },
        }
    });
    prop::collection::vec(record, 0..30).prop_map(|mut records| {
        records.sort_by_key(|record| record.clock);
        records
    })
}

/// Reads and checks arbitrary bytes. An error names a line of the file.
fn survives(text: &[u8]) {
    let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    for (_, p) in devices() {
        if let Err(error) = check_file(text, &p, CheckOptions { all: true, ..CheckOptions::default() }) {
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().starts_with(&format!("line {}: ", error.line)));
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(stream in records()) {
        prop_assert_eq!(read(&ddr4(), &written(&stream)).unwrap(), stream);
    }

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&text);
        survives(&[HEADER.as_bytes(), b"\n", &text].concat());
    }

    #[test]
    fn any_fields_are_survived(
        text in "([0-9]{0,3},[0-3],(ACT|RD|RDA|WR|WRA|PRE|PREA|REF|REFSB|X),[0-2]?,[0-2]?,[0-2]?,[0-9]?,[0-9]?\n){0,20}"
    ) {
        survives(&[HEADER.as_bytes(), b"\n", text.as_bytes()].concat());
    }

    #[test]
    fn damaged_files_are_survived(
        stream in records(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut text = written(&stream);
        for (place, byte, how) in damage {
            let place = place.index(text.len());
            match how {
                0 => text[place] = byte,
                1 => text.insert(place, byte),
                _ => _ = text.remove(place),
            }
        }
        survives(&text);
        survives(&text[..cut.index(text.len())]);
    }

    #[test]
    fn a_file_cut_within_a_line_is_refused(stream in records(), cut in any::<prop::sample::Index>()) {
        let text = written(&stream);
        let part = &text[..cut.index(text.len())];
        let whole_lines = part.ends_with(b"\n");
        prop_assert_eq!(read(&ddr4(), part).is_ok(), whole_lines);
    }
}
