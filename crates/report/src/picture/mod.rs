//! The picture of a host: its parts, the occupancy of their buffers, and the paths of the domains as coloured lanes.

mod boxes;
mod counts;
mod drawing;
mod lanes;
mod links;
mod parts;

pub(crate) use counts::format_compact;
pub(crate) use lanes::draw_badge;
pub(crate) use links::draw_links;

use crate::host::HostView;
use crate::html::{element, wrap, Element};
use crate::words::list_items;
use boxes::draw_boxes;
use counts::in_use_text;
use drawing::{Drawing, WIDTH};

/// Draws the whole picture.
#[must_use]
pub(crate) fn draw_host(host: &HostView) -> Element {
    let mut drawing = Drawing::new(host);
    let height = draw_boxes(&mut drawing);
    for path in &host.paths {
        lanes::draw_lane(&mut drawing, path);
    }
    let socket = host.socket.as_ref().map(|socket| format!(", socket {}", socket.number)).unwrap_or_default();
    element("svg")
        .child(wrap("title", format!("The host network of this run{socket}")))
        .child(wrap("desc", describe_host(host)))
        .child(drawing.parts)
        .attr("viewBox", format!("0 0 {WIDTH} {height}"))
        .attr("role", "img")
        .class("host")
}

/// Describes the picture for screen readers.
fn describe_host(host: &HostView) -> String {
    let pools: Vec<String> =
        host.pools.iter().map(|pool| format!("{} {}", pool.name, in_use_text(Some(pool)))).collect();
    let paths = host.paths.iter().map(|path| format!("{} passes {}", path.domain, path.hops.join(", ")));
    let is_shown = |limit: &str| limit == "DRAM channel" || host.pool(limit).is_some();
    let bound = host.binding.iter().filter(|(limit, _)| is_shown(limit));
    let bound = bound.map(|(limit, workloads)| format!("{limit} limits {}", list_items(workloads)));
    let all: Vec<String> =
        [format!("Entries in use of all: {}", pools.join(", "))].into_iter().chain(paths).chain(bound).collect();
    format!("{}.", all.join("; "))
}
