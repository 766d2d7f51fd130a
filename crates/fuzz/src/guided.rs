//! The same targets under libFuzzer, which counts branches: `cargo xtask fuzz` builds it with the instrumentation that it needs.
//!
//! `INTERVALID_FUZZ_TARGET` names the target (`list` prints them), `INTERVALID_FUZZ_SEEDS` a folder that takes its seeds.
#![no_main]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use intervalid_fuzz::{Target, mutate, seeds};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// What is fuzzed, and where files may lie.
static SETTING: OnceLock<(Target, tempfile::TempDir)> = OnceLock::new();

fuzz_target!(init: prepare(), |input: &[u8]| {
    if let Some((target, folder)) = SETTING.get() {
        // Every refusal is as good as another; a panic ends the process.
        let _ = target.run(input, folder.path());
    }
});

// Pieces of the formats, and the inside of archives, which libFuzzer does not know.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.into());
    if rng.random_range(0..3) > 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let input = data[..size].to_vec();
    let mut found = mutate(&input, &input, &mut rng);
    found.truncate(max_size);
    data[..found.len()].copy_from_slice(&found);
    found.len()
});

/// Chooses the target and writes its seeds; ends the process where that fails, since libFuzzer has no other way to be told.
fn prepare() {
    if let Err(error) = choose() {
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        std::process::exit(2);
    }
}

fn choose() -> anyhow::Result<()> {
    let variable = |name: &str| std::env::var_os(name).unwrap_or_default();
    let name = variable("INTERVALID_FUZZ_TARGET");
    if name == "list" {
        std::io::stdout().write_all((Target::ALL.map(Target::name).join("\n") + "\n").as_bytes())?;
        std::process::exit(0);
    }
    let target = Target::ALL.into_iter().find(|target| name == target.name());
    let Some(target) = target else {
        anyhow::bail!("INTERVALID_FUZZ_TARGET={}: no such target", name.display());
    };
    let folder = PathBuf::from(variable("INTERVALID_FUZZ_SEEDS"));
    if folder != Path::new("") {
        std::fs::create_dir_all(&folder)?;
        for (index, seed) in seeds(target)?.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{index:03}")), seed)?;
        }
    }
    let _ = SETTING.set((target, tempfile::tempdir()?));
    Ok(())
}
