//! The parts of a machine.

use crate::kinds::kinds;
use crate::part::Part;
use serde::{Deserialize, Serialize};

/// A kind of part, to find those of a machine by.
pub trait Member: Sized {
    /// The part, if it is of this kind.
    fn of(component: &Component) -> Option<&Self>;

    /// The same, to change it.
    fn of_mut(component: &mut Component) -> Option<&mut Self>;
}

macro_rules! members {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($single:ident)? $(= $room:ident::$part:ident)?,)*) => {
        /// A part of a machine.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Component {
            $($(
                #[doc = $name]
                $kind(Box<crate::$room::$part>),
            )?)*
            /// A memory of rates, the IIO in front of it, which the machine keeps.
            Fluid,
        }

        $($(
            impl From<crate::$room::$part> for Component {
                fn from(part: crate::$room::$part) -> Self {
                    Self::$kind(Box::new(part))
                }
            }

            impl Member for crate::$room::$part {
                fn of(component: &Component) -> Option<&Self> {
                    match component {
                        Component::$kind(part) => Some(part),
                        _ => None,
                    }
                }

                fn of_mut(component: &mut Component) -> Option<&mut Self> {
                    match component {
                        Component::$kind(part) => Some(part),
                        _ => None,
                    }
                }
            }
        )?)*

        impl Component {
            /// Its face, if it does not stand for what the machine keeps.
            pub(super) fn part(&self) -> Option<&dyn Part> {
                match self {
                    $($(Self::$kind(part) => Some(&**part as &crate::$room::$part),)?)*
                    Self::Fluid => None,
                }
            }

            /// The same, to change it.
            pub(super) fn part_mut(&mut self) -> Option<&mut dyn Part> {
                match self {
                    $($(Self::$kind(part) => Some(&mut **part as &mut crate::$room::$part),)?)*
                    Self::Fluid => None,
                }
            }
        }
    };
}

kinds!(members);

impl Component {
    /// The place of the memory of rates that a machine keeps.
    #[must_use]
    pub fn fluid() -> Self {
        Self::Fluid
    }

    /// The part, if it is of a kind.
    #[must_use]
    pub fn get<T: Member>(&self) -> Option<&T> {
        T::of(self)
    }

    /// The same, to change it.
    pub fn get_mut<T: Member>(&mut self) -> Option<&mut T> {
        T::of_mut(self)
    }
}
