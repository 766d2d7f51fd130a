//! What one step of a model computes, read off the model once: every writer works from this and nothing else.

use intervalid_data::{ArxModel, Channel, InitialState, Lags, Scale};
use intervalid_model::{
    Architecture, DIVERGED, HistoryNeeds, HorizonScales, LayerId, Model, ModelKind, NetworkKind, NetworkParameters,
    OnlineConstants, OutputRange, Precision, Role, SAMPLE_LIMIT, Scaling, Simulator, Spread, TrainingRegion,
};

use crate::band_choice::BandChoice;
use crate::error::{DeployError, Result};
use crate::state_space_plan::StateSpacePlan;

/// One step: from the inputs of a sample to the outputs and their bounds.
///
/// 1. Inputs are normalised, (u - mean)/std, and join the past ones.
/// 2. The regressor x = [ y(k-1), …, y(k-n_y), u(k-n_d), …, u(k-n_d-n_x) ] holds all channels of a lag side by side; the
///    outputs are the step's own, before the start measured ones or zero.
/// 3. [`Body`] gives y and its bounds, normalised (the band of ARX: physical).
/// 4. Calibration scales both sides of the band around y; results go back to physical units, and into physical limits.
#[derive(Clone, Debug, PartialEq)]
pub struct StepProgram {
    /// Which model.
    pub kind: ModelKind,
    /// The precision it was fitted in.
    pub precision: Precision,
    /// Samples in the regressor.
    pub lags: Lags,
    /// What is known of the outputs at the start.
    pub initial: InitialState,
    /// Coverage α that the band claims.
    pub coverage: f64,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
    /// [`Model::fingerprint`]
    pub fingerprint: String,
    /// Inputs.
    pub inputs: Vec<InputPlan>,
    /// Outputs.
    pub outputs: Vec<OutputPlan>,
    /// A member whose normalised prediction exceeds this in magnitude (or is not a number) has diverged and is left out.
    pub diverged: f64,
    /// Inputs, and measured outputs that a run starts from, are refused beyond this, normalised.
    pub sample_limit: f64,
    /// How y and its bounds come from the regressor.
    pub body: Body,
    /// Where the model was fitted, if it knows: steps outside raise an alarm. It looks at the outputs that are given, the mean of the
    /// members within its limits, where the members look at their own.
    pub region: Option<TrainingRegion>,
    /// How the band of predictions a few samples after a correction differs from the free run's, if the model knows.
    pub horizons: Option<HorizonScales>,
    /// Which band of the model it is.
    pub band: BandChoice,
}

/// One input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPlan {
    /// Name and unit.
    pub channel: Channel,
    /// Its normalisation.
    pub scale: Scale,
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Name and unit.
    pub channel: Channel,
    /// Its normalisation.
    pub scale: Scale,
    /// Of several members y is the mean of theirs, and each side of the band √(max(mean side, floor)² + (factor·s)²), s² the variance
    /// (by n) of their y. Of one member, its own.
    pub spread: Spread,
    /// How its band is scaled, in physical units: ŷ - lower·max(ŷ - ŷ_lo, floor) and likewise above.
    pub calibration: Option<Scaling>,
    /// The adaptive band: bounds as in `calibration` with a scale per side and `floor`, on top of the calibrated band.
    pub online: OnlineConstants,
    /// Physical limits: y and its bounds, those of the adaptive band too, are put on an end that they lie beyond. What is fed back is
    /// not.
    pub range: OutputRange,
}

/// The map from regressor to outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// ŷ = A·x + b, ± a constant. Several such models are networks of a read-out alone.
    Linear(LinearPlan),
    /// One interval network or several.
    Networks(NetworkPlan),
    /// One interval state-space model or several.
    StateSpace(StateSpacePlan),
}

/// ARX.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearPlan {
    /// A, row-major `[outputs, regressor]`.
    pub weight: Vec<f64>,
    /// b.
    pub bias: Vec<f64>,
    /// Half the width of the band of each output, in its unit.
    pub half_width: Vec<f64>,
}

/// Interval networks on the same inputs, each with outputs of its own fed back.
///
/// The crisp network runs freely. Its bounds at a step come from the interval parameters, the crisp regressor and the crisp
/// states before the step; they are never fed back.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkPlan {
    /// Whether its layers are LSTM cells; else they are feed-forward.
    pub lstm: bool,
    /// What the read-out is added to.
    pub base: Base,
    /// Width of each hidden layer or cell.
    pub hidden: Vec<usize>,
    /// Networks.
    pub members: Vec<Member>,
}

/// What a read-out is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Nothing.
    Zero,
    /// y(k-1), the first entries of the regressor.
    LastOutput,
    /// A·x, [`Member::linear`].
    Linear,
}

/// One network.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Hidden layers or cells, then the read-out.
    pub layers: Vec<Layer>,
    /// A of the linear path.
    pub linear: Option<Bounded>,
}

/// A layer: tanh(W·x + b); a cell: gates i, f, q, o from W·x + U·h + b; the read-out: W·x + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// W `[out, in]`.
    pub weight: Bounded,
    /// U `[4h, h]` of a cell.
    pub recurrent: Option<Bounded>,
    /// b `[out, 1]`.
    pub bias: Bounded,
}

/// A matrix, row-major: crisp values and their bounds θ - Δ_lo and θ + Δ_hi, rounded in the model's precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// θ.
    pub centre: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
}

impl StepProgram {
    /// Reads a model.
    ///
    /// # Errors
    /// [`DeployError::Model`] for models that cannot run step by step: the Bayesian, dropout and deep-ensemble baselines.
    pub fn new(model: &Model) -> Result<Self> {
        // Refuses what has no step, with the reason.
        Simulator::new(model)?;
        let (config, interface) = (model.config(), model.interface());
        let body = match (model.architecture(), model.arx()) {
            (_, Some((members, half_width))) => linear(members, half_width, &interface.normaliser.outputs),
            (Some(architecture), None) => networks(&architecture, &model.network_parameters()),
            (None, None) => return Err(DeployError::Unsupported { model: model.kind() }),
        };
        let scales = &interface.normaliser;
        let inputs = interface.inputs.iter().zip(&scales.inputs);
        let spread = interface.spreads(config.coverage);
        let output = |(index, (channel, &scale)): (usize, (&Channel, &Scale))| OutputPlan {
            channel: channel.clone(),
            scale,
            spread: spread[index],
            calibration: interface.calibration.as_ref().map(|found| found.outputs[index]),
            online: interface.online_band(index, config.coverage).constants(),
            range: interface.output_ranges.get(index).copied().unwrap_or_default(),
        };
        Ok(Self {
            kind: model.kind(),
            precision: config.precision,
            lags: config.lags,
            initial: config.initial,
            coverage: config.coverage,
            sample_time: interface.sample_time,
            fingerprint: model.fingerprint()?,
            inputs: inputs
                .map(|(channel, &scale)| InputPlan {
                    channel: channel.clone(),
                    scale,
                })
                .collect(),
            outputs: interface
                .outputs
                .iter()
                .zip(&scales.outputs)
                .enumerate()
                .map(output)
                .collect(),
            diverged: DIVERGED,
            sample_limit: SAMPLE_LIMIT,
            body,
            region: interface.region.clone(),
            horizons: interface.horizons.clone(),
            band: BandChoice::Full,
        })
    }

    /// Whether an output has physical limits.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.outputs.iter().any(|output| output.range != OutputRange::default())
    }

    /// Length of the regressor.
    #[must_use]
    pub fn regressor_len(&self) -> usize {
        self.lags.regressor_len(self.inputs.len(), self.outputs.len())
    }

    /// Entries of the regressor that are outputs.
    #[must_use]
    pub fn output_lags_len(&self) -> usize {
        self.lags.ny * self.outputs.len()
    }

    /// Past samples of the inputs to remember between steps.
    #[must_use]
    pub fn remembered_inputs(&self) -> usize {
        self.lags.nd + self.lags.nx
    }

    /// Samples of history that a start uses.
    #[must_use]
    pub fn needs(&self) -> HistoryNeeds {
        HistoryNeeds::new(self.lags, self.initial)
    }

    /// Networks that run side by side, or the one linear model.
    #[must_use]
    pub fn members(&self) -> usize {
        match &self.body {
            Body::Linear(_) => 1,
            Body::Networks(networks) => networks.members.len(),
            Body::StateSpace(plan) => plan.members.len(),
        }
    }

    /// Numbers h (and as many c) of all LSTM cells of a member.
    #[must_use]
    pub fn cell_states(&self) -> usize {
        match &self.body {
            Body::Networks(networks) if networks.lstm => networks.hidden.iter().sum(),
            _ => 0,
        }
    }

    /// Numbers that a state-space model carries beside its last outputs: the states, and the prediction that the next measurement
    /// is compared with.
    #[must_use]
    pub fn carried(&self) -> usize {
        match &self.body {
            Body::StateSpace(plan) => plan.states + self.outputs.len(),
            Body::Linear(_) | Body::Networks(_) => 0,
        }
    }
}

/// The blocks of parameters of one network.
pub(crate) struct Blocks<'a> {
    pub(crate) architecture: &'a Architecture,
    pub(crate) parameters: &'a NetworkParameters,
}

impl Blocks<'_> {
    /// A block with its bounds; none where the network has no such block or it is empty.
    pub(crate) fn bounded(&self, layer: LayerId, role: Role) -> Option<Bounded> {
        let layout = self.architecture.layout();
        let block = layout
            .blocks()
            .iter()
            .find(|block| block.layer == layer && block.role == role && !block.range.is_empty())?;
        let values = |values: &[f64]| values[block.range.clone()].to_vec();
        Some(Bounded {
            rows: block.rows,
            columns: block.columns,
            centre: values(&self.parameters.theta),
            lower: values(&self.parameters.lower),
            upper: values(&self.parameters.upper),
        })
    }
}

fn networks(architecture: &Architecture, members: &[NetworkParameters]) -> Body {
    let blocks = members.iter().map(|parameters| Blocks {
        architecture,
        parameters,
    });
    let lstm = match architecture.kind {
        NetworkKind::Node => false,
        NetworkKind::Lstm => true,
        NetworkKind::StateSpace => return Body::StateSpace(StateSpacePlan::new(architecture.states, blocks)),
    };
    Body::Networks(NetworkPlan {
        lstm,
        base: match (architecture.linear_path, lstm) {
            (true, _) => Base::Linear,
            (false, false) => Base::LastOutput,
            (false, true) => Base::Zero,
        },
        hidden: architecture.hidden.clone(),
        members: blocks.map(|blocks| member(&blocks)).collect(),
    })
}

fn member(blocks: &Blocks<'_>) -> Member {
    let layers = (0..=blocks.architecture.hidden.len()).filter_map(|index| {
        let layer = LayerId::Network(index);
        Some(Layer {
            weight: blocks.bounded(layer, Role::Weight)?,
            recurrent: blocks.bounded(layer, Role::Recurrent),
            bias: blocks.bounded(layer, Role::Bias)?,
        })
    });
    Member {
        layers: layers.collect(),
        linear: blocks.bounded(LayerId::Linear, Role::Weight),
    }
}

fn linear(members: &[ArxModel], half_width: &[f64], scales: &[Scale]) -> Body {
    if let [arx] = members {
        return Body::Linear(LinearPlan {
            weight: arx.coefficients.concat(),
            bias: arx.bias.clone(),
            half_width: half_width.to_vec(),
        });
    }
    // The band of each is constant: an interval around the bias is that band.
    let around = |bias: &[f64], sign: f64| -> Vec<f64> {
        let scaled = half_width.iter().zip(scales).map(|(width, scale)| width / scale.std);
        bias.iter()
            .zip(scaled)
            .map(|(bias, width)| bias + sign * width)
            .collect()
    };
    let member = |arx: &ArxModel| {
        let weight = arx.coefficients.concat();
        let rows = arx.bias.len();
        Member {
            layers: vec![Layer {
                weight: Bounded {
                    rows,
                    columns: weight.len() / rows.max(1),
                    lower: weight.clone(),
                    upper: weight.clone(),
                    centre: weight,
                },
                recurrent: None,
                bias: Bounded {
                    rows,
                    columns: 1,
                    lower: around(&arx.bias, -1.0),
                    upper: around(&arx.bias, 1.0),
                    centre: arx.bias.clone(),
                },
            }],
            linear: None,
        }
    };
    Body::Networks(NetworkPlan {
        lstm: false,
        base: Base::Zero,
        hidden: Vec::new(),
        members: members.iter().map(member).collect(),
    })
}
