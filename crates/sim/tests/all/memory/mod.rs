//! The memory system by itself: random traffic on every kind of device under every kind of controller, watched request
//! by request and judged by the independent checker of commands; limits, closed forms, address maps.

mod bench;
mod closed_form;
mod devices;
mod drive;
mod limits;
mod mapping;
mod random;
mod refresh;
mod run;
mod setup;
mod watch;
