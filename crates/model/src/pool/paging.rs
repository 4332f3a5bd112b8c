//! Local memory as a cache of the pool: lines that are read or written there, and lines that are fetched or written
//! back.
//!
//! A line in the cache is read or written at a local channel, which answers the CHA as for any other line. An arrived
//! line is written to its frame, bypassing the CHA. The other lines of its page, and dirty lines, are transferred one
//! by one with the priority of prefetches. A lost fetch is not repeated, but a lost write-back is.

use super::cache::{Cache, CacheLookup, FrameLine};
use super::lender::BesideAccess;
use super::PoolPort;
use crate::line::{Home, PoolKind, PoolMessage, RequestId, RequestKind};
use crate::params::PoolCacheParams;
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// Latency to a channel, in ps, for a request that has already covered the path from the CHA.
const NEXT_PS: u64 = 1;

/// Transfer of a line without demand: a fetch or a write-back.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Transfer {
    /// Line in the cache, while it is in flight.
    spot: Option<FrameLine>,
    sequence: u32,
    /// Generation of the timer, which increases each time it is set.
    timer: u32,
}

/// Local cache and its transfers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Paging {
    pub(super) cache: Cache,
    whole_pages: bool,
    /// Fetches, followed by as many write-backs.
    transfers: Vec<Transfer>,
    /// Free transfers of both kinds.
    free: [Vec<u32>; 2],
}

impl Paging {
    pub(super) fn new(params: PoolCacheParams, page_bytes: u64) -> Self {
        let places = params.transfers;
        Self {
            cache: Cache::new(params, page_bytes),
            whole_pages: params.whole_pages,
            transfers: vec![Transfer::default(); 2 * places as usize],
            free: [0, 1].map(|way| (way * places..(way + 1) * places).rev().collect()),
        }
    }
}

impl PoolPort {
    /// Returns the number of transfers.
    pub(super) fn transfers(&self) -> u32 {
        self.paging.as_ref().map_or(0, |paging| paging.transfers.len() as u32)
    }

    /// Returns the number of lines in local memory that are dirty or being written back.
    #[must_use]
    pub fn unwritten(&self) -> u64 {
        self.paging.as_ref().map_or(0, |paging| paging.cache.unwritten())
    }

    /// Serves a request of the CHA from local memory: a read of a line that is there, or a write to a page that has a
    /// frame. Returns false if neither applies.
    pub(super) fn serve_from_cache(&mut self, id: RequestId, line: u64, read: bool, context: &mut Context) -> bool {
        let Some(paging) = &mut self.paging else { return false };
        let spot = match paging.cache.find(line) {
            CacheLookup::Line(spot) => spot,
            // A write needs only the frame; the missing line is overwritten as a whole.
            CacheLookup::Room(spot, _) if !read => spot,
            _ => return false,
        };
        if read {
            paging.cache.touch(spot);
            self.counts.cache_reads += 1;
        } else {
            self.counts.cache_writes += 1;
            self.counts.overwritten += u64::from(!paging.cache.overwrite(spot));
        }
        let local = paging.cache.local_line(spot);
        let Home { place, .. } = context.homes.of(self.pages.physical(self.wiring.cached + local * 64) / 64);
        context.requests.get_mut(id).place = place;
        context.notify(self.wiring.channels.get(u32::from(place.channel)), NEXT_PS, Payload::Arrive(id));
        true
    }

    /// Gives a frame to the page of a read that misses the cache, if one is available.
    pub(super) fn claim_frame(&mut self, line: u64) {
        let Some(paging) = &mut self.paging else { return };
        let spot = match paging.cache.find(line) {
            CacheLookup::Line(_) => return,
            CacheLookup::Room(spot, asked) => {
                self.counts.cache_late += u64::from(asked);
                spot
            }
            CacheLookup::Nothing => {
                let Some((spot, evicts)) = paging.cache.claim(line) else {
                    self.counts.cache_full += 1;
                    return;
                };
                self.counts.pages_in += 1;
                self.counts.pages_out += u64::from(evicts);
                spot
            }
        };
        paging.cache.touch(spot);
        paging.cache.ask(spot, true);
        if paging.whole_pages {
            paging.cache.fetch_page(spot);
        }
    }

    /// Writes a line that arrives beside the CHA after `delay_ps` to its frame. Returns false if the page has no
    /// frame or the line is there already.
    pub(super) fn keep(&mut self, line: u64, delay_ps: u64, context: &mut Context) -> bool {
        let Some(paging) = &mut self.paging else { return false };
        let CacheLookup::Room(spot, _) = paging.cache.find(line) else { return false };
        self.counts.lines_in += 1;
        self.at_channel(spot, RequestKind::Directory, BesideAccess::Kept(spot), delay_ps, context);
        true
    }

    /// Returns true if a line is in local memory.
    pub(super) fn is_cached(&self, line: u64) -> bool {
        self.paging.as_ref().is_some_and(|paging| matches!(paging.cache.find(line), CacheLookup::Line(_)))
    }

    /// Reads or writes a line of a frame at its channel, bypassing the CHA.
    fn at_channel(
        &mut self,
        spot: FrameLine,
        kind: RequestKind,
        served: BesideAccess,
        delay_ps: u64,
        context: &mut Context,
    ) {
        let local = self.paging.as_ref().map_or(0, |paging| paging.cache.local_line(spot));
        let line = self.pages.physical(self.wiring.cached + local * 64) / 64;
        self.beside.start(&self.wiring, (line, kind), served, delay_ps + self.wiring.to_channel_ps, context);
    }

    /// Marks a line as present once it has been written to its frame.
    pub(super) fn kept(&mut self, spot: FrameLine) {
        let paging = self.paging.as_mut().expect("only a cache keeps lines");
        // The frame may have got another page while the line was written.
        if paging.cache.is_valid(spot) {
            paging.cache.arrive(spot);
        }
    }

    /// Starts as many fetches and write-backs as possible.
    pub(super) fn start_transfers(&mut self, context: &mut Context) {
        while let Some(place) = self.next_transfer(0) {
            self.counts.fetches += 1;
            self.send_transfer(place, context);
        }
        while let Some(place) = self.next_transfer(1) {
            let spot = self.transfer(place).spot.expect("it has begun");
            self.at_channel(spot, RequestKind::Speculate, BesideAccess::Leaving(place), 0, context);
        }
    }

    /// Starts the next fetch (`way` 0) or write-back (`way` 1), if there is one and a transfer is free. Returns its
    /// index.
    fn next_transfer(&mut self, way: usize) -> Option<u32> {
        let busy = self.is_waiting();
        let paging = self.paging.as_mut()?;
        let place = *paging.free[way].last()?;
        // The transfer is looked for first: a line that is taken out must be sent.
        let spot = if way == 0 { paging.cache.next_fetch() } else { paging.cache.next_back(busy) }?;
        paging.free[way].pop();
        self.sequence = self.sequence.wrapping_add(1);
        let transfer = &mut paging.transfers[place as usize];
        *transfer = Transfer { spot: Some(spot), sequence: self.sequence, ..*transfer };
        Some(place)
    }

    fn transfer(&self, place: u32) -> Transfer {
        self.paging.as_ref().expect("there is a cache").transfers[place as usize]
    }

    /// Sends the message of a transfer and starts its timer.
    pub(super) fn send_transfer(&mut self, place: u32, context: &mut Context) {
        let Transfer { spot, sequence, .. } = self.transfer(place);
        let paging = self.paging.as_ref().expect("there is a cache");
        let line = paging.cache.line_at(spot.expect("it has begun"));
        // The first half of the transfers are fetches.
        let kind = if (place as usize) < paging.transfers.len() / 2 {
            PoolKind::Fetch
        // Another server waits for the page, so its lines have the priority of demand.
        } else if self.is_leaving(line) {
            PoolKind::Return
        } else {
            PoolKind::WriteBack
        };
        let (to, line) = self.lender_of(line);
        self.send(self.message(kind, self.slots.len() as u32 + place, sequence, line), to, 0, context);
        self.set_transfer_timer(place, self.params.timeout_ps, context);
    }

    fn set_transfer_timer(&mut self, place: u32, delay_ps: u64, context: &mut Context) {
        let transfer = &mut self.paging.as_mut().expect("there is a cache").transfers[place as usize];
        transfer.timer = transfer.timer.wrapping_add(1);
        let timer = Payload::Timer { connection: self.slots.len() as u32 + place, generation: transfer.timer };
        context.send(context.id, delay_ps, timer);
    }

    /// Handles a NACK for a write-back of a page that another server has requested.
    pub(super) fn on_transfer_nack(&mut self, place: u32, sequence: u32, context: &mut Context) {
        let transfer = self.transfer(place);
        if transfer.spot.is_some() && transfer.sequence == sequence {
            self.counts.nacks += 1;
            self.set_transfer_timer(place, self.params.retry_ps, context);
        } else {
            self.counts.stale += 1;
        }
    }

    /// Handles a timeout of a transfer. A write-back is sent again, and a fetch is given up.
    pub(super) fn on_transfer_timeout(&mut self, place: u32, generation: u32, context: &mut Context) {
        let Transfer { spot: Some(spot), timer, .. } = self.transfer(place) else { return };
        if timer != generation {
            return;
        }
        let paging = self.paging.as_mut().expect("there is a cache");
        // A lost fetch stays missing until the line is read; a lost write-back would lose data.
        if place as usize >= paging.transfers.len() / 2 {
            self.counts.retries += 1;
            return self.send_transfer(place, context);
        }
        if paging.cache.is_valid(spot) {
            paging.cache.ask(spot, false);
        }
        self.counts.fetches_lost += 1;
        self.end_transfer(place, context);
    }

    /// Completes a fetch or a write-back.
    pub(super) fn on_transfer(&mut self, message: PoolMessage, context: &mut Context) {
        let place = message.slot - self.slots.len() as u32;
        let Transfer { spot, sequence, .. } = self.transfer(place);
        let Some(spot) = spot.filter(|_| sequence == message.sequence) else {
            self.counts.stale += 1;
            return;
        };
        let paging = self.paging.as_mut().expect("there is a cache");
        if message.kind == PoolKind::WrittenBack {
            paging.cache.written_back(spot);
            self.counts.lines_out += 1;
            let page = paging.cache.line_at(spot) * 64 / self.params.page_bytes;
            if self.sharing.is_some() {
                self.try_to_leave(page, context);
            }
        } else {
            // Demand may have brought or written the line meanwhile.
            let wanted = paging.cache.is_valid(spot) && !paging.cache.is_there(spot);
            self.counts.stale += u64::from(!wanted);
            if wanted {
                self.counts.lines_in += 1;
                self.at_channel(
                    spot,
                    RequestKind::Directory,
                    BesideAccess::Kept(spot),
                    self.params.latency_ps,
                    context,
                );
            }
        }
        self.end_transfer(place, context);
    }

    fn end_transfer(&mut self, place: u32, context: &mut Context) {
        let paging = self.paging.as_mut().expect("there is a cache");
        paging.transfers[place as usize].spot = None;
        let way = usize::from(place as usize >= paging.transfers.len() / 2);
        paging.free[way].push(place);
        self.start_transfers(context);
    }
}
