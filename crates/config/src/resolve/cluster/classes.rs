//! Traffic classes, which flows and jobs share.

use crate::code::Code;
use crate::error::Issue;

/// Maximum number of traffic classes: with up to 64 workloads of a server, class numbers fit in a byte.
const CLASSES_MAX: usize = 128;

/// Returns the number of a class, which is added if it is new.
pub(super) fn class_of(classes: &mut Vec<String>, name: &str, path: &str) -> Result<u8, Issue> {
    if let Some(at) = classes.iter().position(|class| class == name) {
        return Ok(at as u8);
    }
    if classes.len() == CLASSES_MAX {
        let message = format!("more than {CLASSES_MAX} classes in all; let flows share them with class = \"NAME\"");
        return Err(Issue::between(Code::TooMany, &[path, "flow"], message));
    }
    classes.push(name.to_string());
    Ok(classes.len() as u8 - 1)
}
