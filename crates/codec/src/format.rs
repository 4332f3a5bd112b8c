//! Defines the format that encoder and decoder share: groups, tags and classes of floats.

/// Floats of a group, which is a burst of 256 bits in the NIC.
pub const GROUP: usize = 8;
/// Largest size of a group in bytes: the tags, and 32 bits per float.
pub const GROUP_BYTES_MAX: usize = TAG_BYTES + 4 * GROUP;
/// Bytes of the tags of a group, which is also the smallest size of a group.
pub(crate) const TAG_BYTES: usize = 2;
/// Bytes of a float by its class, which is its tag: 0, 8, 16 and 32 bits.
pub(crate) const CLASS_BYTES: [usize; 4] = [0, 1, 2, 4];
/// Shift of the bits of each class from the bottom of the word.
pub(crate) const CLASS_SHIFT: [u32; 4] = [0, 24, 16, 0];
/// Mask of the bits of the word that each class keeps.
pub(crate) const CLASS_MASK: [u32; 4] = [0, 0xFF00_0000, 0xFFFF_0000, u32::MAX];

/// Assignment of floats to classes, and rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Algorithms 3 and 4 as published. The error of the 8-bit class is up to 2^-7 whatever the bound.
    #[default]
    Thesis,
    /// As published, but the 8-bit class is used only for bounds of 2^-7 and more, and the 16-bit class replaces it
    /// below.
    Bounded,
    /// Rounds to the nearest value instead of towards zero, with the 8-bit class for bounds of 2^-8 and more.
    Nearest,
}
