//! The explanation of a run: as drawings, and as a page of plain text.

mod bus;
mod cards;
mod latency;
mod parts;
mod remedies;
mod remedy_lines;
mod text;
mod workload;
mod wrap;

pub use cards::{draw_explanation, draw_remedies, why_section};
pub use latency::describe_added_latency;
pub use parts::PARTS;
pub use text::{explanation_text, Details};
pub use wrap::{wrap_text, WIDTH};
