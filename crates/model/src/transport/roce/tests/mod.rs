//! Tests both ends over a lossy path, and the arithmetic of DCQCN.

mod dcqcn;
mod laws;
mod posts;
