//! The report of a run of one server, as HTML and SVG. Nothing here reads a file or depends on the clock or the
//! platform, so that a browser can make reports, too.
//!
//! * [`ServerRun`]: what a report is made from.
//! * [`page_sections`]: all sections of its page. Each of them is a function as well, such as [`picture_section`].
//! * [`host_pictures`], [`regime_section`]: parts of them for other pages.
//! * [`describe_run`] describes the run in a sentence, [`draw_explanation`] draws an explanation without its text,
//!   [`draw_remedies`] only what would help.
//! * [`Glossary`]: definitions of headings; [`with_definitions`] adds those of terms to finished markup.
//! * [`numbers`]: formats of numbers, for pages and the screen.
//! * [`sentences`]: sentences that pages and the screen share.
//! * [`sockets`]: the parts of a server that belong to each of its sockets.

mod cards;
mod definitions;
mod describe;
mod die;
mod drift;
pub mod explanation;
pub mod glossary;
mod headline;
mod host;
mod html;
pub mod numbers;
mod page;
mod picture;
mod places;
mod regime;
mod row;
mod run;
pub mod sockets;
mod svg;
mod table;
mod tables;
mod words;

pub use cards::{host_pictures, picture_section};
pub use definitions::with_definitions;
pub use describe::describe_run;
pub use die::die_section;
pub use explanation::{draw_explanation, draw_remedies, why_section};
pub use glossary::Glossary;
pub use headline::{header, regime_section, result_section};
pub use html::Html;
pub use page::page_sections;
pub use row::Row;
pub use run::ServerRun;
pub use svg::{heat, link_line, LinkStyle};
pub use tables::{
    caches_section, channels_section, domains_section, links_section, table_kinds, tables_of, tiering_section,
    workloads_section, ServerTable,
};

/// Sentences that pages and the screen share.
pub mod sentences {
    pub use crate::drift::{drift_note, STOPPED};
    pub use crate::places::with_directions;
    pub use crate::regime::regime_headline;
}
