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
use crate::linear::linear_candidates;
use crate::rounds::{Searched, carry_out};
use crate::table::table;

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
    let budget = Budget::new(options);
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
            let choice = Choice::cancelled(&folds, config, &linear)?;
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
            candidates: table(&searched, choice.pick),
            why: choice.why,
            members: choice.model.members(),
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
            calibration: choice.calibration,
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

fn doubt(calibration: &Calibration, coverage: f64) -> Option<String> {
    let worst = calibration.block_coverage.iter().copied().fold(f64::INFINITY, f64::min);
    (worst < coverage - DOUBTFUL).then(|| {
        format!(
            "coverage differs between held-out blocks (worst {:.0} %, asked {:.0} %): the record drifts or changes, so the \
             offline band is doubtful on new data; the online band follows such changes",
            100.0 * worst,
            100.0 * coverage
        )
    })
}
