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

#[cfg(test)]
mod tests {
    use crate::SchedulingPolicy;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Parameter {
        #[serde(with = "super")]
        policy: SchedulingPolicy,
    }

    #[test]
    fn a_parameter_has_the_name_of_the_code_and_a_key_that_of_users() {
        for (policy, parameter, key) in [
            (SchedulingPolicy::Fcfs, r#"{"policy":"Fcfs"}"#, r#""fcfs""#),
            (SchedulingPolicy::OldestReady, r#"{"policy":"OldestReady"}"#, r#""oldest-ready""#),
        ] {
            assert_eq!(serde_json::to_string(&Parameter { policy }).unwrap(), parameter);
            assert_eq!(serde_json::from_str::<Parameter>(parameter).unwrap(), Parameter { policy });
            assert_eq!(serde_json::to_string(&policy).unwrap(), key);
        }
    }

    #[test]
    fn a_name_that_is_no_variant_is_refused() {
        assert!(serde_json::from_str::<Parameter>(r#"{"policy":"Newest"}"#).is_err());
        assert!(serde_json::from_str::<SchedulingPolicy>(r#""OldestReady""#).is_err());
    }
}
