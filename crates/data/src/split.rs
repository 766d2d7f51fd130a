//! Chronological training, validation and test parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;

/// Shares of every experiment that go to training, validation and test, in this order of time.
///
/// | field | range |
/// |---|---|
/// | `train` | > 0 |
/// | `validation`, `test` | ≥ 0; 0 leaves the part empty |
///
/// They sum to 1 within 1e-9. Text form: `0.6,0.1,0.3`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitFractions {
    /// Training share.
    pub train: f64,
    /// Validation share.
    pub validation: f64,
    /// Test share.
    pub test: f64,
}

impl SplitFractions {
    /// Checked fractions.
    ///
    /// # Errors
    /// If a fraction is out of range or the three do not sum to 1.
    pub fn new(train: f64, validation: f64, test: f64) -> Result<Self, DataError> {
        let fractions = Self {
            train,
            validation,
            test,
        };
        fractions.check()?;
        Ok(fractions)
    }

    /// The paper's protocol: `share` of the record for training and validation, of which 80 % and 20 %; the rest is test.
    ///
    /// # Errors
    /// If `share` is not in (0, 1].
    pub fn from_training_share(share: f64) -> Result<Self, DataError> {
        Self::new(0.8 * share, 0.2 * share, 1.0 - share)
    }

    pub(crate) fn check(self) -> Result<(), DataError> {
        let in_range = self.train > 0.0 && self.validation >= 0.0 && self.test >= 0.0;
        // Written so that a NaN fails as well.
        if in_range && (self.train + self.validation + self.test - 1.0).abs() <= 1e-9 {
            Ok(())
        } else {
            Err(DataError::SplitFractions {
                train: self.train,
                validation: self.validation,
                test: self.test,
            })
        }
    }
}

impl Default for SplitFractions {
    /// `0.6,0.1,0.3`.
    fn default() -> Self {
        Self {
            train: 0.6,
            validation: 0.1,
            test: 0.3,
        }
    }
}

impl fmt::Display for SplitFractions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.train, self.validation, self.test)
    }
}

impl FromStr for SplitFractions {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let parsed: Option<Vec<f64>> = text.split(',').map(|field| field.trim().parse().ok()).collect();
        match parsed.as_deref() {
            Some(&[train, validation, test]) => Self::new(train, validation, test),
            _ => Err(DataError::ParseSplit { found: text.to_owned() }),
        }
    }
}

/// A half-open range of samples `start..end` inside one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Index of the experiment in [`Dataset::experiments`].
    pub experiment: usize,
    /// First sample.
    pub start: usize,
    /// One past the last sample.
    pub end: usize,
}

impl Segment {
    /// Number of samples.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the segment has no samples; never true inside a [`Part`].
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// One part of a split: at most one non-empty segment per experiment, in experiment order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    segments: Vec<Segment>,
}

impl Part {
    /// The whole data set as one part.
    pub fn whole(dataset: &Dataset) -> Self {
        let segments = dataset.experiments().iter().enumerate();
        Self {
            segments: segments
                .map(|(experiment, e)| Segment {
                    experiment,
                    start: 0,
                    end: e.len(),
                })
                .collect(),
        }
    }

    /// A part from explicit segments; those without samples are dropped.
    ///
    /// Functions that also take a [`Dataset`] check that the segments exist there.
    pub fn from_segments(segments: Vec<Segment>) -> Self {
        Self {
            segments: segments.into_iter().filter(|segment| !segment.is_empty()).collect(),
        }
    }

    /// The segments, none of them empty.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Samples in all segments together.
    pub fn samples(&self) -> usize {
        self.segments.iter().map(|segment| segment.len()).sum()
    }

    /// Whether the part has no samples.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether all segments lie in `dataset`: a part may come from a saved file or another data set.
    ///
    /// # Errors
    /// [`DataError::ForeignPart`] for the first segment that does not.
    pub fn check(&self, dataset: &Dataset) -> Result<(), DataError> {
        for &segment in &self.segments {
            let samples = dataset.experiments().get(segment.experiment).map_or(0, Experiment::len);
            if segment.start >= segment.end || segment.end > samples {
                return Err(DataError::ForeignPart { segment, samples });
            }
        }
        Ok(())
    }

    /// This part and the one that follows it in time, joined where they touch.
    pub fn followed_by(&self, next: &Part) -> Part {
        let mut segments: Vec<Segment> = self.segments.iter().chain(&next.segments).copied().collect();
        segments.sort_by_key(|segment| (segment.experiment, segment.start));
        segments.dedup_by(|later, earlier| {
            let touch = later.experiment == earlier.experiment && later.start == earlier.end;
            if touch {
                earlier.end = later.end;
            }
            touch
        });
        Part { segments }
    }
}

/// Training, validation and test parts of a data set.
///
/// ```
/// use intervalid_data::{ReadOptions, Split, SplitFractions, load};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::new(0.6, 0.1, 0.3)?)?;
/// let [train] = split.train.segments() else { panic!("one segment per experiment") };
/// assert_eq!((train.start, train.end), (0, 600));
/// assert_eq!(split.test.segments()[0].end, dataset.samples());
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// The oldest samples of every experiment.
    pub train: Part,
    /// The samples after them, for model selection.
    pub validation: Part,
    /// The newest samples.
    pub test: Part,
}

impl Split {
    /// Cuts each experiment of K samples at round(K·train) and round(K·(train+validation)).
    ///
    /// # Errors
    /// If the fractions are out of range, or a part with a positive fraction gets no sample at all.
    pub fn new(dataset: &Dataset, fractions: SplitFractions) -> Result<Self, DataError> {
        fractions.check()?;
        let mut split = Self {
            train: Part::default(),
            validation: Part::default(),
            test: Part::default(),
        };
        for (experiment, length) in dataset.experiments().iter().map(Experiment::len).enumerate() {
            let cut = |share: f64| ((length as f64 * share).round() as usize).min(length);
            let train_end = cut(fractions.train);
            // A zero fraction means an empty part, whatever rounding says.
            let validation_end = if fractions.test > 0.0 {
                cut(fractions.train + fractions.validation)
            } else {
                length
            };
            let train_end = if fractions.validation > 0.0 {
                train_end
            } else {
                validation_end
            };
            for (part, start, end) in [
                (&mut split.train, 0, train_end),
                (&mut split.validation, train_end, validation_end),
                (&mut split.test, validation_end, length),
            ] {
                if start < end {
                    part.segments.push(Segment { experiment, start, end });
                }
            }
        }
        for (part, fraction, name) in [
            (&split.train, fractions.train, "training"),
            (&split.validation, fractions.validation, "validation"),
            (&split.test, fractions.test, "test"),
        ] {
            if fraction > 0.0 && part.is_empty() {
                return Err(DataError::EmptyPart {
                    part: name,
                    fraction,
                    samples: dataset.samples(),
                });
            }
        }
        Ok(split)
    }

    /// Training and validation as one part: what a final refit may use.
    pub fn train_and_validation(&self) -> Part {
        self.train.followed_by(&self.validation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;

    fn dataset(lengths: &[usize]) -> Dataset {
        let experiments = lengths
            .iter()
            .map(|&n| Experiment::new("e", vec![vec![0.0; n]], vec![vec![0.0; n]]))
            .collect();
        Dataset::new("d", vec![Channel::new("u")], vec![Channel::new("y")], None, experiments).expect("valid")
    }

    #[test]
    fn each_experiment_is_cut_at_the_rounded_share() {
        let fractions: SplitFractions = "0.4,0.1,0.5".parse().expect("valid");
        let split = Split::new(&dataset(&[1000, 7]), fractions).expect("splits");
        assert_eq!(
            split.train.segments(),
            [
                Segment {
                    experiment: 0,
                    start: 0,
                    end: 400
                },
                Segment {
                    experiment: 1,
                    start: 0,
                    end: 3
                }
            ]
        );
        assert_eq!(
            split.validation.segments(),
            [
                Segment {
                    experiment: 0,
                    start: 400,
                    end: 500
                },
                Segment {
                    experiment: 1,
                    start: 3,
                    end: 4
                }
            ]
        );
        assert_eq!(split.test.samples(), 503);
        assert_eq!(
            split.train_and_validation().segments(),
            [
                Segment {
                    experiment: 0,
                    start: 0,
                    end: 500
                },
                Segment {
                    experiment: 1,
                    start: 0,
                    end: 4
                }
            ]
        );
    }

    #[test]
    fn paper_share_of_the_damper() {
        let fractions = SplitFractions::from_training_share(2.0 / 3.0).expect("valid");
        let split = Split::new(&dataset(&[3499]), fractions).expect("splits");
        assert_eq!(
            (split.train.samples(), split.train_and_validation().samples()),
            (1866, 2333)
        );
    }

    #[test]
    fn zero_fractions_leave_parts_empty() {
        let split = Split::new(
            &dataset(&[5]),
            SplitFractions {
                train: 1.0,
                validation: 0.0,
                test: 0.0,
            },
        )
        .expect("splits");
        assert_eq!(
            (
                split.train.samples(),
                split.validation.is_empty(),
                split.test.is_empty()
            ),
            (5, true, true)
        );
    }

    #[test]
    fn messages() {
        let cases = [
            (
                "0.4,0.6",
                "cannot read split '0.4,0.6': expected three fractions TRAIN,VALIDATION,TEST such as 0.6,0.1,0.3",
            ),
            (
                "0.4,0.1,0.4",
                "split 0.4,0.1,0.4 is not valid: fractions must be ≥ 0 (training > 0) and sum to 1",
            ),
            (
                "NaN,0.5,0.5",
                "split NaN,0.5,0.5 is not valid: fractions must be ≥ 0 (training > 0) and sum to 1",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(
                text.parse::<SplitFractions>().map_err(|e| e.to_string()),
                Err(expected.to_owned())
            );
        }
        let short = Split::new(&dataset(&[2]), SplitFractions::default()).map_err(|e| e.to_string());
        assert_eq!(
            short,
            Err(
                "the validation part (fraction 0.1) of 2 samples is empty: record more samples or change the split"
                    .to_owned()
            )
        );
    }
}
