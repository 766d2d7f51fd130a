//! Checks of data that several kinds of figure share. They run before anything is drawn.

use crate::Result;
use crate::error::FigureError;
use crate::scale::{Scale, Spacing};

/// A figure has panels.
pub(crate) fn has_panels(figure: &'static str, count: usize) -> Result<()> {
    if count == 0 {
        Err(FigureError::NoPanels { figure })
    } else {
        Ok(())
    }
}

/// A list has as many entries as another.
pub(crate) fn same_length(panel: &str, field: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(FigureError::UnequalLengths {
        panel: panel.to_owned(),
        field: field.to_owned(),
        expected,
        found,
    })
}

/// Positions are finite and do not decrease.
pub(crate) fn ordered(panel: &str, positions: &[f64]) -> Result<()> {
    let mut previous = f64::NAN;
    for (index, &found) in positions.iter().enumerate() {
        if !found.is_finite() || found < previous {
            return Err(FigureError::UnorderedPositions {
                panel: panel.to_owned(),
                index,
                previous,
                found,
            });
        }
        previous = found;
    }
    Ok(())
}

/// The vertical scale of a panel and whether it rests on any value: the range asked for, else one that covers the
/// values. A log axis without positive values becomes linear, and a panel without values gets some axis.
pub(crate) fn vertical_scale(
    panel: &str,
    spacing: Spacing,
    asked: Option<(f64, f64)>,
    values: impl Iterator<Item = f64> + Clone,
) -> Result<(Scale, bool)> {
    const PAD: f64 = 0.05;
    let covering =
        Scale::covering(spacing, values.clone(), PAD).or_else(|| Scale::covering(Spacing::Linear, values, PAD));
    let has_values = covering.is_some();
    let scale = match asked {
        Some((low, high)) => Scale::fixed(spacing, low, high).ok_or_else(|| FigureError::Range {
            panel: panel.to_owned(),
            low,
            high,
        })?,
        None => covering.unwrap_or(Scale {
            spacing: Spacing::Linear,
            low: 0.0,
            high: 1.0,
        }),
    };
    Ok((scale, has_values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_must_not_decrease() {
        assert!(ordered("", &[0.0, 0.0, 1.0]).is_ok());
        assert!(ordered("", &[]).is_ok());
        for bad in [[0.0, 2.0, 1.0], [f64::NAN, 0.0, 1.0], [0.0, 1.0, f64::INFINITY]] {
            assert!(matches!(
                ordered("p", &bad),
                Err(FigureError::UnorderedPositions { .. })
            ));
        }
    }

    #[test]
    fn log_falls_back_to_linear() {
        let (scale, has_values) = vertical_scale("", Spacing::Log, None, [-1.0, 0.0].into_iter()).unwrap();
        assert!(has_values && scale.spacing == Spacing::Linear);
        let (_, has_values) = vertical_scale("", Spacing::Log, None, std::iter::empty()).unwrap();
        assert!(!has_values);
        assert!(vertical_scale("", Spacing::Log, Some((0.0, 1.0)), std::iter::empty()).is_err());
    }
}
