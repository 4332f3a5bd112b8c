//! Fabrics of switches and endpoints.

mod lab;
mod replay;
