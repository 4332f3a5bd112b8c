//! Tests of both ends together and of each half alone.

mod episodes;
mod laws;
mod marks;
mod pipe;
mod receiving;
mod recovery;
mod sending;
