//! Property tests of traces of a processor: what is written is read back, and malformed bytes cause only an error.

use crate::support::{read_accesses, Packing};
use hostnet_traffic::{Access, AccessFormat, ACCESS_BYTES_MAX};
use proptest::prelude::*;
use proptest::sample::{select, Index};

fn written() -> impl Strategy<Value = AccessFormat> {
    select(&[AccessFormat::Lackey, AccessFormat::DrMemTrace, AccessFormat::RamulatorCpu][..])
}

/// Generates accesses with addresses of all lengths.
fn accesses() -> impl Strategy<Value = Vec<Access>> {
    let address = (any::<u64>(), 0u32..64).prop_map(|(address, bits)| address >> bits);
    let size = prop_oneof![4 => 1u32..100, 1 => 1..=ACCESS_BYTES_MAX];
    let draw = (address, size, any::<bool>(), 0u32..5, 0u64..3);
    let one = |(address, size, store, instructions_before, thread): (u64, u32, bool, u32, u64)| {
        let address = address.min(u64::MAX - u64::from(size - 1));
        Access { address, thread, size, instructions_before, store }
    };
    proptest::collection::vec(draw.prop_map(one), 1..40)
}

/// Writes accesses as a trace, and returns them as the format preserves them.
fn trace(format: AccessFormat, accesses: &[Access]) -> (String, Vec<Access>) {
    let mut text = String::new();
    let mut told = Vec::new();
    for access in accesses {
        let (kind, name) = if access.store { ('S', "write") } else { ('L', "read") };
        let count = access.instructions_before;
        match format {
            AccessFormat::Lackey => {
                (0..count).for_each(|_| text += "I  0401ab70,3\n");
                text += &format!(" {kind} {:08x},{}\n", access.address, access.size);
                told.push(Access { thread: 0, ..*access });
            }
            AccessFormat::DrMemTrace => {
                let at = format!("{:>12}: T{} ", told.len(), access.thread);
                (0..count).for_each(|_| text += &format!("{at}ifetch       3 byte(s) @ 0x00404a7e non-branch\n"));
                text += &format!("{at}{name:<12}{:>2} byte(s) @ {:#018x} by PC 0x1\n", access.size, access.address);
                told.push(*access);
            }
            _ => {
                text += &format!("{count} {}\n", access.address);
                let address = access.address / 64 * 64;
                told.push(Access { address, thread: 0, size: 64, instructions_before: count + 1, store: false });
            }
        }
    }
    (text, told)
}

fn packing() -> impl Strategy<Value = Packing> {
    select(&Packing::ALL[..])
}

/// Reads a trace to its end or first error. The line of an error, if it has one, is one of the text or the next one.
fn survives(bytes: Vec<u8>, format: Option<AccessFormat>, lines: Option<usize>) -> Result<(), TestCaseError> {
    let Err(error) = read_accesses(bytes, format) else { return Ok(()) };
    prop_assert!(!error.message().is_empty() && error.to_string().len() < 500, "{}", error);
    if let (Some(line), Some(lines)) = (error.line(), lines) {
        prop_assert!((1..=lines as u64 + 1).contains(&line), "{}", error);
    }
    Ok(())
}

fn lines_of(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count()
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let numbers = "0 5: 64 0x10 0xffff 04025310 1fff000768 18446744073709551616 T7 W0.T7 ,8 ,".split(' ');
    let words = "ifetch|read|write|byte(s)|@|by PC|<marker:|timestamp 5>|==1==|---|I  | L | S | M |LD|é|\0".split('|');
    let blanks = [" ", " ", " ", "\r", "\n", "\n", "\n"];
    let pieces: Vec<&str> = numbers.chain(words).chain(blanks).collect();
    proptest::collection::vec(select(pieces), 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_is_read(format in written(), accesses in accesses(), packing in packing(), forced: bool) {
        let (text, told) = trace(format, &accesses);
        prop_assert_eq!(read_accesses(packing.pack(text.as_bytes()), forced.then_some(format)), Ok(told));
    }

    #[test]
    fn a_planted_mistake_is_found_on_its_line(format in written(), accesses in accesses(), place: Index) {
        let (text, _) = trace(format, &accesses);
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let place = place.index(lines.len());
        lines[place] = format!("!{}", lines[place]);
        let error = read_accesses(lines.concat().into(), Some(format)).expect_err("a mistake");
        prop_assert_eq!(error.line(), Some(place as u64 + 1));
    }

    #[test]
    fn a_trace_cut_anywhere_within_a_line_is_refused(
        format in select(&[AccessFormat::Lackey, AccessFormat::DrMemTrace][..]), accesses in accesses(), cut: Index,
    ) {
        let (text, told) = trace(format, &accesses);
        let part = &text[..1 + cut.index(text.len() - 1)];
        let found = read_accesses(part.into(), Some(format));
        if part.ends_with('\n') {
            let found = found.expect("whole lines");
            prop_assert_eq!(&found[..], &told[..found.len()]);
        } else {
            // Blanks before the first record do not show a line that an error could name.
            let line = found.expect_err("a cut line").line();
            prop_assert!(line == Some(lines_of(part.as_bytes()) as u64) || (line.is_none() && part.trim().is_empty()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_bytes_end_well(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        format in proptest::option::of(select(&AccessFormat::ALL[..])),
    ) {
        let lines = lines_of(&bytes);
        survives(bytes, format, Some(lines))?;
    }

    #[test]
    fn any_pieces_end_well(
        text in pieces(), packing in packing(), format in proptest::option::of(select(&AccessFormat::ALL[..])),
    ) {
        let lines = lines_of(&text);
        survives(packing.pack(&text), format, Some(lines))?;
    }

    #[test]
    fn mutated_traces_end_well(
        format in written(),
        accesses in accesses(),
        packing in packing(),
        text_changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        file_changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        cut in proptest::option::of(any::<Index>()),
        forced: bool,
    ) {
        let mut text = trace(format, &accesses).0.into_bytes();
        text_changes.iter().for_each(|(place, byte)| *place.get_mut(&mut text) = *byte);
        let lines = lines_of(&text);
        let mut bytes = packing.pack(&text);
        file_changes.iter().for_each(|(place, byte)| *place.get_mut(&mut bytes) = *byte);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let known = file_changes.is_empty() || matches!(packing, Packing::Plain);
        survives(bytes, forced.then_some(format), known.then_some(lines + file_changes.len()))?;
    }
}
