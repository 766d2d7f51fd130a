//! Text as a cell of a CSV file.

use std::borrow::Cow;

/// `text` so that other programs read it as one cell: quoted where it has commas, quotes or line breaks.
///
/// ```
/// assert_eq!(intervalid_data::csv_cell("level"), "level");
/// assert_eq!(intervalid_data::csv_cell("level, \"left\""), "\"level, \"\"left\"\"\"");
/// ```
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
