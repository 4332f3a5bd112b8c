//! Configurations of chips to start from.

use crate::error::Fault;
use crate::layers::at;
use crate::presets;

const TEXT: &str = include_str!("chip.toml");
/// The chip of the text.
const PRESET: &str = "scale-out-64";

/// A commented configuration of a chip to start from, "scale-out-64" without a name. It resolves as it is.
///
/// # Errors
/// There is no chip of this name; the message offers the nearest one.
pub fn chip_template(preset: Option<&str>) -> Result<String, Fault> {
    let name = preset.unwrap_or(PRESET);
    let chip = presets::chip(name).map_err(Fault::from)?;
    let (mut text, mut table) = (String::new(), "");
    for line in TEXT.lines() {
        if line.starts_with('[') {
            table = line;
        }
        // A chip whose network has one way only has nothing to say of it.
        if table == "[noc]" && at(&chip, &["noc", "routing"]).is_none() {
            continue;
        }
        let named = |name: &str| format!("{:<22}", format!("\"{name}\""));
        text += &line.replace(&named(PRESET), &named(name));
        text += "\n";
    }
    Ok(text)
}
