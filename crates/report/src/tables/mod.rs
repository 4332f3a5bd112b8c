//! Tables of a server, and the sections of its page that have them.

mod cells;
mod channels;
mod columns;
mod links;
mod page;
mod pools;
mod server;

pub(crate) use page::mesh_markup;
pub(crate) use pools::{partial_pool_rows, pool_row_name};

pub use page::{caches_section, channels_section, domains_section, links_section, tiering_section, workloads_section};
pub use server::{table_kinds, tables_of, ServerTable};
