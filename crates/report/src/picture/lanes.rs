//! The lanes of the domains along the edges of a picture, with a mark at each hop, as on a subway map.

use super::drawing::Drawing;
use crate::host::DomainPath;
use crate::html::{element, wrap, Element};
use crate::svg::mark;

/// Size of the mark of a hop.
const STOP: f64 = 3.6;

/// Distance of the head of a lane from its first stop.
const HEAD: f64 = 28.0;

/// Draws the lane of a domain: a line with a mark at each hop, and the number of the domain at its head.
pub(super) fn draw_lane(drawing: &mut Drawing, path: &DomainPath) {
    let (x, first) = match path.kind {
        'a' => (11.0, path.hops[0]),
        'b' => (26.0, path.hops[0]),
        'c' => (354.0, "P2M-Write"),
        _ => (369.0, "P2M-Write"),
    };
    let stops: Vec<f64> = path.hops.iter().filter_map(|hop| drawing.stop(hop)).collect();
    let (Some(first), Some(&last)) = (drawing.stop(first), stops.last()) else { return };
    let head = first - HEAD;
    let is_binding = !drawing.host.bound_by(path.domain).is_empty();
    let (kind, binding) = (path.kind, if is_binding { " binding" } else { "" });
    for class in ["halo".to_owned(), format!("lane stroke-{kind}{binding}")] {
        drawing.add(element("line").numbers([("x1", x), ("x2", x), ("y1", head), ("y2", last)]).class(class));
    }
    for y in stops {
        let tooltip = format!("{} passes here", path.domain);
        drawing.add(mark(kind, (x, y), STOP, &format!("stop stroke-{kind}"), &tooltip));
    }
    drawing.add(draw_badge(path, x, head, is_binding));
}

/// Draws the number of a domain.
#[must_use]
pub(crate) fn draw_badge(path: &DomainPath, x: f64, y: f64, is_binding: bool) -> Element {
    let digit = wrap("text", path.digit().to_string()).numbers([("x", x), ("y", y + 3.8)]);
    let binding = if is_binding { " binding" } else { "" };
    let ring = element("circle").numbers([("cx", x), ("cy", y), ("r", 7.0)]);
    element("g")
        .child(wrap("title", path.domain))
        .child(ring.class(format!("badge fill-{}{binding}", path.kind)))
        .child(digit.attr("text-anchor", "middle").class("digit"))
}
