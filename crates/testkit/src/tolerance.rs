//! Comparing floating-point results with a stated tolerance.

/// |found - expected| ≤ absolute + relative·|expected|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Allowed error in the values' own unit.
    pub absolute: f64,
    /// Allowed error as a fraction of the expected value.
    pub relative: f64,
}

impl Tolerance {
    /// Only an absolute error is allowed.
    pub const fn absolute(absolute: f64) -> Self {
        Self {
            absolute,
            relative: 0.0,
        }
    }

    /// A relative error, and the same number as absolute error for expected values below one.
    ///
    /// A purely relative tolerance asks the impossible of values that cancel to zero.
    pub const fn relative(relative: f64) -> Self {
        Self {
            absolute: relative,
            relative,
        }
    }

    /// `multiple` machine epsilons of f64, relative, and absolute below one.
    pub const fn epsilons(multiple: f64) -> Self {
        Self::relative(multiple * f64::EPSILON)
    }

    /// `multiple` machine epsilons of f32, relative, and absolute below one.
    pub const fn epsilons_f32(multiple: f64) -> Self {
        Self::relative(multiple * f32::EPSILON as f64)
    }

    /// The same relative tolerance with another absolute part; 0 makes it purely relative.
    pub const fn with_absolute(self, absolute: f64) -> Self {
        Self { absolute, ..self }
    }

    /// Whether `found` is near enough. Equal values (infinities too) are; a NaN on either side never is.
    pub fn accepts(&self, expected: f64, found: f64) -> bool {
        // Equal infinities would otherwise give NaN.
        expected.total_cmp(&found).is_eq() && !expected.is_nan() || (found - expected).abs() <= self.allowed(expected)
    }

    fn allowed(&self, expected: f64) -> f64 {
        // An infinite expectation must not accept every finite value.
        if expected.is_finite() {
            self.absolute + self.relative * expected.abs()
        } else {
            0.0
        }
    }
}

/// Asserts that one value is within `tolerance`; `what` names it in the message.
///
/// # Panics
/// With `what`, expected, found and error.
#[track_caller]
pub fn assert_close(what: &str, expected: f64, found: f64, tolerance: Tolerance) {
    assert!(
        tolerance.accepts(expected, found),
        "{what}: expected {expected:e}, found {found:e}, error {:e}, allowed {:e}",
        (found - expected).abs(),
        tolerance.allowed(expected),
    );
}

/// Asserts that two slices agree elementwise; accepts f32 and f64 on either side.
///
/// # Panics
/// With the number of wrong entries and index, expected, found and error of the first few.
#[track_caller]
pub fn assert_all_close<A, B>(what: &str, expected: &[A], found: &[B], tolerance: Tolerance)
where
    A: Copy + Into<f64>,
    B: Copy + Into<f64>,
{
    assert_each(what, expected, found, |expected, found| {
        let (expected, found) = (expected.into(), found.into());
        (!tolerance.accepts(expected, found)).then(|| {
            format!(
                "expected {expected:e}, found {found:e}, error {:e}, allowed {:e}",
                (found - expected).abs(),
                tolerance.allowed(expected)
            )
        })
    });
}

/// Asserts that two f64 slices agree elementwise within `ulps` units in the last place.
///
/// # Panics
/// As [`assert_all_close`], with distances in ulps.
#[track_caller]
pub fn assert_all_within_ulps(what: &str, expected: &[f64], found: &[f64], ulps: u64) {
    assert_each(what, expected, found, |expected, found| {
        let distance = ulp_distance(expected, found);
        (distance > ulps).then(|| format!("expected {expected:e}, found {found:e}, {distance} ulp, allowed {ulps}"))
    });
}

/// Number of f64 values between `a` and `b`: 0 for equal values (also 0 and -0), 1 for neighbours, `u64::MAX` for NaN.
pub fn ulp_distance(a: f64, b: f64) -> u64 {
    if a.is_nan() || b.is_nan() {
        return u64::MAX;
    }
    // Sign and magnitude to a line of integers on which 0 and -0 coincide.
    let position = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    position(a).abs_diff(position(b))
}

/// [`ulp_distance`] for f32.
pub fn ulp_distance_f32(a: f32, b: f32) -> u32 {
    if a.is_nan() || b.is_nan() {
        return u32::MAX;
    }
    let position = |x: f32| {
        let bits = x.to_bits() as i32;
        if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits }
    };
    position(a).abs_diff(position(b))
}

#[track_caller]
fn assert_each<A: Copy, B: Copy>(what: &str, expected: &[A], found: &[B], mismatch: impl Fn(A, B) -> Option<String>) {
    const SHOWN: usize = 5;
    assert!(
        expected.len() == found.len(),
        "{what}: expected {} entries, found {}",
        expected.len(),
        found.len()
    );
    let mut wrong = 0;
    let mut lines = String::new();
    for (index, (&expected, &found)) in expected.iter().zip(found).enumerate() {
        if let Some(message) = mismatch(expected, found) {
            wrong += 1;
            if wrong <= SHOWN {
                lines.push_str(&format!("\n  [{index}] {message}"));
            }
        }
    }
    assert!(
        wrong == 0,
        "{what}: {wrong} of {} entries differ{lines}",
        expected.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_absolute_parts_add() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.1,
        };
        assert!(tolerance.accepts(10.0, 11.5));
        assert!(!tolerance.accepts(10.0, 11.6));
        assert!(Tolerance::relative(1e-3).with_absolute(0.0).accepts(1e-9, 1.0005e-9));
        assert!(!Tolerance::relative(1e-3).with_absolute(0.0).accepts(0.0, 1e-300));
    }

    #[test]
    fn nan_and_infinity() {
        let wide = Tolerance::relative(1.0);
        assert!(!wide.accepts(f64::NAN, f64::NAN));
        assert!(!wide.accepts(1.0, f64::NAN));
        assert!(wide.accepts(f64::INFINITY, f64::INFINITY));
        assert!(!wide.accepts(f64::INFINITY, f64::NEG_INFINITY));
        assert!(!wide.accepts(f64::INFINITY, 1.0));
        assert!(!wide.accepts(1.0, f64::INFINITY));
    }

    #[test]
    fn ulps_count_representable_values() {
        assert_eq!(ulp_distance(1.0, 1.0), 0);
        assert_eq!(ulp_distance(1.0, 1.0f64.next_up()), 1);
        assert_eq!(ulp_distance(0.0, -0.0), 0);
        assert_eq!(ulp_distance(0.0f64.next_up(), 0.0f64.next_down()), 2);
        assert_eq!(ulp_distance(f64::NAN, 0.0), u64::MAX);
        assert_eq!(ulp_distance_f32(-1.0, (-1.0f32).next_down()), 1);
        assert_eq!(ulp_distance_f32(0.0, -0.0), 0);
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(
            ulp_distance(f64::INFINITY, f64::NEG_INFINITY),
            2 * f64::INFINITY.to_bits()
        );
    }

    #[test]
    #[should_panic(expected = "gain: 1 of 2 entries differ\n  [1] expected 2e0, found 2.5e0")]
    fn message_names_index_and_values() {
        assert_all_close("gain", &[1.0, 2.0], &[1.0f32, 2.5], Tolerance::absolute(0.1));
    }

    #[test]
    #[should_panic(expected = "expected 2 entries, found 1")]
    fn lengths_must_agree() {
        assert_all_within_ulps("gain", &[1.0, 2.0], &[1.0], 4);
    }
}
