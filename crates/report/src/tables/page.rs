//! Sections of a page with the tables of a server.

use super::cells::{copied_keys, exact_text, show};
use super::channels::CHANNELS_MAX;
use super::columns::{Column, Format, CHANNELS, DOMAINS};
use super::server::{
    cache_tables, channel_table, domain_table, link_table, mesh_table, table_of_domains, tiering_table,
    workload_tables, ServerTable,
};
use crate::glossary::Glossary;
use crate::html::{details, section, wrap_as, Element, Html};
use crate::numbers::format_whole;
use crate::places::is_place;
use crate::row::{Fields, Row, ALL};
use crate::run::ServerRun;
use crate::table::{table, Cell, Heading};

/// Maximum number of rows; longer tables are only in the file.
const PARTS_MAX: usize = 1000;

/// Creates a table on the page, with columns of text first, and without columns and fields that have no value.
fn page_table(shown: &ServerTable, columns: &[Column], label: &str, glossary: &Glossary) -> Element {
    let is_shown = |column: &&Column| column.page.is_some() && shown.is_filled(column);
    let (texts, numbers): (Vec<&Column>, Vec<&Column>) =
        columns.iter().filter(is_shown).partition(|column| column.format.is_text());
    let text_count = texts.len();
    let has_value = |key: &&str| shown.rows.iter().any(|row| row.value(key).is_some());
    let copied = |column: &Column| copied_keys(column).into_iter().filter(has_value).collect::<Vec<_>>();
    let kept: Vec<(&Column, Vec<&str>)> =
        texts.into_iter().chain(numbers).map(|column| (column, copied(column))).collect();
    let heading = |(column, keys): &(&Column, Vec<&str>)| Heading {
        text: column.page.unwrap_or_default().to_owned(),
        about: column.about.or_else(|| glossary.column_meaning(shown.source, column.key)).map(str::to_owned),
        copied: Some(keys.join("\t")),
        is_minor: column.is_minor,
    };
    let cell = |row: &Row, (column, keys): &(&Column, Vec<&str>)| {
        let exact: Vec<String> = keys.iter().map(|key| exact_text(row.value(key))).collect();
        Cell { content: show(row, column), copied: Some(exact.join("\t")), is_minor: column.is_minor }
    };
    let rows = shown.rows.iter().map(|row| kept.iter().map(|kept| cell(row, kept)).collect());
    table(kept.iter().map(heading).collect(), rows, text_count, label, glossary)
}

/// Creates a table with all its columns.
fn whole_table(shown: &ServerTable, glossary: &Glossary) -> Element {
    page_table(shown, shown.columns, shown.title, glossary)
}

/// Creates the tables of rates and latencies of every workload.
#[must_use]
pub fn workloads_section(run: &ServerRun, glossary: &Glossary) -> Html {
    let rows = run.summary.rows("workloads");
    let has_too_few = |row: &&Row| row.value("io_completed").is_some() && row.value("io_latency_mean_ns").is_none();
    let note = "Throughput and latency are those of the workload's own domain";
    let intervals = "; ± is half of a 95 % confidence interval.";
    let has_intervals = rows.iter().any(|row| row.value("throughput_ci95").is_some());
    let too_few = "The latency of I/O requests is shown once 100 of them behind a full queue have completed.";
    section("Workloads", Some(&format!("{note}{}", if has_intervals { intervals } else { "." })))
        .children(workload_tables(&run.summary).iter().map(|shown| whole_table(shown, glossary)))
        .child(rows.iter().any(has_too_few).then(|| wrap_as("p", "note below", too_few)))
        .html()
}

/// Creates the table of credits in use of every domain, summed per place; single parts are folded.
#[must_use]
pub fn domains_section(run: &ServerRun, glossary: &Glossary) -> Html {
    let whole = run.summary.rows("domains").into_iter().filter(|row| row.text("part") == ALL);
    let split: Vec<Row> = whole.filter(|row| row.text("workload") != ALL).cloned().collect();
    let is_part = |row: &&Row| row.text("workload") == ALL && row.text("part") != ALL && !is_place(row.text("part"));
    let parts: Vec<Row> = run.domains.iter().filter(is_part).cloned().collect();
    let note =
        "Bars show the mean number of credits in use out of the capacity; the tick is the largest number seen. A \
                domain's throughput is at most credits × 64 B / latency. Full is the share of time in which all of its \
                credits were in use; what limits a workload is judged by its fullest part, such as one slice or one \
                link.";
    section("Domains", Some(note))
        .child(whole_table(&domain_table(&run.summary), glossary))
        .child(split_table("By workload", "Domains by workload", BY_WORKLOAD, split, glossary))
        .child(split_table("By part of the machine", "Domains by part", BY_PART, parts, glossary))
        .html()
}

/// Last column of a table of domains by workload, and of one by part.
const BY_WORKLOAD: Column = Column::new("workload", Format::Text).on_page("Workload").style("name");
const BY_PART: Column = Column::new("part", Format::Text).on_page("Part").style("name");

/// Creates a folded table of domains by workload or part.
fn split_table(title: &str, label: &'static str, by: Column, rows: Vec<Row>, glossary: &Glossary) -> Option<Element> {
    match rows.len() {
        0 => None,
        1..=PARTS_MAX => {
            let columns: Vec<Column> = DOMAINS.iter().copied().chain([by]).collect();
            let shown = table_of_domains(label, DOMAINS, rows);
            Some(details(title, page_table(&shown, &columns, label, glossary)))
        }
        count => {
            let text = format!("{title}: {} rows, in domains.parquet.", format_whole(count as f64));
            Some(wrap_as("p", "note below", text))
        }
    }
}

/// Creates the table of UPI traffic, if there are several sockets.
#[must_use]
pub fn links_section(run: &ServerRun, glossary: &Glossary) -> Option<Html> {
    let shown = link_table(&run.summary);
    let note = "Busy is the traffic on the wire, including all protocol overhead, as a share of the bandwidth of a \
                direction. The limit of a workload is determined by the practical capacity of a link, 95 % of that.";
    (!shown.rows.is_empty()).then(|| section("UPI", Some(note)).child(whole_table(&shown, glossary)).html())
}

/// Creates the table of pages that migrate, if any do.
#[must_use]
pub fn tiering_section(run: &ServerRun, glossary: &Glossary) -> Option<Html> {
    let shown = tiering_table(&run.summary);
    let note = "Latencies are those of the accesses that the policy was shown.";
    (!shown.rows.is_empty()).then(|| section("Page migration", Some(note)).child(whole_table(&shown, glossary)).html())
}

/// Creates the table of memory channels; the last row is the total, or the last rows are those of the sockets.
#[must_use]
pub fn channels_section(run: &ServerRun, glossary: &Glossary) -> Option<Html> {
    let every = channel_table(&run.summary);
    if every.rows.is_empty() {
        return None;
    }
    let note = "ACTs per read are the row miss ratio: above 1 where rows are closed before they are read. RPQ and WPQ \
                are mean numbers of entries. Shares are of time; bank load is the share of samples in which one bank \
                has 1.5 or 2 times the mean load.";
    let (minor, main): (Vec<Column>, Vec<Column>) = CHANNELS.iter().partition(|column| column.is_minor);
    let rest: Vec<Column> = CHANNELS[..1].iter().copied().chain(minor).collect();
    let count = every.rows.len();
    let folded = every.screen_rows.clone().filter(|_| count > CHANNELS_MAX);
    let all = folded.is_some().then(|| {
        let table = page_table(&every, &main, "Every memory channel", glossary);
        details(&format!("{count} rows, one for each channel"), table)
    });
    let shown = ServerTable { rows: folded.unwrap_or_else(|| every.rows.clone()), ..every.clone() };
    let more = page_table(&every, &rest, "More of memory channels", glossary);
    let content = section(every.title, Some(note))
        .child(page_table(&shown, &main, every.title, glossary))
        .child(all)
        .child(details("More columns", more));
    Some(content.html())
}

/// Creates the section on caches with their charts over time, which may be empty; `None` for a server without caches.
#[must_use]
pub fn caches_section(run: &ServerRun, charts: Html, glossary: &Glossary) -> Option<Html> {
    let rows = run.summary.rows("caches");
    if rows.is_empty() {
        return None;
    }
    let prefetched = "Prefetched lines are shown per L2 lookup; used lines per prefetched line, counted at the first \
                      use. Lines that were prefetched during the warm-up count when they are used, so that more may be \
                      used than were prefetched.";
    let written =
        "Hits are lines that a cache had when a device wrote them; leaks are lines that left for memory before \
                   anything had read them, both as shares of the lines that devices wrote to the LLC.";
    let tables = cache_tables(&run.summary);
    let has_prefetched = rows.iter().any(|row| row.nonzero("prefetch_filled").is_some());
    let has_devices = tables.iter().any(|shown| shown.title == "DDIO");
    let notes: Vec<&str> =
        has_prefetched.then_some(prefetched).into_iter().chain(has_devices.then_some(written)).collect();
    let charts = (!charts.as_str().is_empty()).then(|| wrap_as("div", "pair", charts));
    let content = section("Caches", Some(notes.join(" ").as_str()).filter(|note| !note.is_empty()))
        .child(charts)
        .children(tables.iter().map(|shown| whole_table(shown, glossary)));
    Some(content.html())
}

/// Creates the table of the distances and waiting times of messages on the mesh.
pub(crate) fn mesh_markup(summary: &Row, glossary: &Glossary) -> Element {
    whole_table(&mesh_table(summary), glossary)
}
