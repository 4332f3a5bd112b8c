//! List of the congestion controls of TCP, and the transports that a user names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Passes the list of congestion controls to a macro. Each entry has the type of the control, the module of its rule in
/// `transport::tcp::congestion`, the keys of `[transport.*]` that are its parameters, if any, and its name with the
/// RFCs. A parameter is a share from 0 to 1, in units of 2^-16.
///
/// A new control needs a line here and a file in that module; `specs/transports` has its defaults.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_control {
    ($macro:ident) => {
        $macro! {
            Reno reno "TCP with Reno (RFC 5681, 6582, 6675).";
            Cubic cubic "TCP with CUBIC (RFC 9438).";
            Dctcp dctcp {
                gain: "Gain of the moving average of marks, in units of 2^-16.",
                alpha: "Initial value of alpha, in units of 2^-16."
            } "TCP with DCTCP (RFC 8257).";
        }
    };
}

macro_rules! congestion_controls {
    ($($kind:ident $module:ident $({ $($field:ident: $meaning:literal),* })? $title:literal;)*) => {
        /// Congestion control of TCP, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum CongestionControl {
            $(#[doc = $title] $kind $({ $(#[doc = $meaning] $field: u32),* })?,)*
        }

        impl CongestionControl {
            /// Names of the controls as bases of a transport, each with the keys that are its parameters.
            pub const BASES: &[(&str, &[&str])] =
                &[$((stringify!($module), &[$($(stringify!($field)),*)?])),*];
        }

        /// Built-in transport.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum BaseSpec {
            $(#[doc = $title] $kind,)*
            /// RoCE v2 at full rate.
            Roce,
            /// RoCE v2 with DCQCN.
            Dcqcn,
        }
    };
}

for_each_control!(congestion_controls);
