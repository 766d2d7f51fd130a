//! Central finite differences, to check hand-written gradients.

/// How a derivative is approximated from function values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// (f(x+h) - f(x-h)) / 2h, error O(h²).
    #[default]
    Central,
    /// Richardson extrapolation of two central differences, (4 D(h/2) - D(h)) / 3, error O(h⁴).
    Richardson,
}

/// Gradient of `f` at `x` by central differences.
///
/// `step` is relative: coordinate i moves by `step * max(1, |x_i|)`. About 1e-6 balances truncation and rounding for
/// functions of order one in f64; with [`Scheme::Richardson`] about 1e-4 does.
///
/// Choose `x` clear of kinks (sign changes of weights, relu at 0): a difference across a kink is no derivative.
///
/// ```
/// use intervalid_testkit::gradient;
/// let g = gradient(|x| x[0] * x[0] + 3.0 * x[1], &[2.0, 5.0], 1e-6);
/// assert!((g[0] - 4.0).abs() < 1e-8 && (g[1] - 3.0).abs() < 1e-8);
/// ```
pub fn gradient(f: impl FnMut(&[f64]) -> f64, x: &[f64], step: f64) -> Vec<f64> {
    gradient_with(Scheme::Central, f, x, step)
}

/// [`gradient`] with a chosen [`Scheme`].
pub fn gradient_with(scheme: Scheme, mut f: impl FnMut(&[f64]) -> f64, x: &[f64], step: f64) -> Vec<f64> {
    let mut point = x.to_vec();
    (0..x.len())
        .map(|i| {
            let derivative = difference(scheme, step * x[i].abs().max(1.0), |offset| {
                point[i] = x[i] + offset;
                f(&point)
            });
            point[i] = x[i];
            derivative
        })
        .collect()
}

/// Derivative of `f` at `x` along `direction`, that is ⟨∇f(x), direction⟩; two or four evaluations whatever the dimension.
///
/// `step` is absolute: it multiplies `direction`.
///
/// # Panics
/// If `direction` and `x` differ in length.
pub fn directional(scheme: Scheme, mut f: impl FnMut(&[f64]) -> f64, x: &[f64], direction: &[f64], step: f64) -> f64 {
    assert_eq!(
        x.len(),
        direction.len(),
        "direction has {} entries, x has {}",
        direction.len(),
        x.len()
    );
    let mut point = x.to_vec();
    difference(scheme, step, |offset| {
        for ((p, &x), &d) in point.iter_mut().zip(x).zip(direction) {
            *p = x + offset * d;
        }
        f(&point)
    })
}

/// Derivative at 0 of a function of one offset.
fn difference(scheme: Scheme, step: f64, mut at: impl FnMut(f64) -> f64) -> f64 {
    let mut central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    match scheme {
        Scheme::Central => central(step),
        Scheme::Richardson => (4.0 * central(step / 2.0) - central(step)) / 3.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64]) -> f64 {
        (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2)
    }

    fn exact(x: &[f64]) -> [f64; 2] {
        let inner = x[1] - x[0] * x[0];
        [-2.0 * (1.0 - x[0]) - 400.0 * x[0] * inner, 200.0 * inner]
    }

    #[test]
    fn agrees_with_a_known_gradient() {
        let x = [-1.2, 1.0];
        for (scheme, step) in [(Scheme::Central, 1e-6), (Scheme::Richardson, 1e-4)] {
            let found = gradient_with(scheme, rosenbrock, &x, step);
            for (found, expected) in found.iter().zip(exact(&x)) {
                assert!((found - expected).abs() < 1e-7 * expected.abs());
            }
        }
    }

    #[test]
    fn richardson_is_of_higher_order() {
        let error = |scheme, step| (gradient_with(scheme, |x| x[0].sin(), &[0.7], step)[0] - 0.7f64.cos()).abs();
        let rate = |scheme| (error(scheme, 0.2) / error(scheme, 0.1)).log2();
        assert!((rate(Scheme::Central) - 2.0).abs() < 0.1);
        assert!((rate(Scheme::Richardson) - 4.0).abs() < 0.1);
    }

    #[test]
    fn directional_is_the_inner_product() {
        let (x, direction) = ([0.3, -0.4], [2.0, -1.0]);
        let expected: f64 = exact(&x).iter().zip(direction).map(|(g, d)| g * d).sum();
        let found = directional(Scheme::Richardson, rosenbrock, &x, &direction, 1e-4);
        assert!((found - expected).abs() < 1e-8 * expected.abs());
    }
}
