//! Tests of user input, in one program, which builds faster than one program per file.
#![allow(unreachable_pub)]

mod common;

mod attach;
mod chakra;
mod chakra_together;
mod chakra_written;
mod chip_plan;
mod cluster;
mod cluster_errors;
mod cluster_fuzz;
mod device;
mod die;
mod drives;
mod energy;
mod errors;
mod examples;
mod expander;
mod fidelity;
mod fuzz;
mod in_network;
mod index_keys;
mod iommu;
mod jobs;
mod learning;
mod legal;
mod mcn;
mod memory_plan;
mod message_level;
mod ncap;
mod noc_plan;
mod patterns;
mod pool;
mod power;
mod rails;
mod services;
mod sockets;
mod tiering;
mod topologies;
mod transformer;
mod validity;
