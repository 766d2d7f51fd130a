//! What a user may ask of a search.

use std::path::Path;

use intervalid_data::{InitialState, Lags};
use intervalid_model::{Control, CoverageTarget, FitConfig, ModelError, ModelKind, Precision};
use serde::{Deserialize, Serialize};

/// Everything that decides a search besides the data.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `model` | none | only models of this kind: `arx`, `inode`, `iss` or `ilstm` |
/// | `lags` | none | only these lags |
/// | `states` | none | of `iss`: only so many states |
/// | `hidden` | none | of `iss`: only these units in the state map and the output map of a state-space model; none in both is a linear one |
/// | `initial` | none | how simulations start; none: with measured outputs, of `ilstm` after a warm-up, of `iss` from history, which it needs |
/// | `coverage` | 0.9 | share of samples that the band should hold |
/// | `together` | false | whether the share is of samples where all outputs are inside, instead of each output's own |
/// | `rounds` | 1000 | most rounds; fewer are faster: linear state-space models, three rounds of lagged networks, and each recipe of a network with hidden states are one each |
/// | `precision` | f32 | of the network that is kept; the search itself is in f64 |
/// | `seed` | 1 | of everything random |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Only models of this kind.
    pub model: Option<ModelKind>,
    /// Only these lags.
    pub lags: Option<Lags>,
    /// Only state-space models of so many states.
    pub states: Option<usize>,
    /// Only these units in the state map and the output map of a state-space model.
    pub hidden: Option<[usize; 2]>,
    /// How simulations start; none leaves it to the search.
    pub initial: Option<InitialState>,
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Whether all outputs are to be inside together.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub together: bool,
    /// Most rounds; 0 leaves linear models on lagged outputs alone. A search ends before them when its work is done or nothing more
    /// is gained.
    pub rounds: usize,
    /// Type of the numbers of a network.
    pub precision: Precision,
    /// Seed of everything random.
    pub seed: u64,
}

/// Shapes of state-space models whose derivatives are affordable many times over.
const MOST_STATES: usize = 20;
const MOST_UNITS: usize = 64;
/// More than any search takes.
const MOST_ROUNDS: usize = 1000;

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            model: None,
            lags: None,
            states: None,
            hidden: None,
            initial: None,
            coverage: 0.9,
            together: false,
            rounds: MOST_ROUNDS,
            precision: Precision::F32,
            seed: 1,
        }
    }
}

impl SearchConfig {
    /// Whether models of this kind are among those that a search tries.
    #[must_use]
    pub fn searches(model: ModelKind) -> bool {
        matches!(
            model,
            ModelKind::Arx | ModelKind::Inode | ModelKind::Iss | ModelKind::Ilstm
        )
    }

    /// Checks every range that does not depend on the data.
    ///
    /// # Errors
    /// [`ModelError::Option`] naming the first option outside its range.
    pub fn check(&self) -> Result<(), ModelError> {
        if let Some(model) = self.model.filter(|&model| !Self::searches(model)) {
            let expected = "arx, inode, iss or ilstm, which are searched";
            return Err(ModelError::option("model", model, expected));
        }
        if self.rounds > MOST_ROUNDS {
            return Err(ModelError::option("rounds", self.rounds, "at most 1000"));
        }
        self.check_shape()?;
        if self.model == Some(ModelKind::Iss)
            && let Some(initial) = self.initial.filter(|initial| initial.unscored() == 0)
        {
            let expected = "warmup:N or history:N, from which a search of iss finds the state at the start";
            return Err(ModelError::option("initial", initial, expected));
        }
        if let Some(lags) = self.lags {
            Lags::new(lags.nx, lags.nd, lags.ny)?;
        }
        let lags = self.lags.unwrap_or(Lags { nx: 0, nd: 0, ny: 1 });
        self.fit_config(ModelKind::Arx, lags, self.initial()).check()
    }

    /// Checks what is asked of the shape of state-space models.
    fn check_shape(&self) -> Result<(), ModelError> {
        let is_searched = self.model == Some(ModelKind::Iss);
        if let Some(states) = self.states {
            match is_searched {
                false => return Err(ModelError::option("states", states, "none unless the model is iss")),
                true if !(1..=MOST_STATES).contains(&states) => {
                    let expected = format!("1 to {MOST_STATES} states in a search");
                    return Err(ModelError::option("states", states, expected));
                }
                true => {}
            }
        }
        match self.hidden {
            Some([state, output]) if !is_searched => {
                let expected = "none unless the model is iss: a search decides the units of all others";
                Err(ModelError::option("hidden", format!("{state},{output}"), expected))
            }
            Some([state, output]) if state.max(output) > MOST_UNITS => {
                let expected = format!("at most {MOST_UNITS} units in each map in a search");
                Err(ModelError::option("hidden", format!("{state},{output}"), expected))
            }
            _ => Ok(()),
        }
    }

    /// Whether models with hidden states are among the candidates: they have no lags, and need history to start.
    pub(crate) fn searches_hidden_states(&self) -> bool {
        match self.model {
            None => self.lags.is_none() && self.initial.is_none_or(|initial| initial.unscored() > 0),
            Some(model) => model == ModelKind::Iss,
        }
    }

    /// What the band of the final model should hold.
    pub(crate) fn target(&self) -> CoverageTarget {
        CoverageTarget {
            share: self.coverage,
            together: self.together,
        }
    }

    /// How simulations start that have no state but their outputs.
    #[must_use]
    pub fn initial(&self) -> InitialState {
        self.initial.unwrap_or(InitialState::Measured)
    }

    /// The part of a fit's configuration that the search does not choose.
    pub(crate) fn fit_config(&self, model: ModelKind, lags: Lags, initial: InitialState) -> FitConfig {
        FitConfig {
            model,
            lags,
            initial,
            coverage: self.coverage,
            precision: self.precision,
            seed: self.seed,
            ..FitConfig::default()
        }
    }
}

/// Who follows a search, and what it may cost. Neither threads nor an observer change the result; a deadline that passes
/// does, and the outcome says so.
#[derive(Clone, Copy, Default)]
pub struct SearchOptions<'a> {
    /// Most threads; 0 is one.
    pub threads: usize,
    /// Told of progress now and then, from any thread. Rounds that are not done early enough before its deadline to finish the
    /// winner are left out.
    pub control: Control<'a>,
    /// Where finished jobs are written down, and taken from by a search that goes on after an interruption. Who has the result removes it.
    pub journal: Option<&'a Path>,
}
