//! A network core alone: what it costs, what it keeps in order, whom it lets go first.

mod copies;
mod packets;
mod rig;
mod turns;
