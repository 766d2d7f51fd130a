//! Every target takes its seeds, the kept inputs, and a short burst of mutations. `cargo xtask fuzz` goes on for longer.

use intervalid_fuzz::{Fuzzer, Target};

#[test]
fn no_target_panics_or_hangs() {
    for target in Target::ALL {
        let mut fuzzer = Fuzzer::new(target, 1).expect("seeds");
        let count = match target {
            Target::Checkpoint => 60,
            // A search each.
            Target::Journal => 40,
            _ => 400,
        };
        let result = fuzzer.run_seeds().and_then(|()| fuzzer.run_many(count));
        if let Err(finding) = result {
            panic!(
                "{}: {}: {:?}",
                target.name(),
                finding.what,
                String::from_utf8_lossy(&finding.input)
            );
        }
        let statistics = fuzzer.statistics();
        assert!(
            statistics.accepted > 0,
            "{}: not even a seed is accepted",
            target.name()
        );
        // What is damaged in a journal is dropped, and the search goes on without it.
        let least = if target == Target::Journal { 2 } else { 4 };
        assert!(statistics.answers >= least, "{}: {statistics:?}", target.name());
    }
}
