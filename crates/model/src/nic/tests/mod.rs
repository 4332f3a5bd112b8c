//! Tests of the NIC alone, between a synthetic cable, host and cores.

mod interrupts;
mod properties;
mod rdma;
mod receiving;
mod scattered;
mod sending;
mod wiring;
mod world;
