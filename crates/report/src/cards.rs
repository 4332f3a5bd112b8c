//! Section with the picture of the host and a card for each of the four domains.

use crate::host::{split_sockets, upi_links, DomainPath, HostView, Usage};
use crate::html::{element, fact_list, section, wrap, wrap_as, Element, Html};
use crate::numbers::{format_number, format_percent, with_ci95};
use crate::picture::{draw_badge, draw_host, draw_links, format_compact};
use crate::row::{is_total, Fields, Row, ALL};
use crate::run::ServerRun;
use crate::svg::meter;
use crate::tables::partial_pool_rows;
use crate::words::list_items;

const NOTE: &str =
    "Numbered lanes are the domains; each has a mark at every hop that its lines pass while they hold a \
                    credit. Bars show the mean number of entries in use out of all. A thick lane and a framed bar \
                    limit a workload.";

const NOTE_OF_SOCKETS: &str = "Each socket has its own picture. Arrows between the sockets are the directions of UPI, \
                               with the share of its bandwidth that each uses, including protocol overhead. A lane \
                               has a mark at UPI if its lines cross to another socket, and at the memory of their home \
                               socket.";

/// Creates the section; `None` without pools.
#[must_use]
pub fn picture_section(run: &ServerRun) -> Option<Html> {
    let host = HostView::of(run);
    if host.pools.is_empty() {
        return None;
    }
    let cards: Vec<Element> = host.paths.iter().map(|path| domain_card(run, &host, path)).collect();
    let (sockets, links) = (split_sockets(run, &host), upi_links(run));
    let title = "The host and its domains";
    if sockets.is_empty() || links.is_empty() {
        let map = wrap_as("div", "card picture", draw_host(&host)).html();
        let map = element("div").child(map).child(wrap_as("div", "ways", cards)).class("map");
        return Some(section(title, Some(NOTE)).child(map).html());
    }
    let content = section(title, Some(&format!("{NOTE} {NOTE_OF_SOCKETS}")))
        .child(wrap_as("div", "card picture", draw_links(&links)))
        .child(sockets_grid(&sockets))
        .child(wrap_as("div", "ways many-ways", cards));
    Some(content.html())
}

/// Draws the host alone: one picture, or those of its sockets and of the links between them; `None` without pools.
#[must_use]
pub fn host_pictures(run: &ServerRun) -> Option<Html> {
    let host = HostView::of(run);
    if host.pools.is_empty() {
        return None;
    }
    let (sockets, links) = (split_sockets(run, &host), upi_links(run));
    if sockets.is_empty() || links.is_empty() {
        return Some(draw_host(&host).html());
    }
    Some(Html::join([draw_links(&links), sockets_grid(&sockets)]))
}

/// Places the pictures of the sockets side by side.
fn sockets_grid(sockets: &[HostView]) -> Element {
    let card = |socket: &HostView| {
        let number = socket.socket.as_ref().map_or(0, |socket| socket.number);
        element("div").child(wrap("h3", format!("Socket {number}"))).child(draw_host(socket)).class("card socket")
    };
    let class = if matches!(sockets.len(), 2 | 4) { "sockets few" } else { "sockets" };
    element("div").children(sockets.iter().map(card)).class(class)
}

/// Creates the card of a domain: path, credits, latency, throughput, and the workloads that hold its credits.
fn domain_card(run: &ServerRun, host: &HostView, path: &DomainPath) -> Element {
    let rows = run.summary.rows("domains");
    let row = rows.iter().find(|row| row.text("domain") == path.domain && is_total(row)).copied();
    let limited = host.bound_by(path.domain);
    let is_binding = !limited.is_empty();
    let badge = wrap("svg", draw_badge(path, 9.0, 9.0, is_binding)).attr("viewBox", "0 0 18 18");
    let head = wrap("h3", badge.attr("aria-hidden", "true").class("mark"))
        .child(wrap("span", path.domain))
        .child(is_binding.then(|| wrap_as("span", "tag", format!("limits {}", list_items(limited)))));
    let facts = row.map(|row| domain_facts(row, path)).into_iter().flatten();
    let law = row.and_then(littles_law);
    element("div")
        .child(head)
        .child(wrap_as("p", "sub", path.words))
        .child(fact_list(facts.chain(partial_facts(run, path))))
        .child(law.map(|law| wrap_as("p", "law", law)))
        .child(holders(path, &rows).map(|words| wrap_as("p", "sub", words)))
        .class(format!("card way edge-{}{}", path.kind, if is_binding { " binding" } else { "" }))
}

type Fact = (String, Option<Html>);

/// Creates a fact whose value is text.
fn fact(name: impl Into<String>, text: Option<String>) -> Fact {
    (name.into(), text.map(|text| Html::join([text])))
}

/// Returns credits, latency and throughput of a domain.
fn domain_facts(row: &Row, path: &DomainPath) -> Vec<Fact> {
    let shared = row.some_text("shares_capacity_with").map(|pool| format!(", shared in {pool}")).unwrap_or_default();
    let latency = row.value("latency_mean_ns").map(|ns| format!("{} ns", with_ci95(ns, row.value("latency_ci95"))));
    let tail = row.value("latency_p99_ns").map(|ns| format!("{} ns", format_number(ns)));
    let throughput = row.value("throughput_gb_per_s").map(|rate| format!("{} GB/s", format_number(rate)));
    vec![
        (format!("Credits in use{shared}"), credits_in_use(row, path)),
        fact("Latency", latency),
        fact("99th percentile", tail),
        fact("Throughput", throughput),
    ]
}

/// Shows the credits in use as a bar and a text.
fn credits_in_use(row: &Row, path: &DomainPath) -> Option<Html> {
    let Usage { in_use, capacity } = Usage::of(row);
    let in_use = in_use?;
    let words = match capacity {
        Some(capacity) => {
            let share = format_percent(in_use / capacity, 0);
            format!("{} of {} ({share})", format_number(in_use), format_compact(capacity))
        }
        None => format_number(in_use),
    };
    let bar = meter(Some(in_use), capacity, row.number("in_use_max"), path.kind);
    Some(wrap("span", bar).child(words).class("used").html())
}

/// Returns the pools by which the domain limits workloads that use only some of its parts.
fn partial_facts(run: &ServerRun, path: &DomainPath) -> Vec<Fact> {
    let own = partial_pool_rows(&run.summary).into_iter().filter(|row| row.text("binds") == path.domain);
    let words = |row: Row| {
        let capacity = row.number("capacity").unwrap_or_default();
        let in_use = format_number(row.value("in_use_mean"));
        fact(row.text("domain"), Some(format!("{in_use} of {}", format_compact(capacity))))
    };
    own.map(words).collect()
}

/// Formats Little's law for a domain.
fn littles_law(row: &Row) -> Option<String> {
    let (in_use, latency) = (row.nonzero("in_use_mean")?, row.nonzero("latency_mean_ns")?);
    let [in_use, latency, throughput] = [in_use, latency, row.number("throughput_gb_per_s")?].map(format_number);
    Some(format!("{in_use} credits × 64 B / {latency} ns ≈ {throughput} GB/s"))
}

/// Lists the workloads that hold the credits, if there are several.
fn holders(path: &DomainPath, rows: &[&Row]) -> Option<String> {
    let is_own =
        |row: &&&Row| row.text("domain") == path.domain && row.text("part") == ALL && row.text("workload") != ALL;
    let own: Vec<&&Row> = rows.iter().filter(is_own).collect();
    let mut known: Vec<(&str, f64)> =
        own.iter().filter_map(|row| Some((row.text("workload"), row.nonzero("in_use_mean")?))).collect();
    known.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let words: Vec<String> = known.iter().map(|(name, in_use)| format!("{name} {}", format_number(*in_use))).collect();
    (own.len() > 1 && !words.is_empty()).then(|| format!("Held by {}", list_items(&words)))
}
