//! Topologies of networks. Each adds its routers and channels, and returns the next hop of every route.

mod mesh;
mod ring;

use crate::{Layout, NocError, Params, Routes, Shape};

pub use mesh::{mesh_next, mesh_routers};

/// Builds the layout and the routes of a network.
///
/// # Errors
/// Returns a [`NocError`] if a size or a property of the routers is out of range, or if there are too few virtual
/// channels.
pub fn build(params: &Params) -> Result<(Layout, Routes), NocError> {
    params.router.check()?;
    match params.shape {
        Shape::Mesh { columns, rows } => mesh::build(columns, rows, params),
        Shape::Ring { nodes } => ring::build(nodes, params),
    }
}
