//! Interval state-space models as nodes, laid out as the networks are: members along the first axis, values as rows
//! `[members, 1, channels]`.

use super::emit::{Emitter, Value};
use super::jacobian::{Jet, Slopes};
use super::network::Crisp;
use super::state::State;
use super::step::Regressor;
use super::weights::{Bounds, Weights, add};
use crate::state_space_plan::{MapPlan, StateSpaceMember, StateSpacePlan, UnitsPlan};
use crate::step_program::Bounded;

/// State-space models of a plan, ready to be written.
pub(super) struct StateSpace<'a> {
    plan: &'a StateSpacePlan,
    outputs: usize,
    inputs: usize,
}

/// What both passes of a step start from.
struct Before {
    /// [x(k-1); u(k-1)]
    z: Value,
    /// The last outputs less what was predicted for them.
    error: Value,
    /// u(k), if there are inputs.
    now: Option<Value>,
}

/// One of the two maps in all members.
struct Map<'a> {
    name: &'static str,
    members: Vec<&'a MapPlan>,
}

impl<'a> Map<'a> {
    fn weights(&self, role: &str, pick: impl Fn(&'a MapPlan) -> &'a Bounded) -> Weights<'a> {
        Weights {
            name: format!("{}.{role}", self.name),
            members: self.members.iter().map(|map| pick(map)).collect(),
        }
    }

    /// W₁, b₁ and W₂ where the map has units.
    fn units(&self) -> Option<[Weights<'a>; 3]> {
        let units: Option<Vec<&UnitsPlan>> = self.members.iter().map(|map| map.units.as_ref()).collect();
        let units = units?;
        let weights = |role: &str, pick: fn(&UnitsPlan) -> &Bounded| Weights {
            name: format!("{}.{role}", self.name),
            members: units.iter().map(|units| pick(units)).collect(),
        };
        Some([
            weights("unit_weight", |units| &units.weight),
            weights("unit_bias", |units| &units.bias),
            weights("read_out", |units| &units.read_out),
        ])
    }

    /// L·z + b + W₂·tanh(W₁·z + b₁)
    fn crisp(&self, emit: &mut Emitter, z: &Value) -> Value {
        let linear = self.weights("linear", |map| &map.linear).crisp_product(emit, z);
        let bias = self.weights("bias", |map| &map.bias);
        let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
        let sum = emit.apply("Add", &[&linear, &bias]);
        let Some([weight, bias, read_out]) = self.units() else {
            return sum;
        };
        let product = weight.crisp_product(emit, z);
        let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
        let units = emit.apply("Add", &[&product, &bias]);
        let units = emit.apply("Tanh", &[&units]);
        let added = read_out.crisp_product(emit, &units);
        emit.apply("Add", &[&sum, &added])
    }

    /// As [`crisp`](Self::crisp), with slopes.
    fn jet(&self, emit: &mut Emitter, z: &Jet) -> Jet {
        let linear = self.weights("linear", |map| &map.linear).crisp_jet(emit, z);
        let bias = self.weights("bias", |map| &map.bias);
        let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
        let sum = Jet {
            value: emit.apply("Add", &[&linear.value, &bias]),
            slope: linear.slope,
        };
        let Some([weight, bias, read_out]) = self.units() else {
            return sum;
        };
        let product = weight.crisp_jet(emit, z);
        let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
        let units = Jet {
            value: emit.apply("Add", &[&product.value, &bias]),
            slope: product.slope,
        };
        let units = units.activated(emit, "Tanh");
        let added = read_out.crisp_jet(emit, &units);
        sum.plus(emit, &added)
    }

    /// Bounds of the map, `product` those of the product of weights with its argument.
    fn bounds(&self, emit: &mut Emitter, product: impl Fn(&mut Emitter, &Weights<'_>) -> Bounds) -> Bounds {
        let linear = product(emit, &self.weights("linear", |map| &map.linear));
        let bias = self.weights("bias", |map| &map.bias).bias_bounds(emit);
        let sum = add(emit, &linear, &bias);
        let Some([weight, bias, read_out]) = self.units() else {
            return sum;
        };
        let (inner, bias) = (product(emit, &weight), bias.bias_bounds(emit));
        let units = add(emit, &inner, &bias).map(|bound| emit.apply("Tanh", &[&bound]));
        let added = read_out.bounds_on_bounds(emit, &units);
        add(emit, &sum, &added)
    }
}

impl<'a> StateSpace<'a> {
    pub(super) fn new(plan: &'a StateSpacePlan, inputs: usize, outputs: usize) -> Self {
        Self { plan, outputs, inputs }
    }

    fn map(&self, name: &'static str, pick: impl Fn(&'a StateSpaceMember) -> &'a MapPlan) -> Map<'a> {
        Map {
            name,
            members: self.plan.members.iter().map(pick).collect(),
        }
    }

    fn state_map(&self) -> Map<'a> {
        self.map("state", |member| &member.state)
    }

    fn output_map(&self) -> Map<'a> {
        self.map("output_map", |member| &member.output)
    }

    fn observer(&self) -> Weights<'a> {
        Weights {
            name: "observer".to_owned(),
            members: self.plan.members.iter().map(|member| &member.observer).collect(),
        }
    }

    /// Takes the regressor y(k-1), u(k), u(k-1) and the state apart.
    fn before(&self, emit: &mut Emitter, found: &Regressor, state: &State) -> Before {
        let (members, outputs, inputs) = (self.plan.members.len(), self.outputs, self.inputs);
        let [states, predicted] = &state.cells[0];
        let states = emit.reshape(states, &[members, 1, self.plan.states]);
        let predicted = emit.reshape(predicted, &[members, 1, outputs]);
        let error = emit.apply("Sub", &[&found.last, &predicted]);
        if inputs == 0 {
            return Before {
                z: states,
                error,
                now: None,
            };
        }
        let past = emit.slice(&found.x, 2, outputs + inputs..outputs + 2 * inputs);
        Before {
            z: emit.concat(&[&states, &past], 2),
            error,
            now: Some(emit.slice(&found.x, 2, outputs..outputs + inputs)),
        }
    }

    /// The crisp step.
    pub(super) fn crisp(&self, emit: &mut Emitter, found: &Regressor, state: &State) -> Crisp {
        let Before { z, error, now } = self.before(emit, found, state);
        let moved = self.state_map().crisp(emit, &z);
        let correction = self.observer().crisp_product(emit, &error);
        let states = emit.apply("Add", &[&moved, &correction]);
        let z = joined(emit, &states, now.as_ref());
        let y = self.output_map().crisp(emit, &z);
        let members = self.plan.members.len();
        let carried = [
            emit.reshape(&states, &[members, self.plan.states]),
            emit.reshape(&y, &[members, self.outputs]),
        ];
        Crisp {
            y,
            cells: vec![carried],
        }
    }

    /// Slopes of the step: `own` those of the states, `inputs` those of the inputs before and now. The error of the last prediction
    /// stays what it is.
    pub(super) fn slopes(
        &self,
        emit: &mut Emitter,
        found: &Regressor,
        state: &State,
        (own, inputs): (Value, Option<[Value; 2]>),
    ) -> Slopes {
        let Before { z, error, now } = self.before(emit, found, state);
        let slope = joined(emit, &own, inputs.as_ref().map(|[before, _]| before));
        let moved = self.state_map().jet(emit, &Jet { value: z, slope });
        let correction = self.observer().crisp_product(emit, &error);
        let states = emit.apply("Add", &[&moved.value, &correction]);
        let z = Jet {
            value: joined(emit, &states, now.as_ref()),
            slope: joined(emit, &moved.slope, inputs.as_ref().map(|[_, now]| now)),
        };
        Slopes {
            output: self.output_map().jet(emit, &z).slope,
            next: moved.slope,
        }
    }

    /// Bounds of the outputs: one interval pass through both maps from the crisp states before the step.
    pub(super) fn bounds(&self, emit: &mut Emitter, found: &Regressor, state: &State) -> Bounds {
        let Before { z, error, now } = self.before(emit, found, state);
        let moved = self
            .state_map()
            .bounds(emit, |emit, weights| weights.bounds_on_crisp(emit, &z));
        let correction = self.observer().bounds_on_crisp(emit, &error);
        let z = add(emit, &moved, &correction).map(|states| joined(emit, &states, now.as_ref()));
        self.output_map()
            .bounds(emit, |emit, weights| weights.bounds_on_bounds(emit, &z))
    }
}

/// States and the inputs of the sample.
fn joined(emit: &mut Emitter, states: &Value, now: Option<&Value>) -> Value {
    match now {
        Some(now) => emit.concat(&[states, now], 2),
        None => states.clone(),
    }
}
