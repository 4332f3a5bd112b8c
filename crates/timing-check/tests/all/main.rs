//! Tests of the checker, in one program because that builds faster than one per file.
#![allow(unreachable_pub)]

mod common;

mod edges;
mod file;
mod random;
mod states;
