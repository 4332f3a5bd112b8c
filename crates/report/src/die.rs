//! Map of the die of a socket: its parts, and the busy share of every link of its mesh.

use crate::glossary::Glossary;
use crate::html::{element, section, wrap, Element, Html};
use crate::numbers::format_percent;
use crate::row::{Fields, Row};
use crate::svg::{anchored_label, heat, link_line, LinkStyle};
use crate::tables::mesh_markup;

/// Distance between stops, in units of the drawing.
const PITCH: f64 = 92.0;

/// Side length of a stop.
const SIDE: f64 = 44.0;

/// Links between stops, each direction beside the centre line.
const LINKS: LinkStyle = LinkStyle { gap: SIDE / 2.0 + 2.0, bow: 7.0, thick: 6.0 };

/// Rings of a mesh.
const RINGS: [&str; 3] = ["lines", "requests", "acknowledgements"];

/// Kinds of parts with their short names.
const SHORT: [(&str, &str); 4] = [("core", "core"), ("cha", "CHA"), ("channel", "MC"), ("iio", "IIO")];

const NOTE: &str =
    "Links are coloured by the busiest of their rings, stops by the link from the mesh to them. A way is \
                    the time of a message on an idle mesh; the delays of the configuration include the mean way of the \
                    die.";

/// Creates the maps of the dies of a server, and the table of its routes; `None` without a mesh.
#[must_use]
pub fn die_section(summary: &Row, title: &str, glossary: &Glossary) -> Option<Html> {
    summary.value("dies")?;
    let mesh = summary.rows("mesh");
    let maps = summary.rows("dies").into_iter().map(|die| wrap("figure", die_map(die, &mesh)));
    Some(section(title, Some(NOTE)).children(maps).child(mesh_markup(summary, glossary)).html())
}

/// A side of a stop: a link to a neighbour, or to or from the parts there.
struct Side<'a> {
    name: &'a str,
    column: i64,
    row: i64,
    /// Busy shares of the rings.
    busy: [f64; RINGS.len()],
    waited_ns: Option<f64>,
}

impl<'a> Side<'a> {
    fn of(row: &'a Row) -> Self {
        Self {
            name: row.text("side"),
            column: row.whole("column").unwrap_or_default(),
            row: row.whole("row").unwrap_or_default(),
            busy: RINGS.map(|ring| row.number(&format!("{ring}_busy_share")).unwrap_or_default()),
            waited_ns: row.number("waited_ns"),
        }
    }

    /// Returns the busy share of the busiest ring.
    fn busiest(&self) -> f64 {
        self.busy.into_iter().fold(0.0, f64::max)
    }

    /// Returns the step to the neighbour.
    fn step(&self) -> Option<(i64, i64)> {
        match self.name {
            "north" => Some((0, -1)),
            "east" => Some((1, 0)),
            "south" => Some((0, 1)),
            "west" => Some((-1, 0)),
            _ => None,
        }
    }

    /// Describes the side: the busy shares of its rings, and the waits there.
    fn describe(&self) -> String {
        let shares = RINGS.iter().zip(self.busy).map(|(ring, busy)| format!("{ring} {}", format_percent(busy, 1)));
        let lost = self.waited_ns.map(|ns| format!("; a message loses {ns:.2} ns")).unwrap_or_default();
        let place = format!("column {} row {} {}", self.column, self.row, self.name);
        format!("{place}: {}{lost}", shares.collect::<Vec<_>>().join(", "))
    }
}

/// Draws a die and the links between its stops, coloured by busy share.
fn die_map(die: &Row, mesh: &[&Row]) -> Element {
    let own = mesh.iter().filter(|row| row.value("socket") == die.value("socket"));
    let sides: Vec<Side> = own.map(|row| Side::of(row)).collect();
    let fullest = sides.iter().reduce(|one, other| if other.busiest() > one.busiest() { other } else { one });
    let fullest = fullest.map(|side| format!("; the fullest is {}", side.describe())).unwrap_or_default();
    let socket = die.whole("socket").unwrap_or_default();
    let label = format!("How busy the links of the mesh of socket {socket} are{fullest}");
    let [width, height] = ["columns", "rows"].map(|name| die.number(name).unwrap_or_default() * PITCH);
    element("svg")
        .child(wrap("title", label.as_str()))
        .children(sides.iter().filter_map(draw_link))
        .children(die.rows("stops").into_iter().flat_map(|stop| draw_stop(stop, &sides)))
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("role", "img")
        .attr("aria-label", label)
        .attr("style", "max-width: 760px")
}

/// Draws a stop with its parts.
fn draw_stop(stop: &Row, sides: &[Side]) -> Vec<Element> {
    let (column, row) = (stop.whole("column").unwrap_or_default(), stop.whole("row").unwrap_or_default());
    let (x, y) = centre_of(column, row);
    let is_out = |side: &&Side| side.name == "out" && side.column == column && side.row == row;
    let out = sides.iter().rev().find(is_out);
    let parts = stop.texts("parts");
    let words = parts.join(", ");
    let words = out.map_or(words.clone(), |out| format!("{words}: {}", out.describe()));
    let colour = heat(out.map_or(0.0, Side::busiest));
    let size = [("x", x - SIDE / 2.0), ("y", y - SIDE / 2.0), ("width", SIDE), ("height", SIDE), ("rx", 4.0)];
    let frame = element("rect").child(wrap("title", words)).numbers(size);
    let frame = frame.attr("style", format!("fill: {colour}; stroke: var(--line)"));
    let lines = group_parts(&parts);
    let top = y - 6.0 * (lines.len() as f64 - 1.0) + 4.0;
    let line = |(index, text): (usize, &String)| anchored_label(text, x, top + 12.0 * index as f64, "middle");
    [frame].into_iter().chain(lines.iter().enumerate().map(line)).collect()
}

/// Returns the short name of each kind of part, with the numbers of its parts; of many only the first.
fn group_parts(parts: &[&str]) -> Vec<String> {
    let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in parts {
        let kind = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number = &part[kind.len()..];
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, numbers)) => numbers.push(number),
            None => kinds.push((kind, vec![number])),
        }
    }
    let line = |(kind, numbers): &(&str, Vec<&str>)| {
        let more = if numbers.len() < 3 { "" } else { "…" };
        format!("{} {}{more}", short_name(kind), numbers[0])
    };
    kinds.iter().map(line).collect()
}

/// Returns the short name of a kind of part.
fn short_name(kind: &str) -> &str {
    SHORT.into_iter().find(|(known, _)| *known == kind).map_or(kind, |(_, short)| short)
}

/// Draws one direction between two stops.
fn draw_link(side: &Side) -> Option<Html> {
    let (across, down) = side.step()?;
    let start = centre_of(side.column, side.row);
    let end = centre_of(side.column + across, side.row + down);
    Some(link_line(start, end, side.busiest(), &side.describe(), LINKS))
}

/// Returns the centre of a stop.
fn centre_of(column: i64, row: i64) -> (f64, f64) {
    ((column as f64 + 0.5) * PITCH, (row as f64 + 0.5) * PITCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::with_values;
    use serde_json::{json, Value};

    #[test]
    fn many_parts_of_a_kind_are_shortened() {
        assert_eq!(group_parts(&["core1", "cha2", "iio0", "iio1", "iio2"]), ["core 1", "CHA 2", "IIO 0…"]);
    }

    #[test]
    fn the_map_has_every_stop_and_every_link() {
        let side = |name: &str, busy: f64| {
            let place = json!({"socket": 0, "column": 0, "row": 0, "side": name});
            Value::Object(with_values(place.as_object().expect("it is an object"), json!({"lines_busy_share": busy})))
        };
        let summary = json!({
            "dies": [{"socket": 0, "columns": 2, "rows": 1, "stops": [
                {"column": 0, "row": 0, "parts": ["core0"]}, {"column": 1, "row": 0, "parts": []},
            ]}],
            "mesh": [side("east", 0.5), side("out", 0.25), side("in", 0.0)],
        });
        let Value::Object(summary) = summary else { unreachable!("it is an object") };
        let section = die_section(&summary, "Mesh", &Glossary::default()).expect("there is a die").to_string();
        assert_eq!((section.matches("<rect").count(), section.matches("<line").count()), (2, 1));
        assert!(section.contains("the fullest is column 0 row 0 east: lines 50.0\u{a0}%"));
        assert!(section.contains("core0: column 0 row 0 out: lines 25.0\u{a0}%"));
        assert!(die_section(&Row::new(), "Mesh", &Glossary::default()).is_none());
    }
}
