//! Tests of caches; in one program, which builds faster than one for each file.
#![allow(unreachable_pub)]

mod exhaustive;
mod mutants;
mod sequences;
mod total;
mod walks;
