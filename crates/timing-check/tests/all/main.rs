//! Tests of the checker; in one program, which builds faster than one for each file.
#![allow(unreachable_pub)]

mod common;

mod edges;
mod file;
mod random;
mod states;
