use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::mutate::mutate;
use crate::seeds::seeds;
use crate::target::Target;

/// An input that keeps the processor busy for longer is a finding: seeds take milliseconds.
const SLOWEST: Duration = Duration::from_secs(10);
/// So is one that takes this long on the clock: other threads may work for it.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Inputs kept for further mutation beside the seeds; the oldest make room.
const KEPT: usize = 2000;

/// What must not happen, and the input that makes it happen.
#[derive(Debug)]
pub struct Finding {
    /// Who read it.
    pub target: Target,
    /// Panic or slowness, in words.
    pub what: String,
    /// The input.
    pub input: Vec<u8>,
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Inputs given to the target.
    pub executions: u64,
    /// Inputs that it accepted.
    pub accepted: u64,
    /// Answers told apart.
    pub answers: usize,
}

/// Mutates seeds of one target. The same seed gives the same inputs.
#[derive(Debug)]
pub struct Fuzzer {
    target: Target,
    /// Seeds, then what is kept.
    inputs: Vec<Vec<u8>>,
    seeds: usize,
    answers: HashSet<String>,
    rng: ChaCha8Rng,
    statistics: Statistics,
    folder: tempfile::TempDir,
}

impl Fuzzer {
    /// A fuzzer with the seeds of the repository.
    ///
    /// # Errors
    /// If they cannot be read, or there is no temporary folder.
    pub fn new(target: Target, seed: u64) -> anyhow::Result<Self> {
        let inputs = seeds(target)?;
        Ok(Self {
            target,
            seeds: inputs.len(),
            inputs,
            answers: HashSet::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            statistics: Statistics::default(),
            folder: tempfile::tempdir()?,
        })
    }

    /// Gives the unchanged seeds to the target.
    ///
    /// # Errors
    /// The first one that panics or takes too long.
    pub fn run_seeds(&mut self) -> Result<(), Box<Finding>> {
        for index in 0..self.inputs.len() {
            let input = self.inputs[index].clone();
            self.run(input)?;
        }
        Ok(())
    }

    /// Gives mutated inputs to the target, `count` of them.
    ///
    /// # Errors
    /// The first one that panics or takes too long.
    pub fn run_many(&mut self, count: usize) -> Result<(), Box<Finding>> {
        for _ in 0..count {
            // Every other input comes straight from a sound file, so that what was kept does not lead too far away.
            let from = if self.rng.random() {
                self.seeds
            } else {
                self.inputs.len()
            };
            let one = self.rng.random_range(0..from);
            let other = self.rng.random_range(0..self.inputs.len());
            let input = mutate(&self.inputs[one], &self.inputs[other], &mut self.rng);
            self.run(input)?;
        }
        Ok(())
    }

    /// What was tried so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            answers: self.answers.len(),
            ..self.statistics
        }
    }

    fn run(&mut self, input: Vec<u8>) -> Result<(), Box<Finding>> {
        let (started, busy) = (Instant::now(), busy_time());
        let folder: &Path = self.folder.path();
        let answer = catch_unwind(AssertUnwindSafe(|| self.target.run(&input, folder)));
        let found = |what| {
            let (target, input) = (self.target, input.clone());
            Err(Box::new(Finding { target, what, input }))
        };
        self.statistics.executions += 1;
        let taken = match (busy, busy_time()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => started.elapsed(),
        };
        let answer = match answer {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                return found(format!("panicked: {}", text.unwrap_or("no message")));
            }
            Ok(_) if taken > SLOWEST || started.elapsed() > LONGEST_WAIT => {
                return found(format!("worked for {taken:?} in {:?}", started.elapsed()));
            }
            Ok(Ok(())) => {
                self.statistics.accepted += 1;
                "accepted".to_owned()
            }
            Ok(Err(error)) => plain(&format!("{error:#}")),
        };
        if self.answers.insert(answer) {
            if self.inputs.len() >= self.seeds + KEPT {
                self.inputs.remove(self.seeds);
            }
            self.inputs.push(input);
        }
        Ok(())
    }
}

/// How long this thread was at work, where the system tells: on a busy machine it waits for far longer.
fn busy_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// A message without what depends on the input: numbers, words in quotes, and the lines that parsers show between bars.
fn plain(message: &str) -> String {
    let lines: Vec<&str> = message.lines().filter(|line| !line.contains('|')).collect();
    let message = lines.join(" ");
    let mut plain = String::new();
    let mut quote = None;
    for c in message.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => continue,
            None if matches!(c, '\'' | '`' | '"') => quote = Some(c),
            None if c.is_ascii_digit() => continue,
            None => {}
        }
        plain.push(c);
    }
    // Parsers quote whole lines of an input; their beginning tells enough.
    plain.chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work() {
        let Some(before) = busy_time() else { return };
        std::thread::sleep(Duration::from_millis(50));
        let after = busy_time().expect("told before");
        assert!(after >= before && after - before < Duration::from_millis(50));
    }

    #[test]
    fn answers_are_told_apart_by_their_words() {
        assert_eq!(plain("line 12: 'a' is no number"), plain("line 7: 'bc' is no number"));
        let parser = |line: &str| format!("TOML parse error\n  |\n1 | {line}\n  | ^\nkey without a value");
        assert_eq!(plain(&parser("a")), plain(&parser("b = [")));
        assert_ne!(plain("line 1: too short"), plain("line 1: too long"));
    }
}
