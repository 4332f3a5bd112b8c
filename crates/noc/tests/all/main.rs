//! Tests of networks on a chip.

mod closed_forms;
mod common;
mod input;
