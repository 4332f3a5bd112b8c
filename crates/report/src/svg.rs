//! Marks and labels of drawings. Their colours come from the style of the page, which has a dark mode.

use crate::html::{element, wrap, Element, Html};
use crate::numbers::format_general;

/// Rounds a coordinate to `decimals` decimal places.
#[must_use]
pub(crate) fn round_to(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// Creates a label that starts at a position.
#[must_use]
pub(crate) fn label(content: &str, x: f64, y: f64) -> Element {
    anchored_label(content, x, y, "start")
}

/// Creates a label with its start, middle or end at a position.
#[must_use]
pub(crate) fn anchored_label(content: &str, x: f64, y: f64, anchor: &str) -> Element {
    wrap("text", content).attr("x", format_general(x, 6)).attr("y", format_general(y, 6)).attr("text-anchor", anchor)
}

/// Draws a mark with a tooltip: a circle for kind `a`, a square for `b`, a diamond for `c`, a triangle for `d`.
#[must_use]
pub(crate) fn mark(kind: char, (x, y): (f64, f64), size: f64, class: &str, tooltip: &str) -> Element {
    let drawn = match kind {
        'a' => element("circle").numbers([("cx", x), ("cy", y), ("r", size)]),
        'b' => {
            let side = size * 1.8;
            let corner = |centre: f64| round_to(centre - side / 2.0, 2);
            element("rect").numbers([("x", corner(x)), ("y", corner(y)), ("width", side), ("height", side)])
        }
        'c' => corners((x, y), size, &[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]),
        _ => corners((x, y), size, &[(0.0, -1.3), (1.25, 0.95), (-1.25, 0.95)]),
    };
    drawn.child(wrap("title", tooltip)).class(class)
}

/// Creates a polygon from offsets in multiples of a size.
fn corners((x, y): (f64, f64), size: f64, offsets: &[(f64, f64)]) -> Element {
    let point = |(dx, dy): &(f64, f64)| format!("{:.2},{:.2}", x + dx * size, y + dy * size);
    element("polygon").attr("points", offsets.iter().map(point).collect::<Vec<_>>().join(" "))
}

/// Draws a bar for a part of a whole, with a tick at the peak. Returns `None` without a whole.
#[must_use]
pub(crate) fn meter(value: Option<f64>, full: Option<f64>, peak: Option<f64>, kind: char) -> Option<Element> {
    let (value, full) = (value?, full.filter(|&full| full != 0.0)?);
    let width = |value: f64| round_to(METER_WIDTH * (value / full).clamp(0.0, 1.0), 1);
    let bar = |width, class: &str| {
        element("rect").numbers([("x", 0.0), ("y", 1.0), ("width", width), ("height", 8.0), ("rx", 2.0)]).class(class)
    };
    let tick = peak.map(|peak| {
        let x = width(peak);
        element("line").numbers([("x1", x), ("x2", x), ("y1", 0.0), ("y2", 10.0)]).class("tick")
    });
    let drawing = element("svg")
        .child(bar(METER_WIDTH, "track"))
        .child(bar(width(value), &format!("fill-{kind}")))
        .child(tick)
        .attr("viewBox", "0 0 120 10")
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true");
    Some(drawing)
}

/// Shape of the lines of links: their distance from the places at both ends, that of each direction from the centre
/// line, and their width.
#[derive(Clone, Copy, Debug)]
pub struct LinkStyle {
    /// Distance from both ends.
    pub gap: f64,
    /// Distance from the centre line.
    pub bow: f64,
    /// Width.
    pub thick: f64,
}

/// Draws one direction between two places on a chip, coloured by its busy share.
#[must_use]
pub fn link_line(start: (f64, f64), end: (f64, f64), share: f64, tooltip: &str, style: LinkStyle) -> Html {
    let (across, down) = (end.0 - start.0, end.1 - start.1);
    let length = across.hypot(down).max(1.0);
    let along = (across / length, down / length);
    let aside = (-along.1 * style.bow, along.0 * style.bow);
    let first = (start.0 + along.0 * style.gap + aside.0, start.1 + along.1 * style.gap + aside.1);
    let last = (end.0 - along.0 * style.gap + aside.0, end.1 - along.1 * style.gap + aside.1);
    let ends = [("x1", first.0), ("y1", first.1), ("x2", last.0), ("y2", last.1)];
    element("line")
        .child(wrap("title", tooltip))
        .numbers(ends.map(|(name, value)| (name, round_to(value, 1))))
        .number("stroke-width", style.thick)
        .attr("style", format!("stroke: {}", heat(share)))
        .html()
}

/// Returns the colour of a busy share.
#[must_use]
pub fn heat(share: f64) -> String {
    format!("color-mix(in srgb, var(--bad) {:.0}%, var(--track))", 100.0 * share.min(1.0))
}

/// Width of a meter.
const METER_WIDTH: f64 = 120.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn_width(value: f64) -> String {
        let drawing = meter(Some(value), Some(92.0), None, 'a').expect("there is a whole").html().to_string();
        let fill = drawing.split("<rect").find(|part| part.contains("fill-a")).expect("the bar is drawn");
        fill.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has a width").to_owned()
    }

    #[test]
    fn a_meter_stays_within_its_track() {
        assert_eq!([46.0, 0.0, 200.0, -1.0].map(drawn_width), ["60", "0", "120", "0"]);
        assert!(meter(Some(3.0), None, None, 'a').is_none());
        assert!(meter(None, Some(92.0), None, 'a').is_none());
    }

    #[test]
    fn coordinates_are_rounded_to_the_nearest_even_digit() {
        assert_eq!([0.125, 0.375, 2.675].map(|value| round_to(value, 2)), [0.12, 0.38, 2.67]);
    }
}
