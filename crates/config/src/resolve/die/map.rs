//! Maps of dies: the stop of each part.

use crate::code::Code;
use crate::error::Fault;
use crate::error::{suggestion, Issue};
use crate::units::shorten;
use hostnet_params::{PlaceSpec, Stop};
use std::collections::BTreeMap;

/// Maximum number of columns and of rows of a die.
const SIZE_MAX: u8 = 32;
/// Kinds of parts on a map.
const KINDS: [&str; 4] = ["core", "cha", "imc", "iio"];
const HEADER: &str = "part,column,row";

/// Coordinates of every part of a die: each kind by number.
#[derive(Debug)]
pub(super) struct Map {
    /// Name of the map in messages.
    pub(super) name: String,
    pub(super) cores: Vec<Stop>,
    pub(super) slices: Vec<Stop>,
    pub(super) controllers: Vec<Stop>,
    pub(super) io: Vec<Stop>,
}

/// Stops of the parts of each kind, by number.
type Parts = [BTreeMap<usize, Stop>; KINDS.len()];

impl Map {
    /// Creates a map from a specification.
    pub(super) fn of(given: &BTreeMap<String, PlaceSpec>) -> Result<Self, Issue> {
        let mut parts = Parts::default();
        for (part, &PlaceSpec([column, row])) in given {
            let path = format!("noc.map.{part}");
            let at = |Fault { code, message }: Fault| Issue::between(code, &[&path, "noc.map"], message);
            let (kind, number) = kind_of(part).map_err(at)?;
            if column.max(row) >= SIZE_MAX {
                let message = format!("[{column}, {row}] is beyond {SIZE_MAX} columns and rows");
                return Err(at(Fault::new(Code::OutOfRange, message)));
            }
            parts[kind].insert(number, Stop { column, row });
        }
        Self::complete("noc.map", &parts).map_err(|message| Issue::new(Code::MissingKey, "noc.map", message))
    }

    /// Parses a map from the lines of the CSV file `file`: part, column, row, and ignored further cells.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self, Issue> {
        // Spreadsheets may write a byte order mark, which is no part of the header.
        let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
        let mut lines = lines.map(|(line, number)| (line.trim(), number));
        let mut rows = lines.by_ref().filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let wrong = |line: usize, message: String| Issue::in_file(Code::MalformedFile, file, Some(line), "", message);
        match rows.next() {
            Some((header, _)) if cells(header).take(3).eq(HEADER.split(',')) => {}
            Some((header, line)) => {
                let message = format!("{} is not the header of a map, which begins with {HEADER}", shorten(header));
                return Err(wrong(line, message));
            }
            None => {
                return Err(Issue::in_file(
                    Code::MalformedFile,
                    file,
                    None,
                    "",
                    format!("is empty; a map begins with {HEADER}"),
                ))
            }
        }
        let mut parts = Parts::default();
        for (row, line) in rows {
            let (kind, number, stop) = row_of(row).map_err(|fault| wrong(line, fault.message))?;
            if parts[kind].insert(number, stop).is_some() {
                return Err(wrong(line, format!("{}{number} is there twice", KINDS[kind])));
            }
        }
        Self::complete(file, &parts).map_err(|message| Issue::in_file(Code::MalformedFile, file, None, "", message))
    }

    fn complete(name: &str, parts: &Parts) -> Result<Self, Fault> {
        let whole = |kind: usize| -> Result<Vec<Stop>, Fault> {
            let of_kind = &parts[kind];
            if of_kind.is_empty() {
                return Err(Fault::new(
                    Code::MissingKey,
                    format!("has no part {}0; a map has at least one {}", KINDS[kind], KINDS[kind]),
                ));
            }
            if let Some(gap) = (0..of_kind.len()).find(|number| !of_kind.contains_key(number)) {
                let last = of_kind.keys().next_back().map_or(0, |&last| last);
                let kind = KINDS[kind];
                return Err(Fault::new(
                    Code::MissingKey,
                    format!("has no part {kind}{gap}, but {kind}{last}: numbers begin with 0"),
                ));
            }
            Ok(of_kind.values().copied().collect())
        };
        Ok(Self { name: name.to_owned(), cores: whole(0)?, slices: whole(1)?, controllers: whole(2)?, io: whole(3)? })
    }

    /// Returns the number of columns and rows.
    pub(super) fn size(&self) -> Stop {
        let all = [&self.cores, &self.slices, &self.controllers, &self.io];
        let most = |pick: fn(&Stop) -> u8| all.into_iter().flatten().map(pick).max().unwrap_or(0) + 1;
        Stop { column: most(|stop| stop.column), row: most(|stop| stop.row) }
    }

    /// Returns the parts and their stops.
    pub(super) fn places(&self) -> BTreeMap<String, PlaceSpec> {
        let all = KINDS.into_iter().zip([&self.cores, &self.slices, &self.controllers, &self.io]);
        let numbered = all.flat_map(|(kind, stops)| stops.iter().enumerate().map(move |at| (kind, at)));
        numbered.map(|(kind, (number, stop))| (format!("{kind}{number}"), PlaceSpec([stop.column, stop.row]))).collect()
    }

    /// Returns the stop for devices with a name.
    pub(super) fn stop(&self, name: &str, path: &str) -> Result<Stop, Issue> {
        number_of_stop(name).and_then(|number| self.io.get(number).copied()).ok_or_else(|| {
            let known: Vec<String> = (0..self.io.len()).map(|number| format!("iio{number}")).collect();
            let near = suggestion(name, known.iter().map(String::as_str));
            Issue::new(
                Code::DoesNotExist,
                path,
                format!("{} is no stop of {} for devices; {near}", shorten(name), self.name),
            )
        })
    }
}

/// Returns the number of a stop for devices with a name, or `None` if the name is of no such stop.
pub(super) fn number_of_stop(name: &str) -> Option<usize> {
    kind_of(name).ok().filter(|&(kind, _)| KINDS[kind] == "iio").map(|(_, number)| number)
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

/// Parses a row: kind, number and stop of a part.
fn row_of(row: &str) -> Result<(usize, usize, Stop), Fault> {
    let mut cells = cells(row);
    let (kind, number) = kind_of(cells.next().unwrap_or_default())?;
    let mut place = |what: &str| {
        let text = cells.next().filter(|text| !text.is_empty());
        let text =
            text.ok_or_else(|| Fault::new(Code::MalformedValue, format!("lacks the {what}; a row is {HEADER}")))?;
        let number = text.parse().ok().filter(|&number: &u8| number < SIZE_MAX);
        number.ok_or_else(|| {
            Fault::new(Code::OutOfRange, format!("{what} {} is not 0 to {}", shorten(text), SIZE_MAX - 1))
        })
    };
    Ok((kind, number, Stop { column: place("column")?, row: place("row")? }))
}

/// Parses the name of a part: its kind and number.
fn kind_of(part: &str) -> Result<(usize, usize), Fault> {
    let (kind, number) = part.split_at(part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len()));
    let Some(at) = KINDS.iter().position(|known| *known == kind) else {
        return Err(Fault::new(
            Code::UnknownName,
            format!("{} is no part of a map; {}", shorten(part), suggestion(kind, KINDS)),
        ));
    };
    // `parse` would also take a sign.
    let plain = !number.is_empty() && number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    match number.parse() {
        Ok(number) if plain => Ok((at, number)),
        _ => Err(Fault::new(Code::MalformedValue, format!("{} has no number, as {kind}0 has", shorten(part)))),
    }
}
