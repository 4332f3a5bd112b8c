//! Tests of a network core by itself: its costs, the order of its work, and the turns of its users.

mod cached;
mod copies;
mod packets;
mod power;
mod rig;
mod services;
mod turns;
