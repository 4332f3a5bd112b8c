//! The way from a core to the registers of its NIC.

use super::softirq::TO_NIC_PS;
use super::NetStack;
use crate::line::PacketId;
use crate::params::AttachParams;
use crate::part::{Access, Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Where the registers of the function of the NIC are that a core uses, if they cost anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterWay {
    /// The IIO that the link hangs off, and the number of the link there.
    pub iio: ComponentId,
    /// See `iio`.
    pub link: u8,
    /// What an access costs.
    pub attach: AttachParams,
}

/// The accesses of a core to the registers of its NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Registers {
    way: Option<RegisterWay>,
    /// The class of the packet that the driver was through with last: that of the descriptors that it gives back.
    pub(super) class: u8,
    /// What is sent when the status that was asked for is there.
    asked: VecDeque<PacketId>,
}

impl Registers {
    pub(super) fn new(way: Option<RegisterWay>) -> Self {
        Self { way, class: 0, asked: VecDeque::new() }
    }

    /// Whether the core waits for the value of a register.
    pub(super) fn waits(&self) -> bool {
        !self.asked.is_empty()
    }
}

impl NetStack {
    /// Rings the doorbell for a packet or segment; before that the driver may look at the status of the NIC.
    pub(super) fn ring(&mut self, id: PacketId, context: &mut Context) {
        match self.registers.way {
            None => context.send(self.nic, TO_NIC_PS, Payload::Transmit(id)),
            Some(way) if way.attach.status => {
                self.registers.asked.push_back(id);
                self.access(way, Access::Status { core: context.id }, context);
            }
            Some(way) => self.access(way, Access::Doorbell { id, core: context.id }, context),
        }
    }

    /// The status of the NIC is there.
    pub(super) fn on_status(&mut self, context: &mut Context) {
        if let (Some(way), Some(id)) = (self.registers.way, self.registers.asked.pop_front()) {
            self.access(way, Access::Doorbell { id, core: context.id }, context);
        }
    }

    /// Gives descriptors of a receive queue back: their lines are written before the NIC is told.
    pub(super) fn give_back(&mut self, queue: u16, count: u16, armed: bool, context: &mut Context) {
        let Some(way) = self.registers.way else {
            return context.send(self.nic, TO_NIC_PS + self.away_ps, Payload::Replenished { queue, count, armed });
        };
        let mut posted = Vec::new();
        if let Some(ring) = &mut self.rings.free {
            let mut left = u32::from(count);
            while left > 0 {
                let (written, address, lines) = ring.advance(left);
                left -= written;
                for line in 0..u64::from(lines) {
                    self.lines.post(address + line * 64, self.registers.class, context);
                    if self.driver.is_some() {
                        posted.push(address + line * 64);
                    }
                }
            }
        }
        if self.driver.is_some() {
            if posted.is_empty() && armed {
                posted.extend(self.rings.free.map(|ring| ring.base()));
            }
            if posted.is_empty() {
                return;
            }
            return self.flush_tail(&posted, queue, count, armed, self.registers.class);
        }
        if count > 0 || armed {
            self.access(way, Access::Tail { queue, count, armed }, context);
        }
    }

    fn access(&self, way: RegisterWay, access: Access, context: &mut Context) {
        let delay = (way.attach.register_ps + self.away_ps).max(1);
        context.send(way.iio, delay, Payload::Register { link: way.link, access });
    }
}
