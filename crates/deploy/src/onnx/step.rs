//! One step as nodes: regressor, networks or ARX, the band, physical units.

use intervalid_data::Scale;

use super::alarm::{alarm, pushed_watched};
use super::correct::share_ahead;
use super::emit::{Emitter, Value};
use super::network::{Crisp, Networks};
use super::state::State;
use super::state_space::StateSpace;
use super::weights::Bounds;
use crate::state_space_plan::StateSpacePlan;
use crate::step_program::{Body, LinearPlan, OutputPlan, StepProgram};

/// What a step gives: `[outputs]` each, in physical units.
pub(super) struct Outcome {
    pub(super) lower: Value,
    pub(super) y: Value,
    pub(super) upper: Value,
    /// 1 where the step extrapolates, 0 where not, `[1]`; none where the model does not know its region.
    pub(super) extrapolated: Option<Value>,
    /// Not a number in a member that has left every sensible range, else zero, `[members, 1, 1]`.
    pub(super) doubt: Value,
    pub(super) next: State,
}

/// (value - mean)/std along the last axis; not a number beyond the plan's limit of samples, so that what follows is not either.
///
/// In single precision a mean loses what is below its last digit, and that would bias every sample of a channel far from
/// zero; it is taken off in two parts.
fn normalised(emit: &mut Emitter, value: &Value, name: &str, scales: &[Scale], limit: f64) -> Value {
    let count = [scales.len()];
    let rest: Vec<f64> = scales
        .iter()
        .map(|scale| scale.mean - emit.rounded(scale.mean))
        .collect();
    let mean = emit.real(&format!("{name}.mean"), &count, scales.iter().map(|scale| scale.mean));
    let mut centred = emit.apply("Sub", &[value, &mean]);
    if rest.iter().any(|&rest| rest != 0.0) {
        let rest = emit.real(&format!("{name}.mean_rest"), &count, rest);
        centred = emit.apply("Sub", &[&centred, &rest]);
    }
    let std: Vec<f64> = scales.iter().map(|scale| scale.std).collect();
    let std = emit.divisors(&format!("{name}.std"), &std);
    let scaled = emit.apply("Div", &[&centred, &std]);
    let limit = emit.scalar("sample_limit", limit);
    let allowed = within(emit, &scaled, &limit);
    let nan = emit.scalar("not_a_number", f64::NAN);
    emit.apply("Where", &[&allowed, &scaled, &nan])
}

/// Inputs, normalised.
pub(super) fn normalised_inputs(emit: &mut Emitter, plan: &StepProgram, value: &Value) -> Value {
    let scales: Vec<Scale> = plan.inputs.iter().map(|input| input.scale).collect();
    normalised(emit, value, "input", &scales, plan.sample_limit)
}

/// Measured outputs, normalised.
pub(super) fn normalised_outputs(emit: &mut Emitter, plan: &StepProgram, value: &Value) -> Value {
    normalised(emit, value, "output", &output_scales(plan), plan.sample_limit)
}

fn output_scales(plan: &StepProgram) -> Vec<Scale> {
    plan.outputs.iter().map(|output| output.scale).collect()
}

/// The regressor `[members, 1, length]`, the newest past outputs `[members, 1, outputs]` and the past inputs after the step.
pub(super) struct Regressor {
    pub(super) x: Value,
    /// The inputs of the regressor `[1, 1, length]`; none of a model without inputs.
    pub(super) taps: Option<Value>,
    pub(super) last: Value,
    pub(super) past_inputs: Option<Value>,
}

/// Puts the regressor of a step together; `u` are its normalised inputs `[inputs]`, if there are any.
pub(super) fn regressor(emit: &mut Emitter, plan: &StepProgram, u: Option<&Value>, state: &State) -> Regressor {
    let (members, inputs) = (plan.members(), plan.inputs.len());
    let last = match plan.lags.ny {
        1 => state.outputs.clone(),
        _ => emit.slice(&state.outputs, 1, 0..1),
    };
    let own = emit.reshape(&state.outputs, &[members, 1, plan.output_lags_len()]);
    let Some(u) = u.filter(|_| inputs > 0) else {
        return Regressor {
            x: own,
            taps: None,
            last,
            past_inputs: None,
        };
    };
    let now = emit.reshape(u, &[1, inputs]);
    let remembered = plan.remembered_inputs();
    let (taps, past_inputs) = match &state.inputs {
        None => (now, None),
        Some(past) => {
            let all = emit.concat(&[&now, past], 0);
            let taps = match plan.lags.nd {
                0 => all.clone(),
                nd => emit.slice(&all, 0, nd..remembered + 1),
            };
            (taps, Some(emit.slice(&all, 0, 0..remembered)))
        }
    };
    let length = plan.regressor_len() - plan.output_lags_len();
    let taps = emit.reshape(&taps, &[1, 1, length]);
    let of_all = match members {
        1 => taps.clone(),
        _ => emit.expand(&taps, &[members, 1, length]),
    };
    Regressor {
        x: emit.concat(&[&own, &of_all], 2),
        taps: Some(taps),
        last,
        past_inputs,
    }
}

/// Past outputs after a step: `newest` `[members, 1, outputs]` before all others.
pub(super) fn pushed_outputs(emit: &mut Emitter, plan: &StepProgram, newest: &Value, state: &State) -> Value {
    match plan.lags.ny {
        1 => newest.clone(),
        ny => {
            let kept = emit.slice(&state.outputs, 1, 0..ny - 1);
            emit.concat(&[newest, &kept], 1)
        }
    }
}

/// The whole step; `u` are its normalised inputs.
pub(super) fn step(emit: &mut Emitter, plan: &StepProgram, u: Option<&Value>, state: &State) -> Outcome {
    let found = regressor(emit, plan, u, state);
    let Crisp { y, cells } = crisp(emit, plan, &found, state);
    let bounds = bounds(emit, plan, &found, state);
    let mut doubt = doubt(emit, plan, &y, bounds.as_ref());
    // With a dead time a refused input reaches the regressor later, but is answered now.
    if let Some(u) = u {
        let zero = emit.scalar("zero", 0.0);
        let refused = emit.apply("Mul", &[u, &zero]);
        let refused = emit.sum(&refused, 0);
        doubt = emit.apply("Add", &[&doubt, &refused]);
    }
    let newest = emit.apply("Add", &[&y, &doubt]);
    let (y, sides) = match (&plan.body, bounds) {
        (Body::Networks(_) | Body::StateSpace(_), Some(bounds)) => network_sides(emit, plan, &newest, &doubt, &bounds),
        (Body::Linear(linear), _) => (newest.clone(), linear_sides(emit, linear)),
        _ => unreachable!("networks have bounds"),
    };
    let y = physical(emit, plan, &y);
    let (share, ahead) = share_ahead(emit, plan, state).unzip();
    let [below, above] = calibrated(emit, plan, sides).map(|side| match &share {
        Some(share) => emit.apply("Mul", &[&side, share]),
        None => side,
    });
    let bounds = [
        emit.apply("Sub", &[&y, &below]),
        y.clone(),
        emit.apply("Add", &[&y, &above]),
    ];
    let [lower, y, upper] = bounds.map(|value| limited(emit, plan, value));
    let (extrapolated, watched) = alarm(emit, plan, &found, state, &y).unzip();
    Outcome {
        lower,
        upper,
        y,
        extrapolated,
        doubt,
        next: State {
            inputs: found.past_inputs,
            outputs: pushed_outputs(emit, plan, &newest, state),
            cells,
            watched,
            ahead,
        },
    }
}

/// The crisp step of all members, ARX being one.
fn crisp(emit: &mut Emitter, plan: &StepProgram, found: &Regressor, state: &State) -> Crisp {
    match &plan.body {
        Body::Linear(linear) => Crisp {
            y: arx(emit, linear, &found.x),
            cells: Vec::new(),
        },
        Body::Networks(networks) => Networks::new(networks).crisp(emit, &found.x, &found.last, state),
        Body::StateSpace(models) => state_space(plan, models).crisp(emit, found, state),
    }
}

/// Bounds of the outputs of all networks `[members, 1, outputs]`; ARX has none but a constant width.
fn bounds(emit: &mut Emitter, plan: &StepProgram, found: &Regressor, state: &State) -> Option<Bounds> {
    match &plan.body {
        Body::Linear(_) => None,
        Body::Networks(networks) => Some(Networks::new(networks).bounds(emit, &found.x, &found.last, state)),
        Body::StateSpace(models) => Some(state_space(plan, models).bounds(emit, found, state)),
    }
}

fn state_space<'a>(plan: &StepProgram, models: &'a StateSpacePlan) -> StateSpace<'a> {
    StateSpace::new(models, plan.inputs.len(), plan.outputs.len())
}

/// The crisp step alone, for the warm-up: [`doubt`] about its outputs, the cells after, and what the alarm then looks at.
pub(super) fn crisp_step(
    emit: &mut Emitter,
    plan: &StepProgram,
    found: &Regressor,
    state: &State,
) -> (Value, Vec<[Value; 2]>, Option<Value>) {
    let Crisp { y, cells } = crisp(emit, plan, found, state);
    let doubt = doubt(emit, plan, &y, None);
    let watched = state.watched.as_ref().map(|past| {
        let mean = match plan.members() {
            1 => y,
            _ => sound_mean(emit, &y, &doubt),
        };
        let y = physical(emit, plan, &mean);
        let y = limited(emit, plan, y);
        pushed_watched(emit, plan, past, &y)
    });
    (doubt, cells, watched)
}

/// A of ARX, transposed.
pub(super) fn arx_weight(emit: &mut Emitter, linear: &LinearPlan) -> Value {
    let outputs = linear.bias.len();
    let length = linear.weight.len() / outputs;
    let entries = (0..length).flat_map(|column| (0..outputs).map(move |row| row * length + column));
    emit.real("arx.weight", &[1, length, outputs], entries.map(|at| linear.weight[at]))
}

/// ŷ = A·x + b
fn arx(emit: &mut Emitter, linear: &LinearPlan, x: &Value) -> Value {
    let outputs = linear.bias.len();
    let weight = arx_weight(emit, linear);
    let bias = emit.real("arx.bias", &[1, 1, outputs], linear.bias.iter().copied());
    let product = emit.apply("MatMul", &[x, &weight]);
    emit.apply("Add", &[&product, &bias])
}

/// The sides of ARX's band, in physical units.
fn linear_sides(emit: &mut Emitter, linear: &LinearPlan) -> [Value; 2] {
    let count = [linear.half_width.len()];
    let side = emit.real("arx.half_width", &count, linear.half_width.iter().copied());
    [side.clone(), side]
}

/// The prediction of all networks, normalised, and the sides of their band in physical units.
fn network_sides(
    emit: &mut Emitter,
    plan: &StepProgram,
    newest: &Value,
    doubt: &Value,
    [lower, upper]: &Bounds,
) -> (Value, [Value; 2]) {
    // Rounding may push a bound past the centre where margins are zero.
    let zero = emit.scalar("zero", 0.0);
    let below = emit.apply("Sub", &[newest, lower]);
    let above = emit.apply("Sub", &[upper, newest]);
    let sides = [below, above].map(|side| emit.apply("Max", &[&side, &zero]));
    let (y, sides) = match plan.members() {
        1 => (newest.clone(), sides),
        _ => ensemble(emit, plan, newest, doubt, &sides),
    };
    let outputs = plan.outputs.len();
    let std = emit.real(
        "output.std",
        &[outputs],
        output_scales(plan).iter().map(|scale| scale.std),
    );
    let sides = sides.map(|side| {
        let side = emit.reshape(&side, &[outputs]);
        emit.apply("Mul", &[&side, &std])
    });
    (y, sides)
}

/// Zero, or not a number where any output of a member has left every sensible range or has no finite bounds; `[members, 1, 1]`.
/// Added to what the member feeds back, it stays for the rest of the run.
fn doubt(emit: &mut Emitter, plan: &StepProgram, y: &Value, bounds: Option<&Bounds>) -> Value {
    let limit = emit.scalar("diverged", plan.diverged);
    let mut sensible = within(emit, y, &limit);
    for bound in bounds.into_iter().flatten() {
        let largest = emit.largest();
        let is_finite = within(emit, bound, &largest);
        sensible = emit.apply("And", &[&sensible, &is_finite]);
    }
    let (zero, nan) = (emit.scalar("zero", 0.0), emit.scalar("not_a_number", f64::NAN));
    let outputs = emit.apply("Where", &[&sensible, &zero, &nan]);
    emit.sum(&outputs, 2)
}

/// Whether magnitudes are at most a limit; not where they are no numbers.
fn within(emit: &mut Emitter, value: &Value, limit: &Value) -> Value {
    let size = emit.apply("Abs", &[value]);
    emit.apply("LessOrEqual", &[&size, limit])
}

/// The mean of the members that are in range and of the sides of their bands, which widen where the members disagree.
fn ensemble(
    emit: &mut Emitter,
    plan: &StepProgram,
    y: &Value,
    doubt: &Value,
    sides: &[Value; 2],
) -> (Value, [Value; 2]) {
    let centre = sound_mean(emit, y, doubt);
    let [below, above] = [&sides[0], &sides[1]].map(|side| sound_mean(emit, side, doubt));
    let apart = emit.apply("Sub", &[y, &centre]);
    let square = emit.apply("Mul", &[&apart, &apart]);
    let variance = sound_mean(emit, &square, doubt);
    let squares = plan.outputs.iter().map(|output| output.spread.factor.powi(2));
    let factor = emit.real("spread_squared", &[plan.outputs.len()], squares);
    let floors = plan.outputs.iter().map(|output| output.spread.floor / output.scale.std);
    let floor = emit.real("spread_floor", &[plan.outputs.len()], floors);
    let spread = emit.apply("Mul", &[&variance, &factor]);
    let sides = [below, above].map(|side| {
        let side = emit.apply("Max", &[&side, &floor]);
        let square = emit.apply("Mul", &[&side, &side]);
        let sum = emit.apply("Add", &[&square, &spread]);
        emit.apply("Sqrt", &[&sum])
    });
    (centre, sides)
}

/// The mean of values `[members, 1, outputs]` over the members without doubt; not a number where none is left.
fn sound_mean(emit: &mut Emitter, value: &Value, doubt: &Value) -> Value {
    let (zero, one) = (emit.scalar("zero", 0.0), emit.scalar("one", 1.0));
    let out = emit.apply("IsNaN", &[doubt]);
    let counted = emit.apply("Where", &[&out, &zero, &one]);
    let count = emit.sum(&counted, 0);
    let kept = emit.apply("Where", &[&out, &zero, value]);
    let sum = emit.sum(&kept, 0);
    emit.apply("Div", &[&sum, &count])
}

/// y·std + mean, `[outputs]`.
fn physical(emit: &mut Emitter, plan: &StepProgram, y: &Value) -> Value {
    let (outputs, scales) = (plan.outputs.len(), output_scales(plan));
    let y = emit.reshape(y, &[outputs]);
    let std = emit.real("output.std", &[outputs], scales.iter().map(|scale| scale.std));
    let mean = emit.real("output.mean", &[outputs], scales.iter().map(|scale| scale.mean));
    let spread = emit.apply("Mul", &[&y, &std]);
    emit.apply("Add", &[&spread, &mean])
}

/// A value `[outputs]` inside the physical limits; what is not a number stays so.
fn limited(emit: &mut Emitter, plan: &StepProgram, value: Value) -> Value {
    if !plan.is_limited() {
        return value;
    }
    let count = [plan.outputs.len()];
    let ends = |end: fn(&OutputPlan) -> f64| plan.outputs.iter().map(end).collect::<Vec<f64>>();
    let least = ends(|output| output.range.least.unwrap_or(-LARGEST));
    let most = ends(|output| output.range.most.unwrap_or(LARGEST));
    let least = emit.real("range.least", &count, least);
    let most = emit.real("range.most", &count, most);
    let is_below = emit.apply("Less", &[&value, &least]);
    let raised = emit.apply("Where", &[&is_below, &least, &value]);
    let is_above = emit.apply("Greater", &[&raised, &most]);
    emit.apply("Where", &[&is_above, &most, &raised])
}

/// An end that no output reaches, in single precision too.
const LARGEST: f64 = f32::MAX as f64;

/// The sides of the band, in physical units, as the calibration scales them.
fn calibrated(emit: &mut Emitter, plan: &StepProgram, sides: [Value; 2]) -> [Value; 2] {
    let scalings: Option<Vec<_>> = plan.outputs.iter().map(|output| output.calibration).collect();
    let Some(scalings) = scalings else {
        return sides;
    };
    let count = [scalings.len()];
    let floor = emit.real(
        "calibration.floor",
        &count,
        scalings.iter().map(|scaling| scaling.floor),
    );
    let factors = [
        emit.real(
            "calibration.lower",
            &count,
            scalings.iter().map(|scaling| scaling.lower),
        ),
        emit.real(
            "calibration.upper",
            &count,
            scalings.iter().map(|scaling| scaling.upper),
        ),
    ];
    let [below, above] = sides;
    [(below, &factors[0]), (above, &factors[1])].map(|(side, factor)| {
        let side = emit.apply("Max", &[&side, &floor]);
        emit.apply("Mul", &[&side, factor])
    })
}
