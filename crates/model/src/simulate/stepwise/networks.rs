//! Interval networks, one or an ensemble, step by step.

use intervalid_data::{DIVERGED, Regressor};
use intervalid_interval::Real;

use super::combine::combine;
use super::history::InputTaps;
use super::state::MemberState;
use crate::family::ensemble::Spread;
use crate::family::interval::IntervalNetwork;
use crate::interface::ModelInterface;
use crate::network::{IntervalStepper, Stepper};

/// Networks that run side by side on the same inputs.
#[derive(Clone, Debug)]
pub(super) struct IntervalNetworks<T> {
    layout: Regressor,
    inputs: InputTaps<T>,
    members: Vec<Member<T>>,
    /// The widening where members disagree, one per output.
    spread: Vec<Spread>,
}

#[derive(Clone, Debug)]
struct Member<T> {
    stepper: Stepper<T>,
    bounds: IntervalStepper<T>,
    regressor: Vec<T>,
    /// Whether its run has stayed in range; a runaway is left out until the next start.
    is_sound: bool,
    /// `[lower, y, upper]` of each output in its unit.
    physical: Vec<[f64; 3]>,
}

impl<T: Real> IntervalNetworks<T> {
    pub(super) fn new(members: &[IntervalNetwork<T>], spread: Vec<Spread>) -> Self {
        let architecture = &members[0].architecture;
        let layout = architecture.regressor();
        let member = |network: &IntervalNetwork<T>| Member {
            stepper: Stepper::new(architecture, &network.theta),
            bounds: IntervalStepper::new(architecture, &network.interval_parameters()),
            regressor: vec![T::zero(); layout.len()],
            is_sound: true,
            physical: vec![[0.0; 3]; architecture.outputs],
        };
        Self {
            layout,
            inputs: InputTaps::new(layout),
            members: members.iter().map(member).collect(),
            spread,
        }
    }

    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        for member in &mut self.members {
            member.stepper.reset();
            member.regressor.fill(T::zero());
            member.is_sound = true;
        }
    }

    pub(super) fn push_inputs(&mut self, interface: &ModelInterface, sample: &[f64]) {
        let scales = &interface.normaliser.inputs;
        self.inputs.push(
            scales
                .iter()
                .zip(sample)
                .map(|(scale, &u)| T::of(scale.to_normalised(u))),
        );
    }

    /// Puts measured outputs in the place of the newest ones, or before them.
    pub(super) fn push_measured(&mut self, interface: &ModelInterface, sample: &[f64], replace: bool) {
        for member in &mut self.members {
            let scales = &interface.normaliser.outputs;
            let measured = scales
                .iter()
                .zip(sample)
                .map(|(scale, &y)| T::of(scale.to_normalised(y)));
            if replace {
                member.regressor.iter_mut().zip(measured).for_each(|(to, y)| *to = y);
            } else {
                self.layout.push_outputs(measured, &mut member.regressor);
            }
        }
    }

    /// One step on the inputs pushed last; false when no member is left in range.
    pub(super) fn step(&mut self, interface: &ModelInterface, bounds: &mut [[f64; 3]]) -> bool {
        let limit = T::of(DIVERGED);
        for member in self.members.iter_mut().filter(|member| member.is_sound) {
            let Member {
                stepper,
                bounds,
                regressor,
                is_sound,
                physical,
            } = member;
            self.inputs.write(regressor);
            let (lower, upper) = bounds.step(regressor, stepper);
            let y = stepper.step(regressor);
            let is_bounded = lower.iter().chain(upper).all(|bound| bound.is_finite());
            *is_sound = is_bounded && !y.iter().any(|y| y.is_nan() || y.abs() > limit);
            for (output, physical) in physical.iter_mut().enumerate() {
                let y = y[output];
                let to_physical = |value| interface.normaliser.output_to_physical(output, value);
                *physical = [lower[output].min(y), y, upper[output].max(y)].map(to_physical);
            }
            self.layout.push_outputs(y.iter().copied(), regressor);
        }
        let physical = |member: &Member<T>, output: usize| member.physical[output];
        combine(&self.members, |member| member.is_sound, &self.spread, physical, bounds)
    }

    pub(super) fn save(&self) -> (Vec<f64>, Vec<MemberState>) {
        let floats = |values: &[T]| values.iter().map(|value| value.as_f64()).collect::<Vec<f64>>();
        let members = self.members.iter().map(|member| MemberState {
            is_sound: member.is_sound,
            outputs: floats(&member.regressor[..self.layout.output_len()]),
            h: member.stepper.states().map(|(h, _)| floats(h)).collect(),
            c: member.stepper.states().map(|(_, c)| floats(c)).collect(),
        });
        (self.inputs.save(), members.collect())
    }

    /// Whether a saved state has the sizes of this model.
    pub(super) fn fits(&self, inputs: &[f64], members: &[MemberState]) -> bool {
        inputs.len() == self.inputs.len()
            && members.len() == self.members.len()
            && members.iter().zip(&self.members).all(|(saved, member)| {
                let sizes: Vec<usize> = member.stepper.states().map(|(h, _)| h.len()).collect();
                let fit = |states: &[Vec<f64>]| states.iter().map(Vec::len).eq(sizes.iter().copied());
                saved.outputs.len() == self.layout.output_len() && fit(&saved.h) && fit(&saved.c)
            })
    }

    pub(super) fn restore(&mut self, inputs: &[f64], members: &[MemberState]) {
        let copy = |to: &mut [T], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, &from)| *to = T::of(from));
        self.inputs.restore(inputs);
        for (member, saved) in self.members.iter_mut().zip(members) {
            member.is_sound = saved.is_sound;
            copy(&mut member.regressor[..self.layout.output_len()], &saved.outputs);
            for ((h, c), (saved_h, saved_c)) in member.stepper.states_mut().zip(saved.h.iter().zip(&saved.c)) {
                copy(h, saved_h);
                copy(c, saved_c);
            }
        }
    }
}
