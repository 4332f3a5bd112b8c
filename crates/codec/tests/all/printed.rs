//! Checks that the codec implements the published algorithms bit for bit.

use crate::common::{bits, bits_of, codec, floats, payload, printed};
use hostnet_codec::{decode, Mode};
use proptest::prelude::*;

/// A float, the biased exponent of the bound, its tag, its bits, and its decoded value.
const VECTORS: [(f32, u32, u32, u32, f32); 11] = [
    (0.75, 117, printed::BIT16, 0x6000, 0.75),
    (-0.3, 117, printed::BIT16, 0xA666, -0.299_987_8),
    (0.03125, 117, printed::BIT16, 0x0400, 0.03125),
    (0.02, 117, printed::BIT8, 0x02, 0.015_625),
    (0.007_812_5, 117, printed::BIT8, 0x01, 0.007_812_5),
    (0.005, 117, printed::BIT8, 0x00, 0.0),
    (0.000_976_562_5, 117, printed::BIT8, 0x00, 0.0),
    (0.0009, 117, printed::BIT0, 0, 0.0),
    (-2.5, 117, printed::NO_COMPRESS, 0xC020_0000, -2.5),
    (0.0625, 121, printed::BIT8, 0x08, 0.0625),
    (0.01, 121, printed::BIT0, 0, 0.0),
];

#[test]
fn worked_examples_have_the_bits_of_the_print() {
    for (value, error_bound, tag, bits, becomes) in VECTORS {
        let (v, width, t) = printed::compress(value.to_bits(), error_bound);
        assert_eq!((v, t), (bits, tag), "{value}");
        assert_eq!(f32::from_bits(printed::decompress(v, t)), becomes, "{value}");
        let codec = codec(Mode::Thesis, i64::from(127 - error_bound));
        let mut expected = (tag as u16).to_le_bytes().to_vec();
        expected.extend_from_slice(&bits.to_le_bytes()[..width as usize / 8]);
        assert_eq!(payload(codec, &[value]), expected, "{value}");
        assert_eq!(codec.round(value), becomes, "{value}");
    }
}

#[test]
fn sixteen_bits_begin_where_the_print_says() {
    for (bound, threshold) in [(10, -5), (8, -4), (6, -3)] {
        let codec = codec(Mode::Thesis, bound);
        let least = 2.0_f32.powi(threshold);
        assert_eq!(codec.sizes(&[least]).classes, [0, 0, 1, 0]);
        assert_eq!(codec.sizes(&[f32::from_bits(least.to_bits() - 1)]).classes, [0, 1, 0, 0]);
    }
}

#[test]
fn a_group_takes_16_to_272_bits() {
    let codec = codec(Mode::Thesis, 10);
    assert_eq!(payload(codec, &[0.0; 8]).len() * 8, 16);
    assert_eq!(payload(codec, &[1.0; 8]).len() * 8, 272);
}

#[test]
fn every_word_of_8_and_16_bits_decodes_as_printed() {
    for (t, width) in [(printed::BIT8, 8), (printed::BIT16, 16)] {
        for v in 0..1_u32 << width {
            let mut group = (t as u16).to_le_bytes().to_vec();
            group.extend_from_slice(&v.to_le_bytes()[..width / 8]);
            let mut value = [0.0];
            assert_eq!(decode(&group, &mut value), Ok(group.len()));
            assert_eq!(value[0].to_bits(), printed::decompress(v, t), "{t} {v:#x}");
        }
    }
}

/// Checks all floats with bit patterns from `from` to `until` in steps of `step`, for one bound, in blocks.
fn all_as_printed(bound: u32, from: u64, until: u64, step: u64) {
    let (codec, error_bound) = (codec(Mode::Thesis, i64::from(bound)), 127 - bound);
    let mut at = from;
    let mut block = Vec::new();
    while at < until {
        block.clear();
        while at < until && block.len() < 1 << 15 {
            block.push(at as u32);
            at += step;
        }
        let made = payload(codec, &floats(&block));
        assert_eq!(made, printed::payload(&block, error_bound), "from {:#x}", block[0]);
        let mut back = vec![0.0; block.len()];
        assert_eq!(decode(&made, &mut back), Ok(made.len()));
        for (&f, value) in block.iter().zip(back) {
            let (v, _, t) = printed::compress(f, error_bound);
            assert_eq!(value.to_bits(), printed::decompress(v, t), "{f:#x}");
        }
    }
}

#[test]
fn floats_all_over_are_coded_as_printed() {
    for bound in 1..=15 {
        all_as_printed(bound, 0, 1 << 32, 65_521);
    }
}

#[test]
#[ignore = "long"]
fn every_float_is_coded_as_printed() {
    for bound in [10, 8, 6] {
        std::thread::scope(|scope| {
            let halves = [(0, 1 << 31), (1 << 31, 1 << 32)];
            for (from, until) in halves {
                scope.spawn(move || all_as_printed(bound, from, until, 1));
            }
        });
    }
}

proptest! {
    #[test]
    fn any_floats_are_coded_as_printed(values in prop::collection::vec(bits(), 0..60), bound in 1..=15_u32) {
        let codec = codec(Mode::Thesis, i64::from(bound));
        let made = payload(codec, &floats(&values));
        prop_assert_eq!(&made, &printed::payload(&values, 127 - bound));
        let mut back = vec![0.0; values.len()];
        decode(&made, &mut back).expect("it was just made");
        let expected: Vec<u32> = values
            .iter()
            .map(|&f| printed::compress(f, 127 - bound))
            .map(|(v, _, t)| printed::decompress(v, t))
            .collect();
        prop_assert_eq!(bits_of(&back), expected);
    }
}
