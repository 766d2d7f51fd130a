//! The preset `paper`: what the paper prints, and for what it leaves open settings found on training and validation data.

use intervalid_data::{InitialState, Lags, known_dataset};

use crate::config::{Feedback, FitConfig, GaussianConfig, IntervalConfig, Strategy};
use crate::kind::{Method, ModelKind};
use crate::network::NetworkKind;
use crate::train::optim::{GradNormOptimiser, Schedule};

/// What the paper leaves open, for one network on one data set.
struct Training {
    /// Epochs of the crisp (or likelihood) and of the joint stage.
    epochs: [usize; 2],
    batch: usize,
    learning_rate: f64,
    weight_decay: f64,
    weight_noise: f64,
    averaging: f64,
    hidden_decay: f64,
    train_on_validation: bool,
    /// Miss factors of cascade and joint: bands are tighter on the windows they were trained on, and CWC punishes misses.
    miss_factor: [f64; 2],
    /// Epochs and step size of the margins in the cascade, where θ is frozen and an epoch is cheap.
    margins: (usize, f64),
    /// Step size of the margins in joint training, as a multiple of that of θ.
    joint_margin_rate: f64,
}

impl FitConfig {
    /// The paper's configuration of a model for one of its data sets (docs/method.md, section 7), or its sensible equivalent for
    /// another record, whose lags are searched.
    ///
    /// Learning rates, epochs, batches and regularisation are not printed. Those of the paper's data sets were chosen by free
    /// runs over folds inside the training and validation parts (`docs/results/README.md`), never on a test part.
    #[must_use]
    pub fn paper(dataset: &str, model: ModelKind, strategy: Strategy) -> Self {
        let mut config = Self {
            model,
            interval: IntervalConfig {
                strategy,
                margin_floor: 0.0,
                gradnorm_optimiser: GradNormOptimiser::Adam,
                ..IntervalConfig::default()
            },
            gaussian: GaussianConfig {
                feedback: Feedback::Own,
                ..GaussianConfig::default()
            },
            ..Self::default()
        };
        let known = known_dataset(dataset);
        let dataset = known.map_or(dataset, |known| known.name);
        match known {
            Some(known) => (config.lags, config.training.window) = (known.lags, known.window),
            None => config.lag_search = true,
        }
        let (lstm_hidden, beta, prior_std) = match dataset {
            "mr-damper" => ([30, 10], [0.1, 0.5], [0.1, 0.1]),
            "heat-exchanger" => ([10, 10], [1.0, 1.0], [1.0, 1.0]),
            "hair-dryer" => ([30, 10], [0.1, 1.0], [1.0, 0.1]),
            "robot-arm" => ([10, 10], [0.1, 0.1], [1.0, 0.1]),
            _ => ([30, 10], [0.1, 0.5], [1.0, 0.1]),
        };
        match model.network() {
            Some(NetworkKind::Node) => {
                [config.interval.gradnorm_beta, config.gaussian.prior_std] = [beta[0], prior_std[0]];
            }
            Some(NetworkKind::Lstm) => {
                [config.interval.gradnorm_beta, config.gaussian.prior_std] = [beta[1], prior_std[1]];
                config.network.hidden = lstm_hidden.to_vec();
                config.interval.margin_hidden = 0.2;
            }
            Some(NetworkKind::StateSpace) => config.state_space_defaults(),
            None => config.lag_search = true,
        }
        if let Some(training) = model.network().and_then(|network| training(dataset, network)) {
            config.take(&training);
        }
        config.tune_baseline(dataset);
        config
    }

    /// A state-space model is not in the paper: sizes that suit short records, and a history from which its states settle.
    fn state_space_defaults(&mut self) {
        const UNITS: usize = 8;
        const HISTORY: usize = 20;
        self.network.hidden = vec![UNITS, UNITS];
        self.lags = Lags {
            nx: 1,
            nd: self.lags.nd,
            ny: 1,
        };
        self.initial = InitialState::History(HISTORY.min(self.training.window.length / 3));
    }

    /// What folds preferred for a baseline over the settings of the crisp network.
    fn tune_baseline(&mut self, dataset: &str) {
        let training = &mut self.training;
        match (dataset, self.model) {
            // As it was: the settings of the other LSTMs were not tried on it.
            ("hair-dryer", ModelKind::Blstm) => (training.learning_rate, training.train_on_validation) = (0.01, false),
            ("robot-arm", ModelKind::Bnode) => (training.averaging, training.learning_rate) = (0.98, 0.01),
            ("robot-arm", ModelKind::DropoutNode) => (training.averaging, training.learning_rate) = (0.98, 0.002),
            ("robot-arm", ModelKind::EnsembleNode) => (training.averaging, training.weight_decay) = (0.98, 3.0),
            ("robot-arm", ModelKind::Blstm) => (training.averaging, training.learning_rate) = (0.99, 0.02),
            _ => {}
        }
    }

    fn take(&mut self, training: &Training) {
        let is_interval = self.model.method() == Method::Interval;
        let joint = usize::from(is_interval && self.interval.strategy == Strategy::Joint);
        self.training.epochs = training.epochs[joint];
        self.training.batch = training.batch;
        self.training.learning_rate = training.learning_rate;
        // A Bayesian network has a prior instead.
        self.training.weight_decay = match self.model.method() {
            Method::Bayesian => 0.0,
            _ => training.weight_decay,
        };
        self.training.averaging = training.averaging;
        self.training.hidden_decay = match self.model.method() {
            Method::Bayesian => 0.0,
            _ => training.hidden_decay,
        };
        self.training.train_on_validation = training.train_on_validation;
        if is_interval {
            // Likelihoods have noise of their own: draws, masks, or a variance that pays for errors.
            self.training.weight_noise = training.weight_noise;
            self.interval.miss_factor = training.miss_factor[joint];
        }
        // With decay, a constant step keeps epochs different from one another and validation picks among them; a running mean
        // wants steps that settle.
        if self.training.averaging <= 0.0 && self.training.weight_decay > 0.0 {
            self.training.schedule = Schedule::Constant;
        }
        if is_interval && self.interval.strategy == Strategy::Joint {
            self.interval.margin_rate = training.joint_margin_rate;
        }
        if is_interval && self.interval.strategy == Strategy::Cascade {
            // Margins start far too wide.
            let (epochs, rate) = training.margins;
            self.interval.margin_rate = rate / training.learning_rate;
            self.interval.margin_schedule = Some(Schedule::Cosine);
            self.interval.margin_epochs = Some(epochs);
        }
    }
}

/// Chosen by free runs over held-out pieces of the training and validation parts.
fn training(dataset: &str, network: NetworkKind) -> Option<Training> {
    let row = |epochs, batch, learning_rate, [weight_decay, weight_noise, averaging]: [f64; 3], miss_factor| Training {
        epochs,
        batch,
        learning_rate,
        weight_decay,
        weight_noise,
        averaging,
        hidden_decay: 0.0,
        train_on_validation: false,
        miss_factor,
        margins: match network {
            NetworkKind::Node | NetworkKind::StateSpace => (60, 0.02),
            NetworkKind::Lstm => (100, 0.02),
        },
        joint_margin_rate: 1.0,
    };
    let training = match (dataset, network) {
        ("hair-dryer", NetworkKind::Node) => row([300, 300], 32, 0.01, [1.0, 0.0, 0.0], [0.4, 0.4]),
        // The level of the record drifts: its newest samples are worth more than a choice of the epoch that has not seen them.
        ("hair-dryer", NetworkKind::Lstm) => Training {
            margins: (300, 0.16),
            // A large read-out has large margins at first.
            joint_margin_rate: 2.0,
            hidden_decay: 6.0,
            train_on_validation: true,
            ..row([300, 300], 32, 0.02, [0.0, 0.0, 0.95], [0.5, 0.7])
        },
        ("robot-arm", NetworkKind::Node) => row([250, 250], 64, 0.005, [1.0, 0.05, 0.99], [0.6, 0.6]),
        ("robot-arm", NetworkKind::Lstm) => row([150, 150], 64, 0.005, [0.0, 0.05, 0.98], [0.4, 0.3]),
        ("heat-exchanger", NetworkKind::Node) => row([400, 300], 32, 0.005, [1.0, 0.0, 0.95], [0.1, 0.1]),
        ("heat-exchanger", NetworkKind::Lstm) => row([800, 600], 32, 0.01, [0.3, 0.0, 0.95], [0.05, 0.05]),
        ("mr-damper", NetworkKind::Node) => row([600, 600], 32, 0.005, [0.0, 0.0, 0.98], [0.2, 0.3]),
        ("mr-damper", NetworkKind::Lstm) => row([150, 120], 64, 0.01, [0.0, 0.0, 0.98], [0.3, 0.35]),
        _ => return None,
    };
    Some(training)
}

#[cfg(test)]
mod tests {
    use intervalid_data::Lags;

    use super::*;

    #[test]
    fn paper_settings_are_those_of_spec_section_7() {
        let damper = FitConfig::paper("mr-damper", ModelKind::Ilstm, Strategy::Joint);
        assert_eq!(
            (damper.lags, damper.network.hidden.as_slice()),
            (Lags { nx: 2, nd: 0, ny: 1 }, [30, 10].as_slice())
        );
        let window = damper.training.window;
        assert_eq!((window.length, window.step), (40, 5));
        let dryer = |model| {
            FitConfig::paper("hair-dryer", model, Strategy::Cascade)
                .gaussian
                .prior_std
        };
        assert!(dryer(ModelKind::Bnode) > 0.99 && dryer(ModelKind::Blstm) < 0.11);
        let arm = FitConfig::paper("robot-arm", ModelKind::Inode, Strategy::Cascade);
        assert_eq!(
            (arm.lags, arm.network.hidden.as_slice()),
            (Lags { nx: 2, nd: 1, ny: 3 }, [40, 40].as_slice())
        );
    }

    #[test]
    fn every_preset_can_be_trained_and_cascades_share_their_crisp_network() {
        for dataset in ["robot-arm", "hair-dryer", "mr-damper", "heat-exchanger", "something"] {
            for model in ModelKind::ALL {
                for strategy in [Strategy::Cascade, Strategy::Joint] {
                    let config = FitConfig::paper(dataset, model, strategy);
                    config
                        .check()
                        .unwrap_or_else(|error| panic!("{dataset} {model}: {error}"));
                    assert_eq!(config.lag_search, dataset == "something" || model == ModelKind::Arx);
                }
            }
        }
    }
}
