//! Memory channels: memory controllers with their DRAM, as parts of a server.
//!
//! A [`Controller`] knows no events; a [`Channel`] is a controller that receives requests from the CHA and answers
//! them.

mod channel;
mod channel_slots;
mod clock;
mod command;
mod controller;
mod slots;
mod table;
mod timing;
#[cfg(test)]
pub(crate) mod timing_tests;
mod wake_ups;

pub use crate::line::{Decoder, DramAddress};
pub use channel::Channel;
pub use clock::DramClock;
pub use command::{CommandKind, CommandRecord};
pub use controller::{BankLoads, Controller, Counters, IncomingRequest, Issued, OfferResult, ServedRequest};
