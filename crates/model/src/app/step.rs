//! Single access of a thread, and the instructions before it.

/// Access to one line, and the instructions before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Virtual byte address.
    pub address: u64,
    /// Instructions since the access before.
    pub instructions: u32,
    /// True for a store, false for a load.
    pub store: bool,
    /// True if the address is data of earlier accesses, so that the access waits for all of them.
    pub depends: bool,
    /// True if an operation of the application begins with the instructions before the access.
    pub begins: bool,
    /// True if an operation ends with the access. A single access may be a whole operation.
    pub ends: bool,
}
