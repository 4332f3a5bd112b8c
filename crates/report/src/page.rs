//! All sections of the page of a run.

use crate::cards::picture_section;
use crate::die::die_section;
use crate::explanation::why_section;
use crate::glossary::Glossary;
use crate::headline::{header, result_section};
use crate::html::Html;
use crate::run::ServerRun;
use crate::tables::{
    caches_section, channels_section, domains_section, links_section, tiering_section, workloads_section,
};

/// Renders the sections of the page of a run, in the order of the page and each with its name.
///
/// * `header`: what has run, for how long, and warnings.
/// * `results`: throughput and limit of each workload, DRAM traffic, and the regime.
/// * `picture`: the drawing of the host, and a card for each domain.
/// * `why`: the explanation, which has the limit and the sources of latency of each workload and what would help.
/// * `caches`, `workloads`, `domains`, `channels`, `links`: tables.
/// * `mesh`: maps of the dies.
///
/// Sections of which the run has nothing are left out. `cache_charts` are the charts of caches over time, which are
/// drawn elsewhere. A page that changes calls the function of a single section, such as [`result_section`], to replace
/// that section alone. [`with_definitions`](crate::with_definitions) marks the terms in a finished section.
#[must_use]
pub fn page_sections(run: &ServerRun, cache_charts: Html, glossary: &Glossary) -> Vec<(&'static str, Html)> {
    let sections = [
        ("header", Some(header(run))),
        ("results", Some(result_section(run))),
        ("picture", picture_section(run)),
        ("why", why_section(run, glossary)),
        ("caches", caches_section(run, cache_charts, glossary)),
        ("workloads", Some(workloads_section(run, glossary))),
        ("domains", Some(domains_section(run, glossary))),
        ("channels", channels_section(run, glossary)),
        ("links", links_section(run, glossary)),
        ("tiering", tiering_section(run, glossary)),
        ("mesh", die_section(&run.summary, "Mesh", glossary)),
    ];
    sections.into_iter().filter_map(|(name, section)| Some((name, section?))).collect()
}
