//! A command of a drive.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Command of a job in a drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Command {
    pub(super) job: u16,
    /// True if the command reads the drive, that is, writes memory.
    pub(super) read: bool,
    pub(super) address: u64,
    /// Bytes that no TLP has been sent for yet.
    pub(super) left_bytes: u64,
    /// Bytes whose data has not arrived yet, for a command that writes the drive.
    pub(super) unfinished_bytes: u64,
    pub(super) submitted: Time,
    /// True for the commands that a job begins with, which find an emptier queue than all that follow.
    pub(super) initial: bool,
}
