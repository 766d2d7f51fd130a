//! Distributions side by side.

use crate::Result;
use crate::box_statistics::BoxStatistics;
use crate::check;
use crate::figure::Figure;
use crate::font::Weight;
use crate::legend::{Entry, Sample};
use crate::marks;
use crate::page::{Page, column_count};
use crate::panel::{Horizontal, Panel, Placed, Vertical};
use crate::scale::{Scale, Spacing};
use crate::svg::{Anchor, Canvas, Paint, Rect, Text};
use crate::theme::{Colours, Style};

const TARGET_DASH: &str = "6 4";

/// Box plots in a grid of panels, one panel per quantity.
///
/// A box spans the quartiles, a line marks the median, a diamond the mean; see [`BoxStatistics`] for whiskers and
/// outliers. A published value stands next to the box as a hollow square with a bar of one standard deviation.
///
/// ```
/// use intervalid_figure::{BoxGroup, BoxPanel, BoxPlot, Published, Style};
///
/// let group = BoxGroup {
///     label: "interval LSTM".to_owned(),
///     values: vec![0.11, 0.12, 0.10, 0.13],
///     published: Some(Published { mean: 0.12, standard_deviation: 0.01 }),
///     colour: 0,
/// };
/// let panel = BoxPanel { y_label: "RMSE".to_owned(), groups: vec![group], ..BoxPanel::default() };
/// let figure = BoxPlot { panels: vec![panel], ..BoxPlot::default() }.draw(&Style::default())?;
/// # Ok::<(), intervalid_figure::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxPlot {
    /// Title of the figure; may be empty.
    pub title: String,
    /// The panels, row by row. At least one.
    pub panels: Vec<BoxPanel>,
    /// Panels side by side; 0 chooses by their number. Fewer when the figure is too narrow.
    pub columns: usize,
    /// Name of published values in the legend. Empty: "published mean ± standard deviation".
    pub published_label: String,
}

/// One panel of a [`BoxPlot`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxPanel {
    /// Title of the panel; may be empty.
    pub title: String,
    /// Name and unit of the values.
    pub y_label: String,
    /// The boxes from left to right.
    pub groups: Vec<BoxGroup>,
    /// A value to compare with, drawn as a horizontal line.
    pub target: Option<Target>,
    /// Whether the axis is logarithmic. It stays linear when no value is positive.
    pub log: bool,
    /// Vertical range; `None` shows all values.
    pub y_range: Option<(f64, f64)>,
}

/// One box.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxGroup {
    /// Name under the box; words wrap, many long names slant.
    pub label: String,
    /// The sample. Values that cannot be drawn (not finite, or not positive on a log axis) are counted under the name,
    /// as in "(2 n/a)"; a box without any value says "no data".
    pub values: Vec<f64>,
    /// A published value of the same quantity.
    pub published: Option<Published>,
    /// Index of the colour, for telling families of boxes apart; they repeat after six.
    pub colour: usize,
}

/// A published mean and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, 0 when none was published.
    pub standard_deviation: f64,
}

/// A horizontal target line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Where the line is.
    pub value: f64,
    /// Its name in the legend. Empty: "target".
    pub label: String,
}

impl BoxPanel {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let published = self
            .groups
            .iter()
            .filter_map(|group| group.published)
            .flat_map(|published| {
                let deviation = published.standard_deviation.abs();
                [published.mean - deviation, published.mean, published.mean + deviation]
            });
        let sampled = self.groups.iter().flat_map(|group| group.values.iter().copied());
        sampled
            .chain(published)
            .chain(self.target.iter().map(|target| target.value))
    }

    fn labels(&self, scale: &Scale) -> Vec<String> {
        let hidden = |value: &&f64| !value.is_finite() || (scale.spacing == Spacing::Log && **value <= 0.0);
        let label = |group: &BoxGroup| match group.values.iter().filter(hidden).count() {
            0 => group.label.clone(),
            count => format!("{} ({count} n/a)", group.label),
        };
        self.groups.iter().map(label).collect()
    }
}

impl BoxPlot {
    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// No panels, an unusable range or size.
    pub fn draw(&self, style: &Style) -> Result<Figure> {
        check::has_panels("box plot", self.panels.len())?;
        let colours = style.theme.colours();
        let single = self.panels.len() == 1;
        let width = style.width_or(if single { 760.0 } else { 1000.0 })?;
        let height = style.panel_height_or(if single { 300.0 } else { 210.0 })?;
        let mut panels = Vec::with_capacity(self.panels.len());
        for panel in &self.panels {
            let spacing = Spacing::log_if(panel.log);
            let (scale, _) = check::vertical_scale(&panel.title, spacing, panel.y_range, panel.values())?;
            panels.push(Panel {
                title: panel.title.clone(),
                horizontal: Horizontal::Categories {
                    labels: panel.labels(&scale),
                    label: String::new(),
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
            columns: column_count(self.columns, self.panels.len(), width),
            width,
            colours,
        };
        let mut layout = page.arrange(panels);
        for (placed, panel) in layout.panels.iter().zip(&self.panels) {
            placed.draw_back(&mut layout.canvas, colours);
            draw_panel(&mut layout.canvas, placed, panel, colours);
            placed.draw_front(&mut layout.canvas, colours);
        }
        Ok(layout.finish())
    }

    fn legend(&self, colours: &Colours) -> Vec<Entry> {
        let groups = || self.panels.iter().flat_map(|panel| &panel.groups);
        let mut entries = Vec::new();
        let mut add = |label: &str, sample: Sample, colour: &'static str| {
            let entry = Entry {
                label: label.to_owned(),
                sample,
                colour,
            };
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        };
        if groups().any(|group| group.values.iter().any(|value| value.is_finite())) {
            add("median and quartiles", Sample::Box, colours.muted);
            add("mean", Sample::Diamond, colours.text);
        }
        if groups().any(|group| group.published.is_some()) {
            let given = self.published_label.as_str();
            let label = if given.is_empty() {
                "published mean ± standard deviation"
            } else {
                given
            };
            add(label, Sample::ErrorBar, colours.reference);
        }
        for target in self.panels.iter().filter_map(|panel| panel.target.as_ref()) {
            let label = if target.label.is_empty() {
                "target"
            } else {
                &target.label
            };
            let sample = Sample::Line {
                dash: Some(TARGET_DASH),
                width: 1.3,
            };
            add(label, sample, colours.text);
        }
        entries
    }
}

fn draw_panel(canvas: &mut Canvas, placed: &Placed, panel: &BoxPanel, colours: &Colours) {
    if panel.groups.is_empty() {
        placed.draw_note(canvas, colours, "no data");
        return;
    }
    canvas.open_clip(placed.frame);
    if let Some(target) = panel.target.as_ref().filter(|target| target.value.is_finite()) {
        let y = placed.y(target.value);
        let paint = Paint::stroke(colours.text, 1.3).dashed(Some(TARGET_DASH));
        canvas.line((placed.frame.left, y), (placed.frame.right(), y), paint);
    }
    let beside = panel.groups.iter().any(|group| group.published.is_some());
    for (index, group) in panel.groups.iter().enumerate() {
        let (centre, slot) = placed.slot(index);
        let half = (0.28 * slot).min(24.0);
        // Published values stand to the right; box and marker together are centred in the slot.
        let gap = (0.14 * slot).clamp(6.5, 10.0);
        let centre = if beside { centre - gap } else { centre };
        let half = if beside { half.min(0.24 * slot) } else { half };
        match BoxStatistics::new(&group.values) {
            Some(statistics) => {
                canvas.open_group("box");
                draw_box(
                    canvas,
                    placed,
                    &statistics,
                    (centre, half),
                    colours.beside_reference(group.colour),
                    colours,
                );
                canvas.close_group();
            }
            None => draw_missing(canvas, placed, centre, colours),
        }
        if let Some(published) = group.published.filter(|published| published.mean.is_finite()) {
            let x = centre + half + gap;
            let deviation = published.standard_deviation.abs();
            let deviation = if deviation.is_finite() { deviation } else { 0.0 };
            let (top, bottom) = (
                placed.y(published.mean + deviation),
                placed.y(published.mean - deviation),
            );
            canvas.open_group("published");
            let middle = (x, placed.y(published.mean));
            marks::error_bar(canvas, middle, (top, bottom), colours.background, colours.reference);
            canvas.close_group();
        }
    }
    canvas.close_clip();
}

fn draw_box(
    canvas: &mut Canvas,
    placed: &Placed,
    statistics: &BoxStatistics,
    (centre, half): (f64, f64),
    colour: &str,
    colours: &Colours,
) {
    let y = |value: f64| placed.y(value);
    let (left, right) = (centre - half, centre + half);
    let stroke = Paint::stroke(colour, 1.2);
    for (whisker, quartile) in [
        (statistics.lower_whisker, statistics.lower_quartile),
        (statistics.upper_whisker, statistics.upper_quartile),
    ] {
        canvas.line((centre, y(quartile)), (centre, y(whisker)), stroke);
        canvas.line(
            (centre - half / 2.0, y(whisker)),
            (centre + half / 2.0, y(whisker)),
            stroke,
        );
    }
    let area = Rect::between(
        (left, y(statistics.lower_quartile)),
        (right, y(statistics.upper_quartile)),
    );
    // An opaque layer first: grid and target lines must not shine through.
    canvas.rect(area, Paint::fill(colours.background));
    canvas.rect(area, Paint::fill(colour).with_opacity(0.25).with_stroke(colour, 1.2));
    let median = y(statistics.median);
    canvas.line((left, median), (right, median), Paint::stroke(colour, 2.2));
    let outliers: Vec<_> = statistics.outliers.iter().map(|&value| (centre, y(value))).collect();
    marks::dots(canvas, &outliers, 1.9, colour);
    let paint = Paint::fill(colours.background).with_stroke(colours.text, 1.1);
    marks::diamond(canvas, (centre, y(statistics.mean)), 3.6, paint);
}

fn draw_missing(canvas: &mut Canvas, placed: &Placed, centre: f64, colours: &Colours) {
    canvas.text(&Text {
        content: "no data",
        x: centre + 4.0,
        y: placed.frame.top + placed.frame.height / 2.0,
        size: 10.0,
        colour: colours.muted,
        anchor: Anchor::Middle,
        weight: Weight::Regular,
        angle: -90.0,
    });
}
