//! Kinds of parts.

use crate::part_kinds;
use serde::{Deserialize, Serialize};

macro_rules! is {
    (single) => {
        true
    };
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($single:ident)? $(= $room:ident::$part:ident)?,)*) => {
        /// Kind of a part.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum PartKind {
            $($(#[$doc])* $kind,)*
        }

        impl PartKind {
            /// Number of kinds.
            pub const COUNT: usize = [$($name),*].len();

            /// Returns the name of the kind in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns true if a socket has at most one part of this kind, so that its name needs no number.
            pub(super) fn is_single(self) -> bool {
                match self {
                    $(Self::$kind => false $(|| is!($single))?,)*
                }
            }
        }
    };
}

part_kinds!(kinds);
