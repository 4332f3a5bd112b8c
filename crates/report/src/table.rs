//! Tables of a page, whose cells can be copied with all their digits.

use crate::glossary::{define_if_known, Glossary};
use crate::html::{element, wrap, wrap_as, Element, Html};

/// A heading of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heading {
    /// Shown text.
    pub(crate) text: String,
    /// Definition of the column; headings without one have that of the glossary.
    pub(crate) about: Option<String>,
    /// Names under which the column is copied, if these are not the shown text.
    pub(crate) copied: Option<String>,
    /// True if the column is left out in print.
    pub(crate) is_minor: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// Shown content.
    pub(crate) content: Html,
    /// Text that is copied, if that is not the shown one.
    pub(crate) copied: Option<String>,
    /// True if the cell is left out in print.
    pub(crate) is_minor: bool,
}

/// Creates a table that scrolls horizontally if it is too wide. The first `texts` columns are text.
///
/// The script of the page adds a button that copies it; `label` identifies the table.
pub(crate) fn table(
    heads: Vec<Heading>,
    rows: impl IntoIterator<Item = Vec<Cell>>,
    texts: usize,
    label: &str,
    glossary: &Glossary,
) -> Element {
    let row = |name: &'static str, cells: Vec<Cell>| {
        let cells = cells.into_iter().enumerate();
        element("tr").children(cells.map(|(index, cell)| table_cell(name, cell, index >= texts)))
    };
    let heads = heads.into_iter().map(|heading| heading_cell(heading, glossary)).collect();
    let body = element("tbody").children(rows.into_iter().map(|cells| row("td", cells)));
    let content = wrap("table", wrap("thead", row("th", heads))).child(body);
    let region = wrap_as("div", "scroll", content).attr("tabindex", 0).attr("role", "region").attr("aria-label", label);
    wrap_as("div", "table", region)
}

/// Creates a table of texts that are copied as they are shown.
pub(crate) fn simple_table(
    heads: &[String],
    rows: impl IntoIterator<Item = Vec<String>>,
    texts: usize,
    label: &str,
    glossary: &Glossary,
) -> Element {
    let heads = heads.iter().map(|text| Heading { text: text.clone(), ..Heading::default() }).collect();
    let cell = |text| Cell { content: Html::join([text]), ..Cell::default() };
    let cells = |row: Vec<String>| row.into_iter().map(cell).collect();
    table(heads, rows.into_iter().map(cells), texts, label, glossary)
}

/// Creates the cell of a heading, with its definition.
fn heading_cell(heading: Heading, glossary: &Glossary) -> Cell {
    let Heading { text, about, copied, is_minor } = heading;
    let about = about.or_else(|| glossary.heading_definition(&text));
    Cell { content: define_if_known(Html::join([text]), about.as_deref()), copied, is_minor }
}

/// Creates a cell, `td` or `th`.
fn table_cell(name: &'static str, cell: Cell, is_number: bool) -> Element {
    let classes = match (is_number, cell.is_minor) {
        (true, true) => Some("number minor"),
        (true, false) => Some("number"),
        (false, true) => Some("minor"),
        (false, false) => None,
    };
    wrap(name, cell.content)
        .optional("class", classes)
        .optional("scope", (name == "th").then_some("col"))
        .optional("data-copied", cell.copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_marked_and_copied_in_full() {
        let head = |text: &str, copied: Option<&str>, about: Option<&str>| Heading {
            text: text.to_owned(),
            about: about.map(str::to_owned),
            copied: copied.map(str::to_owned),
            is_minor: copied.is_some(),
        };
        let cell = |text: &str| Cell { content: Html::join([text]), ..Cell::default() };
        let heads = vec![head("name", None, None), head("X", Some("x\ty"), Some("a <b>"))];
        let rows = [vec![cell("a"), cell("1.5")]];
        let table = table(heads, rows, 1, "some", &Glossary::default()).html().to_string();
        let defined = "<dfn tabindex=\"0\" aria-description=\"a &lt;b&gt;\">X</dfn>";
        let last = format!("<th class=\"number minor\" scope=\"col\" data-copied=\"x\ty\">{defined}</th>");
        assert!(table.contains(&format!("<th scope=\"col\">name</th>{last}")), "{table}");
        assert!(table.contains("<td>a</td><td class=\"number\">1.5</td>"));
    }
}
