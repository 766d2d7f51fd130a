//! One map of the model and its derivatives: g(z) = L z + b + W₂ tanh(W₁ z + b₁).
//!
//! ∂g/∂z = L + W₂ diag(1 - tanh²) W₁; the derivatives by the parameters are in `sensitivities`. Without hidden units only L z + b is
//! left.

use std::ops::Range;

use super::tanh::tanh;

/// Sizes of a map.
///
/// The parameters of a map lie side by side: W₁ (hidden × width), b₁ (hidden), W₂ (rows × hidden), L (rows × width),
/// b (rows), all matrices row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Map {
    /// Entries of g.
    pub(crate) rows: usize,
    /// Entries of z.
    pub(crate) width: usize,
    /// Units of the network, 0 for none.
    pub(crate) hidden: usize,
}

impl Map {
    /// Number of parameters.
    pub(crate) fn parameters(self) -> usize {
        self.hidden * (self.width + 1) + self.rows * (self.hidden + self.width + 1)
    }

    /// W₁
    pub(crate) fn inner(self) -> Range<usize> {
        0..self.hidden * self.width
    }

    /// b₁
    pub(crate) fn inner_bias(self) -> Range<usize> {
        let start = self.inner().end;
        start..start + self.hidden
    }

    /// W₂
    pub(crate) fn outer(self) -> Range<usize> {
        let start = self.inner_bias().end;
        start..start + self.rows * self.hidden
    }

    /// L
    pub(crate) fn linear(self) -> Range<usize> {
        let start = self.outer().end;
        start..start + self.rows * self.width
    }

    /// b
    pub(crate) fn bias(self) -> Range<usize> {
        let start = self.linear().end;
        start..start + self.rows
    }

    /// The parameters of the same map among those of a larger one: entries of z from `kept` on move to the end of the larger map's z, and
    /// what is new does nothing.
    pub(crate) fn widen(self, theta: &[f64], larger: Self, kept: usize) -> Vec<f64> {
        let mut wide = vec![0.0; larger.parameters()];
        let column = |column: usize| match column < kept {
            true => column,
            false => column + larger.width - self.width,
        };
        let mut copy = |from: Range<usize>, to: Range<usize>, width: usize, wide_width: usize, moves: bool| {
            for (row, values) in theta[from].chunks_exact(width.max(1)).enumerate() {
                for (at, value) in values.iter().enumerate() {
                    let at = if moves { column(at) } else { at };
                    wide[to.start + row * wide_width + at] = *value;
                }
            }
        };
        copy(self.inner(), larger.inner(), self.width, larger.width, true);
        copy(self.inner_bias(), larger.inner_bias(), 1, 1, false);
        copy(self.outer(), larger.outer(), self.hidden, larger.hidden, false);
        copy(self.linear(), larger.linear(), self.width, larger.width, true);
        copy(self.bias(), larger.bias(), 1, 1, false);
        wide
    }

    /// g(z) into `out`, the units' values into `units`.
    #[inline]
    pub(crate) fn apply(self, theta: &[f64], z: &[f64], units: &mut [f64], out: &mut [f64]) {
        let inner = &theta[self.inner()];
        for ((unit, row), bias) in units
            .iter_mut()
            .zip(inner.chunks_exact(self.width.max(1)))
            .zip(&theta[self.inner_bias()])
        {
            *unit = dot(row, z) + bias;
        }
        tanh(units);
        let (outer, linear, bias) = (&theta[self.outer()], &theta[self.linear()], &theta[self.bias()]);
        for (row, out) in out.iter_mut().enumerate() {
            *out = bias[row]
                + dot(&linear[row * self.width..(row + 1) * self.width], z)
                + dot(&outer[row * self.hidden..(row + 1) * self.hidden], units);
        }
    }

    /// The first `columns` columns of ∂g/∂z = L + W₂ diag(1 - tanh²) W₁, row by row, for the units' values of [`Map::apply`].
    #[inline]
    pub(crate) fn slope(self, theta: &[f64], units: &[f64], columns: usize, slope: &mut [f64]) {
        let (inner, outer, linear) = (&theta[self.inner()], &theta[self.outer()], &theta[self.linear()]);
        for (row, to) in slope.chunks_exact_mut(columns.max(1)).take(self.rows).enumerate() {
            to.copy_from_slice(&linear[row * self.width..row * self.width + columns]);
            for (hidden, unit) in units.iter().enumerate() {
                let factor = outer[row * self.hidden + hidden] * (1.0 - unit * unit);
                let weights = &inner[hidden * self.width..hidden * self.width + columns];
                to.iter_mut().zip(weights).for_each(|(to, w)| *to += factor * w);
            }
        }
    }
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_central_differences() {
        for hidden in [0, 1, 4] {
            let map = Map {
                rows: 2,
                width: 3,
                hidden,
            };
            let theta: Vec<f64> = (0..map.parameters())
                .map(|i| 0.8 * (1.0 + i as f64 * 1.7).sin())
                .collect();
            let z = [0.4, -0.9, 0.3];
            let value = |theta: &[f64], z: &[f64]| {
                let (mut units, mut out) = (vec![0.0; hidden], [0.0; 2]);
                map.apply(theta, z, &mut units, &mut out);
                (out, units)
            };
            let (_, units) = value(&theta, &z);
            let step = 1e-6;
            let close = |found: f64, up: f64, down: f64| {
                let expected = (up - down) / (2.0 * step);
                assert!((found - expected).abs() < 1e-8, "{hidden}: {found} {expected}");
            };
            for row in 0..2 {
                for columns in [2, 3] {
                    let mut slope = vec![0.0; 2 * columns];
                    map.slope(&theta, &units, columns, &mut slope);
                    for index in 0..columns {
                        let (mut up, mut down) = (z, z);
                        up[index] += step;
                        down[index] -= step;
                        let found = slope[row * columns + index];
                        close(found, value(&theta, &up).0[row], value(&theta, &down).0[row]);
                    }
                }
            }
        }
    }
}
