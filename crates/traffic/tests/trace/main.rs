//! Traces: what is read, what is refused with which words, and that nothing does worse.

mod access_properties;
mod accesses;
mod properties;
mod reading;
mod steps;
mod support;
