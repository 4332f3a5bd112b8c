//! Shapes of networks: each draws its routers and channels, and says the next step of every way.

mod mesh;
mod ring;

use crate::{Layout, NocError, Params, Routes, Shape};

pub use mesh::{mesh_next, mesh_routers};

/// The drawing and the routes of a network.
///
/// # Errors
/// When a size or a property of the routers is out of range, or the virtual channels do not suffice.
pub fn build(params: &Params) -> Result<(Layout, Routes), NocError> {
    params.router.check()?;
    match params.shape {
        Shape::Mesh { columns, rows } => mesh::build(columns, rows, params),
        Shape::Ring { nodes } => ring::build(nodes, params),
    }
}
