//! Settings by name, as files, flags and other languages give them. The one place where they are merged.

mod nearest;
mod parts;

use intervalid_data::{InitialState, Lags};
use intervalid_model::{
    Feedback, FitConfig, GradNormOptimiser, MarginActivation, Method, ModelKind, Precision, QuantileLevel, Schedule,
    Strategy,
};
use intervalid_search::SearchConfig;
use serde::Deserialize;
use toml::{Table, Value};

use crate::band::{OutputRanges, main_coverage};
use crate::error::{Result, WorkflowError};
use crate::request::Preset;

pub use nearest::nearest;
pub use parts::{LagsSetting, WindowSetting};

/// Declares [`Settings`] and what is done to all of its fields alike.
macro_rules! settings {
    ($($name:ident: $type:ty),+ $(,)?) => {
        /// What somebody set; what is missing is chosen by the preset. Names and meanings are those of [`FitConfig`] and
        /// [`SearchConfig`]; `lags` may be text such as `2,0,3`, and tables may be given in part.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[expect(missing_docs, reason = "documented where they take effect")]
        pub struct Settings {
            $(pub $name: Option<$type>,)+
        }

        impl Settings {
            /// Names of all settings.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Field by field, these settings or else those of `base`.
            fn or(self, base: Self) -> Self {
                Self {
                    $($name: self.$name.or(base.$name),)+
                }
            }

            /// Names of the settings that are given.
            pub fn given(&self) -> impl Iterator<Item = &'static str> {
                [$((stringify!($name), self.$name.is_some())),+]
                    .into_iter()
                    .filter_map(|(name, is_given)| is_given.then_some(name))
            }
        }
    };
}

settings! {
    preset: Preset,
    calibrate: bool,
    rounds: usize,
    model: ModelKind,
    strategy: Strategy,
    margin: MarginActivation,
    coverage: f64,
    levels: Vec<f64>,
    output_range: OutputRanges,
    detrend: Vec<String>,
    lags: LagsSetting,
    lag_search: bool,
    hidden: Vec<usize>,
    linear_path: bool,
    initial: InitialState,
    window: WindowSetting,
    width_penalty: f64,
    level: QuantileLevel,
    margin_hidden: f64,
    margin_output: f64,
    margin_floor: f64,
    epochs: usize,
    margin_epochs: usize,
    batch: usize,
    margin_batch: usize,
    margin_rate: f64,
    margin_schedule: Schedule,
    miss_factor: f64,
    weight_decay: f64,
    weight_noise: f64,
    averaging: f64,
    learning_rate: f64,
    schedule: Schedule,
    gradient_clip: f64,
    patience: usize,
    gradnorm_beta: f64,
    gradnorm_rate: f64,
    prior_std: f64,
    dropout: f64,
    members: usize,
    samples: usize,
    precision: Precision,
    seed: u64,
    states: usize,
    gradnorm_optimiser: GradNormOptimiser,
    feedback: Feedback,
    hidden_decay: f64,
    train_on_validation: bool,
    together: bool,
}

/// Settings that a search takes; all others say how one network is trained.
const OF_A_SEARCH: [&str; 12] = [
    "preset",
    "model",
    "lags",
    "initial",
    "coverage",
    "levels",
    "together",
    "output_range",
    "detrend",
    "rounds",
    "precision",
    "seed",
];

/// Settings that say what shape a state-space model has, whether it is searched or trained once.
const OF_A_SHAPE: [&str; 2] = ["states", "hidden"];

/// Settings of one network that are no mistake beside a search, which does the same anyway.
const OF_BOTH: [&str; 1] = ["calibrate"];

/// Settings of one model that mean something to a linear one, too.
const OF_A_LINEAR_ONE: [&str; 1] = ["lag_search"];

/// Settings that mean something where parameters are intervals.
const OF_MARGINS: [&str; 2] = ["strategy", "margin"];

/// Other names of settings.
const ALIASES: [(&str, &str); 1] = [("lr", "learning_rate")];

impl Settings {
    /// Settings from a table of names and values.
    ///
    /// # Errors
    /// [`WorkflowError::UnknownSetting`] or [`WorkflowError::Setting`] naming the first key that is wrong.
    ///
    /// ```
    /// use intervalid_workflow::Settings;
    ///
    /// let settings = Settings::from_table(&"model = 'ilstm'\nlags = '2,1,3'\nlr = 0.01".parse()?)?;
    /// let config = settings.fit_config("robot-arm");
    /// assert_eq!((config.network.hidden.as_slice(), config.lags.ny), ([10, 10].as_slice(), 3));
    /// assert!(!config.lag_search);
    /// assert!(Settings::from_table(&"epoch = 3".parse()?).is_err_and(|error| error.to_string() == "unknown key 'epoch'"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_table(table: &Table) -> Result<Self> {
        let mut settings = Self::default();
        for (key, value) in table {
            let name = ALIASES
                .iter()
                .find(|(alias, _)| alias == key)
                .map_or(key.as_str(), |(_, name)| name);
            if let ("coverage", Value::Array(levels)) = (name, value) {
                settings = Self::of_coverages(levels, value)?.or(settings);
                continue;
            }
            if !Self::NAMES.contains(&name) {
                let nearest = nearest(key, Self::NAMES.iter().copied());
                let key = key.clone();
                return Err(WorkflowError::UnknownSetting { key, nearest });
            }
            // One key at a time, so that the message can name it.
            let one: Self = Table::from_iter([(name.to_owned(), value.clone())])
                .try_into()
                .map_err(|error| WorkflowError::Setting {
                    key: key.clone(),
                    found: value.to_string(),
                    reason: first_line(&error),
                })?;
            settings = one.or(settings);
        }
        Ok(settings)
    }

    /// Several coverages: the default one if it is among them, else the first, is what a model is trained for and judged by.
    fn of_coverages(levels: &[Value], value: &Value) -> Result<Self> {
        let number = |level: &Value| {
            level
                .as_float()
                .or_else(|| level.as_integer().map(|whole| whole as f64))
        };
        let numbers: Option<Vec<f64>> = levels.iter().map(number).collect();
        let preferred = SearchConfig::default().coverage;
        let Some((main, others)) = numbers.and_then(|numbers| main_coverage(&numbers, preferred)) else {
            return Err(WorkflowError::Setting {
                key: "coverage".to_owned(),
                found: value.to_string(),
                reason: "expected a share between 0 and 1 such as 0.9, or several".to_owned(),
            });
        };
        Ok(Self {
            coverage: Some(main),
            levels: Some(others),
            ..Self::default()
        })
    }

    /// These settings, and those of `base` where these say nothing. Lags, epochs and a coverage that are given displace what `base`
    /// says about searching lags, about the epochs of margins and about further coverages; limits of an output displace those of the same output alone.
    #[must_use]
    pub fn over(mut self, mut base: Self) -> Self {
        if self.lags.is_some() {
            base.lag_search = None;
        }
        if self.epochs.is_some() {
            base.margin_epochs = None;
        }
        if self.coverage.is_some() {
            base.levels = None;
        }
        if let (Some(OutputRanges(own)), Some(OutputRanges(others))) = (&mut self.output_range, &base.output_range) {
            for (name, range) in others {
                own.entry(name.clone()).or_insert(*range);
            }
        }
        self.or(base)
    }

    /// The first setting that only makes sense for one network.
    #[must_use]
    pub fn of_one_network(&self) -> Option<&'static str> {
        let is_of_a_shape = |name: &&str| self.is_state_space() && OF_A_SHAPE.contains(name);
        self.given()
            .find(|name| !OF_A_SEARCH.contains(name) && !OF_BOTH.contains(name) && !is_of_a_shape(name))
    }

    /// The first setting that says how a network is trained where a linear model is asked for, and that model: all it does is to switch off the
    /// search and its calibration. Not with a preset, whose configuration files hold all settings.
    #[must_use]
    pub fn not_for_linear(&self) -> Option<(&'static str, ModelKind)> {
        let model = self.model.filter(|_| self.preset.is_none())?;
        let model = Some(model).filter(|model| model.method() == Method::Linear)?;
        Some((self.without_effect(model)?, model))
    }

    /// The first setting that does nothing to a model of this kind: to a linear one all that say how a network is trained, to other models whose
    /// parameters are no intervals those about margins.
    #[must_use]
    pub fn without_effect(&self, model: ModelKind) -> Option<&'static str> {
        let mut given = self.given();
        match model.method() {
            Method::Interval => None,
            Method::Linear => {
                given.find(|name| ![&OF_A_SEARCH[..], &OF_BOTH, &OF_A_LINEAR_ONE].concat().contains(name))
            }
            Method::Bayesian | Method::Dropout | Method::Ensemble => given.find(|name| OF_MARGINS.contains(name)),
        }
    }

    /// Whether a state-space model is asked for: nothing else has states.
    fn is_state_space(&self) -> bool {
        self.model
            .map_or(self.states.is_some(), |model| model == ModelKind::Iss)
    }

    /// The preset `paper` of a model for a record of this name, with these settings in place of its own. Ranges are not checked:
    /// [`FitConfig::check`] does that.
    #[must_use]
    pub fn fit_config(&self, dataset: &str) -> FitConfig {
        let model = self.model.unwrap_or(match self.is_state_space() {
            true => ModelKind::Iss,
            false => ModelKind::default(),
        });
        let preset = FitConfig::paper(dataset, model, self.strategy.unwrap_or_default());
        self.applied_to(preset)
    }

    /// A configuration with these settings in place of its own.
    ///
    /// Lags that are given are not searched for, and epochs are those of every stage, unless `lag_search` and `margin_epochs` say
    /// otherwise.
    #[must_use]
    pub fn applied_to(&self, mut config: FitConfig) -> FitConfig {
        if self.lags.is_some() {
            config.lag_search = false;
        }
        if self.epochs.is_some() {
            config.interval.margin_epochs = None;
        }
        /// Sets the field of the same name in a configuration or one of its groups; those after `maybe` may be missing there.
        macro_rules! set {
            ($to:expr; $($name:ident),*; maybe $($optional:ident),*) => {
                $(if let Some(value) = &self.$name {
                    $to.$name = value.clone();
                })*
                $(if self.$optional.is_some() {
                    $to.$optional = self.$optional;
                })*
            };
        }
        set!(config; model, lag_search, initial, coverage, precision, seed; maybe);
        set!(config.network; hidden, linear_path; maybe states);
        if let (ModelKind::Iss, Some(&[units])) = (config.model, self.hidden.as_deref()) {
            config.network.hidden = vec![units, units];
        }
        set!(
            config.training; epochs, batch, learning_rate, schedule, gradient_clip, weight_decay, weight_noise, averaging,
            hidden_decay, train_on_validation;
            maybe patience
        );
        set!(
            config.interval; strategy, margin, width_penalty, level, margin_hidden, margin_output, margin_floor, margin_rate,
            miss_factor, gradnorm_beta, gradnorm_rate, gradnorm_optimiser;
            maybe margin_epochs, margin_batch, margin_schedule
        );
        set!(config.gaussian; prior_std, dropout, members, samples, feedback; maybe);
        if let Some(lags) = self.lags {
            config.lags = lags.over(config.lags);
        }
        if let Some(window) = self.window {
            config.training.window = window.over(config.training.window);
        }
        config
    }

    /// What a search is asked: the defaults with these settings in place of its own.
    ///
    /// # Errors
    /// [`WorkflowError::NotForSearch`] or [`WorkflowError::NotSearched`] if a setting says how one network is trained, and
    /// [`WorkflowError::Setting`] if lags are given in part: a search has none to complete them with.
    pub fn search_config(&self) -> Result<SearchConfig> {
        if let Some(key) = self.of_one_network() {
            return Err(WorkflowError::NotForSearch { key });
        }
        if let Some(model) = self.model.filter(|&model| !SearchConfig::searches(model)) {
            return Err(WorkflowError::NotSearched { model });
        }
        let hidden = match self.hidden.as_deref() {
            None => None,
            Some(&[units]) => Some([units, units]),
            Some(&[state, output]) => Some([state, output]),
            Some(others) => {
                return Err(WorkflowError::Setting {
                    key: "hidden".to_owned(),
                    found: format!("{others:?}"),
                    reason: "expected the units of the state map and of the output map of iss".to_owned(),
                });
            }
        };
        let defaults = SearchConfig::default();
        Ok(SearchConfig {
            model: self.is_state_space().then_some(ModelKind::Iss).or(self.model),
            states: self.states,
            hidden,
            lags: self.lags.map(LagsSetting::whole).transpose()?,
            initial: self.initial,
            coverage: self.coverage.unwrap_or(defaults.coverage),
            together: self.together.unwrap_or(defaults.together),
            rounds: self.rounds.unwrap_or(defaults.rounds),
            precision: self.precision.unwrap_or(defaults.precision),
            seed: self.seed.unwrap_or(defaults.seed),
        })
    }
}

/// The least a model looks back.
pub(crate) const SHORTEST: Lags = Lags { nx: 0, nd: 0, ny: 1 };

fn first_line(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
