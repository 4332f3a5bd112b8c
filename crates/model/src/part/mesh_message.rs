//! Messages of payloads on the mesh.

use super::Payload;
use crate::line::RequestId;
use crate::mesh::MeshMessage;

impl Payload {
    /// Returns the request and the kind of its message on the mesh, if the payload is about a line.
    pub(crate) fn line_message(self) -> Option<(RequestId, MeshMessage)> {
        match self {
            Self::Arrive(id) => Some((id, MeshMessage::Request)),
            Self::Data(id) | Self::Read(id) => Some((id, MeshMessage::Data)),
            Self::Admitted(id) => Some((id, MeshMessage::Admission)),
            Self::Taken(id) | Self::Accepted(id) | Self::Acknowledged(id) => Some((id, MeshMessage::Acknowledgement)),
            _ => None,
        }
    }
}
