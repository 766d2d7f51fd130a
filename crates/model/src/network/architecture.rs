//! What a network looks like.

use intervalid_data::{Lags, Regressor};
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::kind::Method;

/// The two published networks and the state-space model (docs/method.md, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkKind {
    /// Neural ordinary differential equation, Euler step: ŷ(k) = ŷ(k-1) + MLP(x(k)).
    Node,
    /// Stacked LSTM cells with an affine read-out.
    Lstm,
    /// x(k) = f(x(k-1), u(k-1)), ŷ(k) = g(x(k), u(k)), each map a linear path with a small network beside it; its regressor is
    /// y(k-1), u(k-n_d), u(k-n_d-1).
    StateSpace,
}

/// What the read-out says about each output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Head {
    /// The output itself.
    #[default]
    Point,
    /// Mean μ of all outputs, then s of all outputs, with standard deviation σ = softplus(s) (docs/method.md, section 8).
    Gaussian,
}

/// Shape of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// Which network.
    pub kind: NetworkKind,
    /// Input channels of the system.
    pub inputs: usize,
    /// Output channels of the system.
    pub outputs: usize,
    /// Regressor.
    pub lags: Lags,
    /// Width of each hidden layer or cell, first to last; of a state-space model, units of the state map and of the output map,
    /// either of which may be 0.
    pub hidden: Vec<usize>,
    /// ŷ = A·x + network instead of ŷ(k-1) + network or network alone.
    pub linear_path: bool,
    /// States of a state-space model; 0 in other networks.
    #[serde(default)]
    pub states: usize,
    /// What the read-out gives.
    #[serde(default)]
    pub head: Head,
}

/// What the network's own output is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Nothing (LSTM).
    Zero,
    /// The last output vector (NODE).
    LastOutput,
    /// A learnt linear function of the regressor.
    Linear,
}

impl Architecture {
    /// The network of a configuration for these numbers of channels; none for ARX.
    #[must_use]
    pub fn of(config: &FitConfig, inputs: usize, outputs: usize) -> Option<Self> {
        Some(Self {
            kind: config.model.network()?,
            inputs,
            outputs,
            lags: config.lags,
            hidden: config.network.hidden.clone(),
            linear_path: config.network.linear_path,
            states: match config.model.network()? {
                NetworkKind::StateSpace => config.network.states_or_default(),
                NetworkKind::Node | NetworkKind::Lstm => 0,
            },
            head: match config.model.method() {
                Method::Interval | Method::Linear => Head::Point,
                Method::Bayesian | Method::Dropout | Method::Ensemble => Head::Gaussian,
            },
        })
    }

    /// Checks that every size is usable.
    ///
    /// # Errors
    /// [`ModelError::Option`] if a width is zero or there is no hidden layer or no output.
    pub fn check(&self) -> Result<()> {
        if self.outputs == 0 {
            return Err(ModelError::option("outputs", 0, "at least one output channel"));
        }
        if self.kind == NetworkKind::StateSpace {
            return self.check_state_space();
        }
        if self.hidden.is_empty() || self.hidden.contains(&0) {
            return Err(ModelError::option(
                "hidden",
                format!("{:?}", self.hidden),
                "one or more positive widths",
            ));
        }
        Ok(())
    }

    fn check_state_space(&self) -> Result<()> {
        if self.states == 0 {
            return Err(ModelError::option("states", 0, "at least one state"));
        }
        if self.hidden.len() != 2 {
            let expected = "units of the state map and of the output map, such as 8,8; 0 for none";
            return Err(ModelError::option("hidden", format!("{:?}", self.hidden), expected));
        }
        let Lags { nx, ny, .. } = self.lags;
        if (nx, ny) != (1, 1) {
            let expected = format!("1,{},1: the states of an iss remember the past", self.lags.nd);
            return Err(ModelError::option("lags", self.lags, expected));
        }
        Ok(())
    }

    /// Sizes of what a recurrent network carries from step to step, cell by cell.
    pub(crate) fn state_sizes(&self) -> Vec<usize> {
        match self.kind {
            NetworkKind::Node => Vec::new(),
            NetworkKind::Lstm => self.hidden.clone(),
            // The states, and the prediction that the next measurement is compared with.
            NetworkKind::StateSpace => vec![self.states, self.outputs],
        }
    }

    /// The layout of the regressor x(k).
    #[must_use]
    pub fn regressor(&self) -> Regressor {
        Regressor::new(self.lags, self.inputs, self.outputs)
    }

    /// Length of the regressor x(k).
    #[must_use]
    pub fn regressor_len(&self) -> usize {
        self.regressor().len()
    }

    /// How many entries of the regressor are outputs; they come first.
    #[must_use]
    pub fn output_lags_len(&self) -> usize {
        self.regressor().output_len()
    }

    /// Rows of the read-out: one per output, or mean and s of each.
    #[must_use]
    pub fn readout_len(&self) -> usize {
        match self.head {
            Head::Point => self.outputs,
            Head::Gaussian => 2 * self.outputs,
        }
    }

    pub(crate) fn base(&self) -> Base {
        match (self.linear_path, self.kind) {
            (true, _) => Base::Linear,
            (false, NetworkKind::Node) => Base::LastOutput,
            (false, NetworkKind::Lstm | NetworkKind::StateSpace) => Base::Zero,
        }
    }

    /// Where each parameter lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self)
    }
}
