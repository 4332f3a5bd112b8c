//! The simulator in a browser, as WebAssembly. `bindings.rs` has the functions that a web worker calls.

// Builds for other processors, which only tests use, have no caller of some functions.
#![cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]

#[cfg(target_arch = "wasm32")]
mod bindings;
mod controls;
mod edit;
mod examples;
mod job;
mod names;
mod problem;
mod report;
mod request;
mod results;

#[cfg(target_arch = "wasm32")]
pub use bindings::*;
