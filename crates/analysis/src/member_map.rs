//! One step of one member of a model, with its derivatives, in normalised units.

use intervalid_deploy::{Base, MapPlan, Member, StateSpaceMember};
use nalgebra::{DMatrix, DVector};

use crate::jet::{Entry, Jet};
use crate::step_map::{Layout, Pick};

/// What a member computes from its memory.
///
/// The variables of a step are z = [remembered inputs u(k-1) …; own states; inputs now u(k)]. The own states of networks are past
/// outputs y(k-1) …, then h and c of each cell; of a state-space model its states.
#[derive(Clone, Debug)]
pub(crate) enum MemberMap<T: Entry = f64> {
    Network(NetworkMap<T>),
    StateSpace(Box<StateSpaceMap<T>>),
}

/// What a step gives, each with derivatives with respect to z.
#[derive(Clone, Debug)]
pub(crate) struct MemberStep<T: Entry = f64> {
    pub(crate) output: Jet<T>,
    pub(crate) next: Jet<T>,
}

#[derive(Clone, Debug)]
pub(crate) struct NetworkMap<T: Entry = f64> {
    base: Base,
    layers: Vec<Layer<T>>,
    linear: Option<DMatrix<T>>,
}

#[derive(Clone, Debug)]
struct Layer<T: Entry = f64> {
    weight: DMatrix<T>,
    /// Of a cell.
    recurrent: Option<DMatrix<T>>,
    bias: DMatrix<T>,
}

#[derive(Clone, Debug)]
pub(crate) struct StateSpaceMap<T: Entry = f64> {
    state: Map<T>,
    output: Map<T>,
    observer: DMatrix<T>,
}

/// L·z + b + W₂·tanh(W₁·z + b₁)
#[derive(Clone, Debug)]
struct Map<T: Entry = f64> {
    linear: DMatrix<T>,
    bias: DMatrix<T>,
    units: Option<[DMatrix<T>; 3]>,
}

impl<T: Entry> Map<T> {
    fn new(plan: &MapPlan, pick: &mut Pick<'_, T>) -> Self {
        Self {
            linear: pick(&plan.linear),
            bias: pick(&plan.bias),
            units: plan
                .units
                .as_ref()
                .map(|units| [&units.weight, &units.bias, &units.read_out].map(&mut *pick)),
        }
    }

    fn apply(&self, z: &Jet<T>) -> Jet<T> {
        let sum = z.affine(&self.linear, &self.bias);
        match &self.units {
            None => sum,
            Some([weight, bias, read_out]) => sum.plus(&z.affine(weight, bias).tanh().times(read_out)),
        }
    }
}

impl<T: Entry> NetworkMap<T> {
    pub(crate) fn new(base: Base, member: &Member, pick: &mut Pick<'_, T>) -> Self {
        let mut layers = Vec::new();
        for layer in &member.layers {
            layers.push(Layer {
                weight: pick(&layer.weight),
                recurrent: layer.recurrent.as_ref().map(&mut *pick),
                bias: pick(&layer.bias),
            });
        }
        Self {
            base,
            layers,
            linear: member.linear.as_ref().map(pick),
        }
    }

    /// A linear model: a read-out alone.
    pub(crate) fn linear(weight: DMatrix<T>, bias: DMatrix<T>) -> Self {
        Self {
            base: Base::Zero,
            layers: vec![Layer {
                weight,
                recurrent: None,
                bias,
            }],
            linear: None,
        }
    }

    fn step(&self, layout: &Layout, z: &Jet<T>) -> MemberStep<T> {
        let outputs = layout.outputs;
        let own = layout.own(z);
        let past = own.rows(0..layout.output_lags);
        let regressor = Jet::stack(&[&past, &layout.taps(z)]);
        let mut value = regressor.clone();
        let mut cells = Vec::new();
        let mut at = layout.output_lags;
        for (index, layer) in self.layers.iter().enumerate() {
            let sum = value.affine(&layer.weight, &layer.bias);
            value = match &layer.recurrent {
                Some(recurrent) => {
                    let size = recurrent.ncols();
                    let (h, c) = (own.rows(at..at + size), own.rows(at + size..at + 2 * size));
                    at += 2 * size;
                    let gates = sum.plus(&h.times(recurrent));
                    let gate = |index: usize| gates.rows(index * size..(index + 1) * size);
                    let (i, f, q, o) = (gate(0).sigmoid(), gate(1).sigmoid(), gate(2).tanh(), gate(3).sigmoid());
                    let c = f.product(&c).plus(&i.product(&q));
                    let h = o.product(&c.clone().tanh());
                    cells.push(h.clone());
                    cells.push(c);
                    h
                }
                None if index + 1 < self.layers.len() => sum.tanh(),
                None => sum,
            };
        }
        let output = match (self.base, &self.linear) {
            (Base::LastOutput, _) => value.plus(&past.rows(0..outputs)),
            (Base::Linear, Some(linear)) => value.plus(&regressor.times(linear)),
            _ => value,
        };
        let kept = past.rows(0..layout.output_lags - outputs);
        let mut parts = vec![&output, &kept];
        parts.extend(&cells);
        MemberStep {
            next: Jet::stack(&parts),
            output,
        }
    }
}

impl<T: Entry> StateSpaceMap<T> {
    pub(crate) fn new(member: &StateSpaceMember, pick: &mut Pick<'_, T>) -> Self {
        Self {
            state: Map::new(&member.state, pick),
            output: Map::new(&member.output, pick),
            observer: pick(&member.observer),
        }
    }

    /// `held` are outputs that the observer compares with; without them the model runs freely.
    fn step(&self, layout: &Layout, z: &Jet<T>, held: Option<&DVector<T>>) -> MemberStep<T> {
        let taps = layout.taps(z);
        let (now, before) = (taps.rows(0..layout.inputs), taps.rows(layout.inputs..2 * layout.inputs));
        let past = Jet::stack(&[&layout.own(z), &before]);
        let mut next = self.state.apply(&past);
        if let Some(held) = held {
            let mut measured = self.output.apply(&past);
            let predicted = measured.clone();
            measured.value.copy_from(held);
            measured.slope.fill(T::ZERO);
            next = next.plus(&measured.minus(&predicted).times(&self.observer));
        }
        MemberStep {
            output: self.output.apply(&Jet::stack(&[&next, &now])),
            next,
        }
    }
}

impl<T: Entry> MemberMap<T> {
    /// The free step from z.
    pub(crate) fn step(&self, layout: &Layout, z: &Jet<T>) -> MemberStep<T> {
        match self {
            Self::Network(network) => network.step(layout, z),
            Self::StateSpace(map) => map.step(layout, z, None),
        }
    }

    /// The step of a model whose outputs are measured, and held at these values.
    pub(crate) fn held_step(&self, layout: &Layout, z: &Jet<T>, outputs: &DVector<T>) -> MemberStep<T> {
        match self {
            Self::StateSpace(map) => map.step(layout, z, Some(outputs)),
            Self::Network(network) => {
                let mut step = network.step(layout, z);
                for entry in 0..layout.output_lags {
                    step.next.value[entry] = outputs[entry % layout.outputs];
                    step.next.slope.row_mut(entry).fill(T::ZERO);
                }
                step
            }
        }
    }
}
