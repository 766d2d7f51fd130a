//! A disk whose power may be cut: what was synced is there afterwards, of all else nobody knows.
//!
//! Names are sure to have changed once their folder was synced. The other changes may be lost: all of them, all but the removals, or,
//! as file systems keep a journal, from one of them on. Content that was not synced may be lost though the name is there, or end anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files by their place.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// What survives of content that was not synced.
#[derive(Clone, Copy)]
pub(super) enum Unsynced {
    Lost,
    Torn,
    Whole,
}

#[derive(Clone)]
enum Change {
    Make(PathBuf, usize),
    MakeFolder(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// Content now, and when it was synced last.
#[derive(Clone, Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
    is_synced: bool,
}

#[derive(Clone)]
enum Entry {
    File(usize),
    Folder,
}

type Names = BTreeMap<PathBuf, Entry>;

/// The files below one folder.
pub(super) struct Disk {
    contents: Vec<Content>,
    first: Names,
    now: Names,
    changes: Vec<Change>,
    /// Which of them are sure to have survived.
    sure: Vec<bool>,
}

impl Disk {
    /// One that holds these, all synced.
    pub(super) fn holding(files: &Files) -> Self {
        let mut names = Names::new();
        let mut contents = Vec::new();
        for (path, content) in files {
            for folder in path.ancestors().skip(1).filter(|folder| *folder != Path::new("")) {
                names.insert(folder.to_owned(), Entry::Folder);
            }
            names.insert(path.clone(), Entry::File(contents.len()));
            contents.push(Content {
                now: content.clone(),
                synced: content.clone(),
                is_synced: true,
            });
        }
        Self {
            contents,
            first: names.clone(),
            now: names,
            changes: Vec::new(),
            sure: Vec::new(),
        }
    }

    pub(super) fn file_at(&self, path: &Path) -> Option<usize> {
        match self.now.get(path) {
            Some(Entry::File(file)) => Some(*file),
            _ => None,
        }
    }

    pub(super) fn make_file(&mut self, path: &Path) -> usize {
        self.contents.push(Content::default());
        let file = self.contents.len() - 1;
        self.change(Change::Make(path.to_owned(), file));
        file
    }

    pub(super) fn make_folder(&mut self, path: Option<PathBuf>) -> bool {
        path.is_some_and(|path| self.change(Change::MakeFolder(path)))
    }

    pub(super) fn rename(&mut self, from: Option<PathBuf>, to: Option<PathBuf>) -> bool {
        match (from, to) {
            (Some(from), Some(to)) => self.change(Change::Rename(from, to)),
            (None, None) => false,
            places => panic!("a rename across the edge of what is watched: {places:?}"),
        }
    }

    pub(super) fn remove(&mut self, path: Option<PathBuf>) -> bool {
        path.is_some_and(|path| self.change(Change::Remove(path)))
    }

    fn change(&mut self, change: Change) -> bool {
        change.apply(&mut self.now);
        self.changes.push(change);
        self.sure.push(false);
        true
    }

    pub(super) fn length(&self, file: usize) -> usize {
        self.contents[file].now.len()
    }

    pub(super) fn write(&mut self, file: usize, place: usize, bytes: &[u8]) {
        let content = &mut self.contents[file];
        let end = place + bytes.len();
        if content.now.len() < end {
            content.now.resize(end, 0);
        }
        content.now[place..end].copy_from_slice(bytes);
        content.is_synced = false;
    }

    pub(super) fn resize(&mut self, file: usize, length: usize) -> bool {
        let content = &mut self.contents[file];
        let is_change = content.now.len() != length;
        content.now.resize(length, 0);
        content.is_synced &= !is_change;
        is_change
    }

    pub(super) fn sync_file(&mut self, file: usize) -> bool {
        let content = &mut self.contents[file];
        content.synced.clone_from(&content.now);
        content.is_synced = true;
        true
    }

    pub(super) fn sync_folder(&mut self, folder: &Path) -> bool {
        for (change, sure) in self.changes.iter().zip(&mut self.sure) {
            *sure |= change.place().parent() == Some(folder);
        }
        true
    }

    /// What may be there after a power cut now.
    pub(super) fn after_a_cut(&self) -> BTreeSet<Files> {
        let least = self.sure.iter().rposition(|sure| *sure).map_or(0, |last| last + 1);
        let last = self.changes.len();
        let in_order = BTreeSet::from([least, usize::midpoint(least, last), last]);
        let in_order = in_order.into_iter().map(|count| self.names(|index| index < count));
        let mut found = BTreeSet::new();
        let is_removal = |index: usize| matches!(self.changes[index], Change::Remove(_));
        let synced = self.names(|index| self.sure[index]);
        let removed = self.names(|index| self.sure[index] || is_removal(index));
        for names in in_order.chain([synced, removed]) {
            for unsynced in [Unsynced::Lost, Unsynced::Torn, Unsynced::Whole] {
                found.insert(self.files(&names, unsynced));
            }
        }
        found
    }

    /// The names if these changes survive.
    fn names(&self, survives: impl Fn(usize) -> bool) -> Names {
        let mut names = self.first.clone();
        for (_, change) in self.changes.iter().enumerate().filter(|(index, _)| survives(*index)) {
            change.apply(&mut names);
        }
        names
    }

    fn files(&self, names: &Names, unsynced: Unsynced) -> Files {
        // Nobody finds a file whose folder is lost.
        let is_found = |path: &Path| {
            let mut folders = path.ancestors().skip(1).filter(|folder| *folder != Path::new(""));
            folders.all(|folder| names.contains_key(folder))
        };
        let files = names.iter().filter_map(|(path, entry)| match entry {
            Entry::File(file) if is_found(path) => Some((path.clone(), self.contents[*file].surviving(unsynced))),
            _ => None,
        });
        files.collect()
    }
}

impl Content {
    fn surviving(&self, unsynced: Unsynced) -> Vec<u8> {
        match unsynced {
            _ if self.is_synced => self.now.clone(),
            Unsynced::Lost => self.synced.clone(),
            Unsynced::Torn => self.now[..self.now.len() / 2].to_vec(),
            Unsynced::Whole => self.now.clone(),
        }
    }
}

impl Change {
    /// Where it shows: a name leaves its old folder in the moment in which it appears in the new one.
    fn place(&self) -> &Path {
        match self {
            Self::Make(path, _) | Self::MakeFolder(path) | Self::Remove(path) | Self::Rename(_, path) => path,
        }
    }

    fn apply(&self, names: &mut Names) {
        match self {
            Self::Make(path, file) => drop(names.insert(path.clone(), Entry::File(*file))),
            Self::MakeFolder(path) => drop(names.insert(path.clone(), Entry::Folder)),
            Self::Remove(path) => drop(names.remove(path)),
            Self::Rename(from, to) => {
                let moved: Vec<PathBuf> = names.keys().filter(|path| path.starts_with(from)).cloned().collect();
                for path in moved {
                    let entry = names.remove(&path).expect("it is there");
                    let rest = path.strip_prefix(from).expect("it is below");
                    // Joined with nothing, a path would end like a folder's.
                    let place = if rest == Path::new("") {
                        to.clone()
                    } else {
                        to.join(rest)
                    };
                    names.insert(place, entry);
                }
            }
        }
    }
}
