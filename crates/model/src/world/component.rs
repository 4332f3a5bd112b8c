//! Components: the parts of a machine, of any kind.

use crate::part::Part;
use crate::part_kinds;
use serde::{Deserialize, Serialize};

/// Kind of part, to find the parts of that kind in a machine.
pub trait ComponentKind: Sized {
    /// Returns the part if it is of this kind.
    fn of(component: &Component) -> Option<&Self>;

    /// Returns the part, to change it, if it is of this kind.
    fn of_mut(component: &mut Component) -> Option<&mut Self>;
}

macro_rules! members {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($single:ident)? $(= $room:ident::$part:ident)?,)*) => {
        /// Part of a machine.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Component {
            $($(
                #[doc = $name]
                $kind(Box<crate::$room::$part>),
            )?)*
            /// Placeholder of a fluid memory with the IIO in front of it, which the machine keeps.
            Fluid,
        }

        $($(
            impl From<crate::$room::$part> for Component {
                fn from(part: crate::$room::$part) -> Self {
                    Self::$kind(Box::new(part))
                }
            }

            impl ComponentKind for crate::$room::$part {
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
            /// Returns the part, unless the machine keeps it.
            pub(super) fn part(&self) -> Option<&dyn Part> {
                match self {
                    $($(Self::$kind(part) => Some(&**part as &crate::$room::$part),)?)*
                    Self::Fluid => None,
                }
            }

            /// Returns the part, to change it, unless the machine keeps it.
            pub(super) fn part_mut(&mut self) -> Option<&mut dyn Part> {
                match self {
                    $($(Self::$kind(part) => Some(&mut **part as &mut crate::$room::$part),)?)*
                    Self::Fluid => None,
                }
            }
        }
    };
}

part_kinds!(members);

impl Component {
    /// Returns the placeholder of a fluid memory that the machine keeps.
    #[must_use]
    pub fn fluid() -> Self {
        Self::Fluid
    }

    /// Returns the part if it is of kind `T`.
    #[must_use]
    pub fn get<T: ComponentKind>(&self) -> Option<&T> {
        T::of(self)
    }

    /// Returns the part, to change it, if it is of kind `T`.
    pub fn get_mut<T: ComponentKind>(&mut self) -> Option<&mut T> {
        T::of_mut(self)
    }
}
