//! Several fits at once: one thread per model, since two threads inside one small network are slower than one.

use rayon::prelude::*;

/// Runs `work` on every job with up to `threads` threads and returns the results in the order of the jobs.
///
/// A result depends on its job only, so it is the same whatever `threads` says.
pub(crate) fn map_parallel<J: Sync, R: Send>(jobs: &[J], threads: usize, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let threads = threads.clamp(1, jobs.len().max(1));
    if threads > 1
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build()
    {
        // Jobs differ in size by far: one at a time, not in halves.
        return pool.install(|| jobs.par_iter().with_max_len(1).map(&work).collect());
    }
    jobs.iter().map(work).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Each job waits for the others: with fewer threads than asked for this would never end.
    #[test]
    fn as_many_threads_as_asked_for_work_at_once() {
        for threads in [1, 2, 4] {
            let barrier = Barrier::new(threads);
            let jobs: Vec<usize> = (0..3 * threads).collect();
            let results = map_parallel(&jobs, threads, |&job| {
                barrier.wait();
                job
            });
            assert_eq!(results, jobs);
        }
    }
}
