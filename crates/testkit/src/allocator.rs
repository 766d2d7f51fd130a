//! A global allocator that counts, for tests that claim "no allocation per step" or bound peak memory.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The system allocator with counters.
///
/// Counts all threads of the process, so a test that reads it should be the only test of its binary.
///
/// ```
/// use intervalid_testkit::CountingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::new();
///
/// let (sum, count) = ALLOCATOR.measure(|| (0..100).sum::<usize>());
/// assert_eq!((sum, count.allocations), (4950, 0));
/// let (_, count) = ALLOCATOR.measure(|| vec![0u8; 1000]);
/// assert_eq!((count.allocations, count.peak_bytes), (1, 1000));
/// ```
#[derive(Debug, Default)]
pub struct CountingAllocator {
    allocations: AtomicUsize,
    live_bytes: AtomicUsize,
    peak_bytes: AtomicUsize,
}

/// What happened during [`CountingAllocator::measure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationCount {
    /// Calls that obtained or resized memory.
    pub allocations: usize,
    /// Most bytes alive at once beyond those alive at the start.
    pub peak_bytes: usize,
}

impl CountingAllocator {
    /// All counters at zero.
    pub const fn new() -> Self {
        Self {
            allocations: AtomicUsize::new(0),
            live_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
        }
    }

    /// Calls so far that obtained or resized memory.
    pub fn allocations(&self) -> usize {
        self.allocations.load(Relaxed)
    }

    /// Bytes alive now.
    pub fn live_bytes(&self) -> usize {
        self.live_bytes.load(Relaxed)
    }

    /// Most bytes alive at once since the start or the last [`reset_peak`](Self::reset_peak).
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes.load(Relaxed)
    }

    /// Starts a new peak at the bytes alive now.
    pub fn reset_peak(&self) {
        self.peak_bytes.store(self.live_bytes(), Relaxed);
    }

    /// Runs `work` and reports what it allocated.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, AllocationCount) {
        self.reset_peak();
        let (allocations, live) = (self.allocations(), self.live_bytes());
        let result = work();
        let count = AllocationCount {
            allocations: self.allocations() - allocations,
            peak_bytes: self.peak_bytes().saturating_sub(live),
        };
        (result, count)
    }

    fn obtained(&self, bytes: usize) {
        self.allocations.fetch_add(1, Relaxed);
        let live = self.live_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.peak_bytes.fetch_max(live, Relaxed);
    }

    fn released(&self, bytes: usize) {
        self.live_bytes.fetch_sub(bytes, Relaxed);
    }
}

// SAFETY: every call goes to `System` unchanged; the counters never touch the memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.obtained(layout.size());
        // SAFETY: the caller's promises are `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.obtained(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Old and new may be alive together, but a resize in place is the common case: count the new size only.
        self.released(layout.size());
        self.obtained(new_size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.released(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
