//! The shared library of an FMU, made by the system's C compiler.

use std::env;
use std::path::Path;
use std::process::Command;

use super::sources::SourceFile;
use crate::error::{DeployError, Result};

/// Compiles the sources and gives the library's bytes. The compiler is `CC`, or `cc`.
pub(super) fn shared_library(sources: &[SourceFile]) -> Result<Vec<u8>> {
    let compiler = env::var("CC")
        .ok()
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "cc".to_owned());
    let failed = |reason: String| DeployError::Compiler {
        compiler: compiler.clone(),
        reason,
    };
    let folder = tempfile::tempdir().map_err(|source| DeployError::File {
        action: "create a folder in",
        path: env::temp_dir(),
        source,
    })?;
    let write = |(name, text): &SourceFile| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|source| DeployError::File {
            action: "write",
            path,
            source,
        })
    };
    sources.iter().try_for_each(write)?;
    // A compiler's name may come with flags, as in `CC="ccache gcc"`.
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words);
    command.args([
        "-std=c99",
        "-O2",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wl,--no-undefined",
    ]);
    let is_source = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "c");
    let files = sources.iter().map(|(name, _)| name).filter(|name| is_source(name));
    command
        .args(files)
        .args(["-lm", "-o", "fmu.so"])
        .current_dir(folder.path());
    let output = command.output().map_err(|error| {
        failed(format!(
            "{error}. Install a C compiler (Debian: apt install gcc), name one with CC, or export the sources only with --no-binary"
        ))
    })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().next().unwrap_or("no message");
        return Err(failed(format!(
            "{first}. Name another compiler with CC, or export the sources only with --no-binary"
        )));
    }
    let path = folder.path().join("fmu.so");
    std::fs::read(&path).map_err(|source| DeployError::File {
        action: "read",
        path,
        source,
    })
}

/// Whether compiled libraries are for the platform that the folder of an FMU names.
pub(super) fn is_supported() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}
