//! Numbers and text as C writes them.

use std::borrow::Cow;
use std::fmt::Write as _;

use intervalid_data::display_name;

/// A C number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CNumber {
    /// `float`
    Float,
    /// `double`
    Double,
}

impl CNumber {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Float => 4,
            Self::Double => 8,
        }
    }

    /// A literal that reads back to the nearest number of this type.
    pub(crate) fn literal(self, value: f64) -> String {
        match self {
            Self::Float => format!("{:e}F", value as f32),
            Self::Double => format!("{value:e}"),
        }
    }

    /// Literals separated by commas, on one line.
    pub(crate) fn list(self, values: impl IntoIterator<Item = f64>) -> String {
        let literals: Vec<String> = values.into_iter().map(|value| self.literal(value)).collect();
        literals.join(", ")
    }

    /// Literals separated by commas, a few per line, indented.
    pub(crate) fn rows(self, values: &[f64]) -> String {
        let mut text = String::new();
        for (index, line) in values.chunks(8).enumerate() {
            let separator = if index == 0 { "" } else { ",\n" };
            let _ = write!(text, "{separator}    {}", self.list(line.iter().copied()));
        }
        text
    }
}

/// Text that may stand inside a C comment: no line breaks, no end of the comment, no trigraphs or continued lines, and no marks of
/// writing direction, with which code could be shown in another order than it is compiled in.
pub(crate) fn comment(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || c == '\\' {
            line.push(' ');
        } else if is_unsafe(c) {
            let _ = write!(line, "U+{:04X}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
}

/// Whether a character may not be shown as it is: names are borrowed unless something in them has to be escaped.
fn is_unsafe(c: char) -> bool {
    matches!(display_name(c.encode_utf8(&mut [0; 4])), Cow::Owned(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_read_back() {
        for value in [0.0, 1.0, -0.1, 1e-300, 123_456_789.123_456_7] {
            let double: f64 = CNumber::Double.literal(value).parse().unwrap();
            assert_eq!(double.to_bits(), value.to_bits());
            let float = CNumber::Float.literal(value);
            let float: f32 = float.strip_suffix('F').unwrap().parse().unwrap();
            assert_eq!(float.to_bits(), (value as f32).to_bits());
        }
    }

    #[test]
    fn comments_stay_comments() {
        assert_eq!(comment("a*/b\nc??/d\\"), "a* /b c? ?/d ");
        assert_eq!(comment("Füllstand\u{202e} 温度\u{2066}"), "FüllstandU+202E 温度U+2066");
    }
}
