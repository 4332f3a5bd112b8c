//! A picture of a host that is being drawn: boxes, bars and labels, and the positions of the pools for the lanes.

use super::counts::in_use_text;
use crate::host::paths::kind_of_pool;
use crate::host::HostView;
use crate::html::{element, Content as _, Element, Html};
use crate::svg::{anchored_label, label, round_to};

/// Width of the picture.
pub(super) const WIDTH: f64 = 380.0;

/// Left and right edge of a box.
pub(super) type Edges = (f64, f64);

/// Horizontal limits of the contents of boxes that touch the edges of the picture. The lanes run outside.
const CONTENT: Edges = (36.0, 344.0);

/// Space between the edge of a box and its contents where no lanes run.
const MARGIN: f64 = 8.0;

/// The drawn parts.
pub(super) struct Drawing<'a> {
    pub(super) host: &'a HostView,
    pub(super) parts: Html,
    /// Vertical positions of the pools.
    pub(super) stops: Vec<(String, f64)>,
}

impl<'a> Drawing<'a> {
    /// Starts a drawing.
    pub(super) fn new(host: &'a HostView) -> Self {
        Self { host, parts: Html::default(), stops: Vec::new() }
    }

    /// Adds a part.
    pub(super) fn add(&mut self, part: Element) {
        part.write_to(&mut self.parts);
    }

    /// Adds parts.
    pub(super) fn add_all(&mut self, parts: Vec<Element>) {
        parts.into_iter().for_each(|part| self.add(part));
    }

    /// Draws the box of a part of the host.
    pub(super) fn add_box(&mut self, edges: Edges, top: f64, height: f64, title: &str, is_idle: bool) {
        let (left, right) = edges;
        let size =
            [("x", left + 0.5), ("y", top + 0.5), ("width", right - left - 1.0), ("height", height - 1.0), ("rx", 6.0)];
        self.add(element("rect").numbers(size).class(if is_idle { "hop idle" } else { "hop" }));
        let name = if is_idle { "name quiet" } else { "name" };
        self.add(label(title, inside(edges).0, top + 18.0).class(name));
    }

    /// Draws a buffer: its name, the entries in use, and a bar.
    pub(super) fn add_pool(&mut self, name: &str, words: &str, edges: Edges, top: f64) {
        let (left, right) = inside(edges);
        let pool = self.host.pool(name);
        self.stops.push((name.to_owned(), top + 19.0));
        self.add(label(words, left, top + 9.5));
        let in_use = anchored_label(&in_use_text(pool), right, top + 9.5, "end");
        self.add(in_use.class(if pool.is_some() { "count" } else { "quiet" }));
        let share = pool.and_then(|pool| pool.whole.share());
        self.add_bar(share, (left, right), top + 15.0, kind_of_pool(name), self.host.is_binding(name));
    }

    /// Draws a bar that is filled to a share.
    pub(super) fn add_bar(&mut self, share: Option<f64>, (left, right): Edges, top: f64, kind: char, is_binding: bool) {
        let width = right - left;
        let bar = |width: f64, class: &str| {
            element("rect")
                .numbers([("x", left), ("y", top), ("height", 8.0), ("rx", 2.0), ("width", width)])
                .class(class)
        };
        self.add(bar(width, "track"));
        if let Some(share) = share.filter(|&share| share != 0.0) {
            self.add(bar(round_to(width * share, 1), &format!("fill-{kind}")));
        }
        if is_binding {
            let frame = [("x", left - 2.0), ("y", top - 2.0), ("width", width + 4.0), ("height", 12.0), ("rx", 3.0)];
            self.add(element("rect").numbers(frame).class(format!("binds stroke-{kind}")));
        }
    }

    /// Draws a label that ends at a position.
    pub(super) fn add_count(&mut self, text: &str, right: f64, y: f64) {
        self.add(anchored_label(text, right, y, "end").class("count"));
    }

    /// Draws a connection between two boxes.
    pub(super) fn add_wire(&mut self, x: f64, start: f64, end: f64) {
        self.add(element("line").numbers([("x1", x), ("x2", x), ("y1", start), ("y2", end)]).class("wire"));
    }

    /// Returns the vertical position of a pool.
    pub(super) fn stop(&self, pool: &str) -> Option<f64> {
        self.stops.iter().rev().find(|(name, _)| name == pool).map(|(_, y)| *y)
    }
}

/// Returns the horizontal limits of the contents of a box, clear of the lanes.
pub(super) fn inside((left, right): Edges) -> Edges {
    (
        left + if left == 0.0 { CONTENT.0 } else { MARGIN },
        right - if right == WIDTH { WIDTH - CONTENT.1 } else { MARGIN },
    )
}
