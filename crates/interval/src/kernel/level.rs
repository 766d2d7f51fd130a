//! Which instructions the processor offers, found once at run time.

use core::cell::Cell;
use std::sync::OnceLock;

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// What every processor of the architecture has: SSE2 on x86-64 (no fused multiply-add), NEON on AArch64 (fused).
    Baseline,
    /// AVX2 with FMA (x86-64).
    Avx2,
    /// AVX-512 F, VL, BW and DQ (x86-64).
    Avx512,
}

impl SimdLevel {
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

    /// The level that kernels called from this thread use: the best one, unless inside [`with_level`].
    #[must_use]
    #[inline]
    pub fn current() -> SimdLevel {
        OVERRIDE.get().unwrap_or_else(best)
    }
}

#[inline]
fn best() -> SimdLevel {
    static BEST: OnceLock<SimdLevel> = OnceLock::new();
    *BEST.get_or_init(|| *SimdLevel::available().last().unwrap_or(&SimdLevel::Baseline))
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
        "this processor does not offer {level:?}"
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
