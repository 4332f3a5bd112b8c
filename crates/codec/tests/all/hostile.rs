//! Checks that arbitrary streams are decoded or rejected, in memory bounded by their length.

use crate::common::Draws;
use hostnet_codec::{decompress, Codec, Header, Mode, HEADER_BYTES};

/// Returns a stream of up to about 200 bytes: noise, or a valid one with bytes changed, cut, inserted or repeated.
fn hostile(draws: &mut Draws) -> Vec<u8> {
    let length = draws.next() as usize % 200;
    if draws.next() % 8 == 0 {
        return (0..length).map(|_| draws.next() as u8).collect();
    }
    let mode = Mode::ALL[draws.next() as usize % 3];
    let codec = Codec::new(mode, 1 + (draws.next() % 15) as i64).expect("it is in range");
    let values: Vec<f32> = (0..length / 4)
        .map(|_| f32::from_bits((draws.next() as u32 & 0x83FF_FFFF) | (110 + draws.next() as u32 % 20) << 23))
        .collect();
    let mut stream = codec.compress(&values);
    for _ in 0..1 + draws.next() % 3 {
        let at = draws.next() as usize % (stream.len() + 1);
        match draws.next() % 5 {
            0 => stream.truncate(at),
            1 => stream.insert(at, draws.next() as u8),
            2 => stream.extend_from_within(at..),
            3 if stream.len() > HEADER_BYTES => stream[8 + at % 8] ^= 1 << (draws.next() % 8),
            _ if at < stream.len() => stream[at] = draws.next() as u8,
            _ => {}
        }
    }
    stream
}

/// Decodes `streams` random streams, and returns the number of valid ones.
fn decode_streams(seed: u64, streams: u32) -> u32 {
    let mut draws = Draws(seed);
    let mut right = 0;
    for _ in 0..streams {
        let stream = hostile(&mut draws);
        let header = Header::read(&stream);
        if let Ok(header) = header {
            assert!(header.floats * 4 <= 16 * stream.len() as u64, "{header:?} in {} bytes", stream.len());
        }
        match decompress(&stream) {
            Ok(floats) => {
                assert_eq!(Ok(floats.len() as u64), header.map(|header| header.floats));
                right += 1;
            }
            Err(error) => assert!(error.to_string().len() < 200, "{error}"),
        }
    }
    right
}

#[test]
fn hostile_streams_are_decoded_or_refused() {
    let right = decode_streams(0x9E37_79B9_7F4A_7C15, 100_000);
    assert!((1000..90_000).contains(&right), "both happens often: {right}");
}

#[test]
#[ignore = "long"]
fn ten_million_hostile_streams_are_decoded_or_refused() {
    decode_streams(0xD1B5_4A32_D192_ED03, 10_000_000);
}
