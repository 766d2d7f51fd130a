//! What is killed, and what must be equal afterwards.

/// A command that is killed. It writes into `out`, from which its results are collected; `fit` is a fit, `data.csv` what it was fitted to and
/// `new.csv` a later recording.
pub(super) struct Work {
    pub(super) name: &'static str,
    /// Of `intervalid`, by spaces.
    pub(super) arguments: &'static str,
}

pub(super) const WORK: &[Work] = &[
    Work {
        name: "fit of a cascade",
        arguments: "fit data.csv --model inode --epochs 40 --hidden 8 --out out",
    },
    Work {
        name: "fit of an ensemble",
        arguments: "fit data.csv --model ensemble-node --epochs 12 --hidden 6 --out out",
    },
    Work {
        name: "fit with hidden states",
        arguments: "fit data.csv --model iss --preset paper --states 2 --hidden 4,0 --initial history:5 --epochs 12 --out out",
    },
    Work {
        name: "fit of ARX",
        arguments: "fit data.csv --model arx --out out",
    },
    Work {
        name: "search",
        arguments: "fit data.csv --config search.toml --out out",
    },
    Work {
        name: "study",
        arguments: "study run study.toml --out out --jobs 2",
    },
    Work {
        name: "export of C",
        arguments: "export fit --to c --out out/model.c --force",
    },
    Work {
        name: "export of ONNX",
        arguments: "export fit --to onnx --out out/model.onnx --force",
    },
    Work {
        name: "report",
        arguments: "report fit --out out/page.html",
    },
    Work {
        name: "monitor",
        arguments: "monitor fit new.csv --state out/state --out out/page.html",
    },
    Work {
        name: "online band",
        arguments: "predict fit new.csv --online --state out/state --out out/band.csv",
    },
    Work {
        name: "recalibrate",
        arguments: "recalibrate fit new.csv --out out/model.safetensors",
    },
    Work {
        name: "figures",
        arguments: "analyse fit --figures out/figures",
    },
];

pub(super) const STUDY: &str = "name = 'soak'\ndatasets = ['hair-dryer']\nmodels = ['inode', 'arx']\nstrategies = ['cascade', 'joint']\n\
     margins = ['abs']\ncoverages = [0.9]\nseeds = [1, 2]\n[settings]\nepochs = 6\nhidden = [6]\n";

/// A search that ends by its work, not by the clock, so that its result does not depend on how busy the machine is.
pub(super) const SEARCH: &str = "rounds = 2\n";

/// These say how long it took and what was written when; everything else must be equal.
pub(super) const DIFFER: [&str; 6] = [
    "candidates.csv",
    "metrics.json",
    "report.json",
    "report.html",
    "manifest.json",
    "study.sqlite",
];

/// Two columns of a first-order plant that answers a pseudo-random input, from one sample to another.
pub(super) fn recording(samples: std::ops::Range<usize>) -> String {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 20) / 4096.0
    };
    let (mut text, mut y) = (String::from("u,y\n"), 0.0);
    for k in 0..samples.end {
        let u = random();
        if k >= samples.start {
            text += &format!("{u:.4},{y:.4}\n");
        }
        y = 0.8 * y + u + 0.1 * random();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_goes_on_where_the_first_ended() {
        let (whole, end) = (recording(0..40), recording(30..40));
        assert_eq!(whole.lines().count(), 41);
        assert!(whole.ends_with(end.strip_prefix("u,y\n").unwrap()));
    }
}
