//! Groups of parameters whose margins widen a band: which there are, and a model without the margins of one.

use intervalid_deploy::{Body, Bounded, StepProgram};
use intervalid_model::ModelKind;

use crate::step_map::StepMap;

/// Which entries of a matrix belong to a group.
pub(crate) type Belongs = Box<dyn Fn(&Place) -> bool>;

/// A parameter matrix of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Takes the regressor, or states and inputs.
    Entry,
    /// Between hidden layers, recurrent or to the outputs.
    Inner,
    Bias,
    /// The observer, which a free run does not use.
    Observer,
}

/// An entry: its block and column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    block: Block,
    column: usize,
}

/// Groups of parameters whose margins are told apart, with their names.
pub(crate) fn groups(map: &StepMap) -> Vec<(String, Belongs)> {
    let program = map.program();
    if program.kind == ModelKind::Arx {
        let all: Belongs = Box::new(|_: &Place| true);
        return vec![("constant width".to_owned(), all)];
    }
    let entry = |column: usize| -> Belongs {
        Box::new(move |place: &Place| place.block == Block::Entry && place.column == column)
    };
    let mut groups: Vec<(String, Belongs)> = Vec::new();
    let inputs = program.inputs.len();
    match &program.body {
        Body::StateSpace(plan) => {
            let states = plan.states;
            groups.push((
                "margins of the states".to_owned(),
                Box::new(move |place: &Place| place.block == Block::Entry && place.column < states),
            ));
            for (index, input) in program.inputs.iter().enumerate() {
                groups.push((format!("margins of {}", input.channel.name), entry(states + index)));
            }
        }
        Body::Linear(_) | Body::Networks(_) => {
            let lags = program.output_lags_len();
            for column in 0..program.regressor_len() {
                let name = match column.checked_sub(lags) {
                    None => {
                        let channel = &program.outputs[column % program.outputs.len()].channel;
                        format!("margins of {}(k-{})", channel.name, column / program.outputs.len() + 1)
                    }
                    Some(tap) => {
                        let age = program.lags.nd + tap / inputs.max(1);
                        let channel = &program.inputs[tap % inputs.max(1)].channel;
                        let sample = if age == 0 { "k".to_owned() } else { format!("k-{age}") };
                        format!("margins of {}({sample})", channel.name)
                    }
                };
                groups.push((name, entry(column)));
            }
        }
    }
    groups.push((
        "margins of hidden units".to_owned(),
        Box::new(|place: &Place| place.block == Block::Inner),
    ));
    groups.push((
        "margins of constants".to_owned(),
        Box::new(|place: &Place| place.block == Block::Bias),
    ));
    groups
}

/// The program with the margins of a group taken away.
pub(crate) fn without(program: &StepProgram, belongs: &Belongs) -> StepProgram {
    let mut program = program.clone();
    let narrow = |matrix: &mut Bounded, block: Block| {
        for at in 0..matrix.centre.len() {
            let column = at % matrix.columns.max(1);
            if belongs(&Place { block, column }) {
                (matrix.lower[at], matrix.upper[at]) = (matrix.centre[at], matrix.centre[at]);
            }
        }
    };
    match &mut program.body {
        // Its width is no margin of a parameter.
        Body::Linear(plan) => plan.half_width.fill(0.0),
        Body::Networks(plan) => {
            for member in &mut plan.members {
                for (index, layer) in member.layers.iter_mut().enumerate() {
                    narrow(&mut layer.weight, if index == 0 { Block::Entry } else { Block::Inner });
                    narrow(&mut layer.bias, Block::Bias);
                    if let Some(recurrent) = &mut layer.recurrent {
                        narrow(recurrent, Block::Inner);
                    }
                }
                if let Some(linear) = &mut member.linear {
                    narrow(linear, Block::Entry);
                }
            }
        }
        Body::StateSpace(plan) => {
            for member in &mut plan.members {
                for map in [&mut member.state, &mut member.output] {
                    narrow(&mut map.linear, Block::Entry);
                    narrow(&mut map.bias, Block::Bias);
                    if let Some(units) = &mut map.units {
                        narrow(&mut units.weight, Block::Entry);
                        narrow(&mut units.bias, Block::Bias);
                        narrow(&mut units.read_out, Block::Inner);
                    }
                }
                narrow(&mut member.observer, Block::Observer);
            }
        }
    }
    program
}
