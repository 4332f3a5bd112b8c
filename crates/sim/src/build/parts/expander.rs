//! Builds memory behind a CXL link.

use super::{all, PartBuilder};
use crate::build::SocketBuilder;
use hostnet_model::expander::Expander;
use hostnet_model::PartKind;

pub(super) const EXPANDER: PartBuilder =
    PartBuilder::new(PartKind::Expander, |params| params.expander.is_some().into(), |socket| all(expander(socket)));

/// Builds the memory behind a CXL link, if there is any.
fn expander(socket: &SocketBuilder) -> Option<Expander> {
    let id = socket.layout.of(PartKind::Expander).first();
    let params = socket.params.expander.as_deref()?;
    Some(Expander::new(params, id, socket.layout.home(), socket.server.classes))
}
