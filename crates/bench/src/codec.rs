//! Benchmarks of the gradient codec: floats per second of processor time. A line is 64 B of floats.
//!
//! The pending count is the size of the payload in bytes.

use crate::cache::Hash;
use crate::sample::{interleaved, Sample};
use crate::server::{row, Clock};
use crate::{Row, Size};
use hostnet_codec::{decode, Codec, Mode};
use hostnet_kernel::Rng;

/// Number of floats that are coded repeatedly: 16 MiB, which no second-level cache holds.
const FLOATS: usize = 1 << 22;
const FLOATS_PER_LINE: u64 = 16;

/// Benchmarks encoding and decoding of gradients, and of floats that cannot be compressed.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, floats, times) = if size == Size::Quick { (1, 1 << 12, 1) } else { (3, FLOATS, 64) };
    let codec = Codec::new(Mode::Thesis, 10).expect("the bound is 1 to 15");
    let kinds = [("gradients", gradients(floats)), ("floats of 1 and more", large(floats))];
    let mut rows = Vec::new();
    for (kind, values) in kinds {
        let directions: [(_, &dyn Fn() -> Sample); 2] =
            [("encode", &|| encoded(&codec, &values, times)), ("decode", &|| decoded(&codec, &values, times))];
        for (direction, run) in directions {
            let sample = interleaved(repetitions, &[run]).typical(0);
            rows.push(row(&format!("codec, {direction} {kind}"), &(sample, sample.events / FLOATS_PER_LINE), None));
        }
    }
    rows
}

/// Products of three random numbers: about a quarter are below 2^-10, and one in eighty is above 2^-5.
fn gradients(floats: usize) -> Vec<f32> {
    let mut rng = Rng::new(1, 5);
    let mut draw = || (rng.next_u64() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
    (0..floats).map(|_| 0.05 * draw() * draw() * draw()).collect()
}

fn large(floats: usize) -> Vec<f32> {
    let mut rng = Rng::new(1, 6);
    (0..floats).map(|_| 1.0 + (rng.next_u64() >> 40) as f32).collect()
}

fn encoded(codec: &Codec, values: &[f32], times: u64) -> Sample {
    let mut payload = Vec::new();
    // The buffer grows before the clock starts.
    codec.encode(values, &mut payload);
    let clock = Clock::start();
    for _ in 0..times {
        payload.clear();
        codec.encode(values, &mut payload);
    }
    sample(clock.seconds(), values.len() as u64 * times, &payload, payload.iter().copied().map(u64::from))
}

fn decoded(codec: &Codec, values: &[f32], times: u64) -> Sample {
    let (mut payload, mut back) = (Vec::new(), vec![0.0; values.len()]);
    codec.encode(values, &mut payload);
    let clock = Clock::start();
    for _ in 0..times {
        decode(&payload, &mut back).expect("it was just made");
    }
    let bits = back.iter().map(|value| u64::from(value.to_bits()));
    sample(clock.seconds(), values.len() as u64 * times, &payload, bits)
}

fn sample(seconds: f64, events: u64, payload: &[u8], result: impl Iterator<Item = u64>) -> Sample {
    let mut hash = Hash::default();
    result.for_each(|part| hash.add(part));
    Sample { seconds, events, pending_max: payload.len() as u64, hash: hash.0 }
}
