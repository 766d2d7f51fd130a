//! The whole sheet: title, legend, and panels in a grid whose axes line up.

use crate::figure::Figure;
use crate::font::{LINE_HEIGHT, Weight, wrap};
use crate::legend::{Entry, Legend};
use crate::panel::{Panel, Placed};
use crate::svg::{Anchor, Canvas, Rect, Text};
use crate::theme::Colours;

const MARGIN: f64 = 14.0;
const TITLE_SIZE: f64 = 15.0;
const COLUMN_GAP: f64 = 16.0;
const ROW_GAP: f64 = 12.0;
/// A panel narrower than this, labels included, shows nothing useful.
const NARROWEST_PANEL: f64 = 170.0;
/// Inside the axes there is at least this much, whatever labels ask for.
const NARROWEST_FRAME: f64 = 60.0;

/// What surrounds the panels.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    pub(crate) legend: Vec<Entry>,
    /// Panels side by side; 0 leaves the choice to the number of panels.
    pub(crate) columns: usize,
    pub(crate) width: f64,
    pub(crate) colours: &'static Colours,
}

/// A page with its panels in place.
pub(crate) struct Layout {
    pub(crate) canvas: Canvas,
    pub(crate) panels: Vec<Placed>,
    title: String,
    width: f64,
    height: f64,
    background: &'static str,
}

/// Panels side by side for a number of panels.
pub(crate) fn column_count(asked: usize, panels: usize, width: f64) -> usize {
    let wanted = match (asked, panels) {
        (0, 1) => 1,
        (0, 2..=4) => 2,
        (0, _) => 3,
        (asked, _) => asked,
    };
    let room = ((width - 2.0 * MARGIN + COLUMN_GAP) / (NARROWEST_PANEL + COLUMN_GAP)) as usize;
    wanted.min(panels).min(room).max(1)
}

impl Page<'_> {
    /// Draws title and legend and finds a place for each panel, row by row.
    pub(crate) fn arrange(self, panels: Vec<Panel>) -> Layout {
        let mut canvas = Canvas::default();
        let inner = self.width - 2.0 * MARGIN;
        let mut top = MARGIN;
        for line in wrap(self.title, inner, TITLE_SIZE, Weight::Bold) {
            canvas.text(&Text {
                content: &line,
                x: self.width / 2.0,
                y: top + TITLE_SIZE,
                size: TITLE_SIZE,
                colour: self.colours.text,
                anchor: Anchor::Middle,
                weight: Weight::Bold,
                angle: 0.0,
            });
            top += LINE_HEIGHT * TITLE_SIZE;
        }
        if top > MARGIN {
            top += 6.0;
        }
        let legend = Legend::fit(self.legend, MARGIN, inner);
        legend.draw(&mut canvas, top, self.colours);
        top += legend.height();

        let columns = column_count(self.columns, panels.len(), self.width);
        let cell = (inner - (columns - 1) as f64 * COLUMN_GAP) / columns as f64;
        // Frames of one column share their left and right edge, frames of one row their top.
        let margins: Vec<(f64, f64)> = (0..columns)
            .map(|column| {
                let in_column = || panels.iter().skip(column).step_by(columns);
                let left = in_column().map(|panel| panel.left(cell)).fold(0.0, f64::max);
                let right = in_column().map(Panel::right).fold(0.0, f64::max);
                (left, (cell - left - right).max(NARROWEST_FRAME))
            })
            .collect();
        let mut placed = Vec::with_capacity(panels.len());
        let mut rest = panels.into_iter().peekable();
        while rest.peek().is_some() {
            let row: Vec<Panel> = rest.by_ref().take(columns).collect();
            let over_columns = |measure: fn(&Panel, f64) -> f64| {
                row.iter()
                    .zip(&margins)
                    .map(|(panel, margin)| measure(panel, margin.1))
                    .fold(0.0, f64::max)
            };
            let (above, below) = (over_columns(Panel::top), over_columns(Panel::bottom));
            let height = row.iter().map(|panel| panel.height).fold(0.0, f64::max);
            for (column, panel) in row.into_iter().enumerate() {
                let frame = Rect {
                    left: MARGIN + column as f64 * (cell + COLUMN_GAP) + margins[column].0,
                    top: top + above,
                    width: margins[column].1,
                    height: panel.height,
                };
                placed.push(panel.place(frame));
            }
            top += above + height + below + if rest.peek().is_some() { ROW_GAP } else { 0.0 };
        }
        Layout {
            canvas,
            panels: placed,
            title: self.title.to_owned(),
            width: self.width,
            height: (top + MARGIN).ceil(),
            background: self.colours.background,
        }
    }
}

impl Layout {
    pub(crate) fn finish(self) -> Figure {
        let svg = self
            .canvas
            .finish(self.width, self.height, self.background, &self.title);
        Figure::new(svg, self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_panels_and_room() {
        assert_eq!(column_count(0, 1, 900.0), 1);
        assert_eq!(column_count(0, 4, 900.0), 2);
        assert_eq!(column_count(0, 7, 900.0), 3);
        assert_eq!(column_count(5, 7, 400.0), 2);
        assert_eq!(column_count(3, 2, 900.0), 2);
    }
}
