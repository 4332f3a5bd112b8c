//! Tests of the simulator. They are one program, because each program compiles the whole event loop.
#![allow(unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;

mod bursts;
mod cached_servers;
mod caches;
mod chip;
mod chiplets;
mod closed_form;
mod cluster;
mod cluster_outside;
mod conservation;
mod control;
mod control_sockets;
mod counters;
mod determinism;
mod drives;
mod energy;
mod expander;
mod filter;
mod fluid;
mod foreign;
mod forward;
mod frames;
mod frequency;
mod influence;
mod iommu;
mod limits;
mod looking;
mod memory;
mod memory_plan;
mod mesh;
mod noc_plan;
mod prefetch;
mod rate_tables;
mod rdma;
mod remote;
mod replay;
mod report;
mod sockets;
mod stuck;
mod tiering;
mod trace;
