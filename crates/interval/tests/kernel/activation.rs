//! Activations over slices: monotone up to their bound, equal to their definition.

use intervalid_interval::kernel::{SimdLevel, TANH_ERROR_F32, sigmoid, tanh, with_level};
use proptest::prelude::*;

proptest! {
    #[test]
    fn activations_are_monotone_up_to_the_stated_bound(
        x in proptest::collection::vec(-12.0..12.0_f32, 1..70), step in 0.0..1e-3_f32,
    ) {
        for &level in SimdLevel::available() {
            for function in [tanh as fn(&mut [f32]), sigmoid] {
                let (mut low, mut high) = (x.clone(), x.iter().map(|x| x + step).collect::<Vec<_>>());
                with_level(level, || {
                    function(&mut low);
                    function(&mut high);
                });
                for (low, high) in low.iter().zip(high) {
                    prop_assert!(*low <= high + 2.0 * TANH_ERROR_F32, "{level:?}: {low} above {high}");
                }
            }
        }
    }

    /// Every value is computed alone: the place in the slice does not matter.
    #[test]
    fn the_rest_after_the_last_register_is_no_exception(x in -12.0..12.0_f32, count in 1..40_usize) {
        for function in [tanh as fn(&mut [f32]), sigmoid] {
            let mut values = vec![x; count];
            function(&mut values);
            prop_assert!(values.iter().all(|v| v.to_bits() == values[0].to_bits()));
        }
    }
}
