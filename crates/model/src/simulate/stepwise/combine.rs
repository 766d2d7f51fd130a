//! One step of several members as one: a single member's own bounds, or those of the mean of all whose run has stayed in range.

use crate::family::ensemble::{Spread, mean_bounds};

/// Writes `[lower, y, upper]` of each output into `bounds`; false when no member is sound. `bounds_of(member, output)` has a member's own.
pub(super) fn combine<M>(
    members: &[M],
    is_sound: impl Fn(&M) -> bool,
    spread: &[Spread],
    bounds_of: impl Fn(&M, usize) -> [f64; 3],
    bounds: &mut [[f64; 3]],
) -> bool {
    if let [only] = members {
        let own = bounds.iter_mut().enumerate();
        own.for_each(|(output, bounds)| *bounds = bounds_of(only, output));
        return is_sound(only);
    }
    let sound = || members.iter().filter(|member| is_sound(member));
    let count = sound().count();
    if count == 0 {
        return false;
    }
    for (output, bounds) in bounds.iter_mut().enumerate() {
        *bounds = mean_bounds(count, spread[output], |member| {
            let nth = sound().nth(member);
            nth.map_or([f64::NAN; 3], |member| bounds_of(member, output))
        });
    }
    true
}
