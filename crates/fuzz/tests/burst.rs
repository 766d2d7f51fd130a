//! Every target takes its seeds, the kept inputs, and a short burst of mutations. `cargo xtask fuzz` goes on for longer.

use intervalid_fuzz::{Fuzzer, Target};

#[test]
fn no_target_panics_or_hangs() {
    for target in Target::ALL {
        let mut fuzzer = Fuzzer::new(target, 1).expect("seeds");
        let count = if target == Target::Checkpoint { 60 } else { 400 };
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
        assert!(statistics.answers > 3, "{}: {statistics:?}", target.name());
    }
}
