//! Closed forms and laws of the network.
