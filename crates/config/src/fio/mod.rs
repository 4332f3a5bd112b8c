//! fio job files: the part of fio's options that the model knows.

mod options;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use parse::parse;
