//! Writing SVG text: elements, paths, escaping, and numbers that are the same on every machine.
//!
//! Nothing here uses an `id`, so several figures can stand in one HTML document: clipping is a nested `svg` element,
//! and hatching is drawn line by line.

use std::fmt::Write as _;

use crate::font::{FAMILY, Weight};

/// A rectangle in pixels; y runs down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The rectangle between two corners, in any order.
    pub(crate) fn between(a: (f64, f64), b: (f64, f64)) -> Self {
        Self {
            left: a.0.min(b.0),
            top: a.1.min(b.1),
            width: (a.0 - b.0).abs(),
            height: (a.1 - b.1).abs(),
        }
    }
}

/// Fill and stroke of a shape.
#[derive(Clone, Copy, Default)]
pub(crate) struct Paint<'a> {
    fill: Option<&'a str>,
    fill_opacity: Option<f64>,
    stroke: Option<(&'a str, f64)>,
    dash: Option<&'a str>,
    round: bool,
}

impl<'a> Paint<'a> {
    pub(crate) fn fill(colour: &'a str) -> Self {
        Self {
            fill: Some(colour),
            ..Self::default()
        }
    }

    pub(crate) fn stroke(colour: &'a str, width: f64) -> Self {
        Self {
            stroke: Some((colour, width)),
            ..Self::default()
        }
    }

    pub(crate) fn with_stroke(self, colour: &'a str, width: f64) -> Self {
        Self {
            stroke: Some((colour, width)),
            ..self
        }
    }

    pub(crate) fn with_opacity(self, opacity: f64) -> Self {
        Self {
            fill_opacity: Some(opacity),
            ..self
        }
    }

    pub(crate) fn dashed(self, dash: Option<&'a str>) -> Self {
        Self { dash, ..self }
    }

    /// Round caps and joins: a subpath of no length becomes a dot.
    pub(crate) fn round(self) -> Self {
        Self { round: true, ..self }
    }

    fn write(&self, out: &mut String) {
        attribute(out, "fill", self.fill.unwrap_or("none"));
        if let Some(opacity) = self.fill_opacity {
            attribute(out, "fill-opacity", &number(opacity, 2));
        }
        if let Some((colour, width)) = self.stroke {
            attribute(out, "stroke", colour);
            attribute(out, "stroke-width", &number(width, 2));
            if self.round {
                out.push_str(r#" stroke-linecap="round" stroke-linejoin="round""#);
            } else {
                out.push_str(r#" stroke-linejoin="round""#);
            }
        }
        if let Some(dash) = self.dash {
            attribute(out, "stroke-dasharray", dash);
        }
    }
}

/// Which point of a text its position means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text; `y` is its baseline.
pub(crate) struct Text<'a> {
    pub(crate) content: &'a str,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) size: f64,
    pub(crate) colour: &'a str,
    pub(crate) anchor: Anchor,
    pub(crate) weight: Weight,
    /// Degrees, clockwise about the position.
    pub(crate) angle: f64,
}

/// SVG elements in the making.
#[derive(Default)]
pub(crate) struct Canvas {
    body: String,
}

impl Canvas {
    pub(crate) fn rect(&mut self, rect: Rect, paint: Paint<'_>) {
        self.body.push_str("<rect");
        for (name, value) in [
            ("x", rect.left),
            ("y", rect.top),
            ("width", rect.width.max(0.0)),
            ("height", rect.height.max(0.0)),
        ] {
            attribute(&mut self.body, name, &number(value, 2));
        }
        paint.write(&mut self.body);
        self.body.push_str("/>\n");
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint<'_>) {
        self.body.push_str("<line");
        for (name, value) in [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)] {
            attribute(&mut self.body, name, &number(value, 2));
        }
        paint.write(&mut self.body);
        self.body.push_str("/>\n");
    }

    /// A path; an empty one is left out.
    pub(crate) fn path(&mut self, path: &PathData, paint: Paint<'_>) {
        if path.0.is_empty() {
            return;
        }
        self.body.push_str("<path");
        attribute(&mut self.body, "d", &path.0);
        paint.write(&mut self.body);
        self.body.push_str("/>\n");
    }

    pub(crate) fn text(&mut self, text: &Text<'_>) {
        self.body.push_str("<text");
        let (x, y) = (number(text.x, 2), number(text.y, 2));
        attribute(&mut self.body, "x", &x);
        attribute(&mut self.body, "y", &y);
        attribute(&mut self.body, "font-size", &number(text.size, 2));
        attribute(&mut self.body, "fill", text.colour);
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => attribute(&mut self.body, "text-anchor", "middle"),
            Anchor::End => attribute(&mut self.body, "text-anchor", "end"),
        }
        if text.weight == Weight::Bold {
            attribute(&mut self.body, "font-weight", "bold");
        }
        if text.angle.abs() > 0.0 {
            attribute(
                &mut self.body,
                "transform",
                &format!("rotate({} {x} {y})", number(text.angle, 2)),
            );
        }
        self.body.push('>');
        escape(&mut self.body, text.content);
        self.body.push_str("</text>\n");
    }

    /// Starts a group; its class names what it shows, for style sheets and tests.
    pub(crate) fn open_group(&mut self, class: &str) {
        let _ = writeln!(self.body, r#"<g class="{class}">"#);
    }

    pub(crate) fn close_group(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Starts a group whose unit square is one cell of a matrix drawn in `area`, without antialiasing, which would
    /// leave seams between cells.
    pub(crate) fn open_cells(&mut self, class: &str, area: Rect, columns: usize, rows: usize) {
        let (x, y) = (number(area.left, 2), number(area.top, 2));
        let (width, height) = (
            number(area.width / columns as f64, 5),
            number(area.height / rows as f64, 5),
        );
        let _ = writeln!(
            self.body,
            r#"<g class="{class}" shape-rendering="crispEdges" transform="translate({x} {y}) scale({width} {height})">"#
        );
    }

    /// Starts an area outside of which nothing shows; coordinates stay those of the page.
    pub(crate) fn open_clip(&mut self, area: Rect) {
        let [x, y, width, height] = [area.left, area.top, area.width, area.height].map(|value| number(value, 2));
        let _ = writeln!(
            self.body,
            r#"<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}">"#
        );
    }

    pub(crate) fn close_clip(&mut self) {
        self.body.push_str("</svg>\n");
    }

    /// The whole document.
    pub(crate) fn finish(self, width: f64, height: f64, background: &str, title: &str) -> String {
        let (width, height) = (number(width, 2), number(height, 2));
        let mut out = String::with_capacity(self.body.len() + 512);
        let _ = write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" "#
        );
        let _ = writeln!(out, r#"role="img" font-family="{FAMILY}">"#);
        if !title.is_empty() {
            out.push_str("<title>");
            escape(&mut out, title);
            out.push_str("</title>\n");
        }
        let _ = writeln!(out, r#"<rect width="{width}" height="{height}" fill="{background}"/>"#);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }
}

/// The `d` attribute of a path. A tenth of a pixel is finer than anyone can see and keeps long records small.
#[derive(Default)]
pub(crate) struct PathData(String);

impl PathData {
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)]) {
        for (index, &(x, y)) in points.iter().enumerate() {
            self.0.push_str(match index {
                0 => "M",
                1 => "L",
                _ => " ",
            });
            self.0.push_str(&number(x, 1));
            self.0.push(' ');
            self.0.push_str(&number(y, 1));
        }
    }

    pub(crate) fn polygon(&mut self, points: &[(f64, f64)]) {
        self.polyline(points);
        self.0.push('Z');
    }

    /// A subpath too short to see: a dot once it is stroked with round caps.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64)) {
        let _ = write!(self.0, "M{} {}h.01", number(x, 1), number(y, 1));
    }

    /// `length` unit cells side by side, for [`Canvas::open_cells`].
    pub(crate) fn cells(&mut self, column: usize, row: usize, length: usize) {
        let _ = write!(self.0, "M{column} {row}h{length}v1h-{length}z");
    }
}

/// A number with at most `decimals` decimals and no trailing zeros.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".to_owned() } else { text }
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value);
    out.push('"');
}

fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Characters that XML 1.0 cannot hold, not even escaped.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(' '),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (1.0, "1"),
            (0.3, "0.3"),
            (0.1 + 0.2, "0.3"),
            (-0.001, "0"),
            (100.0, "100"),
            (-2.456, "-2.46"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value, 2), expected);
        }
    }

    #[test]
    fn text_is_escaped() {
        let mut out = String::new();
        escape(&mut out, "a<b & \"c\"\u{1}");
        assert_eq!(out, "a&lt;b &amp; &quot;c&quot; ");
    }

    #[test]
    fn paths_are_compact() {
        let mut path = PathData::default();
        path.polyline(&[(0.0, 1.0), (2.04, 3.26), (4.0, 5.0)]);
        path.dot((1.0, 2.0));
        assert_eq!(path.0, "M0 1L2 3.3 4 5M1 2h.01");
    }
}
