//! How much models of one recipe disagree where the record says nothing: on its inputs in another order.
//!
//! Held-out samples are followed by inputs much like those before them, so that a slow mode which they hardly excite costs nothing there,
//! and everything on the next record. Models fitted without different blocks tell: on the same inputs backwards they agree as far as the
//! data determine them, and no measurement is needed to see it. Those that are farther apart than the outputs vary at all know nothing
//! there: a candidate that is hardly worse on held-out samples and knows more is taken instead.

use intervalid_data::{InitialState, Part, Scaled, ScaledExperiment, Segment, Window};

use crate::score::Score;

/// Samples of a stretch that are used, from its beginning.
pub(crate) const SAMPLES: usize = 20_000;
/// Distance of models, in standard deviations of the outputs, from which on they are not believed.
const FAR_APART: f64 = 1.0;
/// Candidates whose score is worse by this factor take the place of a doubtful one.
const HARDLY_WORSE: f64 = 1.25;
/// Standard deviations that no output of a plant goes away from its mean.
pub(crate) const OUT_OF_SIGHT: f64 = 1000.0;

/// A record's stretches backwards, each an experiment.
pub(crate) fn backwards(scaled: &Scaled<f64>, part: &Part) -> Scaled<f64> {
    let stretch = |segment: &Segment| {
        let experiment = &scaled.experiments()[segment.experiment];
        let samples = segment.start..segment.end.min(segment.start + SAMPLES);
        let reversed = |column: &[f64]| column[samples.clone()].iter().rev().copied().collect();
        ScaledExperiment::new(
            (0..experiment.inputs())
                .map(|channel| reversed(experiment.input(channel)))
                .collect(),
            (0..experiment.outputs())
                .map(|channel| reversed(experiment.output(channel)))
                .collect(),
        )
    };
    Scaled::new(
        part.segments()
            .iter()
            .filter(|segment| segment.len() > 1)
            .map(stretch)
            .collect(),
    )
}

/// A window over each stretch.
pub(crate) fn whole_windows(backwards: &Scaled<f64>, initial: InitialState) -> Vec<Window> {
    let longest = |(experiment, of): (usize, &ScaledExperiment<f64>)| Window {
        experiment,
        start: 0,
        len: of.len(),
    };
    let all = backwards.experiments().iter().enumerate().map(longest);
    all.filter(|window| window.len > initial.unscored() + 1).collect()
}

/// Root mean square distance of free runs from their mean, in standard deviations; a run that ended early or left every sensible range
/// makes it as large as can be.
pub(crate) fn disagreement(runs: &[Option<Vec<f64>>]) -> f64 {
    let is_in_sight = |run: &Vec<f64>| run.iter().all(|y| y.abs() <= OUT_OF_SIGHT);
    let finite: Vec<&Vec<f64>> = runs.iter().flatten().filter(|run| is_in_sight(run)).collect();
    if finite.len() < runs.len() {
        return OUT_OF_SIGHT;
    }
    let samples = finite.iter().map(|run| run.len()).min().unwrap_or(0);
    let mut squares = 0.0;
    for k in 0..samples {
        let mean = finite.iter().map(|run| run[k]).sum::<f64>() / finite.len() as f64;
        squares += finite.iter().map(|run| (run[k] - mean).powi(2)).sum::<f64>();
    }
    (squares / (samples * finite.len()).max(1) as f64).sqrt()
}

/// Which candidates of a search are believed.
pub(crate) struct Beliefs {
    /// The best score of those that are not doubtful.
    best: f64,
}

impl Beliefs {
    /// Of candidates with these scores.
    pub(crate) fn of<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Self {
        let certain = scores.into_iter().filter(|score| score.doubt <= FAR_APART);
        Self {
            best: certain.map(Score::total).fold(f64::INFINITY, f64::min),
        }
    }

    /// Whether one of them is: its models are not far apart, or nothing else comes near it. Those of a plant that integrates all drift
    /// apart in a run over a whole record.
    pub(crate) fn hold(&self, score: &Score) -> bool {
        score.doubt <= FAR_APART || self.best > HARDLY_WORSE * score.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_turned_around_stretch_by_stretch() {
        let column: Vec<f64> = (0..10).map(f64::from).collect();
        let scaled = Scaled::new(vec![ScaledExperiment::new(vec![column.clone()], vec![column])]);
        let segment = |start, end| Segment {
            experiment: 0,
            start,
            end,
        };
        let found = backwards(&scaled, &Part::from_segments(vec![segment(1, 4), segment(6, 8)]));
        assert_eq!(found.experiments()[0].input(0), [3.0, 2.0, 1.0]);
        assert_eq!(found.experiments()[1].output(0), [7.0, 6.0]);
        assert_eq!(whole_windows(&found, InitialState::Measured).len(), 2);
        assert_eq!(whole_windows(&found, InitialState::Warmup(1)).len(), 1);
    }

    #[test]
    fn a_doubtful_candidate_is_believed_where_nothing_else_comes_near_it() {
        let with = |total: f64, doubt: f64| Score {
            blocks: Vec::new(),
            rmse: total,
            forward: total,
            coverage: 0.9,
            width: 1.0,
            doubt,
        };
        let (good, doubtful, best) = (with(0.6, 0.3), with(0.5, 11.0), with(0.4, 11.0));
        let beliefs = Beliefs::of([&good, &doubtful, &best]);
        assert!(beliefs.hold(&good) && !beliefs.hold(&doubtful) && beliefs.hold(&best));
        assert!(Beliefs::of([&doubtful]).hold(&doubtful));
    }

    #[test]
    fn disagreement_is_that_of_the_runs() {
        assert!((disagreement(&[Some(vec![1.0, 2.0])]) - 0.0).abs() < 1e-12);
        assert!((disagreement(&[Some(vec![1.0, 2.0]), Some(vec![3.0, 0.0])]) - 1.0).abs() < 1e-12);
        assert!((disagreement(&[Some(vec![1.0]), None]) - OUT_OF_SIGHT).abs() < 1e-12);
        // Both are lost, and the same way.
        assert!((disagreement(&[Some(vec![1e4]), Some(vec![1e4])]) - OUT_OF_SIGHT).abs() < 1e-12);
    }
}
