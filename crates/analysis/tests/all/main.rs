//! Tests of predictions and explanations; in one program, which builds faster than one for each file.
#![allow(unreachable_pub)]

mod common;

mod binding;
mod explain;
mod formula;
mod outside;
mod predict;
