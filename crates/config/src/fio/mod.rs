//! fio job files: the part of fio's options that the model knows.

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
