//! Names under the slots of a category axis: on one or more level lines, else slanted, and thinned when there is no
//! room for all.

use crate::font::{LINE_HEIGHT, Weight, shorten, text_width, wrap};
use crate::svg::{Anchor, Canvas, Text};

/// Font size of labels at ticks.
pub(crate) const TICK_SIZE: f64 = 11.0;

const SLANT_DEGREES: f64 = 38.0;
const MAX_LINES: usize = 4;
/// Longer names are cut; the whole name is not worth half the figure.
const MAX_SLANTED_WIDTH: f64 = 190.0;
/// Labels up to this width stay level and are thinned rather than slanted: numbers, mostly.
const SHORT: f64 = 26.0;

/// Labels fitted to slots of equal width.
#[derive(Debug, PartialEq)]
pub(crate) enum CategoryLabels {
    /// Every label broken into lines; those off the stride are not drawn.
    Level { lines: Vec<Vec<String>>, stride: usize },
    /// One line each, rising to the right and ending at the slot.
    Slanted { labels: Vec<String>, stride: usize },
}

impl CategoryLabels {
    /// Fits the labels to slots of the given width in pixels.
    pub(crate) fn fit(labels: &[String], slot: f64) -> Self {
        let width = |text: &str| text_width(text, TICK_SIZE, Weight::Regular);
        let room = slot - 6.0;
        let words_fit = labels
            .iter()
            .flat_map(|label| label.split_whitespace())
            .all(|word| width(word) <= room);
        if words_fit {
            let lines: Vec<_> = labels
                .iter()
                .map(|label| wrap(label, room, TICK_SIZE, Weight::Regular))
                .collect();
            if lines.iter().all(|lines| lines.len() <= MAX_LINES) {
                return Self::Level { lines, stride: 1 };
            }
        }
        let widest = labels.iter().map(|label| width(label)).fold(0.0, f64::max);
        if widest <= SHORT {
            let lines = labels.iter().map(|label| vec![label.clone()]).collect();
            return Self::Level {
                lines,
                stride: stride((widest + 8.0) / slot),
            };
        }
        let spacing = LINE_HEIGHT * TICK_SIZE / SLANT_DEGREES.to_radians().sin();
        Self::Slanted {
            labels: labels
                .iter()
                .map(|label| shorten(label, MAX_SLANTED_WIDTH, TICK_SIZE))
                .collect(),
            stride: stride(spacing / slot),
        }
    }

    /// Room needed under the axis.
    pub(crate) fn height(&self) -> f64 {
        match self {
            Self::Level { lines, .. } => {
                let most = lines.iter().map(Vec::len).max().unwrap_or(0);
                most as f64 * LINE_HEIGHT * TICK_SIZE + 6.0
            }
            Self::Slanted { labels, .. } => {
                let angle = SLANT_DEGREES.to_radians();
                widest(labels) * angle.sin() + TICK_SIZE * angle.cos() + 8.0
            }
        }
    }

    /// How far labels reach to the left of the first slot.
    pub(crate) fn overhang(&self, slot: f64) -> f64 {
        match self {
            Self::Level { .. } => 0.0,
            Self::Slanted { labels, stride } => {
                let reach = |(index, label): (usize, &String)| {
                    let width = text_width(label, TICK_SIZE, Weight::Regular);
                    width * SLANT_DEGREES.to_radians().cos() + TICK_SIZE / 2.0 - (index as f64 + 0.5) * slot
                };
                labels
                    .iter()
                    .enumerate()
                    .step_by(*stride)
                    .map(reach)
                    .fold(0.0, f64::max)
            }
        }
    }

    /// Draws the labels below `top`, each at the centre of its slot.
    pub(crate) fn draw(&self, canvas: &mut Canvas, centre: impl Fn(usize) -> f64, top: f64, colour: &str) {
        let mut write = |content: &str, x: f64, y: f64, anchor: Anchor, angle: f64| {
            canvas.text(&Text {
                content,
                x,
                y,
                size: TICK_SIZE,
                colour,
                anchor,
                weight: Weight::Regular,
                angle,
            });
        };
        match self {
            Self::Level { lines, stride } => {
                for (index, lines) in lines.iter().enumerate().step_by(*stride) {
                    for (number, line) in lines.iter().enumerate() {
                        let y = top + 4.0 + TICK_SIZE + number as f64 * LINE_HEIGHT * TICK_SIZE;
                        write(line, centre(index), y, Anchor::Middle, 0.0);
                    }
                }
            }
            Self::Slanted { labels, stride } => {
                for (index, label) in labels.iter().enumerate().step_by(*stride) {
                    write(
                        label,
                        centre(index) + 4.0,
                        top + 6.0 + TICK_SIZE / 2.0,
                        Anchor::End,
                        -SLANT_DEGREES,
                    );
                }
            }
        }
    }
}

fn widest(labels: &[String]) -> f64 {
    labels
        .iter()
        .map(|label| text_width(label, TICK_SIZE, Weight::Regular))
        .fold(0.0, f64::max)
}

/// The smallest of 1, 2, 5, 10, 20, 50 ... that is at least `needed`.
pub(crate) fn stride(needed: f64) -> usize {
    let mut power = 1;
    // Slots are finite and wider than nothing, so this ends long before the numbers do.
    while power < 1_000_000_000 {
        for factor in [1, 2, 5] {
            if (factor * power) as f64 >= needed {
                return factor * power;
            }
        }
        power *= 10;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn words_wrap_when_they_fit() {
        let fitted = CategoryLabels::fit(&names(&["interval LSTM", "NODE"]), 70.0);
        let lines = vec![names(&["interval", "LSTM"]), names(&["NODE"])];
        assert_eq!(fitted, CategoryLabels::Level { lines, stride: 1 });
    }

    #[test]
    fn long_names_slant() {
        let labels = vec!["Monte-Carlo-dropout".to_owned(); 14];
        let fitted = CategoryLabels::fit(&labels, 40.0);
        assert!(matches!(fitted, CategoryLabels::Slanted { stride: 1, .. }));
        assert!(fitted.height() > 50.0 && fitted.overhang(40.0) > 50.0);
    }

    #[test]
    fn numbers_are_thinned() {
        let labels: Vec<String> = (1..=128).map(|number| number.to_string()).collect();
        assert!(matches!(
            CategoryLabels::fit(&labels, 4.0),
            CategoryLabels::Level { stride: 10, .. }
        ));
    }

    #[test]
    fn strides_are_round() {
        assert_eq!(
            [0.3, 1.0, 1.1, 3.0, 7.0, 11.0, 51.0].map(stride),
            [1, 1, 2, 5, 10, 20, 100]
        );
        assert!(stride(f64::INFINITY) > 0);
    }
}
