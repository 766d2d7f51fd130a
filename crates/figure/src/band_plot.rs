//! Measured values, a prediction and its interval over time.

use crate::Result;
use crate::check;
use crate::decimate::{self, KEPT_WHOLE};
use crate::figure::Figure;
use crate::legend::{Entry, Sample};
use crate::marks;
use crate::page::Page;
use crate::panel::{Horizontal, Panel, Placed, Vertical};
use crate::scale::{Scale, Spacing};
use crate::svg::Canvas;
use crate::theme::{Colours, Style};

/// Samples per panel up to which measured values are dots by default.
const MOST_DOTS: usize = 300;
const BAND_OPACITY: f64 = 0.35;

/// How measured values are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredMarks {
    /// Dots up to 300 samples, a thin line beyond.
    #[default]
    Automatic,
    /// Dots, up to 2000 samples; longer records are drawn as a line.
    Dots,
    /// A thin line.
    Line,
}

/// Panels over one another that share the horizontal axis: one per output, or one per model.
///
/// Samples of measured values outside the interval are marked. Records longer than 2000 samples are thinned to the
/// extremes within each pixel column.
///
/// ```
/// use intervalid_figure::{BandPanel, BandPlot, Style};
///
/// let figure = BandPlot {
///     title: "Free-run simulation".to_owned(),
///     x_label: "time (s)".to_owned(),
///     x: vec![0.0, 0.5, 1.0],
///     panels: vec![BandPanel {
///         y_label: "level (cm)".to_owned(),
///         measured: vec![1.0, 1.4, 2.6],
///         prediction: vec![1.1, 1.5, 2.0],
///         lower: vec![0.9, 1.2, 1.6],
///         upper: vec![1.3, 1.8, 2.4],
///         ..BandPanel::default()
///     }],
///     ..BandPlot::default()
/// }
/// .draw(&Style::default())?;
/// assert!(figure.to_svg().starts_with("<svg"));
/// # Ok::<(), intervalid_figure::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandPlot {
    /// Title of the figure; may be empty.
    pub title: String,
    /// What `x` is, with its unit.
    pub x_label: String,
    /// Position of each sample: its number or its time. Finite, not decreasing.
    pub x: Vec<f64>,
    /// The panels, first on top. At least one.
    pub panels: Vec<BandPanel>,
    /// How measured values are drawn.
    pub measured_as: MeasuredMarks,
    /// Name of the interval in the legend, such as "90 % interval". Empty: "interval".
    pub interval_label: String,
    /// Whether all panels have the same vertical range, for comparing models of one output.
    pub shared_y: bool,
}

/// One panel of a [`BandPlot`]. Lists have one value per entry of `x`, or are empty for what is not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandPanel {
    /// Title of the panel; may be empty.
    pub title: String,
    /// Name and unit of the values.
    pub y_label: String,
    /// Measured values; NaN leaves a gap.
    pub measured: Vec<f64>,
    /// Point prediction; NaN leaves a gap.
    pub prediction: Vec<f64>,
    /// Lower bounds, given together with `upper`. NaN leaves a gap, an infinite bound reaches the edge of the panel.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// Vertical range; `None` shows all finite values. Useful when an interval dwarfs the data.
    pub y_range: Option<(f64, f64)>,
}

impl BandPanel {
    fn check(&self, count: usize) -> Result<()> {
        check::same_length(&self.title, "upper", self.lower.len(), self.upper.len())?;
        let lists = [
            ("measured", &self.measured),
            ("prediction", &self.prediction),
            ("lower", &self.lower),
        ];
        for (field, list) in lists {
            if !list.is_empty() {
                check::same_length(&self.title, field, count, list.len())?;
            }
        }
        Ok(())
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        [&self.measured, &self.prediction, &self.lower, &self.upper]
            .into_iter()
            .flatten()
            .copied()
    }

    /// Indices of measured values outside the interval, with the sign of the side.
    fn outside(&self) -> impl Iterator<Item = (usize, bool)> {
        let bounds = self.lower.iter().zip(&self.upper);
        self.measured
            .iter()
            .zip(bounds)
            .enumerate()
            .filter_map(|(index, (value, (lower, upper)))| {
                (value > upper || value < lower).then_some((index, value > upper))
            })
    }
}

impl BandPlot {
    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// No panels, lists of different lengths, positions that decrease or are not finite, an unusable range or size.
    pub fn draw(&self, style: &Style) -> Result<Figure> {
        check::has_panels("band plot", self.panels.len())?;
        check::ordered(&self.title, &self.x)?;
        self.panels.iter().try_for_each(|panel| panel.check(self.x.len()))?;
        let colours = style.theme.colours();
        let width = style.width_or(900.0)?;
        let height = style.panel_height_or(match self.panels.len() {
            1 => 270.0,
            2..=4 => 170.0,
            _ => 130.0,
        })?;

        let unit = Scale {
            spacing: Spacing::Linear,
            low: 0.0,
            high: 1.0,
        };
        let horizontal = Scale::covering(Spacing::Linear, self.x.iter().copied(), 0.01).unwrap_or(unit);
        let mut panels = Vec::with_capacity(self.panels.len());
        for (index, panel) in self.panels.iter().enumerate() {
            let own = panel.values();
            let (scale, _) = if self.shared_y {
                let all = self.panels.iter().flat_map(BandPanel::values);
                check::vertical_scale(&panel.title, Spacing::Linear, panel.y_range, all)?
            } else {
                check::vertical_scale(&panel.title, Spacing::Linear, panel.y_range, own)?
            };
            panels.push(Panel {
                title: panel.title.clone(),
                horizontal: Horizontal::Numeric {
                    scale: horizontal,
                    label: self.x_label.clone(),
                    labelled: index + 1 == self.panels.len(),
                },
                vertical: Vertical::Numeric {
                    scale,
                    label: panel.y_label.clone(),
                },
                height,
                right: 0.0,
                equal: false,
            });
        }
        let page = Page {
            title: &self.title,
            legend: self.legend(colours),
            columns: 1,
            width,
            colours,
        };
        let mut layout = page.arrange(panels);
        for (placed, panel) in layout.panels.iter().zip(&self.panels) {
            placed.draw_back(&mut layout.canvas, colours);
            self.draw_panel(&mut layout.canvas, placed, panel, colours);
            placed.draw_front(&mut layout.canvas, colours);
        }
        Ok(layout.finish())
    }

    fn as_dots(&self) -> bool {
        let most = match self.measured_as {
            MeasuredMarks::Automatic => MOST_DOTS,
            MeasuredMarks::Dots => KEPT_WHOLE,
            MeasuredMarks::Line => 0,
        };
        self.x.len() <= most
    }

    /// Whether measured values hide the interval: they become paler then, and its bounds are drawn over them.
    fn is_dense(&self) -> bool {
        self.x.len() > KEPT_WHOLE
    }

    fn line_colour(&self, colours: &Colours) -> &'static str {
        if self.is_dense() {
            colours.measured_dense
        } else {
            colours.measured
        }
    }

    fn draw_panel(&self, canvas: &mut Canvas, placed: &Placed, panel: &BandPanel, colours: &Colours) {
        if !panel.values().any(f64::is_finite) {
            placed.draw_note(canvas, colours, "no data");
            return;
        }
        let x = |index: usize| placed.x(self.x[index]);
        let points = |values: &[f64]| -> Vec<(f64, f64)> {
            values
                .iter()
                .enumerate()
                .map(|(index, &value)| (x(index), placed.y(value)))
                .collect()
        };
        canvas.open_clip(placed.frame);
        let bounds = panel.lower.iter().zip(&panel.upper).enumerate();
        let bounds: Vec<_> = bounds
            .map(|(index, (&lower, &upper))| (x(index), placed.y(upper), placed.y(lower)))
            .collect();
        canvas.open_group("interval");
        marks::band(canvas, &decimate::band(&bounds), colours.interval, BAND_OPACITY);
        canvas.close_group();

        canvas.open_group("measured");
        if self.as_dots() {
            let measured: Vec<_> = points(&panel.measured)
                .into_iter()
                .filter(|point| !point.1.is_nan())
                .collect();
            marks::dots(canvas, &measured, 1.7, colours.measured);
        } else {
            let runs = decimate::line(&points(&panel.measured));
            marks::line(canvas, &runs, 0.9, self.line_colour(colours), None);
        }
        canvas.close_group();

        if self.is_dense() {
            canvas.open_group("bounds");
            for bound in [&panel.lower, &panel.upper] {
                marks::line(
                    canvas,
                    &decimate::line(&points(bound)),
                    1.0,
                    colours.prediction,
                    Some("3 2"),
                );
            }
            canvas.close_group();
        }

        canvas.open_group("prediction");
        marks::line(
            canvas,
            &decimate::line(&points(&panel.prediction)),
            1.5,
            colours.prediction,
            None,
        );
        canvas.close_group();

        let distances: Vec<_> = panel
            .outside()
            .map(|(index, above)| {
                let y = placed.y(panel.measured[index]);
                let bound = placed.y(if above { panel.upper[index] } else { panel.lower[index] });
                ((x(index), y), bound - y)
            })
            .collect();
        canvas.open_group("outside");
        // Many marks merge into a fringe; smaller ones keep the line under them visible.
        let radius = if distances.len() > 400 { 1.5 } else { 2.3 };
        marks::dots(canvas, &decimate::farthest(&distances), radius, colours.alert);
        canvas.close_group();
        canvas.close_clip();
    }

    fn legend(&self, colours: &Colours) -> Vec<Entry> {
        let measured = if self.as_dots() {
            Sample::Dots { radius: 1.7 }
        } else {
            Sample::Line { dash: None, width: 0.9 }
        };
        let interval_label = if self.interval_label.is_empty() {
            "interval"
        } else {
            &self.interval_label
        };
        let any = |of: fn(&BandPanel) -> bool| self.panels.iter().any(of);
        let entries = [
            (
                any(|panel| !panel.measured.is_empty()),
                "measured",
                measured,
                self.line_colour(colours),
            ),
            (
                any(|panel| !panel.prediction.is_empty()),
                "prediction",
                Sample::Line { dash: None, width: 1.5 },
                colours.prediction,
            ),
            (
                any(|panel| !panel.lower.is_empty()),
                interval_label,
                Sample::Band { opacity: BAND_OPACITY },
                colours.interval,
            ),
            (
                any(|panel| panel.outside().next().is_some()),
                "measured outside the interval",
                Sample::Dots { radius: 2.3 },
                colours.alert,
            ),
        ];
        let shown = entries.into_iter().filter(|entry| entry.0);
        shown
            .map(|(_, label, sample, colour)| Entry {
                label: label.to_owned(),
                sample,
                colour,
            })
            .collect()
    }
}
