//! Tests of fabrics of switches and endpoints.
#![allow(unreachable_pub)]

mod faults;
mod lab;
mod learning;
mod random;
mod rdma;
mod repartition;
mod replay;
