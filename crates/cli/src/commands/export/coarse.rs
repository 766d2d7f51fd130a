//! Channels that single precision is too coarse for.

use intervalid_data::display_name;
use intervalid_deploy::StepProgram;

use crate::format::significant;
use crate::output::Output;

/// In single precision the values of a channel may be no finer than this share of its standard deviation.
const COARSE: f64 = 0.01;

/// Names channels that single precision rounds to steps which matter: those with values far larger than their changes.
pub(super) fn warn_of_coarse_channels(plan: &StepProgram, output: &Output) {
    let inputs = plan.inputs.iter().map(|input| (&input.channel, input.scale));
    let outputs = plan.outputs.iter().map(|output| (&output.channel, output.scale));
    for (channel, scale) in inputs.chain(outputs) {
        let step = f64::from(f32::EPSILON) * scale.mean.abs();
        if step > COARSE * scale.std {
            output.warning(format_args!(
                "single precision rounds '{}', whose values are about {} with a standard deviation of {}, to steps of up to {}: export \
                 with --precision double, or take an offset out of the data",
                display_name(&channel.name),
                significant(scale.mean, 2),
                significant(scale.std, 2),
                significant(step, 2),
            ));
        }
    }
}
