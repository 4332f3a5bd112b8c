//! Tests of the codec, in one binary, which builds faster than one per file.
#![allow(unreachable_pub)]

mod common;

mod engine;
mod hostile;
mod printed;
mod properties;
