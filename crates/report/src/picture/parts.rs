//! Single parts in the picture of a host: cores, drives, queues of channels, banks. Many are grouped.

use super::counts::bank_counts;
use crate::host::pools::PoolPart;
use crate::host::{CreditPool, HostView};
use crate::html::{element, wrap, Element};
use crate::numbers::{format_number, format_share};
use crate::row::{Fields, Row};
use crate::svg::{label, round_to};

/// Cells of cores in a row.
const COLUMNS: usize = 8;

/// Maximum number of cells of cores; more cores are grouped with their neighbours.
const CELLS_MAX: usize = 64;

/// Height of the cells of a few cores.
const TALLEST: f64 = 90.0;

/// Maximum number of cells of a strip.
const STRIP_MAX: usize = 64;

/// Width of the cells of a few channels.
const WIDEST: f64 = 40.0;

/// Maximum number of tiles of channels; more channels are drawn as one tile.
const TILES_MAX: usize = 8;

/// Maximum number of cells of drives.
const DRIVES_MAX: usize = 16;

/// Maximum number of banks in a tile.
const BANKS_MAX: usize = 64;

/// Rows of banks in a tile.
const BANK_ROWS: usize = 4;

/// Neighbouring parts that share a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Group {
    /// Number of the first part.
    first: usize,
    /// Number of the last part.
    last: usize,
    /// Mean of the known shares.
    share: Option<f64>,
}

impl Group {
    /// Names the parts; `at` is the number of the first part of all groups.
    fn name(&self, noun: &str, at: usize) -> String {
        let (first, last) = (at + self.first, at + self.last);
        if first == last {
            format!("{noun} {first}")
        } else {
            format!("{noun}s {first} to {last}")
        }
    }
}

/// Groups parts with their neighbours into at most `most` groups.
pub(super) fn group_parts(shares: &[Option<f64>], most: usize) -> Vec<Group> {
    let size = shares.len().div_ceil(most).max(1);
    let group = |(index, shares): (usize, &[Option<f64>])| {
        let known: Vec<f64> = shares.iter().copied().flatten().collect();
        let share = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        Group { first: index * size, last: index * size + shares.len() - 1, share }
    };
    shares.chunks(size).enumerate().map(group).collect()
}

/// Returns the shares in use of `count` parts from number `at` on; `None` for parts without a row.
fn shares_by_number(parts: &[PoolPart], count: usize, at: usize) -> Vec<Option<f64>> {
    let mut shares = vec![None; count];
    for part in parts {
        if let Some(share) = part.number.checked_sub(at).and_then(|index| shares.get_mut(index)) {
            *share = part.usage.share();
        }
    }
    shares
}

/// Position and size of a cell.
#[derive(Clone, Copy)]
struct Cell {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Draws a box that is filled from below; without a share it is idle.
fn draw_cell(cell: Cell, share: Option<f64>, name: &str, kind: char) -> Vec<Element> {
    let Cell { x, y, width, height } = cell;
    let state = share.map_or_else(|| "idle".to_owned(), format_share);
    let part = |y: f64, height: f64| {
        element("rect").child(wrap("title", format!("{name}: {state}"))).numbers([
            ("x", round_to(x, 2)),
            ("width", round_to(width, 2)),
            ("y", round_to(y, 2)),
            ("height", height),
        ])
    };
    let frame = part(y, round_to(height, 2)).class(if share.is_some() { "cell" } else { "cell idle" });
    let filled = share.filter(|&share| share != 0.0).map(|share| {
        let filled = round_to(height * share, 2);
        part(y + height - filled, filled).class(format!("fill-{kind}"))
    });
    [frame].into_iter().chain(filled).collect()
}

/// Draws a cell per core from number `at` on, in rows of eight, filled by the share of its LFB in use.
pub(super) fn draw_cores(
    busy: &[PoolPart],
    count: usize,
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
    at: usize,
) -> Vec<Element> {
    let highest = busy.iter().map(|part| (part.number + 1).saturating_sub(at)).max().unwrap_or(0);
    let groups = group_parts(&shares_by_number(busy, count.max(highest).max(1), at), CELLS_MAX);
    let pitch = (right - left + 3.0) / COLUMNS as f64;
    let rows = groups.len().div_ceil(COLUMNS);
    let height = TALLEST.min((bottom - top + 3.0) / rows as f64 - 3.0);
    let draw = |(index, group): (usize, &Group)| {
        let (row, column) = ((index / COLUMNS) as f64, (index % COLUMNS) as f64);
        let cell = Cell { x: left + column * pitch, y: top + row * (height + 3.0), width: pitch - 3.0, height };
        draw_cell(cell, group.share, &format!("{}, LFB in use", group.name("core", at)), 'a')
    };
    groups.iter().enumerate().flat_map(draw).collect()
}

/// Draws a cell per drive from number `at` on, filled by the share in use of its link's most used credits.
pub(super) fn draw_drives(
    links: &[&CreditPool],
    count: usize,
    (left, right): (f64, f64),
    top: f64,
    at: usize,
) -> Vec<Element> {
    let mut shares = vec![None; count];
    for pool in links {
        for (share, other) in shares.iter_mut().zip(shares_by_number(&pool.parts, count, at)) {
            *share = [*share, other].into_iter().flatten().reduce(f64::max);
        }
    }
    let groups = group_parts(&shares, DRIVES_MAX);
    let pitch = ((right - left + 3.0) / groups.len() as f64).min(24.0);
    let draw = |(index, group): (usize, &Group)| {
        let cell = Cell { x: left + index as f64 * pitch, y: top, width: pitch - 3.0, height: 18.0 };
        draw_cell(cell, group.share, &format!("{}, PCIe credits in use", group.name("drive", at)), 'n')
    };
    groups.iter().enumerate().flat_map(draw).collect()
}

/// Draws a cell per channel below the bar of a queue.
pub(super) fn draw_strip(pool: &CreditPool, (left, right): (f64, f64), top: f64, at: usize) -> Vec<Element> {
    let shares: Vec<Option<f64>> = pool.parts.iter().map(|part| part.usage.share()).collect();
    let groups = group_parts(&shares, STRIP_MAX);
    let pitch = ((right - left + 2.0) / groups.len() as f64).min(WIDEST);
    let draw = |(index, group): (usize, &Group)| {
        let cell = Cell { x: left + index as f64 * pitch, y: top, width: pitch - 2.0, height: 12.0 };
        draw_cell(cell, group.share, &format!("{} of {}", pool.name, group.name("channel", at)), 'n')
    };
    groups.iter().enumerate().flat_map(draw).collect()
}

/// Draws a tile with its banks per channel, or a single one for many channels.
pub(super) fn draw_channels(host: &HostView, (left, right): (f64, f64), top: f64) -> Vec<Element> {
    let banks = bank_counts(host).into_iter().flatten().product();
    let count = host.channels.len();
    let is_many = count > TILES_MAX;
    let shown = if is_many { 1 } else { count };
    let pitch = ((right - left + 4.0) / shown as f64).min(96.0);
    let tiles = host.channels[..shown].iter().enumerate();
    let mut drawn: Vec<Element> = tiles
        .flat_map(|(index, row)| {
            draw_tile((left + index as f64 * pitch, top), pitch - 4.0, banks, &describe_channel(row))
        })
        .collect();
    if is_many {
        let x = left + pitch + 4.0;
        drawn.push(label(&format!("x {count}"), x, top + 15.0).class("count"));
        drawn.push(label(&describe_activations(host.channels_all.as_ref()), x, top + 31.0));
    }
    drawn
}

/// Describes the traffic of a channel.
fn describe_channel(row: &Row) -> String {
    let [read, written] = ["read_gb_per_s", "write_gb_per_s"].map(|name| format_number(row.value(name)));
    let number = row.whole("channel").unwrap_or_default();
    format!("channel {number}: {read} GB/s read, {written} GB/s written, {}", describe_activations(Some(row)))
}

/// Describes the activations per read.
fn describe_activations(row: Option<&Row>) -> String {
    format!("{} ACTs per read", format_number(row.and_then(|row| row.value("row_miss_ratio"))))
}

/// Draws a channel as up to 64 banks in four rows.
fn draw_tile((x, y): (f64, f64), width: f64, banks: usize, name: &str) -> [Element; 2] {
    let columns = banks.min(BANKS_MAX).div_ceil(BANK_ROWS);
    let pitch = ((width - 4.0) / columns as f64).min(8.0);
    let size = [("x", round_to(x, 2)), ("y", y), ("width", round_to(width, 2)), ("height", 38.0), ("rx", 3.0)];
    let frame = element("rect").child(wrap("title", name)).numbers(size).class("cell");
    let (start, side) = (x + (width - pitch * columns as f64) / 2.0, pitch - 1.0);
    let square = |(row, column): (usize, usize)| {
        let (x, y) = (start + column as f64 * pitch, y + 3.5 + row as f64 * 8.0);
        format!("M{x:.1} {y:.1}h{side:.1}v6h-{side:.1}z")
    };
    let places = (0..BANK_ROWS).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let squares: Vec<String> = places.filter(|(row, column)| row * columns + column < banks).map(square).collect();
    [frame, element("path").attr("d", squares.join(" ")).class("bank")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Usage;
    use proptest::prelude::*;

    fn part(number: usize, in_use: f64) -> PoolPart {
        PoolPart { number, usage: Usage { in_use: Some(in_use), capacity: Some(64.0) } }
    }

    fn pool(parts: Vec<PoolPart>) -> CreditPool {
        CreditPool { name: "RPQ".to_owned(), whole: Usage::default(), parts }
    }

    fn texts(elements: Vec<Element>) -> Vec<String> {
        elements.into_iter().map(|element| element.html().to_string()).collect()
    }

    fn attribute(text: &str, name: &str) -> f64 {
        let value = text.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        value.and_then(|value| value.parse().ok()).expect("the attribute is a number")
    }

    #[test]
    fn a_group_is_filled_as_its_busy_parts_are() {
        let group = |first, last, share| Group { first, last, share };
        assert_eq!(group_parts(&[None, Some(0.25), Some(0.75), None], 1), [group(0, 3, Some(0.5))]);
        let single = [group(0, 0, None), group(1, 1, None), group(2, 2, Some(1.0))];
        assert_eq!(group_parts(&[None, None, Some(1.0)], 3), single);
    }

    #[test]
    fn cells_of_cores_stay_in_their_place() {
        for count in [1, 7, 8, 64, 65, 1024] {
            let busy: Vec<PoolPart> = (0..count).map(|number| part(number, 64.0)).collect();
            for cell in texts(draw_cores(&busy, count, (36.0, 152.0), (82.0, 242.0), 0)) {
                let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| attribute(&cell, name));
                assert!(x >= 36.0 && x + width <= 152.1 && y >= 82.0 && y + height <= 242.1, "{cell}");
            }
        }
    }

    #[test]
    fn a_drive_is_filled_as_the_credits_it_uses_most() {
        let (posted, other) = (pool(vec![part(1, 16.0)]), pool(vec![part(1, 48.0)]));
        let cells = texts(draw_drives(&[&posted, &other], 2, (0.0, 100.0), 0.0, 0)).concat();
        assert!(cells.contains("drive 0, PCIe credits in use: idle"));
        assert!(cells.contains("drive 1, PCIe credits in use: 75.0\u{a0}%"));
    }

    #[test]
    fn a_strip_has_a_cell_per_channel() {
        let strip = texts(draw_strip(&pool((0..3).map(|number| part(number, 6.4)).collect()), (0.0, 100.0), 0.0, 2));
        assert_eq!(strip.iter().filter(|cell| cell.contains("class=\"cell\"")).count(), 3);
        assert!(strip[0].contains("RPQ of channel 2: 10.0"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn groups_hold_every_part_once(count in 1..2000_usize, most in 1..100_usize) {
            let groups = group_parts(&vec![Some(0.5); count], most);
            prop_assert!(groups.len() <= most);
            let numbers: Vec<usize> = groups.iter().flat_map(|group| group.first..=group.last).collect();
            prop_assert_eq!(numbers, (0..count).collect::<Vec<_>>());
            prop_assert!(groups.iter().all(|group| group.share == Some(0.5)));
        }
    }
}
