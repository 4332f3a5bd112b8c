//! Tests of traces: the requests read, the wording of refusals, and robustness against malformed input.

mod access_properties;
mod accesses;
mod properties;
mod reading;
mod steps;
mod support;
