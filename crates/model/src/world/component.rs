//! The kinds of parts, a line for each.

use crate::cha::Cha;
use crate::control::Control;
use crate::core::Core;
use crate::fluid::Probe;
use crate::iio::Iio;
use crate::link::Upi;
use crate::memory::Channel;
use crate::nic::Nic;
use crate::nvme::Ssd;
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
    ($($(#[$doc:meta])* $member:ident,)*) => {
        /// A part of a machine.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Component {
            $($(#[$doc])* $member(Box<$member>),)*
            /// A memory of rates, the IIO in front of it; see [`Socket`](super::Socket).
            Fluid,
        }

        $(
            impl From<$member> for Component {
                fn from(part: $member) -> Self {
                    Self::$member(Box::new(part))
                }
            }

            impl Member for $member {
                fn of(component: &Component) -> Option<&Self> {
                    match component {
                        Component::$member(part) => Some(part),
                        _ => None,
                    }
                }

                fn of_mut(component: &mut Component) -> Option<&mut Self> {
                    match component {
                        Component::$member(part) => Some(part),
                        _ => None,
                    }
                }
            }
        )*

        impl Component {
            /// Its face, if it does not stand for what the machine keeps.
            pub(super) fn part(&self) -> Option<&dyn Part> {
                match self {
                    $(Self::$member(part) => Some(&**part),)*
                    Self::Fluid => None,
                }
            }

            /// The same, to change it.
            pub(super) fn part_mut(&mut self) -> Option<&mut dyn Part> {
                match self {
                    $(Self::$member(part) => Some(&mut **part),)*
                    Self::Fluid => None,
                }
            }
        }
    };
}

members! {
    /// A core.
    Core,
    /// The caching and home agents.
    Cha,
    /// A memory channel.
    Channel,
    /// The integrated IO controller.
    Iio,
    /// A drive.
    Ssd,
    /// The NIC; it follows the drives.
    Nic,
    /// The way to another socket.
    Upi,
    /// What watches the host.
    Control,
    /// What loads a server to find its rates.
    Probe,
}

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
