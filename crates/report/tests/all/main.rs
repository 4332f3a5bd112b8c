//! Tests of sections of a page, as their readers see them.

mod headline;
mod links;
mod page;
mod picture;
mod runs;
mod tables;
