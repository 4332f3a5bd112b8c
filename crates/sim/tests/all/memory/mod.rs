//! Tests of the memory system alone. Random traffic on every kind of device under every kind of controller is
//! observed request by request and checked by the independent checker of commands; further tests cover limits, closed
//! forms and address maps.

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
