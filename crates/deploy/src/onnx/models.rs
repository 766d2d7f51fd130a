//! The exported models: start, step, correction and whole record.

use intervalid_model::{ModelKind, Precision};
use prost::Message as _;

use super::correct::corrected;
use super::describe::{self, documentation, metadata};
use super::emit::{Dim, Emitter, Port, Value};
use super::jacobian::{jacobian, jacobian_ports};
use super::proto::{ModelProto, OperatorSetIdProto};
use super::start::{history_ports, start};
use super::state::{State, state_ports};
use super::step::{Outcome, normalised_inputs, step};
use crate::error::{DeployError, Result};
use crate::step_program::StepProgram;

/// Version of the format, of 2020.
pub(super) const IR_VERSION: i64 = 7;
/// Version of the standard operators: the first with all that is used here, so that older runtimes read the graphs too.
pub(super) const OPSET: i64 = 13;

/// How to write ONNX.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnnxOptions {
    /// Number type of the graphs; where none is given, that of the networks, and double for ARX, which is always computed so.
    pub precision: Option<Precision>,
    /// Whether the graph of a step also gives its exact derivatives.
    pub jacobian: bool,
}

/// A model in ONNX: four graphs that share the names of their tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxModels {
    /// Measured history to the state before the first step.
    pub init: Vec<u8>,
    /// Inputs and state of a sample to its band and the next state.
    pub step: Vec<u8>,
    /// What was measured at the last step, and the state after it, to the state from which the next step starts.
    pub correct: Vec<u8>,
    /// Measured history and all inputs to all of the band.
    pub simulate: Vec<u8>,
    /// Number type of all tensors.
    pub precision: Precision,
    /// Version of the ONNX format.
    pub ir_version: i64,
    /// Version of the standard operators.
    pub opset: i64,
    /// Numbers that a state holds.
    pub state_len: usize,
    /// Names and sizes of the tensors of a state, in the order of the outputs of `init` and, after the band, of `step`.
    pub states: Vec<(String, Vec<usize>)>,
}

impl OnnxModels {
    /// The models by the names of their graphs.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, &[u8]); 4] {
        [
            ("init", &self.init),
            ("step", &self.step),
            ("correct", &self.correct),
            ("simulate", &self.simulate),
        ]
    }
}

/// The step of a plan as ONNX graphs, with normalisation and calibration inside.
///
/// # Errors
/// [`DeployError::BeyondSingle`] if a number of the model is out of the range of single precision.
pub fn onnx_models(plan: &StepProgram, options: &OnnxOptions) -> Result<OnnxModels> {
    let precision = options.precision.unwrap_or(match plan.kind {
        ModelKind::Arx => Precision::F64,
        _ => plan.precision,
    });
    let writer = Writer {
        plan,
        precision,
        jacobian: options.jacobian,
    };
    let states: Vec<(String, Vec<usize>)> = state_ports(plan)
        .into_iter()
        .map(|port| (port.name, port.dims.iter().filter_map(fixed).collect()))
        .collect();
    Ok(OnnxModels {
        init: writer.init()?,
        step: writer.step()?,
        correct: writer.correct()?,
        simulate: writer.simulate()?,
        precision,
        ir_version: IR_VERSION,
        opset: OPSET,
        state_len: states.iter().map(|(_, dims)| dims.iter().product::<usize>()).sum(),
        states,
    })
}

fn fixed(dim: &Dim) -> Option<usize> {
    match dim {
        Dim::Fixed(size) => Some(*size),
        Dim::Named(_) => None,
    }
}

struct Writer<'a> {
    plan: &'a StepProgram,
    precision: Precision,
    jacobian: bool,
}

impl Writer<'_> {
    fn init(&self) -> Result<Vec<u8>> {
        let mut emit = Emitter::new(self.precision);
        let state = start(&mut emit, self.plan);
        let ports = state_ports(self.plan);
        outputs(&mut emit, &ports, state);
        self.model(emit, "init", &history_ports(self.plan), &ports)
    }

    fn step(&self) -> Result<Vec<u8>> {
        let mut emit = Emitter::new(self.precision);
        let states = state_ports(self.plan);
        let values: Vec<Value> = states.iter().map(Port::value).collect();
        let state = State::from_values(self.plan, &values);
        let input = (!self.plan.inputs.is_empty()).then(|| self.input_port(None));
        let u = input
            .as_ref()
            .map(|port| normalised_inputs(&mut emit, self.plan, &port.value()));
        let outcome = step(&mut emit, self.plan, u.as_ref(), &state);
        let band = self.band_ports(None);
        for (port, value) in band.iter().zip([&outcome.lower, &outcome.y, &outcome.upper]) {
            emit.output(port, value);
        }
        let next = next_ports(&states);
        outputs(&mut emit, &next, outcome.next);
        // Last: whoever counts the outputs of a step by their places finds band and states where they always were.
        let alarm = outcome.extrapolated.map(|value| {
            let port = alarm_port(None);
            emit.output(&port, &value);
            port
        });
        let mut derivatives = Vec::new();
        if self.jacobian {
            derivatives = jacobian_ports(self.plan);
            let values = jacobian(&mut emit, self.plan, u.as_ref(), &state, &outcome.doubt);
            for (port, value) in derivatives.iter().zip(&values) {
                emit.output(port, value);
            }
        }
        let inputs: Vec<Port> = input.into_iter().chain(states).collect();
        let outputs: Vec<Port> = band.into_iter().chain(next).chain(alarm).chain(derivatives).collect();
        self.model(emit, "step", &inputs, &outputs)
    }

    fn correct(&self) -> Result<Vec<u8>> {
        let mut emit = Emitter::new(self.precision);
        let states = state_ports(self.plan);
        let values: Vec<Value> = states.iter().map(Port::value).collect();
        let state = State::from_values(self.plan, &values);
        let channels = self.plan.outputs.iter().map(|output| &output.channel);
        let measured = self.channels_port("y_measured", None, channels.map(describe::channel).collect());
        let next = next_ports(&states);
        let after = corrected(&mut emit, self.plan, &state, &measured.value());
        outputs(&mut emit, &next, after);
        let inputs: Vec<Port> = [measured].into_iter().chain(states).collect();
        self.model(emit, "correct", &inputs, &next)
    }

    fn simulate(&self) -> Result<Vec<u8>> {
        let plan = self.plan;
        let mut emit = Emitter::new(self.precision);
        let state = start(&mut emit, plan);
        let input = self.input_port(Some("samples"));
        // Without inputs, their empty rows still tell how many samples to simulate.
        let u = match plan.inputs.len() {
            0 => input.value(),
            _ => normalised_inputs(&mut emit, plan, &input.value()),
        };
        let states: Vec<(Port, Value)> = state_ports(plan).into_iter().zip(state.into_values()).collect();
        let (_, found) = emit.scan("record", &states, &[(self.input_port(None), u)], |emit, state, rows| {
            let u = rows.first().filter(|_| !plan.inputs.is_empty());
            let Outcome {
                lower,
                y,
                upper,
                extrapolated,
                next,
                ..
            } = step(emit, plan, u, &State::from_values(plan, state));
            let band = self.band_ports(None).into_iter().zip([lower, y, upper]);
            let alarm = extrapolated.map(|value| (alarm_port(None), value));
            (next.into_values(), band.chain(alarm).collect())
        });
        let mut band = self.band_ports(Some("samples"));
        band.extend(plan.region.as_ref().map(|_| alarm_port(Some("samples"))));
        for (port, value) in band.iter().zip(&found) {
            emit.output(port, value);
        }
        let mut inputs = history_ports(plan);
        inputs.insert(0, input);
        self.model(emit, "simulate", &inputs, &band)
    }

    fn input_port(&self, samples: Option<&'static str>) -> Port {
        let channels = self.plan.inputs.iter().map(|input| &input.channel);
        self.channels_port("u", samples, channels.map(describe::channel).collect())
    }

    fn band_ports(&self, samples: Option<&'static str>) -> Vec<Port> {
        let channels = || {
            self.plan
                .outputs
                .iter()
                .map(|output| describe::channel(&output.channel))
        };
        ["y_lower", "y", "y_upper"]
            .map(|name| self.channels_port(name, samples, channels().collect()))
            .to_vec()
    }

    fn channels_port(&self, name: &str, samples: Option<&'static str>, channels: Vec<String>) -> Port {
        let count = Dim::Fixed(channels.len());
        Port {
            name: name.to_owned(),
            dims: samples.map(Dim::Named).into_iter().chain([count]).collect(),
            doc: channels.join(", "),
        }
    }

    fn model(&self, emit: Emitter, name: &str, inputs: &[Port], outputs: &[Port]) -> Result<Vec<u8>> {
        if let Some((what, value)) = emit.beyond() {
            return Err(DeployError::BeyondSingle { what, value });
        }
        let doc = documentation(self.plan, name);
        let model = ModelProto {
            ir_version: Some(IR_VERSION),
            producer_name: Some("intervalid".to_owned()),
            producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            domain: Some("intervalid".to_owned()),
            model_version: Some(1),
            graph: Some(emit.finish(name, &doc, inputs, outputs)),
            doc_string: Some(doc),
            opset_import: vec![OperatorSetIdProto {
                domain: Some(String::new()),
                version: Some(OPSET),
            }],
            metadata_props: metadata(self.plan),
        };
        Ok(model.encode_to_vec())
    }
}

/// The alarm of a step, or of all samples.
fn alarm_port(samples: Option<&'static str>) -> Port {
    Port {
        name: "extrapolated".to_owned(),
        dims: samples.map(Dim::Named).into_iter().chain([Dim::Fixed(1)]).collect(),
        doc: "1 where the sample lies outside the region of the training data, 0 inside".to_owned(),
    }
}

/// The state after a step or a correction.
fn next_ports(states: &[Port]) -> Vec<Port> {
    let next = |port: &Port| Port {
        name: format!("next_{}", port.name),
        ..port.clone()
    };
    states.iter().map(next).collect()
}

fn outputs(emit: &mut Emitter, ports: &[Port], state: State) {
    for (port, value) in ports.iter().zip(state.into_values()) {
        emit.output(port, &value);
    }
}
