//! What of a line travels with an event.

use super::Payload;
use crate::line::RequestId;
use crate::mesh::MeshMessage;

impl Payload {
    /// The line that it is about, if it is about one, and what of it travels.
    pub(crate) fn of_line(self) -> Option<(RequestId, MeshMessage)> {
        match self {
            Self::Arrive(id) => Some((id, MeshMessage::Request)),
            Self::Data(id) | Self::Read(id) => Some((id, MeshMessage::Data)),
            Self::Admitted(id) => Some((id, MeshMessage::Admission)),
            Self::Taken(id) | Self::Accepted(id) | Self::Acknowledged(id) => Some((id, MeshMessage::Acknowledgement)),
            _ => None,
        }
    }
}
