//! Property tests of traces: what is written is read back, and malformed bytes cause an error with a line and nothing
//! else.

use crate::support::{read, written, Packing, CAPACITY_BYTES};
use hostnet_traffic::{Format, Request, CLOCK_MAX};
use proptest::prelude::*;
use proptest::sample::{select, Index};

fn format() -> impl Strategy<Value = Format> {
    select(&Format::ALL[..])
}

fn packing() -> impl Strategy<Value = Packing> {
    select(&Packing::ALL[..])
}

/// Generates requests that a trace of `format` can hold.
fn requests(format: Format, length_max: usize) -> impl Strategy<Value = Vec<Request>> {
    let draw = (0..=CLOCK_MAX, 0..CAPACITY_BYTES / 64, any::<bool>());
    proptest::collection::vec(draw, 1..length_max).prop_map(move |mut draws| {
        draws.sort_by_key(|draw| draw.0);
        let clock = |clock| if format.timed() { clock } else { 0 };
        draws.into_iter().map(|(at, line, write)| Request { clock: clock(at), line, write, source: 0 }).collect()
    })
}

/// Generates a trace with its format and its compression.
fn trace() -> impl Strategy<Value = (Format, Packing, Vec<Request>)> {
    (format(), packing()).prop_flat_map(|(format, packing)| (Just(format), Just(packing), requests(format, 40)))
}

/// Generates random concatenations of trace tokens, which are closer to valid than random bytes.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let numbers = "0 5 64 0x 0xffff 17179869184 18446744073709551616 9007199254740993 -1".split(' ');
    let words = "LD ST R W READ WRITE BOFF # é \0".split(' ');
    let blanks = [" ", " ", " ", " ", "\t", "\r", "\n", "\n", "\n"];
    let pieces: Vec<&str> = numbers.chain(words).chain(blanks).collect();
    proptest::collection::vec(select(pieces), 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Reads a trace to its end or first error. The line of an error, if it has one, is one of the text or the next one.
fn survives(bytes: Vec<u8>, format: Option<Format>, lines: Option<usize>) -> Result<(), TestCaseError> {
    let Err(error) = read(bytes, format) else { return Ok(()) };
    prop_assert!(!error.message().is_empty() && error.to_string().len() < 400, "{}", error);
    if let (Some(line), Some(lines)) = (error.line(), lines) {
        prop_assert!((1..=lines as u64 + 1).contains(&line), "{}", error);
    }
    Ok(())
}

fn lines_of(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_is_read((format, packing, requests) in trace(), forced: bool) {
        let bytes = packing.pack(&written(&requests, format));
        prop_assert_eq!(read(bytes, forced.then_some(format)), Ok(requests));
    }

    #[test]
    fn a_planted_mistake_is_found_on_its_line((format, packing, requests) in trace(), place: Index) {
        let mut lines: Vec<String> =
            requests.iter().map(|one| String::from_utf8(written(&[*one], format)).unwrap()).collect();
        let place = place.index(lines.len());
        lines[place] = lines[place].replace('\n', "!\n");
        let error = read(packing.pack(lines.concat().as_bytes()), Some(format)).expect_err("a mistake");
        prop_assert_eq!(error.line(), Some(place as u64 + 1));
    }

    #[test]
    fn the_first_step_back_in_time_is_found(mut clocks in proptest::collection::vec(0u64..100, 1..40)) {
        let text: String = clocks.iter().map(|clock| format!("0 READ {clock}\n")).collect();
        let found = read(text.into(), None).err().and_then(|error| error.line());
        let expected = clocks.windows(2).position(|pair| pair[1] < pair[0]).map(|at| at as u64 + 2);
        prop_assert_eq!(found, expected);
        clocks.sort_unstable();
        let text: String = clocks.iter().map(|clock| format!("0 READ {clock}\n")).collect();
        prop_assert!(read(text.into(), None).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_bytes_end_well(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        format in proptest::option::of(format())
    ) {
        let lines = lines_of(&bytes);
        survives(bytes, format, Some(lines))?;
    }

    #[test]
    fn any_pieces_end_well(text in pieces(), packing in packing(), format in proptest::option::of(format())) {
        let lines = lines_of(&text);
        survives(packing.pack(&text), format, Some(lines))?;
    }

    #[test]
    fn mutated_traces_end_well(
        (format, packing, requests) in trace(),
        text_changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        file_changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        cut in proptest::option::of(any::<Index>()),
        forced: bool,
    ) {
        let mut text = written(&requests, format);
        text_changes.iter().for_each(|(place, byte)| *place.get_mut(&mut text) = *byte);
        let lines = lines_of(&text);
        let mut bytes = packing.pack(&text);
        file_changes.iter().for_each(|(place, byte)| *place.get_mut(&mut bytes) = *byte);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        // A changed compressed file may decompress to another text, whose number of lines is not known.
        let known = file_changes.is_empty() || matches!(packing, Packing::Plain);
        survives(bytes, forced.then_some(format), known.then_some(lines + file_changes.len()))?;
    }
}
