//! Tests of requests and captures: those read, those generated, the wording of refusals, and malformed input.

mod access_properties;
mod accesses;
mod pcap;
mod properties;
mod reading;
mod steps;
mod support;
mod synthetic;
