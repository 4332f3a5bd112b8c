//! Picture of the UPI links between sockets: arrows for a few sockets, a matrix for many.

use crate::html::{element, wrap, Element};
use crate::numbers::{format_number, format_share, format_share_rounded};
use crate::row::{Fields, Row};
use crate::svg::{anchored_label, label, round_to};

/// Width of the picture.
const WIDTH: f64 = 380.0;

/// Width and height of a socket.
const NODE: (f64, f64) = (104.0, 34.0);

/// Maximum number of sockets that are drawn with arrows.
const ARROWS_MAX: usize = 4;

/// Distance of each direction from the centre line of its link.
const BOW: f64 = 9.0;

/// Line widths of an idle and of a saturated link.
const THIN: f64 = 1.5;
const THICK: f64 = 9.0;

/// Pitch of the matrix.
const CELL: (f64, f64) = (36.0, 26.0);

/// Origin of the matrix.
const TOP: f64 = 44.0;
const LEFT: f64 = 74.0;

type Point = (f64, f64);

const FIRST: f64 = NODE.0 / 2.0 + 1.0;
const LAST: f64 = WIDTH - NODE.0 / 2.0 - 1.0;
const MIDDLE: f64 = WIDTH / 2.0;

/// Centres of two, three and four sockets.
const TWO: [Point; 2] = [(FIRST, 40.0), (LAST, 40.0)];
const THREE: [Point; 3] = [(MIDDLE, 20.0), (LAST, 230.0), (FIRST, 230.0)];
const FOUR: [Point; 4] = [(FIRST + 14.0, 42.0), (LAST - 14.0, 42.0), (LAST - 14.0, 262.0), (FIRST + 14.0, 262.0)];

/// A direction of a link between two sockets.
struct Direction<'a> {
    from: usize,
    to: usize,
    /// Share of the bandwidth that is in use.
    busy: Option<f64>,
    row: &'a Row,
}

impl Direction<'_> {
    fn of(row: &Row) -> Option<Direction<'_>> {
        let end = |name| row.whole(name).and_then(|number| usize::try_from(number).ok());
        Some(Direction { from: end("from")?, to: end("to")?, busy: row.number("busy_share"), row })
    }

    /// Returns the share in use, 0 to 1.
    fn share(&self) -> f64 {
        self.busy.unwrap_or_default().min(1.0)
    }

    fn name(&self) -> String {
        format!("socket {} to {}", self.from, self.to)
    }

    /// Describes the traffic.
    fn describe(&self) -> String {
        let [wire, lines] = ["gb_per_s", "line_gb_per_s"].map(|name| format_number(self.row.value(name)));
        let share = format_share(self.busy);
        format!("{}: {wire} GB/s on the wire, {share} of what it carries; {lines} GB/s of lines", self.name())
    }
}

/// Draws the sockets with the busy share of each direction.
#[must_use]
pub(crate) fn draw_links(rows: &[&Row]) -> Element {
    let links: Vec<Direction> = rows.iter().filter_map(|row| Direction::of(row)).collect();
    let count = 1 + links.iter().map(|link| link.to.max(link.from)).max().unwrap_or(0);
    let (drawn, height) = match count {
        0..=2 => (draw_arrows(&links, &TWO), 80.0),
        3 => (draw_arrows(&links, &THREE), 272.0),
        ARROWS_MAX => (draw_arrows(&links, &FOUR), 304.0),
        _ => (draw_matrix(&links, count), TOP + count as f64 * CELL.1 + 6.0),
    };
    let description: Vec<String> =
        links.iter().map(|link| format!("{} {}", link.name(), format_share(link.busy))).collect();
    element("svg")
        .child(wrap("title", "UPI between the sockets, and how busy each direction is"))
        .child(wrap("desc", description.join("; ")))
        .children(drawn)
        .attr("viewBox", format!("0 0 {WIDTH} {height}"))
        .attr("role", "img")
        .class("host")
}

/// Draws a few sockets with an arrow for each direction.
fn draw_arrows(links: &[Direction], places: &[Point]) -> Vec<Element> {
    let arrows = links.iter().flat_map(|link| draw_arrow(link, places[link.from], places[link.to]));
    let nodes = places.iter().enumerate().flat_map(|(socket, &place)| draw_node(socket, place));
    arrows.chain(nodes).collect()
}

/// Draws many sockets: a row for each sender and a column for each receiver.
fn draw_matrix(links: &[Direction], count: usize) -> Vec<Element> {
    let mut drawn = vec![label("to socket", LEFT, 14.0).class("quiet")];
    for socket in 0..count {
        let (x, y) = (LEFT + (socket as f64 + 0.5) * CELL.0, TOP + socket as f64 * CELL.1 + 17.0);
        drawn.push(anchored_label(&socket.to_string(), x, TOP - 10.0, "middle").class("name"));
        drawn.push(anchored_label(&format!("from {socket}"), LEFT - 8.0, y, "end").class("name"));
    }
    drawn.extend(links.iter().flat_map(draw_matrix_cell));
    drawn
}

/// Draws a direction in the matrix.
fn draw_matrix_cell(link: &Direction) -> [Element; 3] {
    let (x, y) = (LEFT + link.to as f64 * CELL.0, TOP + link.from as f64 * CELL.1);
    let filled = round_to((CELL.1 - 2.0) * link.share(), 1);
    let part = |y: f64, height: f64| {
        let size = [("x", x + 1.0), ("y", y), ("width", CELL.0 - 2.0), ("rx", 2.0), ("height", height)];
        element("rect").child(wrap("title", link.describe())).numbers(size)
    };
    let share = format_share_rounded(link.busy, 0);
    [
        part(y + 1.0, CELL.1 - 2.0).class("cell"),
        part(y + CELL.1 - 1.0 - filled, filled).class("level"),
        anchored_label(&share, x + CELL.0 / 2.0, y + 17.0, "middle").class("count"),
    ]
}

/// Draws a socket.
fn draw_node(socket: usize, (x, y): Point) -> [Element; 2] {
    let size = [
        ("x", round_to(x - NODE.0 / 2.0, 1)),
        ("y", round_to(y - NODE.1 / 2.0, 1)),
        ("width", NODE.0),
        ("height", NODE.1),
        ("rx", 6.0),
    ];
    let name = format!("Socket {socket}");
    [
        element("rect").numbers(size).class("hop"),
        anchored_label(&name, round_to(x, 1), round_to(y + 4.0, 1), "middle").class("name"),
    ]
}

/// Draws one direction: an arrow beside the centre line, whose width shows the busy share.
fn draw_arrow(link: &Direction, start: Point, end: Point) -> [Element; 3] {
    let length = (end.0 - start.0).hypot(end.1 - start.1);
    let along = ((end.0 - start.0) / length, (end.1 - start.1) / length);
    let aside = (-along.1 * BOW, along.0 * BOW);
    let away = reach(along) + 4.0 + BOW * along.0.abs().min(along.1.abs());
    let first = (start.0 + along.0 * away + aside.0, start.1 + along.1 * away + aside.1);
    let last = (end.0 - along.0 * (away + 5.0) + aside.0, end.1 - along.1 * (away + 5.0) + aside.1);
    let is_busy = link.share() != 0.0;
    let width = round_to(THIN + (THICK - THIN) * link.share(), 2);
    let ends = [("x1", first.0), ("y1", first.1), ("x2", last.0), ("y2", last.1)];
    let line = element("line")
        .child(wrap("title", link.describe()))
        .numbers(ends.map(|(name, value)| (name, round_to(value, 1))))
        .number("stroke-width", width)
        .class(if is_busy { "upi" } else { "upi idle" });
    [line, draw_tip(last, along, 4.0 + width / 2.0, is_busy), draw_share(link, first, last, aside)]
}

/// Returns the distance from the centre of a socket to its edge in a direction.
fn reach(along: Point) -> f64 {
    // A division by zero is infinity: the other edge is nearer.
    (NODE.0 / 2.0 / along.0.abs()).min(NODE.1 / 2.0 / along.1.abs())
}

/// Draws the tip of an arrow.
fn draw_tip(tip: Point, along: Point, size: f64, is_busy: bool) -> Element {
    let back = (tip.0 - along.0, tip.1 - along.1);
    let corners = [
        (tip.0 + along.0 * 5.0, tip.1 + along.1 * 5.0),
        (back.0 - along.1 * size, back.1 + along.0 * size),
        (back.0 + along.1 * size, back.1 - along.0 * size),
    ];
    let points = corners.map(|(x, y)| format!("{x:.1},{y:.1}")).join(" ");
    element("polygon").attr("points", points).class(if is_busy { "fill-n" } else { "quiet-point" })
}

/// Draws the busy share of a direction beside it; on a diagonal, closer to the sender.
fn draw_share(link: &Direction, first: Point, last: Point, aside: Point) -> Element {
    let (is_level, is_upright) = (aside.0.abs() < 1.0, aside.1.abs() < 1.0);
    let share = if is_level || is_upright { 0.5 } else { 0.3 };
    let x = first.0 + (last.0 - first.0) * share + aside.0;
    let y = first.1 + (last.1 - first.1) * share + aside.1 * if is_level { 1.8 } else { 1.0 } + 4.0;
    let anchor = match aside.0 {
        _ if is_level => "middle",
        right if right > 0.0 => "start",
        _ => "end",
    };
    anchored_label(&format_share(link.busy), round_to(x, 1), round_to(y, 1), anchor).class("count")
}
