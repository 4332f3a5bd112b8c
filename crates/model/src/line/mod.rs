//! Requests and packets in flight, the homes of lines, and the mapping of virtual to physical memory.

mod credit_queue;
mod home;
mod map;
#[cfg(test)]
mod map_tests;
mod number;
mod packet;
mod pages;
mod pool_message;
mod request;
mod ring;
mod slab;
mod walk;

pub(crate) use credit_queue::{CreditQueue, RequestCredits};
pub use home::{Home, Homes, Slicing, SocketHomes};
pub use map::{Decoder, DramAddress};
#[cfg(test)]
pub(crate) use map_tests::one_bank;
pub use number::{memory_of, memory_of_cluster, socket_of};
pub use packet::{Content, Ecn, Packet, PacketId, Packets};
pub use pages::Pages;
pub(crate) use pages::Translator;
pub use pool_message::{PoolKind, PoolMessage, POOL_FLOW};
pub use request::{Request, RequestId, RequestKind, Requests};
pub use ring::{DescriptorRing, LineRing, QueueRings};
pub use slab::{Fifo, Slab, SlabEntry};
pub use walk::{Evictions, Walk};
