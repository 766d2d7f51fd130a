//! Settings by name, as files, flags and other languages give them. The one place where they are merged.

use intervalid_data::{InitialState, Lags, WindowConfig};
use intervalid_model::{
    Feedback, FitConfig, GradNormOptimiser, MarginActivation, ModelKind, Precision, QuantileLevel, Schedule, Strategy,
};
use intervalid_search::SearchConfig;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use crate::band::{OutputRanges, main_coverage};
use crate::error::{Result, WorkflowError};
use crate::request::Preset;

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

/// Other names of settings.
const ALIASES: [(&str, &str); 1] = [("lr", "learning_rate")];

/// Lags, all of them or some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagsSetting {
    nx: Option<usize>,
    nd: Option<usize>,
    ny: Option<usize>,
}

impl From<Lags> for LagsSetting {
    fn from(lags: Lags) -> Self {
        Self {
            nx: Some(lags.nx),
            nd: Some(lags.nd),
            ny: Some(lags.ny),
        }
    }
}

impl LagsSetting {
    fn over(self, base: Lags) -> Lags {
        Lags {
            nx: self.nx.unwrap_or(base.nx),
            nd: self.nd.unwrap_or(base.nd),
            ny: self.ny.unwrap_or(base.ny),
        }
    }
}

impl LagsSetting {
    /// All three, for who has none to complete them with.
    fn whole(self) -> Result<Lags> {
        let Self { nx, nd, ny } = self;
        match (nx, nd, ny) {
            (Some(nx), Some(nd), Some(ny)) => Ok(Lags { nx, nd, ny }),
            _ => Err(WorkflowError::Setting {
                key: "lags".to_owned(),
                found: "a part of them".to_owned(),
                reason: "a search takes all of nx, nd and ny, or none".to_owned(),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for LagsSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Part {
            nx: Option<usize>,
            nd: Option<usize>,
            ny: Option<usize>,
        }
        let wrong = |error: String| serde::de::Error::custom(error);
        match Value::deserialize(deserializer)? {
            Value::String(text) => {
                let lags: Lags = text
                    .parse()
                    .map_err(|error: intervalid_data::DataError| wrong(error.to_string()))?;
                Ok(lags.into())
            }
            value => {
                let Part { nx, nd, ny } = value.try_into().map_err(|error| wrong(first_line(&error)))?;
                Ok(Self { nx, nd, ny })
            }
        }
    }
}

/// Training windows, both numbers or one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowSetting {
    length: Option<usize>,
    step: Option<usize>,
}

impl WindowSetting {
    fn over(self, base: WindowConfig) -> WindowConfig {
        WindowConfig {
            length: self.length.unwrap_or(base.length),
            step: self.step.unwrap_or(base.step),
        }
    }
}

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
    /// says about searching lags, about the epochs of margins and about further coverages.
    #[must_use]
    pub fn over(self, mut base: Self) -> Self {
        if self.lags.is_some() {
            base.lag_search = None;
        }
        if self.epochs.is_some() {
            base.margin_epochs = None;
        }
        if self.coverage.is_some() {
            base.levels = None;
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
            config.training; epochs, batch, learning_rate, schedule, gradient_clip, weight_decay, weight_noise, averaging;
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

/// The known name most like a mistyped one, if any is.
///
/// ```
/// use intervalid_workflow::nearest;
///
/// assert_eq!(nearest("epoch", ["model", "epochs", "batch"]), Some("epochs"));
/// assert_eq!(nearest("qwertz", ["model", "epochs"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |other: &str| strsim::jaro_winkler(name, other);
    let best = known
        .into_iter()
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(best) > 0.75).then_some(best)
}

fn first_line(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use intervalid_model::{GaussianConfig, IntervalConfig, NetworkConfig, TrainingConfig};

    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::from_table(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_shape_of_a_state_space_model_can_be_asked_of_a_search() {
        let asked = settings("states = 3\nhidden = [8]");
        assert_eq!(asked.of_one_network(), None);
        let search = asked.search_config().expect("resolves");
        assert_eq!(
            (search.model, search.states, search.hidden),
            (Some(ModelKind::Iss), Some(3), Some([8, 8]))
        );
        // Of all other models the layers are those of one network.
        assert_eq!(settings("hidden = [8]").of_one_network(), Some("hidden"));
        assert_eq!(settings("model = 'inode'\nstates = 3").of_one_network(), Some("states"));
        assert_eq!(settings("states = 3\nepochs = 7").of_one_network(), Some("epochs"));
        assert!(settings("model = 'iss'\nhidden = [8, 8, 8]").search_config().is_err());
        let too_many = settings("states = 21").search_config().expect("resolves");
        assert!(
            too_many
                .check()
                .is_err_and(|error| error.to_string().contains("1 to 20 states"))
        );
    }

    #[test]
    fn settings_win_over_the_preset() {
        let config = settings("epochs = 7\nlags = '1,2,3'").fit_config("hair-dryer");
        assert_eq!((config.training.epochs, config.interval.margin_epochs), (7, None));
        assert_eq!((config.lags, config.lag_search), (Lags { nx: 1, nd: 2, ny: 3 }, false));
        let paper = FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Cascade);
        assert_eq!(config.training.batch, paper.training.batch);
        assert_eq!(Settings::default().fit_config("hair-dryer"), paper);
        let both = settings("epochs = 7\nmargin_epochs = 9\nlags = '1,2,3'\nlag_search = true").fit_config("x");
        assert_eq!((both.interval.margin_epochs, both.lag_search), (Some(9), true));
    }

    #[test]
    fn tables_may_be_given_in_part() {
        let config = settings("lags = { ny = 5 }\nwindow = { length = 77 }").fit_config("hair-dryer");
        let paper = FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Cascade);
        assert_eq!((config.lags.ny, config.lags.nx), (5, paper.lags.nx));
        assert_eq!(
            (config.training.window.length, config.training.window.step),
            (77, paper.training.window.step)
        );
    }

    #[test]
    fn every_setting_reaches_the_configuration_it_is_named_after() {
        // A configuration with no field at its default, written as settings and read back.
        let config = FitConfig {
            model: ModelKind::Blstm,
            lags: Lags { nx: 5, nd: 6, ny: 7 },
            lag_search: true,
            initial: InitialState::Warmup(3),
            coverage: 0.5,
            precision: Precision::F64,
            seed: 18,
            network: NetworkConfig {
                hidden: vec![3],
                linear_path: true,
                states: Some(19),
            },
            training: TrainingConfig {
                window: WindowConfig { length: 9, step: 8 },
                epochs: 11,
                batch: 13,
                learning_rate: 0.12,
                schedule: Schedule::Constant,
                gradient_clip: 0.13,
                patience: Some(15),
                weight_decay: 0.8,
                weight_noise: 0.9,
                averaging: 0.11,
            },
            interval: IntervalConfig {
                strategy: Strategy::Joint,
                margin: MarginActivation::Relu,
                width_penalty: 0.1,
                level: QuantileLevel::Literal,
                margin_hidden: 0.2,
                margin_output: 0.3,
                margin_floor: 0.4,
                margin_epochs: Some(12),
                margin_batch: Some(14),
                margin_rate: 0.6,
                margin_schedule: Some(Schedule::Cosine),
                miss_factor: 0.7,
                gradnorm_beta: 0.14,
                gradnorm_rate: 0.15,
                gradnorm_optimiser: GradNormOptimiser::Adam,
            },
            gaussian: GaussianConfig {
                prior_std: 0.16,
                dropout: 0.17,
                members: 16,
                samples: 17,
                feedback: Feedback::Own,
            },
        };
        let table = Table::try_from(&config).unwrap();
        assert!(table.keys().all(|key| Settings::NAMES.contains(&key.as_str())));
        assert_eq!(Settings::from_table(&table).unwrap().fit_config("robot-arm"), config);
        assert_eq!(
            table.len() + 6,
            Settings::NAMES.len(),
            "preset, calibrate, detrend, levels, output_range and rounds besides"
        );
    }

    #[test]
    fn several_coverages_are_one_and_others() {
        let several = settings("coverage = [0.5, 0.9, 0.99]");
        assert_eq!((several.coverage, several.levels), (Some(0.9), Some(vec![0.5, 0.99])));
        let over = settings("coverage = 0.8").over(settings("coverage = [0.5, 0.9]"));
        assert_eq!((over.coverage, over.levels), (Some(0.8), None));
        let written = settings("coverage = 0.9\nlevels = [0.5]");
        assert_eq!((written.coverage, written.levels), (Some(0.9), Some(vec![0.5])));
        for bad in ["coverage = []", "coverage = ['0.9']"] {
            let refused = Settings::from_table(&bad.parse().unwrap()).unwrap_err();
            assert!(refused.to_string().starts_with("coverage = ["), "{refused}");
        }
    }

    #[test]
    fn bad_settings_are_named() {
        let refused = |text: &str| Settings::from_table(&text.parse().unwrap()).unwrap_err();
        assert!(
            refused("margin = 'cube'")
                .to_string()
                .starts_with("margin = \"cube\": unknown variant")
        );
        assert!(
            refused("model = 'gru'")
                .to_string()
                .starts_with("model = \"gru\": unknown variant")
        );
        assert!(
            refused("rounds = 'many'")
                .to_string()
                .starts_with("rounds = \"many\": invalid type")
        );
        assert!(refused("lags = { nz = 1 }").to_string().contains("unknown field"));
        assert!(matches!(
            refused("epoch = 3"),
            WorkflowError::UnknownSetting {
                nearest: Some("epochs"),
                ..
            }
        ));
        assert!(matches!(
            refused("qwertz = 3"),
            WorkflowError::UnknownSetting { nearest: None, .. }
        ));
    }

    #[test]
    fn a_search_takes_its_own_settings_and_no_others() {
        let config = settings("lags = '1,0,2'\ncoverage = 0.95").search_config().unwrap();
        assert_eq!(config.lags, Some(Lags { nx: 1, nd: 0, ny: 2 }));
        assert_eq!(config.rounds, SearchConfig::default().rounds);
        let part = settings("lags = { ny = 5 }").search_config().unwrap_err().to_string();
        assert_eq!(
            part,
            "lags = a part of them: a search takes all of nx, nd and ny, or none"
        );
        assert!(matches!(
            settings("epochs = 3").search_config(),
            Err(WorkflowError::NotForSearch { key: "epochs" })
        ));
        assert!(matches!(
            settings("model = 'bnode'").search_config(),
            Err(WorkflowError::NotSearched {
                model: ModelKind::Bnode
            })
        ));
    }
}
