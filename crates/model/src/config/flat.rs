//! [`FitConfig`] as files have it: one level of keys, in an order that never changes.

use intervalid_data::{InitialState, Lags, WindowConfig};
use serde::{Deserialize, Serialize};

use super::{Feedback, FitConfig, MarginActivation, Strategy};
use crate::kind::{ModelKind, Precision};
use crate::train::loss::QuantileLevel;
use crate::train::optim::{GradNormOptimiser, Schedule};

/// Declares the keys, and copies each from and to the field after its `=`.
macro_rules! flat {
    ($($key:ident: $kind:ty = $($field:ident).+,)+) => {
        /// The keys of a configuration in model files, settings files and checkpoints.
        #[derive(Serialize, Deserialize)]
        #[serde(rename = "FitConfig", default, deny_unknown_fields)]
        pub(super) struct FlatConfig {
            $($key: $kind,)+
        }

        impl From<FitConfig> for FlatConfig {
            fn from(config: FitConfig) -> Self {
                Self {
                    $($key: config.$($field).+,)+
                }
            }
        }

        impl From<FlatConfig> for FitConfig {
            fn from(flat: FlatConfig) -> Self {
                let mut config = FitConfig::default();
                $(config.$($field).+ = flat.$key;)+
                config
            }
        }
    };
}

flat! {
    model: ModelKind = model,
    hidden: Vec<usize> = network.hidden,
    lags: Lags = lags,
    lag_search: bool = lag_search,
    linear_path: bool = network.linear_path,
    initial: InitialState = initial,
    window: WindowConfig = training.window,
    strategy: Strategy = interval.strategy,
    margin: MarginActivation = interval.margin,
    coverage: f64 = coverage,
    width_penalty: f64 = interval.width_penalty,
    level: QuantileLevel = interval.level,
    margin_hidden: f64 = interval.margin_hidden,
    margin_output: f64 = interval.margin_output,
    margin_floor: f64 = interval.margin_floor,
    epochs: usize = training.epochs,
    margin_epochs: Option<usize> = interval.margin_epochs,
    batch: usize = training.batch,
    margin_batch: Option<usize> = interval.margin_batch,
    margin_rate: f64 = interval.margin_rate,
    margin_schedule: Option<Schedule> = interval.margin_schedule,
    miss_factor: f64 = interval.miss_factor,
    weight_decay: f64 = training.weight_decay,
    weight_noise: f64 = training.weight_noise,
    averaging: f64 = training.averaging,
    learning_rate: f64 = training.learning_rate,
    schedule: Schedule = training.schedule,
    gradient_clip: f64 = training.gradient_clip,
    patience: Option<usize> = training.patience,
    gradnorm_beta: f64 = interval.gradnorm_beta,
    gradnorm_rate: f64 = interval.gradnorm_rate,
    prior_std: f64 = gaussian.prior_std,
    dropout: f64 = gaussian.dropout,
    members: usize = gaussian.members,
    samples: usize = gaussian.samples,
    precision: Precision = precision,
    seed: u64 = seed,
    states: Option<usize> = network.states,
    gradnorm_optimiser: GradNormOptimiser = interval.gradnorm_optimiser,
    feedback: Feedback = gaussian.feedback,
    hidden_decay: f64 = training.hidden_decay,
    train_on_validation: bool = training.train_on_validation,
}

impl Default for FlatConfig {
    fn default() -> Self {
        FitConfig::default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GaussianConfig, IntervalConfig, NetworkConfig, TrainingConfig};
    use super::*;

    /// No field at its default, and none left out: a new one does not compile until it is here.
    fn unusual() -> FitConfig {
        FitConfig {
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
                hidden_decay: 0.18,
                train_on_validation: true,
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
        }
    }

    /// As files have had it since version 0.1.0, whose fields were flat.
    const WRITTEN: &str = concat!(
        r#"{"model":"blstm","hidden":[3],"lags":{"nx":5,"nd":6,"ny":7},"lag_search":true,"linear_path":true,"#,
        r#""initial":"warmup:3","window":{"length":9,"step":8},"strategy":"joint","margin":"relu","coverage":0.5,"#,
        r#""width_penalty":0.1,"level":"literal","margin_hidden":0.2,"margin_output":0.3,"margin_floor":0.4,"#,
        r#""epochs":11,"margin_epochs":12,"batch":13,"margin_batch":14,"margin_rate":0.6,"margin_schedule":"cosine","#,
        r#""miss_factor":0.7,"weight_decay":0.8,"weight_noise":0.9,"averaging":0.11,"learning_rate":0.12,"#,
        r#""schedule":"constant","gradient_clip":0.13,"patience":15,"gradnorm_beta":0.14,"gradnorm_rate":0.15,"#,
        r#""prior_std":0.16,"dropout":0.17,"members":16,"samples":17,"precision":"f64","seed":18,"states":19,"#,
        r#""gradnorm_optimiser":"adam","feedback":"own","hidden_decay":0.18,"train_on_validation":true}"#,
    );

    #[test]
    fn keys_are_those_of_every_version_in_their_order() {
        assert_eq!(serde_json::to_string(&unusual()).unwrap(), WRITTEN);
    }

    #[test]
    fn every_field_survives() {
        let config = unusual();
        assert_eq!(serde_json::from_str::<FitConfig>(WRITTEN).unwrap(), config);
        // The literal above leaves nothing at its default.
        let value = |config: &FitConfig| serde_json::to_value(config).unwrap();
        let (default, unusual) = (value(&FitConfig::default()), value(&config));
        for (key, value) in unusual.as_object().unwrap() {
            assert_ne!(value, &default[key], "{key}");
        }
    }

    #[test]
    fn missing_keys_have_their_default_and_unknown_ones_are_refused() {
        let read = serde_json::from_str::<FitConfig>;
        assert_eq!(read("{}").unwrap(), FitConfig::default());
        assert_eq!(
            read(r#"{"epochs": 3}"#).unwrap(),
            FitConfig::default().with(|config| config.training.epochs = 3)
        );
        for unknown in [r#"{"epoch": 3}"#, r#"{"training": {"epochs": 3}}"#] {
            let message = read(unknown).unwrap_err().to_string();
            assert!(message.starts_with("unknown field `"), "{message}");
        }
    }
}
