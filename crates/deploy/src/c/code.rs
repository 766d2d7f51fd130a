//! Header and source file from a plan.

use intervalid_interval::kernel::{TANH_DENOMINATOR, TANH_NUMERATOR};
use intervalid_model::{CoverageTest, ModelKind, Precision};
use minijinja::{Environment, Value, context};

use super::footprint::{Footprint, widest, width};
use super::literal::{CNumber, comment};
use super::monitor::{monitor_bytes, monitor_context};
use super::tables::{network_tables, state_space_tables};
use crate::error::{DeployError, Result};
use crate::step_program::{Base, Body, StepProgram};

/// Number type of exported code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CPrecision {
    /// `float`
    Float,
    /// `double`
    Double,
}

/// How to write C.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct COptions {
    /// Prefix of all names, and of the files.
    pub name: String,
    /// Number type; the model's own where none is given.
    pub precision: Option<CPrecision>,
    /// Whether to add a function that gives the exact derivatives of a step.
    pub jacobian: bool,
    /// The watch over the model to add, if any.
    pub monitor: Option<CoverageTest>,
}

/// Exported C.
#[derive(Clone, Debug, PartialEq)]
pub struct CCode {
    /// Prefix of all names: the files are `<name>.h` and `<name>.c`.
    pub name: String,
    /// The header.
    pub header: String,
    /// The source file.
    pub source: String,
    /// Number type of inputs and outputs.
    pub precision: CPrecision,
    /// Memory it takes.
    pub footprint: Footprint,
    /// RAM of a watch, where there is one.
    pub monitor_bytes: Option<usize>,
}

/// Number types of a step: of its arguments and of the network itself. Normalisation and bands are computed in double, as
/// `predict` does: they are few operations, and differences of nearly equal numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) interface: CNumber,
    pub(crate) inner: CNumber,
}

impl Numbers {
    /// Everything in one precision. ARX takes few operations and errors of its free run add up: it is always computed in
    /// double.
    pub(crate) fn uniform(plan: &StepProgram, real: CNumber) -> Self {
        let inside = match plan.kind {
            ModelKind::Arx => CNumber::Double,
            _ => real,
        };
        Self {
            interface: real,
            inner: inside,
        }
    }

    /// As `predict` computes: arguments and bands in double, the network in its own precision.
    pub(crate) fn of_predict(plan: &StepProgram) -> Self {
        Self {
            interface: CNumber::Double,
            inner: match plan.precision {
                Precision::F32 => CNumber::Float,
                Precision::F64 => CNumber::Double,
            },
        }
    }
}

/// The step of a plan in C99: no dependency but `<math.h>`, no dynamic memory, no globals.
///
/// # Errors
/// [`DeployError::Name`] if the name is no C identifier.
pub fn c_code(plan: &StepProgram, options: &COptions) -> Result<CCode> {
    check_name(&options.name)?;
    let real = number(plan, options.precision);
    let precision = match real {
        CNumber::Float => CPrecision::Float,
        CNumber::Double => CPrecision::Double,
    };
    let numbers = Numbers::uniform(plan, real);
    let (header, source) = render(
        plan,
        &options.name,
        numbers,
        (options.jacobian, options.monitor.as_ref()),
    );
    Ok(CCode {
        name: options.name.clone(),
        header,
        source,
        precision,
        footprint: Footprint::new(plan, numbers),
        monitor_bytes: options.monitor.as_ref().map(monitor_bytes),
    })
}

/// The number type that was asked for, or the model's own.
pub(super) fn number(plan: &StepProgram, precision: Option<CPrecision>) -> CNumber {
    match (precision, plan.precision) {
        (Some(CPrecision::Float), _) | (None, Precision::F32) => CNumber::Float,
        (Some(CPrecision::Double), _) | (None, Precision::F64) => CNumber::Double,
    }
}

/// Whether a name can prefix names in C.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
    if starts && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') && name.len() <= 60 {
        return Ok(());
    }
    Err(DeployError::Name { name: name.to_owned() })
}

/// A name for exported code made from any text, such as the stem of a file.
#[must_use]
pub fn identifier(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .take(50)
        .collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert_str(0, "model_");
    }
    name
}

/// Header and source; with derivatives, and with a watch.
pub(crate) fn render(
    plan: &StepProgram,
    name: &str,
    numbers: Numbers,
    (jacobian, monitor): (bool, Option<&CoverageTest>),
) -> (String, String) {
    let mut environment = Environment::new();
    let templates = [
        ("model.h", include_str!("model.h.jinja")),
        ("model.c", include_str!("model.c.jinja")),
        ("layers.c", include_str!("layers.c.jinja")),
        ("maps.c", include_str!("maps.c.jinja")),
        ("jacobian.c", include_str!("jacobian.c.jinja")),
        ("monitor.h", include_str!("monitor.h.jinja")),
        ("monitor.c", include_str!("monitor.c.jinja")),
    ];
    for (name, template) in templates {
        environment
            .add_template(name, template)
            .unwrap_or_else(|error| unreachable!("template {name}: {error:#}"));
    }
    let context =
        context! { jacobian => jacobian, monitor => monitor.map(monitor_context), ..context(plan, name, numbers) };
    let render = |template: &str| {
        let text = environment
            .get_template(template)
            .and_then(|template| template.render(&context))
            .unwrap_or_else(|error| unreachable!("the template fits its context: {error:#}"));
        text + "\n"
    };
    (render("model.h"), render("model.c"))
}

fn context(plan: &StepProgram, name: &str, numbers: Numbers) -> Value {
    let Numbers { interface, inner } = numbers;
    let outer = CNumber::Double;
    let needs = plan.needs();
    let channel = |channel: &intervalid_data::Channel, scale: &intervalid_data::Scale| {
        context! {
            name => comment(&channel.name),
            unit => channel.unit.as_deref().map(comment),
            mean => format!("{:?}", scale.mean),
            std => format!("{:?}", scale.std),
        }
    };
    let outputs = || plan.outputs.iter();
    let calibration = |value: fn(&intervalid_model::Scaling) -> f64| {
        outer.list(outputs().filter_map(|output| output.calibration.as_ref()).map(value))
    };
    let online = plan.outputs[0].online;
    let shared = context! {
        name => comment(name),
        p => name,
        P => name.to_uppercase(),
        title => title(plan),
        band_words => plan.band_in_words().map(|words| wrapped(&comment(&words))),
        version => env!("CARGO_PKG_VERSION"),
        fingerprint => plan.fingerprint.clone(),
        magic => u32::from_str_radix(&plan.fingerprint[..8], 16).unwrap_or(1).max(1),
        sample_time => plan.sample_time.map(|seconds| seconds.to_string()),
        sample_limit_text => format!("{:e}", plan.sample_limit),
        coverage_percent => ((1e4 * plan.coverage).round() / 100.0).to_string(),
        inputs => plan.inputs.iter().map(|input| channel(&input.channel, &input.scale)).collect::<Vec<_>>(),
        outputs => outputs().map(|output| channel(&output.channel, &output.scale)).collect::<Vec<_>>(),
        nx => plan.lags.nx,
        nd => plan.lags.nd,
        ny => plan.lags.ny,
        nu => plan.inputs.len(),
        nout => plan.outputs.len(),
        past_inputs => needs.inputs,
        least_past_inputs => needs.least_inputs,
        past_outputs => needs.outputs,
        useful_past_outputs => plan.useful_outputs(),
        warmup => needs.least_inputs > 0,
        members => plan.members(),
        remembered => plan.remembered_inputs() * plan.inputs.len(),
        output_lags => plan.output_lags_len(),
        regressor => plan.regressor_len(),
        cells => plan.cell_states(),
        own => plan.own_states(),
        own_lags => plan.own_output_lags(),
        all_states => plan.state_len(),
    };
    let constants = context! {
        interface => interface.name(),
        inner => inner.name(),
        largest => outer.literal(f64::MAX),
        input_mean => outer.list(plan.inputs.iter().map(|input| input.scale.mean)),
        input_std => outer.list(plan.inputs.iter().map(|input| input.scale.std)),
        output_mean => outer.list(outputs().map(|output| output.scale.mean)),
        output_std => outer.list(outputs().map(|output| output.scale.std)),
        diverged => inner.literal(plan.diverged),
        sample_limit => outer.literal(plan.sample_limit),
        spread_squared => outer.list(outputs().map(|output| output.spread.factor * output.spread.factor)),
        spread_floor => outer.list(outputs().map(|output| output.spread.floor / output.scale.std)),
        tanh_top => TANH_NUMERATOR.map(|value| inner.literal(value.into())),
        tanh_bottom => TANH_DENOMINATOR.map(|value| inner.literal(value.into())),
        calibrated => plan.outputs[0].calibration.is_some(),
        calibration_lower => calibration(|scaling| scaling.lower),
        calibration_upper => calibration(|scaling| scaling.upper),
        calibration_floor => calibration(|scaling| scaling.floor),
        limited => plan.is_limited(),
        range_least => outer.list(outputs().map(|output| output.range.least.unwrap_or(-f64::MAX))),
        range_most => outer.list(outputs().map(|output| output.range.most.unwrap_or(f64::MAX))),
        online_floor => outer.list(outputs().map(|output| output.online.floor)),
        online_start => outer.list(outputs().map(|output| output.online.start)),
        online_grow => outer.literal(online.grow),
        online_shrink => outer.literal(online.shrink),
        online_least => outer.literal(online.limits.0),
        online_most => outer.literal(online.limits.1),
    };
    let body = match &plan.body {
        Body::Linear(linear) => context! {
            body => "linear",
            linear_weight => inner.rows(&linear.weight),
            linear_bias => inner.list(linear.bias.iter().copied()),
            half_width => outer.list(linear.half_width.iter().copied()),
        },
        Body::Networks(networks) => context! {
            body => "layers",
            lstm => networks.lstm,
            layers => networks.hidden.len() + 1,
            width => width(plan),
            widest => widest(&networks.hidden),
            base => match networks.base {
                Base::Zero => "zero",
                Base::LastOutput => "last",
                Base::Linear => "linear",
            },
            tables => network_tables(networks, inner),
        },
        Body::StateSpace(models) => context! {
            body => "maps",
            states => models.states,
            units => models.units().into_iter().max(),
            tables => state_space_tables(models, inner),
        },
    };
    let region = plan.region.as_ref().map_or_else(
        || context! { region => false },
        |region| {
            context! {
                region => true,
                region_outputs => plan.watched_outputs_len(),
                region_lags => region.lags.ny,
                region_len => region.centre.len(),
                region_whitening_len => region.whitening.iter().map(Vec::len).sum::<usize>(),
                region_centre => outer.list(region.centre.iter().copied()),
                region_whitening => outer.rows(&region.whitening.concat()),
                region_limit => outer.literal(region.limit),
                region_box => !region.lowest.is_empty(),
                region_lowest => outer.list(region.lowest.iter().copied()),
                region_highest => outer.list(region.highest.iter().copied()),
                // A history is no part of the run: the alarm then sees what was measured, after a warm-up what was predicted.
                history => plan.initial.looks_back() > 0,
            }
        },
    );
    let horizons = plan.horizons.as_ref().map_or_else(
        || context! { horizons => 0 },
        |known| {
            let steps = || known.horizons.iter().map(|&steps| steps as f64);
            context! {
                horizons => known.horizons.len(),
                horizon_last => known.horizons.last(),
                horizon_steps => outer.list(steps()),
                horizon_place => outer.list(steps().map(f64::ln)),
                horizon_scale => outer.rows(&known.scales.concat()),
            }
        },
    );
    context! { ..shared, ..constants, ..body, ..region, ..horizons }
}

fn title(plan: &StepProgram) -> String {
    let kind = match &plan.body {
        Body::Linear(_) => return "linear model (ARX)".to_owned(),
        Body::Networks(networks) if plan.kind == ModelKind::Arx => {
            return format!("mean of {} linear models (ARX)", networks.members.len());
        }
        Body::Networks(networks) => {
            let kind = if networks.lstm {
                "interval LSTM"
            } else {
                "interval neural ODE"
            };
            let widths: Vec<String> = networks.hidden.iter().map(ToString::to_string).collect();
            format!("{kind} {}", widths.join("-"))
        }
        Body::StateSpace(models) => {
            let [state, output] = models.units().map(|units| counted(units, "unit"));
            let states = counted(models.states, "state");
            format!("interval state-space model with {states}, {state} in the state map and {output} in the output map")
        }
    };
    match plan.members() {
        1 => kind,
        count => format!("mean of {count} networks, {kind}"),
    }
}

/// Words in lines that fit into a header.
fn wrapped(words: &str) -> Vec<String> {
    const WIDTH: usize = 112;
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.len() - 1;
        match lines[last].is_empty() || lines[last].len() + 1 + word.len() <= WIDTH {
            true if lines[last].is_empty() => lines[last].push_str(word),
            true => lines[last] = format!("{} {word}", lines[last]),
            false => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `no units`, `1 unit`, `2 units`.
fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, TANH_ERROR_F32, tanh, with_level};

    use super::*;

    /// Against the standard library, which shares nothing with the tables that generated code gets.
    #[test]
    fn the_coefficients_of_generated_code_make_a_hyperbolic_tangent() {
        let polynomial = |square: f64, coefficients: &[f32]| {
            let terms = coefficients.iter().rev();
            terms.fold(0.0, |sum, &term| sum * square + f64::from(term))
        };
        let points = (-8000..=8000).map(|k| f64::from(k) * 1e-3);
        for x in points {
            let ratio = x * polynomial(x * x, &TANH_NUMERATOR) / polynomial(x * x, &TANH_DENOMINATOR);
            // In f64, what is left is the fit and the rounding of its coefficients to f32.
            assert!(
                (ratio - x.tanh()).abs() <= 1e-7,
                "tanh({x}) = {}, found {ratio}",
                x.tanh()
            );
        }
        for &level in SimdLevel::available() {
            let x: Vec<f32> = (-1000..=1000).map(|k| k as f32 * 0.0093).collect();
            let mut found = x.clone();
            with_level(level, || tanh(&mut found));
            for (&x, &found) in x.iter().zip(&found) {
                let exact = f64::from(x).tanh();
                let error = (f64::from(found) - exact).abs();
                assert!(
                    error <= f64::from(TANH_ERROR_F32),
                    "{level}: tanh({x}) = {exact}, found {found}"
                );
            }
        }
    }

    #[test]
    fn sizes_are_counted() {
        assert_eq!(
            [0, 1, 8].map(|count| counted(count, "unit")),
            ["no units", "1 unit", "8 units"]
        );
    }

    #[test]
    fn names_are_made_and_checked() {
        assert_eq!(identifier("hair-dryer 2"), "hair_dryer_2");
        assert_eq!(identifier("1st"), "model_1st");
        assert_eq!(identifier("ölofen"), "model__lofen");
        for good in ["a", "Dryer_2"] {
            check_name(good).unwrap();
        }
        for bad in ["", "2a", "a-b", "_a", "é"] {
            let message = check_name(bad).unwrap_err().to_string();
            assert!(message.contains(&format!("'{bad}'")), "{message}");
        }
    }
}
