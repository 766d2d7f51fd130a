//! Colours and sizes of a figure.

use crate::Result;
use crate::error::FigureError;

/// Background and colours that go with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on white: papers and printing.
    #[default]
    Light,
    /// Light text on near-black: screens.
    Dark,
}

/// How a figure looks, whatever it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    /// Colours; light unless told.
    pub theme: Theme,
    /// Width of the figure in pixels at scale 1, 320 to 4000. `None`: chosen by the kind of figure.
    pub width: Option<f64>,
    /// Height of the area inside the axes of each panel in pixels, 60 to 4000. `None`: chosen by the kind of figure.
    ///
    /// The height of the figure follows from it and from the room that titles and labels need.
    pub panel_height: Option<f64>,
}

impl Style {
    /// The default sizes in the given colours.
    pub fn new(theme: Theme) -> Self {
        Self {
            theme,
            ..Self::default()
        }
    }

    pub(crate) fn width_or(&self, default: f64) -> Result<f64> {
        checked("figure width", self.width.unwrap_or(default), 320.0, 4000.0)
    }

    pub(crate) fn panel_height_or(&self, default: f64) -> Result<f64> {
        checked("panel height", self.panel_height.unwrap_or(default), 60.0, 4000.0)
    }
}

pub(crate) fn checked(what: &'static str, found: f64, min: f64, max: f64) -> Result<f64> {
    // A NaN lies in no range.
    if (min..=max).contains(&found) {
        Ok(found)
    } else {
        Err(FigureError::Size { what, found, min, max })
    }
}

/// Colours of one theme.
pub(crate) struct Colours {
    pub(crate) background: &'static str,
    pub(crate) text: &'static str,
    /// Notes that must not compete with the data.
    pub(crate) muted: &'static str,
    pub(crate) axis: &'static str,
    pub(crate) grid: &'static str,
    /// Measured values: neutral, so that colour is free for what a model says.
    pub(crate) measured: &'static str,
    /// Measured values in records so long that their line is an area.
    pub(crate) measured_dense: &'static str,
    pub(crate) prediction: &'static str,
    pub(crate) interval: &'static str,
    /// What needs attention: points outside an interval, targets.
    pub(crate) alert: &'static str,
    /// Published values next to our own.
    pub(crate) reference: &'static str,
    /// Heat map cells without finite value: not on the colour map.
    pub(crate) unbounded: &'static str,
    pub(crate) missing: &'static str,
    series: [&'static str; 7],
    /// A seventh group of boxes, which the series have no colour left for.
    seventh_group: &'static str,
}

/// Okabe and Ito, "Color Universal Design" (2008), ordered by contrast with the background.
const LIGHT: Colours = Colours {
    background: "#ffffff",
    text: "#1a1a1a",
    muted: "#6b6b6b",
    axis: "#7a7a7a",
    grid: "#e4e4e4",
    measured: "#333333",
    measured_dense: "#9a9a9a",
    prediction: "#0072b2",
    interval: "#56b4e9",
    alert: "#d55e00",
    reference: "#d55e00",
    unbounded: "#e8559b",
    missing: "#d9d9d9",
    series: [
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d",
    ],
    seventh_group: "#8c5a2b",
};

const DARK: Colours = Colours {
    background: "#16191d",
    text: "#ececec",
    muted: "#a0a4a8",
    axis: "#868b90",
    grid: "#2d3237",
    measured: "#d0d0d0",
    measured_dense: "#7d8287",
    prediction: "#56b4e9",
    interval: "#2f86bd",
    alert: "#ff8c3a",
    reference: "#e69f00",
    unbounded: "#e8559b",
    missing: "#4a4f54",
    series: [
        "#56b4e9", "#e69f00", "#2bb98f", "#cc79a7", "#e8702a", "#f0e442", "#c8c8c8",
    ],
    seventh_group: "#c49a6c",
};

impl Theme {
    pub(crate) fn colours(self) -> &'static Colours {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

impl Colours {
    /// Colour of the series with this index; they repeat after seven.
    pub(crate) fn series(&self, index: usize) -> &'static str {
        self.series[index % self.series.len()]
    }

    /// Like [`Colours::series`] without the colour of published values, and its nearest relative late.
    pub(crate) fn beside_reference(&self, index: usize) -> &'static str {
        match [0, 2, 3, 5, 6, 4].get(index % 7) {
            Some(&at) => self.series[at],
            None => self.seventh_group,
        }
    }

    /// Dash pattern that tells apart series whose colours repeat.
    pub(crate) fn dash(&self, index: usize) -> Option<&'static str> {
        [None, Some("6 3"), Some("2 2"), Some("8 3 2 3")][index / self.series.len() % 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let style = Style {
            width: Some(f64::NAN),
            panel_height: Some(10.0),
            ..Style::default()
        };
        assert!(matches!(style.width_or(500.0), Err(FigureError::Size { .. })));
        assert!(matches!(style.panel_height_or(500.0), Err(FigureError::Size { .. })));
        assert!(Style::default().width_or(500.0).is_ok());
    }

    #[test]
    fn boxes_never_look_published() {
        for colours in [Theme::Light.colours(), Theme::Dark.colours()] {
            let mut seen: Vec<&str> = (0..7).map(|index| colours.beside_reference(index)).collect();
            seen.push(colours.reference);
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 8, "seven groups and the published values");
        }
    }

    #[test]
    fn repeated_colours_differ_in_dash() {
        let colours = Theme::Light.colours();
        assert_eq!(colours.series(0), colours.series(7));
        assert_ne!(colours.dash(0), colours.dash(7));
    }
}
