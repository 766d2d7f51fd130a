//! Text as a cell of a CSV file.

use std::borrow::Cow;

/// `text` as one cell of a CSV file that other programs show as the text it is.
///
/// Cells with commas, quotes or line breaks are quoted (RFC 4180). What a spreadsheet would run as a formula, text that
/// begins with `=`, `+`, `-`, `@`, a tab or a line break and is no number, gets an apostrophe in front, the mark of text
/// in spreadsheets.
///
/// ```
/// use intervalid_data::quote_csv;
///
/// assert_eq!(quote_csv("level"), "level");
/// assert_eq!(quote_csv("level, \"left\""), "\"level, \"\"left\"\"\"");
/// assert_eq!(quote_csv("=HYPERLINK(A1)"), "'=HYPERLINK(A1)");
/// assert_eq!(quote_csv("-1.5"), "-1.5");
/// ```
pub fn quote_csv(text: &str) -> Cow<'_, str> {
    let mark = if is_formula(text) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{mark}{}\"", text.replace('"', "\"\"")))
    } else if mark.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{mark}{text}"))
    }
}

/// Spreadsheets take full-width signs for the ASCII ones.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text() {
        for formula in ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "＝1", "=cmd|' /C calc'!A0"] {
            assert_eq!(quote_csv(formula), format!("'{formula}"));
        }
        assert_eq!(quote_csv("\r=1"), "\"'\r=1\"");
        assert_eq!(quote_csv("=A1,\"b\""), "\"'=A1,\"\"b\"\"\"");
        for plain in ["a=b", "u-1", "-1", "+2e3", "", "'quoted"] {
            assert_eq!(quote_csv(plain), plain);
        }
    }
}
