//! Computes the fingerprint of a state. Equal states have equal fingerprints, and two states that differ in exactly
//! one value always have different ones.
//!
//! Everything that is written to a checkpoint enters the fingerprint, value by value, except for the fields that
//! [`excluded_fields`] names. Each value passes through a bijection of the state before, so one differing value cannot
//! cancel out.

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use std::fmt;

/// Returns the fields of a struct that are left out, as they are large and determined by others. These are the
/// buckets of histograms (beside their count and exact sum), the samples of bank loads (beside the loads), and the
/// sets of caches (beside a sum over their content). The address map, and the groups and ranks of banks
/// never change, and the kept repetitions of ranks follow from their steps.
#[inline(always)]
fn excluded_fields(name: &str) -> &'static [&'static str] {
    match name {
        "Histogram" => &["counts"],
        "BankLoads" => &["samples"],
        "Decoder" => &["tables"],
        "Timing" => &["group_of", "rank_of"],
        "TagArray" => &["sets"],
        "Rank" => &["repetitions"],
        _ => &[],
    }
}

/// An odd number with no pattern in its bits: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the fingerprint of a state.
///
/// # Panics
/// Panics if the state cannot be serialized, which does not occur.
#[must_use]
pub(crate) fn of<T: Serialize>(state: &T) -> u64 {
    let Ok(print) = state.serialize(Fingerprint::<true> { next: FACTOR, other: !FACTOR });
    print.end()
}

/// Like [`of`], but without packets and the slots that hold them, which depend on how a world is cut. The caller must
/// add the packets separately.
///
/// # Panics
/// Panics under the same conditions as [`of`].
#[must_use]
pub(crate) fn without_slots<T: Serialize>(state: &T) -> u64 {
    let Ok(print) = state.serialize(Fingerprint::<false> { next: FACTOR, other: !FACTOR });
    print.end()
}

/// A fingerprint under construction. Two halves take values alternately, so that a processor can work on both at
/// once. It is passed by value, which keeps it in registers and makes it several times as fast.
struct Fingerprint<const SLOTS: bool> {
    next: u64,
    other: u64,
}

type FingerprintResult<const SLOTS: bool> = Result<Fingerprint<SLOTS>, Never>;

impl<const SLOTS: bool> Fingerprint<SLOTS> {
    #[inline(always)]
    fn word(self, word: u64) -> Self {
        // The halves swap roles with every value, so no counter or branch is needed.
        Self { next: self.other, other: step(self.next, word) }
    }

    /// Joins the halves and spreads the last values over all bits.
    fn end(self) -> u64 {
        // The step with 0 spreads the last value, which has passed only one product.
        let joined = step(step(self.next, self.other), 0);
        joined ^ (joined >> 32)
    }
}

#[inline(always)]
fn step(state: u64, word: u64) -> u64 {
    // A rotation, an XOR and a product with an odd number can all be undone, so none loses a value.
    (state.rotate_left(29) ^ word).wrapping_mul(FACTOR)
}

/// Error type of serialization into a fingerprint, which never fails.
#[derive(Debug)]
enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("a state is made of plain values: {message}")
    }
}

macro_rules! words {
    ($($name:ident: $type:ty),*) => {
        $(
            #[inline(always)]
            fn $name(self, value: $type) -> FingerprintResult<SLOTS> {
                Ok(self.word(value as u64))
            }
        )*
    };
}

impl<const SLOTS: bool> ser::Serializer for Fingerprint<SLOTS> {
    type Ok = Self;
    type Error = Never;
    type SerializeSeq = ValueSerializer<SLOTS>;
    type SerializeTuple = ValueSerializer<SLOTS>;
    type SerializeTupleStruct = ValueSerializer<SLOTS>;
    type SerializeTupleVariant = ValueSerializer<SLOTS>;
    type SerializeMap = ValueSerializer<SLOTS>;
    type SerializeStruct = FieldSerializer<SLOTS>;
    type SerializeStructVariant = FieldSerializer<SLOTS>;

    words! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char
    }

    #[inline]
    fn serialize_u128(self, value: u128) -> FingerprintResult<SLOTS> {
        Ok(self.word(value as u64).word((value >> 64) as u64))
    }

    #[inline]
    fn serialize_i128(self, value: i128) -> FingerprintResult<SLOTS> {
        self.serialize_u128(value as u128)
    }

    fn serialize_f32(self, value: f32) -> FingerprintResult<SLOTS> {
        self.serialize_u32(value.to_bits())
    }

    fn serialize_f64(self, value: f64) -> FingerprintResult<SLOTS> {
        self.serialize_u64(value.to_bits())
    }

    fn serialize_str(self, value: &str) -> FingerprintResult<SLOTS> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> FingerprintResult<SLOTS> {
        // The length keeps the bytes of adjacent strings apart.
        Ok(value.iter().fold(self.word(value.len() as u64), |print, &byte| print.word(u64::from(byte))))
    }

    #[inline]
    fn serialize_none(self) -> FingerprintResult<SLOTS> {
        self.serialize_u64(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> FingerprintResult<SLOTS> {
        // Together with the 0 of `None`, this distinguishes an absent value from a zero.
        value.serialize(self.word(1))
    }

    fn serialize_unit(self) -> FingerprintResult<SLOTS> {
        Ok(self)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> FingerprintResult<SLOTS> {
        Ok(self)
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
    ) -> FingerprintResult<SLOTS> {
        self.serialize_u32(index)
    }

    #[inline(always)]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> FingerprintResult<SLOTS> {
        // These numbers name slots of packets.
        if !SLOTS && matches!(name, "PacketId" | "Tag") {
            return Ok(self);
        }
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> FingerprintResult<SLOTS> {
        value.serialize(self.word(u64::from(index)))
    }

    #[inline]
    fn serialize_seq(self, length: Option<usize>) -> Result<ValueSerializer<SLOTS>, Never> {
        // The length keeps values of adjacent sequences apart.
        Ok(ValueSerializer(self.word(length.unwrap_or(0) as u64)))
    }

    #[inline(always)]
    fn serialize_tuple(self, _length: usize) -> Result<ValueSerializer<SLOTS>, Never> {
        Ok(ValueSerializer(self))
    }

    #[inline(always)]
    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<ValueSerializer<SLOTS>, Never> {
        Ok(ValueSerializer(self))
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<ValueSerializer<SLOTS>, Never> {
        Ok(ValueSerializer(self.word(u64::from(index))))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<ValueSerializer<SLOTS>, Never> {
        self.serialize_seq(length)
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<FieldSerializer<SLOTS>, Never> {
        // The slab holds the slots; the caller adds its packets one by one.
        let excluded_fields = if !SLOTS && name == "Packets" { &["slab"] } else { excluded_fields(name) };
        Ok(FieldSerializer { values: ValueSerializer(self), excluded_fields })
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<FieldSerializer<SLOTS>, Never> {
        Ok(FieldSerializer {
            values: ValueSerializer(self.word(u64::from(index))),
            excluded_fields: excluded_fields(name),
        })
    }
}

/// Serializer of consecutive values.
struct ValueSerializer<const SLOTS: bool>(Fingerprint<SLOTS>);

impl<const SLOTS: bool> ValueSerializer<SLOTS> {
    #[inline(always)]
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        // Copied field by field, as the serializer takes the state by value and this one is borrowed.
        let Fingerprint { next, other } = self.0;
        self.0 = value.serialize(Fingerprint { next, other })?;
        Ok(())
    }
}

/// Serializer of the fields of a struct, which skips fields by name.
struct FieldSerializer<const SLOTS: bool> {
    values: ValueSerializer<SLOTS>,
    excluded_fields: &'static [&'static str],
}

impl<const SLOTS: bool> FieldSerializer<SLOTS> {
    #[inline(always)]
    fn add<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Never> {
        if self.excluded_fields.contains(&key) {
            return Ok(());
        }
        self.values.add(value)
    }
}

macro_rules! compounds {
    ($($trait:ident: $method:ident),*) => {
        $(
            impl<const SLOTS: bool> $trait for ValueSerializer<SLOTS> {
                type Ok = Fingerprint<SLOTS>;
                type Error = Never;

                #[inline(always)]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                    self.add(value)
                }

                #[inline(always)]
                fn end(self) -> FingerprintResult<SLOTS> {
                    Ok(self.0)
                }
            }
        )*
    };
}

compounds! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
}

macro_rules! structs {
    ($($trait:ident),*) => {
        $(
            impl<const SLOTS: bool> $trait for FieldSerializer<SLOTS> {
                type Ok = Fingerprint<SLOTS>;
                type Error = Never;

                #[inline(always)]
                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    key: &'static str,
                    value: &T
                ) -> Result<(), Never> {
                    self.add(key, value)
                }

                #[inline(always)]
                fn end(self) -> FingerprintResult<SLOTS> {
                    Ok(self.values.0)
                }
            }
        )*
    };
}

structs! { SerializeStruct, SerializeStructVariant }

impl<const SLOTS: bool> SerializeMap for ValueSerializer<SLOTS> {
    type Ok = Fingerprint<SLOTS>;
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.add(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        self.add(value)
    }

    fn end(self) -> FingerprintResult<SLOTS> {
        Ok(self.0)
    }
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
