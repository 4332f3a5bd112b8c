//! Memory layout of a key-value server.

use super::app_layout::{Arena, PageTables};
use super::threads::{RedisParams, WalkParams};
use crate::line_size::LINE_BYTES;

/// Addresses of the structures of one key-value server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisAddresses {
    /// Hash table, 8 B per bucket.
    pub table: u64,
    /// Entries of the table with their keys.
    pub pairs: u64,
    /// Objects that point to values.
    pub objects: u64,
    /// Values.
    pub values: u64,
    /// Buffer of requests of the server.
    pub query: u64,
    /// Buffer of replies of the server.
    pub reply: u64,
    /// Kernel memory that requests pass through.
    pub requests: u64,
    /// Kernel memory that replies pass through.
    pub replies: u64,
    /// Page tables of the structures that are accessed at random; `None` = all translations hit the TLB.
    pub tables: Option<PageTables>,
    /// Bytes of all structures.
    pub bytes: u64,
}

impl RedisParams {
    /// Lays out the structures of a server from virtual address `base` on, a multiple of 4096.
    #[must_use]
    pub fn addresses(&self, base: u64, walks: Option<&WalkParams>) -> RedisAddresses {
        let mut arena = Arena::new(base);
        let table = arena.place(self.buckets(), 8);
        // Entry and key lie together, as they were allocated together.
        let pairs = arena.place(self.keys, self.layout.entry_bytes.saturating_add(self.layout.key_bytes));
        let objects = arena.place(self.keys, self.layout.object_bytes);
        // One slot more: a SET writes the new value before it releases the old one.
        let values = arena.place(self.keys.saturating_add(1), self.slot_bytes());
        // Before the buffers, which are accessed in order and get no walks.
        let tables = arena.place_tables(walks);
        let query = arena.place(1, self.buffer_bytes());
        let reply = arena.place(1, self.buffer_bytes());
        let requests = arena.place(1, self.socket_ring_bytes());
        let replies = arena.place(1, self.socket_ring_bytes());
        RedisAddresses { table, pairs, objects, values, query, reply, requests, replies, tables, bytes: arena.bytes() }
    }

    /// Returns the bytes of memory of a client, which has a buffer for its messages.
    #[must_use]
    pub fn client_bytes(&self) -> u64 {
        let mut arena = Arena::new(0);
        arena.place(1, self.buffer_bytes());
        arena.bytes()
    }

    /// Returns the buckets of the hash table.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        // Redis doubles its table when it has as many keys as buckets.
        self.keys.checked_next_power_of_two().unwrap_or(u64::MAX)
    }

    /// Returns the bytes allocated for a value: the size classes of jemalloc, four per doubling.
    #[must_use]
    #[inline]
    pub fn slot_bytes(&self) -> u64 {
        let bytes = self.value_bytes.saturating_add(self.layout.header_bytes).max(LINE_BYTES);
        // Four size classes per doubling.
        let spacing = (1_u64 << (63 - (bytes - 1).leading_zeros())) / 4;
        bytes.checked_next_multiple_of(spacing).unwrap_or(u64::MAX)
    }

    /// Returns the bytes of the largest request or reply.
    #[must_use]
    pub fn message_bytes(&self) -> u64 {
        self.value_bytes.saturating_add(self.layout.request_bytes.max(self.layout.reply_bytes))
    }

    /// Returns the bytes of the message buffers of all connections.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        self.message_bytes().saturating_mul(u64::from(self.connections) * u64::from(self.pipeline))
    }

    /// Returns the bytes of kernel memory that requests cycle through, and replies as well: the largest message fits.
    #[must_use]
    pub fn socket_ring_bytes(&self) -> u64 {
        self.socket_bytes.max(self.message_bytes())
    }
}
