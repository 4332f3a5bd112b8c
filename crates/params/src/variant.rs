//! Serialises a variant that is both a key and a parameter.
//!
//! A key names a variant as users do ("oldest-ready"), and a parameter as the code does ("OldestReady"), which is the
//! name in the hash of a configuration. Checkpoints hold its index.

use serde::de::value::StringDeserializer;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Debug;

pub(crate) fn serialize<T: Serialize + Debug, S: Serializer>(variant: &T, serializer: S) -> Result<S::Ok, S::Error> {
    // JSON is what hashes read, so it keeps the name of the variant in the code.
    if serializer.is_human_readable() {
        serializer.serialize_str(&format!("{variant:?}"))
    } else {
        variant.serialize(serializer)
    }
}

pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    if !deserializer.is_human_readable() {
        return T::deserialize(deserializer);
    }
    let key: StringDeserializer<D::Error> = key_of(&String::deserialize(deserializer)?).into_deserializer();
    T::deserialize(key)
}

/// Converts the name of a variant in the code to its name as a key: `OldestReady` to `oldest-ready`.
fn key_of(variant: &str) -> String {
    let mut key = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !key.is_empty() {
            key.push('-');
        }
        key.extend(letter.to_lowercase());
    }
    key
}
