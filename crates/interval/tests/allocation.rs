//! New bounds of the same shape must not touch the heap: `update` runs once per training step.
//!
//! Alone in its binary, because the allocator counts for the whole process.

use intervalid_interval::kernel::IntervalWeights;
use intervalid_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

#[test]
fn an_update_of_the_same_shape_does_not_allocate() {
    let (out, inner) = (47, 97);
    let bounds = |lower: f32, upper: f32| (vec![lower; out * inner], vec![upper; out * inner]);
    let first = bounds(0.5, 1.0);
    let mut weights = IntervalWeights::new(&first.0, &first.1, out, inner);
    // Every class in turn, so that no list of one class can hide behind the capacity of another.
    for (lower, upper) in [(0.5, 1.0), (-1.0, -0.5), (-1.0, 1.0), (0.0, 0.0)] {
        let next = bounds(lower, upper);
        let ((), count) = ALLOCATOR.measure(|| weights.update(&next.0, &next.1));
        assert_eq!(count.allocations, 0, "update to [{lower}, {upper}]");
    }
}
