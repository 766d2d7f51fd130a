use super::FitConfig;
use crate::error::{ModelError, Result};
use crate::kind::{Method, ModelKind};

/// More members or draws than anybody needs: a number from a damaged file must not ask for all memory.
const MOST_NETWORKS: usize = 10_000;

/// Widths, layers and counts beyond anything useful: what is larger is a slip, and far below it arithmetic with sizes is safe. What
/// memory has room for is checked where the record is known.
const WIDEST: usize = 1_000_000;
const MOST_LAYERS: usize = 1_000;
const MOST: usize = 1_000_000_000;

/// Coverages beyond it have quantiles that no record can tell, and in the end none at all.
const LARGEST_COVERAGE: f64 = 0.999_999;

/// Seeds are written to configuration files, whose integers have a sign.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// Refuses what is no share; percents are recognised.
pub(crate) fn share(option: &'static str, value: f64) -> Result<()> {
    match value {
        value if value > 0.0 && value < 1.0 => Ok(()),
        value if value > 1.0 && value < 100.0 => {
            let hint = format!("a share between 0 and 1 (did you mean {}?)", value / 100.0);
            Err(ModelError::option(option, value, hint))
        }
        value => Err(ModelError::option(option, value, "a share between 0 and 1")),
    }
}

impl FitConfig {
    /// Checks every range that does not depend on the data.
    ///
    /// # Errors
    /// [`ModelError::Option`] naming the first option outside its range.
    pub fn check(&self) -> Result<()> {
        share("coverage", self.coverage)?;
        if self.coverage > LARGEST_COVERAGE {
            let expected = format!("at most {LARGEST_COVERAGE}");
            return Err(ModelError::option("coverage", self.coverage, expected));
        }
        let positive = [
            ("width_penalty", self.interval.width_penalty),
            ("learning_rate", self.training.learning_rate),
            ("gradient_clip", self.training.gradient_clip),
            ("gradnorm_rate", self.interval.gradnorm_rate),
            ("prior_std", self.gaussian.prior_std),
            ("margin_rate", self.interval.margin_rate),
        ];
        for (option, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ModelError::option(option, value, "a positive number"));
            }
        }
        let at_least_zero = [
            ("margin_hidden", self.interval.margin_hidden),
            ("margin_output", self.interval.margin_output),
            ("margin_floor", self.interval.margin_floor),
            ("gradnorm_beta", self.interval.gradnorm_beta),
            ("weight_decay", self.training.weight_decay),
            ("weight_noise", self.training.weight_noise),
            ("hidden_decay", self.training.hidden_decay),
        ];
        for (option, value) in at_least_zero {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ModelError::option(option, value, "zero or a positive number"));
            }
        }
        if self.interval.margin_hidden + self.interval.margin_output + self.interval.margin_floor <= 0.0 {
            return Err(ModelError::option(
                "margin_output",
                0,
                "a positive start of some margins, or none can grow",
            ));
        }
        if !(self.interval.miss_factor > 0.0 && self.trained_coverage() > 0.0) {
            let expected = format!("a number above 0 and below {}", 1.0 / (1.0 - self.coverage));
            return Err(ModelError::option("miss_factor", self.interval.miss_factor, expected));
        }
        if !(0.0..1.0).contains(&self.training.averaging) {
            return Err(ModelError::option(
                "averaging",
                self.training.averaging,
                "a number from 0 to below 1",
            ));
        }
        if !(0.0..1.0).contains(&self.gaussian.dropout) {
            return Err(ModelError::option(
                "dropout",
                self.gaussian.dropout,
                "a share from 0 to below 1",
            ));
        }
        let has_layers = self.model.method() == Method::Interval && self.model != ModelKind::Iss;
        if self.network.linear_path && !has_layers {
            return Err(ModelError::option(
                "linear_path",
                true,
                "false, except for inode and ilstm",
            ));
        }
        let counts = [
            ("epochs", self.training.epochs),
            ("batch", self.training.batch),
            ("members", self.gaussian.members),
            ("samples", self.gaussian.samples),
            ("margin_epochs", self.interval.margin_epochs.unwrap_or(1)),
            ("margin_batch", self.interval.margin_batch.unwrap_or(1)),
        ];
        for (option, value) in [("members", self.gaussian.members), ("samples", self.gaussian.samples)] {
            if value > MOST_NETWORKS {
                return Err(ModelError::option(option, value, format!("at most {MOST_NETWORKS}")));
            }
        }
        for (option, value) in counts {
            if !(1..=MOST).contains(&value) {
                return Err(ModelError::option(option, value, format!("1 to {MOST}")));
            }
        }
        let window = self.training.window;
        for (option, value) in [
            ("window", window.length),
            ("window_step", window.step),
            ("initial", self.initial.unscored()),
        ] {
            if value > MOST {
                return Err(ModelError::option(option, value, format!("at most {MOST}")));
            }
        }
        let hidden = &self.network.hidden;
        if let Some(width) = hidden.iter().find(|width| **width > WIDEST) {
            return Err(ModelError::option(
                "hidden",
                width,
                format!("widths of at most {WIDEST}"),
            ));
        }
        match self.network.states {
            Some(states) if self.model != ModelKind::Iss => {
                return Err(ModelError::option(
                    "states",
                    states,
                    format!("none: {} has no states, iss has", self.model),
                ));
            }
            Some(states) if states == 0 || states > WIDEST => {
                return Err(ModelError::option("states", states, format!("1 to {WIDEST} states")));
            }
            _ => {}
        }
        if hidden.len() > MOST_LAYERS {
            let found = format!("{} layers", hidden.len());
            return Err(ModelError::option("hidden", found, format!("at most {MOST_LAYERS}")));
        }
        if self.seed > LARGEST_SEED {
            return Err(ModelError::option("seed", self.seed, format!("at most {LARGEST_SEED}")));
        }
        if self.training.patience.is_some_and(|patience| patience > MOST) {
            let found = self.training.patience.unwrap_or_default();
            return Err(ModelError::option(
                "patience",
                found,
                format!("at most {MOST} epochs, or none"),
            ));
        }
        if self.training.patience == Some(0) {
            return Err(ModelError::option("patience", 0, "at least one epoch, or none"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::InitialState;

    use super::*;

    #[test]
    fn percentages_are_refused_with_the_share_that_was_meant() {
        let config = FitConfig {
            coverage: 90.0,
            ..FitConfig::default()
        };
        let message = config.check().unwrap_err().to_string();
        assert_eq!(
            message,
            "coverage = 90 is not allowed: expected a share between 0 and 1 (did you mean 0.9?)"
        );
    }

    #[test]
    fn every_number_out_of_range_is_named() {
        type Break = fn(&mut FitConfig);
        let broken: [(&str, Break); 29] = [
            ("coverage", |c| c.coverage = f64::NAN),
            ("width_penalty", |c| c.interval.width_penalty = 0.0),
            ("learning_rate", |c| c.training.learning_rate = -1.0),
            ("gradient_clip", |c| c.training.gradient_clip = f64::INFINITY),
            ("margin_floor", |c| c.interval.margin_floor = -0.1),
            ("epochs", |c| c.training.epochs = 0),
            ("batch", |c| c.training.batch = 0),
            ("patience", |c| c.training.patience = Some(0)),
            ("miss_factor", |c| c.interval.miss_factor = 11.0),
            ("averaging", |c| c.training.averaging = 1.0),
            ("weight_decay", |c| c.training.weight_decay = f64::NAN),
            ("margin_epochs", |c| c.interval.margin_epochs = Some(0)),
            ("prior_std", |c| c.gaussian.prior_std = 0.0),
            ("dropout", |c| c.gaussian.dropout = 1.0),
            ("members", |c| c.gaussian.members = 0),
            ("samples", |c| c.gaussian.samples = 0),
            ("samples", |c| c.gaussian.samples = usize::MAX),
            ("seed", |c| c.seed = u64::MAX),
            ("batch", |c| c.training.batch = 1 << 63),
            ("epochs", |c| c.training.epochs = usize::MAX),
            ("hidden", |c| c.network.hidden = vec![40, 4_000_000_000]),
            ("hidden", |c| c.network.hidden = vec![1; 1001]),
            ("states", |c| c.network.states = Some(3)),
            ("states", |c| {
                c.model = ModelKind::Iss;
                c.network.states = Some(usize::MAX);
            }),
            ("window", |c| c.training.window.length = usize::MAX),
            ("window_step", |c| c.training.window.step = usize::MAX),
            ("patience", |c| c.training.patience = Some(usize::MAX)),
            ("initial", |c| c.initial = InitialState::Warmup(usize::MAX)),
            ("initial", |c| c.initial = InitialState::History(usize::MAX)),
        ];
        for (name, set) in broken {
            let mut config = FitConfig::default();
            set(&mut config);
            assert!(config.check().unwrap_err().to_string().starts_with(name), "{name}");
        }
        assert!(FitConfig::default().check().is_ok());
    }
}
