//! Several fits at once: one thread per model, since two threads inside one small network are slower than one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` on every job with up to `threads` threads and returns the results in the order of the jobs.
///
/// A result depends on its job only, so it is the same whatever `threads` says.
///
/// ```
/// let squares = intervalid_model::map_parallel(&[1, 2, 3], 2, |job| job * job);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub fn map_parallel<J: Sync, R: Send>(jobs: &[J], threads: usize, work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = work(job);
                    results
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
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
