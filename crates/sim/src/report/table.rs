//! Result tables: named and typed columns, and rows of cells.

use serde_json::{Map, Number, Value};

/// Type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers, possibly empty.
    Number,
}

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// No value.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Integer(number as i64)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        // JSON has no NaN, and a ratio without a base is no value.
        if number.is_finite() {
            Self::Number(number)
        } else {
            Self::Empty
        }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, T::into)
    }
}

impl From<&Cell> for Value {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::Text(text) => Value::String(text.clone()),
            Cell::Integer(number) => Value::Number((*number).into()),
            Cell::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Cell::Empty => Value::Null,
        }
    }
}

/// Ties the columns of a table to the type of the records that its rows are read from.
pub(crate) trait TableRows {
    /// Record that a row is read from.
    type Row<'a>;
}

/// Column of a table: its name, its type, and a function that reads its cell from a record.
pub(crate) struct Column<T: TableRows> {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
    read: ReadCell<T>,
    /// True if JSON leaves out empty cells of this column and of all later ones.
    optional: bool,
    role: ColumnRole,
}

/// Role of a column in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnRole {
    /// The column names the row, together with the other key columns.
    Key,
    /// The column repeats the configuration.
    Given,
    /// The column is a result.
    Result,
}

/// Function that reads a cell from a record.
type ReadCell<T> = for<'a, 'b> fn(&'b <T as TableRows>::Row<'a>) -> Cell;

impl<T: TableRows> Column<T> {
    pub(crate) const fn text(name: &'static str, read: ReadCell<T>) -> Self {
        Self { name, kind: ColumnKind::Text, read, optional: false, role: ColumnRole::Result }
    }

    pub(crate) const fn integer(name: &'static str, read: ReadCell<T>) -> Self {
        Self { name, kind: ColumnKind::Integer, read, optional: false, role: ColumnRole::Result }
    }

    pub(crate) const fn number(name: &'static str, read: ReadCell<T>) -> Self {
        Self { name, kind: ColumnKind::Number, read, optional: false, role: ColumnRole::Result }
    }

    /// Lets JSON leave out empty cells of this column and of all later ones.
    pub(crate) const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// Makes this a key column, which names a row together with the other key columns.
    pub(crate) const fn key(self) -> Self {
        Self { role: ColumnRole::Key, ..self }
    }

    /// Marks this column as a copy of the configuration, which a run does not change.
    pub(crate) const fn given(self) -> Self {
        Self { role: ColumnRole::Given, ..self }
    }
}

/// Returns names and types of columns.
pub(crate) fn headings<T: TableRows>(columns: &[Column<T>]) -> impl Iterator<Item = (&'static str, ColumnKind)> + '_ {
    columns.iter().map(|column| (column.name, column.kind))
}

/// Reads the cells of a row from a record.
pub(crate) fn read_cells<T: TableRows>(columns: &[Column<T>], row: &T::Row<'_>) -> Vec<Cell> {
    columns.iter().map(|column| (column.read)(row)).collect()
}

/// Content of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableContent {
    /// Measurements.
    Measurements,
    /// Sums and products of measurements and of constants, such as the energy of an event.
    Derived,
    /// Explanations of measurements.
    Explanations,
    /// Details that comparisons leave out: measurements over time, steps of ranks, and histograms.
    Series,
}

impl TableContent {
    /// Returns true if comparisons of runs use the table.
    #[must_use]
    pub fn results(self) -> bool {
        matches!(self, Self::Measurements | Self::Derived)
    }
}

/// Content of a table, and the roles of its columns.
///
/// Tables of several servers have a key column `host` before these. Rows with equal keys are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Name of the table.
    pub name: &'static str,
    /// Content of the table.
    pub holds: TableContent,
    /// Columns that name a row.
    pub keys: Vec<&'static str>,
    /// Columns that repeat the configuration.
    pub given: Vec<&'static str>,
}

impl TableInfo {
    pub(crate) fn of<T: TableRows>(name: &'static str, columns: &[Column<T>]) -> Self {
        Self::new(name, roles(columns))
    }

    pub(crate) fn new(name: &'static str, roles: impl Iterator<Item = (&'static str, ColumnRole)> + Clone) -> Self {
        let with = |role| roles.clone().filter(move |&(_, own)| own == role).map(|(name, _)| name).collect();
        Self { name, holds: TableContent::Measurements, keys: with(ColumnRole::Key), given: with(ColumnRole::Given) }
    }

    pub(crate) fn with_content(self, holds: TableContent) -> Self {
        Self { holds, ..self }
    }
}

/// Returns names and roles of columns.
pub(crate) fn roles<T: TableRows>(
    columns: &[Column<T>],
) -> impl Iterator<Item = (&'static str, ColumnRole)> + Clone + '_ {
    columns.iter().map(|column| (column.name, column.role))
}

/// A table of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Names and types of the columns.
    pub columns: Vec<(&'static str, ColumnKind)>,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Index of the first column that [`Table::row_json`] leaves out where it is empty, as all later ones.
    pub optional_from: usize,
}

impl Table {
    /// Creates an empty table.
    #[must_use]
    pub fn new(name: &'static str, columns: impl IntoIterator<Item = (&'static str, ColumnKind)>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        Self { name, optional_from: columns.len(), columns, rows: Vec::new() }
    }

    /// Creates an empty table with these columns.
    pub(crate) fn of<T: TableRows>(name: &'static str, columns: &[Column<T>]) -> Self {
        let optional = columns.iter().position(|column| column.optional).unwrap_or(columns.len());
        Self { optional_from: optional, ..Self::new(name, headings(columns)) }
    }

    /// Adds a row whose cells `columns` read from `row`. These must be all columns of the table.
    pub(crate) fn add<T: TableRows>(&mut self, columns: &[Column<T>], row: &T::Row<'_>) {
        self.push(read_cells(columns, row));
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Panics if `row` does not have one cell per column.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row of table {} has a cell per column", self.name);
        self.rows.push(row);
    }

    /// Returns a row as a JSON object.
    #[must_use]
    pub fn row_json(&self, row: &[Cell]) -> Value {
        let read_cells = self.columns.iter().zip(row).enumerate();
        let told = read_cells.filter(|(index, (_, cell))| *index < self.optional_from || **cell != Cell::Empty);
        Value::Object(told.map(|(_, ((name, _), cell))| ((*name).to_owned(), cell.into())).collect::<Map<_, _>>())
    }

    /// Returns the number in a column of a row, or `None` if the cell is not a number.
    #[must_use]
    pub fn number(&self, row: &[Cell], column: &str) -> Option<f64> {
        let index = self.columns.iter().position(|(name, _)| *name == column)?;
        match row.get(index)? {
            Cell::Number(number) => Some(*number),
            Cell::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// Returns the text in a column of a row, or `None` if the cell is not text.
    #[must_use]
    pub fn text<'a>(&self, row: &'a [Cell], column: &str) -> Option<&'a str> {
        let index = self.columns.iter().position(|(name, _)| *name == column)?;
        match row.get(index)? {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }
}
