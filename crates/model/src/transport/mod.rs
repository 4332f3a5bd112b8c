//! Transports as pure state machines: time and packets in, packets and timers out. They know no NIC, no core and no
//! event.

pub mod journey;
pub mod roce;
pub mod tcp;
pub mod udp;
