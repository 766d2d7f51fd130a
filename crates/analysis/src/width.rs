//! What the band is made of, sample by sample.

use intervalid_data::{Dataset, ScaledExperiment};
use intervalid_deploy::StepProgram;
use intervalid_model::{Band, Model};
use nalgebra::DVector;
use serde::Serialize;

use crate::error::Result;
use crate::interval_pass::bounds;
use crate::jet::Jet;
use crate::step_map::StepMap;
use crate::width_groups::{groups, without};

/// Samples that are taken apart, evenly over the record.
const SAMPLES: usize = 300;

/// Where the width of one output's band comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WidthShares {
    /// The output.
    pub output: String,
    /// Samples, counted from 1 over all runs.
    pub sample: Vec<usize>,
    /// Half the width of the band, in the output's unit.
    pub half_width: Vec<f64>,
    /// Whether the sample lies outside the region of the training data; none where the model does not know it.
    pub extrapolated: Option<Vec<bool>>,
    /// What it is made of, the largest first; at every sample the shares add up to one.
    pub parts: Vec<WidthPart>,
    /// By how much the calibration on held-out data scales every part; 1 without one.
    pub calibration: f64,
    /// In a sentence.
    pub words: String,
}

/// One source of width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WidthPart {
    /// Such as `margins of valve(k-1)`, `members disagree`, `least width`.
    pub name: String,
    /// Mean share over the samples.
    pub mean: f64,
    /// Mean share over the widest tenth of the samples.
    pub where_wide: f64,
    /// Share at every sample.
    pub share: Vec<f64>,
}

/// Takes the bands of a simulation apart.
///
/// **Formula.** Of the mean side m of the members' intervals, their standard deviation s, the factor f and the least width l of the
/// calibration a side is √(max(m, l)² + (f·s)²), scaled by the calibration. The squares divide it into margins, least width and members;
/// the margins are divided in proportion to what the interval pass loses when the margins of one group of parameters are zero.
///
/// **Assumptions.** Groups act together (products of intervals), so their shares are an attribution, not a sum of causes.
///
/// # Errors
/// If the model cannot run step by step or the bands do not belong to the data.
pub fn width_shares(model: &Model, dataset: &Dataset, bands: &[Band]) -> Result<Vec<WidthShares>> {
    let map = StepMap::new(model)?;
    let program = map.program();
    let flags = model.extrapolated(dataset, bands)?;
    let scaled = model.interface().scale::<f64>(&*model.level(dataset)?)?;
    let groups = groups(&map);
    let variants: Vec<StepProgram> = groups.iter().map(|(_, belongs)| without(program, belongs)).collect();
    let total: usize = bands.iter().map(|band| band.len() - band.warmup.min(band.len())).sum();
    let every = total.div_ceil(SAMPLES).max(1);
    let mut found: Vec<WidthShares> = (program.outputs.iter())
        .map(|output| WidthShares {
            output: output.channel.name.clone(),
            sample: Vec::new(),
            half_width: Vec::new(),
            extrapolated: flags.as_ref().map(|_| Vec::new()),
            parts: (groups.iter().map(|(name, _)| name.clone()))
                .chain(["members disagree".to_owned(), "least width".to_owned()])
                .map(|name| WidthPart {
                    name,
                    mean: 0.0,
                    where_wide: 0.0,
                    share: Vec::new(),
                })
                .collect(),
            calibration: output
                .calibration
                .map_or(1.0, |scaling| (scaling.lower + scaling.upper) / 2.0),
            words: String::new(),
        })
        .collect();
    let mut sample = 0;
    for (run, band) in bands.iter().enumerate() {
        let unscored = band.warmup.min(band.len());
        let trace = trace(&map, &scaled.experiments()[band.experiment], band);
        for step in unscored..band.len() {
            sample += 1;
            if (sample - 1) % every != 0 {
                continue;
            }
            let whole = sides(program, &map, &trace[step]);
            let reduced: Vec<Vec<f64>> = variants
                .iter()
                .map(|variant| sides(variant, &map, &trace[step]))
                .collect();
            for (output, entry) in found.iter_mut().enumerate() {
                entry.sample.push(sample);
                entry
                    .half_width
                    .push((band.upper[output][step] - band.lower[output][step]) / 2.0);
                if let (Some(own), Some(flags)) = (&mut entry.extrapolated, &flags) {
                    own.push(flags[run][step]);
                }
                let lost: Vec<f64> = reduced
                    .iter()
                    .map(|without| (whole[output] - without[output]).max(0.0))
                    .collect();
                let shares = divide(
                    program,
                    output,
                    whole[output],
                    &lost,
                    deviation(&map, &trace[step], output),
                );
                entry
                    .parts
                    .iter_mut()
                    .zip(shares)
                    .for_each(|(part, share)| part.share.push(share));
            }
        }
    }
    found.iter_mut().for_each(summarise);
    Ok(found)
}

/// z of every member at every step of a free run that starts as the band's did: measured outputs lead it up to there.
fn trace(map: &StepMap, experiment: &ScaledExperiment<f64>, band: &Band) -> Vec<Vec<DVector<f64>>> {
    let layout = &map.layout;
    let (shared, own) = (layout.shared(), layout.own);
    let first = band.first + band.warmup.min(band.len());
    let reach = layout.remembered.max(layout.output_lags / layout.outputs.max(1));
    let start = band.first.saturating_sub(reach + 200);
    let input = |k: usize| {
        (0..layout.inputs)
            .map(|channel| experiment.input(channel)[k])
            .collect::<Vec<f64>>()
    };
    let output = |k: usize| {
        (0..layout.outputs)
            .map(|channel| experiment.output(channel)[k])
            .collect::<Vec<f64>>()
    };
    let mut states: Vec<DVector<f64>> =
        vec![map.at_rest(&vec![0.0; layout.inputs], &DVector::zeros(own)); map.members.len()];
    let mut found = Vec::with_capacity(band.len());
    for k in start..band.first + band.len() {
        let mut now = Vec::with_capacity(map.members.len());
        for (member, z) in map.members.iter().zip(&mut states) {
            z.rows_mut(shared + own, layout.inputs).copy_from_slice(&input(k));
            let measured = (k > start && k <= first).then(|| output(k - 1));
            if let (Some(measured), true) = (&measured, layout.output_lags > 0) {
                z.rows_mut(shared, layout.outputs).copy_from_slice(measured);
            }
            now.push(z.clone());
            let jet = Jet::numbers(z.clone());
            let step = match (&measured, layout.output_lags) {
                (Some(measured), 0) => member.held_step(layout, &jet, &DVector::from_vec(measured.clone())),
                _ => member.step(layout, &jet),
            };
            if shared > 0 {
                let kept = z.rows(0, shared - layout.inputs).into_owned();
                z.rows_mut(layout.inputs, kept.len()).copy_from(&kept);
                z.rows_mut(0, layout.inputs).copy_from_slice(&input(k));
            }
            z.rows_mut(shared, own).copy_from(&step.next.value);
        }
        if k >= band.first {
            found.push(now);
        }
    }
    found
}

/// Mean half-width of the members' intervals, per output in physical units.
fn sides(program: &StepProgram, map: &StepMap, members: &[DVector<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; program.outputs.len()];
    for (member, z) in members.iter().enumerate() {
        for (sum, [lower, upper]) in sums.iter_mut().zip(bounds(program, &map.layout, member, z)) {
            *sum += (upper - lower) / 2.0 / members.len() as f64;
        }
    }
    let scales = map.output_scales();
    sums.iter()
        .zip(scales)
        .map(|(sum, scale)| scale.width_to_physical(*sum))
        .collect()
}

/// Standard deviation of the members' outputs, in physical units.
fn deviation(map: &StepMap, members: &[DVector<f64>], output: usize) -> f64 {
    let value = |(member, z): (usize, &DVector<f64>)| {
        map.members[member]
            .step(&map.layout, &Jet::numbers(z.clone()))
            .output
            .value[output]
    };
    let values: Vec<f64> = members.iter().enumerate().map(value).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    map.output_scales()[output].width_to_physical(variance.sqrt())
}

/// Shares of the groups, of the members and of the least width; they add up to one.
fn divide(program: &StepProgram, output: usize, margins: f64, lost: &[f64], deviation: f64) -> Vec<f64> {
    let plan = &program.outputs[output];
    let (floor, factor) = match program.members() {
        1 => (plan.calibration.map_or(0.0, |scaling| scaling.floor), 0.0),
        _ => (plan.spread.floor, plan.spread.factor),
    };
    let base = margins.max(floor);
    let spread = factor * deviation;
    let square = base * base + spread * spread;
    if square <= 0.0 {
        return vec![0.0; lost.len() + 2];
    }
    let of_base = base * base / square;
    // Rounding must not make a least width of a floor that is not reached.
    let of_margins = match floor > margins {
        true => of_base * margins / floor,
        false => of_base,
    };
    let (all, lost_len) = (lost.iter().sum::<f64>(), lost.len() as f64);
    let part = |lost: &f64| match all > 0.0 {
        true => of_margins * lost / all,
        // Where no group alone narrows the band they share it evenly.
        false => of_margins / lost_len,
    };
    let mut shares: Vec<f64> = lost.iter().map(part).collect();
    shares.push(spread * spread / square);
    shares.push(of_base - of_margins);
    shares
}

fn summarise(found: &mut WidthShares) {
    let count = found.half_width.len();
    if count == 0 {
        return;
    }
    let mut widest: Vec<usize> = (0..count).collect();
    widest.sort_by(|&a, &b| found.half_width[b].total_cmp(&found.half_width[a]));
    widest.truncate(count.div_ceil(10));
    for part in &mut found.parts {
        part.mean = part.share.iter().sum::<f64>() / count as f64;
        part.where_wide = widest.iter().map(|&at| part.share[at]).sum::<f64>() / widest.len() as f64;
    }
    found.parts.retain(|part| part.share.iter().any(|share| *share > 0.0));
    found.parts.sort_by(|a, b| b.where_wide.total_cmp(&a.where_wide));
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let named: Vec<String> = (found.parts.iter().filter(|part| part.where_wide > 0.05).take(4))
        .map(|part| format!("{} {}", percent(part.where_wide), part.name))
        .collect();
    let outside = found.extrapolated.as_ref().map_or_else(String::new, |flags| {
        let share = widest.iter().filter(|&&at| flags[at]).count() as f64 / widest.len() as f64;
        match share > 0.0 {
            true => format!(
                " {} of these samples lie outside the region of the training data.",
                percent(share)
            ),
            false => String::new(),
        }
    });
    // A band that was never calibrated, or came out as it was, is not scaled.
    let scaled = match (found.calibration - 1.0).abs() > 1e-9 {
        true => format!(
            " Calibration on held-out data scales all of it by {:.2}.",
            found.calibration
        ),
        false => String::new(),
    };
    found.words = format!(
        "Where the band of {} is widest it is {}.{scaled}{outside}",
        found.output,
        named.join(", ")
    );
}
