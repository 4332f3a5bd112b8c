//! Requests and packets in flight, the homes of lines, and the mapping of virtual to physical memory.

mod credit_queue;
mod home;
mod map;
mod packet;
mod pages;
mod pool_message;
mod request;
mod ring;
mod slab;
mod walk;

pub(crate) use credit_queue::{CreditQueue, RequestCredits};
pub use home::{memory_of, memory_of_cluster, slice_of, socket_of, Home, Homes, SocketHomes};
#[cfg(test)]
pub(crate) use map::one_bank;
pub use map::{Decoder, DramAddress};
pub use packet::{Content, Ecn, Packet, PacketId, Packets};
pub use pages::Pages;
pub(crate) use pages::Translator;
pub use pool_message::{PoolKind, PoolMessage, POOL_FLOW};
pub use request::{Request, RequestId, RequestKind, Requests};
pub use ring::{DescriptorRing, LineRing, QueueRings};
pub use slab::{Fifo, Slab, SlabEntry};
pub use walk::{Evictions, Walk};
