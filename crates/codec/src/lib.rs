//! A lossy codec for gradients: each float becomes 0, 8, 16 or 32 bits, by its magnitude and a bound on the error.
//!
//! It is the codec of INCEPTIONN (MICRO 2018), which a NIC can have between its DMA engine and its MAC: algorithms 3
//! and 4 bit for bit in [`Mode::Thesis`], and two modes that keep the bound where the published one does not.
//!
//! * [`Codec`]: a mode and a bound. Its payloads are what a NIC sends: groups of eight floats, 16 tag bits first.
//! * [`decode`]: payloads back to floats. No mode and no bound is needed for it.
//! * [`decompress`], [`Header`], [`Decoder`]: streams, which say what they hold, so that damaged ones are refused.
//! * [`Sizes`]: what a payload would take, without making it.
//! * [`ErrorFeedback`]: what rounding takes away is added to the next gradient.
//!
//! `docs/codec-format.md` has every byte. Nothing here panics on any input, and what is decoded takes at most sixteen
//! times the memory of its payload.

mod codec;
mod feedback;
mod format;
mod payload;
mod portable;
mod quantiser;
mod sizes;
mod stream;
mod tables;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use codec::{BoundError, Codec, BOUND_EXPONENT_MAX, BOUND_EXPONENT_MIN};
pub use feedback::ErrorFeedback;
pub use format::{Mode, GROUP, GROUP_BYTES_MAX};
pub use payload::{decode, DecodeError};
pub use sizes::Sizes;
pub use stream::{decompress, Decoder, Header, StreamError, HEADER_BYTES};
