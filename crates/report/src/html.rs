//! HTML and SVG with enforced escaping: text becomes markup only through [`element`].

use std::fmt::{Display, Write as _};

/// Markup that needs no escaping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Returns the markup.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns text that is markup already.
    #[must_use]
    pub fn raw(markup: &str) -> Self {
        Self(markup.to_owned())
    }

    /// Joins pieces of text and markup.
    pub(crate) fn join<T: Content>(pieces: impl IntoIterator<Item = T>) -> Self {
        let mut joined = Self::default();
        pieces.into_iter().for_each(|piece| piece.write_to(&mut joined));
        joined
    }
}

impl Display for Html {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<Html> for String {
    fn from(html: Html) -> Self {
        html.0
    }
}

/// Text or markup within an element. Text is escaped.
pub(crate) trait Content {
    /// Appends the content.
    fn write_to(self, html: &mut Html);
}

impl Content for &str {
    fn write_to(self, html: &mut Html) {
        escape_into(self, &mut html.0);
    }
}

impl Content for String {
    fn write_to(self, html: &mut Html) {
        self.as_str().write_to(html);
    }
}

impl Content for Html {
    fn write_to(self, html: &mut Html) {
        html.0.push_str(&self.0);
    }
}

impl Content for &Html {
    fn write_to(self, html: &mut Html) {
        html.0.push_str(&self.0);
    }
}

impl Content for Element {
    fn write_to(self, html: &mut Html) {
        let Self { name, attributes, children: Html(children) } = self;
        let written = if children.is_empty() && VOID.contains(&name) {
            write!(html.0, "<{name}{attributes}/>")
        } else {
            write!(html.0, "<{name}{attributes}>{children}</{name}>")
        };
        written.expect("text grows");
    }
}

impl<T: Content> Content for Option<T> {
    fn write_to(self, html: &mut Html) {
        if let Some(content) = self {
            content.write_to(html);
        }
    }
}

impl<T: Content> Content for Vec<T> {
    fn write_to(self, html: &mut Html) {
        self.into_iter().for_each(|content| content.write_to(html));
    }
}

/// Elements that are written without content.
const VOID: [&str; 7] = ["br", "line", "rect", "circle", "path", "polyline", "polygon"];

/// Appends text in which special characters are escaped, and numbers are kept on a line with their percent signs.
fn escape_into(text: &str, html: &mut String) {
    let mut letters = text.chars().peekable();
    let mut after_digit = false;
    while let Some(letter) = letters.next() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#x27;"),
            ' ' if after_digit && letters.peek() == Some(&'%') => html.push('\u{a0}'),
            other => html.push(other),
        }
        after_digit = letter.is_ascii_digit();
    }
}

/// An element that is being written. Attributes stand in the order in which they are given.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: String,
    children: Html,
}

/// Starts an element.
#[must_use]
pub(crate) fn element(name: &'static str) -> Element {
    Element { name, attributes: String::new(), children: Html::default() }
}

impl Element {
    /// Adds an attribute.
    #[must_use]
    pub(crate) fn attr(mut self, name: &str, value: impl Display) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(name);
        self.attributes.push_str("=\"");
        escape_into(&value.to_string(), &mut self.attributes);
        self.attributes.push('"');
        self
    }

    /// Adds an attribute that is a number. A zero has no sign.
    #[must_use]
    pub(crate) fn number(self, name: &str, value: impl Into<f64>) -> Self {
        self.attr(name, value.into() + 0.0)
    }

    /// Adds numbers, each under its name.
    #[must_use]
    pub(crate) fn numbers<const N: usize>(self, values: [(&str, f64); N]) -> Self {
        values.into_iter().fold(self, |element, (name, value)| element.number(name, value))
    }

    /// Adds the attribute `class`.
    #[must_use]
    pub(crate) fn class(self, names: impl Display) -> Self {
        self.attr("class", names)
    }

    /// Adds an attribute if there is a value.
    #[must_use]
    pub(crate) fn optional(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Adds a child.
    #[must_use]
    pub(crate) fn child(mut self, content: impl Content) -> Self {
        content.write_to(&mut self.children);
        self
    }

    /// Adds children.
    #[must_use]
    pub(crate) fn children<T: Content>(self, contents: impl IntoIterator<Item = T>) -> Self {
        contents.into_iter().fold(self, Self::child)
    }

    /// Finishes the element.
    #[must_use]
    pub(crate) fn html(self) -> Html {
        let mut html = Html::default();
        self.write_to(&mut html);
        html
    }
}

/// Creates an element with one child.
pub(crate) fn wrap(name: &'static str, content: impl Content) -> Element {
    element(name).child(content)
}

/// Creates an element of a class with one child.
pub(crate) fn wrap_as(name: &'static str, class: &str, content: impl Content) -> Element {
    element(name).child(content).class(class)
}

/// Creates content that is folded until opened.
pub(crate) fn details(summary: &str, content: impl Content) -> Element {
    element("details").child(wrap("summary", summary)).child(content)
}

/// Starts a section with its heading and an optional explanation.
pub(crate) fn section(title: &str, note: Option<&str>) -> Element {
    element("section").child(wrap("h2", title)).child(note.map(|note| wrap_as("p", "note", note)))
}

/// Creates a list of names and values side by side, without names that have no value.
pub(crate) fn fact_list(facts: impl IntoIterator<Item = (String, Option<Html>)>) -> Element {
    let entry = |(name, value): (String, Option<Html>)| {
        value.map(|value| element("div").child(wrap("dt", name)).child(wrap("dd", value)))
    };
    element("dl").children(facts.into_iter().map(entry)).class("facts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_markup_is_not() {
        let paragraph = element("p").child("<b>").child(element("br")).attr("title", "\"&'");
        assert_eq!(paragraph.html().as_str(), "<p title=\"&quot;&amp;&#x27;\">&lt;b&gt;<br/></p>");
        assert_eq!(Html::join(["<", "a"]).as_str(), "&lt;a");
    }

    #[test]
    fn whole_numbers_have_no_point_and_zero_has_no_sign() {
        let line = element("line").numbers([("x1", -0.0), ("x2", 60.0), ("y1", 1.25)]);
        assert_eq!(line.html().as_str(), "<line x1=\"0\" x2=\"60\" y1=\"1.25\"/>");
    }

    #[test]
    fn numbers_stay_with_their_percent_signs() {
        assert_eq!(Html::join(["busy 95 % of <all> a %"]).as_str(), "busy 95\u{a0}% of &lt;all&gt; a %");
    }

    #[test]
    fn elements_without_content_are_closed() {
        assert_eq!(element("g").html().as_str(), "<g></g>");
        assert_eq!(element("rect").child(wrap("title", "a")).html().as_str(), "<rect><title>a</title></rect>");
        assert_eq!(fact_list([("a".to_owned(), None)]).html().as_str(), "<dl class=\"facts\"></dl>");
    }
}
