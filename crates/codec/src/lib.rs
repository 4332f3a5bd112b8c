//! Lossy codec for gradients: encodes each float in 0, 8, 16 or 32 bits, by its magnitude and an error bound.
//!
//! The codec is that of INCEPTIONN (MICRO 2018), which runs in a NIC between the DMA engine and the MAC.
//! [`Mode::Thesis`] is algorithms 3 and 4 bit for bit; two other modes keep the bound where the published one does
//! not.
//!
//! * [`Codec`]: a mode and a bound. Its payloads are sent by a NIC: groups of eight floats, 16 tag bits first.
//! * [`decode`]: decodes payloads to floats, without need of the mode and the bound.
//! * [`decompress`], [`Header`], [`Decoder`]: streams with a header, which allows to reject damaged ones.
//! * [`Sizes`]: computes the size of a payload without encoding it.
//! * [`ErrorFeedback`]: adds the rounding error of a gradient to the next gradient.
//!
//! `docs/codec-format.md` specifies every byte. No input makes this crate panic, and decoded floats take at most
//! sixteen times the memory of their payload.

mod codec;
mod feedback;
mod format;
mod payload;
mod portable;
mod quantiser;
#[cfg(target_arch = "x86_64")]
mod shuffles;
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
