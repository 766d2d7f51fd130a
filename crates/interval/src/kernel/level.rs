//! Which instructions the processor offers, found once at run time.

use core::cell::Cell;
use core::fmt;
use std::ffi::OsStr;
use std::sync::OnceLock;

use crate::IntervalError;

/// An instruction set that the kernels are compiled for.
///
/// Kernels use the best one that the processor offers, or the one that the environment variable `INTERVALID_SIMD` names
/// (`baseline`, `avx2` or `avx512`): digits of another machine can be reproduced, and every level can be tested.
///
/// ```
/// use intervalid_interval::SimdLevel;
///
/// // At the start of a program: a wrong value is an error here, and a panic at the first product otherwise.
/// let forced = SimdLevel::from_environment()?;
/// assert!(forced.is_none_or(|level| level == SimdLevel::current()));
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// What every processor of the architecture has: SSE2 on x86-64 (no fused multiply-add), NEON on AArch64 (fused).
    Baseline,
    /// AVX2 with FMA (x86-64).
    Avx2,
    /// AVX-512 F, VL, BW and DQ (x86-64).
    Avx512,
}

impl fmt::Display for SimdLevel {
    /// The name in `INTERVALID_SIMD`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            SimdLevel::Baseline => "baseline",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        })
    }
}

impl SimdLevel {
    /// The environment variable that forces a level for the whole process. Empty is as good as not set.
    pub const VARIABLE: &'static str = "INTERVALID_SIMD";

    /// Every level, slowest first, whether this processor runs it or not.
    pub const ALL: [SimdLevel; 3] = [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512];

    /// The level that `INTERVALID_SIMD` asks for, if it does.
    ///
    /// # Errors
    ///
    /// [`IntervalError::UnknownSimdLevel`] if its value is no level, [`IntervalError::SimdLevelNotOffered`] if this
    /// processor does not run it. Kernels panic with the same message, so programs check at their start.
    pub fn from_environment() -> Result<Option<SimdLevel>, IntervalError> {
        let value = std::env::var_os(Self::VARIABLE);
        Self::from_value(value.as_deref(), Self::available())
    }

    fn from_value(value: Option<&OsStr>, available: &[SimdLevel]) -> Result<Option<SimdLevel>, IntervalError> {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let level = Self::ALL.into_iter().find(|level| value == level.to_string().as_str());
        let Some(level) = level else {
            return Err(IntervalError::UnknownSimdLevel {
                found: value.to_string_lossy().into_owned(),
            });
        };
        if available.contains(&level) {
            Ok(Some(level))
        } else {
            let best = available.last().copied().unwrap_or(SimdLevel::Baseline);
            Err(IntervalError::SimdLevelNotOffered { asked: level, best })
        }
    }

    /// All levels that this processor runs, slowest first.
    #[must_use]
    pub fn available() -> &'static [SimdLevel] {
        static AVAILABLE: OnceLock<Vec<SimdLevel>> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            #[cfg_attr(
                not(target_arch = "x86_64"),
                expect(unused_mut, reason = "only x86-64 has more levels")
            )]
            let mut levels = vec![SimdLevel::Baseline];
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    levels.push(SimdLevel::Avx2);
                    if is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("avx512vl")
                        && is_x86_feature_detected!("avx512bw")
                        && is_x86_feature_detected!("avx512dq")
                    {
                        levels.push(SimdLevel::Avx512);
                    }
                }
            }
            levels
        })
    }

    /// The level that kernels called from this thread use: the one of `INTERVALID_SIMD` or else the best one, unless
    /// inside `with_level`.
    ///
    /// # Panics
    /// If `INTERVALID_SIMD` does not name a level that this processor offers; see
    /// [`from_environment`](Self::from_environment).
    #[must_use]
    #[inline]
    pub fn current() -> SimdLevel {
        OVERRIDE.get().unwrap_or_else(of_process)
    }
}

#[inline]
fn of_process() -> SimdLevel {
    static LEVEL: OnceLock<SimdLevel> = OnceLock::new();
    *LEVEL.get_or_init(|| match SimdLevel::from_environment() {
        Ok(Some(forced)) => forced,
        Ok(None) => *SimdLevel::available().last().unwrap_or(&SimdLevel::Baseline),
        Err(error) => panic!("{error}"),
    })
}

thread_local! {
    static OVERRIDE: Cell<Option<SimdLevel>> = const { Cell::new(None) };
}

/// Runs `work` with the kernels of `level` on this thread, for tests and benchmarks.
///
/// # Panics
/// If this processor does not offer `level`.
pub fn with_level<R>(level: SimdLevel, work: impl FnOnce() -> R) -> R {
    assert!(
        SimdLevel::available().contains(&level),
        "this processor does not offer {level}"
    );
    struct Restore(Option<SimdLevel>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OVERRIDE.set(self.0);
        }
    }
    let _restore = Restore(OVERRIDE.replace(Some(level)));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Result<Option<SimdLevel>, String> {
        let available = [SimdLevel::Baseline, SimdLevel::Avx2];
        SimdLevel::from_value(Some(OsStr::new(value)), &available).map_err(|error| error.to_string())
    }

    #[test]
    fn a_level_is_read_by_name() {
        assert_eq!(SimdLevel::from_value(None, &[]), Ok(None));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("baseline"), Ok(Some(SimdLevel::Baseline)));
        assert_eq!(read("avx2"), Ok(Some(SimdLevel::Avx2)));
        for level in SimdLevel::ALL {
            let value = level.to_string();
            assert_eq!(
                SimdLevel::from_value(Some(OsStr::new(&value)), &SimdLevel::ALL),
                Ok(Some(level))
            );
        }
    }

    #[test]
    fn a_value_that_cannot_be_obeyed_is_an_error() {
        let unknown = "INTERVALID_SIMD must be baseline, avx2 or avx512, found 'AVX2'";
        assert_eq!(read("AVX2"), Err(unknown.to_owned()));
        let not_offered =
            "INTERVALID_SIMD asks for avx512, which this processor does not offer; its best level is avx2";
        assert_eq!(read("avx512"), Err(not_offered.to_owned()));
    }
}
