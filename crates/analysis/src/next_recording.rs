//! What a recording leaves open: where data are missing or the band is wide.

use intervalid_data::Dataset;
use intervalid_model::Band;
use serde::Serialize;

use crate::error::{AnalysisError, Result};
use crate::frequency::FrequencyResponse;
use crate::linearise::Linearisation;

/// Parts of an input's range.
pub(crate) const BINS: usize = 10;
/// A part with less than this share of an even distribution is nearly unseen.
const RARE: f64 = 0.2;
/// A part whose band is so many times the median width is wide.
const WIDE: f64 = 1.3;
/// Below this coherence a frequency was hardly seen.
const INCOHERENT: f64 = 0.6;
/// Frequencies where the gain is below this share of its largest matter little.
pub(crate) const SMALL_GAIN: f64 = 0.03;

/// What a recording has not shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NextRecording {
    /// One per input.
    pub inputs: Vec<InputCoverage>,
    /// Stretches of frequency that matter and were hardly seen.
    pub frequencies: Vec<FrequencyGap>,
    /// The same in sentences.
    pub words: Vec<String>,
}

/// How often an input was where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputCoverage {
    /// The input.
    pub input: String,
    /// Parts of its range, or of the given limits.
    pub parts: Vec<InputPart>,
}

/// A part of an input's range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InputPart {
    /// From here.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// Share of the samples.
    pub share: f64,
    /// Mean width of the band there, as a multiple of the median over the record, mean of the outputs; none where nothing was simulated.
    pub width: Option<f64>,
    /// Whether it was hardly seen.
    pub is_rare: bool,
    /// Whether the band is wide there.
    pub is_wide: bool,
}

/// A stretch of frequency that was hardly seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequencyGap {
    /// The output whose answer is not seen.
    pub output: String,
    /// From here, in the unit of the frequency response.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// Mean coherence there.
    pub coherence: f64,
}

/// The limits of every input: those given by name, else the range of the data, else the training mean ± 2 standard deviations.
///
/// # Errors
/// If a name is no input, or limits are not two numbers in order.
pub fn input_limits(
    linear: &Linearisation,
    scales: &[intervalid_data::Scale],
    dataset: Option<&Dataset>,
    given: &[(String, [f64; 2])],
) -> Result<Vec<[f64; 2]>> {
    let names: Vec<&str> = linear.inputs.iter().map(|channel| channel.name.as_str()).collect();
    for (name, [low, high]) in given {
        if !names.contains(&name.as_str()) {
            return Err(AnalysisError::UnknownChannel {
                name: name.clone(),
                expected: names.join(", "),
            });
        }
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(AnalysisError::Option {
                option: "limit",
                found: format!("{name} from {low} to {high}"),
                expected: "two numbers, the smaller first".to_owned(),
            });
        }
    }
    let level = dataset.map(|dataset| linear.level(dataset));
    let limits = |(index, name): (usize, &&str)| {
        if let Some((_, limits)) = given.iter().find(|(given, _)| given == name) {
            return *limits;
        }
        match &level {
            Some(level) => (level
                .experiments()
                .iter()
                .flat_map(|experiment| experiment.input(index)))
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                [low.min(*value), high.max(*value)]
            }),
            None => [scales[index].to_physical(-2.0), scales[index].to_physical(2.0)],
        }
    };
    Ok(names.iter().enumerate().map(limits).collect())
}

/// What a recording and its simulation leave open.
#[must_use]
pub fn next_recording(
    linear: &Linearisation,
    response: Option<&FrequencyResponse>,
    (dataset, bands): (&Dataset, &[Band]),
    limits: &[[f64; 2]],
) -> NextRecording {
    let dataset = &*linear.level(dataset);
    let medians: Vec<f64> = (0..linear.outputs.len())
        .map(|output| median_width(bands, output))
        .collect();
    let mut words = Vec::new();
    let mut inputs = Vec::new();
    for (index, channel) in linear.inputs.iter().enumerate() {
        let [low, high] = limits[index];
        let place = |value: f64| (((value - low) / (high - low) * BINS as f64) as usize).min(BINS - 1);
        let (mut counts, mut widths) = ([0_usize; BINS], [(0.0, 0_usize); BINS]);
        let mut total = 0_usize;
        for value in dataset
            .experiments()
            .iter()
            .flat_map(|experiment| experiment.input(index))
        {
            total += 1;
            if (low..=high).contains(value) {
                counts[place(*value)] += 1;
            }
        }
        for band in bands {
            let values = &dataset.experiments()[band.experiment].input(index)[band.first..];
            for (step, value) in values
                .iter()
                .take(band.len())
                .enumerate()
                .filter(|(_, value)| (low..=high).contains(*value))
            {
                let relative = (0..medians.len())
                    .map(|output| (band.upper[output][step] - band.lower[output][step]) / medians[output]);
                let entry = &mut widths[place(*value)];
                entry.0 += relative.sum::<f64>() / medians.len() as f64;
                entry.1 += 1;
            }
        }
        let part = |bin: usize| {
            let share = counts[bin] as f64 / total.max(1) as f64;
            let width = (widths[bin].1 > 0)
                .then(|| widths[bin].0 / widths[bin].1 as f64)
                .filter(|width| width.is_finite());
            InputPart {
                from: low + (high - low) * bin as f64 / BINS as f64,
                to: low + (high - low) * (bin + 1) as f64 / BINS as f64,
                share,
                width,
                is_rare: share < RARE / BINS as f64,
                is_wide: width.is_some_and(|width| width > WIDE),
            }
        };
        let parts: Vec<InputPart> = (0..BINS).map(part).collect();
        let rare = (InputPart::rare as fn(&InputPart) -> bool, "was hardly ever");
        let wide = (
            InputPart::wide as fn(&InputPart) -> bool,
            "has a band of more than 1.3 times the median width",
        );
        for (pick, sentence) in [rare, wide] {
            let ranges = stretches(&parts, pick);
            if !ranges.is_empty() {
                words.push(format!("{} {sentence} at {}.", channel.name, ranges.join(", ")));
            }
        }
        inputs.push(InputCoverage {
            input: channel.name.clone(),
            parts,
        });
    }
    let frequencies = response.map_or_else(Vec::new, gaps);
    for gap in &frequencies {
        let unit = response.map_or("", |response| response.frequency_unit);
        words.push(format!(
            "The recording says little about {} from {} to {} {unit} (coherence {:.2}): more power there would tell.",
            gap.output,
            shown(gap.from),
            shown(gap.to),
            gap.coherence
        ));
    }
    if words.is_empty() {
        words.push("The recording reaches all of the inputs' range and all frequencies that matter.".to_owned());
    }
    NextRecording {
        inputs,
        frequencies,
        words,
    }
}

impl InputPart {
    fn rare(&self) -> bool {
        self.is_rare
    }

    fn wide(&self) -> bool {
        self.is_wide
    }
}

/// A frequency in words.
pub(crate) fn shown(frequency: f64) -> String {
    match frequency >= 0.01 {
        true => format!("{frequency:.3}"),
        false => format!("{frequency:.2e}"),
    }
}

/// Neighbouring parts as one range, in words.
fn stretches(parts: &[InputPart], pick: fn(&InputPart) -> bool) -> Vec<String> {
    let mut found: Vec<[f64; 2]> = Vec::new();
    let mut follows = false;
    for part in parts {
        match (pick(part), follows, found.last_mut()) {
            (true, true, Some(last)) => last[1] = part.to,
            (true, ..) => found.push([part.from, part.to]),
            (false, ..) => {}
        }
        follows = pick(part);
    }
    found.iter().map(|[from, to]| format!("{from:.4} to {to:.4}")).collect()
}

fn median_width(bands: &[Band], output: usize) -> f64 {
    let each = bands.iter().flat_map(|band| {
        band.upper[output]
            .iter()
            .zip(&band.lower[output])
            .map(|(upper, lower)| upper - lower)
    });
    let mut widths: Vec<f64> = each.collect();
    widths.sort_by(f64::total_cmp);
    widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One stretch per output, from the first to the last frequency that matters and was hardly seen.
fn gaps(response: &FrequencyResponse) -> Vec<FrequencyGap> {
    let mut found: Vec<FrequencyGap> = Vec::new();
    for channel in &response.channels {
        let Some(measured) = &channel.measured else { continue };
        if found.iter().any(|gap| gap.output == channel.output) {
            continue;
        }
        let largest = channel.magnitude.iter().copied().fold(0.0, f64::max);
        let gain = |frequency: f64| {
            let after = response
                .frequency
                .partition_point(|own| *own < frequency)
                .min(response.frequency.len() - 1);
            channel.magnitude[after]
        };
        let matters = |frequency: f64| gain(frequency) > SMALL_GAIN * largest;
        let unseen: Vec<usize> = (0..measured.frequency.len())
            .filter(|&index| matters(measured.frequency[index]) && measured.coherence[index] < INCOHERENT)
            .collect();
        let counted = measured
            .frequency
            .iter()
            .filter(|frequency| matters(**frequency))
            .count();
        // A few are noise of the estimate.
        if let (Some(first), Some(last)) = (unseen.first(), unseen.last())
            && unseen.len() * 10 > counted
        {
            found.push(FrequencyGap {
                output: channel.output.clone(),
                from: measured.frequency[*first],
                to: measured.frequency[*last],
                coherence: unseen.iter().map(|&index| measured.coherence[index]).sum::<f64>() / unseen.len() as f64,
            });
        }
    }
    found
}
