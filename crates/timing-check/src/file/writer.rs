//! Writes command files.

use std::io::{self, Write};

use hostnet_model::memory::CommandRecord;

use super::{mnemonic, needs, HEADER};

/// Writes the header of a command file.
///
/// # Errors
///
/// Returns the errors of the output.
pub fn write_header(output: &mut impl Write) -> io::Result<()> {
    writeln!(output, "{HEADER}")
}

/// Writes a command. Fields that it does not need stay empty; a REFSB that refreshes every bank group has group 0.
///
/// Each command is one call of the output's `write_all`, so the output should be buffered.
///
/// # Errors
///
/// Returns the errors of the output.
pub fn write_record(output: &mut impl Write, record: &CommandRecord) -> io::Result<()> {
    // Formatted into one buffer, so that a command is a single call of the output.
    let mut line = Line::default();
    line.number(record.clock);
    line.byte(b',');
    line.number(record.channel.into());
    line.byte(b',');
    line.text(mnemonic(record.kind).as_bytes());
    let values =
        [record.rank.into(), record.bank_group.into(), record.bank.into(), record.row, record.column].map(u64::from);
    for (value, needed) in values.into_iter().zip(needs(record.kind)) {
        line.byte(b',');
        if needed {
            line.number(value);
        }
    }
    line.byte(b'\n');
    output.write_all(&line.bytes[..line.length])
}

/// A line that is being written. The longest has 20 + 10 + 5 + 3 x 3 + 2 x 10 digits and letters, and 8 separators.
struct Line {
    bytes: [u8; 80],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line { bytes: [0; 80], length: 0 }
    }
}

impl Line {
    fn text(&mut self, text: &[u8]) {
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
    }

    fn byte(&mut self, byte: u8) {
        self.text(&[byte]);
    }

    fn number(&mut self, number: u64) {
        self.text(itoa::Buffer::new().format(number).as_bytes());
    }
}
