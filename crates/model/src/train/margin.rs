//! Margins Δ = σ_Δ(Δ') of the parameters (docs/method.md, section 5).

use intervalid_interval::Real;

use crate::config::{IntervalConfig, MarginActivation};
use crate::network::{LayerId, Layout};

/// Raw margins Δ' below and above every parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawMargins<T> {
    pub(crate) lower: Vec<T>,
    pub(crate) upper: Vec<T>,
}

impl<T: Real> RawMargins<T> {
    /// Δ' = r·|θ|, at least `margin_floor`, with r_h in hidden layers and r_o in the read-out.
    ///
    /// A linear path, and an observer, start at the floor: their coefficients are of the order of one, and margins of that order around
    /// them would make a band many times the residuals wide.
    pub(crate) fn initial(config: &IntervalConfig, layout: &Layout, theta: &[T]) -> Self {
        let mut raw = vec![T::zero(); theta.len()];
        for block in layout.blocks() {
            let ratio = match block.layer {
                LayerId::Linear | LayerId::MapLinear(_) | LayerId::Observer => 0.0,
                LayerId::Network(_) | LayerId::Map(..) if layout.is_output(block) => config.margin_output,
                LayerId::Network(_) | LayerId::Map(..) => config.margin_hidden,
            };
            for index in block.range.clone() {
                raw[index] = (T::of(ratio) * theta[index].abs()).max(T::of(config.margin_floor));
            }
        }
        Self {
            lower: raw.clone(),
            upper: raw,
        }
    }
}

impl MarginActivation {
    /// σ_Δ elementwise.
    pub(crate) fn apply<T: Real>(self, raw: &[T], margins: &mut [T]) {
        for (margin, &raw) in margins.iter_mut().zip(raw) {
            *margin = match self {
                MarginActivation::Abs => raw.abs(),
                MarginActivation::Relu => raw.max(T::zero()),
            };
        }
    }

    /// Turns an adjoint of Δ into one of Δ', times `sign`. Both functions have slope zero at zero.
    pub(crate) fn chain<T: Real>(self, raw: &[T], sign: T, adjoint: &mut [T]) {
        for (adjoint, &raw) in adjoint.iter_mut().zip(raw) {
            let slope = match self {
                _ if raw > T::zero() => T::one(),
                MarginActivation::Abs if raw < T::zero() => -T::one(),
                _ => T::zero(),
            };
            *adjoint *= sign * slope;
        }
    }
}
