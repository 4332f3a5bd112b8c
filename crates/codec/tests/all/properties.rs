//! Checks properties that hold for all floats, modes and bounds.

use crate::common::{bits, bits_of, codec, codecs, floats, payload};
use hostnet_codec::{decode, decompress, Codec, ErrorFeedback, Header, Mode, StreamError, HEADER_BYTES};
use proptest::prelude::*;

fn decoded(payload: &[u8], floats: usize) -> Vec<f32> {
    let mut out = vec![0.0; floats];
    assert_eq!(decode(payload, &mut out), Ok(payload.len()));
    out
}

/// Returns the largest error of a mode, by its definition.
fn error_max(codec: Codec) -> f32 {
    match codec.mode() {
        Mode::Thesis => codec.bound().max(2.0_f32.powi(-7)),
        Mode::Bounded | Mode::Nearest => codec.bound(),
    }
}

proptest! {
    #[test]
    fn payloads_of_whole_groups_are_those_of_the_whole(
        values in prop::collection::vec(bits(), 0..120),
        split in 0..15_usize,
        codec in codecs(),
    ) {
        let values = floats(&values);
        let (first, second) = values.split_at((8 * split).min(values.len() / 8 * 8));
        prop_assert_eq!([payload(codec, first), payload(codec, second)].concat(), payload(codec, &values));
    }

    #[test]
    fn streams_come_back_as_what_each_float_becomes(values in prop::collection::vec(bits(), 0..60), codec in codecs()) {
        let values = floats(&values);
        let back = decompress(&codec.compress(&values)).expect("it was just made");
        let rounded: Vec<f32> = values.iter().map(|&value| codec.round(value)).collect();
        prop_assert_eq!(bits_of(&back), bits_of(&rounded));
        let mut in_place = values.clone();
        let error = codec.roundtrip(&mut in_place);
        prop_assert_eq!(bits_of(&in_place), bits_of(&rounded));
        let errors = values.iter().zip(&rounded).filter(|(value, _)| value.is_finite());
        let worst = errors.map(|(value, rounded)| (value - rounded).abs()).fold(0.0, f32::max);
        prop_assert_eq!(error, worst);
    }

    #[test]
    fn errors_stay_below_what_the_mode_says(value in bits(), codec in codecs()) {
        let value = f32::from_bits(value);
        let rounded = codec.round(value);
        if value.abs() < 1.0 {
            let error = (value - rounded).abs();
            prop_assert!(error <= error_max(codec) && rounded.abs() < 1.0, "{value} {rounded}");
            prop_assert!(codec.mode() == Mode::Nearest || rounded.abs() <= value.abs(), "{value} {rounded}");
            prop_assert!(rounded == 0.0 || rounded.is_sign_positive() == value.is_sign_positive());
        } else {
            prop_assert_eq!(rounded.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn what_was_decoded_is_coded_without_loss(value in bits(), codec in codecs()) {
        let once = codec.round(f32::from_bits(value));
        let twice = codec.round(once);
        prop_assert!(twice.to_bits() == once.to_bits() || (once == 0.0 && twice == 0.0), "{once} {twice}");
    }

    #[test]
    fn what_was_rounded_twice_stays_bit_for_bit(value in bits(), codec in codecs()) {
        let twice = codec.round(codec.round(f32::from_bits(value)));
        prop_assert_eq!(codec.round(twice).to_bits(), twice.to_bits());
    }

    #[test]
    fn streams_are_decoded_in_any_parts(
        values in prop::collection::vec(bits(), 0..120),
        codec in codecs(),
        part in 1..6_usize,
    ) {
        let values = floats(&values);
        let stream = codec.compress(&values);
        let header = Header::read(&stream).expect("it was just made");
        let (mut decoder, mut out) = (header.decoder(&stream), vec![0.0; values.len()]);
        for part in out.chunks_mut(8 * part) {
            decoder.fill(part).expect("it was just made");
        }
        prop_assert_eq!(bits_of(&out), bits_of(&decompress(&stream).expect("it was just made")));
    }

    #[test]
    fn sizes_are_those_of_the_payload(values in prop::collection::vec(bits(), 0..60), codec in codecs()) {
        let values = floats(&values);
        let sizes = codec.sizes(&values);
        prop_assert_eq!(sizes.floats(), values.len() as u64);
        prop_assert_eq!(sizes.payload_bytes(), payload(codec, &values).len() as u64);
        let (first, second) = values.split_at(values.len() / 2);
        prop_assert_eq!(codec.sizes(first).plus(codec.sizes(second)), sizes);
    }

    #[test]
    fn a_stream_that_ends_early_or_late_is_refused(
        values in prop::collection::vec(bits(), 0..40),
        codec in codecs(),
        cut in any::<prop::sample::Index>(),
        more in 1..40_usize,
    ) {
        let mut stream = codec.compress(&floats(&values));
        prop_assert!(decompress(&stream[..cut.index(stream.len())]).is_err());
        stream.resize(stream.len() + more, 0);
        prop_assert!(decompress(&stream).is_err());
    }

    #[test]
    fn with_feedback_what_was_sent_is_what_was_given(
        rounds in prop::collection::vec(prop::collection::vec(-0.5_f32..0.5, 5..6), 1..30),
        bound in 1..=15_i64,
        mode in prop::sample::select(vec![Mode::Bounded, Mode::Nearest]),
    ) {
        let codec = codec(mode, bound);
        let mut feedback = ErrorFeedback::new(codec, 5);
        let (mut given, mut sent) = ([0.0_f64; 5], [0.0_f64; 5]);
        for gradient in &rounds {
            let stream = feedback.compress(gradient).expect("it has the length");
            let back = decompress(&stream).expect("it was just made");
            for lane in 0..5 {
                given[lane] += f64::from(gradient[lane]);
                sent[lane] += f64::from(back[lane]);
            }
        }
        for lane in 0..5 {
            let residual = f64::from(feedback.residual()[lane]);
            prop_assert!((given[lane] - sent[lane] - residual).abs() < 1e-5, "{given:?} {sent:?}");
            prop_assert!(residual.abs() <= f64::from(codec.bound()));
        }
    }
}

#[test]
fn the_published_classes_do_not_keep_small_bounds_and_the_other_modes_do() {
    let worst = |mode, bound| {
        let mut values: Vec<f32> = (0..1 << 20).map(|at| at as f32 / (1 << 20) as f32).collect();
        codec(mode, bound).roundtrip(&mut values)
    };
    for bound in [10, 8] {
        assert!(worst(Mode::Thesis, bound) > 0.99 * 2.0_f32.powi(-7));
    }
    assert!(worst(Mode::Thesis, 6) < 2.0_f32.powi(-6));
    for bound in 1..=15_i64 {
        let limit = 2.0_f32.powi(-(bound as i32));
        assert!(worst(Mode::Bounded, bound) < limit);
        assert!(worst(Mode::Nearest, bound) <= limit);
    }
}

#[test]
fn what_is_no_number_or_less_than_any_bound_is_safe() {
    for mode in Mode::ALL {
        for bound in 1..=15 {
            let codec = codec(mode, bound);
            let stays = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::from_bits(0xFF80_0001)];
            for value in stays {
                assert_eq!(codec.round(value).to_bits(), value.to_bits());
            }
            for value in [0.0, -0.0, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(0x807F_FFFF)] {
                assert_eq!(codec.round(value).to_bits(), 0, "{value}");
            }
            assert_eq!(codec.roundtrip(&mut [f32::NAN, f32::INFINITY]), 0.0);
        }
    }
}

#[test]
fn tails_have_the_bits_of_a_group_filled_up_with_zeros() {
    let values = [0.5, -0.02, 3.0, 0.0, 0.9, -0.7, 0.01];
    for floats in 0..=7 {
        let codec = codec(Mode::Thesis, 10);
        let mut whole = [0.0; 8];
        whole[..floats].copy_from_slice(&values[..floats]);
        let made = payload(codec, &values[..floats]);
        assert_eq!(made, if floats == 0 { Vec::new() } else { payload(codec, &whole) });
        assert_eq!(decoded(&made, floats), values[..floats].iter().map(|&v| codec.round(v)).collect::<Vec<_>>());
    }
}

#[test]
fn nearest_never_rounds_up_to_one() {
    for bound in 1..=15 {
        let codec = codec(Mode::Nearest, bound);
        let below_one = f32::from_bits(1.0_f32.to_bits() - 1);
        let rounded = codec.round(-below_one);
        assert!(rounded > -1.0 && below_one + rounded <= codec.bound(), "{rounded}");
    }
}

#[test]
fn a_sum_that_is_not_finite_leaves_no_residual() {
    let mut feedback = ErrorFeedback::new(codec(Mode::Thesis, 10), 2);
    feedback.compress(&[f32::INFINITY, 0.005]).expect("it has the length");
    assert_eq!(feedback.residual(), [0.0, 0.005]);
    feedback.compress(&[f32::NAN, 0.005]).expect("it has the length");
    assert_eq!(feedback.residual()[0], 0.0);
    assert_eq!(feedback.compress(&[1.0]), None);
}

#[test]
fn a_header_says_what_is_wrong_and_where() {
    let stream = codec(Mode::Nearest, 8).compress(&[0.5; 20]);
    assert_eq!(Header::read(&stream).map(|header| (header.codec.mode(), header.floats)), Ok((Mode::Nearest, 20)));
    let damaged = |at: usize, value: u8| {
        let mut stream = stream.clone();
        stream[at] = value;
        decompress(&stream).unwrap_err().to_string()
    };
    assert_eq!(damaged(3, b'D'), "byte 3: of the magic is 68; must be \"HNGC\"");
    assert_eq!(damaged(4, 2), "byte 4: version 2; must be 1");
    assert_eq!(damaged(5, 3), "byte 5: mode 3; must be 0, 1 or 2");
    assert_eq!(damaged(6, 16), "byte 6: bound 16; must be 1 to 15");
    assert_eq!(damaged(7, 1), "byte 7: reserved 1; must be 0");
    assert_eq!(
        damaged(15, 0xFF),
        "byte 8: 18374686479671623700 floats in 46 bytes; must have \
        4593671619917905926 to 78092417538604400742 bytes"
    );
    assert_eq!(damaged(8, 19), "byte 52: tags 0x00aa give bits to floats behind the last; must be 00 there");
    assert_eq!(damaged(8, 16), "byte 52: 10 bytes behind the last float; must be none");
    assert_eq!(damaged(8, 25), "byte 62: the payload ends within a group; must be whole groups of 8 floats");
    assert_eq!(decompress(&stream[..HEADER_BYTES - 1]), Err(StreamError::Short { bytes: HEADER_BYTES - 1 }));
}
