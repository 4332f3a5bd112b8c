//! Names of places between sockets in sentences and tables.

/// Prefixes of the parts of a server that are places: sockets, and pairs of a requesting and a responding socket.
const PLACE_PREFIXES: [&str; 2] = ["socket ", "upi "];

/// Pools of messages from the responding to the requesting socket.
const RESPONSE_POOLS: [&str; 2] = ["UPI data", "UPI answer"];

/// Returns true if a part of a server is a place.
#[must_use]
pub(crate) fn is_place(part: &str) -> bool {
    PLACE_PREFIXES.iter().any(|prefix| part.starts_with(prefix))
}

/// Returns the requesting and the responding socket of a place between sockets: 0 and 1 for `upi 0-1`.
#[must_use]
pub(crate) fn requesting_pair(part: &str) -> Option<(&str, &str)> {
    let (one, other) = part.strip_prefix("upi ")?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(one) && is_number(other)).then_some((one, other))
}

/// Names a place. A place between sockets is named by the direction of its messages, as in UPI tables.
#[must_use]
pub(crate) fn name_place(domain: &str, part: &str) -> String {
    match requesting_pair(part) {
        Some((one, other)) if RESPONSE_POOLS.contains(&domain) => format!("socket {other} to {one}"),
        Some((one, other)) => format!("socket {one} to {other}"),
        None => part.to_owned(),
    }
}

/// Rewrites places between sockets in a sentence about a limit, such as "UPI link (at upi 0-1", as "socket 0 to 1".
#[must_use]
pub fn with_directions(text: &str) -> String {
    let mut pieces = text.split(" (at ");
    let mut written = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let domain = written.rfind("UPI ").map(|start| written[start..].to_owned()).filter(|name| is_pool_name(name));
        let is_part_of_place = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == ' ';
        let end = piece.find(|letter: char| !is_part_of_place(letter)).unwrap_or(piece.len());
        let (place, rest) = piece.split_at(end);
        written.push_str(" (at ");
        match domain.filter(|_| requesting_pair(place).is_some()) {
            Some(domain) => written.push_str(&name_place(&domain, place)),
            None => written.push_str(place),
        }
        written.push_str(rest);
    }
    written
}

/// Returns true if a text is "UPI " and a single word.
fn is_pool_name(text: &str) -> bool {
    let word = text.strip_prefix("UPI ").unwrap_or_default();
    !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_between_sockets_are_named_by_the_direction_of_messages() {
        assert_eq!(name_place("UPI request", "upi 0-1"), "socket 0 to 1");
        assert_eq!(name_place("UPI data", "upi 0-1"), "socket 1 to 0");
        assert_eq!(name_place("CHA TOR", "socket 1"), "socket 1");
        assert_eq!(requesting_pair("upi 0-"), None);
    }

    #[test]
    fn sentences_name_directions() {
        let told = "load may be limited by UPI answer (at upi 1-0, 98 % used; not known for sure)";
        let named = "load may be limited by UPI answer (at socket 0 to 1, 98 % used; not known for sure)";
        assert_eq!(with_directions(told), named);
        assert_eq!(
            with_directions("a (at upi 1-0) UPI link (at upi 10-2"),
            "a (at upi 1-0) UPI link (at socket 10 to 2"
        );
        let other = "load is limited by CHA TOR (at socket 0)";
        assert_eq!(with_directions(other), other);
    }
}
