//! Serialisation of a whole simulation.
//!
//! The layout is `magic, format version, label length, label, checksum, state`. The label identifies the owner of the
//! state (for hostnet the hash of the configuration), so that a checkpoint is never continued under another one.

use serde::{de::DeserializeOwned, Serialize};
use thiserror::Error;

const MAGIC: &[u8; 8] = b"hostnetC";
const VERSION: u32 = 21;

/// Bytes of a wrong label that an error shows; with a damaged length the label may be the whole file.
const LABEL_SHOWN_MAX: usize = 200;

/// Digits of a hash of a configuration, and those of them that an error shows.
const HASH_DIGITS: usize = 64;
const HASH_SHOWN: usize = 8;

/// Reason why a checkpoint cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// The bytes are no checkpoint.
    #[error("not a hostnet checkpoint")]
    Foreign,
    /// The checkpoint was written by a release with another format.
    #[error("checkpoint format {found}, this release reads {VERSION}")]
    Version {
        /// Format version of the checkpoint.
        found: u32,
    },
    /// The checkpoint was written under another label.
    #[error("the checkpoint belongs to configuration {}, this run is {}", shortened(found), shortened(expected))]
    Label {
        /// Label of the checkpoint, or its beginning.
        found: String,
        /// Label that was requested.
        expected: String,
    },
    /// The checkpoint is truncated or damaged.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
}

/// Serialises `state` under the `label` that [`read`] checks.
///
/// # Errors
/// Returns [`CheckpointError::Damaged`] if the state cannot be serialised.
pub fn write<T: Serialize>(label: &str, state: &T) -> Result<Vec<u8>, CheckpointError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((label.len() as u32).to_le_bytes());
    bytes.extend(label.as_bytes());
    let body = postcard::to_allocvec(state).map_err(|error| CheckpointError::Damaged(error.to_string()))?;
    bytes.extend(checksum(&body).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// Restores a state that [`write()`] serialised under the same `label`.
///
/// # Errors
/// Returns a [`CheckpointError`] if the bytes are no intact checkpoint of this format and `label`.
pub fn read<T: DeserializeOwned>(label: &str, bytes: &[u8]) -> Result<T, CheckpointError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::Foreign)?;
    let (found, rest) = take_u32(rest)?;
    // Checked before the label: another format may have the label elsewhere.
    if found != VERSION {
        return Err(CheckpointError::Version { found });
    }
    // The label stands before the checksum, so a checkpoint of another configuration is named as such.
    let (length, rest) = take_u32(rest)?;
    let (found, rest) = rest.split_at_checked(length as usize).ok_or_else(truncated)?;
    if found != label.as_bytes() {
        let found = String::from_utf8_lossy(&found[..found.len().min(LABEL_SHOWN_MAX)]).into_owned();
        return Err(CheckpointError::Label { found, expected: label.to_owned() });
    }
    let (sum, body) = rest.split_at_checked(8).ok_or_else(truncated)?;
    // Checked before decoding: damaged bytes may decode to a state that no run reaches.
    if sum != checksum(body).to_le_bytes() {
        return Err(CheckpointError::Damaged("wrong checksum".to_owned()));
    }
    postcard::from_bytes(body).map_err(|error| CheckpointError::Damaged(error.to_string()))
}

fn take_u32(bytes: &[u8]) -> Result<(u32, &[u8]), CheckpointError> {
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(truncated)?;
    Ok((u32::from_le_bytes(*head), rest))
}

/// Cuts a hash at the start of a label, of which the first digits suffice to tell two apart.
fn shortened(label: &str) -> String {
    let (hash, rest) = label.split_at(label.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(label.len()));
    if hash.len() == HASH_DIGITS {
        format!("{}...{rest}", &hash[..HASH_SHOWN])
    } else {
        label.to_owned()
    }
}

fn truncated() -> CheckpointError {
    CheckpointError::Damaged("cut short".to_owned())
}

/// Returns the FNV-1a hash of the body, which detects damage before the body is decoded.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_damaged_length_does_not_fill_the_message() {
        let mut bytes = write("abc", &vec![0_u64; 9000]).expect("plain data can be written");
        bytes[13] = 0x20;
        let error = read::<Vec<u64>>("abc", &bytes).expect_err("the label has 8195 bytes");
        assert!(matches!(error, CheckpointError::Label { .. }));
        assert!(error.to_string().len() < 1000, "{error}");
    }

    #[test]
    fn a_hash_is_cut_and_what_follows_is_shown() {
        let label = |digit: &str, series: u64| format!("{} series {series}", digit.repeat(64));
        let bytes = write(&label("a", 5), &1_u64).expect("plain data can be written");
        let error = read::<u64>(&label("b", 0), &bytes).expect_err("it has another label");
        let told = "the checkpoint belongs to configuration aaaaaaaa... series 5, this run is bbbbbbbb... series 0";
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn reads_what_it_wrote_and_refuses_everything_else() {
        let state = vec![1_u64, 2, 3];
        let bytes = write("abc", &state).expect("plain data can be written");
        assert_eq!(read::<Vec<u64>>("abc", &bytes), Ok(state));
        assert!(matches!(read::<Vec<u64>>("abd", &bytes), Err(CheckpointError::Label { .. })));
        assert_eq!(read::<Vec<u64>>("abc", b"PK\x03\x04"), Err(CheckpointError::Foreign));
        for cut in MAGIC.len()..bytes.len() {
            assert!(read::<Vec<u64>>("abc", &bytes[..cut]).is_err());
        }
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            assert!(read::<Vec<u64>>("abc", &damaged).is_err());
        }
    }
}
