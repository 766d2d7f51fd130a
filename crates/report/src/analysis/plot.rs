//! Curves with positions of their own in one chart.

use crate::chart::{Chart, Fill, LinesChart, Reference, Series, SeriesStyle};
use crate::column::rounded;

/// A chart in the making.
pub(super) struct Plot {
    title: String,
    labels: [String; 2],
    curves: Vec<(String, Vec<f64>, Vec<f64>, SeriesStyle)>,
    fills: Vec<Fill>,
    references: Vec<Reference>,
    log: [bool; 2],
    y_range: Option<[f64; 2]>,
    equal: bool,
}

impl Plot {
    pub(super) fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            labels: [x_label.into(), y_label.into()],
            curves: Vec::new(),
            fills: Vec::new(),
            references: Vec::new(),
            log: [false; 2],
            y_range: None,
            equal: false,
        }
    }

    /// One unit is as long across as it is upwards.
    pub(super) fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    /// Which axes are logarithmic, horizontal first.
    pub(super) fn log(mut self, log: [bool; 2]) -> Self {
        self.log = log;
        self
    }

    pub(super) fn range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some([low, high]);
        self
    }

    pub(super) fn curve(mut self, name: impl Into<String>, x: &[f64], y: &[f64], style: SeriesStyle) -> Self {
        self.curves.push((name.into(), x.to_vec(), y.to_vec(), style));
        self
    }

    /// A band around the curve that was added `of`-th, from 0. Bands come after all curves.
    pub(super) fn band(mut self, name: &str, of: usize, x: &[f64], [lower, upper]: [&[f64]; 2]) -> Self {
        let first = self.curves.len();
        self = self.curve(format!("{name} upper"), x, upper, SeriesStyle::Edge);
        self = self.curve(format!("{name} lower"), x, lower, SeriesStyle::Edge);
        self.fills.push(Fill {
            edges: [first, first + 1],
            of,
        });
        self
    }

    /// Layers on one another, the first at the bottom.
    pub(super) fn stack(mut self, x: &[f64], layers: Vec<(String, Vec<f64>)>) -> Self {
        let first = self.curves.len();
        let mut sum = vec![0.0; x.len()];
        for (index, (name, values)) in layers.into_iter().enumerate() {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            self = self.curve(name, x, &sum, SeriesStyle::Joined);
            if index > 0 {
                self.fills.push(Fill {
                    edges: [first + index, first + index - 1],
                    of: first + index,
                });
            }
        }
        let ground = self.curves.len();
        if ground > first {
            self = self.curve("zero", x, &vec![0.0; x.len()], SeriesStyle::Edge);
            self.fills.push(Fill {
                edges: [first, ground],
                of: first,
            });
        }
        self
    }

    pub(super) fn reference(mut self, value: f64, label: &str) -> Self {
        self.references.push(Reference {
            value,
            label: label.to_owned(),
        });
        self
    }

    /// All positions in one order, with nothing where a curve has none. Where positions repeat, each has a place of its own.
    pub(super) fn chart(self) -> Chart {
        let shared = self.curves.iter().all(|curve| curve.1 == self.curves[0].1);
        let (x, places): (Vec<f64>, Vec<Vec<usize>>) = match shared {
            true => {
                let x = self.curves.first().map_or_else(Vec::new, |curve| curve.1.clone());
                let places = vec![(0..x.len()).collect(); self.curves.len()];
                (x, places)
            }
            false => {
                let mut all: Vec<(f64, usize, usize)> = Vec::new();
                for (curve, (_, x, _, _)) in self.curves.iter().enumerate() {
                    all.extend(x.iter().enumerate().map(|(index, x)| (*x, curve, index)));
                }
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                let mut places: Vec<Vec<usize>> = self.curves.iter().map(|curve| vec![0; curve.1.len()]).collect();
                for (place, (_, curve, index)) in all.iter().enumerate() {
                    places[*curve][*index] = place;
                }
                (all.iter().map(|entry| entry.0).collect(), places)
            }
        };
        let series = self
            .curves
            .into_iter()
            .zip(places)
            .map(|((name, _, y, style), places)| {
                let mut values = vec![f64::NAN; x.len()];
                places.into_iter().zip(y).for_each(|(place, y)| values[place] = y);
                Series {
                    name,
                    values: rounded(values),
                    style,
                }
            });
        let [x_label, y_label] = self.labels;
        Chart::Lines(LinesChart {
            title: self.title,
            x_label,
            y_label,
            series: series.collect(),
            x,
            references: self.references,
            log: self.log[1],
            x_log: self.log[0],
            fills: self.fills,
            y_range: self.y_range,
            equal: self.equal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_keep_their_own_positions() {
        let plot = Plot::new("t", "x", "y")
            .curve("a", &[1.0, 3.0], &[10.0, 30.0], SeriesStyle::Joined)
            .curve("b", &[3.0, 2.0, 3.0], &[33.0, 22.0, 34.0], SeriesStyle::Dots);
        let Chart::Lines(chart) = plot.chart() else {
            panic!("lines")
        };
        assert_eq!(chart.x, [1.0, 2.0, 3.0, 3.0, 3.0]);
        assert_eq!(chart.series[0].values, [Some(10.0), None, Some(30.0), None, None]);
        assert_eq!(chart.series[1].values, [None, Some(22.0), None, Some(33.0), Some(34.0)]);
    }
}
