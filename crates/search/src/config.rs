//! What a user may ask of a search.

use std::path::Path;

use intervalid_data::{InitialState, Lags};
use intervalid_model::{Control, FitConfig, ModelError, ModelKind, Precision};
use serde::{Deserialize, Serialize};

/// Everything that decides a search besides the data.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `model` | none | only models of this kind: `arx`, `inode`, `iss` or `ilstm` |
/// | `lags` | none | only these lags |
/// | `initial` | none | how simulations start; none: with measured outputs, of `ilstm` after a warm-up, of `iss` from history |
/// | `coverage` | 0.9 | share of samples that the band should hold |
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
    /// How simulations start; none leaves it to the search.
    pub initial: Option<InitialState>,
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Most rounds; 0 leaves linear models on lagged outputs alone. A search ends before them when its work is done or nothing more
    /// is gained.
    pub rounds: usize,
    /// Type of the numbers of a network.
    pub precision: Precision,
    /// Seed of everything random.
    pub seed: u64,
}

/// More than any search takes.
const MOST_ROUNDS: usize = 1000;

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            model: None,
            lags: None,
            initial: None,
            coverage: 0.9,
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
        if let Some(lags) = self.lags {
            Lags::new(lags.nx, lags.nd, lags.ny)?;
        }
        let lags = self.lags.unwrap_or(Lags { nx: 0, nd: 0, ny: 1 });
        self.fit_config(ModelKind::Arx, lags, self.initial()).check()
    }

    /// Whether models with hidden states are among the candidates: they have no lags, and need history to start.
    pub(crate) fn searches_hidden_states(&self) -> bool {
        match self.model {
            None => self.lags.is_none() && self.initial.is_none_or(|initial| initial.unscored() > 0),
            Some(model) => model == ModelKind::Iss,
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
