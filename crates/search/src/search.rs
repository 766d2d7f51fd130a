//! The order of events of a search.

use std::time::Instant;

use intervalid_data::{Dataset, Split};
use intervalid_model::Calibration;

use crate::budget::Budget;
use crate::choice::{Choice, choose};
use crate::config::{SearchConfig, SearchOptions};
use crate::error::{Result, SearchError};
use crate::findings::describe_record;
use crate::folds::Folds;
use crate::info::{GUARANTEES, SearchEnd, SearchInfo, SearchOutcome};
use crate::journal::{Journal, identity};
use crate::linear::linear_candidates;
use crate::rounds::{Searched, carry_out};

/// Coverage of a block this far below the asked one makes the offline band doubtful.
const DOUBTFUL: f64 = 0.15;

/// Searches the best model of a record and calibrates its band, on the training and validation parts alone.
///
/// The result depends on data and configuration only, not on threads. Where a deadline passes, [`SearchInfo::capped`] says so, and
/// [`SearchInfo::rounds`] as [`SearchConfig::rounds`] repeats that result. Once linear models have been judged, a search that is
/// cancelled gives the best of them, with [`SearchEnd::Cancelled`].
///
/// # Errors
/// [`SearchError`] if an option is out of range, the record is too short for any model, no linear model is stable on it, or the
/// search is cancelled before any model has been judged.
pub fn search(
    dataset: &Dataset,
    split: &Split,
    config: &SearchConfig,
    options: &SearchOptions<'_>,
) -> Result<SearchOutcome> {
    let started = Instant::now();
    config.check()?;
    let findings = describe_record(dataset, split);
    let folds = Folds::new(dataset, split)?;
    let journal = options
        .journal
        .map(|path| Journal::open(path, identity(dataset, split, config)));
    let budget = Budget::new(options).with_journal(journal.transpose()?);
    let linear = linear_candidates(&folds, config, &budget)?;
    if linear.is_empty() {
        return Err(SearchError::NoStableLinearModel);
    }
    let searched = carry_out(&folds, config, &linear, &budget);
    budget.lift();
    let chosen = searched.and_then(|searched| {
        let choice = choose(&folds, config, &searched, &budget)?;
        Ok((searched, choice))
    });
    let (searched, choice, is_cancelled) = match chosen {
        Err(SearchError::Cancelled) => {
            let choice = Choice::cancelled(&folds, config, &linear, &budget)?;
            let searched = Searched {
                linear,
                ..Searched::default()
            };
            (searched, choice, true)
        }
        chosen => {
            let (searched, choice) = chosen?;
            (searched, choice, false)
        }
    };
    let end = match (is_cancelled, searched.is_capped) {
        (true, _) => SearchEnd::Cancelled,
        (_, true) => SearchEnd::OutOfTime,
        _ => SearchEnd::Finished,
    };
    let warnings = [choice.warning, doubt(&choice.calibration, config.coverage)];
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    Ok(SearchOutcome {
        info: SearchInfo {
            findings,
            candidates: choice.candidates,
            why: choice.why,
            members: choice.model.members(),
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
            // The model has them; here they are nobody's news.
            calibration: Calibration {
                levels: Vec::new(),
                ..choice.calibration
            },
            promise: Some(choice.promise),
            guarantees: GUARANTEES.map(str::to_owned).to_vec(),
            rounds: searched.rounds,
            capped: end != SearchEnd::Finished,
            end,
            work: budget.work(),
        },
        descent: choice.descent.0,
        steps: choice.descent.1,
        duration: started.elapsed(),
        model: choice.model,
    })
}

/// Reasons to doubt the offline band: drift within the record, and errors that grow beyond what was fitted.
fn doubt(calibration: &Calibration, coverage: f64) -> Option<String> {
    let worst = |shares: &[f64]| shares.iter().copied().fold(f64::INFINITY, f64::min);
    let of_cuts = &calibration.cut_coverage;
    let mean_of_cuts = of_cuts.iter().sum::<f64>() / of_cuts.len() as f64;
    let mut reasons = Vec::new();
    if worst(&calibration.block_coverage) < coverage - DOUBTFUL {
        let worst = 100.0 * worst(&calibration.block_coverage);
        reasons.push(format!("coverage differs between held-out blocks (worst {worst:.0} %)"));
    }
    if mean_of_cuts < coverage - DOUBTFUL {
        let mean = 100.0 * mean_of_cuts;
        reasons.push(format!(
            "models of one side of the record do not hold on the other (a band sized by the blocks has {mean:.0} % inside there)"
        ));
    }
    // A run that has diverged before the samples that it is judged on has none of them inside.
    let diverged = of_cuts.iter().filter(|share| **share <= 0.0).count();
    let lost = calibration.cuts.saturating_sub(of_cuts.len()) + diverged;
    if lost > 0 {
        let cuts = calibration.cuts;
        reasons.push(format!(
            "of {cuts} models fitted to one side of a cut, {lost} could not be made, diverged or had nothing inside on the other"
        ));
    }
    if reasons.is_empty() {
        return None;
    }
    let (reasons, asked) = (reasons.join(", and "), 100.0 * coverage);
    Some(format!(
        "{reasons}; {asked:.0} % were asked for. The offline band was widened for what could be seen, but stays doubtful on new data: \
         the record drifts, changes or is too short to tell. The online band follows such changes"
    ))
}
