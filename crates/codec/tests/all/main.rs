//! Tests of codecs; in one program, which builds faster than one for each file.
#![allow(unreachable_pub)]

mod common;

mod engine;
mod hostile;
mod printed;
mod properties;
