//! A model as a linear system around a point.

use std::borrow::Cow;

use intervalid_data::{Channel, Dataset, Scale, Trend};
use intervalid_model::{Model, ModelKind};
use nalgebra::DMatrix;
use serde::Serialize;

use crate::certified::EnclosedSystem;
use crate::error::Result;
use crate::linear_system::{LinearSystem, MemberSystem, Place, PoleView};
use crate::operating_point::{OperatingPoint, PointRequest};
use crate::step_map::StepMap;

/// Draws of the parameters inside their margins.
const SAMPLES: usize = 100;
/// Fewer for members with many states, whose eigenvalues take long.
const SAMPLES_OF_LARGE: usize = 30;
const LARGE: usize = 40;
/// A fixed start of the draws, so that equal models give equal intervals.
const SEED: u64 = 20;

/// A matrix, row by row.
pub type Rows = Vec<Vec<f64>>;

/// A model around a point, in physical units: x(k+1) = A·x(k) + B·u(k), ŷ(k) = C·x(k) + D·u(k), all of them deviations from the point.
///
/// **What it is.** The exact Jacobians of the model's one-step map in its own states: past inputs and outputs, or hidden states. Of a
/// model that averages several members the states of all of them stand side by side and ŷ is their mean.
///
/// **What it is not.** Valid far from the point. Off a steady state the linear system does not say that the point itself moves, by
/// [`OperatingPoint::drift`].
#[derive(Clone, Debug, Serialize)]
pub struct Linearisation {
    /// Which model.
    pub model: ModelKind,
    /// How many members it averages.
    pub members: usize,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
    /// What times are in: `s`, or `samples` where the sample time is not known.
    pub time_unit: &'static str,
    /// Inputs.
    pub inputs: Vec<Channel>,
    /// Outputs.
    pub outputs: Vec<Channel>,
    /// What the states are.
    pub states: Vec<String>,
    /// Where.
    pub operating_point: OperatingPoint,
    /// A.
    pub a: Rows,
    /// B.
    pub b: Rows,
    /// C.
    pub c: Rows,
    /// D.
    pub d: Rows,
    /// Of every member, largest first; those of the remembered inputs, all in the origin, are left out.
    pub poles: Vec<PoleView>,
    /// Whether all poles lie inside the unit circle.
    pub is_stable: bool,
    /// One per output and input.
    pub channels: Vec<ChannelView>,
    /// How far the matrices may be off; none where the model says nothing about its parameters.
    pub intervals: Option<Intervals>,
    /// What the model takes out of data: all that is seen here is without it.
    #[serde(skip)]
    pub(crate) trend: Option<Trend>,
    #[serde(skip)]
    pub(crate) systems: Vec<MemberSystem>,
    /// Draws inside the margins, each of all members.
    #[serde(skip)]
    pub(crate) draws: Vec<Vec<MemberSystem>>,
    /// All that the margins allow, of every member; none where there are no margins and one member.
    #[serde(skip)]
    pub(crate) enclosed: Vec<EnclosedSystem>,
    /// Physical units of one normalised unit of a response, column-major over outputs and inputs.
    #[serde(skip)]
    pub(crate) units: Vec<f64>,
}

/// One input to one output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelView {
    /// Name of the input.
    pub input: String,
    /// Name of the output.
    pub output: String,
    /// Samples before a change of the input is seen.
    pub delay: usize,
    /// Change of the output at rest per unit of the input; none where a pole at one leaves no rest.
    pub gain: Option<f64>,
    /// Least and greatest gain of the members and of draws inside the margins, the unstable left out.
    pub gain_range: Option<[f64; 2]>,
    /// Zeros of the transfer function.
    pub zeros: Vec<Place>,
}

/// Element by element the least and greatest value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// `margins`: draws inside the margins of the parameters; `members`: the members of an average; `members and margins`: both.
    pub from: &'static str,
    /// Draws.
    pub samples: usize,
    /// Draws whose poles all lie inside the unit circle.
    pub stable_samples: usize,
    /// Of A.
    pub a: [Rows; 2],
    /// Of B.
    pub b: [Rows; 2],
    /// Of C.
    pub c: [Rows; 2],
    /// Of D.
    pub d: [Rows; 2],
}

impl Linearisation {
    /// Linearises a model at a point.
    ///
    /// # Errors
    /// If the model cannot run step by step, or the point cannot be had ([`OperatingPoint::new`]).
    pub fn new(model: &Model, request: &PointRequest) -> Result<Self> {
        let map = StepMap::new(model)?;
        let point = OperatingPoint::new(&map, request)?;
        Self::at(&map, point, model.interface().trend.clone())
    }

    /// A record as the model's step sees it: without the model's trend.
    pub(crate) fn level<'a>(&self, dataset: &'a Dataset) -> Cow<'a, Dataset> {
        match &self.trend {
            Some(trend) => Cow::Owned(trend.remove(dataset)),
            None => Cow::Borrowed(dataset),
        }
    }

    fn at(map: &StepMap, point: OperatingPoint, trend: Option<Trend>) -> Result<Self> {
        let systems = member_systems(map, &point);
        let whole = LinearSystem::mean(&systems);
        let sample_time = map.program().sample_time;
        let samples = match (map.has_margins(), map.layout.own > LARGE) {
            (false, _) => 0,
            (true, false) => SAMPLES,
            (true, true) => SAMPLES_OF_LARGE,
        };
        let draws: Vec<Vec<MemberSystem>> = (0..samples)
            .map(|sample| member_systems(&map.sampled(SEED + sample as u64), &point))
            .collect();
        let mut poles = Vec::new();
        for system in &systems {
            poles.extend(system.poles()?);
        }
        poles.sort_by(|a, b| b.norm().total_cmp(&a.norm()).then(b.im.total_cmp(&a.im)));
        let poles: Vec<PoleView> = poles
            .into_iter()
            .map(|pole| PoleView::new(pole, sample_time.unwrap_or(1.0)))
            .collect();
        let mut stable = Vec::new();
        for draw in &draws {
            stable.push(is_stable(draw)?);
        }
        let intervals = intervals(
            map,
            &systems,
            &whole,
            &draws,
            stable.iter().filter(|stable| **stable).count(),
        );
        let gains = gains(
            &systems,
            draws
                .iter()
                .zip(&stable)
                .filter(|(_, stable)| **stable)
                .map(|(draw, _)| draw),
        )?;
        let mut found = Self {
            model: map.kind(),
            members: systems.len(),
            sample_time,
            time_unit: if sample_time.is_some() { "s" } else { "samples" },
            inputs: map.input_channels(),
            outputs: map.output_channels(),
            states: map.state_names(),
            a: rows(&whole.a),
            b: rows(&whole.b),
            c: rows(&whole.c),
            d: rows(&whole.d),
            is_stable: poles.iter().all(|pole| pole.magnitude < 1.0),
            poles,
            channels: Vec::new(),
            intervals,
            enclosed: match map.has_margins() || systems.len() > 1 {
                true => EnclosedSystem::members(map, &point),
                false => Vec::new(),
            },
            units: units(map),
            operating_point: point,
            trend,
            systems,
            draws,
        };
        let gain = whole.gain();
        for (output, output_channel) in found.outputs.iter().enumerate() {
            for (input, input_channel) in found.inputs.iter().enumerate() {
                let (delay, zeros) = whole.zeros(output, input)?;
                found.channels.push(ChannelView {
                    input: input_channel.name.clone(),
                    output: output_channel.name.clone(),
                    delay,
                    gain: gain.as_ref().map(|gain| gain[(output, input)]),
                    gain_range: range(gains.iter().map(|gain| gain[(output, input)])),
                    zeros: zeros.into_iter().map(Place::from).collect(),
                });
            }
        }
        Ok(found)
    }

    /// Seconds between samples, or one sample where that is not known.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.sample_time.unwrap_or(1.0)
    }

    /// Past inputs that the model remembers.
    pub(crate) fn remembered(&self) -> usize {
        let taps = self.systems.iter().map(|system| system.b.len());
        taps.max().map_or(0, |taps| taps - 1)
    }

    /// Whether the answer to a step lacks no more than a share of its rest after so many samples, `[(output, input)]`.
    pub(crate) fn comes_to_rest(&self, samples: usize, share: f64) -> DMatrix<bool> {
        // Member by member: that of all of them has many times the states.
        let of_member = |member: &MemberSystem| LinearSystem::mean(std::slice::from_ref(member)).lacking(samples);
        let lacking: Option<Vec<DMatrix<f64>>> = self.systems.iter().map(of_member).collect();
        let lacking = lacking.map(|members| members.iter().sum::<DMatrix<f64>>() / self.systems.len() as f64);
        let (outputs, inputs) = (self.outputs.len(), self.inputs.len());
        DMatrix::from_fn(outputs, inputs, |output, input| {
            let gain = self.channels[output * inputs + input].gain;
            let lacking = lacking.as_ref().map(|lacking| lacking[(output, input)]);
            gain.zip(lacking)
                .is_some_and(|(gain, lacking)| lacking.abs() <= share * gain.abs())
        })
    }

    /// What the reader should know before using it, in words.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.trend.is_some() {
            notes.push(
                "The model takes a straight line out of its data: values here, those of recordings and limits of outputs too, are without it, as in the middle of the training part."
                    .to_owned(),
            );
        }
        let point = &self.operating_point;
        if point.is_extrapolated == Some(true) {
            notes.push(
                "The point lies outside the region of the training data: nothing here was learnt from the plant."
                    .to_owned(),
            );
        }
        if !point.is_steady {
            let moves = self.outputs.iter().zip(&point.drift);
            let words: Vec<String> = moves
                .map(|(channel, drift)| format!("{} by {drift:.4e}", channel.name))
                .collect();
            notes.push(format!(
                "The point is not steady: left alone, the model moves {} in the next sample. The linear system describes deviations \
                 from that motion.",
                words.join(", ")
            ));
        }
        if self.members > 1 {
            notes.push(format!(
                "The model is the mean of {} members: their states stand side by side, and the output is the mean of theirs.",
                self.members
            ));
        }
        if !self.is_stable {
            notes.push("A pole lies on or outside the unit circle: a free run does not settle here.".to_owned());
        }
        if let Some(intervals) = &self.intervals
            && intervals.stable_samples < intervals.samples
        {
            notes.push(format!(
                "{} of {} draws inside the margins are unstable: the margins are sized for a band of one step, and gains and responses \
                 leave these draws out.",
                intervals.samples - intervals.stable_samples,
                intervals.samples
            ));
        }
        notes
    }
}

/// The members around the point, in physical units.
pub(crate) fn member_systems(map: &StepMap, point: &OperatingPoint) -> Vec<MemberSystem> {
    let layout = &map.layout;
    let (shared, own, inputs) = (layout.shared(), layout.own, layout.inputs);
    let own_units = map.own_units();
    let input_units: Vec<f64> = map.input_scales().iter().map(|scale| scale.std).collect();
    let output_units: Vec<f64> = map.output_scales().iter().map(|scale| scale.std).collect();
    let scaled = |block: DMatrix<f64>, rows: &[f64], columns: &[f64]| {
        DMatrix::from_fn(block.nrows(), block.ncols(), |row, column| {
            block[(row, column)] * rows[row] / columns[column]
        })
    };
    let of_member = |member: usize| {
        let z = map.at_rest(&point.normalised_inputs, &point.own[member]);
        let step = map.derivatives(member, z);
        let taps = |slope: &DMatrix<f64>, units: &[f64]| {
            let now = slope.columns(shared + own, inputs).into_owned();
            let past = (0..layout.remembered).map(|age| slope.columns(age * inputs, inputs).into_owned());
            let taps = std::iter::once(now).chain(past);
            taps.map(|tap| scaled(tap, units, &input_units)).collect::<Vec<_>>()
        };
        MemberSystem {
            a: scaled(
                step.next.slope.columns(shared, own).into_owned(),
                &own_units,
                &own_units,
            ),
            b: taps(&step.next.slope, &own_units),
            c: scaled(
                step.output.slope.columns(shared, own).into_owned(),
                &output_units,
                &own_units,
            ),
            d: taps(&step.output.slope, &output_units),
        }
    };
    (0..map.members.len()).map(of_member).collect()
}

fn units(map: &StepMap) -> Vec<f64> {
    let outputs = map.output_scales();
    let of_input = |input: Scale| {
        outputs
            .iter()
            .map(move |output| output.std / input.std)
            .collect::<Vec<_>>()
    };
    map.input_scales().into_iter().flat_map(of_input).collect()
}

pub(crate) fn is_stable(members: &[MemberSystem]) -> Result<bool> {
    for member in members {
        if member.poles()?.first().is_some_and(|pole| pole.norm() >= 1.0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gains of the stable members one by one and of the draws as a whole.
fn gains<'a>(
    systems: &[MemberSystem],
    draws: impl Iterator<Item = &'a Vec<MemberSystem>>,
) -> Result<Vec<DMatrix<f64>>> {
    let mut found = Vec::new();
    if systems.len() > 1 {
        for system in systems {
            if is_stable(std::slice::from_ref(system))? {
                found.extend(LinearSystem::mean(std::slice::from_ref(system)).gain());
            }
        }
    }
    found.extend(draws.filter_map(|draw| LinearSystem::mean(draw).gain()));
    Ok(found)
}

pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |range, value| match range {
        None => Some([value, value]),
        Some([least, most]) => Some([least.min(value), most.max(value)]),
    })
}

fn intervals(
    map: &StepMap,
    systems: &[MemberSystem],
    whole: &LinearSystem,
    draws: &[Vec<MemberSystem>],
    stable_samples: usize,
) -> Option<Intervals> {
    // Where states are past outputs the members say how far a coefficient may be off; hidden states of two members have nothing in common.
    let compares_members = systems.len() > 1 && map.states_are_lags();
    let from = match (compares_members, draws.is_empty()) {
        (false, true) => return None,
        (true, true) => "members",
        (false, false) => "margins",
        (true, false) => "members and margins",
    };
    let mut variants: Vec<LinearSystem> = draws.iter().map(|draw| LinearSystem::mean(draw)).collect();
    if compares_members {
        // Every member in every place.
        variants.extend(
            systems
                .iter()
                .map(|system| LinearSystem::mean(&vec![system.clone(); systems.len()])),
        );
    }
    let bounds = |pick: fn(&LinearSystem) -> &DMatrix<f64>| {
        let (mut least, mut most) = (pick(whole).clone(), pick(whole).clone());
        for variant in &variants {
            least = least.inf(pick(variant));
            most = most.sup(pick(variant));
        }
        [rows(&least), rows(&most)]
    };
    Some(Intervals {
        from,
        samples: draws.len(),
        stable_samples,
        a: bounds(|system| &system.a),
        b: bounds(|system| &system.b),
        c: bounds(|system| &system.c),
        d: bounds(|system| &system.d),
    })
}

pub(crate) fn rows(matrix: &DMatrix<f64>) -> Rows {
    matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
}
