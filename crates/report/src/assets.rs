//! What pages are made of, for who serves pages instead of writing one file.

/// uPlot, which draws the charts; it defines `uPlot`.
pub const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
/// Light and dark, and the colours of series; it defines `theme`.
pub const THEME_SCRIPT: &str = include_str!("../assets/theme.js");
/// Charts; it defines `charts` and needs the two above.
pub const CHARTS_SCRIPT: &str = include_str!("../assets/charts.js");
/// Heat maps and boxes; it defines `drawn` and needs the three above.
pub const DRAWN_SCRIPT: &str = include_str!("../assets/drawn.js");
/// The style sheet of uPlot.
pub const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
/// The style sheet of all pages.
pub const STYLE: &str = include_str!("../assets/report.css");
