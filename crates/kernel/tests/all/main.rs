//! Tests of the kernel.

mod common;
mod queue;
mod ranks;
mod rules;
mod simulation;
