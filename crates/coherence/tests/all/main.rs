//! Tests of the coherence protocol, in one binary, which builds faster than one per file.
#![allow(unreachable_pub)]

mod exhaustive;
mod mutants;
mod sequences;
mod total;
mod walks;
