//! Laws of clusters: servers, switches and endpoints together.
#![allow(unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;

mod allocation;
mod attach;
mod books;
mod bursts;
mod closed_form;
mod compress;
mod conservation;
mod cut;
mod datagrams;
mod deadlock;
mod determinism;
mod dimm;
mod downstream;
mod energy;
mod faults;
mod files;
mod forward;
mod frequencies;
mod in_network;
mod jobs;
mod lab;
mod laws;
mod learning;
mod limits;
mod mcn;
mod mcn_rings;
mod mcn_shadow;
mod migration;
mod path;
mod pool;
mod pool_cache;
mod pool_limits;
mod pool_shared;
mod power_laws;
mod ranks;
mod rdma_jobs;
mod services;
mod serving;
mod shared;
mod shares;
mod topologies;
mod training;
mod worked;
mod workers;
