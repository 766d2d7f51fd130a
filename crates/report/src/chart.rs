//! Charts as the page's script draws them: data and labels, no looks.

use serde::{Deserialize, Serialize};

use crate::column::Column;

/// One chart of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "a page has a few dozen charts")]
pub(crate) enum Chart {
    /// Measured output, simulation and band over time.
    Band(BandChart),
    /// An input over time, in step with the outputs.
    Input(InputChart),
    /// Several models on the same samples.
    Overlay(OverlayChart),
    /// Lines over a common axis.
    Lines(LinesChart),
    /// Half-width against error, a point per sample.
    Scatter(ScatterChart),
    /// Values of named categories.
    Bars(BarsChart),
    /// A matrix.
    Heat(HeatChart),
    /// Seeds of several models.
    Boxes(BoxesChart),
}

/// Equally spaced positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) start: f64,
    pub(crate) step: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BandChart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y_label: String,
    /// Such as `90 % interval`.
    pub(crate) band_label: String,
    pub(crate) measured: Column,
    pub(crate) prediction: Column,
    pub(crate) lower: Column,
    pub(crate) upper: Column,
    /// Lower and upper end of the band that follows the measured outputs.
    pub(crate) online: Option<[Column; 2]>,
    /// Samples that are not inside, from 0.
    pub(crate) outside: Vec<usize>,
    /// First and last sample of stretches outside the region of the training data.
    pub(crate) extrapolated: Vec<[usize; 2]>,
    /// Charts with the same name are zoomed together.
    pub(crate) sync: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputChart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y_label: String,
    pub(crate) values: Column,
    /// As in [`BandChart`].
    pub(crate) sync: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OverlayChart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y_label: String,
    pub(crate) measured: Column,
    pub(crate) models: Vec<OverlayModel>,
    /// As in [`BandChart`].
    pub(crate) sync: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OverlayModel {
    pub(crate) name: String,
    pub(crate) prediction: Column,
    pub(crate) lower: Column,
    pub(crate) upper: Column,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinesChart {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) x: Vec<f64>,
    pub(crate) series: Vec<Series>,
    /// Horizontal lines.
    pub(crate) references: Vec<Reference>,
    pub(crate) log: bool,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub(crate) x_log: bool,
    /// Bands between two series.
    #[serde(default)]
    pub(crate) fills: Vec<Fill>,
    /// Bounds of the vertical axis, where they do not follow the data.
    pub(crate) y_range: Option<[f64; 2]>,
    /// Whether one unit is as long across as it is upwards.
    #[serde(default)]
    pub(crate) equal: bool,
}

/// What lies between two series, in the colour of a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fill {
    /// Upper and lower edge, as indices of series.
    pub(crate) edges: [usize; 2],
    /// The series whose band it is.
    pub(crate) of: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) style: SeriesStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SeriesStyle {
    Line,
    /// A stem from zero, as correlations are drawn.
    Stem,
    /// A line that holds its value.
    Step,
    /// A line over positions that other series have and it has not.
    Joined,
    /// Dots alone.
    Dots,
    /// The edge of a band: thin, over such positions too.
    Edge,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) value: f64,
    pub(crate) label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScatterChart {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Ascending.
    pub(crate) x: Column,
    pub(crate) y: Column,
    /// The line y = x, and what it parts.
    pub(crate) diagonal: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BarsChart {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) categories: Vec<String>,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) references: Vec<Reference>,
    pub(crate) log: bool,
    pub(crate) y_range: Option<[f64; 2]>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeatChart {
    pub(crate) title: String,
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    /// `[row][column]`; missing where a value is unbounded.
    pub(crate) values: Vec<Vec<Option<f64>>>,
    pub(crate) value_label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoxesChart {
    pub(crate) title: String,
    pub(crate) y_label: String,
    pub(crate) groups: Vec<BoxGroup>,
    pub(crate) references: Vec<Reference>,
    pub(crate) log: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoxGroup {
    pub(crate) label: String,
    /// Index of its colour.
    pub(crate) colour: usize,
    pub(crate) values: Vec<Option<f64>>,
    /// Mean and standard deviation as printed.
    pub(crate) published: Option<[f64; 2]>,
}
