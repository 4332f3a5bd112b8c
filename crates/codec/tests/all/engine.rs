//! Checks that the engines of the NIC and the codec produce the same bits.

use crate::common::engine::{Bits, Compressor, Decompressor, BURST_BITS};
use crate::common::{bits, codec, floats, payload, printed};
use hostnet_codec::Mode;
use proptest::prelude::*;

/// Sends a packet of whole bursts through the compression engine. Returns its bytes on the wire and the output bursts.
fn through_the_compressor(values: &[u32], error_bound: u32) -> (Vec<u8>, Vec<Bits>) {
    let (mut engine, mut bursts) = (Compressor::default(), Vec::new());
    for group in values.chunks(8) {
        let mut floats = [0; 8];
        floats[..group.len()].copy_from_slice(group);
        let (made, out) = engine.clock(floats, error_bound);
        assert!((16..=272).contains(&made), "{made}");
        assert!(out.len() <= 2, "a burst comes in, and two leave at most");
        bursts.extend(out);
    }
    bursts.extend(engine.flush());
    let mut wire = Bits::default();
    bursts.iter().for_each(|(burst, data)| wire.0.extend(&burst.0[..*data]));
    (wire.to_bytes(), bursts.into_iter().map(|(burst, _)| burst).collect())
}

/// Sends bursts of `groups` groups through the decompression engine. Returns the floats and the clocks used.
fn through_the_decompressor(bursts: Vec<Bits>, groups: usize) -> (Vec<u32>, usize) {
    let (clocks_max, mut input) = (groups.max(bursts.len()) + 1, bursts.into_iter());
    let (mut engine, mut floats) = (Decompressor::default(), Vec::new());
    while floats.len() < 8 * groups {
        floats.extend(engine.clock(&mut input).into_iter().flatten());
        assert!(engine.clocks <= clocks_max, "a burst comes in or a group leaves in every clock");
    }
    (floats, engine.clocks)
}

proptest! {
    #[test]
    fn the_engines_make_the_bits_of_the_codec(
        values in prop::collection::vec(bits(), 1..200),
        bound in prop::sample::select(vec![6_u32, 8, 10]),
    ) {
        let error_bound = 127 - bound;
        let (wire, bursts) = through_the_compressor(&values, error_bound);
        let made = payload(codec(Mode::Thesis, i64::from(bound)), &floats(&values));
        prop_assert_eq!(&wire, &made);
        prop_assert_eq!(bursts.len(), (8 * wire.len()).div_ceil(BURST_BITS));

        let groups = values.len().div_ceil(8);
        let (back, _) = through_the_decompressor(bursts, groups);
        let expected: Vec<u32> = values
            .iter()
            .map(|&f| printed::compress(f, error_bound))
            .map(|(v, _, t)| printed::decompress(v, t))
            .collect();
        prop_assert_eq!(&back[..values.len()], &expected[..]);
        prop_assert!(back[values.len()..].iter().all(|&bits| bits == 0));
    }
}

#[test]
fn a_largest_group_behind_one_that_is_almost_as_large_needs_more_than_two_bursts() {
    let (one, eight_bits) = (1.0_f32.to_bits(), 0.02_f32.to_bits());
    let values = [one, one, one, one, one, one, one, eight_bits, one, one, one, one, one, one, one, one];
    let (_, bursts) = through_the_compressor(&values, 117);
    let (back, clocks) = through_the_decompressor(bursts, 2);
    assert_eq!(back[8..], values[8..]);
    assert_eq!(clocks, 3);
}

#[test]
fn floats_that_take_all_bits_fill_seventeen_bursts_of_sixteen() {
    let (wire, bursts) = through_the_compressor(&[1.0_f32.to_bits(); 128], 117);
    assert_eq!((wire.len(), bursts.len()), (16 * 34, 17));
    assert_eq!(Bits::of_bytes(&wire).0.len(), 17 * BURST_BITS);
}
