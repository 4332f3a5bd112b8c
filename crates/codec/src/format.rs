//! What encoder and decoder agree on: groups, tags and classes of floats.

/// Floats of a group, which is a burst of 256 bits in the NIC.
pub const GROUP: usize = 8;
/// The most bytes of a group: its tags, and 32 bits for each float.
pub const GROUP_BYTES_MAX: usize = TAG_BYTES + 4 * GROUP;
/// Bytes of the tags of a group, and the fewest that a group has.
pub(crate) const TAG_BYTES: usize = 2;
/// Bytes of a float by its class, which is its tag: none, 8, 16 and 32 bits.
pub(crate) const CLASS_BYTES: [usize; 4] = [0, 1, 2, 4];
/// How far the bits of a class lie above the bottom of the word.
pub(crate) const CLASS_SHIFT: [u32; 4] = [0, 24, 16, 0];
/// What remains of the word in each class.
pub(crate) const CLASS_MASK: [u32; 4] = [0, 0xFF00_0000, 0xFFFF_0000, u32::MAX];

/// Which floats get how many bits, and how what does not fit is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Algorithms 3 and 4 as they are printed. The error of the 8-bit class is up to 2^-7 whatever the bound.
    #[default]
    Thesis,
    /// As printed, but with the 8-bit class only for bounds of 2^-7 and more; 16 bits take its place below.
    Bounded,
    /// To the nearest value instead of the next one towards zero, with the 8-bit class for bounds of 2^-8 and more.
    Nearest,
}
