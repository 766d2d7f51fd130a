//! Networks that are worth a try on a record, before anything is trained.

use intervalid_data::{InitialState, Lags, WindowConfig};
use intervalid_model::{Architecture, FitConfig, ModelKind};

use super::recurrent;
use crate::config::SearchConfig;
use crate::folds::Folds;
use crate::linear::WINDOW;

/// What decides a network besides the data and a seed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recipe {
    /// [`ModelKind::Inode`] beside a linear path, or [`ModelKind::Ilstm`].
    pub(crate) model: ModelKind,
    pub(crate) lags: Lags,
    pub(crate) hidden: Vec<usize>,
    /// Penalty on weights in units of the linear model's mean squared error; of INODE.
    pub(crate) ridge: f64,
    /// Samples of a training window.
    pub(crate) window: usize,
    /// How simulations start.
    pub(crate) initial: InitialState,
}

impl Recipe {
    /// As the configuration of a fit, with windows `step` samples apart.
    pub(crate) fn fit_config(&self, config: &SearchConfig, length: usize, step: usize) -> FitConfig {
        config.fit_config(self.model, self.lags, self.initial).with(|config| {
            config.network.hidden = self.hidden.clone();
            config.network.linear_path = self.model == ModelKind::Inode;
            config.training.window = WindowConfig { length, step };
        })
    }

    /// Shape of the network.
    pub(crate) fn architecture(&self, folds: &Folds<'_>) -> Option<Architecture> {
        let settings = self.fit_config(&SearchConfig::default(), self.window, 1);
        let (inputs, outputs) = (folds.dataset.inputs().len(), folds.dataset.outputs().len());
        Architecture::of(&settings, inputs, outputs)
    }

    /// Weights and biases.
    pub(crate) fn parameters(&self, folds: &Folds<'_>) -> usize {
        self.architecture(folds)
            .map_or(0, |architecture| architecture.layout().len())
    }

    /// Its name in words.
    pub(crate) fn name(&self) -> String {
        let hidden: Vec<String> = self.hidden.iter().map(usize::to_string).collect();
        let (hidden, lags, window) = (hidden.join("-"), self.lags, self.window);
        match self.model {
            ModelKind::Ilstm => format!(
                "ILSTM {hidden} lags {lags}, windows of {window}, start {}",
                self.initial
            ),
            _ => {
                let ridge = self.ridge;
                format!("INODE {hidden} lags {lags}, ridge {ridge}, windows of {window}")
            }
        }
    }
}

/// Recipes for a record of this size, around the lags that linear models like.
pub(crate) fn recipes(folds: &Folds<'_>, config: &SearchConfig, linear: Lags) -> Vec<Recipe> {
    let has_inputs = !folds.dataset.inputs().is_empty();
    let few = |taps: usize, ny: usize| Lags {
        nx: if has_inputs { taps } else { 0 },
        nd: linear.nd,
        ny,
    };
    let wants = |model: ModelKind| config.model.is_none_or(|asked| asked == model);
    let mut found = Vec::new();
    if wants(ModelKind::Inode) {
        let mut lags = match config.lags {
            Some(lags) => vec![lags],
            None => vec![linear, few(2, 2), few(4, 4)],
        };
        lags.dedup();
        found = small_networks(folds, config.initial(), &lags);
    }
    if wants(ModelKind::Ilstm) {
        found.extend(recurrent::recipes(folds, config, config.lags.unwrap_or(few(2, 2))));
    }
    found
}

/// Penalties in units of the linear model's mean squared error: clean records want the least, noisy ones the most.
const RIDGES: [f64; 3] = [1e-3, 3e-2, 1.0];

fn small_networks(folds: &Folds<'_>, initial: InitialState, lags: &[Lags]) -> Vec<Recipe> {
    let samples = folds.all.samples() * folds.dataset.outputs().len();
    let mut found: Vec<Recipe> = Vec::new();
    for &lags in lags {
        for hidden in [vec![4], vec![8], vec![16], vec![8, 8]] {
            for ridge in RIDGES {
                for window in [60, WINDOW] {
                    let recipe = Recipe {
                        model: ModelKind::Inode,
                        lags,
                        hidden: hidden.clone(),
                        ridge,
                        window,
                        initial,
                    };
                    // Three samples to a parameter: a penalty does the rest.
                    let is_small = 3 * recipe.parameters(folds) <= samples;
                    if is_small && !found.contains(&recipe) {
                        found.push(recipe);
                    }
                }
            }
        }
    }
    found
}
