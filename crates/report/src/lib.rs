//! The report of a run of one server, as HTML and SVG. Nothing here reads a file or depends on the clock or the
//! platform, so that a browser can make reports, too.
//!
//! * [`ServerRun`]: what a report is made from.
//! * [`header`], [`result_section`], [`picture_section`]: the sections of its page; [`describe_run`] describes it.
//! * [`host_pictures`], [`regime_section`]: parts of them for other pages.
//! * [`numbers`]: formats of numbers, for pages and the screen.
//! * [`sentences`]: sentences that pages and the screen share.
//! * [`sockets`]: the parts of a server that belong to each of its sockets.

mod cards;
mod describe;
mod drift;
mod headline;
mod host;
mod html;
pub mod numbers;
mod picture;
mod places;
mod pool_rows;
mod regime;
mod row;
mod run;
pub mod sockets;
mod svg;
mod words;

pub use cards::{host_pictures, picture_section};
pub use describe::describe_run;
pub use headline::{header, regime_section, result_section};
pub use html::Html;
pub use row::Row;
pub use run::ServerRun;

/// Sentences that pages and the screen share.
pub mod sentences {
    pub use crate::drift::{drift_note, STOPPED};
    pub use crate::places::with_directions;
    pub use crate::regime::regime_headline;
}
