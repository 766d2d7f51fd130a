//! What is known of the fit that runs: how far it is, its losses, the candidates of its search.

use intervalid_model::{JudgedCandidate, Progress};
use serde::Serialize;

/// Points of a loss curve that are kept; of a longer one every second goes.
const MOST_POINTS: usize = 400;
/// Candidates that are kept, the best of all that were judged.
const MOST_CANDIDATES: usize = 100;

/// What is known of the job that runs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Live {
    pub(crate) id: u64,
    step: String,
    /// From 0 to 1.
    share: Option<f64>,
    seconds: f64,
    seconds_left: Option<f64>,
    /// Steps of a search, with the second at which each began.
    steps: Vec<(String, f64)>,
    /// Epoch, training loss, validation loss.
    losses: Vec<[Option<f64>; 3]>,
    /// Epochs between two points of the curve.
    #[serde(skip)]
    stride: usize,
    /// Candidates of a search, the least error first; those that were not tried on all held-out data come last.
    candidates: Vec<Candidate>,
    /// How many were judged, those that are not kept included.
    judged: usize,
    /// Second and error whenever a candidate was better than all before it.
    bests: Vec<[f64; 2]>,
}

/// A row of the table that grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Candidate {
    name: String,
    model: &'static str,
    parameters: usize,
    /// In standard deviations of the outputs.
    error: f64,
    /// Whether it was tried on all held-out data.
    whole: bool,
    /// When it was judged last.
    seconds: f64,
}

impl Live {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            step: "reading the data".to_owned(),
            stride: 1,
            ..Self::default()
        }
    }

    /// Follows the fit, which has run for so long and has so much time in all.
    pub(crate) fn observe(&mut self, progress: &Progress, seconds: f64, budget: Option<f64>) {
        self.seconds = seconds;
        match progress {
            Progress::Epoch(epoch) => {
                self.step = format!("epoch {} of {}", epoch.epochs_done, epoch.epochs_total);
                self.share = Some(epoch.epochs_done as f64 / epoch.epochs_total.max(1) as f64);
                self.seconds_left = Some(epoch.seconds_left).filter(|left| left.is_finite());
                self.add_loss(epoch.epochs_done, epoch.record.train[0], epoch.record.validation[0]);
            }
            Progress::Share { step, share } => {
                if self.step != *step {
                    self.steps.push(((*step).to_owned(), seconds));
                    self.step = (*step).to_owned();
                }
                self.share = Some(*share);
                let by_share = (*share > 0.02).then(|| seconds / share - seconds);
                self.seconds_left = match budget {
                    Some(budget) => Some((budget - seconds).max(0.0)),
                    None => by_share,
                };
            }
            Progress::Candidate(candidate) => self.add_candidate(candidate, seconds),
            _ => {}
        }
    }

    fn add_loss(&mut self, epoch: usize, train: Option<f64>, validation: Option<f64>) {
        if !epoch.is_multiple_of(self.stride) {
            return;
        }
        let finite = |loss: Option<f64>| loss.filter(|loss| loss.is_finite());
        self.losses
            .push([Some(epoch as f64), finite(train), finite(validation)]);
        if self.losses.len() > MOST_POINTS {
            let mut at = 0;
            self.losses.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.stride *= 2;
        }
    }

    fn add_candidate(&mut self, judged: &JudgedCandidate, seconds: f64) {
        if !judged.error.is_finite() {
            return;
        }
        let row = Candidate {
            name: judged.name.clone(),
            model: judged.model.name(),
            parameters: judged.parameters,
            error: judged.error,
            whole: judged.is_whole,
            seconds,
        };
        match self.candidates.iter_mut().find(|candidate| candidate.name == row.name) {
            // Told once more without news.
            Some(before) if before.error.to_bits() == row.error.to_bits() && before.whole == row.whole => return,
            Some(before) => *before = row,
            None => {
                self.candidates.push(row);
                self.judged += 1;
            }
        }
        self.candidates
            .sort_by(|a, b| (!a.whole).cmp(&!b.whole).then(a.error.total_cmp(&b.error)));
        self.candidates.truncate(MOST_CANDIDATES);
        let best = self.candidates.first().filter(|best| best.whole).map(|best| best.error);
        let before = self.bests.last().map_or(f64::INFINITY, |[_, error]| *error);
        // One that was the best may be judged worse later; the curve says what was known when.
        if let Some(best) = best.filter(|best| best.to_bits() != before.to_bits()) {
            self.bests.push([seconds, best]);
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_model::ModelKind;

    use super::*;

    fn told(live: &mut Live, name: &str, error: f64, is_whole: bool, seconds: f64) {
        let candidate = JudgedCandidate {
            name: name.to_owned(),
            model: ModelKind::Inode,
            parameters: 3,
            error,
            is_whole,
        };
        live.observe(&Progress::Candidate(candidate), seconds, None);
    }

    fn names(live: &Live) -> Vec<&str> {
        live.candidates
            .iter()
            .map(|candidate| candidate.name.as_str())
            .collect()
    }

    #[test]
    fn candidates_stand_by_their_error_and_the_best_is_followed() {
        let mut live = Live::new(1);
        told(&mut live, "a", 0.5, true, 1.0);
        told(&mut live, "b", 0.1, false, 2.0);
        told(&mut live, "c", 0.4, true, 3.0);
        told(&mut live, "d", f64::NAN, true, 4.0);
        assert_eq!(
            (names(&live), live.judged),
            (vec!["c", "a", "b"], 3),
            "some of the data flatter"
        );
        told(&mut live, "c", 0.4, true, 5.0);
        assert_eq!(live.bests, [[1.0, 0.5], [3.0, 0.4]], "what is told twice is no news");
        told(&mut live, "b", 0.3, true, 6.0);
        told(&mut live, "b", 0.6, true, 7.0);
        assert_eq!(names(&live), ["c", "a", "b"]);
        assert_eq!(live.bests[2..], [[6.0, 0.3], [7.0, 0.4]]);
        for index in 0..2 * MOST_CANDIDATES {
            told(&mut live, &format!("e{index}"), 1.0 + index as f64, true, 8.0);
        }
        assert_eq!(
            (live.candidates.len(), live.judged),
            (MOST_CANDIDATES, 3 + 2 * MOST_CANDIDATES)
        );
    }

    #[test]
    fn long_curves_are_thinned() {
        let mut live = Live::new(1);
        for epoch in 1..=5000 {
            live.add_loss(epoch, Some(1.0), None);
        }
        assert!(live.losses.len() <= MOST_POINTS && live.losses.len() > MOST_POINTS / 4);
        assert!(live.losses.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }
}
