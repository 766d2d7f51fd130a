//! What a network looks like, and where its parameters lie in one flat vector.

use core::ops::Range;

use intervalid_data::{Lags, Regressor};
use serde::{Deserialize, Serialize};

use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::kind::Method;

/// The two published networks (docs/method.md, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkKind {
    /// Neural ordinary differential equation, Euler step: ŷ(k) = ŷ(k-1) + MLP(x(k)).
    Node,
    /// Stacked LSTM cells with an affine read-out.
    Lstm,
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
    /// Width of each hidden layer or cell, first to last.
    pub hidden: Vec<usize>,
    /// ŷ = A·x + network instead of ŷ(k-1) + network or network alone.
    pub linear_path: bool,
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
        if self.hidden.is_empty() || self.hidden.contains(&0) {
            return Err(ModelError::option(
                "hidden",
                format!("{:?}", self.hidden),
                "one or more positive widths",
            ));
        }
        Ok(())
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
            (false, NetworkKind::Lstm) => Base::Zero,
        }
    }

    /// Where each parameter lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self)
    }
}

/// The role of a block of parameters in its layer; its name in a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Weights on the layer's input, `[out, in]`.
    Weight,
    /// Weights on the cell's own state, `[4h, h]`, gates in the order i, f, q, o.
    Recurrent,
    /// Bias, `[out]`.
    Bias,
}

impl Role {
    /// `weight`, `recurrent` or `bias`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Weight => "weight",
            Role::Recurrent => "recurrent",
            Role::Bias => "bias",
        }
    }
}

/// Which layer a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerId {
    /// Layers count from 0; the last one is the read-out.
    Network(usize),
    /// The linear path A.
    Linear,
}

/// A matrix (or bias) inside the flat parameter vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Layer.
    pub layer: LayerId,
    /// Role in it.
    pub role: Role,
    /// Rows.
    pub rows: usize,
    /// Columns; 1 for a bias.
    pub columns: usize,
    /// Position in the flat vector.
    pub range: Range<usize>,
}

impl Block {
    /// Name in a model file without its prefix, such as `0.weight` or `linear.weight`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.layer {
            LayerId::Network(index) => format!("{index}.{}", self.role.name()),
            LayerId::Linear => format!("linear.{}", self.role.name()),
        }
    }

    /// `[rows, columns]`, or `[rows]` for a bias.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        if self.role == Role::Bias {
            vec![self.rows]
        } else {
            vec![self.rows, self.columns]
        }
    }
}

/// One layer's blocks.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) out: usize,
    pub(crate) inner: usize,
    pub(crate) weight: Range<usize>,
    /// Empty outside LSTM cells.
    pub(crate) recurrent: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// Where the parameters of an [`Architecture`] lie.
#[derive(Clone, Debug)]
pub struct Layout {
    blocks: Vec<Block>,
    pub(crate) layers: Vec<Layer>,
    /// A `[outputs, regressor]`; empty without a linear path.
    pub(crate) linear: Range<usize>,
    len: usize,
}

impl Layout {
    fn new(architecture: &Architecture) -> Self {
        let mut layout = Self {
            blocks: Vec::new(),
            layers: Vec::new(),
            linear: 0..0,
            len: 0,
        };
        let mut inner = architecture.regressor_len();
        for (index, &width) in architecture.hidden.iter().enumerate() {
            let layer = LayerId::Network(index);
            let out = if architecture.kind == NetworkKind::Lstm {
                4 * width
            } else {
                width
            };
            let weight = layout.push(layer, Role::Weight, out, inner);
            let recurrent = match architecture.kind {
                NetworkKind::Lstm => layout.push(layer, Role::Recurrent, out, width),
                NetworkKind::Node => 0..0,
            };
            let bias = layout.push(layer, Role::Bias, out, 1);
            layout.layers.push(Layer {
                out,
                inner,
                weight,
                recurrent,
                bias,
            });
            inner = width;
        }
        let layer = LayerId::Network(architecture.hidden.len());
        let readout = architecture.readout_len();
        let weight = layout.push(layer, Role::Weight, readout, inner);
        let bias = layout.push(layer, Role::Bias, readout, 1);
        layout.layers.push(Layer {
            out: readout,
            inner,
            weight,
            recurrent: 0..0,
            bias,
        });
        if architecture.linear_path {
            layout.linear = layout.push(
                LayerId::Linear,
                Role::Weight,
                architecture.outputs,
                architecture.regressor_len(),
            );
        }
        layout
    }

    fn push(&mut self, layer: LayerId, role: Role, rows: usize, columns: usize) -> Range<usize> {
        let range = self.len..self.len + rows * columns;
        self.len = range.end;
        self.blocks.push(Block {
            layer,
            role,
            rows,
            columns,
            range: range.clone(),
        });
        range
    }

    /// All blocks, in the order of the flat vector.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a network has parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a block belongs to the read-out (margins start differently there, docs/method.md, section 5).
    #[must_use]
    pub fn is_output(&self, block: &Block) -> bool {
        block.layer == LayerId::Network(self.layers.len() - 1)
    }

    /// The weights θ_sh that GradNorm compares losses on: those of the last hidden layer (docs/method.md, section 6).
    #[must_use]
    pub fn shared(&self) -> Vec<Range<usize>> {
        let layer = &self.layers[self.layers.len().saturating_sub(2)];
        [layer.weight.clone(), layer.recurrent.clone()]
            .into_iter()
            .filter(|range| !range.is_empty())
            .collect()
    }
}
