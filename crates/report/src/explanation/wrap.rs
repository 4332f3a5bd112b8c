//! Wraps the lines of a page of plain text.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Width of the page in columns, on a terminal and in a file.
pub const WIDTH: usize = 80;

/// Keeps a number on a line with its percent sign.
const NO_BREAK: char = '\u{a0}';

/// Wraps a text to the page, with its first line indented by `indent` columns and all others by `hang`.
///
/// Long words are broken, letters that cannot be printed are question marks, and numbers stay with their percent signs.
#[must_use]
pub fn wrap_text(text: &str, indent: usize, hang: usize) -> Vec<String> {
    let printable: String = text.chars().map(|letter| if is_printable(letter) { letter } else { '?' }).collect();
    let (first, others) = (" ".repeat(indent), " ".repeat(hang));
    let options = Options::new(WIDTH)
        .initial_indent(&first)
        .subsequent_indent(&others)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::Custom(hyphens))
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let kept = keep_percent_signs(&printable);
    let lines = textwrap::wrap(&kept, options);
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

fn is_printable(letter: char) -> bool {
    letter == ' ' || !(letter.is_control() || letter.is_whitespace())
}

/// Replaces the space between a number and its percent sign by a no-break space.
fn keep_percent_signs(text: &str) -> String {
    let mut kept = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_inside =
            letter == ' ' && letters.peek() == Some(&'%') && kept.ends_with(|before: char| before.is_ascii_digit());
        kept.push(if is_inside { NO_BREAK } else { letter });
    }
    kept
}

/// Returns the places behind hyphens where a word may be split: between two letters and a word of letters.
fn hyphens(word: &str) -> Vec<usize> {
    let is_letter = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphabetic() || *letter == '_');
    let letters: Vec<char> = word.chars().collect();
    let before = |index: usize, distance: usize| index.checked_sub(distance).and_then(|index| letters.get(index));
    let is_split = |index: usize| {
        let follows_word = is_letter(before(index, 1))
            && (is_letter(before(index, 2)) || (before(index, 2) == Some(&'-') && is_letter(before(index, 3))));
        let next = if letters.get(index + 2) == Some(&'-') { index + 3 } else { index + 2 };
        letters[index] == '-' && follows_word && is_letter(letters.get(index + 1)) && is_letter(letters.get(next))
    };
    let places = word.char_indices().enumerate();
    places.filter(|(index, _)| is_split(*index)).map(|(_, (place, _))| place + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_stay_with_their_percent_signs() {
        let line = format!("{} 95 %", "a".repeat(76));
        assert_eq!(wrap_text(&line, 0, 0), [&line[..76], "95 %"]);
    }

    #[test]
    fn words_are_split_behind_hyphens_between_letters() {
        let split = |word: &'static str| hyphens(word).into_iter().map(|place| &word[..place]).collect::<Vec<_>>();
        assert_eq!(split("head-of-line"), ["head-", "head-of-"]);
        assert_eq!(split("a-b-cd"), ["a-b-"]);
        for word in ["C2M-Read", "write-2", "-- x", "x-", "a-bc", "ab--cd"] {
            assert!(split(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn lines_are_indented_and_hang() {
        let lines = wrap_text(&"word ".repeat(30), 2, 4);
        assert!(lines[0].starts_with("  word") && lines[1].starts_with("    word"));
        assert_eq!(wrap_text("a\tb\u{7}", 0, 0), ["a?b?"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn wrapped_lines_fit_and_keep_every_word(words in prop::collection::vec("[a-z]{1,20}", 0..60)) {
            let text = words.join(" ");
            let lines = wrap_text(&text, 0, 4);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
            let joined: Vec<String> = lines.iter().map(|line| line.trim().to_owned()).collect();
            prop_assert_eq!(joined.join(" "), text);
        }
    }
}
