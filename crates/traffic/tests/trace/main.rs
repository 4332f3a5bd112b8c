//! Traces: what is read, what is refused with which words, and that nothing does worse.

mod properties;
mod reading;
mod support;
