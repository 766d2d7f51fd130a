//! Rigorous dot products and affine maps, the linear part of a network layer.

use super::Enclosure;
use crate::IntervalError;
use crate::arith::{ExtremeProducts, extreme_products};
use crate::rounding::{SumDown, SumUp, mul_down, mul_up};

fn check_length(
    operation: &'static str,
    argument: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), IntervalError> {
    if expected == found {
        Ok(())
    } else {
        Err(IntervalError::Length {
            operation,
            argument,
            expected,
            found,
        })
    }
}

fn dot_unchecked(start: Enclosure, left: &[Enclosure], right: &[Enclosure]) -> Enclosure {
    let mut lower = SumDown::new(start.inf());
    let mut upper = SumUp::new(start.sup());
    for (a, b) in left.iter().zip(right) {
        match extreme_products(a.ends(), b.ends()) {
            ExtremeProducts::Decided { least, greatest } => {
                lower.add_product(least.0, least.1);
                upper.add_product(greatest.0, greatest.1);
            }
            // Rounded products could name the wrong extreme in a tie, so here they are rounded outward first.
            ExtremeProducts::Candidates {
                least: [p, q],
                greatest: [r, s],
            } => {
                lower.add(mul_down(p.0, p.1).min(mul_down(q.0, q.1)));
                upper.add(mul_up(r.0, r.1).max(mul_up(s.0, s.1)));
            }
        }
    }
    Enclosure::from_ends(lower.finish(), upper.finish())
}

impl Enclosure {
    /// `start + sum of left[i] * right[i]`, each end about one rounding from the exact one.
    ///
    /// The products are summed in about twice the working precision before the result is rounded outward, so the
    /// width of a result is that of the operands' sets and not of `n` roundings.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] if the slices differ in length.
    ///
    /// ```
    /// use intervalid_interval::Enclosure;
    ///
    /// let point = |value| Enclosure::from_point(value);
    /// let left = [point(1e16)?, point(1.0)?, point(-1e16)?];
    /// let right = [point(1.0)?; 3];
    /// assert_eq!(Enclosure::dot(Enclosure::ZERO, &left, &right)?, point(1.0)?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn dot(start: Self, left: &[Self], right: &[Self]) -> Result<Self, IntervalError> {
        check_length("dot", "right", left.len(), right.len())?;
        Ok(dot_unchecked(start, left, right))
    }
}

/// A matrix of [`Enclosure`]s, row-major with shape `[outputs, inputs]`: the weights of a layer.
///
/// ```
/// use intervalid_interval::{Enclosure, EnclosureMatrix};
///
/// // One tanh layer with weights 1 ± 0.5 and -2 (crisp), bias 0, on a crisp input.
/// let weights = EnclosureMatrix::from_bounds(1, 2, &[0.5, -2.0], &[1.5, -2.0])?;
/// let input = [Enclosure::from_point(2.0)?, Enclosure::from_point(1.0)?];
/// let output = weights.affine(&input, &[Enclosure::ZERO])?;
/// assert_eq!(output[0], Enclosure::from_bounds(-1.0, 1.0)?);
/// assert!(output[0].tanh().contains(0.5_f64.tanh()));
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EnclosureMatrix {
    outputs: usize,
    inputs: usize,
    values: Vec<Enclosure>,
}

impl EnclosureMatrix {
    /// A matrix from its elements, row by row.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless there are `outputs * inputs` elements.
    ///
    /// ```
    /// use intervalid_interval::{Enclosure, EnclosureMatrix};
    ///
    /// let weight = Enclosure::from_margins(0.5, 0.25, 0.25)?;
    /// let weights = EnclosureMatrix::new(1, 2, vec![weight, weight])?;
    /// assert_eq!((weights.outputs(), weights.inputs()), (1, 2));
    /// assert!(EnclosureMatrix::new(2, 2, vec![weight]).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn new(outputs: usize, inputs: usize, values: Vec<Enclosure>) -> Result<Self, IntervalError> {
        check_length("matrix", "values", outputs.saturating_mul(inputs), values.len())?;
        Ok(Self {
            outputs,
            inputs,
            values,
        })
    }

    /// A matrix from lower and upper ends, row by row; the same slice twice gives crisp weights.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless each slice has `outputs * inputs` elements; those of
    /// [`Enclosure::from_bounds`] for an element.
    ///
    /// ```
    /// use intervalid_interval::EnclosureMatrix;
    ///
    /// let crisp = [1.0, 2.0];
    /// assert_eq!(EnclosureMatrix::from_bounds(2, 1, &crisp, &crisp)?.row(1)[0].mid(), 2.0);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_bounds(outputs: usize, inputs: usize, lower: &[f64], upper: &[f64]) -> Result<Self, IntervalError> {
        let expected = outputs.saturating_mul(inputs);
        check_length("matrix", "lower", expected, lower.len())?;
        check_length("matrix", "upper", expected, upper.len())?;
        let values = lower
            .iter()
            .zip(upper)
            .map(|(&lower, &upper)| Enclosure::from_bounds(lower, upper))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            outputs,
            inputs,
            values,
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of columns.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The weights into output `output`; empty if there is no such row.
    ///
    /// ```
    /// use intervalid_interval::EnclosureMatrix;
    ///
    /// let weights = EnclosureMatrix::from_bounds(1, 2, &[1.0, 2.0], &[1.0, 2.0])?;
    /// assert_eq!((weights.row(0).len(), weights.row(7).len()), (2, 0));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn row(&self, output: usize) -> &[Enclosure] {
        if output < self.outputs {
            &self.values[output * self.inputs..][..self.inputs]
        } else {
            &[]
        }
    }

    /// `W x + b`, each element by [`Enclosure::dot`].
    ///
    /// For gates with two operands, `W x + U h + b`, pass the first map as the bias of the second:
    /// `recurrent.affine(&h, &input.affine(&x, &b)?)`.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] if `input` or `bias` does not fit the matrix.
    ///
    /// ```
    /// use intervalid_interval::{Enclosure, EnclosureMatrix};
    ///
    /// let weights = EnclosureMatrix::from_bounds(1, 1, &[-1.0], &[1.0])?;
    /// let bias = [Enclosure::from_point(10.0)?];
    /// let output = weights.affine(&[Enclosure::from_point(3.0)?], &bias)?;
    /// assert_eq!(output, [Enclosure::from_bounds(7.0, 13.0)?]);
    /// assert!(weights.affine(&[], &bias).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn affine(&self, input: &[Enclosure], bias: &[Enclosure]) -> Result<Vec<Enclosure>, IntervalError> {
        check_length("affine map", "input", self.inputs, input.len())?;
        check_length("affine map", "bias", self.outputs, bias.len())?;
        Ok(bias
            .iter()
            .enumerate()
            .map(|(output, &bias)| dot_unchecked(bias, self.row(output), input))
            .collect())
    }
}
