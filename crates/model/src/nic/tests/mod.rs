//! The NIC alone, between a cable, a host and cores that are made by hand.

mod interrupts;
mod properties;
mod rdma;
mod receiving;
mod scattered;
mod sending;
mod wiring;
mod world;
