//! The list of congestion controls of TCP.

use serde::ser::SerializeStructVariant;
use serde::{Deserialize, Serialize, Serializer};

/// Passes the list of congestion controls to a macro: type and module of the rule in `transport::tcp::congestion`, name
/// in configurations, and the RFCs.
///
/// A new control is a line here and a file there; `specs/transports` has its defaults.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_control {
    ($macro:ident) => {
        $macro! {
            Dctcp dctcp "dctcp" "DCTCP, RFC 8257";
            Cubic cubic "cubic" "CUBIC, RFC 9438";
            Reno reno "reno" "Reno, RFC 5681, 6582, 6675";
        }
    };
}

macro_rules! control_kinds {
    ($($kind:ident $module:ident $name:literal $title:literal;)*) => {
        /// Congestion control of TCP.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum ControlKind {
            $(#[doc = $title] $kind,)*
        }

        impl ControlKind {
            /// Every congestion control.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the name in configurations.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns the name of the variant.
            const fn variant(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                }
            }

            /// Returns the usual name, with the RFCs.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$kind => $title,)*
                }
            }
        }
    };
}
for_each_control!(control_kinds);

/// Congestion control of TCP and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct CongestionControl {
    /// The control.
    pub kind: ControlKind,
    /// Gain of the moving average of marks, in units of 2^-16; 0 unless the control estimates marks.
    pub gain: u32,
    /// First value of the estimate, in units of 2^-16; 0 unless the control estimates marks.
    pub alpha: u32,
}

impl CongestionControl {
    /// Returns a control that does not estimate marks.
    #[must_use]
    pub const fn without_estimate(kind: ControlKind) -> Self {
        Self { kind, gain: 0, alpha: 0 }
    }
}

/// Serialises the control as an enum with a variant for each kind in JSON, from which configurations are hashed: the
/// parameters of one control must not change the hash of another.
impl Serialize for CongestionControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, gain, alpha } = *self;
        if !serializer.is_human_readable() {
            return (kind, gain, alpha).serialize(serializer);
        }
        if gain == 0 && alpha == 0 {
            return serializer.serialize_unit_variant("CongestionControl", 0, kind.variant());
        }
        let mut fields = serializer.serialize_struct_variant("CongestionControl", 0, kind.variant(), 2)?;
        fields.serialize_field("gain", &gain)?;
        fields.serialize_field("alpha", &alpha)?;
        fields.end()
    }
}
