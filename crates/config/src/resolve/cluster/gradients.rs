//! Recorded gradients, from which engines of NICs derive the sizes of compressed packets.

use crate::code::Code;
use crate::error::Issue;
use hostnet_codec::{Codec, Mode, GROUP};
use hostnet_params::{CodecModeSpec, CompressSpec, GradientParams};
use hostnet_traffic::NpyFloats;
use std::path::Path;

/// Floats per read: groups of eight.
const FLOATS_AT_ONCE: usize = 1 << 13;
/// Bytes of the tag of a group of floats.
const TAG_BYTES: u64 = 2;

/// Returns how engines compress recorded gradients, and the mean number of bits per float after compression.
pub(super) fn read(spec: &CompressSpec, path: &str, base_dir: &Path) -> Result<Option<(GradientParams, f64)>, Issue> {
    let Some(file) = &spec.gradients else {
        let given = [("bound", spec.bound.is_some()), ("mode", spec.mode.is_some())];
        return match given.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => {
                let keys = [format!("{path}.{key}"), format!("{path}.gradients")];
                Err(Issue::between(Code::NoEffect, &[&keys[0], &keys[1]], "has an effect only with gradients"))
            }
            None => Ok(None),
        };
    };
    let at = format!("{path}.gradients");
    let Some(bound) = spec.bound else {
        let message = "needs bound, k of the bound 2^-k on the error of a float, such as bound = 10";
        return Err(Issue::new(Code::RequiresKey, at, message));
    };
    let codec = Codec::new(mode(spec.mode.unwrap_or_default()), bound.into())
        .map_err(|error| Issue::new(Code::OutOfRange, format!("{path}.bound"), error.to_string()))?;
    let place = base_dir.join(file);
    let fail = |reason: String| Issue::new(Code::of_file(&place), &at, format!("cannot read {place:?}: {reason}"));
    let mut npy = NpyFloats::open(&place).map_err(fail)?;
    let (mut values, mut groups) = (vec![0.0_f32; FLOATS_AT_ONCE], Vec::new());
    loop {
        let count = npy.read(&mut values).map_err(fail)?;
        if count == 0 {
            break;
        }
        let left = |group: &[f32]| 8 * (codec.sizes(group).payload_bytes() - TAG_BYTES);
        groups.extend(values[..count].chunks(GROUP).map(left));
    }
    let mean = groups.iter().sum::<u64>() as f64 / npy.floats() as f64;
    Ok(Some((GradientParams::new(npy.floats(), groups), mean)))
}

fn mode(spec: CodecModeSpec) -> Mode {
    match spec {
        CodecModeSpec::Thesis => Mode::Thesis,
        CodecModeSpec::Bounded => Mode::Bounded,
        CodecModeSpec::Nearest => Mode::Nearest,
    }
}
