//! A model that a search found, fitted once more to other data from where it is.

use intervalid_data::{Dataset, Lags, Split};
use intervalid_model::{Model, ModelKind};

use crate::average::Averaged;
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

/// Members of a model with hidden states that are fitted to everything again; of several recipes, one of each at least.
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
    // θ of both maps, then the observer's gain, a number per state and output.
    let shape = Shape {
        states: network.states_or_default(),
        inputs,
        outputs,
        state_hidden: units(0),
        output_hidden: units(1),
    };
    let members = model.network_parameters().into_iter().map(|member| {
        let theta = member.theta.get(..shape.parameters())?;
        Some(StateSpace::new(shape, theta.to_vec()))
    });
    let members: Vec<StateSpace> = members.collect::<Option<_>>().ok_or(SearchError::NoStableLinearModel)?;
    let Lags { nd, .. } = model.config().lags;
    let search = HiddenSearch::new(folds, nd, config).ok_or(SearchError::NoStableLinearModel)?;
    let (mut observed, mut history, mut lags) = (Vec::new(), 0, None);
    // As a search makes a pool: each recipe on every block and cut, so that what sizes the band is the mean of all, as the model is.
    for starts in starts_of_recipes(&members) {
        let candidate = search.renewed(&starts, budget)?;
        let started = candidate.started.as_ref().ok_or(SearchError::NoStableLinearModel)?;
        observed.push(search.observed(&candidate, started, budget));
        history = history.max(started.judged.history);
        lags = Some(candidate.lags());
    }
    let lags = lags.ok_or(SearchError::NoStableLinearModel)?;
    let plan = hidden_plan(observed, lags, history, config)?;
    let folds = folds.with_cuts();
    let networks = plan.train(&folds, config, budget)?;
    Ok(networks.assemble(config, Averaged::All)?.0)
}

/// Where each recipe of a model starts. Recipes of a pool share one shape, in which smaller ones have states and units that do nothing: what
/// they use tells them apart.
fn starts_of_recipes(members: &[StateSpace]) -> Vec<Vec<StateSpace>> {
    let mut recipes: Vec<Vec<StateSpace>> = Vec::new();
    for member in members.iter().map(StateSpace::narrowed) {
        match recipes.iter_mut().find(|recipe| recipe[0].shape() == member.shape()) {
            Some(recipe) => recipe.push(member),
            None => recipes.push(vec![member]),
        }
    }
    let most = (MEMBERS / recipes.len().max(1)).max(1);
    // Members that stand far apart have seen different data, or started differently.
    let few = |recipe: Vec<StateSpace>| {
        let kept = recipe.len().min(most);
        (0..kept)
            .map(|place| recipe[place * recipe.len() / kept].clone())
            .collect()
    };
    recipes.into_iter().map(few).collect()
}
