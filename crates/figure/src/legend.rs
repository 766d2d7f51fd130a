//! The legend above the panels: samples of the marks with their names, flowing into rows.

use crate::font::{Weight, middle_to_baseline, shorten, text_width};
use crate::marks;
use crate::svg::{Anchor, Canvas, Paint, Rect, Text};
use crate::theme::Colours;

const SIZE: f64 = 11.0;
const ROW_HEIGHT: f64 = 18.0;
const SAMPLE_WIDTH: f64 = 22.0;
const SAMPLE_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 18.0;

/// What stands before a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    Line { dash: Option<&'static str>, width: f64 },
    Dots { radius: f64 },
    Band { opacity: f64 },
    Stem,
    Box,
    Diamond,
    ErrorBar,
    Hatch,
    Fill,
}

/// One line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) sample: Sample,
    pub(crate) colour: &'static str,
}

/// Entries with their places in rows.
pub(crate) struct Legend {
    rows: Vec<Vec<(f64, Entry)>>,
}

impl Legend {
    /// Flows the entries into rows centred on a page of the given width.
    pub(crate) fn fit(entries: Vec<Entry>, left: f64, width: f64) -> Self {
        let mut rows: Vec<(f64, Vec<(f64, Entry)>)> = Vec::new();
        for mut entry in entries {
            entry.label = shorten(&entry.label, width - SAMPLE_WIDTH - SAMPLE_GAP, SIZE);
            let needed = SAMPLE_WIDTH + SAMPLE_GAP + text_width(&entry.label, SIZE, Weight::Regular);
            match rows.last_mut() {
                Some((used, row)) if *used + ENTRY_GAP + needed <= width => {
                    row.push((*used + ENTRY_GAP, entry));
                    *used += ENTRY_GAP + needed;
                }
                _ => rows.push((needed, vec![(0.0, entry)])),
            }
        }
        let centred = |(used, row): (f64, Vec<(f64, Entry)>)| {
            let shift = left + (width - used) / 2.0;
            row.into_iter().map(|(x, entry)| (x + shift, entry)).collect()
        };
        Self {
            rows: rows.into_iter().map(centred).collect(),
        }
    }

    pub(crate) fn height(&self) -> f64 {
        if self.rows.is_empty() {
            0.0
        } else {
            self.rows.len() as f64 * ROW_HEIGHT + 4.0
        }
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, top: f64, colours: &Colours) {
        if self.rows.is_empty() {
            return;
        }
        canvas.open_group("legend");
        for (index, row) in self.rows.iter().enumerate() {
            let middle = top + (index as f64 + 0.5) * ROW_HEIGHT;
            for (x, entry) in row {
                draw_sample(canvas, entry, *x, middle, colours);
                canvas.text(&Text {
                    content: &entry.label,
                    x: x + SAMPLE_WIDTH + SAMPLE_GAP,
                    y: middle + middle_to_baseline(SIZE),
                    size: SIZE,
                    colour: colours.text,
                    anchor: Anchor::Start,
                    weight: Weight::Regular,
                    angle: 0.0,
                });
            }
        }
        canvas.close_group();
    }
}

fn draw_sample(canvas: &mut Canvas, entry: &Entry, left: f64, middle: f64, colours: &Colours) {
    let (right, centre) = (left + SAMPLE_WIDTH, left + SAMPLE_WIDTH / 2.0);
    let area = Rect::between((left, middle - 5.0), (right, middle + 5.0));
    let colour = entry.colour;
    match entry.sample {
        Sample::Line { dash, width } => {
            canvas.line(
                (left, middle),
                (right, middle),
                Paint::stroke(colour, width).dashed(dash),
            );
        }
        Sample::Dots { radius } => {
            let points = [
                (left + 5.0, middle + 2.0),
                (centre, middle - 2.0),
                (right - 5.0, middle + 1.0),
            ];
            marks::dots(canvas, &points, radius, colour);
        }
        Sample::Band { opacity } => canvas.rect(area, Paint::fill(colour).with_opacity(opacity)),
        Sample::Stem => {
            canvas.line(
                (centre, middle + 5.0),
                (centre, middle - 3.0),
                Paint::stroke(colour, 1.4),
            );
            marks::dots(canvas, &[(centre, middle - 3.0)], 2.4, colour);
        }
        Sample::Box => {
            let upright = Rect::between((centre - 6.0, middle - 6.0), (centre + 6.0, middle + 6.0));
            canvas.rect(upright, Paint::fill(colour).with_opacity(0.25).with_stroke(colour, 1.2));
            canvas.line(
                (centre - 6.0, middle),
                (centre + 6.0, middle),
                Paint::stroke(colour, 2.0),
            );
        }
        Sample::Diamond => {
            let paint = Paint::fill(colours.background).with_stroke(colour, 1.2);
            marks::diamond(canvas, (centre, middle), 4.0, paint);
        }
        Sample::ErrorBar => {
            marks::error_bar(
                canvas,
                (centre, middle),
                (middle - 7.0, middle + 7.0),
                colours.background,
                colour,
            );
        }
        Sample::Hatch => marks::hatch(canvas, area, colour),
        Sample::Fill => canvas.rect(area, Paint::fill(colour)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_legends_take_more_rows() {
        let entry = Entry {
            label: "prediction of the interval model".to_owned(),
            sample: Sample::Fill,
            colour: "#000000",
        };
        let legend = Legend::fit(vec![entry; 6], 10.0, 500.0);
        assert_eq!(legend.rows.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2]);
        assert!(legend.height() > 2.0 * ROW_HEIGHT);
        assert!(Legend::fit(Vec::new(), 0.0, 500.0).height() < 1e-12);
    }
}
