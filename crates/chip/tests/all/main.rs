//! Tests of chips.

mod common;
mod laws;
mod rack;
