//! Transport protocols as pure state machines: time and packets go in, packets and timers come out. They depend on no
//! NIC, core or event.

pub mod roce;
pub mod stage_times;
pub mod tcp;
pub mod udp;
