//! Named curves over a common axis.

use crate::Result;
use crate::check;
use crate::decimate::{self, KEPT_WHOLE};
use crate::figure::Figure;
use crate::legend::{Entry, Sample};
use crate::marks;
use crate::page::Page;
use crate::panel::{Horizontal, Panel, Placed, Vertical};
use crate::scale::{Scale, Spacing};
use crate::svg::{Canvas, Paint};
use crate::theme::{Colours, Style};

const REFERENCE_DASH: &str = "6 4";
const BAND_OPACITY: f64 = 0.16;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// A line through the points.
    #[default]
    Line,
    /// A dashed line through the points.
    Dashed,
    /// Dots.
    Dots,
    /// Upright lines from zero with a dot at the end, for correlations. On a log axis they start at the bottom.
    Stem,
}

/// Line charts in a grid of panels: training histories, residual correlations, rolling coverage.
///
/// Series of the same name have the same colour in all panels. Lines longer than 2000 points are thinned to the
/// extremes within each pixel column; so are stems, to lines. Of so many dots one per pixel is drawn.
///
/// ```
/// use intervalid_figure::{LineChart, LinePanel, LineSeries, Style};
///
/// let series = LineSeries { name: "training".to_owned(), x: vec![0.0, 1.0, 2.0], y: vec![1.0, 0.1, 0.05],
/// ..LineSeries::default() }; let panel = LinePanel {
///     x_label: "epoch".to_owned(),
///     y_label: "loss".to_owned(),
///     series: vec![series],
///     log: true,
///     ..LinePanel::default()
/// };
/// let figure = LineChart { panels: vec![panel], ..LineChart::default() }.draw(&Style::default())?;
/// # Ok::<(), intervalid_figure::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// Title of the figure; may be empty.
    pub title: String,
    /// The panels, row by row. At least one.
    pub panels: Vec<LinePanel>,
    /// Panels side by side; 0 chooses by their number. Fewer when the figure is too narrow.
    pub columns: usize,
}

/// One panel of a [`LineChart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePanel {
    /// Title of the panel; may be empty.
    pub title: String,
    /// What `x` is, with its unit.
    pub x_label: String,
    /// Name and unit of the values.
    pub y_label: String,
    /// The curves.
    pub series: Vec<LineSeries>,
    /// Shaded bands behind the curves, such as confidence limits.
    pub bands: Vec<ShadedBand>,
    /// Horizontal dashed lines.
    pub references: Vec<ReferenceLine>,
    /// Whether the vertical axis is logarithmic. It stays linear when no value is positive.
    pub log: bool,
    /// Whether the horizontal axis is logarithmic. It stays linear when no position is positive.
    pub x_log: bool,
    /// Vertical range; `None` shows all values.
    pub y_range: Option<(f64, f64)>,
    /// Whether one unit is as long across as it is upwards: a circle is a circle. For linear axes.
    pub equal: bool,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSeries {
    /// Name in the legend; without one the series has no entry.
    pub name: String,
    /// Positions: finite, not decreasing.
    pub x: Vec<f64>,
    /// One value per position; NaN leaves a gap.
    pub y: Vec<f64>,
    /// How it is drawn.
    pub style: LineStyle,
}

/// A shaded band.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShadedBand {
    /// Name in the legend; without one the band has no entry.
    pub label: String,
    /// Positions: finite, not decreasing. Two are enough for a band of constant height.
    pub x: Vec<f64>,
    /// Lower edge at each position; NaN leaves a gap, an infinite edge is that of the panel.
    pub lower: Vec<f64>,
    /// Upper edge at each position.
    pub upper: Vec<f64>,
    /// The series of the panel whose colour it has; without one it is grey.
    pub of: Option<String>,
}

/// A horizontal line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceLine {
    /// Where the line is.
    pub value: f64,
    /// Name in the legend; without one the line has no entry.
    pub label: String,
}

impl LinePanel {
    fn check(&self) -> Result<()> {
        for series in &self.series {
            check::ordered(&self.title, &series.x)?;
            check::same_length(&self.title, &series.name, series.x.len(), series.y.len())?;
        }
        for band in &self.bands {
            check::ordered(&self.title, &band.x)?;
            check::same_length(&self.title, "lower edge of band", band.x.len(), band.lower.len())?;
            check::same_length(&self.title, "upper edge of band", band.x.len(), band.upper.len())?;
        }
        Ok(())
    }

    fn positions(&self) -> impl Iterator<Item = f64> {
        let bands = self.bands.iter().flat_map(|band| &band.x);
        self.series.iter().flat_map(|series| &series.x).chain(bands).copied()
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let bands = self
            .bands
            .iter()
            .flat_map(|band| band.lower.iter().chain(&band.upper))
            .copied();
        let references = self.references.iter().map(|reference| reference.value);
        // Stems grow from zero, so zero is one of their values.
        let zero = self
            .series
            .iter()
            .any(|series| series.style == LineStyle::Stem)
            .then_some(0.0);
        let curves = self.series.iter().flat_map(|series| series.y.iter().copied());
        curves.chain(bands).chain(references).chain(zero)
    }
}

impl LineChart {
    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// No panels, lists of different lengths, positions that decrease or are not finite, an unusable range or size.
    pub fn draw(&self, style: &Style) -> Result<Figure> {
        check::has_panels("line chart", self.panels.len())?;
        self.panels.iter().try_for_each(LinePanel::check)?;
        let colours = style.theme.colours();
        let single = self.panels.len() == 1;
        let width = style.width_or(if single { 760.0 } else { 1000.0 })?;
        let usual = match (single, self.panels.iter().any(|panel| panel.equal)) {
            (true, true) => 420.0,
            (true, false) => 290.0,
            (false, _) => 200.0,
        };
        let height = style.panel_height_or(usual)?;
        let names = self.names();
        let mut panels = Vec::with_capacity(self.panels.len());
        for panel in &self.panels {
            let spacing = Spacing::log_if(panel.log);
            let (scale, _) = check::vertical_scale(&panel.title, spacing, panel.y_range, panel.values())?;
            let across = Spacing::log_if(panel.x_log && panel.positions().any(|x| x > 0.0));
            let horizontal = Scale::covering(across, panel.positions(), 0.02).unwrap_or(Scale {
                spacing: Spacing::Linear,
                low: 0.0,
                high: 1.0,
            });
            panels.push(Panel {
                title: panel.title.clone(),
                horizontal: Horizontal::Numeric {
                    scale: horizontal,
                    label: panel.x_label.clone(),
                    labelled: true,
                },
                vertical: Vertical::Numeric {
                    scale,
                    label: panel.y_label.clone(),
                },
                height,
                right: 0.0,
                equal: panel.equal,
            });
        }
        let page = Page {
            title: &self.title,
            legend: self.legend(&names, colours),
            columns: self.columns,
            width,
            colours,
        };
        let mut layout = page.arrange(panels);
        for (placed, panel) in layout.panels.iter().zip(&self.panels) {
            placed.draw_back(&mut layout.canvas, colours);
            draw_panel(&mut layout.canvas, placed, panel, &names, colours);
            placed.draw_front(&mut layout.canvas, colours);
        }
        Ok(layout.finish())
    }

    /// Names of series in order of appearance; the place of a name is the index of its colour.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    fn legend(&self, names: &[&str], colours: &Colours) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut add = |label: &str, sample: Sample, colour: &'static str| {
            let entry = Entry {
                label: label.to_owned(),
                sample,
                colour,
            };
            if !label.is_empty() && !entries.contains(&entry) {
                entries.push(entry);
            }
        };
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            let index = colour_index(names, series);
            let sample = match series.style {
                LineStyle::Line => Sample::Line {
                    dash: colours.dash(index),
                    width: 1.6,
                },
                LineStyle::Dashed => Sample::Line {
                    dash: Some("5 3"),
                    width: 1.6,
                },
                LineStyle::Dots => Sample::Dots { radius: 2.0 },
                LineStyle::Stem => Sample::Stem,
            };
            add(&series.name, sample, colours.series(index));
        }
        for reference in self.panels.iter().flat_map(|panel| &panel.references) {
            let sample = Sample::Line {
                dash: Some(REFERENCE_DASH),
                width: 1.2,
            };
            add(&reference.label, sample, colours.text);
        }
        for band in self.panels.iter().flat_map(|panel| &panel.bands) {
            add(
                &band.label,
                Sample::Band {
                    opacity: 2.0 * BAND_OPACITY,
                },
                band_colour(names, band, colours),
            );
        }
        entries
    }
}

fn colour_index(names: &[&str], series: &LineSeries) -> usize {
    names.iter().position(|name| *name == series.name).unwrap_or(0)
}

fn band_colour(names: &[&str], band: &ShadedBand, colours: &Colours) -> &'static str {
    let index = band
        .of
        .as_deref()
        .and_then(|of| names.iter().position(|name| *name == of));
    index.map_or(colours.muted, |index| colours.series(index))
}

fn draw_panel(canvas: &mut Canvas, placed: &Placed, panel: &LinePanel, names: &[&str], colours: &Colours) {
    if !panel.values().any(f64::is_finite) {
        placed.draw_note(canvas, colours, "no data");
        return;
    }
    let frame = placed.frame;
    canvas.open_clip(frame);
    for band in &panel.bands {
        let edges = band.lower.iter().zip(&band.upper).zip(&band.x);
        let points: Vec<_> = edges
            .map(|((&lower, &upper), &x)| (placed.x(x), placed.y(upper), placed.y(lower)))
            .collect();
        canvas.open_group("band");
        let colour = band_colour(names, band, colours);
        marks::band(canvas, &decimate::band(&points), colour, BAND_OPACITY);
        canvas.close_group();
    }
    let zero = placed.y(0.0).clamp(frame.top, frame.bottom());
    if placed.shows(0.0) {
        canvas.line(
            (frame.left, zero),
            (frame.right(), zero),
            Paint::stroke(colours.axis, 0.8),
        );
    }
    for reference in panel.references.iter().filter(|reference| reference.value.is_finite()) {
        let y = placed.y(reference.value);
        let paint = Paint::stroke(colours.text, 1.2).dashed(Some(REFERENCE_DASH));
        canvas.open_group("reference");
        canvas.line((frame.left, y), (frame.right(), y), paint);
        canvas.close_group();
    }
    for series in &panel.series {
        let index = colour_index(names, series);
        let colour = colours.series(index);
        let points: Vec<_> = series
            .x
            .iter()
            .zip(&series.y)
            .map(|(&x, &y)| (placed.x(x), placed.y(y)))
            .collect();
        canvas.open_group("series");
        let style = match series.style {
            // So many stems side by side are an area: its outline says as much.
            LineStyle::Stem if points.len() > KEPT_WHOLE => LineStyle::Line,
            style => style,
        };
        match style {
            LineStyle::Line => marks::line(canvas, &decimate::line(&points), 1.6, colour, colours.dash(index)),
            LineStyle::Dashed => marks::line(canvas, &decimate::line(&points), 1.6, colour, Some("5 3")),
            LineStyle::Dots => marks::dots(canvas, &decimate::dots(&present(&points)), 2.0, colour),
            LineStyle::Stem => {
                let points = present(&points);
                let stems: Vec<Vec<(f64, f64)>> = points.iter().map(|&(x, y)| vec![(x, zero), (x, y)]).collect();
                // Stems closer than their dots would merge into a blot.
                let crowded = points.len() as f64 * 5.0 > frame.width;
                marks::line(canvas, &stems, if crowded { 1.0 } else { 1.4 }, colour, None);
                marks::dots(canvas, &points, if crowded { 1.4 } else { 2.4 }, colour);
            }
        }
        canvas.close_group();
    }
    canvas.close_clip();
}

fn present(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().copied().filter(|point| !point.1.is_nan()).collect()
}
