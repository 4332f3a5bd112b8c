//! What parts are.

use crate::kinds::kinds;
use serde::{Deserialize, Serialize};

macro_rules! is {
    (single) => {
        true
    };
}

macro_rules! part_kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($single:ident)? $(= $room:ident::$part:ident)?,)*) => {
        /// What a part is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum PartKind {
            $($(#[$doc])* $kind,)*
        }

        impl PartKind {
            /// How many kinds there are.
            pub const COUNT: usize = [$($name),*].len();

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Whether there is at most one, which needs no number.
            pub(super) fn is_single(self) -> bool {
                match self {
                    $(Self::$kind => false $(|| is!($single))?,)*
                }
            }
        }
    };
}

kinds!(part_kinds);
