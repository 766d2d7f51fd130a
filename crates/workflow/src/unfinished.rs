//! What a fit that was ended early lacks of what was asked for.

use std::fmt;

use intervalid_model::{Method, Stage, Strategy};

use crate::request::FitRequest;
use crate::train::{Trained, Training};

/// Something that was asked for and is not there, since training ended before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// The margins of an interval network are those it started with.
    Margins,
    /// The band is not scaled on held-out blocks.
    Calibration,
    /// An ensemble has fewer members.
    Members {
        /// How many there are.
        trained: usize,
        /// How many there were to be.
        asked: usize,
    },
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Margins => f.write_str("its band has not been trained"),
            Self::Calibration => f.write_str("its band has not been calibrated"),
            Self::Members { trained, asked } => write!(f, "{trained} of {asked} members were trained"),
        }
    }
}

impl Trained {
    /// What was asked for and is missing; empty for a fit that ran to its end.
    #[must_use]
    pub fn unfinished(&self) -> Vec<Unfinished> {
        let (
            FitRequest::One {
                config,
                calibrate,
                band: _,
            },
            Training::One(info),
        ) = (&self.request, &self.training)
        else {
            return Vec::new();
        };
        let (model, method) = (&self.model, self.model.kind().method());
        let mut found = Vec::new();
        let is_cascade = method == Method::Interval && config.interval.strategy == Strategy::Cascade;
        if is_cascade && info.stages.last().is_some_and(|stage| stage.stage == Stage::Crisp) {
            found.push(Unfinished::Margins);
        }
        let (trained, asked) = (model.config().gaussian.members, config.gaussian.members);
        if method == Method::Ensemble && trained < asked {
            found.push(Unfinished::Members { trained, asked });
        }
        if *calibrate && model.interface().calibration.is_none() {
            found.push(Unfinished::Calibration);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use intervalid_data::{Channel, Dataset, Experiment, Lags, Split, SplitFractions};
    use intervalid_model::{Control, FitConfig, ModelKind, Progress};

    use super::*;
    use crate::{BandRequest, TrainOptions, WhenInterrupted};

    /// A model on 600 samples, ended by `observer`.
    fn trained(model: ModelKind, calibrate: bool, observer: fn(&Progress) -> ControlFlow<()>) -> Trained {
        let (u, y): (Vec<f64>, Vec<f64>) = (0..600)
            .map(|k| f64::from(u8::from((k / 5 + k / 7) % 2 == 0)))
            .scan(0.0, |level, u| {
                *level = 0.8 * *level + 0.2 * u;
                Some((u, *level))
            })
            .unzip();
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        let runs = vec![Experiment::new("run", vec![u], vec![y])];
        let data = Dataset::new("plant", inputs, outputs, None, runs).expect("a record");
        let split = Split::new(&data, SplitFractions::default()).expect("parts");
        let config = FitConfig::default().with(|config| {
            config.model = model;
            config.lags = Lags { nx: 1, nd: 1, ny: 1 };
            config.network.hidden = vec![4];
            config.training.epochs = 2;
            config.gaussian.members = 3;
        });
        let request = FitRequest::One {
            config: Box::new(config),
            calibrate,
            band: BandRequest::default(),
        };
        let options = TrainOptions {
            control: Control {
                observer: Some(&observer),
                ..Control::default()
            },
            when_interrupted: WhenInterrupted::KeepBest,
            ..TrainOptions::default()
        };
        request.train(&data, &split, options).expect("a model")
    }

    fn at_once(_: &Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn never(_: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn what_was_cut_off_is_named() {
        let cascade = trained(ModelKind::Inode, true, at_once);
        assert_eq!(cascade.unfinished(), [Unfinished::Margins, Unfinished::Calibration]);
        let ensemble = trained(ModelKind::EnsembleNode, false, at_once);
        assert_eq!(ensemble.unfinished(), [Unfinished::Members { trained: 1, asked: 3 }]);
        let whole = trained(ModelKind::Inode, false, never);
        assert_eq!(whole.unfinished(), []);
        // Ended while fits for the calibration ran: the training itself was whole.
        let FitRequest::One { config, band, .. } = whole.request.clone() else {
            panic!("a request for one model");
        };
        let request = FitRequest::One {
            config,
            band,
            calibrate: true,
        };
        let uncalibrated = Trained { request, ..whole };
        assert_eq!(uncalibrated.unfinished(), [Unfinished::Calibration]);
        assert!(!uncalibrated.training.is_interrupted());
    }
}
