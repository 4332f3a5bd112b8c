//! Lines of the pool in local memory: those that are read or written there, and those that come and go.
//!
//! A line that is there is read or written at a local channel, which answers the CHA as it does for any other. One that
//! has come is written to its frame beside the CHA. The rest of its page, and dirty lines, come and go one by one with
//! the priority of what nobody waits for; what is lost of the former stays away, of the latter it is sent again.

use super::cache::{Cache, Held, Spot};
use super::lender::Served;
use super::PoolPort;
use crate::line::{Home, Kind, PoolKind, PoolMessage, RequestId};
use crate::params::PoolCacheParams;
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// To a channel, in ps, when the request has the way from the CHA behind it.
const NEXT_PS: u64 = 1;

/// A line that comes or goes and that nobody waits for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Transfer {
    /// Its line, while it is on its way.
    spot: Option<Spot>,
    sequence: u32,
    /// Counts the times that its timer was set.
    timer: u32,
}

/// Local memory as a cache, and the lines that come and go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Paging {
    pub(super) cache: Cache,
    whole_pages: bool,
    /// Those that are fetched, then as many that are written back.
    transfers: Vec<Transfer>,
    /// Free places of both.
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
    /// Places for lines that come and go beside demand.
    pub(super) fn transfers(&self) -> u32 {
        self.paging.as_ref().map_or(0, |paging| paging.transfers.len() as u32)
    }

    /// Lines that are dirty in local memory, or are being written back.
    #[must_use]
    pub fn unwritten(&self) -> u64 {
        self.paging.as_ref().map_or(0, |paging| paging.cache.unwritten())
    }

    /// The CHA wants a line that lies in local memory, or is written there. False if it does not and is not.
    pub(super) fn serve_here(&mut self, id: RequestId, line: u64, read: bool, context: &mut Context) -> bool {
        let Some(paging) = &mut self.paging else { return false };
        let spot = match paging.cache.find(line) {
            Held::Line(spot) => spot,
            Held::Room(spot, _) if !read => spot,
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
        context.tell(self.wiring.channels.get(u32::from(place.channel)), NEXT_PS, Payload::Arrive(id));
        true
    }

    /// A read goes out, or has found its line read ahead: its page gets a frame, if there is one.
    pub(super) fn make_room(&mut self, line: u64) {
        let Some(paging) = &mut self.paging else { return };
        let spot = match paging.cache.find(line) {
            Held::Line(_) => return,
            Held::Room(spot, asked) => {
                self.counts.cache_late += u64::from(asked);
                spot
            }
            Held::Nothing => {
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

    /// A line has come that will be beside the CHA after `delay_ps`: it is written to its frame, if its page has one.
    /// False if that has not, or the line is there.
    pub(super) fn keep(&mut self, line: u64, delay_ps: u64, context: &mut Context) -> bool {
        let Some(paging) = &mut self.paging else { return false };
        let Held::Room(spot, _) = paging.cache.find(line) else { return false };
        self.counts.lines_in += 1;
        self.at_channel(spot, Kind::Directory, Served::Kept(spot), delay_ps, context);
        true
    }

    /// Whether a line lies in local memory.
    pub(super) fn is_here(&self, line: u64) -> bool {
        self.paging.as_ref().is_some_and(|paging| matches!(paging.cache.find(line), Held::Line(_)))
    }

    /// A line of a frame is read or written at its channel beside the CHA.
    fn at_channel(&mut self, spot: Spot, kind: Kind, served: Served, delay_ps: u64, context: &mut Context) {
        let local = self.paging.as_ref().map_or(0, |paging| paging.cache.local_line(spot));
        let line = self.pages.physical(self.wiring.cached + local * 64) / 64;
        self.beside(line, kind, served, delay_ps + self.wiring.to_channel_ps, context);
    }

    /// A line that came has been written to its frame.
    pub(super) fn kept(&mut self, spot: Spot) {
        let paging = self.paging.as_mut().expect("only a cache keeps lines");
        if paging.cache.is_valid(spot) {
            paging.cache.arrive(spot);
        }
    }

    /// Lines that nobody waits for come and go, as many as may.
    pub(super) fn turn_pages(&mut self, context: &mut Context) {
        while let Some(place) = self.next_transfer(0) {
            self.counts.fetches += 1;
            self.send_transfer(place, context);
        }
        while let Some(place) = self.next_transfer(1) {
            let spot = self.transfer(place).spot.expect("it has begun");
            self.at_channel(spot, Kind::Speculate, Served::Leaving(place), 0, context);
        }
    }

    /// Begins to fetch the next line, or to write it back (1), if there is one and a place for it: its place.
    fn next_transfer(&mut self, way: usize) -> Option<u32> {
        let busy = self.is_waiting();
        let paging = self.paging.as_mut()?;
        let place = *paging.free[way].last()?;
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

    /// Asks for a line, or sends it; if no answer comes, a timer tells.
    pub(super) fn send_transfer(&mut self, place: u32, context: &mut Context) {
        let Transfer { spot, sequence, .. } = self.transfer(place);
        let paging = self.paging.as_ref().expect("there is a cache");
        let line = paging.cache.line_at(spot.expect("it has begun"));
        let kind = if (place as usize) < paging.transfers.len() / 2 {
            PoolKind::Fetch
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

    /// A line that was written back for a page that another server wants was dropped on its way.
    pub(super) fn on_dropped_transfer(&mut self, place: u32, sequence: u32, context: &mut Context) {
        let transfer = self.transfer(place);
        if transfer.spot.is_some() && transfer.sequence == sequence {
            self.counts.nacks += 1;
            self.set_transfer_timer(place, self.params.retry_ps, context);
        } else {
            self.counts.stale += 1;
        }
    }

    /// No answer has come in time.
    pub(super) fn on_late_transfer(&mut self, place: u32, generation: u32, context: &mut Context) {
        let Transfer { spot: Some(spot), timer, .. } = self.transfer(place) else { return };
        if timer != generation {
            return;
        }
        let paging = self.paging.as_mut().expect("there is a cache");
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

    /// A line that was fetched has come, or one has been written back.
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
            let wanted = paging.cache.is_valid(spot) && !paging.cache.is_there(spot);
            self.counts.stale += u64::from(!wanted);
            if wanted {
                self.counts.lines_in += 1;
                self.at_channel(spot, Kind::Directory, Served::Kept(spot), self.params.latency_ps, context);
            }
        }
        self.end_transfer(place, context);
    }

    fn end_transfer(&mut self, place: u32, context: &mut Context) {
        let paging = self.paging.as_mut().expect("there is a cache");
        paging.transfers[place as usize].spot = None;
        let way = usize::from(place as usize >= paging.transfers.len() / 2);
        paging.free[way].push(place);
        self.turn_pages(context);
    }
}
