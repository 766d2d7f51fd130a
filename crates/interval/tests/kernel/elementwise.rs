//! Elementwise interval products.

use intervalid_interval::Real;
use intervalid_interval::kernel::product;
use proptest::prelude::*;

use super::support::{Bounds, Draw, Reference, at_all_levels, hull, pair};

fn exact<T: Real>(seed: u64, count: usize) {
    let mut draw = Draw::new(seed);
    let (a, b): (Bounds<T>, Bounds<T>) = (draw.sets(count), draw.sets(count));
    let mut reference = Reference::starting_at(&vec![T::zero(); 2 * count]);
    for place in 0..count {
        let (lower, upper) = hull(pair(&a, place), pair(&b, place));
        reference.add(place, lower);
        reference.add(count + place, upper);
    }
    let found = at_all_levels(|| {
        let (mut lower, mut upper) = (vec![T::one(); count], vec![T::one(); count]);
        product(&a.0, &a.1, &b.0, &b.1, &mut lower, &mut upper);
        lower.extend(upper);
        lower
    });
    for (level, found) in found {
        reference.check(&format!("{level:?}"), &found, 1);
    }
}

proptest! {
    #[test]
    fn products_are_hulls(seed in any::<u64>(), count in 0..70_usize) {
        exact::<f32>(seed, count);
        exact::<f64>(seed, count);
    }
}

#[test]
#[should_panic(expected = "unequal lengths")]
fn lengths_are_asserted() {
    product(&[0.0], &[0.0], &[0.0], &[0.0], &mut [0.0], &mut [0.0, 0.0]);
}
