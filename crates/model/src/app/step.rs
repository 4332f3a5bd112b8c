//! One access of an application's thread and the work before it.

/// An access to one line, and what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Virtual byte address.
    pub address: u64,
    /// Instructions since the access before.
    pub instructions: u32,
    /// Whether it stores.
    pub store: bool,
    /// Whether its address is data of the accesses before it: it waits for all of them.
    pub depends: bool,
    /// Whether an operation of the application begins with the instructions before it.
    pub begins: bool,
    /// Whether an operation ends with it; an access may be a whole operation.
    pub ends: bool,
}
