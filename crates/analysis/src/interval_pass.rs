//! Bounds of one step of a member with interval parameters, in normalised units.

use intervalid_deploy::{Base, Body, Bounded, MapPlan, Member, StateSpaceMember, StepProgram};
use nalgebra::DVector;

use crate::jet::Jet;
use crate::step_map::Layout;

/// A vector of intervals.
type Intervals = Vec<[f64; 2]>;

fn crisp(values: &Jet) -> Intervals {
    values.value.iter().map(|&value| [value, value]).collect()
}

/// The least and greatest of M·x over all M and x between their bounds.
fn product(matrix: &Bounded, x: &[[f64; 2]]) -> Intervals {
    let row = |row: usize| {
        x.iter()
            .enumerate()
            .fold([0.0, 0.0], |[least, most], (column, [low, high])| {
                let at = row * matrix.columns + column;
                let (a, b) = (matrix.lower[at], matrix.upper[at]);
                let products = [a * low, a * high, b * low, b * high];
                let (least_product, most_product) = products
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
                        (least.min(*value), most.max(*value))
                    });
                [least + least_product, most + most_product]
            })
    };
    (0..matrix.rows).map(row).collect()
}

fn add(mut a: Intervals, b: &[[f64; 2]]) -> Intervals {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = [a[0] + b[0], a[1] + b[1]]);
    a
}

fn bias(matrix: &Bounded) -> Intervals {
    matrix
        .lower
        .iter()
        .zip(&matrix.upper)
        .map(|(lower, upper)| [*lower, *upper])
        .collect()
}

fn growing(values: &[[f64; 2]], function: impl Fn(f64) -> f64) -> Intervals {
    values
        .iter()
        .map(|[low, high]| [function(*low), function(*high)])
        .collect()
}

fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let products = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
    let least = products.iter().copied().fold(f64::INFINITY, f64::min);
    [least, products.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

fn network(base: Base, member: &Member, layout: &Layout, z: &Jet) -> Intervals {
    let own = layout.own(z);
    let past = own.rows(0..layout.output_lags);
    let regressor = crisp(&Jet::stack(&[&past, &layout.taps(z)]));
    let mut value = regressor.clone();
    let mut at = layout.output_lags;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    for (index, layer) in member.layers.iter().enumerate() {
        let sum = add(product(&layer.weight, &value), &bias(&layer.bias));
        value = match &layer.recurrent {
            Some(recurrent) => {
                let size = recurrent.columns;
                let (h, c) = (
                    crisp(&own.rows(at..at + size)),
                    crisp(&own.rows(at + size..at + 2 * size)),
                );
                at += 2 * size;
                let gates = add(sum, &product(recurrent, &h));
                let gate = |index: usize| &gates[index * size..(index + 1) * size];
                let (i, f) = (growing(gate(0), sigmoid), growing(gate(1), sigmoid));
                let (q, o) = (growing(gate(2), f64::tanh), growing(gate(3), sigmoid));
                let cell = |unit: usize| {
                    let (kept, added) = (times(f[unit], c[unit]), times(i[unit], q[unit]));
                    let squashed = [(kept[0] + added[0]).tanh(), (kept[1] + added[1]).tanh()];
                    times(o[unit], squashed)
                };
                (0..size).map(cell).collect()
            }
            None if index + 1 < member.layers.len() => growing(&sum, f64::tanh),
            None => sum,
        };
    }
    match (base, &member.linear) {
        (Base::LastOutput, _) => add(value, &crisp(&past.rows(0..layout.outputs))),
        (Base::Linear, Some(linear)) => add(value, &product(linear, &regressor)),
        _ => value,
    }
}

fn map(plan: &MapPlan, z: &[[f64; 2]]) -> Intervals {
    let sum = add(product(&plan.linear, z), &bias(&plan.bias));
    match &plan.units {
        None => sum,
        Some(units) => {
            let inner = growing(&add(product(&units.weight, z), &bias(&units.bias)), f64::tanh);
            add(sum, &product(&units.read_out, &inner))
        }
    }
}

/// Of a free run: its last outputs are what it predicted, so that the observer has nothing to correct.
fn state_space(member: &StateSpaceMember, layout: &Layout, z: &Jet) -> Intervals {
    let taps = layout.taps(z);
    let (now, before) = (taps.rows(0..layout.inputs), taps.rows(layout.inputs..2 * layout.inputs));
    let mut next = map(&member.state, &crisp(&Jet::stack(&[&layout.own(z), &before])));
    next.extend(crisp(&now));
    map(&member.output, &next)
}

/// Bounds of the outputs of a member at z; of a single ARX its constant width.
pub(crate) fn bounds(program: &StepProgram, layout: &Layout, member: usize, z: &DVector<f64>) -> Intervals {
    let z = Jet::numbers(z.clone());
    match &program.body {
        Body::Linear(linear) => {
            let scales = program.outputs.iter().map(|output| output.scale.std);
            linear
                .half_width
                .iter()
                .zip(scales)
                .map(|(width, std)| [-width / std, width / std])
                .collect()
        }
        Body::Networks(plan) => network(plan.base, &plan.members[member], layout, &z),
        Body::StateSpace(plan) => state_space(&plan.members[member], layout, &z),
    }
}
