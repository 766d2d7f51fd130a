//! The maps of a state-space model in outward-rounded arithmetic (docs/method.md, section 3).

use core::ops::Range;

use intervalid_interval::{Enclosure, EnclosureMatrix, IntervalError};

use crate::network::{Architecture, MapLayout, Maps};

/// Both maps and the observer.
pub(super) struct CertifiedMaps {
    state: CertifiedMap,
    output: CertifiedMap,
    observer: EnclosureMatrix,
    inputs: usize,
}

/// L·z + b + W₂·tanh(W₁·z + b₁)
struct CertifiedMap {
    linear: EnclosureMatrix,
    bias: Vec<Enclosure>,
    /// W₁, b₁ and W₂, if there are units.
    units: Option<(EnclosureMatrix, Vec<Enclosure>, EnclosureMatrix)>,
}

impl CertifiedMap {
    fn new(
        map: &MapLayout,
        values: impl Fn(&Range<usize>) -> Result<Vec<Enclosure>, IntervalError>,
    ) -> Result<Self, IntervalError> {
        let units = match map.units {
            0 => None,
            units => Some((
                EnclosureMatrix::new(units, map.width, values(&map.inner)?)?,
                values(&map.inner_bias)?,
                EnclosureMatrix::new(map.rows, units, values(&map.outer)?)?,
            )),
        };
        Ok(Self {
            linear: EnclosureMatrix::new(map.rows, map.width, values(&map.linear)?)?,
            bias: values(&map.bias)?,
            units,
        })
    }

    /// The map plus `more`.
    fn apply(&self, z: &[Enclosure], more: Option<Vec<Enclosure>>) -> Result<Vec<Enclosure>, IntervalError> {
        let mut sum = self.linear.affine(z, &self.bias)?;
        if let Some((inner, bias, outer)) = &self.units {
            let mut units = inner.affine(z, bias)?;
            units.iter_mut().for_each(|unit| *unit = unit.tanh());
            sum = outer.affine(&units, &sum)?;
        }
        for (sum, more) in sum.iter_mut().zip(more.into_iter().flatten()) {
            *sum += more;
        }
        Ok(sum)
    }
}

impl CertifiedMaps {
    pub(super) fn new(
        maps: &Maps,
        architecture: &Architecture,
        values: impl Fn(&Range<usize>) -> Result<Vec<Enclosure>, IntervalError>,
    ) -> Result<Self, IntervalError> {
        let (states, outputs) = (architecture.states, architecture.outputs);
        Ok(Self {
            state: CertifiedMap::new(&maps.state, &values)?,
            output: CertifiedMap::new(&maps.output, &values)?,
            observer: EnclosureMatrix::new(states, outputs, values(&maps.observer)?)?,
            inputs: architecture.inputs,
        })
    }

    /// Bounds of the outputs from a regressor, x(k-1) and ŷ(k-1).
    pub(super) fn bounds(
        &self,
        regressor: &[Enclosure],
        states: &[Enclosure],
        predicted: &[Enclosure],
    ) -> Result<Vec<Enclosure>, IntervalError> {
        let (measured, inputs) = regressor.split_at(predicted.len());
        let (now, past) = inputs.split_at(self.inputs);
        let innovation: Vec<Enclosure> = measured.iter().zip(predicted).map(|(&y, &y_hat)| y - y_hat).collect();
        let zeros = vec![Enclosure::ZERO; states.len()];
        let correction = self.observer.affine(&innovation, &zeros)?;
        let mut z = self.state.apply(&[states, past].concat(), Some(correction))?;
        z.extend_from_slice(now);
        self.output.apply(&z, None)
    }
}
