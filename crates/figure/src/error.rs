//! The one error type of this crate.

use std::path::PathBuf;

/// Why a figure could not be drawn, rendered or written.
///
/// Missing values are no error: NaN leaves a gap and an empty panel says "no data".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A figure without panels.
    #[error("{figure} without panels: at least one is needed")]
    NoPanels {
        /// Kind of figure.
        figure: &'static str,
    },
    /// Two lists that belong together differ in length.
    #[error("panel '{panel}': {field} has {found} entries, expected {expected}")]
    UnequalLengths {
        /// Title of the panel, empty when it has none.
        panel: String,
        /// The list that differs.
        field: String,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// Positions along x that are not finite or run backwards.
    #[error("panel '{panel}': x[{index}] = {found} after {previous}: positions must be finite and must not decrease")]
    UnorderedPositions {
        /// Title of the panel, empty when it has none.
        panel: String,
        /// Index of the offending position.
        index: usize,
        /// The position before it; NaN for the first.
        previous: f64,
        /// The offending position.
        found: f64,
    },
    /// Axis limits that are not an interval.
    #[error("panel '{panel}': y range {low} to {high} must be finite and increasing, and positive on a log axis")]
    Range {
        /// Title of the panel, empty when it has none.
        panel: String,
        /// Lower limit.
        low: f64,
        /// Upper limit.
        high: f64,
    },
    /// A size outside the range that can be drawn.
    #[error("{what} {found} is outside {min} to {max}")]
    Size {
        /// What is measured.
        what: &'static str,
        /// The value given.
        found: f64,
        /// Smallest value allowed.
        min: f64,
        /// Largest value allowed.
        max: f64,
    },
    /// A file name that ends in neither `.svg` nor `.png`.
    #[error("{}: figures are saved as .svg or .png", path.display())]
    Extension {
        /// The path given.
        path: PathBuf,
    },
    /// The renderer refused the figure; a defect of this crate.
    #[error("cannot render the figure: {reason}")]
    Render {
        /// What the renderer said.
        reason: String,
    },
    /// The file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The path given.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
