//! Fabrics of switches and endpoints.

#![allow(unreachable_pub)]

mod lab;
mod replay;
