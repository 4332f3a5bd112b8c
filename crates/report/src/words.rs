//! Words for counts and lists.

use crate::numbers::format_whole;
use std::borrow::Borrow;

/// Describes a number of things, for example "1 core" or "1,024 cores".
#[must_use]
pub(crate) fn count_things(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", format_whole(count as f64), if count == 1 { "" } else { "s" })
}

/// Lists items with commas and "and".
#[must_use]
pub(crate) fn list_items<T: Borrow<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [first @ .., last] => format!("{} and {}", first.join(", "), last.borrow()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list_items::<&str>(&[]), "");
        assert_eq!(list_items(&["a"]), "a");
        assert_eq!(list_items(&["a", "b"]), "a and b");
        assert_eq!(list_items(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn several_things_are_plural() {
        assert_eq!([0, 1, 1024].map(|count| count_things(count, "core")), ["0 cores", "1 core", "1,024 cores"]);
    }
}
