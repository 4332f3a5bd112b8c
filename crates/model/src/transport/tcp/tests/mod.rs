//! Tests of both ends together and of each alone.

mod laws;
mod marks;
mod pipe;
mod receiving;
mod recovery;
mod sending;
