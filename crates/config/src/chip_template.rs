//! Generates commented configurations of chips to start from.

use crate::error::Fault;
use crate::layers::at;
use crate::presets;

const TEXT: &str = include_str!("chip.toml");
/// Chip that the text describes.
const PRESET: &str = "scale-out-64";

/// Returns a commented configuration of a chip to start from; `None` stands for "scale-out-64". It resolves without
/// changes.
///
/// # Errors
/// Returns an error if no chip has this name; the message suggests the nearest name.
pub fn chip_template(preset: Option<&str>) -> Result<String, Fault> {
    let name = preset.unwrap_or(PRESET);
    let chip = presets::chip(name).map_err(Fault::from)?;
    let (mut text, mut table) = (String::new(), "");
    for line in TEXT.lines() {
        if line.starts_with('[') {
            table = line;
        }
        // A network with a single routing has no `noc.routing`, so the table of its settings is left out.
        if table == "[noc]" && at(&chip, &["noc", "routing"]).is_none() {
            continue;
        }
        // Padded as in the text, so that the comments behind stay aligned.
        let named = |name: &str| format!("{:<22}", format!("\"{name}\""));
        text += &line.replace(&named(PRESET), &named(name));
        text += "\n";
    }
    Ok(text)
}
