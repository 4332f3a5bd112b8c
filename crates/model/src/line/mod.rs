//! Lines: where each is at home.

mod home;
mod map;

pub use home::{slice_of, Home, Homes};
pub use map::{Decoder, Place};
