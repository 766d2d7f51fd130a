//! A level that has moved by the end of the record: whether later data keep it, and what predictions are moved by.
//!
//! A model fits the mean of its record. Where the plant's level wanders, the end of the record says more about what comes than the mean
//! does, but only sometimes: as a rule for all records moving predictions does nothing. So the record's own forward cuts decide. Each has a model of
//! the past, whose errors at the end of it are known, and errors after the cut, which moving it would have made smaller or larger.

use intervalid_data::{Dataset, Part};
use intervalid_model::{BlockScores, Model, ModelError, align};

use crate::findings::{Finding, FindingKind};
use crate::folds::Folds;

/// The end of what was fitted that says where the level is.
const END: f64 = 0.1;
/// Predictions are moved by this share of the mean error there: part of it goes by.
const KEPT: f64 = 0.7;
/// So many cuts must have been judged,
const ENOUGH: usize = 4;
/// this share of them must have gained,
const AGREE: f64 = 0.8;
/// and their middle one must have this error, or a smaller one, where it was 1.
const WORTHWHILE: f64 = 0.99;

/// What forward cuts say about the level of every output.
pub(crate) struct Levels {
    outputs: Vec<Option<Moves>>,
}

/// An output whose level stays where it has moved.
struct Moves {
    /// What predictions of each division's model are moved by; nothing but after forward cuts.
    by: Vec<f64>,
    evidence: Evidence,
}

/// What moving predictions did to errors after forward cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Evidence {
    cuts: usize,
    gained: usize,
    /// The middle cut's error where it was 1.
    middle: f64,
}

/// How far predictions of one output are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Raise {
    output: usize,
    by: f64,
    evidence: Evidence,
}

impl Levels {
    /// Asks models, each of which had not seen its division; `scores` are their errors there, `[output][division]`.
    pub(crate) fn seen(folds: &Folds<'_>, blind: &[Option<Model>], scores: &[Vec<BlockScores>]) -> Self {
        let mut by = vec![vec![0.0; blind.len()]; scores.len()];
        let mut ratios = vec![Vec::new(); scores.len()];
        for fold in folds.forward_cuts() {
            let end = blind[fold]
                .as_ref()
                .and_then(|model| error_at_end(model, folds.dataset, &folds.folds[fold].rest));
            for (output, end) in end.into_iter().flatten().enumerate() {
                let after = &scores[output][fold].error;
                let square = |shift: f64| after.iter().map(|error| (error - shift).powi(2)).sum::<f64>();
                by[output][fold] = KEPT * end;
                if square(0.0) > 0.0 {
                    ratios[output].push((square(KEPT * end) / square(0.0)).sqrt());
                }
            }
        }
        let moves = |(by, ratios): (Vec<f64>, Vec<f64>)| {
            let evidence = Evidence::of(ratios)?;
            evidence.is_clear().then_some(Moves { by, evidence })
        };
        Self {
            outputs: by.into_iter().zip(ratios).map(moves).collect(),
        }
    }

    /// Errors `[output][division]` as they are with predictions moved.
    pub(crate) fn correct(&self, scores: &mut [Vec<BlockScores>]) {
        for (moves, divisions) in self.outputs.iter().zip(scores) {
            let Some(moves) = moves else { continue };
            for (by, division) in moves.by.iter().zip(divisions) {
                division.error.iter_mut().for_each(|error| *error -= by);
            }
        }
    }

    /// What predictions of the finished model are moved by.
    pub(crate) fn raises(&self, model: &Model, folds: &Folds<'_>) -> Vec<Raise> {
        if self.outputs.iter().all(Option::is_none) {
            return Vec::new();
        }
        let ends = error_at_end(model, folds.dataset, &folds.all).unwrap_or_default();
        let raise = |((output, end), moves): ((usize, f64), &Option<Moves>)| {
            Some(Raise {
                output,
                by: KEPT * end,
                evidence: moves.as_ref()?.evidence,
            })
        };
        let ends = ends.into_iter().enumerate();
        ends.zip(&self.outputs).filter_map(raise).collect()
    }
}

impl Evidence {
    fn of(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        Some(Self {
            cuts: ratios.len(),
            gained: ratios.iter().filter(|&&ratio| ratio < 1.0).count(),
            middle: *ratios.get(ratios.len() / 2)?,
        })
    }

    fn is_clear(self) -> bool {
        self.cuts >= ENOUGH && self.gained as f64 >= AGREE * self.cuts as f64 && self.middle < WORTHWHILE
    }
}

impl Raise {
    /// The model with its predictions moved, and what a user should know of it.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn all(raises: &[Self], model: Model) -> Result<(Model, Vec<Finding>), ModelError> {
        let mut by = vec![0.0; model.interface().outputs.len()];
        for raise in raises {
            by[raise.output] = raise.by;
        }
        let findings = raises.iter().map(|raise| raise.told(&model)).collect();
        Ok((model.raised(&by)?, findings))
    }

    fn told(&self, model: &Model) -> Finding {
        let Evidence { cuts, gained, middle } = self.evidence;
        let name = &model.interface().outputs[self.output].name;
        let by = self.by.abs() / model.interface().normaliser.outputs[self.output].std;
        let (place, moved) = match self.by > 0.0 {
            true => ("above", "raised"),
            false => ("below", "lowered"),
        };
        Finding {
            kind: FindingKind::Drift,
            text: format!(
                "the end of '{name}' lies {:.2} standard deviations {place} what the model says, and such differences stay: after {gained} of \
                 {cuts} cuts of the record moving predictions made errors smaller, by {:.0} % in the middle; they are {moved} by {by:.2}",
                by / KEPT,
                100.0 * (1.0 - middle),
            ),
        }
    }
}

/// Mean errors of a free run over the end of a part, of each output; none if it cannot be run to its end.
fn error_at_end(model: &Model, dataset: &Dataset, part: &Part) -> Option<Vec<f64>> {
    let bands = model.simulate(dataset, part).ok()?;
    if bands.iter().any(|band| band.diverged_at.is_some()) {
        return None;
    }
    let of_output = |output: usize| {
        let runs = align(dataset, &bands, output).ok()?;
        let errors = runs.iter().flat_map(|run| run.target.iter().zip(run.centre));
        let errors: Vec<f64> = errors.map(|(y, centre)| y - centre).collect();
        let end = &errors[errors.len() - (errors.len() as f64 * END) as usize..];
        (!end.is_empty()).then(|| end.iter().sum::<f64>() / end.len() as f64)
    };
    (0..dataset.outputs().len()).map(of_output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_must_agree_and_gain_enough() {
        let is_clear = |ratios: &[f64]| Evidence::of(ratios.to_vec()).is_some_and(Evidence::is_clear);
        assert!(is_clear(&[0.9, 0.95, 0.8, 1.2, 0.97]));
        // Too few, too different, too little.
        assert!(!is_clear(&[0.9, 0.9, 0.9]));
        assert!(!is_clear(&[0.9, 0.95, 0.8, 1.2, 1.1]));
        assert!(!is_clear(&[0.995, 0.995, 0.995, 0.995]));
        assert!(!is_clear(&[]));
    }

    #[test]
    fn errors_are_moved_where_they_were_seen_to() {
        let evidence = Evidence {
            cuts: 6,
            gained: 6,
            middle: 0.9,
        };
        let by = vec![0.0, 0.5];
        let levels = Levels {
            outputs: vec![None, Some(Moves { by, evidence })],
        };
        let scores = |error: f64| BlockScores {
            error: vec![error],
            ..BlockScores::default()
        };
        let mut all = vec![vec![scores(1.0), scores(1.0)], vec![scores(1.0), scores(1.0)]];
        levels.correct(&mut all);
        assert_eq!(all, [[scores(1.0), scores(1.0)], [scores(1.0), scores(0.5)]]);
    }
}
