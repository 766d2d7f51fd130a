//! Interval networks as nodes: the members of an ensemble side by side along the first axis, values as rows
//! `[members, 1, channels]`.

use super::emit::{Emitter, Value};
use super::jacobian::{Jet, Variables};
use super::state::State;
use super::weights::{Bounds, Weights, add};
use crate::step_program::{Base, Bounded, Layer, NetworkPlan};

/// What the crisp networks give.
pub(super) struct Crisp {
    /// `[members, 1, outputs]`
    pub(super) y: Value,
    /// h and c after the step; the states and the prediction of a state-space model.
    pub(super) cells: Vec<[Value; 2]>,
}

/// A network of a plan, ready to be written.
pub(super) struct Networks<'a> {
    plan: &'a NetworkPlan,
}

impl<'a> Networks<'a> {
    pub(super) fn new(plan: &'a NetworkPlan) -> Self {
        Self { plan }
    }

    fn weights(&self, layer: usize, role: &str, pick: impl Fn(&'a Layer) -> &'a Bounded) -> Weights<'a> {
        Weights {
            name: format!("layer{}.{role}", layer + 1),
            members: self
                .plan
                .members
                .iter()
                .map(|member| pick(&member.layers[layer]))
                .collect(),
        }
    }

    fn layer(&self, layer: usize) -> (Weights<'a>, Weights<'a>) {
        (
            self.weights(layer, "weight", |layer| &layer.weight),
            self.weights(layer, "bias", |layer| &layer.bias),
        )
    }

    /// U of a cell.
    fn recurrent(&self, layer: usize) -> Option<Weights<'a>> {
        let members = self.plan.members.iter();
        let matrices: Option<Vec<&Bounded>> = members.map(|member| member.layers[layer].recurrent.as_ref()).collect();
        Some(Weights {
            name: format!("layer{}.recurrent", layer + 1),
            members: matrices?,
        })
    }

    fn linear(&self) -> Option<Weights<'a>> {
        let matrices: Option<Vec<&Bounded>> = self.plan.members.iter().map(|member| member.linear.as_ref()).collect();
        Some(Weights {
            name: "linear".to_owned(),
            members: matrices?,
        })
    }

    /// h or c as rows.
    fn row(&self, emit: &mut Emitter, value: &Value, cell: usize) -> Value {
        emit.reshape(value, &[self.plan.members.len(), 1, self.plan.hidden[cell]])
    }

    /// The crisp step on the regressor `x`; `last` are the newest past outputs `[members, 1, outputs]`.
    pub(super) fn crisp(&self, emit: &mut Emitter, x: &Value, last: &Value, state: &State) -> Crisp {
        let hidden = self.plan.hidden.len();
        let mut value = x.clone();
        let mut cells = Vec::new();
        for layer in 0..=hidden {
            let (weight, bias) = self.layer(layer);
            let product = weight.crisp_product(emit, &value);
            let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
            let sum = emit.apply("Add", &[&product, &bias]);
            value = match (self.recurrent(layer), state.cells.get(layer)) {
                (Some(recurrent), Some([h, c])) => {
                    let (h, c) = (self.row(emit, h, layer), self.row(emit, c, layer));
                    let feedback = recurrent.crisp_product(emit, &h);
                    let gates = emit.apply("Add", &[&sum, &feedback]);
                    let [h, c] = self.cell(emit, &gates, &c, layer);
                    let flat = [self.plan.members.len(), self.plan.hidden[layer]];
                    cells.push([emit.reshape(&h, &flat), emit.reshape(&c, &flat)]);
                    h
                }
                _ if layer < hidden => emit.apply("Tanh", &[&sum]),
                _ => sum,
            };
        }
        let y = match (self.plan.base, self.linear()) {
            (Base::LastOutput, _) => emit.apply("Add", &[&value, last]),
            (Base::Linear, Some(linear)) => {
                let path = linear.crisp_product(emit, x);
                emit.apply("Add", &[&value, &path])
            }
            _ => value,
        };
        Crisp { y, cells }
    }

    /// Slopes of the outputs, and of h and c of every cell in turn; `x` is the regressor, `places` are the variables that h and c are.
    pub(super) fn slopes(
        &self,
        emit: &mut Emitter,
        x: &Jet,
        state: &State,
        (variables, places): (&Variables, &[usize]),
    ) -> (Value, Vec<Value>) {
        let hidden = self.plan.hidden.len();
        let mut jet = x.clone();
        let mut cells = Vec::new();
        let mut first = 0;
        for layer in 0..=hidden {
            let (weight, bias) = self.layer(layer);
            let bias = bias.bias(emit, "value", |matrix| &matrix.centre);
            let product = weight.crisp_jet(emit, &jet);
            let sum = Jet {
                value: emit.apply("Add", &[&product.value, &bias]),
                slope: product.slope,
            };
            jet = match (self.recurrent(layer), state.cells.get(layer)) {
                (Some(recurrent), Some([h, c])) => {
                    let size = self.plan.hidden[layer];
                    let [h, c] = [("h", h), ("c", c)].map(|(name, value)| {
                        let own = &places[first..first + size];
                        first += size;
                        Jet {
                            value: self.row(emit, value, layer),
                            slope: variables.slopes(emit, &format!("{name}{}", layer + 1), own),
                        }
                    });
                    let feedback = recurrent.crisp_jet(emit, &h);
                    let gates = sum.plus(emit, &feedback);
                    let [h, c] = self.cell_jet(emit, &gates, &c, size);
                    cells.extend([h.slope.clone(), c.slope]);
                    h
                }
                _ if layer < hidden => sum.activated(emit, "Tanh"),
                _ => sum,
            };
        }
        let outputs = self.plan.members[0].layers[hidden].bias.rows;
        let slope = match (self.plan.base, self.linear()) {
            (Base::LastOutput, _) => {
                let last = emit.slice(&x.slope, 2, 0..outputs);
                emit.apply("Add", &[&jet.slope, &last])
            }
            (Base::Linear, Some(linear)) => {
                let path = linear.crisp_product(emit, &x.slope);
                emit.apply("Add", &[&jet.slope, &path])
            }
            _ => jet.slope,
        };
        (slope, cells)
    }

    /// As [`cell`](Self::cell), with slopes.
    fn cell_jet(&self, emit: &mut Emitter, sums: &Jet, c: &Jet, size: usize) -> [Jet; 2] {
        let [i, f, q, o] = [(0, "Sigmoid"), (1, "Sigmoid"), (2, "Tanh"), (3, "Sigmoid")].map(|(gate, function)| {
            let sum = sums.channels(emit, gate * size..(gate + 1) * size);
            sum.activated(emit, function)
        });
        let (kept, added) = (f.product(emit, c), i.product(emit, &q));
        let c = kept.plus(emit, &added);
        let squashed = c.activated(emit, "Tanh");
        [o.product(emit, &squashed), c]
    }

    /// The gates i, f, q, o, activated.
    fn gates(&self, emit: &mut Emitter, sums: &Value, cell: usize) -> [Value; 4] {
        let size = self.plan.hidden[cell];
        [(0, "Sigmoid"), (1, "Sigmoid"), (2, "Tanh"), (3, "Sigmoid")].map(|(gate, function)| {
            let sum = emit.slice(sums, 2, gate * size..(gate + 1) * size);
            emit.apply(function, &[&sum])
        })
    }

    /// c ← f·c + i·q, h ← o·tanh c.
    fn cell(&self, emit: &mut Emitter, sums: &Value, c: &Value, cell: usize) -> [Value; 2] {
        let [i, f, q, o] = self.gates(emit, sums, cell);
        let (kept, added) = (emit.apply("Mul", &[&f, c]), emit.apply("Mul", &[&i, &q]));
        let c = emit.apply("Add", &[&kept, &added]);
        let squashed = emit.apply("Tanh", &[&c]);
        [emit.apply("Mul", &[&o, &squashed]), c]
    }

    /// Bounds of the outputs around the crisp step: interval parameters on the crisp regressor and the crisp states before
    /// the step.
    pub(super) fn bounds(&self, emit: &mut Emitter, x: &Value, last: &Value, state: &State) -> Bounds {
        let hidden = self.plan.hidden.len();
        let mut below: Option<Bounds> = None;
        for layer in 0..=hidden {
            let (weight, bias) = self.layer(layer);
            let product = match &below {
                None => weight.bounds_on_crisp(emit, x),
                Some(bounds) => weight.bounds_on_bounds(emit, bounds),
            };
            let bias = bias.bias_bounds(emit);
            let sums = add(emit, &product, &bias);
            below = Some(match (self.recurrent(layer), state.cells.get(layer)) {
                (Some(recurrent), Some([h, c])) => {
                    let (h, c) = (self.row(emit, h, layer), self.row(emit, c, layer));
                    let feedback = recurrent.bounds_on_crisp(emit, &h);
                    let gates = add(emit, &sums, &feedback);
                    self.cell_bounds(emit, &gates, &c, layer)
                }
                _ if layer < hidden => sums.map(|bound| emit.apply("Tanh", &[&bound])),
                _ => sums,
            });
        }
        let bounds = below.unwrap_or_else(|| unreachable!("a network has a read-out"));
        match (self.plan.base, self.linear()) {
            (Base::LastOutput, _) => bounds.map(|bound| emit.apply("Add", &[&bound, last])),
            (Base::Linear, Some(linear)) => {
                let path = linear.bounds_on_crisp(emit, x);
                add(emit, &bounds, &path)
            }
            _ => bounds,
        }
    }

    /// Bounds of h. The gates i, f and o are positive, so a bound of a product with one is the lesser or the greater of
    /// the other factor's bound times either end of the gate.
    fn cell_bounds(&self, emit: &mut Emitter, [lower, upper]: &Bounds, c: &Value, cell: usize) -> Bounds {
        let ([i_lower, f_lower, q_lower, o_lower], [i_upper, f_upper, q_upper, o_upper]) =
            (self.gates(emit, lower, cell), self.gates(emit, upper, cell));
        [("Min", q_lower), ("Max", q_upper)].map(|(which, q)| {
            let mut end = |low: &Value, high: &Value, factor: &Value| {
                let products = [emit.apply("Mul", &[low, factor]), emit.apply("Mul", &[high, factor])];
                emit.apply(which, &[&products[0], &products[1]])
            };
            let (kept, added) = (end(&f_lower, &f_upper, c), end(&i_lower, &i_upper, &q));
            let c = emit.apply("Add", &[&kept, &added]);
            let squashed = emit.apply("Tanh", &[&c]);
            let products = [&o_lower, &o_upper].map(|o| emit.apply("Mul", &[o, &squashed]));
            emit.apply(which, &[&products[0], &products[1]])
        })
    }
}
