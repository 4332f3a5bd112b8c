//! Key-value server modelled on Redis, and its client.

use super::memory::{lines, Ring, Walks};
use super::script::{Piece, Script};
use super::{MemoryBases, Step};
use crate::params::{AppParams, RedisParams, LINE_BYTES};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Multiplier that spreads key numbers over the buckets of the hash table.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Maximum number of keys ahead of another in its bucket.
const IN_FRONT: u32 = 2;

/// Returns the bytes of a request and of its reply.
fn messages(redis: &RedisParams, set: bool) -> (u64, u64) {
    let (request, reply) = (redis.layout.request_bytes, redis.layout.reply_bytes);
    if set {
        (request + redis.value_bytes, reply)
    } else {
        (request, reply + redis.value_bytes)
    }
}

/// Server thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Redis {
    redis: RedisParams,
    script: Script,
    table: u64,
    pairs: u64,
    objects: u64,
    values: u64,
    walks: Option<Walks>,
    mask: u64,
    /// Probability of each of up to [`IN_FRONT`] keys ahead of another, in units of 2^-32.
    crowd: u64,
    /// Address of the value released last, which the next new value reuses.
    released: u64,
    requests: Ring,
    query: Ring,
    reply: Ring,
    /// Part of the reply buffer that the kernel copies: the replies of the previous batch.
    sent: Ring,
    replies: Ring,
}

impl Redis {
    pub(super) fn new(params: &AppParams, redis: &RedisParams, bases: MemoryBases, rng: &mut Rng) -> Self {
        let places = redis.addresses(bases.thread, params.walks.as_ref());
        let buckets = redis.buckets();
        let ring = |base| Ring::new(base, redis.buffer_bytes(), 0);
        let socket = |base| Ring::new(base, redis.socket_ring_bytes(), 0);
        // A batch behind: replies are sent when the batch of requests is done.
        let batch = redis.message_bytes() * u64::from(redis.pipeline) % redis.buffer_bytes();
        Self {
            redis: redis.clone(),
            script: Script::new(),
            table: places.table,
            pairs: places.pairs,
            objects: places.objects,
            values: places.values,
            walks: Walks::new(params.walks.as_ref(), places.tables),
            mask: buckets - 1,
            // On average, half of the other keys of a bucket are ahead of the one searched (Knuth, volume 3, 6.4).
            crowd: ((u128::from(redis.keys) << 32) / u128::from(buckets) / u128::from(2 * IN_FRONT)) as u64,
            released: places.values + rng.below(redis.keys + 1) * redis.slot_bytes(),
            requests: socket(places.requests),
            query: ring(places.query),
            reply: Ring::new(places.reply, redis.buffer_bytes(), batch),
            sent: ring(places.reply),
            replies: socket(places.replies),
        }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan(rng);
        }
    }

    fn plan(&mut self, rng: &mut Rng) {
        let set = rng.chance(self.redis.sets);
        self.script.begin();
        let query = self.receive(set);
        let key = rng.below(self.redis.keys);
        self.look_up(key, rng);
        if set {
            self.replace(key, query, rng);
        } else {
            self.answer(key, rng);
        }
        self.send(set);
        self.script.end();
    }

    /// Plans the kernel's copy of the request to the server's buffer. Returns the address of the lines newly entered in
    /// the buffer, and the number of these lines.
    fn receive(&mut self, set: bool) -> (u64, u32) {
        let (request, _) = messages(&self.redis, set);
        let (from, _) = self.requests.take(request);
        let (to, lines) = self.query.take(request);
        self.script.add(Piece::copy(from, to, lines).each(self.redis.work.line));
        (to, lines)
    }

    /// Plans the dependent loads of the lookup: bucket, entries and keys, then the object.
    fn look_up(&mut self, key: u64, rng: &mut Rng) {
        let hash = key.wrapping_mul(SPREAD);
        let bucket = self.table + ((hash >> 20) & self.mask) * 8;
        let load = Piece::load(bucket, 1).after(self.redis.work.request);
        self.script.add_random(load, self.walks.as_ref(), rng);
        for other in 0..IN_FRONT {
            // The keys ahead are a function of the hash, so they are the same at every lookup.
            let drawn = (hash ^ u64::from(other + 1)).wrapping_mul(SPREAD);
            if drawn >> 32 < self.crowd {
                self.compare(((u128::from(drawn << 32) * u128::from(self.redis.keys)) >> 64) as u64, rng);
            }
        }
        self.compare(key, rng);
        let object = Piece::load(self.objects + key * self.redis.layout.object_bytes, 1).after(1).dependent();
        self.script.add_random(object, self.walks.as_ref(), rng);
    }

    /// Plans the loads of an entry and its key. Both were allocated together when the key was new, so they often
    /// share a line.
    fn compare(&mut self, key: u64, rng: &mut Rng) {
        let layout = &self.redis.layout;
        let text = self.pairs + key * (layout.entry_bytes + layout.key_bytes);
        let entry = text + layout.key_bytes;
        let load = Piece::load(entry, 1).after(self.redis.work.entry).dependent();
        self.script.add_random(load, self.walks.as_ref(), rng);
        let in_front = (entry / LINE_BYTES - text / LINE_BYTES) as u32;
        self.script.add(Piece::load(text, in_front).dependent());
        self.script.add(Piece::load(entry + LINE_BYTES, lines(entry, layout.entry_bytes) - 1));
    }

    fn value(&self, key: u64) -> u64 {
        self.values + key * self.redis.slot_bytes()
    }

    fn value_lines(&self, address: u64) -> u32 {
        lines(address, self.redis.value_bytes + self.redis.layout.header_bytes)
    }

    /// Plans a GET: copies the value to the reply buffer, and records the use in the object.
    fn answer(&mut self, key: u64, rng: &mut Rng) {
        let value = self.value(key);
        let (to, entered) = self.reply.take(messages(&self.redis, false).1);
        let all = self.value_lines(value);
        let work = &self.redis.work;
        // The reply may end in a line entered before, so fewer lines are stored than loaded.
        let copied = all.min(entered);
        let copy = Piece::copy(value, to, copied).after(work.reply).each(work.line).dependent();
        let rest = Piece::load(value + u64::from(copied) * LINE_BYTES, all - copied);
        let object = self.objects + key * self.redis.layout.object_bytes;
        self.script.add_random(copy, self.walks.as_ref(), rng);
        self.script.add(rest);
        // Redis records when a key was last used (docs/models/app.md, GET).
        self.script.add(Piece::store(object, 1));
    }

    /// Plans a SET: stores the new value to the memory released last, then releases the old value.
    fn replace(&mut self, key: u64, query: (u64, u32), rng: &mut Rng) {
        let old = self.value(key);
        let new = std::mem::replace(&mut self.released, old);
        let work = &self.redis.work;
        let all = self.value_lines(new);
        self.script.add(Piece::load(query.0, query.1).after(work.set));
        self.script.add_random(Piece::store(new, all).each(work.line), self.walks.as_ref(), rng);
        let object = self.objects + key * self.redis.layout.object_bytes;
        self.script.add(Piece::store(object, 1));
        // The header of the old value is read to release it.
        self.script.add_random(Piece::load(old, 1).dependent(), self.walks.as_ref(), rng);
        let (to, entered) = self.reply.take(messages(&self.redis, true).1);
        self.script.add(Piece::store(to, entered));
    }

    /// Plans the kernel's copy of the reply to the socket.
    fn send(&mut self, set: bool) {
        let (_, reply) = messages(&self.redis, set);
        let (from, _) = self.sent.take(reply);
        let (to, lines) = self.replies.take(reply);
        let work = &self.redis.work;
        self.script.add(Piece::copy(from, to, lines).after(work.finish + work.kernel).each(work.line));
    }
}

/// Client thread, which reads replies and writes requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RedisClient {
    redis: RedisParams,
    script: Script,
    requests: Ring,
    replies: Ring,
    buffer: Ring,
}

impl RedisClient {
    pub(super) fn new(params: &AppParams, redis: &RedisParams, bases: MemoryBases) -> Self {
        let places = redis.addresses(bases.thread, params.walks.as_ref());
        let socket = |base| Ring::new(base, redis.socket_ring_bytes(), 0);
        Self {
            redis: redis.clone(),
            script: Script::new(),
            requests: socket(places.requests),
            replies: socket(places.replies),
            buffer: Ring::new(bases.client, redis.buffer_bytes(), 0),
        }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan(rng);
        }
    }

    fn plan(&mut self, rng: &mut Rng) {
        let (request, reply) = messages(&self.redis, rng.chance(self.redis.sets));
        let (from, lines) = self.replies.take(reply);
        let (to, _) = self.buffer.take(reply);
        let (sent, sent_lines) = self.requests.take(request);
        self.script.begin();
        self.script.add(Piece::copy(from, to, lines).each(self.redis.work.line));
        // If both messages end in lines already entered, the request is stored to the line that it shares.
        let stored =
            if lines + sent_lines > 0 { Piece::store(sent, sent_lines) } else { Piece::store(sent - LINE_BYTES, 1) };
        self.script.add(stored.after(self.redis.work.client).each(self.redis.work.line));
        self.script.end();
    }
}
