//! Tests of predictions and explanations, in one program because that builds faster than one per file.
#![allow(unreachable_pub)]

mod common;

mod binding;
mod explain;
mod formula;
mod outside;
mod predict;
