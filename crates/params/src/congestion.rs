//! The list of congestion controls of TCP.

use serde::{Deserialize, Serialize};

/// Passes the list of congestion controls to a macro: for each one the type and the module of its rule in
/// `transport::tcp::congestion`, its parameters, if it has any, and its name with the RFCs.
///
/// A new control is a line here and a file there; `specs/transports` has its defaults.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_control {
    ($macro:ident) => {
        $macro! {
            Reno reno "Reno: RFC 5681, RFC 6582, RFC 6675.";
            Cubic cubic "CUBIC: RFC 9438.";
            Dctcp dctcp {
                gain: "Gain of the moving average of marks, in units of 2^-16.",
                alpha: "Initial value of alpha, in units of 2^-16."
            } "DCTCP: RFC 8257.";
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
    };
}

for_each_control!(congestion_controls);
