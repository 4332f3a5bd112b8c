//! Both ends over a way that loses, and the arithmetic of DCQCN.

mod dcqcn;
mod laws;
mod posts;
