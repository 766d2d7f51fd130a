//! Products of rows with the weights of all members, and their bounds.

use super::emit::{Emitter, Value};
use super::jacobian::Jet;
use crate::step_program::Bounded;

/// Lower and upper bounds.
pub(super) type Bounds = [Value; 2];

/// Weights of one place in all members.
pub(super) struct Weights<'a> {
    pub(super) name: String,
    pub(super) members: Vec<&'a Bounded>,
}

impl Weights<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.members[0].rows, self.members[0].columns)
    }

    /// `[members, in, out]`, transposed for products from the left with rows.
    fn transposed(&self, emit: &mut Emitter, suffix: &str, entry: impl Fn(&Bounded, usize) -> f64) -> Value {
        let (rows, columns) = self.shape();
        let entry = &entry;
        let values = self.members.iter().flat_map(|&matrix| {
            (0..columns).flat_map(move |column| (0..rows).map(move |row| entry(matrix, row * columns + column)))
        });
        let dims = [self.members.len(), columns, rows];
        emit.real(&format!("{}.{suffix}", self.name), &dims, values)
    }

    pub(super) fn crisp_product(&self, emit: &mut Emitter, input: &Value) -> Value {
        let weight = self.transposed(emit, "value", |matrix, at| matrix.centre[at]);
        emit.apply("MatMul", &[input, &weight])
    }

    /// The product of values and of their slopes.
    pub(super) fn crisp_jet(&self, emit: &mut Emitter, input: &Jet) -> Jet {
        Jet {
            value: self.crisp_product(emit, &input.value),
            slope: self.crisp_product(emit, &input.slope),
        }
    }

    /// Bounds of the product with a crisp row: c·x ∓ r·|x|, c and r the middle and the radius of the weights.
    pub(super) fn bounds_on_crisp(&self, emit: &mut Emitter, input: &Value) -> Bounds {
        let middle = self.transposed(emit, "middle", |matrix, at| 0.5 * (matrix.lower[at] + matrix.upper[at]));
        let radius = self.transposed(emit, "radius", |matrix, at| 0.5 * (matrix.upper[at] - matrix.lower[at]));
        let size = emit.apply("Abs", &[input]);
        let centre = emit.apply("MatMul", &[input, &middle]);
        let reach = emit.apply("MatMul", &[&size, &radius]);
        [
            emit.apply("Sub", &[&centre, &reach]),
            emit.apply("Add", &[&centre, &reach]),
        ]
    }

    /// Bounds of the product with rows between bounds: entry by entry the least and the greatest of the four products of
    /// ends, summed.
    pub(super) fn bounds_on_bounds(&self, emit: &mut Emitter, [lower, upper]: &Bounds) -> Bounds {
        let (_, columns) = self.shape();
        let weights = [
            self.transposed(emit, "lower", |matrix, at| matrix.lower[at]),
            self.transposed(emit, "upper", |matrix, at| matrix.upper[at]),
        ];
        let column = [self.members.len(), columns, 1];
        let inputs = [lower, upper].map(|bound| emit.reshape(bound, &column));
        let mut ends = Vec::new();
        for weight in &weights {
            for input in &inputs {
                ends.push(emit.apply("Mul", &[weight, input]));
            }
        }
        let ends: Vec<&Value> = ends.iter().collect();
        ["Min", "Max"].map(|which| {
            let entries = emit.apply(which, &ends);
            emit.sum(&entries, 1)
        })
    }

    /// As a bias `[members, 1, out]`.
    pub(super) fn bias(&self, emit: &mut Emitter, suffix: &str, values: impl Fn(&Bounded) -> &[f64]) -> Value {
        let all: Vec<f64> = self.members.iter().flat_map(|matrix| values(matrix)).copied().collect();
        let dims = [self.members.len(), 1, self.shape().0];
        emit.real(&format!("{}.{suffix}", self.name), &dims, all)
    }

    pub(super) fn bias_bounds(&self, emit: &mut Emitter) -> Bounds {
        [
            self.bias(emit, "lower", |matrix| &matrix.lower),
            self.bias(emit, "upper", |matrix| &matrix.upper),
        ]
    }
}

/// Bound by bound.
pub(super) fn add(emit: &mut Emitter, [a_lower, a_upper]: &Bounds, [b_lower, b_upper]: &Bounds) -> Bounds {
    [
        emit.apply("Add", &[a_lower, b_lower]),
        emit.apply("Add", &[a_upper, b_upper]),
    ]
}
