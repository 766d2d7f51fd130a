//! How good a band is on recordings after the fit.

use intervalid_data::Dataset;
use serde::Serialize;

use super::scaling::Scaling;
use crate::band::metrics::{align, inside_together};
use crate::band::prediction::Band;
use crate::error::Result;
use crate::interface::ModelInterface;

/// Coverage and width of a band on new recordings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BandQuality {
    /// Share of the samples inside; of several outputs the least, or that of all together where the band is for that.
    pub coverage: f64,
    /// Mean width in standard deviations of the training part, over all outputs.
    pub width: f64,
}

impl BandQuality {
    /// Of bands as they are told, physical limits included.
    pub(super) fn of(interface: &ModelInterface, dataset: &Dataset, bands: &[Band]) -> Result<Self> {
        let (mut least, mut width) = (f64::INFINITY, 0.0);
        let scales = &interface.normaliser.outputs;
        for (output, scale) in scales.iter().enumerate() {
            let (mut inside, mut samples, mut sum) = (0_usize, 0_usize, 0.0);
            for run in align(dataset, bands, output)? {
                inside += run.inside().filter(|inside| *inside).count();
                samples += run.target.len();
                sum += run.upper.iter().zip(run.lower).map(|(u, l)| u - l).sum::<f64>();
            }
            let samples = samples.max(1) as f64;
            least = least.min(inside as f64 / samples);
            width += sum / samples / scale.std / scales.len() as f64;
        }
        let together = match interface.is_together() {
            true => inside_together(dataset, bands)?,
            false => None,
        };
        Ok(Self {
            coverage: together.unwrap_or(least),
            width,
        })
    }
}

/// Bands of scale 1 with the scale `early` over the first scored samples, so many of every output, and `late` over the others.
pub(super) fn scaled_by_halves(unscaled: &[Band], first: usize, early: &[Scaling], late: &[Scaling]) -> Vec<Band> {
    let mut bands = unscaled.to_vec();
    let mut scored = 0;
    for band in &mut bands {
        for step in 0..band.len() {
            let scalings = if scored < first { early } else { late };
            scored += usize::from(step >= band.warmup);
            for (output, scaling) in scalings.iter().enumerate() {
                let (lower, upper) = (&mut band.lower[output][step], &mut band.upper[output][step]);
                (*lower, *upper) = scaling.bounds(*lower, band.centre[output][step], *upper);
            }
        }
    }
    bands
}
