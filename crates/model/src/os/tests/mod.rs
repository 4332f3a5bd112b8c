//! A network core alone: what it costs, what it keeps in order, whom it lets go first.

mod cached;
mod chores;
mod copies;
mod packets;
mod power;
mod rig;
mod turns;
