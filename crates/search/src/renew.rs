//! A model that a search found, fitted once more to other data from where it is.

use intervalid_data::{Dataset, Lags, Split};
use intervalid_model::{Model, ModelKind};

use crate::budget::Budget;
use crate::choice::hidden_plan;
use crate::config::{SearchConfig, SearchOptions};
use crate::error::{Result, SearchError};
use crate::finish::finish_linear;
use crate::folds::Folds;
use crate::hidden_states::HiddenSearch;
use crate::linear;
use crate::output_error::Narx;
use crate::state_space::{Shape, StateSpace};

/// Members of a model with hidden states that are fitted again: as many as a search has recipes in a pool.
const MEMBERS: usize = 3;

/// The same kind of model with the same structure, in the units it has, fitted to the training and validation parts by what the search fits such
/// models with, from where it is: the mean of several linear models to whole runs, models with hidden states by Gauss–Newton steps on
/// free runs, with new observers and margins. The band is calibrated on blocks and cuts as that of a search is.
///
/// None for models that go on with [`intervalid_model::refit`]: a single linear model, networks on lagged outputs, LSTMs, baselines.
///
/// # Errors
/// If the record is too short, or no model stays finite; [`SearchError::Cancelled`].
pub fn renew(model: &Model, dataset: &Dataset, split: &Split, options: &SearchOptions<'_>) -> Result<Option<Model>> {
    let settings = model.config();
    let config = SearchConfig {
        model: Some(model.kind()),
        lags: Some(settings.lags),
        initial: Some(settings.initial),
        coverage: settings.coverage,
        together: model.interface().is_together(),
        precision: settings.precision,
        seed: settings.seed,
        ..SearchConfig::default()
    };
    let budget = Budget::new(options);
    let folds = || -> Result<Folds<'_>> {
        let normaliser = model.interface().normaliser.clone();
        Ok(Folds::new(dataset, split)?.in_units(normaliser))
    };
    match model.arx() {
        Some((members, _)) if members.len() > 1 => {
            let folds = folds()?;
            let start = Narx::linear(&members[0], dataset.inputs().len());
            let found = linear::again(&folds, &config, &start, &budget)?;
            let best = found.first().ok_or(SearchError::NoStableLinearModel)?;
            Ok(Some(finish_linear(&folds.with_cuts(), &config, best, &budget)?.0))
        }
        None if model.kind() == ModelKind::Iss => hidden(model, &folds()?, &config, &budget).map(Some),
        _ => Ok(None),
    }
}

fn hidden(model: &Model, folds: &Folds<'_>, config: &SearchConfig, budget: &Budget<'_>) -> Result<Model> {
    let network = &model.config().network;
    let (inputs, outputs) = (folds.dataset.inputs().len(), folds.dataset.outputs().len());
    let units = |map: usize| network.hidden.get(map).copied().unwrap_or(0);
    let members = model.network_parameters();
    let start = |theta: &[f64]| -> Option<StateSpace> {
        // θ of both maps, then the observer's gain, a number per state and output.
        let shape = Shape {
            states: network.states_or_default(),
            inputs,
            outputs,
            state_hidden: units(0),
            output_hidden: units(1),
        };
        Some(StateSpace::new(shape, theta.get(..shape.parameters())?.to_vec()))
    };
    // Those of one recipe stand together: a few far apart are of several.
    let kept = members.len().min(MEMBERS);
    let starts = (0..kept).map(|place| start(&members[place * members.len() / kept].theta));
    let starts: Vec<StateSpace> = starts.collect::<Option<_>>().ok_or(SearchError::NoStableLinearModel)?;
    let Lags { nd, .. } = model.config().lags;
    let search = HiddenSearch::new(folds, nd, config).ok_or(SearchError::NoStableLinearModel)?;
    let candidate = search.renewed(&starts, budget)?;
    let started = candidate.started.as_ref().ok_or(SearchError::NoStableLinearModel)?;
    let observed = search.observed(&candidate, started, budget);
    let plan = hidden_plan(observed, candidate.lags(), started.history, config)?;
    let networks = plan.train(&folds.with_cuts(), config, budget)?;
    Ok(networks.assemble(folds, config, false)?.0)
}
