//! Matrices as coloured cells.

use crate::Result;
use crate::category_labels::TICK_SIZE;
use crate::check;
use crate::colour_map;
use crate::figure::Figure;
use crate::font::{Weight, middle_to_baseline, shorten, text_width};
use crate::legend::{Entry, Sample};
use crate::page::Page;
use crate::panel::{Horizontal, Panel, Placed, Vertical};
use crate::scale::{Scale, Spacing};
use crate::svg::{Anchor, Canvas, Paint, PathData, Rect, Text};
use crate::theme::{Colours, Style};
use crate::ticks::{Tick, ticks};

/// Rows or columns beyond which neighbouring cells are merged; they would be smaller than a pixel.
const MOST_CELLS: usize = 256;
const BAR_WIDTH: f64 = 12.0;
const BAR_GAP: f64 = 10.0;
const LABEL_SIZE: f64 = 11.0;

/// Heat maps in a grid, each with its colour bar.
///
/// Cells that are infinite have a colour of their own and the legend entry "unbounded"; NaN cells are grey, "no value".
/// Beyond 256 rows or columns neighbouring cells are merged and show the largest value; an infinite one wins.
///
/// ```
/// use intervalid_figure::{HeatMap, HeatMapGrid, Style};
///
/// let map = HeatMap {
///     title: "input layer".to_owned(),
///     rows: vec!["neuron 1".to_owned(), "neuron 2".to_owned()],
///     columns: vec!["u(k)".to_owned(), "u(k-1)".to_owned(), "y(k-1)".to_owned()],
///     values: vec![vec![0.1, 0.4, f64::INFINITY], vec![0.0, 0.2, 0.9]],
///     value_label: "elasticity".to_owned(),
///     ..HeatMap::default()
/// };
/// let figure = HeatMapGrid { maps: vec![map], ..HeatMapGrid::default() }.draw(&Style::default())?;
/// assert!(figure.to_svg().contains("unbounded"));
/// # Ok::<(), intervalid_figure::FigureError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMapGrid {
    /// Title of the figure; may be empty.
    pub title: String,
    /// The maps, row by row. At least one.
    pub maps: Vec<HeatMap>,
    /// Maps side by side; 0 chooses by their number. Fewer when the figure is too narrow.
    pub columns: usize,
    /// Whether all maps have the same colours for the same values.
    pub shared_scale: bool,
    /// Whether colours follow the logarithm; values that are not positive get the lowest colour. Ignored when no value
    /// is positive; a map of zeros alone has the lowest colour everywhere.
    pub log: bool,
}

/// One matrix of a [`HeatMapGrid`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Title of the panel; may be empty.
    pub title: String,
    /// Name of what runs down the rows; may be empty.
    pub row_label: String,
    /// Name of what runs across the columns; may be empty.
    pub column_label: String,
    /// Names of the rows, the first on top.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// One list per row with one value per column.
    pub values: Vec<Vec<f64>>,
    /// What the colours mean, with unit; stands along the colour bar.
    pub value_label: String,
}

impl HeatMap {
    fn check(&self) -> Result<()> {
        check::same_length(&self.title, "values", self.rows.len(), self.values.len())?;
        for (index, row) in self.values.iter().enumerate() {
            check::same_length(&self.title, &format!("values[{index}]"), self.columns.len(), row.len())?;
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().flatten().copied()
    }

    /// Cells as drawn: at most [`MOST_CELLS`] in each direction.
    fn merged(&self) -> Vec<Vec<f64>> {
        let (row_block, column_block) = (
            self.rows.len().div_ceil(MOST_CELLS).max(1),
            self.columns.len().div_ceil(MOST_CELLS).max(1),
        );
        let merge_columns = |rows: &[Vec<f64>]| -> Vec<f64> {
            (0..self.columns.len())
                .step_by(column_block)
                .map(|start| {
                    let end = (start + column_block).min(self.columns.len());
                    let block = rows.iter().flat_map(|row| &row[start..end]);
                    block.copied().reduce(dominant).unwrap_or(f64::NAN)
                })
                .collect()
        };
        self.values.chunks(row_block).map(merge_columns).collect()
    }
}

/// Of two cells the one that must not vanish: infinite before finite, larger before smaller, any value before none.
fn dominant(a: f64, b: f64) -> f64 {
    let rank = |value: f64| if value.is_infinite() { f64::INFINITY } else { value };
    if b.is_nan() || rank(a) >= rank(b) { a } else { b }
}

impl HeatMapGrid {
    /// Draws the figure.
    ///
    /// # Errors
    ///
    /// No maps, values that do not match the names of rows and columns, an unusable size.
    pub fn draw(&self, style: &Style) -> Result<Figure> {
        check::has_panels("heat map", self.maps.len())?;
        self.maps.iter().try_for_each(HeatMap::check)?;
        let colours = style.theme.colours();
        let width = style.width_or(match self.maps.len() {
            1 => 640.0,
            2..=4 => 940.0,
            _ => 1080.0,
        })?;
        let most_rows = self.maps.iter().map(|map| map.rows.len()).max().unwrap_or(0);
        let height = style.panel_height_or((most_rows as f64 * 20.0).clamp(150.0, 300.0))?;
        let scales: Vec<Scale> = self.maps.iter().map(|map| self.scale(map)).collect();
        let bars: Vec<ColourBar> = scales
            .iter()
            .zip(&self.maps)
            .map(|(scale, map)| ColourBar::new(*scale, &map.value_label, height))
            .collect();
        let panel = |(map, bar): (&HeatMap, &ColourBar)| Panel {
            title: map.title.clone(),
            horizontal: Horizontal::Categories {
                labels: map.columns.clone(),
                label: map.column_label.clone(),
            },
            vertical: Vertical::Categories {
                labels: map.rows.clone(),
                label: map.row_label.clone(),
            },
            height,
            right: bar.room(),
            equal: false,
        };
        let page = Page {
            title: &self.title,
            legend: self.legend(colours),
            columns: self.columns,
            width,
            colours,
        };
        let mut layout = page.arrange(self.maps.iter().zip(&bars).map(panel).collect());
        for ((placed, map), bar) in layout.panels.iter().zip(&self.maps).zip(&bars) {
            placed.draw_back(&mut layout.canvas, colours);
            if map.all().next().is_none() {
                placed.draw_note(&mut layout.canvas, colours, "no data");
            } else {
                draw_cells(&mut layout.canvas, placed.frame, &map.merged(), &bar.scale, colours);
                bar.draw(&mut layout.canvas, placed, colours);
            }
            placed.draw_front(&mut layout.canvas, colours);
        }
        Ok(layout.finish())
    }

    fn scale(&self, map: &HeatMap) -> Scale {
        let values: Vec<f64> = if self.shared_scale {
            self.maps.iter().flat_map(HeatMap::all).collect()
        } else {
            map.all().collect()
        };
        let from_zero = Scale {
            spacing: Spacing::Linear,
            low: 0.0,
            high: 1.0,
        };
        // Nothing but zeros where sizes were expected: the lowest colour, as zeros have beside larger values.
        if self.log && values.iter().all(|value| *value == 0.0 || !value.is_finite()) {
            return from_zero;
        }
        let covering = |spacing| Scale::covering(spacing, values.iter().copied(), 0.0);
        covering(Spacing::log_if(self.log))
            .or_else(|| covering(Spacing::Linear))
            .unwrap_or(from_zero)
    }

    fn legend(&self, colours: &Colours) -> Vec<Entry> {
        let all = || self.maps.iter().flat_map(HeatMap::all);
        let entries = [
            (all().any(f64::is_infinite), "unbounded", colours.unbounded),
            (all().any(f64::is_nan), "no value", colours.missing),
        ];
        let shown = entries.into_iter().filter(|entry| entry.0);
        shown
            .map(|(_, label, colour)| Entry {
                label: label.to_owned(),
                sample: Sample::Fill,
                colour,
            })
            .collect()
    }
}

fn draw_cells(canvas: &mut Canvas, frame: Rect, values: &[Vec<f64>], scale: &Scale, colours: &Colours) {
    // One path per colour instead of one element per cell keeps large maps small.
    const UNBOUNDED: usize = colour_map::LEVELS;
    const MISSING: usize = UNBOUNDED + 1;
    let paint = |value: f64| match value {
        value if value.is_nan() => MISSING,
        value if value.is_infinite() => UNBOUNDED,
        value => colour_map::level(scale.fraction(value)),
    };
    let mut paths: Vec<PathData> = (0..=MISSING).map(|_| PathData::default()).collect();
    for (row, cells) in values.iter().enumerate() {
        let mut column = 0;
        for run in cells.chunk_by(|&a, &b| paint(a) == paint(b)) {
            paths[paint(run[0])].cells(column, row, run.len());
            column += run.len();
        }
    }
    canvas.open_cells("cells", frame, values[0].len(), values.len());
    for (level, path) in paths.iter().enumerate() {
        match level {
            UNBOUNDED => canvas.path(path, Paint::fill(colours.unbounded)),
            MISSING => canvas.path(path, Paint::fill(colours.missing)),
            _ => canvas.path(path, Paint::fill(&colour_map::colour(level))),
        }
    }
    canvas.close_group();
}

/// The key to the colours, right of a map.
struct ColourBar {
    scale: Scale,
    label: String,
    ticks: Vec<Tick>,
}

impl ColourBar {
    fn new(scale: Scale, label: &str, height: f64) -> Self {
        Self {
            scale,
            label: label.to_owned(),
            ticks: ticks(&scale, (height / 38.0) as usize),
        }
    }

    fn tick_width(&self) -> f64 {
        self.ticks
            .iter()
            .map(|tick| text_width(&tick.label, TICK_SIZE, Weight::Regular))
            .fold(0.0, f64::max)
    }

    fn room(&self) -> f64 {
        let label_room = if self.label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 };
        BAR_GAP + BAR_WIDTH + 5.0 + self.tick_width() + label_room
    }

    fn draw(&self, canvas: &mut Canvas, placed: &Placed, colours: &Colours) {
        let frame = placed.frame;
        let bar = Rect {
            left: frame.right() + BAR_GAP,
            width: BAR_WIDTH,
            ..frame
        };
        canvas.open_cells("colour-bar", bar, 1, colour_map::LEVELS);
        for level in 0..colour_map::LEVELS {
            let mut path = PathData::default();
            path.cells(0, colour_map::LEVELS - 1 - level, 1);
            canvas.path(&path, Paint::fill(&colour_map::colour(level)));
        }
        canvas.close_group();
        canvas.rect(bar, Paint::stroke(colours.axis, 0.8));
        let mut write = |content: &str, x: f64, y: f64, anchor: Anchor, angle: f64| {
            canvas.text(&Text {
                content,
                x,
                y,
                size: TICK_SIZE,
                colour: colours.text,
                anchor,
                weight: Weight::Regular,
                angle,
            });
        };
        for tick in self.ticks.iter().filter(|tick| !tick.label.is_empty()) {
            let y = bar.bottom() - self.scale.fraction(tick.value) * bar.height;
            write(
                &tick.label,
                bar.right() + 5.0,
                y + middle_to_baseline(TICK_SIZE),
                Anchor::Start,
                0.0,
            );
        }
        if !self.label.is_empty() {
            let x = bar.right() + 5.0 + self.tick_width() + LABEL_SIZE + 3.0;
            let label = shorten(&self.label, bar.height + 20.0, TICK_SIZE);
            write(&label, x, bar.top + bar.height / 2.0, Anchor::Middle, -90.0);
        }
        for tick in self.ticks.iter().filter(|tick| !tick.label.is_empty()) {
            let y = bar.bottom() - self.scale.fraction(tick.value) * bar.height;
            canvas.line(
                (bar.right(), y),
                (bar.right() + 3.0, y),
                Paint::stroke(colours.axis, 1.0),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_what_matters() {
        let count = 600;
        let mut values = vec![vec![0.5; count]; count];
        values[17][311] = 9.0;
        values[400][2] = f64::NEG_INFINITY;
        values[599][599] = f64::NAN;
        let names = |count: usize| (0..count).map(|index| index.to_string()).collect::<Vec<_>>();
        let map = HeatMap {
            rows: names(count),
            columns: names(count),
            values,
            ..HeatMap::default()
        };
        let merged = map.merged();
        assert_eq!((merged.len(), merged[0].len()), (200, 200));
        let kept = |wanted: fn(f64) -> bool| merged.iter().flatten().filter(|value| wanted(**value)).count();
        assert_eq!(
            (kept(|value| value > 8.0), kept(f64::is_infinite), kept(f64::is_nan)),
            (1, 1, 0)
        );
    }

    #[test]
    fn zeros_alone_have_the_lowest_colour() {
        let of = |value: f64| {
            let map = HeatMap {
                rows: vec!["a".to_owned()],
                columns: vec!["b".to_owned()],
                values: vec![vec![value]],
                ..HeatMap::default()
            };
            let grid = HeatMapGrid {
                log: true,
                ..HeatMapGrid::default()
            };
            grid.scale(&map).fraction(value)
        };
        assert!(of(0.0).abs() < 1e-12);
        // A constant that says something stands in the middle.
        assert!((of(3.0) - 0.5).abs() < 0.2);
    }

    #[test]
    fn dominance() {
        assert!(dominant(1.0, f64::NAN) > 0.0 && dominant(f64::NAN, 1.0) > 0.0);
        assert!(dominant(f64::NEG_INFINITY, 5.0).is_infinite() && dominant(5.0, f64::INFINITY).is_infinite());
        assert!(dominant(f64::NAN, f64::NAN).is_nan());
    }
}
