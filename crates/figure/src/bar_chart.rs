//! Labelled bars.

use crate::Result;
use crate::check;
use crate::figure::Figure;
use crate::font::Weight;
use crate::legend::{Entry, Sample};
use crate::marks;
use crate::page::Page;
use crate::panel::{Horizontal, Panel, Placed, Vertical};
use crate::scale::Spacing;
use crate::svg::{Anchor, Canvas, Paint, Rect, Text};
use crate::theme::{Colours, Style};

/// Bars over named categories, one bar per series in each.
///
/// An infinite value is a hatched bar that reaches the edge of the panel, with the legend entry "unbounded". NaN, and
/// on a log axis any value that is not positive, reads "n/a".
///
/// ```
/// use intervalid_figure::{BarChart, BarSeries, Style};
///
/// let figure = BarChart {
///     title: "Elasticity by channel".to_owned(),
///     y_label: "elasticity".to_owned(),
///     categories: vec!["valve".to_owned(), "flow".to_owned()],
///     series: vec![BarSeries { name: "outlet".to_owned(), values: vec![0.4, 1.2] }],
///     ..BarChart::default()
/// }
/// .draw(&Style::default())?;
/// # Ok::<(), intervalid_figure::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// Title of the figure; may be empty.
    pub title: String,
    /// What the categories are; may be empty.
    pub x_label: String,
    /// Name and unit of the values.
    pub y_label: String,
    /// Names of the groups of bars. Words wrap, many long names slant, too many are thinned.
    pub categories: Vec<String>,
    /// The series; each has one value per category. With more than one, a legend names them.
    pub series: Vec<BarSeries>,
    /// Whether the axis is logarithmic. It stays linear when no value is positive.
    pub log: bool,
}

/// One bar per category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// One value per category.
    pub values: Vec<f64>,
}

impl BarChart {
    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// A series with another number of values than there are categories, an unusable size.
    pub fn draw(&self, style: &Style) -> Result<Figure> {
        for series in &self.series {
            check::same_length(&self.title, &series.name, self.categories.len(), series.values.len())?;
        }
        let colours = style.theme.colours();
        let bars = self.categories.len() * self.series.len();
        let width = style.width_or((220.0 + 26.0 * bars as f64).clamp(560.0, 1000.0))?;
        let height = style.panel_height_or(260.0)?;
        let values = self.series.iter().flat_map(|series| series.values.iter().copied());
        let spacing = Spacing::log_if(self.log);
        let (mut scale, has_values) = check::vertical_scale(&self.title, spacing, None, values)?;
        if scale.spacing == Spacing::Linear && has_values {
            // Lengths of bars are only comparable from zero; the padding stays at the ends that are not zero.
            let (lowest, highest) = self.extremes();
            scale.low = if lowest >= 0.0 { 0.0 } else { scale.low };
            scale.high = if highest <= 0.0 { 0.0 } else { scale.high };
            if scale.low >= scale.high {
                scale.high = scale.low + 1.0;
            }
        }
        let panel = Panel {
            title: String::new(),
            horizontal: Horizontal::Categories {
                labels: self.categories.clone(),
                label: self.x_label.clone(),
            },
            vertical: Vertical::Numeric {
                scale,
                label: self.y_label.clone(),
            },
            height,
            right: 0.0,
            equal: false,
        };
        let page = Page {
            title: &self.title,
            legend: self.legend(colours),
            columns: 1,
            width,
            colours,
        };
        let mut layout = page.arrange(vec![panel]);
        for placed in &layout.panels {
            placed.draw_back(&mut layout.canvas, colours);
            if bars == 0 {
                placed.draw_note(&mut layout.canvas, colours, "no data");
            } else {
                self.draw_bars(&mut layout.canvas, placed, scale.spacing, colours);
            }
            placed.draw_front(&mut layout.canvas, colours);
        }
        Ok(layout.finish())
    }

    fn extremes(&self) -> (f64, f64) {
        let finite = self
            .series
            .iter()
            .flat_map(|series| &series.values)
            .filter(|value| value.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        })
    }

    fn draw_bars(&self, canvas: &mut Canvas, placed: &Placed, spacing: Spacing, colours: &Colours) {
        let frame = placed.frame;
        let base = match spacing {
            Spacing::Linear => placed.y(0.0).clamp(frame.top, frame.bottom()),
            Spacing::Log => frame.bottom(),
        };
        canvas.open_clip(frame);
        for (series_index, series) in self.series.iter().enumerate() {
            let colour = colours.series(series_index);
            canvas.open_group("series");
            for (index, &value) in series.values.iter().enumerate() {
                let (centre, slot) = placed.slot(index);
                // A lone bar in a wide slot would look like a wall.
                let group = (0.78 * slot).min(64.0 * self.series.len() as f64);
                let bar_width = group / self.series.len() as f64;
                let left = centre - group / 2.0 + series_index as f64 * bar_width;
                let gap = (0.06 * bar_width).min(2.0);
                let bar = |end: f64| Rect::between((left + gap, base), (left + bar_width - gap, end));
                if value.is_nan() || (spacing == Spacing::Log && value <= 0.0) {
                    draw_missing(canvas, (left + bar_width / 2.0, base), bar_width, colours);
                } else if value.is_infinite() {
                    let edge = if value > 0.0 {
                        frame.top + 2.0
                    } else {
                        frame.bottom() - 2.0
                    };
                    marks::hatch(canvas, bar(edge), colour);
                } else {
                    canvas.rect(bar(placed.y(value)), Paint::fill(colour));
                }
            }
            canvas.close_group();
        }
        canvas.line(
            (frame.left, base),
            (frame.right(), base),
            Paint::stroke(colours.axis, 1.0),
        );
        canvas.close_clip();
    }

    fn legend(&self, colours: &Colours) -> Vec<Entry> {
        let mut entries = Vec::new();
        if self.series.len() > 1 {
            entries.extend(self.series.iter().enumerate().map(|(index, series)| Entry {
                label: series.name.clone(),
                sample: Sample::Fill,
                colour: colours.series(index),
            }));
        }
        if self
            .series
            .iter()
            .any(|series| series.values.iter().any(|value| value.is_infinite()))
        {
            let colour = if self.series.len() > 1 {
                colours.muted
            } else {
                colours.series(0)
            };
            entries.push(Entry {
                label: "unbounded".to_owned(),
                sample: Sample::Hatch,
                colour,
            });
        }
        entries
    }
}

fn draw_missing(canvas: &mut Canvas, (x, base): (f64, f64), bar_width: f64, colours: &Colours) {
    let narrow = bar_width < 24.0;
    canvas.text(&Text {
        content: "n/a",
        x: if narrow { x + 3.5 } else { x },
        y: base - 4.0,
        size: 10.0,
        colour: colours.muted,
        anchor: if narrow { Anchor::Start } else { Anchor::Middle },
        weight: Weight::Regular,
        angle: if narrow { -90.0 } else { 0.0 },
    });
}
