//! Algorithms 3 and 4 of the thesis (section 3.4), line by line, for one float at a time.
//!
//! The names are those of the publication. Where it leaves a case open, `first1_loc_from_MSB` counts from 1, and a
//! number without any 1 decodes to a zero with the sign kept.

/// Tags by name.
pub const NO_COMPRESS: u32 = 0b11;
pub const BIT16: u32 = 0b10;
pub const BIT8: u32 = 0b01;
pub const BIT0: u32 = 0b00;

/// Runs algorithm 3. Returns `v`, its number of bits, and `t`. `error_bound` is the biased exponent of the bound.
pub fn compress(f: u32, error_bound: u32) -> (u32, u32, u32) {
    let s = f >> 31;
    let e = f >> 23 & 0xFF;
    let m = f & 0x7F_FFFF;
    if e >= 127 {
        (f, 32, NO_COMPRESS)
    } else if e < error_bound {
        (0, 0, BIT0)
    } else {
        let n_shift = 127 - e;
        let shifted_m = if n_shift < 32 { (1 << 23 | m) >> n_shift } else { 0 };
        if e >= error_bound + (127 - error_bound).div_ceil(2) {
            (s << 15 | shifted_m >> 8 & 0x7FFF, 16, BIT16)
        } else {
            (s << 7 | shifted_m >> 16 & 0x7F, 8, BIT8)
        }
    }
}

/// Runs algorithm 4. Returns `f`.
pub fn decompress(v: u32, t: u32) -> u32 {
    let (s, width, v) = match t {
        NO_COMPRESS => return v,
        BIT0 => return 0,
        BIT8 => (v >> 7, 7, v & 0x7F),
        _ => (v >> 15, 15, v & 0x7FFF),
    };
    let Some(n_shift) = (1..=width).find(|n| v >> (width - n) & 1 == 1) else { return s << 31 };
    let m = (v << n_shift & ((1 << width) - 1)) << (23 - width);
    let e = 127 - n_shift;
    s << 31 | e << 23 | m
}

/// Returns the payload of floats, assembled from the results of [`compress`]: whole groups, the last one padded with
/// zeros.
pub fn payload(floats: &[u32], error_bound: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for group in floats.chunks(8) {
        let (mut tags, mut data) = (0_u32, Vec::new());
        for (lane, &f) in group.iter().enumerate() {
            let (v, bits, t) = compress(f, error_bound);
            tags |= t << (2 * lane);
            data.extend_from_slice(&v.to_le_bytes()[..bits as usize / 8]);
        }
        out.extend_from_slice(&(tags as u16).to_le_bytes());
        out.extend(data);
    }
    out
}
