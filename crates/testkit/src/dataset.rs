//! Data sets that may not be redistributed: used where a developer has them, skipped loudly elsewhere.

use std::{
    env,
    path::{Path, PathBuf},
};

/// Folder of the data sets that are not in the repository: `INTERVALID_DATA`, else `../shared/data` beside the
/// workspace. It need not exist.
pub fn data_dir() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    data_dir_from(env::var_os("INTERVALID_DATA").map(PathBuf::from), &workspace)
}

fn data_dir_from(variable: Option<PathBuf>, workspace: &Path) -> PathBuf {
    match variable {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => workspace.join("../shared/data"),
    }
}

/// Path of the data set `name` (`mr-damper`, `heat-exchanger`), or `None` after a loud line where it is absent.
///
/// The file is `NAME.csv`, also with `_` for `-`.
///
/// ```no_run
/// # fn main() {
/// let Some(path) = intervalid_testkit::require_dataset("mr-damper") else { return };
/// # let _ = path;
/// # }
/// ```
///
/// # Panics
/// Where the file is absent and `CI=true`: continuous integration must not pass by skipping.
pub fn require_dataset(name: &str) -> Option<PathBuf> {
    let folder = data_dir();
    let found = find(&folder, name);
    if found.is_none() {
        let message = format!(
            "SKIPPED: data set `{name}` not found in {}; set INTERVALID_DATA to the folder that holds {name}.csv",
            folder.display()
        );
        assert!(env::var("CI").as_deref() != Ok("true"), "{message}");
        announce(&message);
    }
    found
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    [name.to_owned(), name.replace('-', "_")]
        .into_iter()
        .map(|stem| folder.join(stem + ".csv"))
        .find(|path| path.is_file())
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn announce(message: &str) {
    eprintln!("{message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_wins_and_empty_counts_as_unset() {
        let workspace = Path::new("/ws");
        assert_eq!(data_dir_from(Some("/d".into()), workspace), Path::new("/d"));
        let beside = Path::new("/ws/../shared/data");
        assert_eq!(data_dir_from(Some("".into()), workspace), beside);
        assert_eq!(data_dir_from(None, workspace), beside);
    }

    #[test]
    fn either_spelling_is_found() {
        let folder = env::temp_dir().join(format!("intervalid-testkit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("two_tanks.csv"), "u,y\n").unwrap();
        assert_eq!(find(&folder, "two-tanks"), Some(folder.join("two_tanks.csv")));
        assert_eq!(find(&folder, "one-tank"), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
