//! The fields of a line of a trace.

/// Returns the fields of a line, up to its comment.
#[inline]
pub(super) fn fields(line: &[u8]) -> Fields<'_> {
    Fields { rest: line }
}

/// Iterator over the fields of a line.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Returns the rest of the line: after the last field, its comment.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|byte| !is_blank(*byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[start..];
        // `#` begins a comment only at the begin of a field (docs/traffic.md).
        if matches!(self.rest.first(), None | Some(b'#')) {
            return None;
        }
        let end = self.rest.iter().position(|byte| is_blank(*byte)).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(field)
    }
}

/// Returns true for blanks, including the carriage return of Windows files.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
