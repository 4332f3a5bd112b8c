//! Reads fio job files, for the options of fio that the model supports.

mod engine;
mod job;
mod known;
mod options;
mod parse;
mod placement;
mod value;

#[cfg(test)]
mod guide;
#[cfg(test)]
mod tests;

pub(crate) use parse::{parse, Host};
