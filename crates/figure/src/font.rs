//! The embedded font: measuring text before it is drawn, breaking lines, and the database the renderer reads.
//!
//! A subset of DejaVu Sans is compiled in, so that figures look the same on machines without any font.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb;

use crate::advance_table::{ADVANCES, UNITS_PER_EM};

/// Families named in SVG text. Verdana has nearly the same widths as DejaVu Sans.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// Distance of baselines in units of the font size.
pub(crate) const LINE_HEIGHT: f64 = 1.25;

/// Face of the font.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// Fonts for rendering: ours and no others.
pub(crate) fn database() -> Arc<fontdb::Database> {
    static DATABASE: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
        let mut database = fontdb::Database::new();
        for face in [
            include_bytes!("../assets/DejaVuSans.ttf").as_slice(),
            include_bytes!("../assets/DejaVuSans-Bold.ttf").as_slice(),
        ] {
            database.load_font_source(fontdb::Source::Binary(Arc::new(face)));
        }
        database.set_sans_serif_family("DejaVu Sans");
        Arc::new(database)
    });
    DATABASE.clone()
}

/// Width of a line of text in pixels. Characters the font lacks count as one em.
pub(crate) fn text_width(text: &str, size: f64, weight: Weight) -> f64 {
    let units: f64 = text.chars().map(|character| advance(character, weight)).sum();
    units * size / UNITS_PER_EM
}

fn advance(character: char, weight: Weight) -> f64 {
    match ADVANCES.binary_search_by_key(&u32::from(character), |entry| entry.0) {
        Ok(index) if weight == Weight::Regular => f64::from(ADVANCES[index].1),
        Ok(index) => f64::from(ADVANCES[index].2),
        Err(_) => UNITS_PER_EM,
    }
}

/// Distance from the middle of a line to its baseline, for text centred on a point.
pub(crate) fn middle_to_baseline(size: f64) -> f64 {
    0.36 * size
}

/// Breaks text into lines no wider than `width`, at spaces where that is possible.
pub(crate) fn wrap(text: &str, width: f64, size: f64, weight: Weight) -> Vec<String> {
    let fits = |line: &str| text_width(line, size, weight) <= width;
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let candidate = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if fits(&candidate) {
            line = candidate;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            let longer = format!("{line}{character}");
            // A single character wider than the line stands alone, or this would not end.
            if !fits(&longer) && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text, its end replaced by an ellipsis where it is wider than `width`.
pub(crate) fn shorten(text: &str, width: f64, size: f64) -> String {
    if text_width(text, size, Weight::Regular) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() {
        kept.pop();
        let short = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if text_width(&short, size, Weight::Regular) <= width {
            return short;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_come_from_the_face() {
        // 'M' in DejaVu Sans 2.37: advance 1767 of 2048 regular, 2038 bold.
        assert!((text_width("M", 2048.0, Weight::Regular) - 1767.0).abs() < 1e-9);
        assert!((text_width("M", 2048.0, Weight::Bold) - 2038.0).abs() < 1e-9);
        assert!((text_width("日", 10.0, Weight::Regular) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn table_is_sorted() {
        assert!(ADVANCES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn lines_fit() {
        let text = "interval long short-term memory networks averylongwordwithoutanyspaceinside";
        for width in [40.0, 90.0, 300.0] {
            let lines = wrap(text, width, 11.0, Weight::Regular);
            assert!(
                lines
                    .iter()
                    .all(|line| text_width(line, 11.0, Weight::Regular) <= width),
                "{width}: {lines:?}"
            );
            let joined: String = lines.concat().split_whitespace().collect();
            assert_eq!(joined, text.replace(' ', ""));
        }
        assert!(wrap("  ", 10.0, 11.0, Weight::Regular).is_empty());
        assert_eq!(wrap("ab", 0.1, 11.0, Weight::Regular), ["a", "b"]);
    }

    #[test]
    fn shortened_text_fits() {
        let short = shorten("outlet temperature of the second tank", 80.0, 11.0);
        assert!(short.ends_with('…') && text_width(&short, 11.0, Weight::Regular) <= 80.0);
        assert_eq!(shorten("u", 80.0, 11.0), "u");
        assert_eq!(shorten("wide", 0.0, 11.0), "…");
    }

    #[test]
    fn both_faces_are_found() {
        assert_eq!(database().len(), 2);
    }
}
