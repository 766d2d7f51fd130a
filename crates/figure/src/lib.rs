//! Drawing: plain data in, SVG or PNG out. Nothing here knows of models or recordings.
//!
//! Each kind of figure is a struct with public fields and a method `draw`, which checks the data and returns a
//! [`Figure`]:
//!
//! | figure | shows |
//! |---|---|
//! | [`BandPlot`] | measured values, prediction and interval over time, one panel per output or model |
//! | [`BoxPlot`] | distributions side by side, with published values and targets |
//! | [`HeatMapGrid`] | matrices as coloured cells |
//! | [`BarChart`] | labelled bars, grouped by series |
//! | [`LineChart`] | named curves: training histories, correlations, rolling coverage |
//!
//! ```
//! use intervalid_figure::{LineChart, LinePanel, LineSeries, Style, Theme};
//!
//! let series = LineSeries {
//!     name: "coverage".to_owned(),
//!     x: vec![0.0, 1.0, 2.0],
//!     y: vec![0.91, f64::NAN, 0.88],
//!     ..LineSeries::default()
//! };
//! let chart = LineChart {
//!     title: "Rolling coverage".to_owned(),
//!     panels: vec![LinePanel { series: vec![series], ..LinePanel::default() }],
//!     ..LineChart::default()
//! };
//! let figure = chart.draw(&Style::new(Theme::Dark))?;
//! assert!(figure.to_png(1.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), intervalid_figure::FigureError>(())
//! ```
//!
//! Colours are those of Okabe and Ito, distinguishable with colour-blindness, and viridis. Room for labels is measured
//! with the widths of the embedded font (a subset of DejaVu Sans, see `assets/LICENSE_DEJAVU.txt`), so labels keep
//! clear of each other and inside the page (very long names end in an ellipsis), and PNG files need no fonts on the
//! machine. Equal data give equal bytes.

mod advance_table;
mod band_plot;
mod bar_chart;
mod box_plot;
mod box_statistics;
mod category_labels;
mod check;
mod colour_map;
mod decimate;
mod error;
mod figure;
mod font;
mod heat_map;
mod legend;
mod line_chart;
mod marks;
mod page;
mod panel;
mod scale;
mod svg;
mod theme;
mod ticks;

pub use band_plot::{BandPanel, BandPlot, MeasuredMarks};
pub use bar_chart::{BarChart, BarSeries};
pub use box_plot::{BoxGroup, BoxPanel, BoxPlot, Published, Target};
pub use box_statistics::BoxStatistics;
pub use error::FigureError;
pub use figure::{Figure, SAVED_PNG_SCALE};
pub use heat_map::{HeatMap, HeatMapGrid};
pub use line_chart::{LineChart, LinePanel, LineSeries, LineStyle, ReferenceLine, ShadedBand};
pub use theme::{Style, Theme};

/// `Result` with this crate's error.
pub type Result<T, E = FigureError> = std::result::Result<T, E>;
