//! The models a user can name.

use std::fmt;
use std::str::FromStr;

use intervalid_interval::Real;
use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::network::NetworkKind;

/// Where a model's prediction interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Interval parameters, trained in cascade or jointly (docs/method.md, sections 3 to 6).
    Interval,
    /// Gaussian likelihood with a distribution over the parameters: mean-field variational inference (docs/method.md, section 8).
    Bayesian,
    /// Gaussian likelihood with dropout in training and in prediction (docs/method.md, section 8).
    Dropout,
    /// Several networks with Gaussian likelihood (docs/method.md, section 8).
    Ensemble,
    /// Least squares and a quantile of its simulation errors.
    Linear,
}

/// A model by the name it has on the command line, in configuration and model files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// Interval neural ODE.
    #[default]
    Inode,
    /// Interval LSTM.
    Ilstm,
    /// Interval neural state-space model.
    Iss,
    /// Bayesian neural ODE.
    Bnode,
    /// Bayesian LSTM.
    Blstm,
    /// Neural ODE with Monte Carlo dropout.
    DropoutNode,
    /// LSTM with Monte Carlo dropout.
    DropoutLstm,
    /// Deep ensemble of neural ODEs.
    EnsembleNode,
    /// Deep ensemble of LSTMs.
    EnsembleLstm,
    /// Linear ARX.
    Arx,
}

impl ModelKind {
    /// All models.
    pub const ALL: [ModelKind; 10] = [
        ModelKind::Inode,
        ModelKind::Ilstm,
        ModelKind::Iss,
        ModelKind::Bnode,
        ModelKind::Blstm,
        ModelKind::DropoutNode,
        ModelKind::DropoutLstm,
        ModelKind::EnsembleNode,
        ModelKind::EnsembleLstm,
        ModelKind::Arx,
    ];

    /// Its name, such as `dropout-node`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Inode => "inode",
            ModelKind::Ilstm => "ilstm",
            ModelKind::Iss => "iss",
            ModelKind::Bnode => "bnode",
            ModelKind::Blstm => "blstm",
            ModelKind::DropoutNode => "dropout-node",
            ModelKind::DropoutLstm => "dropout-lstm",
            ModelKind::EnsembleNode => "ensemble-node",
            ModelKind::EnsembleLstm => "ensemble-lstm",
            ModelKind::Arx => "arx",
        }
    }

    /// The network in it; none in ARX.
    #[must_use]
    pub fn network(self) -> Option<NetworkKind> {
        match self {
            ModelKind::Inode | ModelKind::Bnode | ModelKind::DropoutNode | ModelKind::EnsembleNode => {
                Some(NetworkKind::Node)
            }
            ModelKind::Ilstm | ModelKind::Blstm | ModelKind::DropoutLstm | ModelKind::EnsembleLstm => {
                Some(NetworkKind::Lstm)
            }
            ModelKind::Iss => Some(NetworkKind::StateSpace),
            ModelKind::Arx => None,
        }
    }

    /// Where its interval comes from.
    #[must_use]
    pub fn method(self) -> Method {
        match self {
            ModelKind::Inode | ModelKind::Ilstm | ModelKind::Iss => Method::Interval,
            ModelKind::Bnode | ModelKind::Blstm => Method::Bayesian,
            ModelKind::DropoutNode | ModelKind::DropoutLstm => Method::Dropout,
            ModelKind::EnsembleNode | ModelKind::EnsembleLstm => Method::Ensemble,
            ModelKind::Arx => Method::Linear,
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ModelKind {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            ModelError::option("model", text, format!("one of {}", names.join(", ")))
        })
    }
}

/// Type of the numbers a network computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single: twice as fast, and more than the data carry.
    #[default]
    F32,
    /// Double.
    F64,
}

impl Precision {
    /// That of a number type.
    #[must_use]
    pub fn of<T: Real>() -> Self {
        if T::NAME == f32::NAME { Self::F32 } else { Self::F64 }
    }

    /// `f32` or `f64`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => f32::NAME,
            Precision::F64 => f64::NAME,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_files() {
        for kind in ModelKind::ALL {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{kind}\""));
            assert_eq!(kind.name().parse::<ModelKind>().unwrap(), kind);
            assert_eq!(kind.network().is_none(), kind.method() == Method::Linear);
        }
        let message = "gru".parse::<ModelKind>().unwrap_err().to_string();
        assert!(
            message.contains("model = gru") && message.contains("dropout-lstm"),
            "{message}"
        );
    }
}
