//! What a server serves of its memory to others.

use super::PoolPort;
use crate::line::{Home, Kind, PoolKind, PoolMessage, Request, RequestId};
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// For whom a line is read or written here; nothing where nobody waits.
pub(super) type Served = Option<Asked>;

/// What another server has asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    message: PoolMessage,
}

impl PoolPort {
    /// Another server asks for a line: it is read or written at its channel, beside the CHA.
    pub(super) fn serve(&mut self, message: PoolMessage, context: &mut Context) {
        let now = context.now();
        let line = self.pages.physical(self.wiring.lent + message.line * 64) / 64;
        let Home { socket, slice, place } = context.homes.of(line);
        let id = context.requests.insert(Request {
            kind: if message.kind == PoolKind::Write { Kind::Directory } else { Kind::Speculate },
            class: self.wiring.class,
            book: 0,
            for_store: false,
            socket,
            slice,
            engine: 0,
            line,
            place,
            owner: context.id,
            tag: 0,
            since: now,
            entered: now,
            admitted: now,
            next: RequestId::NONE,
        });
        let index = id.0 as usize;
        self.serving.resize(self.serving.len().max(index + 1), None);
        self.serving[index] = Some(Asked { message });
        let channel = self.wiring.channels.get(u32::from(place.channel));
        let delay_ps = self.params.latency_ps + self.wiring.to_channel_ps;
        context.tell(channel, delay_ps, Payload::Arrive(id));
    }

    /// A line has been read or written for another server.
    pub(super) fn served(&mut self, id: RequestId, context: &mut Context) {
        context.requests.remove(id);
        let asked = self.serving.get_mut(id.0 as usize).and_then(Option::take);
        let Asked { message } = asked.expect("somebody has asked for it");
        let kind = match message.kind {
            PoolKind::Write => PoolKind::Written,
            PoolKind::Prefetch => PoolKind::Ahead,
            _ => PoolKind::Data,
        };
        self.counts.served[usize::from(kind == PoolKind::Written)] += 1;
        self.send(PoolMessage { kind, ..message }, message.requester, 0, context);
    }
}
