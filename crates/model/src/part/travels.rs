//! What of a line travels with an event.

use super::Payload;
use crate::line::RequestId;
use crate::mesh::Message;

impl Payload {
    /// The line that it is about, if it is about one, and what of it travels.
    pub(crate) fn of_line(self) -> Option<(RequestId, Message)> {
        match self {
            Self::Arrive(id) => Some((id, Message::Request)),
            Self::Data(id) | Self::Read(id) => Some((id, Message::Data)),
            Self::Admitted(id) => Some((id, Message::Admission)),
            Self::Taken(id) | Self::Accepted(id) | Self::Acknowledged(id) => Some((id, Message::Acknowledgement)),
            _ => None,
        }
    }
}
