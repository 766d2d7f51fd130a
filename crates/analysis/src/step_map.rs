//! A model's step as a map of its state: what every view differentiates, samples and runs.

use intervalid_data::{Channel, Scale};
use intervalid_deploy::{Body, Bounded, StepProgram};
use intervalid_interval::Enclosure;
use intervalid_model::{Model, ModelKind};
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::jet::{Entry, Jet};
use crate::member_map::{MemberMap, MemberStep, NetworkMap, StateSpaceMap};

/// Chooses the parameters of a map between their bounds.
pub(crate) type Pick<'a, T = f64> = dyn FnMut(&Bounded) -> DMatrix<T> + 'a;

/// Where the parts of z = [u(k-1), …, u(k-m); own states; u(k)] stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Past samples of the inputs.
    pub(crate) remembered: usize,
    /// Samples before an input acts.
    dead_time: usize,
    /// Own states of a member.
    pub(crate) own: usize,
    /// How many of them are past outputs; they come first.
    pub(crate) output_lags: usize,
}

impl Layout {
    /// Numbers in the memory of inputs.
    pub(crate) fn shared(&self) -> usize {
        self.remembered * self.inputs
    }

    pub(crate) fn own<T: Entry>(&self, z: &Jet<T>) -> Jet<T> {
        z.rows(self.shared()..self.shared() + self.own)
    }

    /// u(k-n_d), …, newest first, as the regressor holds them.
    pub(crate) fn taps<T: Entry>(&self, z: &Jet<T>) -> Jet<T> {
        let now = z.rows(self.shared() + self.own..self.shared() + self.own + self.inputs);
        let all = Jet::stack(&[&now, &z.rows(0..self.shared())]);
        all.rows(self.dead_time * self.inputs..all.value.len())
    }
}

/// The members of a model as maps of their states, in normalised units and double precision.
///
/// It is the step of [`StepProgram`] in free run, whose numbers are those of `Model::simulate` up to rounding.
#[derive(Clone, Debug)]
pub struct StepMap {
    program: StepProgram,
    pub(crate) layout: Layout,
    pub(crate) members: Vec<MemberMap>,
}

impl StepMap {
    /// That of a model.
    ///
    /// # Errors
    /// If the model cannot run step by step: the Bayesian, dropout and deep-ensemble baselines.
    pub fn new(model: &Model) -> Result<Self> {
        let program = StepProgram::new(&model.bare())?;
        Ok(Self::read(program, &mut centre))
    }

    /// The same model with every parameter drawn uniformly between its bounds; the same seed gives the same draw.
    #[must_use]
    pub(crate) fn sampled(&self, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |bounded: &Bounded| {
            let bounds = bounded.lower.iter().zip(&bounded.upper);
            let values = bounds.map(|(&lower, &upper)| lower + (upper - lower) * rng.random_range(0.0..1.0));
            DMatrix::from_row_iterator(bounded.rows, bounded.columns, values)
        };
        Self::read(self.program.clone(), &mut draw)
    }

    fn read(program: StepProgram, pick: &mut Pick<'_>) -> Self {
        let (inputs, outputs) = (program.inputs.len(), program.outputs.len());
        let members = members(&program, pick);
        Self {
            layout: Layout {
                inputs,
                outputs,
                remembered: program.remembered_inputs(),
                dead_time: program.lags.nd,
                own: program.own_states(),
                output_lags: program.own_output_lags(),
            },
            members,
            program,
        }
    }

    /// Whether parameters have margins to sample in.
    #[must_use]
    pub fn has_margins(&self) -> bool {
        // The members of an averaged ARX hold their constant half-width as a margin of the bias, which no Jacobian sees.
        match &self.program.body {
            Body::Linear(_) => false,
            Body::Networks(_) => self.kind() != ModelKind::Arx,
            Body::StateSpace(_) => true,
        }
    }

    /// Whether the states of one member mean the same as those of another: past outputs, not hidden states.
    pub(crate) fn states_are_lags(&self) -> bool {
        self.layout.output_lags == self.layout.own
    }

    pub(crate) fn program(&self) -> &StepProgram {
        &self.program
    }

    /// Which model it is.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        self.program.kind
    }

    pub(crate) fn input_channels(&self) -> Vec<Channel> {
        self.program.inputs.iter().map(|input| input.channel.clone()).collect()
    }

    pub(crate) fn output_channels(&self) -> Vec<Channel> {
        self.program
            .outputs
            .iter()
            .map(|output| output.channel.clone())
            .collect()
    }

    pub(crate) fn input_scales(&self) -> Vec<Scale> {
        self.program.inputs.iter().map(|input| input.scale).collect()
    }

    pub(crate) fn output_scales(&self) -> Vec<Scale> {
        self.program.outputs.iter().map(|output| output.scale).collect()
    }

    /// z of a member whose inputs have been `inputs` for ever, normalised.
    pub(crate) fn at_rest(&self, inputs: &[f64], own: &DVector<f64>) -> DVector<f64> {
        let shared = std::iter::repeat_n(inputs, self.layout.remembered).flatten().copied();
        let values = shared.chain(own.iter().copied()).chain(inputs.iter().copied());
        let count = self.layout.shared() + self.layout.own + self.layout.inputs;
        DVector::from_iterator(count, values)
    }

    /// The step of a member from z, with derivatives.
    pub(crate) fn derivatives(&self, member: usize, z: DVector<f64>) -> MemberStep {
        self.members[member].step(&self.layout, &Jet::variables(z))
    }

    /// Every step of the members, each from its z, that parameters between their bounds can make, with its derivatives.
    pub(crate) fn enclosed_derivatives(&self, z: &[DVector<f64>]) -> Vec<MemberStep<Enclosure>> {
        let mut between = |bounded: &Bounded| {
            let bounds = bounded.lower.iter().zip(&bounded.upper);
            let sets = bounds.map(|(&lower, &upper)| Enclosure::from_bounds(lower, upper).unwrap_or(Enclosure::ENTIRE));
            DMatrix::from_row_iterator(bounded.rows, bounded.columns, sets)
        };
        let members = members(&self.program, &mut between);
        let step = |(member, z): (&MemberMap<Enclosure>, &DVector<f64>)| {
            member.step(&self.layout, &Jet::variables(z.map(Enclosure::point)))
        };
        members.iter().zip(z).map(step).collect()
    }

    /// The free run of every member from its states at rest: normalised `[member][step][output]`. `inputs` are those of each step.
    pub(crate) fn run(&self, rest: (&[f64], &[DVector<f64>]), inputs: &[Vec<f64>]) -> Vec<Vec<Vec<f64>>> {
        let (constant, own) = rest;
        let shared = self.layout.shared();
        let run = |(member, own): (&MemberMap, &DVector<f64>)| {
            let mut z = self.at_rest(constant, own);
            let place = shared + self.layout.own;
            let step = |now: &Vec<f64>| {
                z.rows_mut(place, self.layout.inputs).copy_from_slice(now);
                let found = member.step(&self.layout, &Jet::numbers(z.clone()));
                if shared > 0 {
                    let kept = z.rows(0, shared - self.layout.inputs).into_owned();
                    z.rows_mut(self.layout.inputs, kept.len()).copy_from(&kept);
                    z.rows_mut(0, self.layout.inputs).copy_from_slice(now);
                }
                z.rows_mut(shared, self.layout.own).copy_from(&found.next.value);
                found.output.value.iter().copied().collect()
            };
            inputs.iter().map(step).collect()
        };
        self.members.iter().zip(own).map(run).collect()
    }

    /// What the states of the whole model are: inputs remembered by all members, then the states of each.
    pub(crate) fn state_names(&self) -> Vec<String> {
        let layout = &self.layout;
        let mut names = Vec::new();
        for age in 1..=layout.remembered {
            names.extend(
                self.program
                    .inputs
                    .iter()
                    .map(|input| format!("{}(k-{age})", input.channel.name)),
            );
        }
        for member in 0..self.members.len() {
            let prefix = match self.members.len() {
                1 => String::new(),
                _ => format!("member {}: ", member + 1),
            };
            for entry in 0..layout.output_lags {
                let name = &self.program.outputs[entry % layout.outputs].channel.name;
                names.push(format!("{prefix}{name}(k-{})", entry / layout.outputs + 1));
            }
            for entry in 0..layout.own - layout.output_lags {
                names.push(format!("{prefix}x{}", entry + 1));
            }
        }
        names
    }

    /// Physical units of one normalised unit of each state of a member; 1 of hidden states.
    pub(crate) fn own_units(&self) -> Vec<f64> {
        (0..self.layout.own).map(|state| self.program.own_unit(state)).collect()
    }
}

/// The members of a program, of numbers or of sets of them.
fn members<T: Entry>(program: &StepProgram, pick: &mut Pick<'_, T>) -> Vec<MemberMap<T>> {
    let outputs = program.outputs.len();
    match &program.body {
        Body::Linear(linear) => {
            let points = |values: &[f64]| -> Vec<T> { values.iter().map(|&value| T::point(value)).collect() };
            let weight = DMatrix::from_row_slice(outputs, program.regressor_len(), &points(&linear.weight));
            let bias = DMatrix::from_column_slice(outputs, 1, &points(&linear.bias));
            let map = NetworkMap::linear(weight, bias);
            vec![MemberMap::Network(map)]
        }
        Body::Networks(networks) => {
            let map = |member| MemberMap::Network(NetworkMap::new(networks.base, member, pick));
            networks.members.iter().map(map).collect()
        }
        Body::StateSpace(plan) => {
            let map = |member| MemberMap::StateSpace(Box::new(StateSpaceMap::new(member, pick)));
            plan.members.iter().map(map).collect()
        }
    }
}

fn centre(bounded: &Bounded) -> DMatrix<f64> {
    DMatrix::from_row_slice(bounded.rows, bounded.columns, &bounded.centre)
}
