//! Tests of fingerprints.

use super::*;
use proptest::prelude::*;

#[derive(serde::Serialize)]
struct Histogram {
    counts: Vec<u64>,
    sum: u128,
}

proptest! {
    #[test]
    fn one_value_that_differs_is_always_seen(
        mut values in prop::collection::vec(any::<u64>(), 1..60),
        place in any::<prop::sample::Index>(),
        change in 1_u64..
    ) {
        let before = of(&values);
        let index = place.index(values.len());
        values[index] ^= change;
        prop_assert_ne!(of(&values), before);
        values[index] ^= change;
        prop_assert_eq!(of(&values), before);
        values.push(0);
        prop_assert_ne!(of(&values), before);
    }

    #[test]
    fn order_counts(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
        prop_assert_eq!(of(&[a, b, c]) == of(&[c, b, a]), a == c);
        prop_assert_eq!(of(&[a, b]) == of(&[b, a]), a == b);
    }
}

#[test]
fn buckets_are_left_out_and_sums_are_not() {
    let print = |counts: &[u64], sum: u128| of(&Histogram { counts: counts.to_vec(), sum });
    assert_eq!(print(&[1], 2), print(&[3, 4], 2));
    assert_ne!(print(&[1], 2), print(&[1], 3));
    assert_ne!(print(&[1], 2), print(&[1], 2 + (1 << 64)));
}

#[test]
fn values_of_every_width_and_sign_are_taken() {
    let prints = [0, 1, -1, 1 << 64, -1 << 64, i128::MIN].map(|value: i128| of(&value));
    for (place, print) in prints.iter().enumerate() {
        assert!(!prints[..place].contains(print));
    }
    assert_eq!(of(&-1_i128), of(&u128::MAX));
    assert_ne!(of(&-1_i8), of(&1_i8));
}

#[test]
fn absent_and_zero_differ() {
    assert_ne!(of(&None::<u64>), of(&Some(0_u64)));
    assert_ne!(of(&(None::<u64>, 1_u64)), of(&(Some(1_u64), 0_u64)));
}
